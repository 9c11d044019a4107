// What the audit found, as the page holds it. A "sample" is a position in its columns.

const UNDECIDED = -2, NONE = -1;

let data, samples, classCount, sampleCount, listed;
let choice;        // per sample: UNDECIDED, NONE or a class
let suggestion;    // per sample: the likeliest class other than the given one, or UNDECIDED where there is none
let evidenceOdds;  // per sample: logit of the probability that its label is wrong, before anything was decided
let sampleOfId;

async function readData() {
  const embedded = JSON.parse(byId('data').textContent);
  byId('data').remove();
  if (!embedded.served) return embedded;
  const answer = await fetch('data.json', {cache: 'no-store'});
  if (!answer.ok) throw new Error(readable((await answer.text()) || `The server answers ${answer.status}`, 400));
  return {...(await answer.json()), served: true};
}

function takeData(found) {
  data = found;
  samples = data.samples;
  sampleCount = samples.id.length;
  listed = Math.min(data.listed, sampleCount);
  classCount = data.classes.length;
  choice = new Int32Array(sampleCount).fill(UNDECIDED);
  suggestion = new Int32Array(sampleCount).fill(UNDECIDED);
  evidenceOdds = new Float64Array(sampleCount);
  sampleOfId = new Map();
  data.hasPictures = samples.width.some((width) => width > 0) || (data.served && !samples.text);
  for (let sample = 0; sample < sampleCount; ++sample) {
    sampleOfId.set(samples.id[sample], sample);
    const wrong = Math.min(Math.max(1 - samples.right[sample], 1e-6), 1 - 1e-6);
    evidenceOdds[sample] = Math.log(wrong / (1 - wrong));
    const likely = samples.likely[sample] ?? [];
    for (let i = 0; i < likely.length; i += 2) {
      if (likely[i] === samples.given[sample]) continue;
      suggestion[sample] = likely[i];
      break;
    }
  }
}

const isClass = (label) => Number.isInteger(label) && label >= 0 && label < classCount;
const className = (label, most = 80) => (isClass(label) ? readable(data.classes[label], most) : 'none of these');
const nameOf = (sample) => samples.name[sample] || `${data.parts[samples.part[sample]]} ${samples.index[sample]}`;
const textOf = (sample) => samples.text?.[sample] ?? '';

/// [class, probability] pairs, the likeliest first; number key n stands for the n-th.
function likelyOf(sample) {
  const flat = samples.likely[sample] ?? [], pairs = [];
  for (let i = 0; i + 1 < flat.length && pairs.length < 9; i += 2)
    if (isClass(flat[i])) pairs.push([flat[i], flat[i + 1]]);
  return pairs;
}

function stateOf(sample) {
  const chosen = choice[sample];
  if (chosen === UNDECIDED) return 'undecided';
  if (chosen === NONE) return 'none';
  return chosen === samples.given[sample] ? 'kept' : 'changed';
}

const STATES = {
  undecided: 'undecided',
  kept: 'kept',
  changed: 'changed',
  none: 'none of these'
};
