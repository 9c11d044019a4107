// Pictures: cells of sprite sheets in the file, and JPEGs of the server.

const sheets = [];  // promises of decoded images

function sheetImage(sheet) {
  return sheets[sheet] ??= (async () => {
           const bytes = Uint8Array.from(atob(data.tile.sheets[sheet]), (c) => c.charCodeAt(0));
           data.tile.sheets[sheet] = null;
           const image = new Image();
           image.src = URL.createObjectURL(new Blob([bytes], {type: 'image/jpeg'}));
           await image.decode();
           return image;
         })();
}

const cellsPerSheet = () => data.tile.columns * data.tile.rows;

/// Served, a picture is asked for unless a text stands in its place.
function hasPicture(sample) {
  if (data.served) return samples.width[sample] > 0 || textOf(sample) === '';
  return samples.width[sample] > 0 && data.tile?.sheets?.length > Math.floor(sample / cellsPerSheet());
}

/// A tiny picture is enlarged by a whole factor with its pixels seen; interpolated, it would be a blur.
function fitInto(element, width, height, box, boxHeight = box) {
  if (!(width > 0 && height > 0)) return;
  let scale = Math.min(box / width, boxHeight / height);
  const tiny = Math.max(width, height) <= 64;
  if (tiny && scale > 1) scale = Math.floor(scale);
  element.classList.toggle('tiny', tiny);
  element.style.width = `${Math.max(1, Math.round(width * scale))}px`;
  element.style.height = `${Math.max(1, Math.round(height * scale))}px`;
}

function words(sample) {
  const text = textOf(sample);
  return make('div', {
    class: text ? 'words text' : 'words',
    dir: 'auto',
    text: text ? readable(text, 2000) : `no picture: ${readable(baseName(nameOf(sample)), 80)}`
  });
}

/// Puts the picture of `sample` into `box`, at most `size` large. `full`: the whole picture where it is served.
function showPicture(box, sample, size, {full = false, height = size} = {}) {
  if (!hasPicture(sample)) return fill(box, words(sample));
  box.pictureOf = sample;
  const late = () => box.pictureOf !== sample;
  if (data.served) {
    const image = new Image();
    image.alt = '';
    image.draggable = false;
    image.addEventListener('load', () => fitInto(image, image.naturalWidth, image.naturalHeight, size, height));
    image.addEventListener('error', () => {
      if (!late()) fill(box, words(sample));
    });
    image.src = `thumb/${samples.id[sample]}`;
    fill(box, image);
    if (!full) return;
    const whole = new Image();
    whole.alt = '';
    whole.draggable = false;
    whole.addEventListener('load', () => {
      if (late()) return;
      fitInto(whole, whole.naturalWidth, whole.naturalHeight, size, height);
      fill(box, whole);
    });
    whole.src = `image/${samples.id[sample]}`;
    return;
  }
  const width = samples.width[sample], rows = samples.height[sample];
  let canvas = box.firstElementChild;
  if (!(canvas instanceof HTMLCanvasElement)) fill(box, canvas = make('canvas'));
  canvas.width = width;
  canvas.height = rows;
  fitInto(canvas, width, rows, size, height);
  const perSheet = cellsPerSheet(), cell = sample % perSheet, side = data.tile.size;
  sheetImage(Math.floor(sample / perSheet))
      .then(
          (sheet) => {
            if (late()) return;
            // The cell is copied as it is and enlarged by the browser; drawn enlarged, its neighbours would bleed into
            // it.
            canvas.getContext('2d').drawImage(
                sheet, (cell % data.tile.columns) * side, Math.floor(cell / data.tile.columns) * side, width, rows, 0,
                0, width, rows);
          },
          () => {
            if (!late()) fill(box, words(sample));
          });
}

/// The picture as large as the window.
function openPicture(sample) {
  if (!hasPicture(sample)) return;
  const box = make('div', {class: 'shot large'});
  const close = make('button', {text: 'Close', click: () => byId('dialog').close()});
  const full = data.served ?
      make(
          'a',
          {href: `image/${samples.id[sample]}`, target: '_blank', rel: 'noreferrer', text: 'In a tab of its own'}) :
      null;
  openDialog(
      readable(nameOf(sample)),
      [
        box,
        data.served ? null :
                      make('p', {class: 'soft', text: 'This file holds small pictures. The whole ones are shown by:'}),
        data.served ? null : command(reviewCommand())
      ],
      [full, close], 'picture');
  close.focus();
  // Enlarged further, a small picture shows no more.
  const most = data.served ? 1400 : Math.max(5 * samples.width[sample], 320);
  showPicture(
      box, sample, Math.min(innerWidth - 64, most),
      {full: true, height: Math.max(160, innerHeight - (data.served ? 150 : 230))});
  box.addEventListener('click', () => byId('dialog').close());
}
