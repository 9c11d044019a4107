// The review: the line above the grid, the filter beside it.

function startReview() {
  fill(
      byId('tabs'),
      Object.entries(TABS).map(
          ([name, text]) => make(
              'button', {
                role: 'tab',
                id: `tab-${name}`,
                'data-tab': name,
                'aria-controls': name === 'classes' || name === 'run' ? name : 'review',
                click: () => goTo(name)
              },
              text,
              countOfTab(name) === null ? null : make('span', {class: 'count', text: number(countOfTab(name))}))));
  byId('tabs').addEventListener('keydown', (event) => {
    const names = Object.keys(TABS), step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    const next = names[(names.indexOf(event.target.dataset.tab) + step + names.length) % names.length];
    goTo(next);
    byId(`tab-${next}`).focus();
    event.preventDefault();
    event.stopPropagation();
  });
  buildBar();
  buildSide();
  byId('undo').addEventListener('click', () => goToUndone(undo()));
  byId('save').addEventListener('click', saveDecisions);
  byId('load').addEventListener('click', () => byId('file').click());
  byId('help').addEventListener('click', showKeys);
  byId('file').addEventListener('change', () => {
    const [file] = byId('file').files;
    byId('file').value = '';
    if (file) loadDecisions(file);
  });
  // After a click the keys are about the tiles again: Space would press the clicked button once more. The button itself
  // may be gone by now.
  document.addEventListener('click', (event) => {
    if (event.detail > 0 && event.target.closest('button') && event.composedPath().includes(byId('review')))
      byId('grid').focus({preventScroll: true});
  });
  // So it is after a choice from a list by the mouse: the next letter shall not choose another entry.
  let byPointer = false;
  document.addEventListener('pointerdown', () => {
    byPointer = true;
  }, true);
  document.addEventListener('keydown', () => {
    byPointer = false;
  }, true);
  document.addEventListener('change', (event) => {
    if (byPointer && event.target.matches('select, input[type=range]')) byId('grid').focus({preventScroll: true});
  });
  if (data.served) {
    byId('save').textContent = 'Decisions as CSV';
    byId('save').classList.remove('main');
  }
}

/// Another tab or another filter, as a step that the browser's back button takes back.
function goTo(name, nextFilter = filter) {
  tab = name;
  filter = {...nextFilter};
  writeAddress(true);
  showTab();
}

function showTab() {
  for (const button of byId('tabs').children) {
    const isShown = button.dataset.tab === tab;
    button.setAttribute('aria-selected', isShown);
    button.tabIndex = isShown ? 0 : -1;
    if (isShown) button.scrollIntoView({block: 'nearest', inline: 'nearest'});
  }
  const isGrid = tab !== 'classes' && tab !== 'run';
  byId('review').hidden = !isGrid;
  byId('classes').hidden = tab !== 'classes';
  byId('run').hidden = tab !== 'run';
  byId('yield').hidden = tab === 'run' || tab === 'classes';
  byId(isGrid ? 'review' : tab).setAttribute('aria-labelledby', `tab-${tab}`);
  if (tab === 'classes')
    showClasses();
  else if (tab === 'run')
    showRun();
  else
    refilter();
}

function refilter() {
  if (byId('review').hidden) return;
  filterSamples();
  selected.clear();
  showSide();
  showEmpty();
  byId('grid').scrollTop = 0;
  const first = shown.length > 0 && choice[shown[0]] !== UNDECIDED ? nextUndecided(0) : 0;
  cursor = anchor = Math.max(first, 0);
  redrawGrid();
  if (cursor > 0) reveal(cursor);
  showCursor();
}

function showEmpty() {
  const empty = byId('empty');
  empty.hidden = shown.length > 0;
  byId('grid').hidden = shown.length === 0;
  if (shown.length > 0) return;
  if (isFiltered() && countOfTab(tab) > 0)
    fill(empty, 'Nothing fits this filter. ', make('button', {text: 'Show all', click: () => goTo(tab, NO_FILTER)}));
  else
    empty.textContent = {
      wrong: 'The audit lists no label for review: it found none that may be wrong.',
      none: 'No picture seems to belong to none of the classes.',
      duplicates: 'No picture was found twice.'
    }[tab];
}

let bar;
function buildBar() {
  const button = (text, click, properties = {}) => make('button', {text, click, ...properties});
  bar = {
    filter: button('Filter', () => byId('review').classList.toggle('side-open'), {class: 'only-narrow'}),
    count: make('span', {class: 'counted', id: 'counted'}),
    chosen: make('span', {class: 'chosen', hidden: true}),
    hide: button('', refilter, {class: 'small'}),
    accept: button(
        '', acceptAllShown, {id: 'accept-all', title: 'Accept the suggestions of all shown tiles that are undecided'}),
    details: button('Details', () => openDetail(true), {class: 'small only-wide', title: 'Show the details (Enter)'}),
    size: make(
        'input',
        {type: 'range', id: 'size', min: 64, max: 320, step: 4, value: tileSize, 'aria-label': 'Size of the tiles'}),
  };
  bar.size.addEventListener('input', () => setTileSize(Number(bar.size.value)));
  fill(
      bar.chosen, make('b'), button('Accept', acceptSuggestion, {class: 'small'}),
      button('Keep', keepLabel, {class: 'small'}), button('None', noneOfThese, {class: 'small'}),
      button('×', clearSelection, {class: 'small', 'aria-label': 'Select nothing'}));
  fill(
      byId('bar'), bar.filter, bar.count, bar.chosen, bar.hide, make('span', {class: 'space'}), bar.details,
      make(
          'label', {class: 'sizes', title: 'Size of the tiles (+ and −)'},
          make('span', {class: 'small-square', 'aria-hidden': 'true'}), bar.size,
          make('span', {class: 'large-square', 'aria-hidden': 'true'})),
      bar.accept);
}

function showBar() {
  // One pass: it runs after every key, and 100,000 may be shown.
  let open = 0, decided = 0, gone = 0;
  for (const sample of shown) {
    if (choice[sample] !== UNDECIDED)
      ++decided;
    else if (suggestedBy(sample) !== UNDECIDED)
      ++open;
    if (filter.state && stateOf(sample) !== filter.state) ++gone;
  }
  byId('bar').classList.toggle('choosing', selected.size > 0);
  const what = groups ? `${counted(groups.length, 'group')}, ${
                            counted(groups.filter((group) => group.differ).length, 'differs', 'differ')}` :
                        `${number(shown.length)} shown`;
  fill(bar.count, what, decided > 0 ? make('span', {class: 'only-wide', text: `, ${number(decided)} decided`}) : null);
  bar.chosen.hidden = selected.size === 0;
  bar.chosen.firstChild.textContent = `${number(selected.size)} selected`;
  bar.accept.hidden = tab === 'duplicates';
  bar.accept.disabled = open === 0;
  bar.accept.textContent = `Accept all ${number(open)}`;
  bar.details.hidden = detailOpen || shown.length === 0;
  bar.hide.hidden = gone === 0 || groups !== null;
  bar.hide.textContent = `Hide ${number(gone)} that no longer fit`;
  byId('undo').disabled = undoStack.length === 0;
  byId('undo').title = undoStack.length > 0 ? `Undo: ${undoStack.at(-1).words} (U)` : 'Undo the last action (U)';
}

let side;
function buildSide() {
  const field = (text, ...content) => make('label', {class: 'field'}, make('span', {text}), ...content);
  const classes = (name, text) => {
    const box = make(
        'select', {'data-filter': name, change: () => setFilter({[name]: Number(box.value)})},
        make('option', {value: -1, text: 'any'}),
        data.classes.map((_, label) => make('option', {value: label, text: className(label, 60)})));
    return field(text, box);
  };
  const bound = (name, text) => make('input', {
    type: 'number',
    min: 0,
    max: 100,
    step: 5,
    'data-filter': name,
    'aria-label': text,
    change: (event) => setFilter({[name]: Math.min(100, Math.max(0, Math.round(Number(event.target.value)) || 0))})
  });
  const name = make('input', {
    type: 'search',
    'data-filter': 'name',
    id: 'search',
    placeholder: 'Name (/)',
    'aria-label': 'Search by name',
    autocomplete: 'off',
    spellcheck: 'false'
  });
  let typing = 0;
  name.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(() => setFilter({name: name.value.slice(0, 500)}), 150);
  });
  const part = make(
      'select', {'data-filter': 'part', change: () => setFilter({part: Number(part.value)})},
      make('option', {value: -1, text: 'any'}),
      data.parts.map((text, i) => make('option', {value: i, text: readable(text, 40)})));
  const states = make(
      'div', {class: 'chips', role: 'group', 'aria-label': 'State'},
      Object.entries({'': 'all', ...STATES, none: 'none'})
          .map(([value, text]) => make('button', {'data-state': value, text, click: () => setFilter({state: value})})));
  side = {
    states,
    map: make('div', {class: 'map'}),
    clear: make('button', {class: 'small', text: 'Clear the filter', click: () => goTo(tab, NO_FILTER)})
  };
  fill(
      byId('side'), name, states, classes('given', 'Given'), classes('suggested', 'Suggested'),
      make(
          'div', {class: 'field'}, make('span', {text: 'Wrong'}),
          make(
              'span', {class: 'range'}, bound('from', 'Probability of being wrong from, in percent'), 'to',
              bound('to', 'Probability of being wrong up to, in percent'), '%')),
      data.parts.length > 1 ? field('Part', part) : null, side.clear, side.map);
}

function setFilter(part) {
  filter = {...filter, ...part};
  writeAddress(false);
  refilter();
}

function showSide() {
  for (const box of byId('side').querySelectorAll('[data-filter]'))
    if (box !== document.activeElement || box.type !== 'search') box.value = filter[box.dataset.filter];
  for (const chip of side.states.children) chip.setAttribute('aria-pressed', chip.dataset.state === filter.state);
  side.clear.hidden = !isFiltered();
  fill(side.map, make('h2', {text: 'Taken for each other'}), countedMap(true));
  if (classCount > 2 && classCount <= MOST_CLASSES_IN_SMALL_MAP)
    side.map.append(
        make('p', {class: 'soft', text: 'Columns: given. Rows: seems to be. Click a cell to see its labels.'}));
}
