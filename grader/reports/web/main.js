// Drawing of views, and the handling of keys and addresses.

let drawn = 0;

async function draw(before) {
  drawn += 1;
  const turn = drawn;
  for (const tab of byId('tabs').children) {
    const on = tab.dataset.tab === state.tab;
    tab.setAttribute('aria-selected', String(on));
    tab.tabIndex = on ? 0 : -1;
    if (on) byId('tabs').scrollLeft = Math.max(0, tab.offsetLeft + tab.offsetWidth - byId('tabs').clientWidth);
  }
  const panel = byId('panel');
  panel.setAttribute('aria-labelledby', `tab-${state.tab}`);
  const typing = before && !before.item && !state.item && before.tab === 'items' && state.tab === 'items' && FILTERS.every((name) => name === 'q' || before[name] === state[name]) && before.sort === state.sort;
  if (typing && byId('results')) {
    if (byId('search') !== document.activeElement) byId('search').value = state.q;
    refreshList();
    byId('panel').dataset.ready = String(turn);
    return;
  }
  const focused = document.activeElement?.id;
  const view = await VIEWS[state.tab]();
  if (turn !== drawn) return;
  panel.replaceChildren(...[view].flat(Infinity).filter(Boolean));
  document.title = [state.item ? named(state.item) : TABS.find(([name]) => name === state.tab)[1], ...titles(), 'grade'].filter(Boolean).join(' · ');
  if (before) settle(before, focused);
  panel.dataset.ready = String(turn);
}

// Moves the focus after a change: to the opened item, back to the row that it came from, or nowhere.
function settle(before, focused) {
  if (state.item && state.item !== before.item) {
    byId('item')?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    say(`${named(state.item)} opened`);
  } else if (!state.item && before.item && state.tab === 'items') {
    const left = items.find((item) => item.name === before.item);
    const link = left && [...document.querySelectorAll('a.open')].find((one) => one.getAttribute('href') === opened(left));
    link?.focus();
    link?.scrollIntoView({ block: 'center' });
  } else if (focused) byId(focused)?.focus({ preventScroll: true });
  else if (state.item) document.querySelector('.sample[aria-current]')?.focus({ preventScroll: true });
  if (before.tab !== state.tab || before.page !== state.page) window.scrollTo(0, 0);
}

function tabs() {
  const bar = byId('tabs');
  const numbers = tabNumbers();
  bar.append(...TABS.map(([name, title]) => el('button', { type: 'button', role: 'tab', id: `tab-${name}`, 'data-tab': name, 'aria-controls': 'panel',
    onclick: () => go(fresh({ tab: name })) }, title, name in numbers ? el('span', { class: 'number', text: count(numbers[name]) }) : null)));
  bar.addEventListener('keydown', (event) => {
    // Starts from the tab with the focus: keys may come faster than the views are drawn.
    const now = TABS.findIndex(([name]) => name === event.target.dataset.tab);
    const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (to === undefined || now < 0) return;
    event.preventDefault();
    const name = TABS[(to + TABS.length) % TABS.length][0];
    byId(`tab-${name}`).focus();
    go(fresh({ tab: name }));
  });
  bar.hidden = false;
}

function move(step) {
  const links = [...document.querySelectorAll('a.open')];
  if (state.item) return byId(step > 0 ? 'next' : 'previous')?.click();
  const at = links.indexOf(document.activeElement);
  const to = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + step, 0), links.length - 1)];
  to?.focus();
  return to?.scrollIntoView({ block: 'nearest' });
}

function sampleStep(step) {
  const links = [...document.querySelectorAll('.sample')];
  links[links.findIndex((link) => link.getAttribute('aria-current') === 'true') + step]?.click();
}

function escape() {
  const box = byId('search');
  if (state.item) byId('back').click();
  else if (box && document.activeElement === box) {
    box.value = '';
    go(filtered({ q: '' }), { replace: true });
    box.blur();
  } else if (state.tab === 'items' && FILTERS.some((name) => state[name])) go(fresh({ tab: 'items' }));
}

function search() {
  if (byId('search')) byId('search').focus();
  else {
    go(fresh({ tab: 'items' }));
    addEventListener('hashchange', () => setTimeout(() => byId('search')?.focus()), { once: true });
  }
}

const KEYS = lookup({ j: () => move(1), k: () => move(-1), '/': search, Escape: escape, '[': () => sampleStep(-1), ']': () => sampleStep(1) });

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest('input, select, textarea');
  if (typing && event.key !== 'Escape') return;
  const onRow = event.target.matches?.('a.open');
  const key = onRow && event.key === 'ArrowDown' ? 'j' : onRow && event.key === 'ArrowUp' ? 'k'
    : event.target.matches?.('.sample') && event.key === 'ArrowRight' ? ']' : event.target.matches?.('.sample') && event.key === 'ArrowLeft' ? '[' : event.key;
  if (KEYS.has(key)) {
    event.preventDefault();
    KEYS.get(key)();
  }
}

async function start() {
  themes();
  byId('skip').addEventListener('click', (event) => { event.preventDefault(); byId('content').focus(); });
  if (!('DecompressionStream' in window)) {
    byId('panel').append(el('p', { class: 'notice warn', text: 'This browser is too old to unpack the report: it needs DecompressionStream (Chrome 80, Safari 16.4, Firefox 113).' }));
    return;
  }
  read(await unpack('index'));
  tabs();
  addEventListener('hashchange', () => {
    const before = state;
    state = readState();
    draw(before);
  });
  document.addEventListener('keydown', keys);
  await draw(null);
  if (state.tab !== 'items') say('Report ready');
  // For measurements of the loading time.
  performance.mark('ready');
}

start();
