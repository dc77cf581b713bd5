// Basic functions: creating elements, unpacking data, formatting numbers.

const SVG = 'http://www.w3.org/2000/svg';

// Data enters the document only here and in text.js, as text nodes and as attributes that cannot contain code.
const SAFE_ATTRIBUTES = new Set(['id', 'class', 'role', 'title', 'for', 'type', 'name', 'value', 'scope', 'colspan', 'tabindex',
  'hidden', 'placeholder', 'open', 'dir', 'lang', 'width', 'height', 'alt', 'loading', 'disabled', 'checked', 'selected',
  'autocomplete', 'spellcheck', 'viewBox', 'x', 'y', 'x1', 'x2', 'y1', 'y2', 'cx', 'cy', 'r', 'd', 'points', 'text-anchor',
  'preserveAspectRatio', 'focusable']);

function put(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'text') node.textContent = value;
    else if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'href') {
      if (!String(value).startsWith('#')) throw new Error('a link must point into the report');
      node.setAttribute('href', value);
    } else if (SAFE_ATTRIBUTES.has(name) || name.startsWith('aria-') || name.startsWith('data-')) {
      node.setAttribute(name, value === true ? '' : value);
    } else throw new Error(`attribute ${name}`);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

const el = (tag, attributes, ...children) => put(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => put(document.createElementNS(SVG, tag), attributes, children);
const byId = (id) => document.getElementById(id);

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

async function unpack(id) {
  const packed = new Blob([bytesOf(byId(id).textContent)]).stream();
  return JSON.parse(await new Response(packed.pipeThrough(new DecompressionStream('deflate'))).text());
}

const chunks = new Map();
function chunk(number) {
  if (!chunks.has(number)) chunks.set(number, unpack(`chunk-${number}`));
  return chunks.get(number);
}

const imageUrl = (number) => byId(`image-${number}`).textContent;

// A map without inherited keys, because names from data are looked up in it.
const lookup = (pairs) => new Map(Object.entries(pairs));

// Rounds as the other formats do, that is as Python does: half of the last digit goes to the even neighbour (81.25 is 81.2).
function rounded(value, digits) {
  const text = value.toFixed(digits);
  const isHalf = Math.abs((value * 2 ** (digits + 1)) % 2) === 1;
  return isHalf && Number(text.at(-1)) % 2 ? (value - Math.sign(value) * 10 ** -digits / 4).toFixed(digits) : text;
}

const fixed = (value, digits = 1) => (value === null || value === undefined ? '–' : rounded(value, digits).replace('-', '−'));
const signed = (value) => (Math.abs(value) < 0.05 ? '0.0' : `${value > 0 ? '+' : ''}${fixed(value)}`);
const count = (value) => value.toLocaleString('en-US');
const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
const human = (name) => name.replaceAll('_', ' ');

function say(text) {
  byId('status').textContent = text;
}

// Sorts "q2" before "q10", and 3 before 1000003.
const collator = new Intl.Collator('en', { numeric: true });
