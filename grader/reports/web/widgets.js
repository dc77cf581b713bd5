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

const WIDTH = 300;
// A scale with round ends and round ticks, at most `most` steps.
function scaleFor(low, high, most = 4) {
  const step = [1, 2, 5, 10, 20, 25, 50].find((one) => (high - low) / one <= most) ?? 50;
  const first = Math.floor(low / step), last = Math.max(first + 1, Math.ceil(high / step));
  const ticks = Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
  return { ticks, at: (value) => 8 + ((value - ticks[0]) / (ticks.at(-1) - ticks[0])) * (WIDTH - 16) };
}

function scaleOf(rows) {
  return scaleFor(Math.min(0, ...endsOf(rows)) < 0 ? -100 : 0, 100);
}

const endsOf = (rows) => rows.flatMap((row) => READINGS.flatMap((name) => [row[name]?.value, ...(row[name]?.ci || []), ...(row[name]?.bounds || [])]).filter(Number.isFinite));

function gridLines(scale) {
  return svg('svg', { class: 'interval', viewBox: `0 0 ${WIDTH} 30`, 'aria-hidden': 'true', focusable: 'false' },
    scale.ticks.map((value) => svg('line', { class: 'grid', x1: scale.at(value), x2: scale.at(value), y1: 0, y2: 30 })));
}

function range(drawing, scale, name, y, value, ends) {
  if (ends) {
    drawing.append(svg('line', { class: `range ${name}`, x1: scale.at(ends[0]), x2: scale.at(ends[1]), y1: y, y2: y }));
    for (const end of ends) drawing.append(svg('line', { class: `range ${name}`, x1: scale.at(end), x2: scale.at(end), y1: y - 3, y2: y + 3 }));
  }
  drawing.append(svg('circle', { class: `point ${name}`, cx: scale.at(value), cy: y, r: 4 }));
}

function interval(row, scale) {
  const drawing = gridLines(scale);
  const chance = row.name === 'accuracy' && baselines.get(row.group ?? 'all')?.chance;
  if (chance) drawing.append(svg('line', { class: 'chance', x1: scale.at(chance), x2: scale.at(chance), y1: 0, y2: 30 }));
  READINGS.forEach((name, number) => {
    const figure = row[name];
    if (!figure) return;
    const y = 9 + number * 12;
    if (figure.bounds) {
      drawing.append(svg('line', { class: 'bounds', x1: scale.at(figure.bounds[0]), x2: scale.at(figure.bounds[1]), y1: y, y2: y }));
    }
    if (figure.value !== null) range(drawing, scale, name, y, figure.value, figure.ci);
  });
  return drawing;
}

function axis(scale, label = (value) => fixed(value, 0)) {
  const anchor = (number) => (number === 0 ? 'start' : number === scale.ticks.length - 1 ? 'end' : 'middle');
  return svg('svg', { class: 'interval axis', viewBox: `0 0 ${WIDTH} 14`, 'aria-hidden': 'true', focusable: 'false' },
    scale.ticks.map((value, number) => svg('text', { x: scale.at(value), y: 11, 'text-anchor': anchor(number), text: label(value) })));
}

// The cells of a metric, after its name: drawn, both readings, their difference, n.
const metricCells = (row, scale) => [el('td', { class: 'plot' }, interval(row, scale)), READINGS.map((name) => el('td', { class: 'num', 'data-label': name }, figure(row[name]))),
  el('td', { class: 'num', 'data-label': 'careful − official' }, difference(row)), el('td', { class: 'num', 'data-label': 'n', text: observations(row) })];
// One number, or those of the official and the careful reading if they differ.
const observations = (row) => [...new Set(READINGS.filter((name) => row[name]).map((name) => row[name].n))].map(count).join(' and ');
const plotHead = (scale, label) => el('th', { scope: 'col', class: 'plot' }, el('span', { class: 'unseen', text: 'Drawn' }), axis(scale, label));
const metricHead = (first, scale) => [column(first), plotHead(scale), column('Official', 'num'), column('Careful', 'num'),
  el('th', { scope: 'col', class: 'num', title: 'The careful value minus the official one, in points; – if unscored samples are excluded from one of them' }, 'careful − official'), el('th', { scope: 'col', class: 'num', title: 'Number of observations (official and careful, if they differ)' }, 'n')];

function figure(one) {
  if (!one) return el('span', { class: 'faint', text: '–' });
  return el('span', { class: 'figure' }, el('b', { text: `${fixed(one.value)}${one.mark}` }),
    one.ci ? el('small', { text: `${fixed(one.ci[0])} to ${fixed(one.ci[1])}` }) : null,
    one.bounds ? el('small', { class: 'warn', text: `between ${fixed(one.bounds[0])} and ${fixed(one.bounds[1])}` }) : null);
}

const legend = () => el('p', { class: 'legend' },
  READINGS.map((name) => el('span', {}, el('i', { class: `key ${name}`, 'aria-hidden': 'true' }), name)),
  baselines.size ? el('span', {}, el('i', { class: 'key chance', 'aria-hidden': 'true' }), 'chance') : null);

function difference(row) {
  if (row.change === null || row.change === undefined) return '–';
  const text = signed(row.change);
  return el('span', { class: text === '0.0' ? 'faint' : 'delta', text });
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
