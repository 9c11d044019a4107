// The detail panel: the picture, what it may be, and what it can be compared with.

let detailOpen = true;
let detailOf = '';  // what the panel shows, so that it is built anew only when that changed

const isNarrow = () => matchMedia('(max-width: 60rem)').matches;

function openDetail(open) {
  detailOpen = open;
  byId('review').classList.toggle('detail-open', open);
  detailOf = '';
  showDetail();
  showBar();
}

function showDetail() {
  const panel = byId('detail');
  if (!detailOpen || shown.length === 0 || byId('review').hidden) {
    panel.hidden = true;
    detailOf = '';
    return;
  }
  panel.hidden = false;
  const sample = shown[cursor],
        key = [sample, choice[sample], aboutOthers(sample), tab, panel.clientWidth, innerHeight].join(' ');
  if (key === detailOf) return showChance(sample);
  // Somebody who types a class is not disturbed by what another window decides.
  if (panel.contains(document.activeElement) && document.activeElement.matches('input') &&
      detailOf.startsWith(`${sample} `))
    return;
  const focused = panel.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
  const other = detailOf.split(' ')[0] !== String(sample);
  detailOf = key;
  fill(panel, detailParts(sample));
  if (other) panel.scrollTop = 0;
  if (focused) panel.querySelector(`[data-focus="${focused}"]`)?.focus();
  showChance(sample);
  const picture = panel.querySelector('.shot.big');
  const size = isNarrow() ? 132 : panel.clientWidth - 34;
  if (picture)
    showPicture(
        picture, sample, size,
        {full: true, height: isNarrow() ? 132 : Math.max(140, Math.min(320, innerHeight * 0.27))});
  for (const box of panel.querySelectorAll('.likeness .shot'))
    showPicture(box, Number(box.dataset.sample), box.clientWidth || 76, {height: box.clientHeight || 70});
}

const isText = (sample) => textOf(sample) !== '' && !hasPicture(sample);

/// How many selected samples an action is about, 0 where it is about the current one alone.
const aboutOthers = (sample) =>
    (selected.size === 0 || (selected.size === 1 && selected.has(sample)) ? 0 : selected.size);

function detailParts(sample) {
  const others = aboutOthers(sample);
  return [
    make(
        'div', {class: 'glance'},
        isText(sample) ?
            make('p', {class: 'whole-text', dir: 'auto', tabindex: 0, text: readable(textOf(sample), 20000)}) :
            make('button', {
              class: 'shot big',
              'data-focus': 'picture',
              'aria-label': `Open the picture ${readable(nameOf(sample), 80)}`,
              click: () => openPicture(sample)
            }),
        make(
            'div', {class: 'verdict'}, verdict(sample),
            others > 0 ?
                make(
                    'p',
                    {class: 'many', text: `Keys and buttons are about the ${counted(others, 'selected label')}.`}) :
                null,
            decisionButtons(sample))),
    make('button', {
      class: 'close',
      'aria-label': 'Close the details',
      title: 'Close (Escape)',
      text: '×',
      click: () => openDetail(false)
    }),
    evidenceParts(sample),
    likelyList(sample),
    otherClass(),
    aboutSample(sample),
  ];
}

function verdict(sample) {
  const state = stateOf(sample), given = make('b', {class: 'name', text: className(samples.given[sample], 120)});
  const words = {kept: '✓ kept', changed: `→ ${className(choice[sample], 120)}`, none: '∅ none of these'}[state];
  return make(
      'p', {class: `given-line ${state}`}, 'Given ', given,
      state === 'undecided' ? make('span', {class: 'chance-line'}) : make('span', {class: 'decided', text: words}));
}

function showChance(sample) {
  showShares(sample);
  const line = byId('detail').querySelector('.chance-line');
  if (!line) return;
  const now = percent(wrongChance(sample)), before = percent(1 - samples.right[sample]), none = samples.none[sample];
  const wrong = wrongChance(sample) < 0.5 ? `possibly wrong: ${now}` : `probably wrong: ${now}`,
        noneWords = `none of these: ${percent(none)}`;
  const more = [];
  if (tab === 'none')
    more.push(wrong);
  else if (none >= 0.5)
    more.push(noneWords);
  if (now !== before) more.push(`${before} before you decided`);
  fill(
      line, tab === 'none' ? noneWords : wrong,
      more.length > 0 ? make('span', {class: 'soft', text: more.join(', ')}) : null);
}

function showShares(sample) {
  const chances = likelyOf(sample).map(([label, p]) => chanceNow(sample, label, p)), most = Math.max(...chances, 1e-9);
  byId('detail').querySelectorAll('.likely li').forEach((item, i) => {
    item.querySelector('.share').textContent = percent(chances[i]);
    item.querySelector('.track i').style.width = `${Math.round((chances[i] / most) * 100)}%`;
  });
}

function decisionButtons(sample) {
  const wanted = suggestedBy(sample), chosen = choice[sample], doubted = tab === 'none' || wrongChance(sample) >= 0.5;
  const button = (focus, key, text, value, run, extra = '') => make(
      'button', {
        class: `decision ${extra}`,
        'data-focus': focus,
        'aria-pressed': chosen !== UNDECIDED && chosen === value,
        'aria-keyshortcuts': key,
        click: run
      },
      make('kbd', {text: key}), make('span', {class: 'name', text}));
  const buttons = [];
  const look = doubted ? 'wide main' : 'wide';
  if (wanted === NONE)
    buttons.push(button('none', 'A', 'None of these', NONE, noneOfThese, look));
  else if (wanted !== UNDECIDED)
    buttons.push(button('accept', 'A', `Accept ${className(wanted)}`, wanted, acceptSuggestion, look));
  buttons.push(button('keep', 'K', `Keep ${className(samples.given[sample])}`, samples.given[sample], keepLabel));
  if (wanted !== NONE) buttons.push(button('none', 'N', 'None of these', NONE, noneOfThese));
  if (chosen !== UNDECIDED) {
    const clear = {class: 'decision', 'data-focus': 'clear', click: clearDecision};
    buttons.push(make('button', clear, make('kbd', {text: '⌫'}), 'Undecided'));
  }
  return make('div', {class: 'decisions', role: 'group', 'aria-label': 'Decide'}, buttons);
}

function likelyList(sample) {
  const pairs = likelyOf(sample);
  if (pairs.length === 0) return null;
  const items = pairs.map(([label], i) => {
    const isGiven = label === samples.given[sample];
    const button = make('button', {
      'data-focus': `class${i}`,
      'aria-pressed': choice[sample] === label,
      'aria-keyshortcuts': i + 1,
      click: () => giveClass(label)
    });
    button.append(make('kbd', {text: i + 1}), make('span', {class: 'name', text: className(label)}));
    if (isGiven)
      button.append(make('span', {class: 'tag', title: 'The given label', 'aria-label': 'given', text: 'K'}));
    button.append(make('span', {class: 'share'}), make('span', {class: 'track'}, make('i')));
    return make('li', {}, button);
  });
  return make('section', {class: 'likely'}, make('h2', {text: 'It may be'}), make('ol', {}, items));
}

function evidenceParts(sample) {
  const evidence = data.evidence?.[sample];
  if (!evidence) return null;
  const rows = [
    evidenceRow(samples.given[sample], ', as given', evidence.given),
    evidenceRow(suggestion[sample], ', as suggested', evidence.other)
  ];
  if (!rows.some(Boolean)) return null;
  return make('section', {class: 'evidence'}, make('h2', {text: 'Most like it, and believed right'}), rows);
}

function evidenceRow(label, why, list) {
  if (!list?.length || !isClass(label)) return null;
  const head = make('h3', {}, make('b', {class: 'name', text: className(label)}), why);
  if (isText(list[0]))
    return make('div', {class: 'likeness'}, head, make('div', {class: 'row texts'}, list.slice(0, 2).map(words)));
  const pictures = list.slice(0, 4).map((other) => {
    const spoken = `${className(samples.given[other])}: ${readable(baseName(nameOf(other)), 60)}`;
    return make('button', {
      class: 'shot',
      'data-sample': other,
      title: readable(nameOf(other)),
      'aria-label': spoken,
      click: () => openPicture(other)
    });
  });
  return make('div', {class: 'likeness'}, head, make('div', {class: 'row'}, pictures));
}

function aboutSample(sample) {
  const text = textOf(sample);
  return make(
      'section', {class: 'about'},
      text && hasPicture(sample) ?
          make('p', {class: 'whole-text', dir: 'auto', tabindex: 0, text: readable(text, 20000)}) :
          null,
      make('p', {class: 'soft name path', text: readable(nameOf(sample), 300)}), make('p', {
        class: 'soft',
        text: `${readable(data.parts[samples.part[sample]] ?? '', 40)}, number ${number(samples.index[sample])}`
      }));
}
