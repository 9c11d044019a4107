// Which classes are taken for each other. Rows are what a picture seems to be, columns the labels that were given.

const MOST_CLASSES_IN_MAP = 40;
const MOST_CLASSES_IN_SMALL_MAP = 12;

/// Listed labels that are more probably wrong than right, by given class and suggested one.
function pairCounts() {
  const counts = new Map();
  for (let sample = 0; sample < listed; ++sample) {
    if (suggestion[sample] < 0 || wrongChance(sample) < 0.5) continue;
    const pair = samples.given[sample] * classCount + suggestion[sample];
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return counts;
}

const worstPairs =
    (counts,
     most) => [...counts]
                  .sort((a, b) => b[1] - a[1] || a[0] - b[0])
                  .slice(0, most)
                  .map(([pair, count]) => ({given: Math.floor(pair / classCount), seems: pair % classCount, count}));

/// The labels that a cell counts: those that are probably wrong.
function filterToPair(given, seems) {
  const again = tab === 'wrong' && filter.given === given && filter.suggested === seems;
  goTo('wrong', again ? {...NO_FILTER} : {...NO_FILTER, given, suggested: seems, from: 50});
}

/// Six strengths of colour. The step in the middle is large, because no text could be read on what lies between.
function heatOf(share) {
  const root = Math.sqrt(share), steps = [[0, 0], [0.2, 8], [0.35, 18], [0.5, 30], [0.7, 42], [0.88, 86], [1, 100]];
  return steps.find(([most]) => root <= most)?.[1] ?? 100;
}

/// `value(row, column)` decides the colour, `text` what stands in a cell.
function heatMap({value, text, spoken, label, small}) {
  let most = 0;
  for (let row = 0; row < classCount; ++row)
    for (let column = 0; column < classCount; ++column)
      if (row !== column) most = Math.max(most, value(row, column));
  const table = make('table', {class: small ? 'heatmap small' : 'heatmap', role: 'grid', 'aria-label': label});
  table.append(make(
      'thead', {},
      make(
          'tr', {}, make('td', {class: 'corner'}, make('span', {text: 'seems to be'}), make('span', {text: 'given'})),
          data.classes.map(
              (_, column) => make(
                  'th', {scope: 'col', title: className(column)},
                  make('span', {class: 'name', text: className(column, 40)}))))));
  const body = make('tbody');
  for (let row = 0; row < classCount; ++row) {
    const cells = data.classes.map((_, column) => {
      const strength = most > 0 && row !== column ? heatOf(value(row, column) / most) : 0;
      const isChosen = tab === 'wrong' && filter.given === column && filter.suggested === row;
      const cell = make('td', {
        role: 'gridcell',
        tabindex: row === 0 && column === 0 ? 0 : -1,
        'data-row': row,
        'data-column': column,
        class: `${row === column ? 'diagonal' : ''}${strength > 50 ? ' strong' : ''}${isChosen ? ' chosen' : ''}`,
        'aria-label': spoken(row, column),
        title: spoken(row, column),
        text: small ? '' : text(row, column)
      });
      if (strength > 0) cell.style.setProperty('--heat', `${strength}%`);
      return cell;
    });
    body.append(make(
        'tr', {}, make('th', {scope: 'row', class: 'name', title: className(row), text: className(row, 40)}), cells));
  }
  table.append(body);
  const choose = (cell) => {
    if (cell.dataset.row !== cell.dataset.column) filterToPair(Number(cell.dataset.column), Number(cell.dataset.row));
  };
  table.addEventListener('click', (event) => {
    const cell = event.target.closest('td[data-row]');
    if (cell) choose(cell);
  });
  table.addEventListener('keydown', (event) => {
    const cell = event.target.closest('td[data-row]'),
          step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    if (!cell) return;
    if (step) {
      const next = table.querySelector(`td[data-row="${Number(cell.dataset.row) + step[0]}"][data-column="${
          Number(cell.dataset.column) + step[1]}"]`);
      if (next) {
        cell.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
      }
    } else if (event.key === 'Enter' || event.key === ' ')
      choose(cell);
    else
      return;
    event.preventDefault();
    event.stopPropagation();
  });
  return table;
}

function countedMap(small) {
  const counts = pairCounts();
  if (counts.size === 0)
    return make(
        'p',
        {class: 'soft', text: 'No listed label is more probably wrong than right, so no class is taken for another.'});
  if (classCount > (small ? MOST_CLASSES_IN_SMALL_MAP : MOST_CLASSES_IN_MAP))
    return pairList(worstPairs(counts, small ? 12 : 60));
  const at = (row, column) => counts.get(column * classCount + row) ?? 0;
  return heatMap({
    small,
    value: at,
    text: (row, column) => (row === column || at(row, column) === 0 ? '' : number(at(row, column))),
    label: 'Probably wrong labels by what they seem to be and by given label',
    spoken: (row, column) =>
        (row === column ?
             className(row) :
             `given ${className(column)}, seems to be ${className(row)}: ${counted(at(row, column), 'label')}`)
  });
}

function pairList(pairs) {
  const most = Math.max(...pairs.map((pair) => pair.count), 1);
  return make('ol', {class: 'pairs'}, pairs.map(({given, seems, count, share}) => {
    const bar = make('i'), isChosen = tab === 'wrong' && filter.given === given && filter.suggested === seems;
    bar.style.width = `${(count / most) * 100}%`;
    return make(
        'li', {},
        make(
            'button', {'aria-pressed': isChosen, click: () => filterToPair(given, seems)},
            make('span', {class: 'name', text: className(given, 50)}), make('span', {class: 'arrow', text: '→'}),
            make('span', {class: 'name', text: className(seems, 50)}),
            make('span', {class: 'share', text: share ?? number(count)}), make('span', {class: 'track'}, bar)));
  }));
}

/// P(given | true) as the audit estimated it.
function estimatedMap(labels) {
  const matrix = labels?.matrix;
  if (!matrix?.length)
    return make('p', {class: 'soft', text: 'The matrix of so many classes is in summary.json and not in this page.'});
  const at = (row, column) => matrix[row]?.[column] ?? 0;
  if (classCount > MOST_CLASSES_IN_MAP) {
    const pairs = [];
    for (let row = 0; row < classCount; ++row)
      for (let column = 0; column < classCount; ++column)
        if (row !== column && at(row, column) > 0.001)
          pairs.push({given: column, seems: row, count: at(row, column), share: percent(at(row, column))});
    pairs.sort((a, b) => b.count - a.count);
    return pairs.length > 0 ?
        pairList(pairs.slice(0, 60)) :
        make('p', {class: 'soft', text: 'No class is taken for another in more than one of a thousand cases.'});
  }
  return heatMap({
    value: at,
    text: (row, column) => (at(row, column) < 0.005 ? '' : Math.round(at(row, column) * 100)),
    label: 'Estimated share of each given label, in percent, by true class',
    spoken: (row, column) =>
        `of what is ${className(row)}, ${percent(at(row, column)) || '0 %'} was labelled ${className(column)}`
  });
}
