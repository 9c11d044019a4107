// The run: what to do with the decisions, what further looks find, and what was trained.

const findings = () => data.findings || `${data.run}/audit`;
const trainCommand = () => `regroup train --config ${data.run}/config.toml --labels ${findings()}/corrected.csv --trusted ${
    findings()}/trusted.csv --noise none`;
const handBackCommand = () =>
    `regroup audit ${data.run} --decisions decisions.csv --overwrite${data.findings ? ` --out ${data.findings}` : ''}`;
const reviewCommand = () => `regroup review ${data.run}${data.findings ? ` --findings ${data.findings}` : ''}`;

function nextSteps() {
  if (data.served)
    return [
      make('p', {text: 'Every decision is saved as it is made. Train again on the corrected labels:'}),
      command(trainCommand())
    ];
  return [
    make('p', {
      text: 'Save the decisions as a CSV, which keeps them for good; until then this browser keeps them. ' +
          'Hand them back. Labels that you confirmed are never flagged again, and the rest is judged anew:'
    }),
    command(handBackCommand()),
    make('p', {text: 'Then train again on the corrected labels:'}),
    command(trainCommand()),
    data.unlisted > 0 ? make('p', {
      text: `This file holds the worst ${number(listed)} of ${
          number(listed + data.unlisted)} labels. All of them, and the whole pictures, are shown by:`
    }) :
                        make('p', {text: 'The whole pictures are shown, and each decision is saved at once, by:'}),
    command(reviewCommand()),
  ];
}

function showNextSteps() {
  const close = make('button', {class: 'main', text: 'Continue', click: () => byId('dialog').close()});
  openDialog(
      'decisions.csv is saved',
      [
        make(
            'p',
            {text: 'Hand it back. Labels that you confirmed are never flagged again, and the rest is judged anew:'}),
        nextSteps().slice(1)
      ],
      [close], 'wide');
  close.focus();
}

let chartAddresses = null;

function showRun() {
  chartAddresses ??= (data.charts ?? []).map((svg) => URL.createObjectURL(new Blob([svg], {type: 'image/svg+xml'})));
  const charts = chartAddresses.map(
      (address, i) => make('img', {src: address, alt: `Chart ${i + 1} of the training`, loading: 'lazy'}));
  const facts = make(
      'dl', {class: 'facts'},
      (data.facts ?? [])
          .map(
              ([
                name, value
              ]) => [make('dt', {text: readable(name, 80)}), make('dd', {class: 'name', text: readable(value, 400)})]));
  fill(
      byId('run'),
      make(
          'section', {}, make('h2', {text: data.served ? 'What next' : 'How to hand the decisions back'}), nextSteps(),
          make(
              'p', {class: 'actions'}, make('button', {text: 'Save decisions as CSV', click: saveDecisions}),
              make('button', {text: 'Load decisions from a CSV', click: () => byId('file').click()}))),
      yieldSection(),
      make(
          'section', {}, make('h2', {text: 'What was trained'}), (data.facts ?? []).length > 0 ? facts : make('p', {
            class: 'soft',
            text: 'Nothing is known about the training: the labels were judged by the predictions of another tool.'
          }),
          charts.length > 0 ? make('div', {class: 'charts'}, charts) : null));
}

const SVG = 'http://www.w3.org/2000/svg';
function draw(tag, properties, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/// Wrong labels that further looks find, with its interval. Where it becomes flat, looking is no longer worth it.
function yieldSection() {
  const all = expectedYield(Infinity).count;
  if (all < 2) return null;
  const steps = Math.min(120, all), points = [];
  for (let step = 0; step <= steps; ++step) points.push(expectedYield(Math.round((all * step) / steps)));
  const width = Math.max(280, Math.min(640, byId('run').clientWidth - 28)), height = 260, left = 56, right = 12,
        top = 10, bottom = 40, most = Math.max(points.at(-1).high, 1);
  const x = (looks) => left + (looks / all) * (width - left - right),
        y = (found) => height - bottom - (found / most) * (height - top - bottom);
  const line = (pick) => points.map((p) => `${x(p.count).toFixed(1)},${y(pick(p)).toFixed(1)}`);
  const svg = draw('svg', {
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    class: 'yield-chart',
    'aria-label':
        `Of ${number(all)} further looks, ${number(points.at(-1).expected)} are expected to find a wrong label`
  });
  for (const share of [0, 0.5, 1]) {
    svg.append(
        draw('line', {x1: left, x2: width - right, y1: y(most * share), y2: y(most * share), class: 'rule'}),
        draw('text', {x: left - 8, y: y(most * share) + 4, 'text-anchor': 'end'}, number(most * share)),
        draw(
            'text', {
              x: x(all * share),
              y: height - bottom + 18,
              'text-anchor': share === 1 ? 'end' :
                  share === 0            ? 'start' :
                                           'middle'
            },
            number(all * share)));
  }
  svg.append(
      draw('polygon', {points: [...line((p) => p.low), ...line((p) => p.high).reverse()].join(' '), class: 'band'}),
      draw('polyline', {points: line((p) => p.expected).join(' '), class: 'curve'}),
      draw(
          'text', {x: width - right, y: height - 4, 'text-anchor': 'end', class: 'axis-name'},
          'further looks, the worst first'));
  return make(
      'section', {}, make('h2', {text: 'What further looks find'}), make('p', {
        class: 'soft',
        text: 'Wrong labels that are still to be found among the listed ones. ' +
            'Where the curve becomes flat, looking is hardly worth it.'
      }),
      svg);
}
