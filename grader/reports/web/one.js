// The view of one item of one run, with all its samples or passes.

// A row of buttons for the samples of an item, or the rounds of a unit; arrow keys move between them.
function strip(item, rounds, now) {
  if (rounds.length < 2) return null;
  const of = (number, name) => samplesOf(item).filter((at) => index.samples.n[at] === number).map((at) => outcomeOf(at, name));
  return el('nav', { class: 'strip', 'aria-label': 'Samples' }, rounds.map((number) => {
    const outcomes = READINGS.map((name) => of(number, name));
    const tone = (list) => (list.every((outcome) => toneOf(outcome) === 'good') ? 'good' : toneOf(list.find((outcome) => toneOf(outcome) !== 'good')));
    const words = READINGS.map((name, n) => `${name} ${[...new Set(outcomes[n])].map(outcomeName).join(', ')}`).join('; ');
    return el('a', { href: address({ sample: String(number) }), class: 'sample', 'aria-current': number === now ? 'true' : null, title: words, 'aria-label': `Sample ${number}: ${words}` },
      el('span', { text: String(number) }), el('span', { class: 'dots', 'aria-hidden': 'true' }, outcomes.map((list) => el('i', { class: tone(list) }))));
  }));
}

function related(item, unit) {
  if (index.wholeUnits || !unit || unit === item.name) return null;
  const others = items.filter((other) => other !== item && other.name.startsWith(`${unit}/`));
  return others.length ? el('p', { class: 'related' }, 'Same question: ', others.map((other) => el('a', { href: address({ item: other.name, sample: '0' }) }, safe(other.name)))) : null;
}

function pass(part, number, lines, alone) {
  const sample = part.samples.find((one) => one.n === number);
  if (!sample) return null;
  if (alone) return [el('h3', { class: 'unseen', text: `Sample ${number}` }), output(sample, lines)];
  return el('article', { class: 'pass', 'aria-label': `Pass ${named(part.qid)}` }, el('h3', {}, 'Pass ', safe(part.qid)),
    el('div', { class: 'two' }, el('div', {}, part.question ? options(part.question, sample) : asked(part, lines, sample)), el('div', {}, output(sample, lines))));
}

async function one() {
  const item = items.find((other) => other.name === state.item);
  if (!item) return [steps(null), el('p', { class: 'notice warn' }, 'This report has no item ', safe(state.item), '.')];
  const { parts, lines, unit } = (await chunk(item.chunk))[item.place];
  const rounds = [...new Set(parts.flatMap((part) => part.samples.map((sample) => sample.n)))].sort((a, b) => a - b);
  const now = rounds.includes(Number(state.sample)) ? Number(state.sample) : rounds[0];
  const together = index.wholeUnits;
  const first = parts[0];
  const head = [steps(item), el('h2', { id: 'item', tabindex: '-1', class: 'item-name' }, safe(item.name)),
    el('p', { class: 'chips' }, item.groups.map((number) => el('a', { class: 'chip', href: fresh({ tab: 'items', group: index.groups[number] }) }, safe(index.groups[number].replace('=', ': ')))))];
  const samples = strip(item, rounds, now);
  const kept = first.question && together ? { ...first, question: { ...first.question, options: [], gold: null } } : first;
  const shown = first.samples.find((sample) => sample.n === now);
  const group = together && item.verdicts.length ? el('p', { class: 'verdicts' }, `All ${plural(parts.length, 'pass', 'passes')} together: `,
    READINGS.map((name, n) => el('span', { class: 'fact' }, `${name} `, badge(index.outcomes[item.verdicts[Math.min(rounds.indexOf(now), item.verdicts.length - 1)][n]])))) : null;
  return [head, related(item, unit), el('div', { class: together ? 'stack' : 'two' }, el('section', { 'aria-label': 'Question', class: 'asked' }, asked(kept, lines, shown)),
    el('section', { 'aria-label': 'Answer', class: 'answered', id: 'answered' }, samples, group, parts.map((part) => pass(part, now, lines, !together))))];
}
