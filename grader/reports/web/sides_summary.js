// The metrics of each run, the difference between two runs, and the categories with the largest differences.

const LETTERS = 'ABCDEFGH';
const runName = (at) => named(index.runs[at].name);
const runTag = (at) => el('b', { class: `run run-${LETTERS[at]}`, text: LETTERS[at] });

// The two runs to compare, in the order of the address.
const chosenPair = () => {
  const place = (text, otherwise) => (index.runs[Number(text)] ? Number(text) : otherwise);
  const a = place(state.a, 0), b = place(state.b, 1);
  return a === b ? [0, 1] : [a, b];
};

// Each pair is stored once; in the other direction, every difference changes its sign.
function comparison(a, b) {
  const kept = index.pairs.find((pair) => pair.a === Math.min(a, b) && pair.b === Math.max(a, b));
  if (a < b) return kept;
  const turn = (row) => ({ ...row, before: row.after, after: row.before, marks: [...row.marks].reverse(), value: -row.value, ci: [-row.ci[1], -row.ci[0]] });
  return { ...kept, rows: kept.rows.map(turn) };
}

function joined(rows) {
  const found = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.name, row.group]);
    found.set(key, { ...(found.get(key) ?? { name: row.name, group: row.group }), [row.reading]: row });
  }
  return [...found.values()];
}

// --- the choice of runs and reading

function choices() {
  const [a, b] = chosenPair();
  const pick = (name, now) => el('label', {}, el('span', { text: name.toUpperCase() === 'A' ? 'Compare' : 'with' }), el('select', { id: `pick-${name}`, onchange: (event) => go(filtered({ [name]: event.target.value, ...(event.target.value === String(name === 'a' ? b : a) ? { [name === 'a' ? 'b' : 'a']: String(now) } : {}) })) },
    index.runs.map((run, at) => el('option', { value: String(at), selected: at === now, text: `${LETTERS[at]}: ${named(run.name)}` }))));
  return [index.runs.length > 2 ? [pick('a', a), pick('b', b)] : null,
    el('label', {}, el('span', { text: 'Reading' }), el('select', { id: 'pick-reading', onchange: (event) => go(filtered({ reading: event.target.value })) },
      ['careful', 'official'].map((name) => el('option', { value: name, selected: name === state.reading, text: name }))))];
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

function movedCells(row, a, b) {
  if (row.name !== index.metric) return [el('td', { class: 'num faint', 'data-label': 'higher in A', text: '–' }), el('td', { class: 'num faint', 'data-label': 'higher in B', text: '–' })];
  const members = items.filter((item) => !row.group || groupNames(item).includes(row.group));
  const cell = (moved) => {
    const number = members.filter((item) => movement(item, a, b) === moved).length;
    const label = moved === 'down' ? `higher in ${LETTERS[a]}` : `higher in ${LETTERS[b]}`;
    return el('td', { class: 'num', 'data-label': label }, number ? el('a', { href: filtered({ tab: 'items', moved, group: row.group ?? '' }), text: count(number) }) : el('span', { class: 'faint', text: '0' }));
  };
  return [cell('down'), cell('up')];
}

// A reading that has no value in both runs has no numbers, as the other reading's would pass for its own.
function forestRows(rows, scale, label, a, b) {
  const none = (name) => el('td', { class: 'num faint', 'data-label': name, text: '–' });
  const side = (one, at, name) => el('td', { class: 'num', 'data-label': name, text: `${fixed(at ? one.after : one.before)}${one.marks[at]}` });
  return rows.map((row) => {
    const one = row[state.reading];
    return el('tr', {}, el('th', { scope: 'row' }, label(row)), el('td', { class: 'plot' }, forest(row, scale)),
      one ? [side(one, 0, LETTERS[a]), side(one, 1, LETTERS[b]),
        el('td', { class: 'num', 'data-label': 'change' }, el('span', { class: 'figure' }, el('b', { class: one.significant ? 'told' : 'faint', text: signed(one.value) }), el('small', { text: `${signed(one.ci[0])} to ${signed(one.ci[1])}` }))),
        el('td', { class: 'num', 'data-label': 'p', text: pValue(one.p) })] : [LETTERS[a], LETTERS[b], 'change', 'p'].map(none),
      movedCells(row, a, b), one ? el('td', { class: 'num', 'data-label': 'pairs', text: count(one.n) }) : none('pairs'));
  });
}

const forestHead = (first, scale, a, b) => [column(first), plotHead(scale, (value) => (value > 0 ? `+${value}` : fixed(value, 0))), column(LETTERS[a], 'num'), column(LETTERS[b], 'num'),
  column('change', 'num'), column('p', 'num'), el('th', { scope: 'col', class: 'num', title: `Items that scored higher in ${LETTERS[a]}` }, `higher in ${LETTERS[a]}`), el('th', { scope: 'col', class: 'num', title: `Items that scored higher in ${LETTERS[b]}` }, `higher in ${LETTERS[b]}`), column('pairs', 'num')];

function differencesTables() {
  const [a, b] = chosenPair();
  const rows = joined(comparison(a, b).rows);
  const overall = rows.filter((row) => row.group === null);
  const scale = forestScale(rows);
  const fields = new Map();
  for (const row of rows.filter((one) => one.group !== null)) fields.set(row.group.split('=')[0], [...(fields.get(row.group.split('=')[0]) ?? []), row]);
  const plain = (row) => el('span', { title: meaning(row.name), class: meaning(row.name) ? 'explained' : null }, human(row.name));
  const category = (row) => safe(row.group.slice(row.group.indexOf('=') + 1));
  return [el('section', { 'aria-labelledby': 'h-differences' }, el('div', { class: 'heading' }, el('h2', { id: 'h-differences' }, `From ${LETTERS[a]} to ${LETTERS[b]}`), legendOfReadings()),
    el('p', { class: 'lead' }, `Each line is the change from ${LETTERS[a]} (`, safe(index.runs[a].name), `) to ${LETTERS[b]} (`, safe(index.runs[b].name), `) in points, with its 95 % interval. Right of zero: ${LETTERS[b]} is higher. The numbers belong to the ${state.reading} reading, and to items that are scored in both runs.`),
    table('Differences', forestHead('Metric', scale, a, b), forestRows(overall, scale, plain, a, b), 'forests'), said(overall, a, b)),
  [...fields].map(([field, members]) => el('section', {}, el('h3', { class: 'field' }, 'By ', safe(human(field))),
    table(`Differences by ${named(field)}`, forestHead(human(named(field)), scale, a, b), forestRows(members, scale, category, a, b), 'forests')))];
}

const legendOfReadings = () => el('p', { class: 'legend' }, READINGS.map((name) => el('span', {}, el('i', { class: `key ${name}`, 'aria-hidden': 'true' }), name)));

// One sentence about the first metric: whether the runs differ, and how this was tested.
function said(overall, a, b) {
  const one = overall.find((row) => row.name === index.metric)?.[state.reading];
  if (!one) return null;
  const [low, high] = one.ci;
  const higher = low > 0 ? b : high < 0 ? a : null;
  const verdict = higher === null ? `${LETTERS[a]} and ${LETTERS[b]} do not differ significantly.` : `${LETTERS[higher]} is higher by ${fixed(Math.abs(one.value))} points.`;
  const how = one.test === 'no difference to test' ? 'No item differs.' : `Test: ${one.test}, paired by item; p ${one.p < 0.001 ? '' : '= '}${pValue(one.p)}.`;
  const power = one.n >= 10 && one.detectable > 0 && one.detectable < 100 ? ` Minimum detectable change: ${fixed(one.detectable)} points (80 % power, n = ${one.n}).` : '';
  return el('p', { class: 'notice' }, el('b', { text: verdict }), ` ${how}${power}`);
}

function movedCard() {
  const [a, b] = chosenPair();
  const numbers = tally(items.map((item) => movement(item, a, b)));
  const cell = (moved) => el('td', { class: `num ${numbers.get(moved) ? (moved === 'up' || moved === 'down' ? 'other' : 'same') : 'faint'}` }, numbers.get(moved) ? el('a', { href: filtered({ tab: 'items', moved, group: '' }), text: count(numbers.get(moved)) }) : '0');
  if (!binary(a, b)) return null;
  return el('section', { class: 'card', 'aria-labelledby': 'h-moved' }, el('h2', { id: 'h-moved', text: 'Item by item' }),
    table('Items by their verdicts in both runs', [column('Run'), column(`${LETTERS[b]} correct`, 'num'), column(`${LETTERS[b]} wrong`, 'num')],
      [el('tr', {}, el('th', { scope: 'row', text: `${LETTERS[a]} correct` }), cell('right'), cell('down')), el('tr', {}, el('th', { scope: 'row', text: `${LETTERS[a]} wrong` }), cell('up'), cell('wrong'))], 'matrix slim'));
}

function notesOf() {
  const [a, b] = chosenPair();
  const notes = comparison(a, b).notes;
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
