// The page as a file: decisions are kept by the browser until they are saved as a CSV.

const unsaved = new Set();        // samples whose decision no CSV has yet
const decidedBefore = new Set();  // samples that the audit knew a decision of
let otherRows = [];               // rows of a loaded CSV about labels that are not in this page

const keptKey = () => `regroup:${data.key}:decisions`;

function takeEarlierDecisions() {
  const pairs = (data.decisions ?? []).map(pairOf).filter(Boolean);
  for (const [sample] of pairs) decidedBefore.add(sample);
  change(pairs, 'earlier');
}

function readKept(text) {
  try {
    const kept = JSON.parse(text);
    if (!kept) return;
    const next = new Map();
    for (const sample of decidedBefore) next.set(sample, UNDECIDED);
    for (let sample = 0; sample < sampleCount; ++sample)
      if (choice[sample] !== UNDECIDED) next.set(sample, UNDECIDED);
    for (const [id, value] of kept.decisions) {
      const sample = sampleOfId.get(id);
      if (sample !== undefined && (value === NONE || isClass(value))) next.set(sample, value);
    }
    change([...next], 'kept');
    unsaved.clear();
    for (const id of kept.unsaved)
      if (sampleOfId.has(id)) unsaved.add(sampleOfId.get(id));
    otherRows = kept.others ?? [];
  } catch {
    alarm('The decisions that this browser kept cannot be read. Load them from a CSV if you saved one.');
  }
}

function writeKept() {
  const decisions = [];
  for (let sample = 0; sample < sampleCount; ++sample)
    if (choice[sample] !== UNDECIDED) decisions.push([samples.id[sample], choice[sample]]);
  const kept = {decisions, unsaved: [...unsaved].map((sample) => samples.id[sample]), others: otherRows};
  try {
    localStorage.setItem(keptKey(), JSON.stringify(kept));
  } catch {
    alarm('This browser does not keep decisions. Save them as a CSV before you close the page.');
  }
}

function startKeeping() {
  takeEarlierDecisions();
  try {
    const text = localStorage.getItem(keptKey());
    if (text) readKept(text);
  } catch {
    alarm('This browser does not keep decisions. Save them as a CSV before you close the page.');
  }
  decisionListeners.push((changes, source) => {
    if (source !== 'user') return;
    for (const {sample} of changes) unsaved.add(sample);
    writeKept();
    showUnsaved();
  });
  // A second window of the same file.
  addEventListener('storage', (event) => {
    if (event.key !== keptKey() || !event.newValue) return;
    readKept(event.newValue);
    showUnsaved();
  });
  addEventListener('beforeunload', (event) => {
    if (unsaved.size > 0) event.preventDefault();
  });
  showUnsaved();
}

function showUnsaved() {
  const decided = decidedCount();
  byId('saved').textContent = unsaved.size > 0 ? `${number(unsaved.size)} unsaved` : decided > 0 ? 'all saved' : '';
  byId('saved').classList.toggle('waits', unsaved.size > 0);
  byId('save').disabled = decided === 0 && unsaved.size === 0 && otherRows.length === 0;
}

function saveDecisions() {
  const cleared = new Set([...decidedBefore].filter((sample) => choice[sample] === UNDECIDED));
  download('decisions.csv', decisionsCsv(cleared, otherRows));
  if (data.served) return;
  unsaved.clear();
  writeKept();
  showUnsaved();
  showNextSteps();
}

async function loadDecisions(file) {
  try {
    const {pairs, others, refused} = readDecisionsCsv(await file.text());
    otherRows = [...new Map([...otherRows, ...others].map((row) => [row.slice(0, 2).join('\n'), row])).values()];
    const parts = [`Loaded ${counted(pairs.length, 'decision')} of ${readable(file.name)}`];
    if (others.length > 0)
      parts.push(`${counted(others.length, 'line is', 'lines are')} about labels that are not in this page${
          data.served ? '' : ' and will be saved again'}`);
    if (refused > 0) parts.push(`${counted(refused, 'line does', 'lines do')} not fit this audit`);
    const words = `${parts.join('; ')}.`;
    if (act(pairs, words) === 0) announce(words);
    if (!data.served) {
      writeKept();
      showUnsaved();
    }
    if (refused > 0) alarm(words);
    refilter();
  } catch (problem) {
    alarm(`${readable(file.name)} is no CSV of decisions: ${problem.message}.`);
  }
}

function alarm(words) {
  const close = make('button', {
    text: 'Close',
    click: () => {
      byId('alarm').hidden = true;
    }
  });
  fill(byId('alarm'), make('span', {text: words}), close);
  byId('alarm').hidden = false;
}
