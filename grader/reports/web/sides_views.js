// The tabs of a report of two runs, and the parameters in its address.

const TABS = [['summary', 'Summary'], ['items', 'Items'], ['about', 'How they were made']];
const DEFAULTS = { tab: 'summary', item: '', sample: '0', q: '', group: '', moved: '', reading: 'careful', sort: '', page: '1' };
const FILTERS = ['q', 'group', 'moved', 'reading'];

const LETTERS = 'AB';
const runTag = (at) => el('b', { class: `run run-${LETTERS[at]}`, text: LETTERS[at] });

function choices() {
  return el('label', {}, el('span', { text: 'Reading' }), el('select', { id: 'pick-reading', onchange: (event) => go(filtered({ reading: event.target.value })) },
    ['careful', 'official'].map((name) => el('option', { value: name, selected: name === state.reading, text: name }))));
}

function missingOfRuns() {
  const found = new Map();
  index.runs.forEach((run, at) => run.gaps.forEach((gap) => found.set(JSON.stringify(gap), [...(found.get(JSON.stringify(gap)) ?? []), at])));
  return missing([...found].map(([gap, runs]) => [JSON.parse(gap), runs.length < index.runs.length ? runs.map(runTag) : null]));
}
