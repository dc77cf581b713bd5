// The samples on which official and careful differ, with the evidence for each reading.

const DIFFERENCES = 25;
const AROUND = 70;

const kindOf = (at) => READINGS.map((name) => outcomeOf(at, name));

function excerpt(sample) {
  const marks = marksOf(sample);
  if (!marks.length || sample.raw === undefined) return null;
  const start = Math.max(0, Math.min(...marks.map((mark) => mark.start)) - AROUND);
  const last = Math.max(...marks.map((mark) => mark.end));
  const end = Math.min(sample.raw.length, Math.min(last, start + 500) + AROUND);
  const inside = marks.map((mark) => ({ ...mark, start: Math.max(0, mark.start - start), end: Math.min(end, mark.end) - start })).filter((mark) => mark.end > mark.start);
  return el('div', { class: 'excerpt', dir: 'auto' }, start ? '…' : null, marked(el('span', {}), sample.raw.slice(start, end), inside), end < sample.raw.length ? '…' : null);
}

async function evidence(at) {
  const item = owner(at);
  const { parts } = (await chunk(item.chunk))[item.place];
  const part = parts.find((one) => one.qid === index.qids[index.samples.q[at]]);
  const sample = part.samples.find((one) => one.n === index.samples.n[at]);
  const details = new Map();
  for (const name of READINGS.filter((one) => sample[one].detail)) details.set(sample[name].detail, [...(details.get(sample[name].detail) ?? []), name]);
  const kind = sample.kind;
  return [kind ? el('p', {}, el('b', {}, safe(kind))) : null, [...details].map(([detail, names]) => el('p', { class: 'detail' }, el('b', { text: `${names.join(' and ')}: ` }), noted(detail))), excerpt(sample)
    ?? (sample.raw !== undefined && sample.raw.length <= 200 && !index.runsPrograms ? el('div', { class: 'excerpt', dir: 'auto' }, safe(sample.raw)) : null)];
}

async function difference_rows(shown) {
  const found = await Promise.all(shown.map(evidence));
  return shown.map((at, number) => {
    const item = owner(at);
    const qid = index.qids[index.samples.q[at]];
    const several = item.size > 1 && index.samples.n.some((n, other) => n > 0 && owner(other) === item);
    return el('tr', {}, el('th', { scope: 'row', class: 'id' }, el('a', { class: 'open', title: named(qid), href: fresh({ tab: 'items', differs: '1', item: item.name, sample: String(index.samples.n[at]) }) }, shortId(qid), several ? ` #${index.samples.n[at]}` : null)),
      READINGS.map((name) => el('td', { class: 'verdict', 'data-label': name }, badge(outcomeOf(at, name), answerOf(at, name)),
        ruleOf(at, name) ? el('code', { class: 'rule', title: meaning(ruleOf(at, name)) }, safe(ruleOf(at, name))) : null)), el('td', { class: 'evidence' }, found[number]));
  });
}

async function differences() {
  const every = all.filter(differs);
  const heading = el('h2', { text: 'Where official and careful differ' });
  if (!all.length) return [heading, el('p', { class: 'notice', text: 'There are no samples.' })];
  if (!every.length) return [heading, el('p', { class: 'notice', text: `The two readings agree on all ${plural(all.length, 'sample')}.` })];
  const kinds = [...tally(every.map((at) => kindOf(at).join(' ')))].sort((a, b) => b[1] - a[1]);
  const now = `${state.official} ${state.careful}`;
  const found = every.filter((at) => now === ' ' || kindOf(at).join(' ') === now);
  const page = Math.min(Math.max(1, Number(state.page) || 1), Math.max(1, Math.ceil(found.length / DIFFERENCES)));
  say(`${plural(found.length, 'difference')}`);
  const chip = (changes, on, text) => el('a', { class: 'chip', 'aria-current': on ? 'true' : null, href: fresh({ tab: 'differences', ...changes }) }, text);
  const rows = await difference_rows(found.slice((page - 1) * DIFFERENCES, page * DIFFERENCES));
  const aboutMarks = rows.some((row) => row.querySelector('mark')) ? ' The marks show the text that each reading is based on.' : '';
  return [heading, el('p', { class: 'lead', text: `${count(every.length)} of ${plural(all.length, 'sample')}.${aboutMarks}` }),
    el('nav', { class: 'chips', 'aria-label': 'Kinds of difference' }, chip({}, now === ' ', `all ${count(every.length)}`),
      kinds.map(([kind, number]) => { const [official, careful] = kind.split(' '); return chip({ official, careful }, now === kind, official === careful ? `${outcomeName(official)} in both ${count(number)}` : `${outcomeName(official)} → ${outcomeName(careful)} ${count(number)}`); })),
    table('Samples on which the readings differ', [column(index.unit), column('Official'), column('Careful'), column('Evidence')],
      rows, 'differences'),
    pager(found.length, DIFFERENCES, page, (to) => address({ page: String(to) }))];
}
