// The metrics of each run, the differences, and the categories with the largest differences.

const LETTERS = 'AB';
const runName = (at) => named(index.runs[at].name);
const runTag = (at) => el('b', { class: `run run-${LETTERS[at]}`, text: LETTERS[at] });

function joined(rows) {
  const found = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.name, row.group]);
    found.set(key, { ...(found.get(key) ?? { name: row.name, group: row.group }), [row.reading]: row });
  }
  return [...found.values()];
}

function choices() {
  return el('label', {}, el('span', { text: 'Reading' }), el('select', { id: 'pick-reading', onchange: (event) => go(filtered({ reading: event.target.value })) },
    ['careful', 'official'].map((name) => el('option', { value: name, selected: name === state.reading, text: name }))));
}

// --- tables

function runsTable() {
  const rows = index.runs.map((run, at) => ({ ...(run.breakdown.find((row) => row.name === index.metric && row.group === null) ?? { name: index.metric, group: null }), at }));
  const ends = endsOf(rows);
  const scale = ends.length ? scaleFor(Math.min(...ends), Math.max(...ends)) : scaleFor(0, 100);
  const body = rows.map((row) => el('tr', {}, el('th', { scope: 'row' }, runTag(row.at), el('span', { class: 'model', title: named(index.runs[row.at].file) }, safe(index.runs[row.at].name))),
    metricCells(row, scale)));
  return el('section', { 'aria-labelledby': 'h-runs' }, el('div', { class: 'heading' }, el('h2', { id: 'h-runs', text: `Runs: ${human(index.metric)}` }), legend()),
    el('p', { class: 'lead', text: index.lead }),
    table('Runs in both readings', metricHead('Run', scale), body, 'figures'), listed(index.marked));
}

function movedCells(row) {
  if (row.name !== index.metric) return [el('td', { class: 'num faint', 'data-label': 'higher in A', text: '–' }), el('td', { class: 'num faint', 'data-label': 'higher in B', text: '–' })];
  const members = items.filter((item) => !row.group || groupNames(item).includes(row.group));
  const cell = (moved) => {
    const number = members.filter((item) => movement(item) === moved).length;
    const label = moved === 'down' ? 'higher in A' : 'higher in B';
    return el('td', { class: 'num', 'data-label': label }, number ? el('a', { href: filtered({ tab: 'items', moved, group: row.group ?? '' }), text: count(number) }) : el('span', { class: 'faint', text: '0' }));
  };
  return [cell('down'), cell('up')];
}

// A reading that has no value in both runs has no numbers, as the other reading's would pass for its own.
function forestRows(rows, scale, label) {
  const none = (name) => el('td', { class: 'num faint', 'data-label': name, text: '–' });
  const side = (one, at, name) => el('td', { class: 'num', 'data-label': name, text: `${fixed(at ? one.after : one.before)}${one.marks[at]}` });
  return rows.map((row) => {
    const one = row[state.reading];
    return el('tr', {}, el('th', { scope: 'row' }, label(row)), el('td', { class: 'plot' }, forest(row, scale)),
      one ? [side(one, 0, 'A'), side(one, 1, 'B'),
        el('td', { class: 'num', 'data-label': 'change' }, el('span', { class: 'figure' }, el('b', { class: one.significant ? 'told' : 'faint', text: signed(one.value) }), el('small', { text: `${signed(one.ci[0])} to ${signed(one.ci[1])}` }))),
        el('td', { class: 'num', 'data-label': 'p', text: pValue(one.p) })] : ['A', 'B', 'change', 'p'].map(none),
      movedCells(row), one ? el('td', { class: 'num', 'data-label': 'pairs', text: count(one.n) }) : none('pairs'));
  });
}

const forestHead = (first, scale) => [column(first), plotHead(scale, (value) => (value > 0 ? `+${value}` : fixed(value, 0))), column('A', 'num'), column('B', 'num'),
  column('change', 'num'), column('p', 'num'), el('th', { scope: 'col', class: 'num', title: 'Items that scored higher in A' }, 'higher in A'), el('th', { scope: 'col', class: 'num', title: 'Items that scored higher in B' }, 'higher in B'), column('pairs', 'num')];

function differencesTables() {
  const rows = joined(index.comparison.rows);
  const overall = rows.filter((row) => row.group === null);
  const scale = forestScale(rows);
  const fields = new Map();
  for (const row of rows.filter((one) => one.group !== null)) fields.set(row.group.split('=')[0], [...(fields.get(row.group.split('=')[0]) ?? []), row]);
  const plain = (row) => el('span', { title: meaning(row.name), class: meaning(row.name) ? 'explained' : null }, human(row.name));
  const category = (row) => safe(row.group.slice(row.group.indexOf('=') + 1));
  return [el('section', { 'aria-labelledby': 'h-differences' }, el('div', { class: 'heading' }, el('h2', { id: 'h-differences' }, 'From A to B'), legendOfReadings()),
    el('p', { class: 'lead' }, `Each line is the change from A (`, safe(index.runs[0].name), `) to B (`, safe(index.runs[1].name), `) in points, with its 95 % interval. Right of zero: B is higher. The numbers belong to the ${state.reading} reading, and to items that are scored in both runs.`),
    table('Differences', forestHead('Metric', scale), forestRows(overall, scale, plain), 'forests'), said(overall)),
  [...fields].map(([field, members]) => el('section', {}, el('h3', { class: 'field' }, 'By ', safe(human(field))),
    table(`Differences by ${named(field)}`, forestHead(human(named(field)), scale), forestRows(members, scale, category), 'forests')))];
}

const legendOfReadings = () => el('p', { class: 'legend' }, READINGS.map((name) => el('span', {}, el('i', { class: `key ${name}`, 'aria-hidden': 'true' }), name)));

// One sentence about the first metric: whether the runs differ, and how this was tested.
function said(overall) {
  const one = overall.find((row) => row.name === index.metric)?.[state.reading];
  if (!one) return null;
  const [low, high] = one.ci;
  const higher = low > 0 ? 'B' : high < 0 ? 'A' : null;
  const verdict = higher === null ? 'A and B do not differ significantly.' : `${higher} is higher by ${fixed(Math.abs(one.value))} points.`;
  const how = one.test === 'no difference to test' ? 'No item differs.' : `Test: ${one.test}, paired by item; p ${one.p < 0.001 ? '' : '= '}${pValue(one.p)}.`;
  const power = one.n >= 10 && one.detectable > 0 && one.detectable < 100 ? ` Minimum detectable change: ${fixed(one.detectable)} points (80 % power, n = ${one.n}).` : '';
  return el('p', { class: 'notice' }, el('b', { text: verdict }), ` ${how}${power}`);
}

function movedCard() {
  const numbers = tally(items.map((item) => movement(item)));
  const cell = (moved) => el('td', { class: `num ${numbers.get(moved) ? (moved === 'up' || moved === 'down' ? 'other' : 'same') : 'faint'}` }, numbers.get(moved) ? el('a', { href: filtered({ tab: 'items', moved, group: '' }), text: count(numbers.get(moved)) }) : '0');
  if (!binary()) return null;
  return el('section', { class: 'card', 'aria-labelledby': 'h-moved' }, el('h2', { id: 'h-moved', text: 'Item by item' }),
    table('Items by their verdicts in both runs', [column('Run'), column('B correct', 'num'), column('B wrong', 'num')],
      [el('tr', {}, el('th', { scope: 'row', text: 'A correct' }), cell('right'), cell('down')), el('tr', {}, el('th', { scope: 'row', text: 'A wrong' }), cell('up'), cell('wrong'))], 'matrix slim'));
}

function notesOf() {
  const notes = index.comparison.notes;
  return notes.length ? el('section', {}, el('h2', { text: 'Notes' }), listed(notes)) : null;
}

function summary() {
  return [missingOfRuns(), runsTable(), el('div', { class: 'filters choices' }, choices()), differencesTables(), el('div', { class: 'cards' }, movedCard()), notesOf()];
}

const GAPS = { predictions: 'Raw outputs', questions: 'Questions', images: 'Images', programs: 'Programs' };
function missingOfRuns() {
  const found = new Map();
  index.runs.forEach((run, at) => run.gaps.forEach((gap) => found.set(JSON.stringify(gap), [...(found.get(JSON.stringify(gap)) ?? []), at])));
  const gaps = [...found].map(([gap, runs]) => [runs, JSON.parse(gap)]);
  if (!gaps.length) return null;
  return el('div', { class: 'notice warn', role: 'note' }, el('strong', { text: 'Not everything can be shown. ' }),
    el('ul', {}, gaps.map(([runs, gap]) => el('li', {}, runs.length < index.runs.length ? runs.map(runTag) : null, el('b', { text: `${GAPS[gap.what]}: ` }), safe(gap.why)))));
}
