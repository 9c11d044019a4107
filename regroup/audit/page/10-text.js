// Names of classes and files come from outside and may hold anything. They reach the page as text nodes only.

const byId = (id) => document.getElementById(id);

/// An element with properties ("class", "text", listeners as functions, anything else as an attribute) and children.
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  if (tag === 'button') element.type = 'button';
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith('aria-'))
      element.setAttribute(name, value);
    else if (value === false)
      continue;
    else if (name === 'class')
      element.className = value;
    else if (name === 'text')
      element.textContent = value;
    else if (typeof value === 'function')
      element.addEventListener(name, value);
    else
      element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined) element.append(child);
  return element;
}

function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

const wellFormed = (text) =>
    text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');

/// A name that cannot deceive: control characters are seen, and none reverses what stands beside it. The middle of a
/// long one is left out, because files differ in their first folders and in their ends.
function readable(text, most = 160) {
  let shown = String(text);
  if (shown.length > most) {
    const half = Math.floor((most - 1) / 2);
    shown = `${shown.slice(0, half)}…${shown.slice(shown.length - half)}`;
  }
  shown = shown.replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)));
  shown = shown.replace(/[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, '\ufffd');
  return wellFormed(shown) || '(no name)';
}

const grouped = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
const number = (value) => grouped.format(Math.round(value));
const counted = (count, one, many = `${one}s`) => `${number(count)} ${Math.round(count) === 1 ? one : many}`;

/// 0.934 as "93 %". Nothing uncertain is called certain.
function percent(value) {
  if (typeof value !== 'number' || !(value >= 0)) return '';
  const rounded = Math.round(value * 100);
  if (rounded === 0 && value > 0) return '<1\u00a0%';
  if (rounded === 100 && value < 1) return '>99\u00a0%';
  return `${rounded}\u00a0%`;
}

const baseName = (path) => path.slice(path.lastIndexOf('/') + 1);

/// Tells screen readers what happened, and shows it in the line below the grid.
function announce(words) {
  byId('live').textContent = words;
  byId('last').textContent = words;
}

/// A command to be copied, as people type it into a terminal.
function command(words) {
  const copy = make('button', {class: 'copy', text: 'Copy', 'aria-label': `Copy the command ${readable(words)}`});
  copy.addEventListener('click', async () => {
    copy.textContent = (await copyText(words)) ? 'Copied' : 'Not copied';
    setTimeout(() => {
      copy.textContent = 'Copy';
    }, 2000);
  });
  return make(
      'div', {class: 'command'},
      make(
          'code', {},
          words.split(' ').map(
              (word, i) => [i > 0 ? ' ' : '', make('span', {class: 'word', text: readable(word, 2000)})])),
      copy);
}

async function copyText(words) {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    // Not allowed for files in some browsers; the old way is.
    const area = make('textarea', {class: 'unseen'});
    area.value = words;
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}
