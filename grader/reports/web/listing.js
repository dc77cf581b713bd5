// The list of items of one run or of several: search, filters, sorting, pages. A page has its own columns, rows and filters.

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

const matchesWords = (text, wanted) => wanted.q.toLowerCase().split(/\s+/).filter(Boolean).every(text);

function chosen(wanted = state) {
  const found = items.filter((item) => matches(item, wanted));
  const by = SORTS.get(wanted.sort.replace('-', ''));
  if (by) found.sort((a, b) => (wanted.sort.startsWith('-') ? by(b, a) : by(a, b)) || a.number - b.number);
  return found;
}

// `before` and `after` are a page's own filters, around the one by category.
function filterForm(hint, before, after, clear) {
  const labels = [...tally(items.flatMap(groupNames))].sort((a, b) => collator.compare(a[0], b[0])).map(([value, number]) => [value, named(value.replace('=', ': ')), number]);
  let waiting = 0;
  const typed = (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => go(filtered({ q: event.target.value.trim() }), { replace: true }), 120);
  };
  return el('form', { class: 'filters', role: 'search', 'aria-label': 'Items', onsubmit: (event) => event.preventDefault() },
    el('label', { class: 'grow' }, el('span', { text: 'Search' }), el('input', { id: 'search', type: 'search', value: state.q, autocomplete: 'off', spellcheck: 'false', placeholder: hint, oninput: typed })),
    before, labels.length ? select('group', 'Category', labels) : null, after, el('a', { class: 'button', id: 'clear', href: clear, text: 'Clear' }));
}

function results() {
  const found = chosen();
  const page = Math.min(Math.max(1, Number(state.page) || 1), Math.max(1, Math.ceil(found.length / PAGE)));
  const said = `${found.length === items.length ? '' : `${count(found.length)} of `}${plural(items.length, index.unit)}${pending()}`;
  say(said);
  return [el('p', { class: 'count', id: 'count', text: said }),
    found.length ? table('Items', [sortable('id', 'Id'), sortable('question', 'Question'), heads()], found.slice((page - 1) * PAGE, page * PAGE).map(row), LIST_CLASS)
      : el('p', { class: 'notice', text: items.length ? 'Nothing matches these filters.' : 'There are no samples.' }),
    pager(found.length, PAGE, page, (to) => address({ page: String(to) }))];
}

function list() {
  return [el('h2', { class: 'unseen', text: 'Items' }), filters(), el('div', { id: 'results' }, results())];
}
