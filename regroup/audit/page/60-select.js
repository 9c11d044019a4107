// The current tile and the selected ones.

let cursor = 0;              // position in `shown`
let anchor = 0;              // where a range begins
const selected = new Set();  // samples

/// What an action is about: the selected samples, or else the current one.
const targets = () =>
    (selected.size > 0 ? shown.filter((sample) => selected.has(sample)) : shown.slice(cursor, cursor + 1));

let isPicked = false;  // the selection was put together one by one: arrows leave it
let isPlaced = false;  // the user chose the current tile; after a decision the page did

function setCursor(position, {range = false, toggle = false, keys = false} = {}) {
  if (shown.length === 0) return;
  const last = Math.min(Math.max(position, 0), shown.length - 1);
  if (range) {
    selected.clear();
    for (let at = Math.min(anchor, last); at <= Math.max(anchor, last); ++at) selected.add(shown[at]);
    isPicked = false;
  } else if (toggle) {
    // As in a file manager, the tile that was clicked before belongs to the selection.
    if (selected.size === 0 && isPlaced && last !== cursor) selected.add(shown[cursor]);
    if (!selected.delete(shown[last])) selected.add(shown[last]);
    anchor = last;
    isPicked = true;
  } else {
    if (!(keys && isPicked)) selected.clear();
    anchor = last;
  }
  isPlaced = true;
  cursor = last;
  reveal(cursor);
  showCursor();
}

/// The cursor without a selection: after a decision, and at the start.
function moveOn(position) {
  selected.clear();
  isPlaced = false;
  cursor = anchor = Math.min(Math.max(position, 0), Math.max(shown.length - 1, 0));
  reveal(cursor);
  showCursor();
}

function showCursor() {
  drawGrid();
  repaintTiles();
  if (shown.length > 0)
    byId('grid').setAttribute('aria-activedescendant', `tile-${cursor}`);
  else
    byId('grid').removeAttribute('aria-activedescendant');
  showBar();
  showDetail();
}

function clearSelection() {
  selected.clear();
  isPicked = false;
  showCursor();
}

function selectAllShown() {
  for (const sample of shown) selected.add(sample);
  showCursor();
  announce(`${counted(selected.size, 'label')} selected.`);
}

/// The next undecided one after `position`, else the first of all, else -1.
function nextUndecided(position) {
  for (let step = 1; step <= shown.length; ++step) {
    const at = (position + step) % shown.length;
    if (choice[shown[at]] === UNDECIDED) return at;
  }
  return -1;
}

/// A row up or down, in the same column as far as that row has it.
function rowStep(position, rows) {
  const row = rowOf(position), target = Math.min(Math.max(row + rows, 0), rowTop.length - 1);
  if (target === row) return position;
  return rowFirst[target] + Math.min(position - rowFirst[row], rowCount[target] - 1);
}

function startPointer() {
  const grid = byId('grid'), frame = make('div', {class: 'frame', hidden: true});
  byId('sheet').append(frame);
  let start = null, before = null, scrolling = 0, lastEvent = null, dragged = false, press = 0;

  const pointIn = (event) => {
    const box = grid.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top + grid.scrollTop};
  };
  const drag = () => {
    const end = pointIn(lastEvent), left = Math.min(start.x, end.x), right = Math.max(start.x, end.x);
    const top = Math.min(start.y, end.y), bottom = Math.max(start.y, end.y);
    Object.assign(
        frame.style, {left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px`});
    selected.clear();
    for (const sample of before) selected.add(sample);
    for (let row = search(rowTop, top - tileHeight()); row < rowTop.length && rowTop[row] < bottom; ++row) {
      if (rowTop[row] + tileHeight() < top) continue;
      for (let i = 0; i < rowCount[row]; ++i) {
        const x = GAP + i * (tileWidth + GAP);
        if (x < right && x + tileWidth > left) {
          selected.add(shown[rowFirst[row] + i]);
          cursor = rowFirst[row] + i;
        }
      }
    }
    drawGrid();
    repaintTiles();
  };
  const scrollWhileDragging = () => {
    const box = grid.getBoundingClientRect();
    const beyond = lastEvent.clientY > box.bottom - 24 ? lastEvent.clientY - box.bottom + 24 :
        lastEvent.clientY < box.top + 24               ? lastEvent.clientY - box.top - 24 :
                                                         0;
    if (beyond !== 0) {
      grid.scrollTop += Math.max(-40, Math.min(40, beyond));
      drag();
    }
    scrolling = requestAnimationFrame(scrollWhileDragging);
  };

  grid.addEventListener('pointerdown', (event) => {
    dragged = false;
    const touched = event.target.closest('.tile')?.tile;
    // A finger scrolls; held still, it selects, as it has no Ctrl key.
    if (event.pointerType === 'touch') {
      lastEvent = event;
      if (touched)
        press = setTimeout(() => {
          dragged = true;
          setCursor(touched.position, {toggle: true});
        }, 450);
      return;
    }
    // The scroll bar is the browser's.
    if (event.button !== 0 || event.target.closest('button') ||
        event.offsetX > grid.clientWidth && event.target === grid)
      return;
    start = pointIn(event);
    lastEvent = event;
    before = event.ctrlKey || event.metaKey || event.shiftKey ? new Set(selected) : new Set();
  });
  grid.addEventListener('pointermove', (event) => {
    if (lastEvent && Math.hypot(event.clientX - lastEvent.clientX, event.clientY - lastEvent.clientY) > 8)
      clearTimeout(press);
    if (!start) return;
    lastEvent = event;
    const at = pointIn(event);
    if (!dragged) {
      if (Math.hypot(at.x - start.x, at.y - start.y) < 6) return;
      dragged = true;
      grid.setPointerCapture(event.pointerId);
      frame.hidden = false;
      scrolling = requestAnimationFrame(scrollWhileDragging);
    }
    drag();
  });
  const end = () => {
    clearTimeout(press);
    cancelAnimationFrame(scrolling);
    frame.hidden = true;
    if (dragged && start) {
      anchor = cursor;
      isPicked = true;
      showCursor();
      announce(`${counted(selected.size, 'label')} selected.`);
    }
    start = null;
  };
  grid.addEventListener('pointerup', end);
  grid.addEventListener('pointercancel', end);

  grid.addEventListener('click', (event) => {
    if (dragged) {
      dragged = false;
      return;
    }
    const tile = event.target.closest('.tile')?.tile;
    if (!tile) {
      if (event.target === byId('sheet') || event.target === grid) clearSelection();
      return;
    }
    const what = event.target.closest('button')?.dataset.do;
    if (what) {
      // The button is about its own tile, also where others are selected.
      moveOn(tile.position);
      if (what === 'accept')
        acceptSuggestion();
      else
        keepLabel();
      return;
    }
    const adds = event.pointerType === 'touch' && selected.size > 0;
    setCursor(tile.position, {range: event.shiftKey, toggle: adds || event.ctrlKey || event.metaKey});
    if (isNarrow() && !adds) openDetail(true);
  });
  grid.addEventListener('dblclick', (event) => {
    if (event.target.closest('.shot')) openPicture(shown[cursor]);
  });
  grid.addEventListener('contextmenu', (event) => {
    if (event.pointerType === 'touch') event.preventDefault();
  });
}
