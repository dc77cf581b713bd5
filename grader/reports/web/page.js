// The script of a page: shows, filters, searches and opens the items of one run, or of two side by side.
// Text of models enters the document only as text nodes and as attributes that cannot contain code.
(() => {
'use strict';

// --- elements -----------------------------------------------------------------------------------------------------

const SAFE_ATTRIBUTES = new Set(['id', 'class', 'role', 'title', 'type', 'value', 'scope', 'tabindex', 'placeholder', 'open', 'dir',
  'width', 'height', 'alt', 'loading', 'checked', 'selected', 'autocomplete', 'spellcheck']);

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'text') node.textContent = value;
    else if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'href') {
      if (!String(value).startsWith('#')) throw new Error('a link must point into the page');
      node.setAttribute('href', value);
    } else if (SAFE_ATTRIBUTES.has(name) || name.startsWith('aria-') || name.startsWith('data-')) {
      node.setAttribute(name, value === true ? '' : value);
    } else throw new Error(`attribute ${name}`);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const byId = (id) => document.getElementById(id);
const say = (text) => { byId('status').textContent = text; };
// A map without inherited keys, because names from data are looked up in it.
const lookup = (pairs) => new Map(Object.entries(pairs));
const count = (value) => value.toLocaleString('en-US');
const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
// Sorts "q2" before "q10", and 3 before 1000003.
const collator = new Intl.Collator('en', { numeric: true });

function tally(values) {
  const found = new Map();
  for (const value of values) found.set(value, (found.get(value) || 0) + 1);
  return [...found].sort((a, b) => b[1] - a[1]);
}

// --- untrusted text: unchanged, except that invisible, reordering and control characters are shown by name ----------

const UNSEEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Cs}]/gu;

function nameOf(character) {
  const code = character.codePointAt(0);
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '\u2421' : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

function plain(parent, text) {
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    if (found[0] === '\r' && text[found.index + 1] === '\n') continue;
    parent.append(text.slice(from, found.index), el('span', { class: 'unseen-character', title: `character ${nameOf(found[0])}`, text: nameOf(found[0]) }));
    from = found.index + found[0].length;
  }
  parent.append(text.slice(from));
  return parent;
}

const safe = (text) => plain(document.createDocumentFragment(), String(text));
// A name with possible line breaks after the characters that join its words.
const breakable = (text) => String(text).split(/(?<=[_/=-])/).map((part, at) => [at ? el('wbr') : null, safe(part)]);
// The same for attributes and options, which cannot contain elements.
const named = (text) => String(text).replace(UNSEEN, (character) => nameOf(character));
// A message of the program: text between backticks is shown as code.
const noted = (text) => String(text).split(/`([^`]+)`/).map((part, number) => (number % 2 ? el('code', {}, safe(part)) : safe(part)));

// Appends a text with its marks ([{ start, end, reading }], which may overlap) and the place of what was cut out.
// Code between fences keeps its lines if `hasCode`: broken ones would lose their indentation.
function marked(parent, text, marks, cut, hasCode) {
  const fences = hasCode ? [...text.matchAll(/```[^]*?(?:```|$)/g)].map((found) => [found.index, found.index + found[0].length]) : [];
  const edges = new Set([0, text.length, ...fences.flat(), ...marks.flatMap((mark) => [mark.start, mark.end]), ...(cut ? [cut[0]] : [])]);
  const places = [...edges].sort((a, b) => a - b);
  places.forEach((at, number) => {
    if (cut && cut[0] === at) parent.append(el('span', { class: 'cut', text: `⋯ ${plural(cut[1], 'character')} left out ⋯` }));
    const end = places[number + 1];
    if (end === undefined) return;
    const part = text.slice(at, end);
    const names = marks.filter((mark) => mark.start <= at && mark.end >= end).map((mark) => mark.reading);
    if (names.length) {
      const by = `read by ${names.join(' and ')}`;
      parent.append(plain(el('mark', { class: names.map((name) => `by-${name}`).join(' '), role: 'mark', title: by, 'aria-label': `${by}: ${named(part)}` }), part));
    } else if (fences.some(([start, last]) => start <= at && last >= end)) parent.append(plain(el('span', { class: 'fenced' }), part));
    else plain(parent, part);
  });
  return parent;
}

const marksOf = (sample) => READINGS.filter((name) => sample[name].span).map((name) => ({ start: sample[name].span[0], end: sample[name].span[1], reading: name }));

// Lines of code, of which the range `own` is the model's.
const source = (text, own, failed) => el('pre', { class: 'code', tabindex: '0', dir: 'ltr' }, el('code', {}, text.split('\n').map((line, at) =>
  plain(el('span', { class: `line${own && at >= own[0] && at < own[1] ? ' own' : ''}${at === failed ? ' failed' : ''}` }), `${line}\n`))));

// --- the data -------------------------------------------------------------------------------------------------------

let data, items, glossary, words, pair;
const READINGS = ['official', 'careful'];

function bytesOf(packed) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(packed);
  const raw = atob(packed);
  const bytes = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at += 1) bytes[at] = raw.charCodeAt(at);
  return bytes;
}

const unpack = (id) => new Response(new Blob([bytesOf(byId(id).textContent)]).stream().pipeThrough(new DecompressionStream('deflate'))).json();
const packs = new Map();
const pack = (at) => packs.get(at) ?? packs.set(at, unpack(`pack-${at}`)).get(at);

// Completes an item with its texts.
async function whole(item) {
  if (!item.tasks) Object.assign(item, (await pack(Math.floor(item.at / data.perPack)))[item.at % data.perPack]);
  item.samples = item.runs.flat();
  return item;
}

// Outputs can be searched when all items are complete; until then the list says that it is not.
let completing = null, isComplete = false;
async function complete() {
  for (const item of items) await whole(item);
  isComplete = true;
  if (state.tab === 'items' && byId('results')) byId('results').replaceChildren(...await results());
}

async function load() {
  data = await unpack('data');
  items = data.items;
  items.forEach((item, at) => { item.at = at; item.samples = item.runs.flat(); });
  glossary = lookup(data.glossary);
  words = lookup(data.words);
  const numbers = { differences: differing().length, items: items.length };
  for (const [name, number] of Object.entries(numbers)) byId(`tab-${name}`)?.append(el('span', { class: 'number', text: count(number) }));
}

const samples = () => items.flatMap((item) => item.samples);
const differing = () => samples().filter((sample) => sample.differs);
const outcomeName = (outcome) => words.get(outcome) ?? outcome;
// The description of a metric or a rule; `pass@*` is for every k.
const meaning = (name) => glossary.get(name) ?? glossary.get(`${name.split('@')[0]}@*`);
const taskOf = (item, qid) => item.tasks.find((task) => task.qid === qid);
const imageUrl = (number) => byId(`image-${number}`).textContent;
const gapOf = (what, run, otherwise) => safe(data.runs[run].gaps.find((gap) => gap.what === what)?.why ?? otherwise);

// --- outcomes -------------------------------------------------------------------------------------------------------

const TONES = lookup({ passed: 'good', correct: 'good', unscored: 'none', not_judged: 'none', suspect: 'doubt', ambiguous: 'doubt', no_answer: 'doubt' });
const SIGNS = { good: '✓', bad: '✕', doubt: '?', none: '–' };
const toneOf = (outcome) => TONES.get(outcome) ?? 'bad';
const MEANINGS = lookup({ passed: 'All tests passed.', failed: 'A test failed.', error: 'The program raised an exception other than a failed assertion.',
  timeout: 'The program used more time than allowed.', out_of_memory: 'The program used more memory than allowed.', crashed: 'The program ended by a signal that it caused itself.',
  lint_failed: 'The linter rejected the program.', not_judged: 'The careful reading does not judge this task.', suspect: 'It passes officially, but the check in separate processes does not confirm the pass.',
  correct: 'The answer is correct.', wrong: 'The answer is wrong.', no_answer: 'No answer was read in the output.', ambiguous: 'The output gives several answers.',
  unscored: 'No verdict: excluded from every metric that needs one.' });

const badge = (outcome, answer) => el('span', { class: `badge ${toneOf(outcome)}`, title: MEANINGS.get(outcome) }, el('span', { 'aria-hidden': 'true', class: 'sign', text: SIGNS[toneOf(outcome)] }),
  outcomeName(outcome), answer ? el('span', { class: 'answer' }, safe(answer)) : null);

const partialCredit = (read) => (read.credit > 0 && read.credit < 1 ? el('span', { class: 'faint', text: ` credit ${Number(read.credit.toPrecision(6))}` }) : null);

// One mark per sample, pass or round. Each tone has its own shape, so that no information needs colour.
function dots(outcomes) {
  const text = tally(outcomes).map(([outcome, number]) => `${number} ${outcomeName(outcome)}`).join(', ');
  return el('span', { class: 'dots', role: 'img', 'aria-label': text, title: text }, outcomes.slice(0, 40).map((outcome) => el('i', { class: toneOf(outcome) })), outcomes.length > 40 ? '…' : null);
}

// The verdict of a reading on an item: one outcome, or the share of good ones.
function verdict(item, run, reading) {
  const of = item.runs[run];
  if (!of.length) return el('span', { class: 'faint', text: 'not in this run' });
  const rounds = item.rounds?.[run] ?? [];
  if (rounds.length === 1) return [badge(rounds[0][reading]), dots(of.map((sample) => sample[reading].outcome))];
  if (of.length === 1) return badge(of[0][reading].outcome, of[0][reading].answer);
  const outcomes = rounds.length ? rounds.map((round) => round[reading]) : of.map((sample) => sample[reading].outcome);
  return [el('span', { class: 'share', text: `${outcomes.filter((outcome) => toneOf(outcome) === 'good').length}/${outcomes.length}` }), dots(outcomes)];
}

// --- the address holds the view, so that every view has a link, and back and forward work ------------------------------

let state, DEFAULTS, TABS;
const FILTERS = ['q', 'deep', 'official', 'careful', 'group', 'differs', 'unscored', 'moved'];

function readState() {
  const given = new URLSearchParams(location.hash.slice(1));
  const found = {};
  for (const [name, value] of Object.entries(DEFAULTS)) found[name] = given.get(name) ?? value;
  if (!TABS.some(([name]) => name === found.tab)) found.tab = DEFAULTS.tab;
  if (!READINGS.includes(found.reading)) found.reading = DEFAULTS.reading;
  return found;
}

function address(changes, from = state) {
  const next = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...from, ...changes })) if (String(value) !== DEFAULTS[name] || name === 'tab') next.set(name, value);
  return `#${next}`;
}

// A change of the tab keeps no filters.
const fresh = (changes) => address(changes, { ...DEFAULTS, reading: state.reading });

function go(target, replace = false) {
  if (target === location.hash) return;
  if (replace) location.replace(target);
  else location.hash = target;
}

// --- tables whose rows are drawn as they come into view -----------------------------------------------------------------

const ROWS = 100;
const column = (text, name) => el('th', { scope: 'col', class: name }, text);
let more = async () => false;  // draws more rows of the table in view; returns whether there were any

async function table(caption, head, members, row, name) {
  const body = el('tbody');
  const end = el('div', { class: 'end' });
  let drawn = 0;
  more = async () => {
    const next = members.slice(drawn, drawn + ROWS);
    drawn += next.length;
    body.append(...await Promise.all(next.map(row)));
    if (drawn >= members.length) end.remove();
    return next.length > 0;
  };
  const here = more;
  new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) here(); }, { rootMargin: '1500px' }).observe(end);
  await more();
  return [el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    el('table', { class: name }, el('caption', { class: 'unseen', text: caption }), el('thead', {}, el('tr', {}, head)), body)), end];
}

// An id in a narrow column: its middle is hidden, its end stays visible; hovering shows the whole id.
const LONG_ID = 24, ID_END = 12;
function shortId(name) {
  if (name.length <= LONG_ID) return safe(name);
  const slash = name.lastIndexOf('/');
  const at = slash > 0 && name.length - slash <= LONG_ID ? slash : name.length - ID_END;
  return el('span', { class: 'long-id' }, el('span', { class: 'start' }, safe(name.slice(0, at))), el('span', { class: 'end' }, safe(name.slice(at))));
}

// --- the list of items: search, filters, order --------------------------------------------------------------------------

const filtered = (changes) => address({ ...changes, item: '' });
// Whether a sample is unscored in at least one reading, as the report counts.
const isUnscored = (sample) => READINGS.some((name) => sample[name].outcome === 'unscored');
const fits = (sample, wanted) => READINGS.every((name) => !wanted[name] || sample[name].outcome === wanted[name]) && (!wanted.differs || sample.differs) && (!wanted.unscored || isUnscored(sample));

// How an item changed from the first run to the second.
function movement(item) {
  const [before, after] = item.values.map((value) => value[state.reading] ?? null);
  if (before === null || after === null) return 'unpaired';
  if (Math.abs(after - before) > 1e-9) return after > before ? 'up' : 'down';
  return before > 1 - 1e-9 ? 'right' : before < 1e-9 ? 'wrong' : 'same';
}

function movements() {
  const [a, b] = data.runs.map((run) => named(run.name));
  const isBinary = items.every((item) => item.values.every((value) => [null, 0, 1].includes(value[state.reading] ?? null)));
  const [correct, wrong] = ['correct', 'wrong'].map(outcomeName);
  const names = isBinary
    ? { down: `${a} ${correct}, ${b} ${wrong}`, up: `${a} ${wrong}, ${b} ${correct}`, right: `both ${correct}`, wrong: `both ${wrong}` }
    : { down: `higher in ${a}`, up: `higher in ${b}`, right: '100 % in both', wrong: '0 % in both' };
  return [['down', names.down], ['up', names.up], ['right', names.right], ['same', 'the same in both'], ['wrong', names.wrong], ['unpaired', 'not scored in both']];
}

// What a search looks through: an item's texts, and with `deep` its outputs.
function texts(item) {
  item.texts ??= [item.name, item.blurb, ...item.groups, ...item.samples.flatMap((sample) => [sample.qid, sample.failedTest ?? '', ...READINGS.flatMap((name) => [sample[name].answer ?? '', sample[name].rule ?? '', sample[name].detail ?? ''])])].join('\n').toLowerCase();
  return item.texts;
}

function outputs(item) {
  if (!isComplete) return '';
  item.outputs ??= item.samples.map((sample) => sample.output ?? '').join('\n').toLowerCase();
  return item.outputs;
}

const ofSamples = (wanted) => wanted.official || wanted.careful || wanted.differs || wanted.unscored;

function matches(item, wanted, asked) {
  if (wanted.group && !item.groups.includes(wanted.group)) return false;
  if (wanted.moved && pair && movement(item) !== wanted.moved) return false;
  if (ofSamples(wanted) && !item.samples.some((sample) => fits(sample, wanted))) return false;
  return asked.every((word) => texts(item).includes(word) || (wanted.deep && outputs(item).includes(word)));
}

const good = (item, run, reading) => item.runs[run].filter((sample) => toneOf(sample[reading].outcome) === 'good').length / (item.runs[run].length || 1);
const seconds = (item) => item.samples.reduce((sum, sample) => sum + (sample.seconds ?? 0), 0);
const differ = (item) => item.samples.filter((sample) => sample.differs).length;
// The columns of verdicts: both readings of one run, or one reading of two runs.
const columns = () => (pair ? data.runs.map((run, at) => [`run-${at}`, breakable(run.name), at, state.reading]) : READINGS.map((name) => [name, name, 0, name]));

function order(name) {
  const verdicts = columns().find(([other]) => other === name);
  if (verdicts) return (a, b) => good(a, verdicts[2], verdicts[3]) - good(b, verdicts[2], verdicts[3]);
  return lookup({ id: (a, b) => collator.compare(a.name, b.name), question: (a, b) => collator.compare(a.blurb, b.blurb),
    differs: (a, b) => differ(a) - differ(b), seconds: (a, b) => seconds(a) - seconds(b) }).get(name);
}

function chosen(wanted = state) {
  const asked = wanted.q.toLowerCase().split(/\s+/).filter(Boolean);
  const found = items.filter((item) => matches(item, wanted, asked));
  const by = order(wanted.sort.replace('-', ''));
  if (by) found.sort((a, b) => (wanted.sort.startsWith('-') ? by(b, a) : by(a, b)) || a.at - b.at);
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

const select = (name, title, options, any) => el('label', {}, el('span', { text: title }), el('select', { id: `filter-${name}`, onchange: (event) => go(filtered({ [name]: event.target.value })) },
  any ? el('option', { value: '', text: 'any' }) : null, options.map(([value, text]) => el('option', { value, selected: state[name] === value, text }))));

const check = (name, text) => el('label', { class: 'check' }, el('input', { id: `filter-${name}`, type: 'checkbox', checked: state[name] === '1', onchange: (event) => go(filtered({ [name]: event.target.checked ? '1' : '' })) }), text);

function filters() {
  const groups = tally(items.flatMap((item) => item.groups)).sort((a, b) => collator.compare(a[0], b[0])).map(([value, number]) => [value, `${named(value.replace('=', ': '))} (${count(number)})`]);
  const outcomes = (name) => tally(samples().map((sample) => sample[name].outcome)).map(([value, number]) => [value, `${outcomeName(value)} (${count(number)})`]);
  let waiting = 0;
  const typed = (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => go(filtered({ q: event.target.value.trim() }), true), 120);
  };
  const numbers = pair ? new Map(tally(items.map(movement))) : null;
  return [el('form', { class: 'filters', role: 'search', 'aria-label': 'Items', onsubmit: (event) => event.preventDefault() },
    el('label', { class: 'grow' }, el('span', { text: 'Search' }), el('input', { id: 'search', type: 'search', value: state.q, autocomplete: 'off', spellcheck: 'false', placeholder: 'id, question, category, evidence', oninput: typed })),
    pair ? select('reading', 'Reading', ['careful', 'official'].map((name) => [name, name])) : READINGS.map((name) => select(name, name, outcomes(name), true)),
    groups.length ? select('group', 'Category', groups, true) : null, pair ? null : check('differs', 'readings differ'), data.runs.some((run) => run.unscored) ? check('unscored', 'unscored') : null, check('deep', 'search outputs too'),
    el('a', { class: 'button', id: 'clear', href: fresh({ tab: 'items' }), text: 'Clear' })),
  pair ? el('p', { class: 'chips', role: 'group', 'aria-label': 'Changes' }, [['', 'all'], ...movements()].filter(([value]) => !value || numbers.has(value)).map(([value, text]) =>
    el('a', { class: `chip moved-${value || 'all'}`, href: filtered({ moved: value }), 'aria-current': state.moved === value ? 'true' : null, text: `${text} (${count(value ? numbers.get(value) : items.length)})` }))) : null];
}

// The address of an item, at the first sample that the filters mean.
function opened(item) {
  const first = item.samples.find((sample) => fits(sample, state));
  return address({ item: item.name, sample: String(first?.sample ?? 0) });
}

// The most frequent failed test; for several samples, also how many fail at it.
function failedTest(item) {
  const [most] = tally(item.samples.map((sample) => sample.failedTest?.split(/\s+/).join(' ')).filter(Boolean));
  if (!most) return null;
  const size = item.samples.length;
  return el('div', { class: 'failed-test', title: named(most[0]) }, el('small', { text: size > 1 ? `${most[1]} of ${size} samples ${most[1] === 1 ? 'fails' : 'fail'} at: ` : 'fails at: ' }), el('code', {}, safe(most[0].slice(0, 240))));
}

const idOf = (name, href, rest) => el('th', { scope: 'row', class: 'id' }, el('a', { href, class: 'open', title: named(name) }, shortId(name), rest));

function row(item, isTimed) {
  const differs = differ(item);
  return el('tr', { class: pair ? `is-${movement(item)}` : differs ? 'differing' : '' }, idOf(item.name, opened(item)),
    el('td', { class: 'blurb' }, el('div', {}, safe(item.blurb)), failedTest(item)),
    columns().map(([name, text, run, reading]) => el('td', { class: 'verdict' }, pair ? el('span', { class: 'narrow' }, breakable(data.runs[run].name), ' ') : null, verdict(item, run, reading))),
    pair ? null : el('td', { class: 'num' }, el('span', { class: differs ? '' : 'faint', text: differs ? String(differs) : '·' })),
    isTimed ? el('td', { class: 'num', text: seconds(item).toFixed(2) }) : null);
}

async function results() {
  const found = chosen();
  const has = samples().length > items.length && ofSamples(state) ? ' with such a sample' : '';
  const text = `${found.length === items.length ? '' : `${count(found.length)} of `}${plural(items.length, data.itemNoun)}${has}${state.deep && state.q && !isComplete ? '; still unpacking the outputs' : ''}`;
  if (state.deep && state.q && !isComplete) completing ??= complete();
  say(text);
  const isTimed = !pair && items.some((item) => seconds(item) > 0);
  const head = [sortable('id', 'Id'), sortable('question', 'Question'), columns().map(([name, title]) => sortable(name, title, pair ? 'verdict run-head' : '')),
    pair ? null : sortable('differs', 'Differ', 'num'), isTimed ? sortable('seconds', 'CPU s', 'num') : null];
  const none = !items.length ? 'There are no samples.' : state.q && !state.deep ? 'Nothing matches. Outputs are searched only with “search outputs too”.' : 'Nothing matches these filters.';
  return [el('p', { class: 'count', id: 'count', text }), found.length ? await table('Items', head, found, (item) => row(item, isTimed), pair ? 'items sides' : 'items') : el('p', { class: 'notice', text: none })].flat();
}

const list = async () => [el('h2', { class: 'unseen', text: 'Items' }), filters(), el('div', { id: 'results' }, await results())];

// --- the samples on which official and careful differ, with the evidence for each reading ------------------------------

const AROUND = 70, SHORT = 200;

function excerpt(sample) {
  const text = sample.output, marks = marksOf(sample);
  if (text === undefined) return null;
  if (!marks.length) return text.length <= SHORT && !data.runsPrograms ? el('div', { class: 'excerpt', dir: 'auto' }, safe(text)) : null;
  const start = Math.max(0, Math.min(...marks.map((mark) => mark.start)) - AROUND);
  const last = Math.max(...marks.map((mark) => mark.end));
  const end = Math.min(text.length, Math.min(last, start + 500) + AROUND);
  const inside = marks.map((mark) => ({ ...mark, start: mark.start - start, end: Math.min(end, mark.end) - start })).filter((mark) => mark.end > mark.start);
  return el('div', { class: 'excerpt', dir: 'auto' }, start ? '…' : null, marked(el('span'), text.slice(start, end), inside), end < text.length ? '…' : null);
}

function evidence(sample) {
  const details = new Map();
  for (const name of READINGS.filter((one) => sample[one].detail)) details.set(sample[name].detail, [...(details.get(sample[name].detail) ?? []), name]);
  return [sample.kind ? el('p', {}, el('b', {}, safe(sample.kind))) : null, [...details].map(([detail, names]) => el('p', { class: 'detail' }, el('b', { text: `${names.join(' and ')}: ` }), noted(detail))), excerpt(sample)];
}

async function differenceRow([item, { qid, sample: number }]) {
  await whole(item);
  const sample = item.samples.find((one) => one.qid === qid && one.sample === number);
  const several = item.samples.some((one) => one.sample > 0);
  const pass = item.tasks.findIndex((task) => task.qid === qid);
  const name = item.tasks.length > 1 ? `${item.name}, pass ${pass + 1} of ${item.tasks.length}` : qid;
  return el('tr', {}, idOf(name, fresh({ tab: 'items', differs: '1', item: item.name, sample: String(sample.sample) }), several ? ` #${sample.sample}` : null),
    READINGS.map((name) => el('td', { class: 'verdict', 'data-label': name }, badge(sample[name].outcome, sample[name].answer), partialCredit(sample[name]),
      sample[name].rule ? el('code', { class: 'rule', title: meaning(sample[name].rule) }, safe(sample[name].rule)) : null)), el('td', { class: 'evidence' }, evidence(sample)));
}

async function differences() {
  const every = items.flatMap((item) => item.samples.filter((sample) => sample.differs).map((sample) => [item, sample]));
  const heading = el('h2', { text: 'Where official and careful differ' });
  const total = samples().length;
  if (!every.length) return [heading, el('p', { class: 'notice', text: !total ? 'There are no samples.' : data.runs[0].agreement || 'The careful reading judges no sample.' })];
  const kindOf = ([, sample]) => READINGS.map((name) => sample[name].outcome).join(' ');
  const now = `${state.official} ${state.careful}`;
  const found = every.filter((one) => now === ' ' || kindOf(one) === now);
  say(plural(found.length, 'difference'));
  const chip = (changes, on, text) => el('a', { class: 'chip', 'aria-current': on ? 'true' : null, href: fresh({ tab: 'differences', ...changes }) }, text);
  const made = await table('Samples on which the readings differ', [column(data.itemNoun), column('official'), column('careful'), column('evidence')], found, differenceRow, 'differences');
  const hasMarks = made[0].querySelector('mark') ? ' The marks show the text that each reading is based on.' : '';
  return [heading, el('p', { class: 'lead', text: `${count(every.length)} of ${plural(total, 'sample')}.${hasMarks}` }),
    el('nav', { class: 'chips', 'aria-label': 'Kinds of difference' }, chip({}, now === ' ', `all ${count(every.length)}`), tally(every.map(kindOf)).map(([kind, number]) => {
      const [official, careful] = kind.split(' ');
      return chip({ official, careful }, now === kind, `${official === careful ? `${outcomeName(official)} in both` : `${outcomeName(official)} → ${outcomeName(careful)}`} ${count(number)}`);
    })), made];
}

// --- one item: the question, outputs, both readings, and their evidence --------------------------------------------------

function options(task, sample) {
  if (!task.options?.length) return null;
  return el('ol', { class: 'options' }, task.options.map(([letter, text]) => el('li', { class: (task.gold || '').includes(letter) ? 'gold' : '' }, el('b', {}, safe(letter)), el('span', {}, safe(text)),
    el('span', { class: 'who' }, (task.gold || '').includes(letter) ? el('span', { class: 'tag gold', text: 'gold' }) : null,
      READINGS.filter((name) => sample?.[name].answer === letter).map((name) => el('span', { class: `tag ${name}`, text: name }))))));
}

function picture(task) {
  if (task.image === undefined) return null;
  if (!data.sizes[task.image]) return el('p', { class: 'notice warn', text: 'The image cannot be read.' });
  const [width, height] = data.sizes[task.image];
  const image = el('img', { alt: `The image of ${named(task.qid)}`, width, height, loading: 'lazy' });
  image.src = imageUrl(task.image);
  return el('figure', {}, image);
}

function asked(task, sample, hasOptions = true) {
  if (!task.blocks) return el('p', { class: 'notice warn' }, 'The question cannot be shown: ', gapOf('questions', 0, 'the data has none for this item.'));
  return [picture(task), task.text ? el('div', { class: 'prose' }, safe(task.text)) : null, hasOptions ? options(task, sample) : null,
    hasOptions && task.gold && !task.options.length ? el('p', {}, el('b', { text: 'Gold: ' }), safe(task.gold)) : null,
    task.blocks.map((block) => el('details', { open: block.open }, el('summary', {}, safe(block.title)), block.kind === 'code' ? source(block.content.replace(/\n+$/, '')) : el('div', { class: 'prose' }, safe(block.content))))];
}

function reading(sample, name) {
  const read = sample[name];
  const tick = (value) => (value === null ? '–' : value === true ? '✓' : value === false ? '✕' : named(value));
  return el('div', { class: `reading ${name}` }, el('h4', { text: name }), el('p', {}, badge(read.outcome, read.answer), partialCredit(read)),
    read.rule ? el('p', { class: 'rule' }, 'rule ', el('code', {}, safe(read.rule)), meaning(read.rule) ? [': ', noted(meaning(read.rule))] : null) : null,
    read.facts ? el('p', { class: 'rule' }, read.facts.map(([key, value]) => el('span', { class: 'fact' }, `${named(key)} ${tick(value)}`))) : null,
    read.detail ? el('p', { class: 'detail' }, noted(read.detail)) : null);
}

const text = (value) => el('pre', { class: 'raw', dir: 'auto' }, safe(value));

// The first call with another answer: expected beside returned, with the line where they begin to differ marked.
function call(sample) {
  if (!sample.call) return null;
  const [first, expected, returned] = sample.call;
  const lines = [expected, returned].map((one) => one.split('\n'));
  const at = lines[0].findIndex((line, number) => line.trim() !== (lines[1][number] ?? '').trim());
  const place = at < 0 ? lines[0].length : at;
  return [el('h4', { text: 'First call with another answer' }), text(first), el('div', { class: 'readings' }, ['expected', 'returned'].map((title, side) => el('div', {}, el('h4', { text: title }), el('pre', { class: 'raw', dir: 'auto' },
    lines[side].map((line, number) => [number ? '\n' : '', number === place ? el('mark', {}, safe(line || '(nothing)')) : safe(line)])))))];
}

const facts = (sample) => [...(sample.facts ?? []), ...(sample.failedTest ? [['failed test (official run)', sample.failedTest]] : [])].map(([name, value]) => (value.length > 80 || value.includes('\n')
  ? el('details', { open: true }, el('summary', {}, safe(name)), text(value)) : el('p', { class: 'rule' }, safe(name), ': ', el('b', {}, safe(value)))));

function program(sample, run) {
  if (!data.runsPrograms) return null;
  const made = sample.program;
  if (!made) return el('p', { class: 'notice warn' }, 'The program cannot be shown: ', gapOf('programs', run, 'the executed file has none for this sample.'));
  const also = `${made.own ? '; the bar marks what the official extraction gives' : ''}${made.failed === null ? '' : `; line ${made.failed + 1}, the test that failed, is marked`}`;
  return [made.result && made.result !== 'passed' ? [el('h4', { text: 'Result of the official evaluator' }), text(made.result)] : null,
    el('details', { open: true }, el('summary', {}, 'Assembled program of the official run ', el('small', { text: `${plural(made.text.split('\n').length, 'line')}, ${(sample.seconds ?? 0).toFixed(2)} s of CPU${also}` })),
      copyable('program', made.text, source(made.text, made.own, made.failed)))];
}

function output(sample, run) {
  const marks = marksOf(sample);
  const shown = sample.output === undefined
    ? el('p', { class: 'notice warn' }, 'The output cannot be shown: ', sample.official.rule === 'missing' ? 'there is none.' : gapOf('predictions', run, 'the prediction file has none.'))
    : [el('h4', {}, 'Raw output', marks.length ? el('span', { class: 'marks' }, 'evidence for ', marks.map((mark) => el('mark', { class: `by-${mark.reading}`, text: mark.reading }))) : null),
      sample.output ? copyable('raw output', sample.output, marked(el('pre', { class: 'raw', tabindex: '0', dir: 'auto' }), sample.output, marks, sample.cut, data.runsPrograms)) : el('p', { class: 'faint', text: 'The output is empty.' })];
  return [el('div', { class: 'readings' }, READINGS.map((name) => reading(sample, name))), shown, facts(sample), call(sample), program(sample, run)];
}

function steps(item) {
  const found = chosen();
  const at = found.indexOf(item);
  const link = (to, title, id) => (found[to] ? el('a', { class: 'button', id, href: opened(found[to]), text: title }) : el('span', { class: 'button off', 'aria-hidden': 'true', text: title }));
  return el('nav', { class: 'steps', 'aria-label': 'Items' }, el('a', { class: 'button', id: 'back', href: address({ item: '', sample: '0' }), text: '↑ All items' }),
    at < 0 ? (item ? el('span', { class: 'faint', text: 'not in the filtered list' }) : null) : [link(at - 1, '← Previous', 'previous'), el('span', { class: 'faint', text: `${count(at + 1)} of ${count(found.length)}` }), link(at + 1, 'Next →', 'next')]);
}

// A row of links to the samples of an item, or the rounds of a unit, each with a dot for each reading or run.
function strip(item, numbers, now) {
  if (numbers.length < 2) return null;
  const tone = (outcomes) => (outcomes.length ? toneOf(outcomes.find((outcome) => toneOf(outcome) !== 'good') ?? outcomes[0]) : 'none');
  return el('nav', { class: 'strip', 'aria-label': 'Samples' }, numbers.map((number) => {
    const cells = columns().map(([name, title, run, read]) => [pair ? named(data.runs[run].name) : name, item.runs[run].filter((sample) => sample.sample === number).map((sample) => sample[read].outcome)]);
    const title = cells.map(([name, outcomes]) => `${name} ${[...new Set(outcomes)].map(outcomeName).join(', ') || 'none'}`).join('; ');
    return el('a', { href: address({ sample: String(number) }), class: 'sample', 'aria-current': number === now ? 'true' : null, title, 'aria-label': `Sample ${number}: ${title}` },
      el('span', { text: String(number) }), el('span', { class: 'dots', 'aria-hidden': 'true' }, cells.map(([, outcomes]) => el('i', { class: tone(outcomes) }))));
  }));
}

function related(item) {
  const others = data.wholeUnits || pair || item.unit === item.name ? [] : items.filter((other) => other !== item && other.unit === item.unit);
  return others.length ? el('p', { class: 'related' }, 'Same question: ', others.map((other) => el('a', { href: address({ item: other.name, sample: '0' }) }, safe(other.name)))) : null;
}

// The task of an item, or one of several (the passes or rows of a question), with what the runs answered.
function part(item, task, number, now) {
  const found = item.runs.map((run) => run.find((sample) => sample.qid === task.qid && sample.sample === now));
  const isPart = item.tasks.length > 1;
  const heading = isPart ? el('h3', { title: named(task.qid) }, `${data.taskNoun[0].toUpperCase()}${data.taskNoun.slice(1)} ${number + 1} of ${item.tasks.length}`) : null;
  if (!pair) {
    if (!found[0]) return null;
    const shown = output(found[0], 0);
    return isPart ? el('article', { class: 'pass' }, heading, el('div', { class: 'two' }, el('div', {}, task.blocks ? options(task, found[0]) : asked(task)), el('div', {}, shown))) : [el('h3', { class: 'unseen', text: `Sample ${now}` }), shown];
  }
  const side = (sample, run) => el('section', { class: 'side', 'aria-label': named(data.runs[run].name) }, el('h3', {}, breakable(data.runs[run].name)),
    sample ? output(sample, run) : el('p', { class: 'faint', text: item.runs[run].length ? 'This run has fewer samples.' : 'This item is not in this run.' }));
  return el('article', { class: isPart ? 'beside pass' : 'beside' }, heading, el('section', { 'aria-label': 'Question', class: 'asked' }, asked(task)), el('div', { class: 'columns' }, found.map(side)));
}

async function one() {
  const item = items.find((other) => other.name === state.item);
  if (!item) return [steps(null), el('p', { class: 'notice warn' }, 'This report has no item ', safe(state.item), '.')];
  await whole(item);
  const numbers = [...new Set(item.samples.map((sample) => sample.sample))].sort((a, b) => a - b);
  const now = numbers.includes(Number(state.sample)) ? Number(state.sample) : numbers[0];
  const moved = pair ? movements().find(([value]) => value === movement(item)) : null;
  const head = [steps(item), el('h2', { id: 'item', tabindex: '-1', class: 'item-name' }, safe(item.name)),
    el('p', { class: 'chips' }, moved ? el('a', { class: `chip moved-${moved[0]}`, href: filtered({ moved: moved[0] }), text: `${moved[1]} (${state.reading})` }) : null,
      item.groups.map((group) => el('a', { class: 'chip', href: fresh({ tab: 'items', group }) }, safe(group.replace('=', ': '))))), related(item)];
  const parts = item.tasks.map((task, number) => part(item, task, number, now));
  if (pair) return [head, strip(item, numbers, now), parts];
  const round = item.rounds?.[0][Math.min(numbers.indexOf(now), item.rounds[0].length - 1)];
  const together = round ? el('p', { class: 'verdicts' }, `All ${plural(item.tasks.length, 'pass', 'passes')} together: `, READINGS.map((name) => el('span', { class: 'fact' }, `${name} `, badge(round[name])))) : null;
  const isPart = item.tasks.length > 1;
  const first = item.runs[0].find((sample) => sample.qid === item.tasks[0].qid && sample.sample === now);
  return [head, el('div', { class: isPart ? 'stack' : 'two' }, el('section', { 'aria-label': 'Question', class: 'asked' }, asked(item.tasks[0], first, !isPart)),
    el('section', { 'aria-label': 'Answer', class: 'answered', id: 'answered' }, strip(item, numbers, now), together, parts))];
}

// --- how the runs were made ----------------------------------------------------------------------------------------------

async function about() {
  const names = [...new Set(data.runs.flatMap((run) => Object.keys(run.made)))];
  const made = (name) => {
    const cells = data.runs.map((run) => run.made[name] ?? '–');
    return el('tr', { class: new Set(cells).size > 1 ? 'unlike' : '' }, el('th', { scope: 'row' }, breakable(name)), cells.map((cell) => el('td', {}, safe(cell))));
  };
  const explained = [['official', data.aboutOfficial],
    ['careful', 'The verdict of an attentive person on the same output. It never guesses: no_answer and ambiguous are outcomes. Use this number to gate a checkpoint.'],
    ['unscored', 'No verdict, because of a missing judge, a failing server, or failed infrastructure. Such samples are never counted as wrong, and always reported.']];
  return [el('h2', { text: 'How it was made' }), pair ? el('p', { class: 'lead', text: 'Marked rows differ between the runs.' }) : null,
    el('p', { class: 'lead' }, `benchmark ${named(data.benchmark)}, split ${named(data.split)}, protocol ${named(data.protocol)}`),
    await table('How it was made', [column('fact'), data.runs.map((run) => column(pair ? breakable(run.name) : 'value'))], names, made, 'made'),
    data.runs.map((run) => [run.notes.length ? [el('h2', {}, 'Notes', pair ? [': ', breakable(run.name)] : null), el('ul', { class: 'notes' }, run.notes.map((note) => el('li', {}, noted(note))))] : null,
      run.unscored ? [el('h2', {}, 'Unscored', pair ? [': ', breakable(run.name)] : null), el('p', {}, el('a', { href: fresh({ tab: 'items', unscored: '1' }) }, plural(run.unscored, 'sample')), ` without a verdict (${named(run.whyUnscored)}): excluded from ${named(run.excludedFrom)}, counted neither as correct nor as wrong.`)] : null]),
    el('h2', { text: 'The two readings' }), el('dl', { class: 'facts' }, explained.map(([name, meant]) => el('div', {}, el('dt', { text: name }), el('dd', { text: meant }))))];
}

// --- copying, themes -------------------------------------------------------------------------------------------------------

// navigator.clipboard does not exist on every page that was opened from a local file.
async function copy(value) {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    const box = el('textarea', { class: 'unseen', 'aria-hidden': 'true', tabindex: '-1' });
    box.value = value;
    document.body.append(box);
    box.select();
    const done = document.execCommand('copy');
    box.remove();
    return done;
  }
}

function copyable(what, value, node) {
  const button = el('button', { type: 'button', class: 'quiet copy', 'aria-label': `Copy ${what}`, text: 'Copy', onclick: async () => {
    const done = await copy(value);
    button.textContent = done ? 'Copied' : 'Not copied';
    say(done ? `${what} copied` : `${what} could not be copied`);
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  } });
  return el('div', { class: 'copyable' }, node, button);
}

function themes() {
  const button = byId('theme');
  const names = ['auto', 'light', 'dark'];
  const kept = () => { try { return localStorage.getItem('grade-theme'); } catch { return null; } };
  const show = (name) => {
    if (name === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    button.textContent = `Theme: ${name}`;
  };
  let now = names.includes(kept()) ? kept() : 'auto';
  show(now);
  button.hidden = false;
  button.addEventListener('click', () => {
    now = names[(names.indexOf(now) + 1) % names.length];
    show(now);
    try { localStorage.setItem('grade-theme', now); } catch { /* a local file may not be allowed to store data */ }
  });
}

// --- drawing, keys -----------------------------------------------------------------------------------------------------------

const VIEWS = { differences, items: () => (state.item ? one() : list()), about };
let drawn = 0, loaded, summary;

async function draw(before) {
  drawn += 1;
  const turn = drawn;
  for (const tab of byId('tabs').children) {
    const on = tab.dataset.tab === state.tab;
    tab.setAttribute('aria-selected', String(on));
    tab.tabIndex = on ? 0 : -1;
    if (on) byId('tabs').scrollLeft = Math.max(0, tab.offsetLeft + tab.offsetWidth - byId('tabs').clientWidth);
  }
  const panel = byId('panel');
  panel.setAttribute('aria-labelledby', `tab-${state.tab}`);
  if (state.tab !== 'summary') await loaded;
  if (turn !== drawn) return;
  // While the user types, only the results are drawn again, so that the form keeps its focus.
  const typing = before && byId('results') && before.tab === 'items' && state.tab === 'items' && !state.item && [...FILTERS, 'sort', 'reading'].every((name) => name === 'q' || before[name] === state[name]);
  if (typing) {
    if (byId('search') !== document.activeElement) byId('search').value = state.q;
    const found = await results();
    if (turn === drawn) byId('results').replaceChildren(...found);
  } else {
    const view = state.tab === 'summary' ? summary : await VIEWS[state.tab]();
    if (turn !== drawn) return;
    // Read only now: a key can move the focus while the view is made.
    const focused = document.activeElement?.id;
    panel.replaceChildren(...[view].flat(Infinity).filter(Boolean));
    document.title = [state.item ? named(state.item) : TABS.find(([name]) => name === state.tab)[1], panel.dataset.title].join(' · ');
    if (before) await settle(before, focused);
  }
  panel.dataset.ready = String(turn);
}

// Moves the focus after a change: to the opened item, back to the row that it came from, or nowhere.
async function settle(before, focused) {
  if (state.item && state.item !== before.item) {
    byId('item')?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    say(`${named(state.item)} opened`);
  } else if (!state.item && before.item && state.tab === 'items') {
    const left = items.find((item) => item.name === before.item);
    const find = () => left && [...document.querySelectorAll('a.open')].find((link) => link.getAttribute('href') === opened(left));
    while (!find() && await more());
    find()?.focus();
    find()?.scrollIntoView({ block: 'center' });
  } else if (focused) byId(focused)?.focus({ preventScroll: true });
  else if (state.item) document.querySelector('.sample[aria-current]')?.focus({ preventScroll: true });
  if (before.tab !== state.tab) window.scrollTo(0, 0);
}

function tabs() {
  const bar = byId('tabs');
  bar.append(...TABS.map(([name, title]) => el('button', { type: 'button', role: 'tab', id: `tab-${name}`, 'data-tab': name, 'aria-controls': 'panel', onclick: () => go(fresh({ tab: name })) }, title)));
  bar.addEventListener('keydown', (event) => {
    // Starts from the tab with the focus: keys may come faster than the views are drawn.
    const now = TABS.findIndex(([name]) => name === event.target.dataset.tab);
    const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (to === undefined || now < 0) return;
    event.preventDefault();
    const [name] = TABS[(to + TABS.length) % TABS.length];
    byId(`tab-${name}`).focus();
    go(fresh({ tab: name }));
  });
  bar.hidden = false;
}

function move(step) {
  if (state.item) return byId(step > 0 ? 'next' : 'previous')?.click();
  const links = [...document.querySelectorAll('a.open')];
  const at = links.indexOf(document.activeElement);
  const to = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + step, 0), links.length - 1)];
  to?.focus();
  return to?.scrollIntoView({ block: 'nearest' });
}

function sampleStep(step) {
  const links = [...document.querySelectorAll('.sample')];
  links[links.findIndex((link) => link.getAttribute('aria-current') === 'true') + step]?.click();
}

function escape() {
  const box = byId('search');
  if (state.item) byId('back').click();
  else if (box && document.activeElement === box) {
    box.value = '';
    go(filtered({ q: '' }), true);
    box.blur();
  } else if (state.tab === 'items' && FILTERS.some((name) => state[name])) go(fresh({ tab: 'items' }));
}

function search() {
  if (byId('search')) return byId('search').focus();
  go(fresh({ tab: 'items' }));
  return addEventListener('hashchange', () => setTimeout(async () => { await loaded; byId('search')?.focus(); }), { once: true });
}

const KEYS = lookup({ j: () => move(1), k: () => move(-1), '/': search, Escape: escape, '[': () => sampleStep(-1), ']': () => sampleStep(1) });

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest('input, select, textarea') && event.key !== 'Escape') return;
  const arrows = event.target.matches?.('a.open') ? { ArrowDown: 'j', ArrowUp: 'k' } : event.target.matches?.('.sample') ? { ArrowRight: ']', ArrowLeft: '[' } : {};
  const key = arrows[event.key] ?? event.key;
  if (!KEYS.has(key)) return;
  event.preventDefault();
  KEYS.get(key)();
}

async function start() {
  themes();
  byId('skip').addEventListener('click', (event) => { event.preventDefault(); byId('content').focus(); });
  const panel = byId('panel');
  if (!panel) return;
  if (!('DecompressionStream' in window)) {
    panel.append(el('p', { class: 'notice warn', text: 'This browser is too old to unpack the report: it needs DecompressionStream (Chrome 80, Safari 16.4, Firefox 113).' }));
    return;
  }
  pair = panel.dataset.runs === '2';
  TABS = [['summary', 'Summary'], ...(pair ? [] : [['differences', 'Where they differ']]), ['items', 'Items'], ['about', 'How it was made']];
  DEFAULTS = { tab: 'summary', item: '', sample: '0', q: '', deep: '', official: '', careful: '', group: '', differs: '', unscored: '', moved: '', reading: panel.dataset.reading, sort: '' };
  state = readState();
  // The summary is a part of the page.
  summary = [...panel.childNodes];
  panel.dataset.title = document.title;
  tabs();
  addEventListener('hashchange', () => {
    const before = state;
    state = readState();
    draw(before);
  });
  document.addEventListener('keydown', keys);
  if (state.tab === 'summary') await draw(null);
  loaded = load();
  await loaded;
  if (state.tab !== 'summary') await draw(null);
}

start();
})();
