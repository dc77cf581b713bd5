// The address holds the current view, so that every view has a link, and the browser's back and forward work.

function readState() {
  const given = new URLSearchParams(location.hash.slice(1));
  const state = {};
  for (const [name, value] of Object.entries(DEFAULTS)) state[name] = given.get(name) ?? value;
  if (!TABS.some(([name]) => name === state.tab)) state.tab = DEFAULTS.tab;
  return state;
}

let state = readState();

function address(changes, from = state) {
  const next = { ...from, ...changes };
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(next)) {
    if (String(value) !== DEFAULTS[name] || name === 'tab') words.set(name, value);
  }
  return `#${words}`;
}

// A change of the tab keeps no filters; only the theme stays.
const fresh = (changes) => address(changes, DEFAULTS);

function go(target, { replace = false } = {}) {
  if (target === location.hash) return;
  if (replace) location.replace(target);
  else location.hash = target;
}
