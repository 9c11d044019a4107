// Decisions as a CSV file: index,part,path,decision,label.

const CSV_HEAD = 'index,part,path,decision,label';

function csvField(text) {
  // So that no spreadsheet takes a name for a formula. The reader takes the quote away again.
  let field = /^['=+\-@\t\r]/.test(text) ? `'${text}` : text;
  field = wellFormed(field);
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

const csvRow = (fields) => `${fields.map((field) => csvField(String(field))).join(',')}\n`;

/// All decisions, the worst label first. What was decided before and was cleared here has a row of its own, and rows
/// about labels that are not in this file are kept as they came.
function decisionsCsv(clearedHere, otherRows) {
  let text = `${CSV_HEAD}\n`;
  for (let sample = 0; sample < sampleCount; ++sample) {
    const decision = decisionOf(sample);
    if (decision.decision === 'clear' && !clearedHere.has(sample)) continue;
    text += csvRow([
      samples.index[sample], data.parts[samples.part[sample]] ?? '', samples.name[sample], decision.decision,
      decision.decision === 'label' ? data.classes[decision.label] : ''
    ]);
  }
  for (const row of otherRows) text += csvRow(row);
  return text;
}

/// RFC 4180, lines ending in \n or \r\n. Throws a sentence where the text is no such table.
function parseCsv(text) {
  const rows = [];
  let row = [], field = '', quoted = false, at = 0;
  const plain = /[^",\r\n]+/y;
  const close = () => {
    row.push(/^'['=+\-@\t\r]/.test(field) ? field.slice(1) : field);
    field = '';
  };
  if (text.charCodeAt(0) === 0xfeff) at = 1;
  while (at < text.length) {
    const c = text[at];
    if (quoted) {
      const end = text.indexOf('"', at);
      if (end < 0) throw new Error('a quoted field does not end');
      field += text.slice(at, end);
      at = end + 1;
      if (text[at] === '"') {
        field += '"';
        ++at;
      } else
        quoted = false;
    } else if (c === '"' && field === '') {
      quoted = true;
      ++at;
    } else if (c === ',') {
      close();
      ++at;
    } else if (c === '\n' || c === '\r') {
      at += c === '\r' && text[at + 1] === '\n' ? 2 : 1;
      close();
      rows.push(row);
      row = [];
    } else {
      plain.lastIndex = at;
      const run = plain.exec(text)?.[0] ?? c;
      field += run;
      at += run.length;
    }
  }
  if (field !== '' || row.length > 0) {
    close();
    rows.push(row);
  }
  return rows;
}

/// { pairs, others, refused }: the decisions about samples of this page, rows about labels that are not in it, and how
/// many rows contradict it.
function readDecisionsCsv(text) {
  const rows = parseCsv(text).filter((row) => row.length > 1 || row[0] !== '');
  if (rows.shift()?.join(',') !== CSV_HEAD) throw new Error(`its first line is not ${CSV_HEAD}`);
  const classOf = new Map(data.classes.map((name, label) => [wellFormed(name), label]).reverse());
  const sampleOf = new Map();
  for (let sample = 0; sample < sampleCount; ++sample)
    sampleOf.set(`${wellFormed(data.parts[samples.part[sample]] ?? '')}\n${samples.index[sample]}`, sample);
  const last = new Map(), others = [];
  let refused = 0;
  for (const row of rows) {
    const [index, part, path, decision, label] = row;
    if (row.length !== 5 || !/^\d+$/.test(index) || !['label', 'none', 'clear'].includes(decision)) {
      ++refused;
      continue;
    }
    const sample = sampleOf.get(`${part}\n${Number(index)}`);
    if (sample === undefined) {
      others.push(row);
      continue;
    }
    const samePath = path === '' || path === wellFormed(samples.name[sample]);
    const value = decision === 'clear' ? UNDECIDED : decision === 'none' ? NONE : classOf.get(label);
    if (!samePath || value === undefined)
      ++refused;
    else
      last.set(sample, value);
  }
  return {pairs: [...last], others, refused};
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], {type: 'text/csv'}));
  make('a', {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
