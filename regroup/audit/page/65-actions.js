// What a reviewer does: accept, keep, another class, none of these, clear, undo.

const MANY = 30;  // more decisions in one action are asked about first

/// Decides about the targets and moves on. `valueOf` gives the value of a sample, UNDECIDED where it has none.
async function decide(valueOf, wordsOf) {
  const list = targets();
  const pairs = list.map((sample) => [sample, valueOf(sample)]).filter(([, value]) => value !== null);
  if (pairs.length === 0) return announce('There is no suggestion for it.');
  if (pairs.length === 1) {
    const [sample, value] = pairs[0], position = shown[cursor] === sample ? cursor : shown.indexOf(sample);
    if (act(pairs, wordsOf(sample)) === 0) announce(`It is so already: ${wordsOf(sample)}`);
    if (value === UNDECIDED) return moveOn(position);
    return goOn(position);
  }
  const last = shown.indexOf(pairs.at(-1)[0]);
  if (await decideMany(pairs, `${counted(pairs.length, 'label')}: ${wordsOf(null)}`)) goOn(last);
}

function goOn(position) {
  const next = nextUndecided(position);
  moveOn(next < 0 ? position : next);
  if (next < 0) announce('All shown labels are decided.');
}

/// Several decisions as one action. False where the user does not want it.
async function decideMany(pairs, words) {
  if (pairs.length > MANY &&
      !(await ask(
          'Decide about many', [make('p', {text: `${words} Undo takes it back in one step.`})],
          [['yes', `Decide about ${number(pairs.length)}`]])))
    return false;
  act(pairs, words);
  showCursor();
  return true;
}

const shortName = (sample) => readable(baseName(nameOf(sample)), 40);

function acceptSuggestion() {
  return decide(
      (sample) => (suggestedBy(sample) === UNDECIDED ? null : suggestedBy(sample)),
      (sample) =>
          (sample === null ?
               'suggestions accepted.' :
               `${shortName(sample)}: ${className(samples.given[sample])} → ${className(suggestedBy(sample))}.`));
}

function keepLabel() {
  return decide(
      (sample) => samples.given[sample],
      (sample) =>
          (sample === null ? 'labels kept.' : `${shortName(sample)}: ${className(samples.given[sample])} kept.`));
}

function giveClass(label) {
  return decide(
      () => label,
      (sample) =>
          (sample === null ? `now ${className(label)}.` :
               samples.given[sample] === label ?
                             `${shortName(sample)}: ${className(label)} kept.` :
                             `${shortName(sample)}: ${className(samples.given[sample])} → ${className(label)}.`));
}

function noneOfThese() {
  return decide(() => NONE, (sample) => (sample === null ? 'none of these.' : `${shortName(sample)}: none of these.`));
}

function clearDecision() {
  return decide(
      () => UNDECIDED, (sample) => (sample === null ? 'undecided again.' : `${shortName(sample)}: undecided again.`));
}

function giveNth(n) {
  if (shown.length === 0) return;
  const pair = likelyOf(shown[cursor])[n - 1];
  if (pair)
    giveClass(pair[0]);
  else
    announce(`The current sample has no class number ${n}.`);
}

function goToUndone(sample) {
  const position = sample === undefined ? -1 : shown.indexOf(sample);
  if (position >= 0)
    moveOn(position);
  else
    showCursor();
}

const acceptable = () => shown.filter((sample) => choice[sample] === UNDECIDED && suggestedBy(sample) !== UNDECIDED);

async function acceptAllShown() {
  let list = acceptable();
  if (list.length === 0) return announce('No shown label is undecided.');
  const doubted = tab === 'none' ? list : list.filter((sample) => wrongChance(sample) >= 0.5);
  if (list.length > MANY || doubted.length < list.length) {
    const expected = list.reduce((sum, sample) => sum + wrongChance(sample), 0);
    const text = [make('p', {
      text: `${counted(list.length, 'shown label')} that you have not decided about would become what is suggested.`
    })];
    if (tab !== 'none')
      text.push(make('p', {
        text: `About ${number(expected)} of them are expected to be wrong as they are, so about ${
            number(list.length - expected)} right ones would be changed.`
      }));
    text.push(make('p', {class: 'soft', text: 'Undo takes it back in one step.'}));
    const choices = [['all', `Accept all ${number(list.length)}`]];
    if (doubted.length > 0 && doubted.length < list.length)
      choices.unshift(['doubted', `Accept the ${number(doubted.length)} more probably wrong than right`]);
    const answer = await ask('Accept all shown', text, choices);
    if (!answer) return;
    if (answer === 'doubted') list = doubted;
  }
  act(list.map((sample) => [sample, suggestedBy(sample)]), `${counted(list.length, 'suggestion')} accepted.`);
  showCursor();
}

function openDialog(title, content, buttons, kind = '') {
  const dialog = byId('dialog');
  if (dialog.open) dialog.close();
  dialog.className = kind;
  fill(
      dialog, make('h2', {class: 'name', id: 'dialog-title', text: title}), content,
      make('div', {class: 'buttons'}, buttons));
  dialog.setAttribute('aria-labelledby', 'dialog-title');
  dialog.showModal();
  return dialog;
}

/// Asks in the page. Gives the key of the chosen answer, or nothing; the way out has the focus.
function ask(title, content, choices) {
  return new Promise((resolve) => {
    let answer = null;
    const cancel = make('button', {text: 'Cancel', click: () => byId('dialog').close()});
    const buttons = choices.map(([key, text], i) => make('button', {
                                  class: i === 0 ? 'main' : '',
                                  text,
                                  'data-answer': key,
                                  click: () => {
                                    answer = key;
                                    byId('dialog').close();
                                  }
                                }));
    const dialog = openDialog(title, content, [cancel, ...buttons]);
    cancel.focus();
    dialog.addEventListener('close', () => {
      byId('grid').focus();
      resolve(answer);
    }, {once: true});
  });
}
