// Functions of all lists of items: filters, sorting, pages.

const PAGE = 100;
const groupNames = (item) => item.groups.map((number) => index.groups[number]);

const filtered = (changes) => address({ ...changes, page: '1' });

function select(name, title, options) {
  return el('label', {}, el('span', { text: title }), el('select', { id: `filter-${name}`, onchange: (event) => go(filtered({ [name]: event.target.value })) },
    el('option', { value: '', text: 'any' }), options.map(([value, text, number]) =>
      el('option', { value, selected: state[name] === value, text: `${text} (${count(number)})` }))));
}

function tally(values) {
  const found = new Map();
  for (const value of values) found.set(value, (found.get(value) || 0) + 1);
  return found;
}

function sortable(name, text, style) {
  const now = state.sort.replace('-', '') === name ? (state.sort.startsWith('-') ? 'descending' : 'ascending') : 'none';
  // The first click shows the largest values first, where they matter most; other columns start ascending.
  const first = ['differs', 'seconds'].includes(name) ? `-${name}` : name;
  const next = now === 'none' ? first : state.sort === first ? (first.startsWith('-') ? name : `-${name}`) : '';
  return el('th', { scope: 'col', class: style, 'aria-sort': now }, el('button', { type: 'button', id: `sort-${name}`, onclick: () => go(filtered({ sort: next })) },
    text, el('span', { 'aria-hidden': 'true', class: 'arrow', text: { ascending: ' ↑', descending: ' ↓', none: '' }[now] })));
}

// While the user types, only the results are drawn again, so that the form keeps its focus.
function refreshList() {
  byId('results')?.replaceChildren(...results().filter(Boolean));
}

