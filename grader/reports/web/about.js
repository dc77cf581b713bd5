// How the figures were made: what a reader needs to make them again, or to doubt them.

function value(thing) {
  if (thing === null) return '–';
  if (typeof thing !== 'object') return safe(thing);
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
  return el('section', {}, el('h2', { text: 'Unscored' }), el('p', { class: 'lead', text: `${plural(found.length, 'sample')} that infrastructure lost; no figure counts them, as right or as wrong.` }),
    table('Unscored samples', [column(index.unit), column('Official'), column('Careful'), column('Reason')], rows));
}

function about() {
  const own = { benchmark: index.benchmark, split: index.split, protocol: index.protocol };
  const shown = Object.entries(index.environment).filter(([name]) => !['position_bias', 'abbreviations'].includes(name));
  const pairs = [...Object.entries(own), ...shown];
  const flat = pairs.filter(([, thing]) => thing === null || typeof thing !== 'object');
  const deep = pairs.filter(([, thing]) => thing !== null && typeof thing === 'object');
  const row = ([name, thing]) => el('div', {}, el('dt', {}, safe(human(name))), el('dd', {}, value(thing)));
  return [missing(), el('h2', { text: 'How it was made' }), el('dl', { class: 'facts' }, flat.map(row)),
    deep.map(([name, thing]) => el('details', { open: true }, el('summary', {}, safe(human(name))), value(thing))),
    index.notes.length ? el('section', {}, el('h2', { text: 'What to know' }), el('ul', { class: 'notes' }, index.notes.map((note) => el('li', {}, safe(note))))) : null,
    lost(), el('section', {}, el('h2', { text: 'The two readings' }), el('dl', { class: 'facts' },
      el('div', {}, el('dt', { text: 'official' }), el('dd', { text: 'What the benchmark’s published scorer concludes, bug for bug, under the protocol named above. The number to compare with a leaderboard.' })),
      el('div', {}, el('dt', { text: 'careful' }), el('dd', { text: 'What an attentive person concludes from the same output. It never guesses: no answer and ambiguous are outcomes. The number to gate a checkpoint on.' })),
      el('div', {}, el('dt', { text: 'unscored' }), el('dd', { text: 'Infrastructure failed. Never counted as wrong, never dropped unsaid.' }))))];
}
