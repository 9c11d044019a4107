// What was decided, and the way back. Every change of a decision passes through `change`.

const undoStack = [], redoStack = [];
const decisionListeners = [];

/// Sets `sample` to `value` for each pair. Returns what changed, for the way back.
function change(pairs, source) {
  const changes = [];
  for (const [sample, value] of pairs) {
    if (choice[sample] === value) continue;
    changes.push({sample, before: choice[sample], after: value});
    choice[sample] = value;
  }
  if (changes.length > 0)
    for (const listener of decisionListeners) listener(changes, source);
  return changes;
}

/// An action of the user, undone in one step however many samples it touches.
function act(pairs, words) {
  const changes = change(pairs, 'user');
  if (changes.length === 0) return 0;
  undoStack.push({changes, words});
  redoStack.length = 0;
  announce(words);
  return changes.length;
}

function undo() {
  const action = undoStack.pop();
  if (!action) return announce('There is nothing to undo.');
  // What another window decided in the meantime stays.
  const pairs = action.changes.filter((c) => choice[c.sample] === c.after).map((c) => [c.sample, c.before]);
  change(pairs, 'user');
  redoStack.push(action);
  announce(`Undone: ${action.words}`);
  return action.changes[0].sample;
}

function redo() {
  const action = redoStack.pop();
  if (!action) return announce('There is nothing to do again.');
  change(action.changes.filter((c) => choice[c.sample] === c.before).map((c) => [c.sample, c.after]), 'user');
  undoStack.push(action);
  announce(`Done again: ${action.words}`);
  return action.changes[0].sample;
}

/// A decision as the server and the file speak of it.
function decisionOf(sample) {
  const id = samples.id[sample], chosen = choice[sample];
  if (chosen === UNDECIDED) return {id, decision: 'clear'};
  if (chosen === NONE) return {id, decision: 'none'};
  return {id, decision: 'label', label: chosen};
}

/// The sample and the value of a decision, or nothing where this page does not know it.
function pairOf(decision) {
  const sample = sampleOfId.get(decision?.id);
  if (sample === undefined) return null;
  if (decision.decision === 'clear') return [sample, UNDECIDED];
  if (decision.decision === 'none') return [sample, NONE];
  return decision.decision === 'label' && isClass(decision.label) ? [sample, decision.label] : null;
}

function decidedCount() {
  let count = 0;
  for (let sample = 0; sample < sampleCount; ++sample) count += choice[sample] === UNDECIDED ? 0 : 1;
  return count;
}
