// The view of one item: the question, and the answers of both runs side by side.

function column_of(part, run, number, lines) {
  const samples = part.runs[run];
  const sample = samples.find((one) => one.n === number);
  index.gaps = index.runs[run].gaps;
  return el('section', { class: `side side-${LETTERS[run]}`, 'aria-label': `Run ${LETTERS[run]}` }, el('h3', {}, runTag(run), safe(index.runs[run].name)),
    sample ? output(sample, lines) : el('p', { class: 'faint', text: samples.length ? 'This run has fewer samples.' : 'This item is not in this run.' }));
}

function partOf(part, number, lines, alone) {
  index.gaps = index.runs.flatMap((run) => run.gaps);
  const question = el('section', { 'aria-label': 'Question', class: 'asked' }, asked(part, lines, null));
  return el('article', { class: alone ? 'beside' : 'beside pass' }, alone ? null : el('h3', {}, 'Pass ', safe(part.qid)), question,
    el('div', { class: 'columns' }, index.runs.map((_, run) => column_of(part, run, number, lines))));
}

async function one() {
  const found = await openedItem();
  if (!found) return noItem();
  const { item, parts, lines, rounds, now } = found;
  const moved = movements().find(([value]) => value === movement(item));
  const chip = moved ? el('a', { class: `chip moved-${moved[0]}`, href: filtered({ item: '', moved: moved[0] }), text: `${moved[1]} (${state.reading})` }) : null;
  const outcomesOf = (number) => index.runs.map((_, run) => parts.flatMap((part) => part.runs[run].filter((one) => one.n === number).map((one) => one[state.reading].outcome)));
  return [itemHead(item, chip, (group) => filtered({ item: '', group })), strip(rounds, now, index.runs.map((_, run) => LETTERS[run]), outcomesOf), parts.map((part) => partOf(part, now, lines, parts.length === 1))];
}
