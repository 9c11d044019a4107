/// A field for all classes: type, choose by arrows, Enter. Nothing is decided while somebody types.
function otherClass() {
  const list = make('ul', {role: 'listbox', id: 'class-list', 'aria-label': 'Classes', hidden: true});
  const input = make('input', {
    type: 'text',
    'data-focus': 'other',
    placeholder: 'Another class … (O)',
    role: 'combobox',
    'aria-expanded': 'false',
    'aria-controls': 'class-list',
    'aria-autocomplete': 'list',
    'aria-label': 'Another class',
    autocomplete: 'off',
    spellcheck: 'false'
  });
  let found = [], at = 0;
  const show = () => {
    const wanted = input.value.trim().toLowerCase();
    const starts = [], holds = [];
    data.classes.forEach((name, label) => {
      const place = name.toLowerCase().indexOf(wanted);
      if (place === 0)
        starts.push(label);
      else if (place > 0)
        holds.push(label);
    });
    found = [...starts, ...holds].slice(0, 8);
    at = Math.min(at, Math.max(found.length - 1, 0));
    fill(list, found.map((label, i) => make('li', {
                           role: 'option',
                           id: `class-option-${i}`,
                           'aria-selected': i === at,
                           class: 'name',
                           text: className(label),
                           mousedown: (event) => {
                             event.preventDefault();
                             take(label);
                           }
                         })));
    list.hidden = found.length === 0;
    input.setAttribute('aria-expanded', !list.hidden);
    if (found.length > 0)
      input.setAttribute('aria-activedescendant', `class-option-${at}`);
    else
      input.removeAttribute('aria-activedescendant');
  };
  const take = (label) => {
    input.value = '';
    byId('grid').focus();
    giveClass(label);
  };
  input.addEventListener('input', () => {
    at = 0;
    show();
  });
  input.addEventListener('focus', show);
  input.addEventListener('blur', () => {
    list.hidden = true;
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      at = (at + (event.key === 'ArrowDown' ? 1 : -1) + Math.max(found.length, 1)) % Math.max(found.length, 1);
      show();
    } else if (event.key === 'Enter' && !list.hidden && found.length > 0 && !event.isComposing)
      take(found[at]);
    else if (event.key === 'Escape') {
      input.value = '';
      byId('grid').focus();
    } else
      return;
    event.preventDefault();
    event.stopPropagation();
  });
  return make('div', {class: 'other'}, input, list);
}
