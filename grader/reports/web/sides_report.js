// Reading of the index of two runs, and the provenance of each run.

let index, items, glossary, words;

function read(unpacked) {
  index = unpacked;
  index.gaps = [];
  if (index.reading !== DEFAULTS.reading) {
    DEFAULTS.reading = index.reading;
    state = readState();
  }
  items = index.items.map(([name, chunkAt, place, groups, blurb, cells], number) => ({ name, chunk: chunkAt, place, groups, blurb, cells, number }));
  glossary = lookup(index.glossary);
  words = lookup(index.words);
}

// A table with facts as rows and runs as columns; rows that differ are marked.
function about() {
  const text = (value) => (value === null || value === undefined ? '–' : typeof value === 'object' ? JSON.stringify(value) : String(value));
  const names = [...new Set(index.runs.flatMap((run) => Object.keys(run.made)))].filter((name) => index.runs.some((run) => typeof run.made[name] !== 'object'));
  const rows = names.map((name) => {
    const cells = index.runs.map((run) => text(run.made[name]));
    return el('tr', { class: new Set(cells).size > 1 ? 'unlike' : '' }, el('th', { scope: 'row' }, safe(human(name))), cells.map((cell) => el('td', {}, safe(cell))));
  });
  return [missingOfRuns(), el('h2', { text: 'How they were made' }), el('p', { class: 'lead', text: 'Marked rows differ between the runs.' }),
    table('How they were made', [column('Fact'), index.runs.map((run, at) => el('th', { scope: 'col' }, runTag(at), safe(run.name)))], rows, 'made wrapped'),
    index.runs.map((run, at) => (run.notes.length ? el('section', {}, el('h3', {}, runTag(at), safe(run.name)), listed(run.notes)) : null))];
}

const still = [...byId('panel').childNodes];
const VIEWS = { summary: () => [missingOfRuns(), ...still], items: () => (state.item ? one() : list()), about };
const tabNumbers = () => ({ items: items.length });
const titles = () => [...index.runs.map((run) => named(run.name)), named(index.name)];
