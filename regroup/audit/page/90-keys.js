// The keyboard. One key per decision.

const KEYS = [
  ['A', 'accept the suggestion'],
  ['K', 'keep the label'],
  ['1 … 9', 'give the n-th likeliest class of the details'],
  ['N', 'none of these'],
  ['O', 'another class: type its name'],
  ['Backspace', 'undecided again'],
  ['U, Ctrl Z', 'undo, also what was done to many'],
  ['Shift U', 'do it again'],
  ['← → ↑ ↓', 'go; with Shift: select'],
  ['Home, End, Page', 'go further'],
  ['Space', 'select or not'],
  ['Ctrl A', 'select all shown'],
  ['Enter', 'open the details, then the large picture'],
  ['Escape', 'close, then select nothing'],
  ['/', 'search by name'],
  ['+ −', 'larger and smaller tiles'],
  ['?', 'this list'],
];

function showKeys() {
  const close = make('button', {class: 'main', text: 'Close', click: () => byId('dialog').close()});
  openDialog(
      'Keys',
      [
        make('p', {
          class: 'soft',
          text: 'A decision is about the current tile, or about all selected ones. ' +
              'Then the next undecided tile becomes the current one.'
        }),
        make(
            'dl', {class: 'keys'},
            KEYS.map(
                ([
                  key, text
                ]) => [make('dt', {}, key.split(', ').map((one) => make('kbd', {text: one}))), make('dd', {text})])),
        make('p', {
          class: 'soft',
          text: 'Mouse: click, Shift click for a range, Ctrl click for one more, drag for a rectangle. ' +
              'Finger: press long to select.'
        })
      ],
      [close]);
  close.focus();
}

function onKey(event) {
  if (event.isComposing || byId('dialog').open) return;
  const target = event.target, isField = target.matches?.('input:not([type=range]), textarea, select');
  if (event.key === 'Escape') {
    if (isField) {
      target.blur();
      byId('grid').focus();
    } else if (byId('review').classList.contains('side-open'))
      byId('review').classList.remove('side-open');
    else if (selected.size > 0)
      clearSelection();
    else if (detailOpen && !byId('review').hidden)
      openDetail(false);
    return;
  }
  if (isField) {
    if (event.key === 'Enter' && byId('side').contains(target)) byId('grid').focus();
    return;
  }
  if (event.key === '?') {
    event.preventDefault();
    return showKeys();
  }
  if (byId('review').hidden) return;
  const control = event.ctrlKey || event.metaKey, key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (control) {
    if (key === 'z')
      goToUndone(event.shiftKey ? redo() : undo());
    else if (key === 'a' && shown.length > 0)
      selectAllShown();
    else
      return;
    return event.preventDefault();
  }
  if (event.altKey) return;
  // Space and Enter belong to the button that has the focus, arrows to the slider.
  const isControl = target.matches?.('button, a, input');
  if (isControl && (key === 'Enter' || key === ' ' || (target.type === 'range' && !/^[a-z0-9]$/.test(key)))) return;
  const run = keyAction(key, event.shiftKey, event.repeat);
  if (!run) return;
  event.preventDefault();
  run();
}

function keyAction(key, shift, repeats) {
  const go = (position) => () => setCursor(position, {range: shift, keys: true});
  const page = Math.max(1, Math.floor(byId('grid').clientHeight / (tileHeight() + GAP)) - 1);
  // A key that is held down moves, and decides nothing: its repetitions would be about tiles that nobody saw.
  const once = (run) => (repeats ? () => {} : run);
  if (/^[1-9]$/.test(key)) return once(() => giveNth(Number(key)));
  switch (key) {
    case 'a':
      return once(acceptSuggestion);
    case 'k':
      return once(keepLabel);
    case 'n':
      return once(noneOfThese);
    case 'u':
      return () => goToUndone(shift ? redo() : undo());
    case 'Backspace':
    case 'Delete':
      return once(clearDecision);
    case 'ArrowLeft':
      return go(cursor - 1);
    case 'ArrowRight':
      return go(cursor + 1);
    case 'ArrowUp':
      return go(rowStep(cursor, -1));
    case 'ArrowDown':
      return go(rowStep(cursor, 1));
    case 'PageUp':
      return go(rowStep(cursor, -page));
    case 'PageDown':
      return go(rowStep(cursor, page));
    case 'Home':
      return go(0);
    case 'End':
      return go(shown.length - 1);
    case ' ':
      return () => setCursor(cursor, {toggle: true, keys: true});
    case 'Enter':
      return once(() => (detailOpen ? openPicture(shown[cursor]) : openDetail(true)));
    case 'o':
      return () => {
        if (!detailOpen) openDetail(true);
        byId('detail').querySelector('.other input')?.focus();
      };
    case '/':
      return () => {
        byId('review').classList.add('side-open');
        byId('search').focus();
      };
    case '+':
    case '=':
      return () => setTileSize(tileSize + 24);
    case '-':
      return () => setTileSize(tileSize - 24);
    default:
      return null;
  }
}
