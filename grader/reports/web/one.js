// The view of one item of one run, with all its samples or passes.

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
  const found = await openedItem();
  if (!found) return noItem();
  const { item, parts, lines, unit, rounds, now } = found;
  const together = index.wholeUnits;
  const first = parts[0];
  const samples = strip(rounds, now, READINGS, (number) => READINGS.map((name) => samplesOf(item).filter((at) => index.samples.n[at] === number).map((at) => outcomeOf(at, name))));
  const kept = first.question && together ? { ...first, question: { ...first.question, options: [], gold: null } } : first;
  const shown = first.samples.find((sample) => sample.n === now);
  const group = together && item.verdicts.length ? el('p', { class: 'verdicts' }, `All ${plural(parts.length, 'pass', 'passes')} together: `,
    READINGS.map((name, n) => el('span', { class: 'fact' }, `${name} `, badge(index.outcomes[item.verdicts[Math.min(rounds.indexOf(now), item.verdicts.length - 1)][n]])))) : null;
  return [itemHead(item, null, (name) => fresh({ tab: 'items', group: name })), related(item, unit), el('div', { class: together ? 'stack' : 'two' }, el('section', { 'aria-label': 'Question', class: 'asked' }, asked(kept, lines, shown)),
    el('section', { 'aria-label': 'Answer', class: 'answered', id: 'answered' }, samples, group, parts.map((part) => pass(part, now, lines, !together))))];
}
