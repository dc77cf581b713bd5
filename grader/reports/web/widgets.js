// Small elements that several views use: outcomes, intervals, tables, links to an item.

const READINGS = ['official', 'careful'];
const TONES = lookup({ passed: 'good', correct: 'good', unscored: 'none', not_judged: 'none', suspect: 'doubt', ambiguous: 'doubt', no_answer: 'doubt' });
const SIGNS = { good: '✓', bad: '✕', doubt: '?', none: '–' };
const toneOf = (outcome) => TONES.get(outcome) ?? 'bad';

// Names and meanings of outcomes.
const outcomeName = (outcome) => words.get(outcome) ?? human(outcome);
const MEANINGS = lookup({ passed: 'All tests passed.', failed: 'A test failed.', error: 'The program raised an exception other than a failed assertion.',
  timeout: 'The program used more time than allowed.', out_of_memory: 'The program used more memory than allowed.', crashed: 'The program ended by a signal that it caused itself.',
  lint_failed: 'The linter rejected the program.', not_judged: 'The tests of this task cannot judge a program that runs apart from them.', suspect: 'It passes officially, but the check in separate processes does not confirm the pass.',
  correct: 'The answer is correct.', wrong: 'The answer is wrong.', no_answer: 'The output gives no answer.', ambiguous: 'The output gives several answers.',
  unscored: 'No verdict: excluded from every metric that needs one.' });

// The description of a metric or a rule; `pass@*` is for every k.
const meaning = (name) => glossary.get(name) ?? glossary.get(`${String(name).split('@')[0]}@*`) ?? null;

function badge(outcome, answer) {
  const tone = toneOf(outcome);
  return el('span', { class: `badge ${tone}`, title: MEANINGS.get(outcome) }, el('span', { 'aria-hidden': 'true', class: 'sign', text: SIGNS[tone] }),
    outcomeName(outcome), answer ? el('span', { class: 'answer' }, safe(answer)) : null);
}

const samplesOf = (item) => Array.from({ length: item.size }, (_, at) => item.start + at);
const outcomeOf = (at, reading) => index.outcomes[index.samples[reading === 'official' ? 'o' : 'c'][at]];
const answerOf = (at, reading) => index.answers[index.samples[reading === 'official' ? 'oa' : 'ca'][at]] ?? '';
const ruleOf = (at, reading) => index.rules[index.samples[reading === 'official' ? 'or' : 'cr'][at]] ?? '';
const detailOf = (at) => index.details[index.samples.d[at]] ?? '';
const differs = (at) => index.samples.x[at] === 1;

// One mark per sample, pass or round. Each tone has its own shape, so that no information needs colour.
function dots(item, reading) {
  const all = samplesOf(item).map((at) => outcomeOf(at, reading));
  const tally = new Map();
  for (const outcome of all) tally.set(outcome, (tally.get(outcome) || 0) + 1);
  const words = [...tally].map(([outcome, number]) => `${number} ${outcomeName(outcome)}`).join(', ');
  return el('span', { class: 'dots', role: 'img', 'aria-label': words, title: words },
    all.slice(0, 40).map((outcome) => el('i', { class: toneOf(outcome) })), all.length > 40 ? '…' : null);
}

const MISSING = { predictions: 'Raw outputs', questions: 'Questions', images: 'Images', programs: 'Programs' };
// A list of what cannot be shown, given as [gap, what stands before it].
function missing(gaps) {
  if (!gaps.length) return null;
  return el('div', { class: 'notice warn', role: 'note' }, el('strong', { text: 'Not everything can be shown. ' }),
    el('ul', {}, gaps.map(([gap, before]) => el('li', {}, before, el('b', { text: `${MISSING[gap.what]}: ` }), safe(gap.why)))));
}

const table = (caption, head, body, name = '') => el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
  el('table', { class: name }, el('caption', { class: 'unseen', text: caption }), el('thead', {}, el('tr', {}, head)), el('tbody', {}, body)));

const column = (text, name) => el('th', { scope: 'col', class: name }, text);

function pager(total, size, page, link) {
  const pages = Math.max(1, Math.ceil(total / size));
  if (pages === 1) return null;
  const step = (to, text) => (to >= 1 && to <= pages ? el('a', { class: 'button', href: link(to), text }) : el('span', { class: 'button off', 'aria-hidden': 'true', text }));
  return el('nav', { class: 'pager', 'aria-label': 'Pages' }, step(page - 1, '← Previous'),
    el('span', { text: `Page ${page} of ${pages}` }), step(page + 1, 'Next →'));
}

// An id in a narrow column: its middle is hidden, its end stays visible; hovering shows the whole id.
const LONG_ID = 24, ID_END = 12;
function shortId(name) {
  const text = String(name);
  if (text.length <= LONG_ID) return safe(text);
  const slash = text.lastIndexOf('/');
  const at = slash > 0 && text.length - slash <= LONG_ID ? slash : text.length - ID_END;
  return el('span', { class: 'long-id' }, el('span', { class: 'start' }, safe(text.slice(0, at))), el('span', { class: 'end' }, safe(text.slice(at))));
}

// navigator.clipboard does not exist on every page that was opened from a local file.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const box = el('textarea', { class: 'unseen', 'aria-hidden': 'true', tabindex: '-1' });
    box.value = text;
    document.body.append(box);
    box.select();
    const done = document.execCommand('copy');
    box.remove();
    return done;
  }
}

function copyable(what, text, node) {
  const button = el('button', { type: 'button', class: 'quiet copy', 'aria-label': `Copy ${what}`, text: 'Copy', onclick: async () => {
    const done = await copy(text);
    button.textContent = done ? 'Copied' : 'Not copied';
    say(done ? `${what} copied` : `${what} could not be copied`);
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  } });
  return el('div', { class: 'copyable' }, node, button);
}
