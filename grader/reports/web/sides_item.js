// The view of one item: the question, and the answers of all runs side by side.

function column_of(part, run, number, lines) {
  const samples = part.runs[run];
  const sample = samples.find((one) => one.n === number);
  index.gaps = index.runs[run].gaps;
  return el('section', { class: `side side-${LETTERS[run]}`, 'aria-label': `Run ${LETTERS[run]}` }, el('h3', {}, runTag(run), safe(index.runs[run].name)),
    sample ? output(sample, lines) : el('p', { class: 'faint', text: samples.length ? 'This run has fewer samples.' : 'This item is not in this run.' }));
}

function samplesStrip(rounds, now, parts) {
  if (rounds.length < 2) return null;
  return el('nav', { class: 'strip', 'aria-label': 'Samples' }, rounds.map((number) => {
    const outcomes = index.runs.map((_, run) => parts.flatMap((part) => part.runs[run].filter((one) => one.n === number).map((one) => one[state.reading].outcome)));
    const words = outcomes.map((found, run) => `${LETTERS[run]} ${[...new Set(found)].map(outcomeName).join(', ') || 'none'}`).join('; ');
    return el('a', { href: address({ sample: String(number) }), class: 'sample', 'aria-current': number === now ? 'true' : null, title: words, 'aria-label': `Sample ${number}: ${words}` },
      el('span', { text: String(number) }), el('span', { class: 'dots', 'aria-hidden': 'true' }, outcomes.map((found) => el('i', { class: found.length ? (found.every((outcome) => toneOf(outcome) === 'good') ? 'good' : toneOf(found.find((outcome) => toneOf(outcome) !== 'good'))) : 'none' }))));
  }));
}

function partOf(part, number, lines, alone) {
  index.gaps = index.runs.flatMap((run) => run.gaps);
  const question = el('section', { 'aria-label': 'Question', class: 'asked' }, asked(part, lines, null));
  return el('article', { class: alone ? 'beside' : 'beside pass' }, alone ? null : el('h3', {}, 'Pass ', safe(part.qid)), question,
    el('div', { class: `columns columns-${Math.min(4, index.runs.length)}` }, index.runs.map((_, run) => column_of(part, run, number, lines))));
}

async function one() {
  const item = items.find((other) => other.name === state.item);
  if (!item) return [steps(null), el('p', { class: 'notice warn' }, 'This report has no item ', safe(state.item), '.')];
  const { parts, lines } = (await chunk(item.chunk))[item.place];
  const rounds = [...new Set(parts.flatMap((part) => part.runs.flat().map((sample) => sample.n)))].sort((x, y) => x - y);
  const now = rounds.includes(Number(state.sample)) ? Number(state.sample) : rounds[0];
  const [a, b] = chosenPair();
  const moved = movements(a, b).find(([value]) => value === movement(item, a, b));
  return [steps(item), el('h2', { id: 'item', tabindex: '-1', class: 'item-name' }, safe(item.name)),
    el('p', { class: 'chips' }, moved ? el('a', { class: `chip moved-${moved[0]}`, href: filtered({ item: '', moved: moved[0] }), text: `${moved[1]} (${state.reading})` }) : null,
      item.groups.map((number) => el('a', { class: 'chip', href: filtered({ item: '', group: index.groups[number] }) }, safe(index.groups[number].replace('=', ': '))))),
    samplesStrip(rounds, now, parts), parts.map((part) => partOf(part, now, lines, parts.length === 1))];
}
