// Which samples are shown. The filter stands in the address, so that it survives a reload and can be sent to others.

const TABS = {
  wrong: 'Wrong labels',
  none: 'None of these',
  duplicates: 'Duplicates',
  classes: 'Classes',
  run: 'The run'
};
const NO_FILTER = {
  given: -1,
  suggested: -1,
  from: 0,
  to: 100,
  state: '',
  part: -1,
  name: ''
};

let tab = 'wrong';
let filter = {...NO_FILTER};
let shown = [];     // samples, in the order in which they stand
let groups = null;  // of duplicates: { group, first, count, differ }
let noneListed = [], duplicateGroups = [];

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const whole = (name, low, high, otherwise) => {
    const value = given.get(name);
    return value !== null && /^\d{1,7}$/.test(value) && value >= low && value <= high ? Number(value) : otherwise;
  };
  tab = Object.hasOwn(TABS, given.get('tab') ?? '') ? given.get('tab') : 'wrong';
  filter = {
    given: whole('given', 0, classCount - 1, -1),
    suggested: whole('suggested', 0, classCount - 1, -1),
    from: whole('from', 0, 100, 0),
    to: whole('to', 0, 100, 100),
    state: Object.hasOwn(STATES, given.get('state') ?? '') ? given.get('state') : '',
    part: whole('part', 0, data.parts.length - 1, -1),
    name: (given.get('name') ?? '').slice(0, 500),
  };
}

function writeAddress(isStep) {
  const words = new URLSearchParams();
  if (tab !== 'wrong') words.set('tab', tab);
  for (const [name, value] of Object.entries(filter))
    if (value !== NO_FILTER[name]) words.set(name, value);
  const address = `#${words}`;
  if (address === (location.hash || '#')) return;
  try {
    if (isStep)
      history.pushState(null, '', address);
    else
      history.replaceState(null, '', address);
  } catch { /* Browsers allow only so many in a short time; the next one takes it along. */
  }
}

/// What the tab suggests for a sample: A accepts it.
const suggestedBy = (sample) => (tab === 'none' ? NONE : suggestion[sample]);

function fits(sample) {
  const f = filter;
  if (f.given >= 0 && samples.given[sample] !== f.given) return false;
  if (f.suggested >= 0 && suggestion[sample] !== f.suggested) return false;
  if (f.part >= 0 && samples.part[sample] !== f.part) return false;
  if (f.from > 0 && wrongChance(sample) < f.from / 100) return false;
  if (f.to < 100 && wrongChance(sample) > f.to / 100) return false;
  if (f.state && stateOf(sample) !== f.state) return false;
  if (f.name && !nameOf(sample).toLowerCase().includes(f.name.toLowerCase()) &&
      !textOf(sample).toLowerCase().includes(f.name.toLowerCase()))
    return false;
  return true;
}

const isFiltered = () => Object.entries(filter).some(([name, value]) => value !== NO_FILTER[name]);

function findLists() {
  for (let sample = 0; sample < listed; ++sample)
    if (samples.none[sample] >= 0.5) noneListed.push(sample);
  noneListed.sort((a, b) => samples.none[b] - samples.none[a]);
  const members = new Map();
  for (let sample = 0; sample < sampleCount; ++sample) {
    const group = samples.group[sample];
    if (group < 0) continue;
    if (!members.has(group)) members.set(group, []);
    members.get(group).push(sample);
  }
  for (const list of members.values())
    if (list.length > 1)
      duplicateGroups.push({samples: list, differ: new Set(list.map((s) => samples.given[s])).size > 1});
  duplicateGroups.sort((a, b) => b.differ - a.differ || a.samples[0] - b.samples[0]);
}

/// Filters anew. Decided tiles stay where they are until then, so that nothing moves under the reviewer's hand.
function filterSamples() {
  groups = null;
  shown = [];
  if (tab === 'duplicates') {
    groups = [];
    // A group stays together: what is beside a picture is the point.
    for (const group of duplicateGroups) {
      if (!group.samples.some(fits)) continue;
      groups.push({...group, first: shown.length, count: group.samples.length});
      shown.push(...group.samples);
    }
    return;
  }
  if (tab === 'none')
    shown = noneListed.filter(fits);
  else
    for (let sample = 0; sample < listed; ++sample)
      if (fits(sample)) shown.push(sample);
}

function countOfTab(name) {
  if (name === 'wrong') return listed;
  if (name === 'none') return noneListed.length;
  if (name === 'duplicates') return duplicateGroups.length;
  return null;
}
