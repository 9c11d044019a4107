// The grid. Only the tiles that are seen are in the document; they are used again while it scrolls.

const GAP = 8;
const CAPTION = 44;     // height of a tile below its picture, as in page.css
const GROUP_HEAD = 40;  // height of the line above a group of duplicates

let tileSize = 136;
let columns = 1, tileWidth = 136;
let rowTop = [], rowFirst = [], rowCount = [], rowGroup = [], totalHeight = 0;
const live = new Map();  // position in `shown` -> tile
const spare = [];
const liveHeads = new Map();  // row -> head of a group

/// Pictures stand in squares; texts need less height.
const shotHeight = () => (data.hasPictures ? tileWidth : Math.max(64, Math.round(tileWidth * 0.6)));
const tileHeight = () => shotHeight() + CAPTION;

function layOut() {
  const grid = byId('grid'), width = Math.max(grid.clientWidth - 2 * GAP, 80);
  // At least two beside each other: with one, 100,000 would be higher than browsers can scroll.
  columns = Math.max(2, Math.floor((width + GAP) / (tileSize + GAP)));
  tileWidth = Math.floor((width + GAP) / columns) - GAP;
  // Where there is no room for the number, the bar says it.
  byId('sheet').classList.toggle('tight', tileWidth < 104);
  rowTop = [];
  rowFirst = [];
  rowCount = [];
  rowGroup = [];
  let top = GAP;
  const addRows = (first, count, group) => {
    for (let at = 0; at < count; at += columns) {
      const head = group && at === 0 ? GROUP_HEAD : 0;
      rowTop.push(top + head);
      rowFirst.push(first + at);
      rowCount.push(Math.min(columns, count - at));
      rowGroup.push(head ? group : null);
      top += head + tileHeight() + GAP;
    }
  };
  if (groups)
    for (const group of groups) {
      addRows(group.first, group.count, group);
      top += GAP;
    }
  else
    addRows(0, shown.length, null);
  totalHeight = top;
  byId('sheet').style.height = `${totalHeight}px`;
}

/// The row that holds a position, or the row at a height.
function search(values, value) {
  let low = 0, high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle] <= value)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

const rowOf = (position) => search(rowFirst, position);

function placeOf(position) {
  const row = rowOf(position);
  return {left: GAP + (position - rowFirst[row]) * (tileWidth + GAP), top: rowTop[row]};
}

function drawGrid() {
  const grid = byId('grid'), sheet = byId('sheet');
  if (rowTop.length === 0) {
    for (const position of [...live.keys()]) release(position);
    for (const head of liveHeads.values()) head.remove();
    liveHeads.clear();
    return;
  }
  const margin = tileHeight();
  const firstRow = Math.max(0, search(rowTop, grid.scrollTop - margin));
  const lastRow = search(rowTop, grid.scrollTop + grid.clientHeight + margin);
  const first = rowFirst[firstRow], last = rowFirst[lastRow] + rowCount[lastRow];
  for (const position of [...live.keys()])
    if (position < first || position >= last) release(position);
  for (let position = first; position < last; ++position) {
    if (live.has(position)) continue;
    const tile = spare.pop() ?? newTile();
    live.set(position, tile);
    const place = placeOf(position);
    tile.root.style.transform = `translate(${place.left}px, ${place.top}px)`;
    tile.root.style.width = `${tileWidth}px`;
    tile.root.style.height = `${tileHeight()}px`;
    bindTile(tile, position);
    if (tile.root.parentNode !== sheet) sheet.append(tile.root);
    tile.root.hidden = false;
  }
  for (const [row, head] of liveHeads)
    if (row < firstRow || row > lastRow) {
      head.remove();
      liveHeads.delete(row);
    }
  if (groups)
    for (let row = firstRow; row <= lastRow; ++row)
      if (rowGroup[row] && !liveHeads.has(row)) {
        const head = groupHead(rowGroup[row]);
        head.style.transform = `translate(${GAP}px, ${rowTop[row] - GROUP_HEAD}px)`;
        liveHeads.set(row, head);
        sheet.append(head);
      }
  picturesSoon();
}

function release(position) {
  const tile = live.get(position);
  live.delete(position);
  tile.root.hidden = true;
  tile.root.removeAttribute('id');
  tile.shot.pictureOf = -1;
  spare.push(tile);
}

/// All anew: another filter, another size.
function redrawGrid() {
  for (const position of [...live.keys()]) release(position);
  for (const head of liveHeads.values()) head.remove();
  liveHeads.clear();
  layOut();
  drawGrid();
}

function repaintTiles() {
  for (const tile of live.values()) paintTile(tile);
}

// Pictures that only fly past are not asked for.
let pictureTimer = 0, lastTop = 0;
function picturesSoon() {
  const top = byId('grid').scrollTop, flies = Math.abs(top - lastTop) > 2 * tileHeight();
  lastTop = top;
  clearTimeout(pictureTimer);
  if (flies)
    pictureTimer = setTimeout(loadPictures, 70);
  else
    loadPictures();
}

function loadPictures() {
  for (const tile of live.values()) {
    if (tile.shot.pictureOf === tile.sample && tile.pictureWidth === tileWidth) continue;
    tile.pictureWidth = tileWidth;
    showPicture(tile.shot, tile.sample, tileWidth - 2);
    tile.shot.pictureOf = tile.sample;
  }
}

function reveal(position) {
  if (rowTop.length === 0) return;
  const grid = byId('grid'), row = rowOf(position);
  const top = rowTop[row] - (rowGroup[row] ? GROUP_HEAD : 0) - GAP, bottom = rowTop[row] + tileHeight() + GAP;
  if (top < grid.scrollTop)
    grid.scrollTop = top;
  else if (bottom > grid.scrollTop + grid.clientHeight)
    grid.scrollTop = Math.min(top, bottom - grid.clientHeight);
}

function setTileSize(size) {
  tileSize = Math.min(320, Math.max(64, size));
  try {
    localStorage.setItem('regroup:tile', tileSize);
  } catch { /* Then it is chosen anew next time. */
  }
  const slider = byId('size');
  if (slider) slider.value = tileSize;
  redrawGrid();
  reveal(cursor);
}

function startGrid() {
  const grid = byId('grid');
  let asked = false;
  grid.addEventListener('scroll', () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      drawGrid();
    });
  }, {passive: true});
  let width = 0, height = 0;
  new ResizeObserver(() => {
    if (grid.clientWidth === width && grid.clientHeight === height) return;
    const wider = grid.clientWidth !== width;
    width = grid.clientWidth;
    height = grid.clientHeight;
    if (width === 0) return;
    if (wider) redrawGrid();
    // On a phone the details cover half of the grid as they open.
    if (wider || isNarrow()) reveal(cursor);
    drawGrid();
    showDetail();
  }).observe(grid);
}
