// The list of items of one run: both verdicts of each, and what its filters mean.

const outputs = new Map();
let searching = 0;

function haystack(item) {
  item.hay ??= [item.name, ...new Set(samplesOf(item).map((at) => index.qids[index.samples.q[at]])), item.blurb, ...groupNames(item), ...samplesOf(item).map((at) => index.failed[index.samples.f[at]] ?? ''),
    ...new Set(samplesOf(item).flatMap((at) => [detailOf(at), ruleOf(at, 'official'), ruleOf(at, 'careful')]))].join('\n').toLowerCase();
  return item.hay;
}

const fits = (at, wanted) => READINGS.every((name) => !wanted[name] || outcomeOf(at, name) === wanted[name]) && (!wanted.differs || differs(at));

// The address of an item, at the first sample that the filters mean.
function opened(item) {
  const at = samplesOf(item).find((one) => fits(one, state));
  return address({ item: item.name, sample: String(at === undefined ? 0 : index.samples.n[at]) });
}

function matches(item, wanted = state) {
  if (wanted.group && !groupNames(item).includes(wanted.group)) return false;
  if (wanted.official || wanted.careful || wanted.differs) {
    if (!samplesOf(item).some((at) => fits(at, wanted))) return false;
  }
  return matchesWords((word) => haystack(item).includes(word) || (wanted.deep && (outputs.get(item.chunk)?.[item.place] ?? '').includes(word)), wanted);
}

const share = (item, reading) => samplesOf(item).reduce((sum, at) => sum + (toneOf(outcomeOf(at, reading)) === 'good'), 0) / item.size;
const SORTS = lookup({
  id: (a, b) => collator.compare(a.name, b.name),
  question: (a, b) => collator.compare(a.blurb, b.blurb),
  official: (a, b) => share(a, 'official') - share(b, 'official'),
  careful: (a, b) => share(a, 'careful') - share(b, 'careful'),
  differs: (a, b) => a.differing - b.differing,
  seconds: (a, b) => a.seconds - b.seconds,
});

// Outputs can be searched after they are unpacked; until then the list says that it is not complete.
async function unpackOutputs() {
  if (searching || outputs.size === index.chunkCount) return;
  searching = 1;
  for (let number = 0; number < index.chunkCount; number += 1) {
    const members = await unpack(`chunk-${number}`);
    outputs.set(number, members.map((item) => item.parts.flatMap((part) => part.samples.map((sample) => sample.raw || '')).join('\n').toLowerCase()));
  }
  searching = 0;
  if (state.tab === 'items' && !state.item) refreshList();
}

// The text after the number of items: what they have, and that outputs are still being unpacked (which it starts).
function pending() {
  const has = all.length > items.length && (state.official || state.careful || state.differs) ? ' with such a sample' : '';
  if (!state.deep || !state.q || outputs.size === index.chunkCount) return has;
  unpackOutputs();
  return `${has}; still unpacking the outputs`;
}

function filters() {
  const outcomes = (name) => [...tally(all.map((at) => outcomeOf(at, name)))].sort((a, b) => b[1] - a[1]).map(([value, number]) => [value, outcomeName(value), number]);
  const check = (name, text) => el('label', { class: 'check' }, el('input', { id: `filter-${name}`, type: 'checkbox', checked: state[name] === '1', onchange: (event) => go(filtered({ [name]: event.target.checked ? '1' : '' })) }), text);
  return filterForm('id, question, category, evidence', [select('official', 'Official', outcomes('official')), select('careful', 'Careful', outcomes('careful'))],
    [check('differs', 'readings differ'), check('deep', 'search outputs too')], fresh({ tab: 'items' }));
}

function verdict(item, reading) {
  if (item.verdicts.length) {
    const of = item.verdicts.map((pair) => index.outcomes[pair[reading === 'official' ? 0 : 1]]);
    const right = of.filter((outcome) => outcome === 'correct').length;
    return [of.length === 1 ? badge(of[0]) : el('span', { class: 'share', text: `${right}/${of.length}` }), dots(item, reading)];
  }
  if (item.size === 1) return badge(outcomeOf(item.start, reading), answerOf(item.start, reading));
  const good = samplesOf(item).filter((at) => toneOf(outcomeOf(at, reading)) === 'good').length;
  return [el('span', { class: 'share', text: `${good}/${item.size}` }), dots(item, reading)];
}

// The most frequent failed test; for several samples, also how many fail at it.
function failedTest(item) {
  const found = tally(samplesOf(item).map((at) => index.failed[index.samples.f[at]]).filter(Boolean));
  const [most] = [...found].sort((a, b) => b[1] - a[1]);
  if (!most) return null;
  return el('div', { class: 'failed-test', title: named(most[0]) }, el('small', { text: item.size > 1 ? `${most[1]} of ${item.size} samples ${most[1] === 1 ? 'fails' : 'fail'} at: ` : 'fails at: ' }), el('code', {}, safe(most[0])));
}

function row(item) {
  const link = opened(item);
  return el('tr', { class: item.differing ? 'differing' : '' },
    el('th', { scope: 'row', class: 'id' }, el('a', { href: link, class: 'open', title: named(item.name) }, shortId(item.name))),
    el('td', { class: 'blurb' }, el('div', {}, safe(item.blurb)), failedTest(item)), READINGS.map((name) => el('td', { class: 'verdict' }, verdict(item, name))),
    el('td', { class: 'num' }, item.differing ? el('span', { class: 'delta', text: String(item.differing) }) : el('span', { class: 'faint', text: '·' })),
    timed ? el('td', { class: 'num', text: fixed(item.seconds, 2) }) : null);
}

const LIST_CLASS = 'items';
const heads = () => [sortable('official', 'Official'), sortable('careful', 'Careful'), sortable('differs', 'Differ', 'num'), timed ? sortable('seconds', 'CPU s', 'num') : null];
