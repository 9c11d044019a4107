// The health of each class, and the matrix at full size.

let labelSet = 0, mapKind = 'counted', sortBy = 'noise', sortDown = true;

function showClasses() {
  const sets = data.labels ?? [], labels = sets[labelSet] ?? sets[0];
  const pane = byId('classes');
  if (!labels || classCount === 0)
    return fill(pane, make('p', {class: 'empty', text: 'The audit says nothing about classes.'}));
  const choose = sets.length < 2 ? null :
                                   make(
                                       'div', {class: 'chips', role: 'group', 'aria-label': 'Which labels'},
                                       sets.map((set, i) => make('button', {
                                                  'aria-pressed': i === labelSet,
                                                  text: readable(set.name, 60),
                                                  click: () => {
                                                    labelSet = i;
                                                    showClasses();
                                                  }
                                                })));
  const [rate, low, high] = labels.noise_rate ?? [];
  const sentence = make(
      'p', {class: 'lead'}, make('b', {text: `${percent(rate)} of ${counted(labels.labels, 'label')}`}),
      ` are wrong by the estimate, between ${percent(low)} and ${percent(high)}. `,
      `${counted(labels.issues, 'label is', 'labels are')} more probably wrong than right.`);
  // Below a long table nobody would see the matrix.
  const parts = [classTable(labels), mapSection(labels)];
  fill(pane, choose, sentence, classCount > 20 ? parts.reverse() : parts);
}

function classRows(labels) {
  const suspects = new Float64Array(classCount), open = new Float64Array(classCount), pairs = pairCounts(),
        taken = new Map();
  for (let sample = 0; sample < listed; ++sample) {
    const given = samples.given[sample];
    if (!isClass(given) || wrongChance(sample) < 0.5) continue;
    ++suspects[given];
    if (choice[sample] === UNDECIDED) ++open[given];
  }
  for (const {given, seems, count} of worstPairs(pairs, pairs.size))
    if (!taken.has(given)) taken.set(given, {seems, count});
  return data.classes.map((_, label) => ({
                            label,
                            labels: labels.classes?.[label]?.labels ?? 0,
                            noise: labels.classes?.[label]?.noise_rate ?? [0, 0, 0],
                            suspects: suspects[label],
                            open: open[label],
                            taken: taken.get(label)
                          }));
}

function classTable(labels) {
  const rows = classRows(labels);
  const value = {
    name: (row) => data.classes[row.label].toLowerCase(),
    labels: (row) => row.labels,
    noise: (row) => row.noise[0],
    suspects: (row) => row.suspects,
    open: (row) => row.open
  }[sortBy];
  rows.sort((a, b) => {
    const x = value(a), y = value(b);
    return (x < y ? -1 : x > y ? 1 : 0) * (sortDown ? -1 : 1) || a.label - b.label;
  });
  const most = Math.max(0.02, ...rows.map((row) => row.noise[2] ?? row.noise[0]));
  const head = (key, text, title) => make(
      'th', {
        scope: 'col',
        'aria-sort': sortBy === key ? (sortDown ? 'descending' : 'ascending') : null,
        class: key === 'name' || key === 'noise' ? 'left' : ''
      },
      make('button', {
        title,
        text: sortBy === key ? `${text} ${sortDown ? '↓' : '↑'}` : text,
        click: () => {
          sortDown = sortBy === key ? !sortDown : key !== 'name';
          sortBy = key;
          showClasses();
          byId('classes').querySelector('th[aria-sort] button')?.focus();
        }
      }));
  return make(
      'div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Health of each class'},
      make(
          'table', {class: 'health'},
          make(
              'thead', {},
              make(
                  'tr', {}, head('name', 'Class'), head('labels', 'Labels', 'How often the label was given'),
                  head('noise', 'Noise rate', 'Share of wrong labels, with its 95 % interval'),
                  head('suspects', 'Suspects', 'Listed labels that are more probably wrong than right'),
                  head('open', 'Undecided'), make('th', {scope: 'col', class: 'left', text: 'Mostly seems to be'}))),
          make(
              'tbody', {},
              rows.map(
                  (row) => make(
                      'tr', {}, make('th', {scope: 'row'}, make('button', {
                                       class: 'link name',
                                       text: className(row.label),
                                       'aria-label': `Show the labels ${className(row.label)}`,
                                       click: () => goTo('wrong', {...NO_FILTER, given: row.label})
                                     })),
                      make('td', {text: number(row.labels)}), noiseCell(row.noise, most),
                      make('td', {text: number(row.suspects)}), make('td', {text: number(row.open)}),
                      make(
                          'td', {class: 'left'},
                          row.taken ? make('button', {
                            class: 'link name',
                            text: `${className(row.taken.seems, 40)} (${number(row.taken.count)})`,
                            click: () => filterToPair(row.label, row.taken.seems)
                          }) :
                                      ''))))));
}

/// The rate as a point on its interval.
function noiseCell([rate, low, high], most) {
  const span = make('i', {class: 'interval'}), point = make('i', {class: 'point'});
  const at = (x) => `${Math.min(100, (Math.max(x, 0) / most) * 100)}%`;
  span.style.left = at(low);
  span.style.width = `${Math.min(100, Math.max(0, ((high - low) / most) * 100))}%`;
  point.style.left = at(rate);
  return make(
      'td', {class: 'left noise', title: `${percent(rate)}, between ${percent(low)} and ${percent(high)}`},
      make('span', {class: 'rate', text: percent(rate)}),
      make('span', {class: 'between soft', text: `${percent(low)} to ${percent(high)}`}),
      make('span', {class: 'axis', 'aria-hidden': 'true'}, span, point));
}

function mapSection(labels) {
  const kinds = {counted: 'Suspects, counted', estimated: 'All labels, estimated'};
  const chips = make(
      'div', {class: 'chips', role: 'group', 'aria-label': 'Which matrix'},
      Object.entries(kinds).map(([kind, text]) => make('button', {
                                  'aria-pressed': kind === mapKind,
                                  text,
                                  click: () => {
                                    mapKind = kind;
                                    showClasses();
                                  }
                                })));
  const words = mapKind === 'counted' ?
      'How many listed labels are more probably wrong than right. ' +
          'A row is what they seem to be, a column the label that they were given.' :
      'Of the pictures of a class (a row), the share in percent that was given each label (a column).';
  return make(
      'section', {class: 'map-section'}, make('h2', {text: 'Which classes are taken for each other'}), chips,
      make('p', {class: 'soft', text: `${words} Click a cell to see its labels.`}),
      make(
          'div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Matrix'},
          mapKind === 'counted' ? countedMap(false) : estimatedMap(labels)));
}
