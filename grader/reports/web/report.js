// Reading of the index of one run.

let index, items, all, owners, timed, glossary, words;
const owner = (at) => items[owners[at]];

function read(unpacked) {
  index = unpacked;
  let start = 0;
  owners = [];
  items = index.items.map(([name, size, chunkAt, place, groups, blurb, verdicts], number) => {
    const item = { name, size, chunk: chunkAt, place, groups, blurb, verdicts, number, start, differing: 0, seconds: 0 };
    for (let at = start; at < start + size; at += 1) owners.push(number);
    start += size;
    return item;
  });
  index.chunkCount = items.reduce((most, item) => Math.max(most, item.chunk + 1), 0);
  all = owners.map((_, at) => at);
  for (const at of all) {
    const item = owner(at);
    item.differing += differs(at);
    item.seconds += index.samples.t[at];
  }
  glossary = lookup(index.glossary);
  words = lookup(index.words);
  timed = items.some((item) => item.seconds > 0);
}

const missingHere = () => missing(index.gaps.map((gap) => [gap, null]));
// The summary is a part of the page; only what it cannot show is said by the script.
const still = [...byId('panel').childNodes];
const VIEWS = { summary: () => [missingHere(), ...still], differences, items: () => (state.item ? one() : list()), about };
const tabNumbers = () => ({ differences: all.filter(differs).length, items: items.length });
const titles = () => [named(index.model), named(index.file), named(index.name)];
