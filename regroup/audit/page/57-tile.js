// One tile: picture, given label and suggestion, how probably the label is wrong, and what was decided.

const MARKS = {
  undecided: '',
  kept: '✓',
  changed: '→',
  none: '∅'
};

function newTile() {
  const tile = {
    shot: make('div', {class: 'shot'}),
    mark: make('span', {class: 'mark'}),
    heat: make('i'),
    given: make('span', {class: 'given name'}),
    chance: make('span', {class: 'chance'}),
    becomes: make('span', {class: 'becomes name'})
  };
  // For the mouse alone. The keyboard has its keys, and the detail panel has the buttons that are read out.
  const quick = (what, text, title) => make('button', {tabindex: -1, 'data-do': what, text, title});
  tile.accept = quick('accept', 'Accept', 'Accept the suggestion (A)');
  tile.keep = quick('keep', 'Keep', 'Keep the label (K)');
  tile.root = make(
      'div', {class: 'tile', role: 'option'}, tile.shot, tile.mark,
      make('div', {class: 'quick', 'aria-hidden': 'true'}, tile.accept, tile.keep),
      make('div', {class: 'heat'}, tile.heat),
      make(
          'div', {class: 'caption'}, make('div', {class: 'line'}, tile.given, tile.chance),
          make('div', {class: 'line'}, tile.becomes)));
  tile.root.tile = tile;
  return tile;
}

function bindTile(tile, position) {
  tile.position = position;
  tile.sample = shown[position];
  tile.root.id = `tile-${position}`;
  tile.root.setAttribute('aria-setsize', shown.length);
  tile.root.setAttribute('aria-posinset', position + 1);
  if (tile.shot.pictureOf !== tile.sample) {
    tile.shot.replaceChildren();
    tile.shot.pictureOf = -1;
  }
  paintTile(tile);
}

function paintTile(tile) {
  const {sample} = tile, state = stateOf(sample), wanted = suggestedBy(sample);
  const chance = tab === 'none' ? samples.none[sample] : wrongChance(sample);
  const isSelected = selected.has(sample), isCurrent = tile.position === cursor;
  tile.root.className = `tile ${state}${isSelected ? ' selected' : ''}${isCurrent ? ' current' : ''}${
      chance < 0.5 ? ' likely-right' : ''}`;
  tile.root.setAttribute('aria-selected', isSelected);
  tile.mark.textContent = MARKS[state];
  tile.given.textContent = className(samples.given[sample]);
  tile.chance.textContent = state === 'undecided' ? percent(chance) : '';
  tile.heat.style.width = `${state === 'undecided' ? Math.max(1, Math.round(chance * 100)) : 0}%`;
  if (state === 'undecided')
    tile.becomes.textContent =
        wanted === UNDECIDED || (tab === 'duplicates' && chance < 0.5) ? '' : `→ ${className(wanted)}`;
  else if (state === 'kept')
    tile.becomes.textContent = 'kept';
  else
    tile.becomes.textContent = `→ ${className(choice[sample])}`;
  tile.accept.disabled = wanted === UNDECIDED;
  tile.root.setAttribute('aria-label', spoken(sample, chance, state, wanted));
}

function spoken(sample, chance, state, wanted) {
  const given = className(samples.given[sample]), name = readable(nameOf(sample), 80);
  if (state === 'kept') return `${given}, kept, ${name}`;
  if (state !== 'undecided') return `${given}, changed to ${className(choice[sample])}, ${name}`;
  const instead = wanted === UNDECIDED ? '' : `, perhaps ${className(wanted)}`;
  return `${given}${instead}, ${percent(chance)} ${tab === 'none' ? 'none of these' : 'wrong'}, ${name}`;
}

/// The line above a group of duplicates: one click gives all of them the same label.
function groupHead(group) {
  const counts = new Map();
  for (const sample of group.samples) counts.set(samples.given[sample], (counts.get(samples.given[sample]) ?? 0) + 1);
  const labels = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
  const words = group.differ ? `${group.count} alike, ${labels.length} labels` : `${group.count} alike, same label`;
  const buttons = labels.slice(0, 4).map(
      (label) => make('button', {
        class: 'small name',
        text: className(label, 30),
        'aria-label': `All ${group.count} are ${className(label)}`,
        click: () =>
            decideMany(group.samples.map((sample) => [sample, label]), `All ${group.count} are ${className(label)}.`)
      }));
  return make(
      'div', {class: `group-head${group.differ ? ' differ' : ''}`, role: 'presentation'}, make('span', {text: words}),
      make('span', {class: 'soft', text: group.differ ? 'All are' : 'Keep'}), buttons);
}
