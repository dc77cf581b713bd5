// The provenance of the metrics: the facts that a reader needs to reproduce or to question them.

const isPlain = (thing) => thing !== null && typeof thing === 'object' && !Array.isArray(thing);
const number = (thing) => thing.toLocaleString('en-US', { maximumFractionDigits: 4 });

// An object of flat objects becomes a table: a row per outer key, a column per inner key.
function matrix(thing) {
  const rows = Object.entries(thing);
  const heads = [...new Set(rows.flatMap(([, row]) => (isPlain(row) ? Object.keys(row) : [null])))];
  const flat = rows.every(([, row]) => isPlain(row) && Object.values(row).every((cell) => cell === null || typeof cell !== 'object'));
  if (!flat || rows.length < 2 || heads.length > 14) return null;
  return table('Facts', [column(''), heads.map((head) => el('th', { scope: 'col', class: 'num' }, safe(human(head))))],
    rows.map(([name, row]) => el('tr', {}, el('th', { scope: 'row' }, safe(human(name))),
      heads.map((head) => el('td', { class: 'num' }, Object.hasOwn(row, head) ? value(row[head]) : '–')))));
}

function value(thing) {
  if (thing === null) return '–';
  if (typeof thing === 'number') return number(thing);
  if (typeof thing !== 'object') return safe(thing);
  const whole = isPlain(thing) ? matrix(thing) : null;
  if (whole) return whole;
  const rows = Object.entries(thing);
  if (!rows.length) return '–';
  if (Array.isArray(thing) && thing.every((part) => typeof part !== 'object')) return safe(thing.join(', '));
  return el('dl', { class: 'facts inner' }, rows.map(([name, part]) => el('div', {}, el('dt', {}, safe(human(name))), el('dd', {}, value(part)))));
}

function lost() {
  const found = all.filter((at) => READINGS.some((name) => outcomeOf(at, name) === 'unscored'));
  if (!found.length) return null;
  const rows = found.slice(0, 200).map((at) => el('tr', {}, el('th', { scope: 'row', class: 'id' }, el('a', { href: fresh({ tab: 'items', item: owner(at).name, sample: String(index.samples.n[at]) }) }, safe(index.qids[index.samples.q[at]]), ` #${index.samples.n[at]}`)),
    READINGS.map((name) => el('td', {}, badge(outcomeOf(at, name), answerOf(at, name)))), el('td', {}, safe(detailOf(at)))));
  return el('section', {}, el('h2', { text: 'Unscored' }), el('p', { class: 'lead', text: `${plural(found.length, 'sample')} without a verdict (${index.why_unscored}): excluded from ${index.excluded_from}, counted neither as correct nor as wrong.` }),
    table('Unscored samples', [column(index.unit), column('Official'), column('Careful'), column('Reason')], rows));
}

function about() {
  const own = { benchmark: index.benchmark, split: index.split, protocol: index.protocol };
  const shown = Object.entries(index.made);
  const pairs = [...Object.entries(own), ...shown];
  const flat = pairs.filter(([, thing]) => thing === null || typeof thing !== 'object');
  const deep = pairs.filter(([, thing]) => thing !== null && typeof thing === 'object');
  const row = ([name, thing]) => el('div', {}, el('dt', {}, safe(human(name))), el('dd', {}, value(thing)));
  return [missingHere(), el('h2', { text: 'How it was made' }), el('dl', { class: 'facts' }, flat.map(row)),
    deep.map(([name, thing]) => el('details', { open: true }, el('summary', {}, safe(human(name))), value(thing))),
    index.notes.length ? el('section', {}, el('h2', { text: 'Notes' }), listed(index.notes)) : null,
    lost(), el('section', {}, el('h2', { text: 'The two readings' }), el('dl', { class: 'facts' },
      el('div', {}, el('dt', { text: 'official' }), el('dd', { text: index.aboutOfficial })),
      el('div', {}, el('dt', { text: 'careful' }), el('dd', { text: 'The verdict of an attentive person on the same output. It never guesses: no answer and ambiguous are outcomes. Use this number to gate a checkpoint.' })),
      el('div', {}, el('dt', { text: 'unscored' }), el('dd', { text: 'No verdict, because of a missing judge, a failing server, or failed infrastructure. Such samples are never counted as wrong, and always reported.' }))))];
}
