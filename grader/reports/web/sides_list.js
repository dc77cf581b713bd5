// The list of items with the verdicts of both runs; a filter selects items that changed.

const cellOf = (item, run, reading = state.reading) => item.cells[run]?.[reading === 'official' ? 0 : 1] ?? null;
const valueOf = (item, run) => cellOf(item, run)?.[0] ?? null;

const opened = (item) => address({ item: item.name, sample: '0' });

function movement(item) {
  const before = valueOf(item, 0), after = valueOf(item, 1);
  if (before === null || after === null) return 'unpaired';
  if (Math.abs(after - before) > 1e-9) return after > before ? 'up' : 'down';
  return before > 1 - 1e-9 ? 'right' : before < 1e-9 ? 'wrong' : 'same';
}

// Whether every item is either correct or wrong, without values in between.
const binary = () => items.every((item) => [valueOf(item, 0), valueOf(item, 1)].every((value) => value === null || value < 1e-9 || value > 1 - 1e-9));

function movements() {
  const words = binary()
    ? [['down', 'A correct, B wrong'], ['up', 'A wrong, B correct'], ['right', 'both correct'], ['wrong', 'both wrong']]
    : [['down', 'higher in A'], ['up', 'higher in B'], ['right', 'all correct in both'], ['same', 'the same in both'], ['wrong', 'all wrong in both']];
  return [...words, ['unpaired', 'not scored in both']];
}

function haystack(item) {
  item.hay ??= [item.name, item.blurb, ...groupNames(item), ...item.cells.flatMap((cell) => (cell ?? []).flatMap(([, marks]) => marks.map(([, answer]) => index.answers[answer] ?? '')))].join('\n').toLowerCase();
  return item.hay;
}

function matches(item, wanted = state) {
  if (wanted.group && !groupNames(item).includes(wanted.group)) return false;
  if (wanted.moved && movement(item) !== wanted.moved) return false;
  return matchesWords((word) => haystack(item).includes(word), wanted);
}

const SORTS = lookup({
  id: (x, y) => collator.compare(x.name, y.name),
  question: (x, y) => collator.compare(x.blurb, y.blurb),
  ...Object.fromEntries([...LETTERS].map((letter, run) => [letter, (x, y) => (valueOf(x, run) ?? -1) - (valueOf(y, run) ?? -1)])),
});

function filters() {
  const numbers = tally(items.map((item) => movement(item)));
  return [filterForm('id, question, category, answer', choices(), null, fresh({ tab: 'items', reading: state.reading })),
    el('p', { class: 'chips', role: 'group', 'aria-label': 'Changes' }, [['', 'all'], ...movements()].filter(([value]) => !value || numbers.get(value)).map(([value, text]) =>
      el('a', { class: `chip moved-${value || 'all'}`, href: filtered({ moved: value }), 'aria-current': state.moved === value ? 'true' : null, text: value ? `${text} (${count(numbers.get(value) ?? 0)})` : `${text} (${count(items.length)})` })))];
}

function verdictOf(item, run) {
  const cell = cellOf(item, run);
  if (!cell) return el('span', { class: 'faint', text: 'not in this run' });
  const [value, marks] = cell;
  if (marks.length === 1) return badge(index.outcomes[marks[0][0]], index.answers[marks[0][1]]);
  const names = marks.map(([outcome]) => index.outcomes[outcome]);
  const said = [...tally(names)].map(([name, number]) => `${number} ${outcomeName(name)}`).join(', ');
  return [el('span', { class: 'share', text: value === null ? '–' : `${Math.round(100 * value)} %` }), el('span', { class: 'dots', role: 'img', 'aria-label': said, title: said }, names.slice(0, 30).map((name) => el('i', { class: toneOf(name) })), names.length > 30 ? '…' : null)];
}

function row(item) {
  const moved = movement(item);
  return el('tr', { class: `is-${moved}` }, el('th', { scope: 'row', class: 'id' }, el('a', { href: opened(item), class: 'open', title: named(item.name) }, shortId(item.name))),
    el('td', { class: 'blurb' }, el('div', {}, safe(item.blurb))),
    index.runs.map((_, run) => el('td', { class: 'verdict' }, el('span', { class: 'narrow' }, runTag(run)), verdictOf(item, run))));
}

const pending = () => '';
const LIST_CLASS = 'items sides';
const heads = () => index.runs.map((run, at) => sortable(LETTERS[at], [runTag(at), safe(run.name)], 'verdict run-head'));
