// The page as served: each decision is sent as it is made, and those of other windows come in. What the server has not
// confirmed is kept by the browser.

const MOST_PER_REQUEST = 10000;
let pending = [];  // decisions as they were made, the oldest first
let sending = 0;   // so many of `pending` are on their way
let seen = 0;      // the number of the last decision that came from the server
let serverProblem = '';
const confirmed = new Map();  // sample -> the server's number when it took our last decision about it
let pendingKey;

const pendingPrefix = () => `regroup:${data.key}:pending:`;

async function startServed() {
  takeEarlierDecisions();
  // A window of its own has a list of its own; the lock tells the others that it is alive.
  pendingKey = pendingPrefix() + Math.random().toString(36).slice(2);
  navigator.locks?.request(pendingKey, () => new Promise(() => {}));
  await poll();
  await adoptPending();
  decisionListeners.push((changes, source) => {
    if (source !== 'user') return;
    for (const {sample} of changes) pending.push(decisionOf(sample));
    keepPending();
    send();
  });
  addEventListener('beforeunload', (event) => {
    if (pending.length > 0) event.preventDefault();
  });
  showServed();
  send();
  repeatPoll();
}

/// Takes over what windows that were closed could not send.
async function adoptPending() {
  const keys = [];
  try {
    for (let i = 0; i < localStorage.length; ++i) {
      const key = localStorage.key(i);
      if (key.startsWith(pendingPrefix()) && key !== pendingKey) keys.push(key);
    }
  } catch {
    return;
  }
  const adopt = (key) => {
    try {
      pending.push(...JSON.parse(localStorage.getItem(key) ?? '[]'));
      keepPending();
    } catch {
      alarm('A decision that this browser kept cannot be read.');
    }
    localStorage.removeItem(key);
  };
  for (const key of keys) {
    if (navigator.locks)
      await navigator.locks.request(key, {ifAvailable: true}, (lock) => {
        if (lock) adopt(key);
      });
    else
      adopt(key);
  }
  change(pending.map(pairOf).filter(Boolean), 'kept');
}

function keepPending() {
  try {
    if (pending.length > 0)
      localStorage.setItem(pendingKey, JSON.stringify(pending));
    else
      localStorage.removeItem(pendingKey);
  } catch {
    alarm('This browser does not keep decisions. Leave the page open until the server has them.');
  }
  showServed();
}

let retry = 0;
async function send() {
  if (sending > 0 || pending.length === 0) return;
  clearTimeout(retry);
  const batch = pending.slice(0, MOST_PER_REQUEST);
  sending = batch.length;
  showServed();
  try {
    const body = JSON.stringify({decisions: batch});
    // A request that outlives the page; browsers allow that up to 64 KiB.
    const answer = await fetch('decisions', {
      method: 'POST',
      body,
      headers: {'Content-Type': 'application/json'},
      keepalive: body.length < 60000,
      signal: limit(20000)
    });
    if (!answer.ok) throw new Refusal(await answer.text(), answer.status);
    const {seq} = await answer.json();
    for (const decision of batch)
      if (sampleOfId.has(decision.id)) confirmed.set(sampleOfId.get(decision.id), seq);
    pending = pending.slice(batch.length);
    sending = 0;
    serverProblem = '';
    keepPending();
    send();
  } catch (problem) {
    sending = 0;
    serverProblem =
        problem instanceof Refusal ? `The server refuses: ${problem.message}` : 'The server does not answer';
    retry = setTimeout(send, 1500);
    showServed();
  }
}

class Refusal extends Error {
  constructor(text, status) {
    super(readable(text.trim() || `status ${status}`, 200));
  }
}

function limit(milliseconds) {
  const control = new AbortController();
  setTimeout(() => control.abort(), milliseconds);
  return control.signal;
}

async function poll() {
  try {
    const answer = await fetch(`decisions?after=${seen}`, {cache: 'no-store', signal: limit(10000)});
    if (!answer.ok) throw new Refusal(await answer.text(), answer.status);
    const {seq, decisions} = await answer.json();
    // A journal that became shorter is another one, and is read from its start.
    if (seq < seen) {
      confirmed.clear();
      seen = 0;
      return;
    }
    takeFromServer(seq, decisions);
    seen = seq;
    if (serverProblem !== '' && pending.length > 0)
      send();
    else
      serverProblem = '';
  } catch (problem) {
    serverProblem =
        problem instanceof Refusal ? `The server refuses: ${problem.message}` : 'The server does not answer';
  }
  showServed();
}

function takeFromServer(seq, decisions) {
  const ours = new Set(pending.map((decision) => sampleOfId.get(decision.id)));
  const last = new Map();
  for (const decision of decisions) {
    const pair = pairOf(decision);
    // Our own later decision about it is on its way there, or stands in a part that is still to come.
    if (pair && !ours.has(pair[0]) && seq >= (confirmed.get(pair[0]) ?? 0)) last.set(...pair);
  }
  const changes = change([...last], 'other');
  if (changes.length > 0 && seen > 0) announce(`${counted(changes.length, 'decision')} came from another window.`);
}

function repeatPoll() {
  setTimeout(async () => {
    await poll();
    repeatPoll();
  }, 2000);
}

function showServed() {
  const saved = byId('saved'), away = byId('away');
  saved.textContent = pending.length === 0 ? 'saved' :
      serverProblem === ''                 ? 'saving' :
                                             `${number(pending.length)} not sent`;
  saved.classList.toggle('waits', serverProblem !== '' && pending.length > 0);
  away.hidden = serverProblem === '';
  const words = pending.length === 0 ?
      `${serverProblem}.` :
      `${serverProblem}; ${
          counted(pending.length, 'decision is', 'decisions are')} kept here and sent when it is back.`;
  if (!away.hidden && away.textContent !== words) away.textContent = words;
}
