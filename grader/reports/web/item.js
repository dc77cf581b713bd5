// Parts of an item: the question, an output, both readings of it, and their evidence.

function options(question, readings) {
  if (!question.options.length) return null;
  return el('ol', { class: 'options' }, question.options.map(([letter, text]) => {
    const by = READINGS.filter((name) => readings?.[name].answer === letter);
    return el('li', { class: letter === question.gold ? 'gold' : '' }, el('b', {}, safe(letter)), el('span', {}, safe(text)),
      el('span', { class: 'who' }, letter === question.gold ? el('span', { class: 'tag gold', text: 'correct' }) : null,
        by.map((name) => el('span', { class: `tag ${name}`, text: name }))));
  }));
}

function picture(question, what) {
  if (question.image < 0) return null;
  if (!index.sizes[question.image]) return el('p', { class: 'notice warn', text: 'The image cannot be read.' });
  const [width, height] = index.sizes[question.image];
  const image = el('img', { alt: `The image of ${named(what)}`, width, height, loading: 'lazy' });
  image.src = imageUrl(question.image);
  return el('figure', {}, image);
}

function asked(part, lines, sample) {
  const question = part.question;
  if (!question) return el('p', { class: 'notice warn' }, 'The question cannot be shown: ', why('questions', 'the data has none for this item.'));
  return [picture(question, part.qid), question.text ? el('div', { class: 'prose' }, safe(question.text)) : null,
    options(question, sample), question.gold && !question.options.length ? el('p', {}, el('b', { text: 'Correct: ' }), safe(question.gold)) : null,
    question.texts.map(([title, text, open]) => el('details', { open }, el('summary', {}, safe(title)), el('div', { class: 'prose' }, safe(text)))),
    question.code.map(([title, numbers, open]) => el('details', { open }, el('summary', {}, safe(title)), source(numbers.map((number) => lines[number]))))];
}

const why = (what, otherwise) => safe(index.gaps.find((gap) => gap.what === what)?.why ?? otherwise);

function reading(sample, name) {
  const read = sample[name];
  const facts = sample[`${name}_facts`];
  const tick = (value) => (value === null || value === undefined ? '–' : value === true ? '✓' : value === false ? '✕' : named(value));
  return el('div', { class: `reading ${name}` }, el('h4', { text: name }), el('p', {}, badge(read.outcome, read.answer),
    read.credit > 0 && read.credit < 1 ? el('span', { class: 'faint', text: ` credit ${read.credit}` }) : null),
  read.rule ? el('p', { class: 'rule' }, 'rule ', el('code', {}, safe(read.rule)), meaning(read.rule) ? [': ', noted(meaning(read.rule))] : null) : null,
  facts.length ? el('p', { class: 'rule' }, facts.map(([key, value]) => el('span', { class: 'fact' }, `${human(named(key))} ${tick(value)}`))) : null,
  read.detail ? el('p', { class: 'detail' }, noted(read.detail)) : null);
}

// Two texts side by side, with the line where they begin to differ marked.
function beside(expected, output) {
  const texts = [['expected output', expected.split('\n')], ['output', output.split('\n')]];
  const [first, second] = texts.map(([, lines]) => lines);
  const at = first.findIndex((line, number) => line.trim() !== (second[number] ?? '').trim());
  const place = at < 0 ? first.length : at;
  return el('div', { class: 'readings' }, texts.map(([title, lines]) => el('div', {}, el('h4', { text: human(title) }), el('pre', { class: 'raw', dir: 'auto' },
    lines.map((line, number) => [number ? '\n' : '', number === place ? el('mark', {}, safe(line || '(nothing)')) : safe(line)])))));
}

function facts(sample) {
  const rows = sample.facts;
  if (!rows.length) return null;
  const [expected, output] = ['expected output', 'output'].map((wanted) => rows.find(([name]) => name === wanted)?.[1]);
  return rows.map(([name, value]) => {
    if (output !== undefined && name === 'expected output') return beside(expected, output);
    if (output !== undefined && name === 'output') return null;
    const text = value;
    return text.length > 80 || text.includes('\n')
      ? el('details', { open: true }, el('summary', {}, safe(human(name))), el('pre', { class: 'raw', dir: 'auto' }, safe(text)))
      : el('p', { class: 'rule' }, safe(human(name)), ': ', el('b', {}, safe(text)));
  });
}

function output(sample, lines) {
  const marks = marksOf(sample);
  const raw = sample.raw === undefined
    ? el('p', { class: 'notice warn' }, 'The output cannot be shown: ', sample.official.rule === 'missing' ? 'there is none.' : why('predictions', 'the prediction file has none.'))
    : [el('h4', {}, 'Raw output', marks.length ? el('span', { class: 'marks' }, 'evidence for ', marks.map((mark) => el('mark', { class: `by-${mark.reading}`, text: mark.reading }))) : null),
      sample.raw ? copyable('raw output', sample.raw, marked(el('pre', { class: 'raw', tabindex: '0', dir: 'auto' }), sample.raw, marks, sample.cut, index.runsPrograms)) : el('p', { class: 'faint', text: 'The output is empty.' })];
  return [el('div', { class: 'readings' }, READINGS.map((name) => reading(sample, name))),
    sample.official.span && sample.raw === undefined ? null : raw, facts(sample), program(sample, lines)];
}

function program(sample, lines) {
  if (!index.runsPrograms) return null;
  if (!sample.program) return el('p', { class: 'notice warn' }, 'The program cannot be shown: ', why('programs', 'the executed file has none for this sample.'));
  return [sample.result && sample.result !== 'passed' ? [el('h4', { text: 'Result of the official evaluator' }), el('pre', { class: 'raw' }, safe(sample.result))] : null,
    el('details', { open: true }, el('summary', {}, 'Assembled program of the official run ', el('small', { text: `${plural(sample.program.lines.length, 'line')}, ${fixed(sample.seconds, 2)} s of CPU${sample.program.own ? '; the bar marks what the official extraction gives' : ''}${sample.program.failed === undefined ? '' : `; line ${sample.program.failed + 1}, the test that failed, is marked`}` })),
      copyable('program', sample.program.lines.map((number) => lines[number][0]).join('\n'), source(sample.program.lines.map((number) => lines[number]), sample.program.own, sample.program.failed)))];
}

function steps(item) {
  const found = chosen();
  const at = found.indexOf(item);
  const link = (to, text, id) => (found[to] ? el('a', { class: 'button', id, href: opened(found[to]), text }) : el('span', { class: 'button off', 'aria-hidden': 'true', text }));
  return el('nav', { class: 'steps', 'aria-label': 'Items' }, el('a', { class: 'button', id: 'back', href: address({ item: '', sample: '0' }), text: '↑ All items' }),
    at < 0 ? (item ? el('span', { class: 'faint', text: 'not in the filtered list' }) : null) : [link(at - 1, '← Previous', 'previous'), el('span', { class: 'faint', text: `${count(at + 1)} of ${count(found.length)}` }), link(at + 1, 'Next →', 'next')]);
}

// The item of the address with its parts, the numbers of its samples, and the chosen one; null if it does not exist.
async function openedItem() {
  const item = items.find((other) => other.name === state.item);
  if (!item) return null;
  const { parts, lines, unit } = (await chunk(item.chunk))[item.place];
  const rounds = [...new Set(parts.flatMap((part) => (part.samples ?? part.runs.flat()).map((sample) => sample.n)))].sort((a, b) => a - b);
  return { item, parts, lines, unit, rounds, now: rounds.includes(Number(state.sample)) ? Number(state.sample) : rounds[0] };
}

const noItem = () => [steps(null), el('p', { class: 'notice warn' }, 'This report has no item ', safe(state.item), '.')];

// `first`: a chip before those of the item's groups, which lead to the addresses that `to` gives.
const itemHead = (item, first, to) => [steps(item), el('h2', { id: 'item', tabindex: '-1', class: 'item-name' }, safe(item.name)),
  el('p', { class: 'chips' }, first, groupNames(item).map((group) => el('a', { class: 'chip', href: to(group) }, safe(group.replace('=', ': ')))))];

// A row of buttons for the samples of an item, or the rounds of a unit, each with a dot for each of `outcomesOf` it;
// arrow keys move between them.
function strip(rounds, now, names, outcomesOf) {
  if (rounds.length < 2) return null;
  const tone = (list) => (list.length ? (list.every((outcome) => toneOf(outcome) === 'good') ? 'good' : toneOf(list.find((outcome) => toneOf(outcome) !== 'good'))) : 'none');
  return el('nav', { class: 'strip', 'aria-label': 'Samples' }, rounds.map((number) => {
    const outcomes = outcomesOf(number);
    const words = names.map((name, at) => `${name} ${[...new Set(outcomes[at])].map(outcomeName).join(', ') || 'none'}`).join('; ');
    return el('a', { href: address({ sample: String(number) }), class: 'sample', 'aria-current': number === now ? 'true' : null, title: words, 'aria-label': `Sample ${number}: ${words}` },
      el('span', { text: String(number) }), el('span', { class: 'dots', 'aria-hidden': 'true' }, outcomes.map((list) => el('i', { class: tone(list) }))));
  }));
}
