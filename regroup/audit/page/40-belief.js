// Decisions tell how good the beliefs were, and the beliefs about the rest follow.

const belief = {
  shift: 0,
  deviation: 1
};
const beliefListeners = [];

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/// The probability that a label is wrong, after what was decided about others.
const wrongChance = (sample) => sigmoid(belief.shift + evidenceOdds[sample]);

/// The probability of a class that had p before: what the other classes had together is shared out as before.
function chanceNow(sample, label, p) {
  const wrong = wrongChance(sample), before = 1 - samples.right[sample];
  if (label === samples.given[sample]) return 1 - wrong;
  return before > 0 ? p * wrong / before : p;
}

/// a solves sum_i (w_i - sigmoid(a + logit p_i)) = a / spread^2: one shift of all beliefs, with a prior of that
/// standard deviation (audit/recalibrate.h).
function fitBelief() {
  const odds = [], wrong = [], precision = 1 / data.spread ** 2;
  for (let sample = 0; sample < sampleCount; ++sample) {
    if (choice[sample] === UNDECIDED) continue;
    odds.push(evidenceOdds[sample]);
    wrong.push(choice[sample] === samples.given[sample] ? 0 : 1);
  }
  let low = -10, high = 10;
  for (let halving = 0; halving < 60; ++halving) {
    const a = (low + high) / 2;
    let slope = -a * precision;
    for (let i = 0; i < odds.length; ++i) slope += wrong[i] - sigmoid(a + odds[i]);
    if (slope > 0)
      low = a;
    else
      high = a;
  }
  belief.shift = odds.length === 0 ? 0 : (low + high) / 2;
  let information = precision;
  for (const value of odds) information += sigmoid(belief.shift + value) * (1 - sigmoid(belief.shift + value));
  belief.deviation = 1 / Math.sqrt(information);
}

/// What the next `looks` looks find, the worst first.
function expectedYield(looks) {
  let count = 0, expected = 0, spread = 0;
  for (let sample = 0; sample < listed && count < looks; ++sample) {
    if (choice[sample] !== UNDECIDED) continue;
    const p = wrongChance(sample);
    ++count;
    expected += p;
    spread += p * (1 - p);
  }
  const deviation = Math.sqrt(spread + (belief.deviation * spread) ** 2);
  return {
    count,
    expected,
    low: Math.max(0, expected - 1.96 * deviation),
    high: Math.min(count, expected + 1.96 * deviation)
  };
}

/// What was found, beside what the beliefs had said of just those samples.
function foundSoFar() {
  let looked = 0, found = 0, expected = 0, spread = 0;
  for (let sample = 0; sample < sampleCount; ++sample) {
    if (choice[sample] === UNDECIDED) continue;
    const p = sigmoid(evidenceOdds[sample]);
    ++looked;
    found += choice[sample] === samples.given[sample] ? 0 : 1;
    expected += p;
    spread += p * (1 - p);
  }
  return {looked, found, expected, margin: 1.96 * Math.sqrt(spread)};
}

let fitTimer = 0;
/// Soon, and not for each of many decisions in a row: the fit takes as long as there are decisions.
function fitSoon() {
  if (fitTimer) return;
  fitTimer = setTimeout(() => {
    fitTimer = 0;
    fitBelief();
    for (const listener of beliefListeners) listener();
  }, decidedCount() > 5000 ? 400 : 16);
}

let looksAhead = 400;

function showYield() {
  const place = byId('yield'), ahead = expectedYield(looksAhead), past = foundSoFar();
  Object.assign(place.dataset, {
    shift: belief.shift,
    expected: ahead.expected,
    low: ahead.low,
    high: ahead.high,
    looks: ahead.count,
    found: past.found,
    believed: past.expected
  });
  const lines = [];
  if (listed === 0)
    lines.push(make('span', {text: 'No label is listed for review.'}));
  else if (ahead.count === 0)
    lines.push(make('b', {text: `All ${number(listed)} listed labels are decided.`}));
  else
    lines.push(make(
        'span', {class: 'ahead'}, ahead.count < looksAhead ? `The last ` : 'The next ', looksChooser(ahead.count),
        ahead.count === 1 ? ' look finds about ' : ' looks find about ',
        make('b', {text: counted(ahead.expected, 'more wrong label')}),
        make('span', {class: 'soft', text: ` (${number(ahead.low)} to ${number(ahead.high)})`})));
  if (past.looked > 0) {
    const low = past.expected - past.margin, high = past.expected + past.margin;
    const verdict = past.found < low ? {words: ': fewer than believed, so the rest is doubted less'} :
        past.found > high            ? {words: ': more than believed, so the rest is doubted more'} :
                                       {words: ': as believed ✓', agrees: true};
    lines.push(make(
        'span', {}, 'So far ', make('b', {text: `${number(past.found)} of ${number(past.looked)}`}),
        ` decided ${past.looked === 1 ? 'was' : 'were'} wrong, ${past.expected.toFixed(1)} ± ${
            past.margin.toFixed(1)} expected`,
        make('span', {class: verdict.agrees ? 'agrees' : 'differs', text: verdict.words})));
  }
  fill(place, lines);
  byId('elsewhere').textContent = byId('elsewhere').title = data.unlisted > 0 ? unlistedWords() : '';
}

function unlistedWords() {
  const rest = `about ${number(data.unlisted_wrong)} of the other ${number(data.unlisted)} may be wrong`;
  return data.served ? `The worst ${number(listed)} are listed; ${rest}.` :
                       `Only the worst ${number(listed)} are in this file, “regroup review” shows all; ${rest}.`;
}

function looksChooser(count) {
  if (count < looksAhead) return number(count);
  const box = make('select', {
    'aria-label': 'Number of looks',
    change: () => {
      looksAhead = Number(box.value);
      showYield();
      byId('yield').querySelector('select')?.focus();
    }
  });
  for (const looks of [100, 400, 1000, 4000, 10000])
    if (looks <= Math.max(listed, 400))
      box.append(make('option', {value: looks, text: number(looks), selected: looks === looksAhead}));
  return box;
}
