// Untrusted text, shown unchanged, except that invisible, reordering and control characters are shown by name.

const UNSEEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Cs}]/gu;

function nameOf(character) {
  const code = character.codePointAt(0);
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

function plain(parent, text) {
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    if (found[0] === '\r' && text[found.index + 1] === '\n') continue;
    if (found.index > from) parent.append(text.slice(from, found.index));
    parent.append(el('span', { class: 'unseen-character', title: `character ${nameOf(found[0])}`, text: nameOf(found[0]) }));
    from = found.index + found[0].length;
  }
  if (from < text.length) parent.append(text.slice(from));
  return parent;
}

const safe = (text) => plain(document.createDocumentFragment(), String(text));
// A message of the program: text between backticks is shown as code.
const noted = (text) => String(text).split(/`([^`]+)`/).map((part, number) => (number % 2 ? el('code', {}, safe(part)) : safe(part)));
const listed = (notes) => (notes.length ? el('ul', { class: 'notes' }, notes.map((note) => el('li', {}, noted(note)))) : null);
// The same as safe for attributes and options, which cannot contain elements.
const named = (text) => String(text).replace(UNSEEN, (character) => nameOf(character));

// marks: [{ start, end, reading }], which may overlap. cut: [position, number of omitted characters] or undefined.
// Code between fences keeps its lines if `hasCode`: broken ones would lose their indentation.
function marked(parent, text, marks, cut, hasCode = false) {
  const fences = hasCode ? [...text.matchAll(/```[^]*?(?:```|$)/g)].map((found) => [found.index, found.index + found[0].length]) : [];
  const edges = new Set([0, text.length, ...fences.flat()]);
  for (const mark of marks) edges.add(mark.start).add(mark.end);
  if (cut) edges.add(cut[0]);
  const places = [...edges].filter((at) => at >= 0 && at <= text.length).sort((a, b) => a - b);
  places.forEach((at, number) => {
    if (cut && cut[0] === at) {
      parent.append(el('span', { class: 'cut', text: `⋯ ${plural(cut[1], 'character')} left out ⋯` }));
    }
    const end = places[number + 1];
    if (end === undefined) return;
    const inside = marks.filter((mark) => mark.start <= at && mark.end >= end).map((mark) => mark.reading);
    if (fences.some(([start, last]) => start <= at && last >= end)) parent.append(plain(el('span', { class: 'fenced' }), text.slice(at, end)));
    else if (!inside.length) plain(parent, text.slice(at, end));
    else {
      const names = inside.join(' and ');
      parent.append(plain(el('mark', { class: inside.map((name) => `by-${name}`).join(' '), title: `read by ${names}`,
        'aria-label': `read by ${names}: ${named(text.slice(at, end))}`, role: 'mark' }), text.slice(at, end)));
    }
  });
  return parent;
}

const marksOf = (sample) => ['official', 'careful']
  .filter((name) => sample[name].span)
  .map((name) => ({ start: sample[name].span[0], end: sample[name].span[1], reading: name }));

// Lines are [text] or [text, runs]; runs are alternating lengths and classes, as in "3k1_8f".
function source(lines, own = [0, 0], failed = -1) {
  return el('pre', { class: 'code', tabindex: '0', dir: 'ltr' }, el('code', {}, lines.map((line, number) => {
    const row = el('span', { class: `line${number >= own[0] && number < own[1] ? ' own' : ''}${number === failed ? ' failed' : ''}` });
    let from = 0;
    for (const [, length, letter] of (line[1] || '').matchAll(/(\d+)([a-z_])/g)) {
      const part = line[0].slice(from, from + Number(length));
      if (letter === '_') plain(row, part);
      else row.append(plain(el('span', { class: `t-${letter}` }), part));
      from += Number(length);
    }
    plain(row, line[0].slice(from));
    row.append('\n');
    return row;
  })));
}
