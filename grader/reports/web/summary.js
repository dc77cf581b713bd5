// The summary: metrics in both readings with intervals, pass@k, outcomes, categories.

const metricRows = (rows, scale, label) => rows.map((row) => el('tr', {}, el('th', { scope: 'row' }, label(row)), metricCells(row, scale)));

function overall() {
  const rows = index.breakdown.filter((row) => row.group === null);
  if (!rows.length) return el('p', { class: 'notice', text: 'This run has no metrics.' });
  const scale = scaleOf(rows);
  return el('section', { 'aria-labelledby': 'h-figures' }, el('div', { class: 'heading' },
    el('h2', { id: 'h-figures', text: 'Metrics' }), legend()),
  el('p', { class: 'lead', text: index.lead }),
  table('Metrics in both readings', metricHead('Metric', scale), metricRows(rows, scale, (row) => el('span', { title: meaning(row.name), class: meaning(row.name) ? 'explained' : null }, human(row.name))), 'figures'),
  index.unscored ? el('p', { class: 'notice warn' }, `${plural(index.unscored, 'sample')} could not be scored (${index.why_unscored}). They are excluded from ${index.excluded_from}${rows.some((row) => row.official?.bounds || row.careful?.bounds) ? '; "between" shows the worst case (all of them wrong) and the best case (all correct)' : ''}. `,
    el('a', { href: fresh({ tab: 'items', careful: 'unscored' }), text: 'Show them' })) : null);
}

function headline() {
  const different = all.filter(differs).length;
  const words = different
    ? [`Official and careful differ on ${count(different)} of ${plural(all.length, 'sample')}. `, el('a', { href: fresh({ tab: 'differences' }), text: 'Show these samples and the reasons' })]
    : [`Official and careful agree on all ${plural(all.length, 'sample')}.`];
  return all.length ? el('p', { class: 'notice' }, words) : null;
}

function curveCard() {
  const curve = index.curve;
  if (!curve) return null;
  const wide = window.innerWidth < 600 ? 340 : 560, high = 250, left = 40, right = 74, top = 20, bottom = 40;
  const most = curve.k.length;
  const x = (k) => left + ((k - 1) / Math.max(1, most - 1)) * (wide - left - right);
  const y = (value) => top + (1 - value / 100) * (high - top - bottom);
  const ends = READINGS.map((name) => [...curve[name]].reverse().find((p) => p[0] !== null)?.[0] ?? 0);
  const close = Math.abs(y(ends[0]) - y(ends[1])) < 15;
  const words = READINGS.map((name, n) => `${name} rises from ${fixed(curve[name][0][0])} at k = 1 to ${fixed(ends[n])} at k = ${most}`).join('; ');
  const chart = svg('svg', { class: 'curve', viewBox: `0 0 ${wide} ${high}`, role: 'img', 'aria-label': `${curve.title}: ${words}` });
  for (const value of [0, 25, 50, 75, 100]) {
    chart.append(svg('line', { class: 'grid', x1: left, x2: wide - right, y1: y(value), y2: y(value) }),
      svg('text', { x: left - 8, y: y(value) + 4, 'text-anchor': 'end', text: String(value) }));
  }
  const every = Math.ceil(most / (wide < 600 ? 6 : 10));
  for (const k of curve.k) {
    if (k === most || ((k - 1) % every === 0 && most - k >= every / 2)) chart.append(svg('text', { x: x(k), y: high - 20, 'text-anchor': 'middle', text: String(k) }));
  }
  chart.append(svg('text', { class: 'label', x: (left + wide - right) / 2, y: high - 4, 'text-anchor': 'middle', text: curve.axis }));
  READINGS.forEach((name, number) => {
    const points = curve.k.map((k, at) => [k, ...curve[name][at]]).filter(([, value]) => value !== null);
    for (const row of index.breakdown) {
      const k = row.group === null && row.name.startsWith(curve.prefix) ? Number(row.name.slice(curve.prefix.length)) : null;
      if (k && row[name]?.ci && k <= most) {
        chart.append(svg('line', { class: `range ${name}`, x1: x(k) + number * 5 - 2, x2: x(k) + number * 5 - 2, y1: y(row[name].ci[0]), y2: y(row[name].ci[1]) }));
      }
    }
    chart.append(svg('polyline', { class: `line ${name}`, points: points.map(([k, value]) => `${x(k)},${y(value)}`).join(' ') }));
    for (const [k, value, tasks] of points) {
      chart.append(svg('circle', { class: `point ${name}`, cx: x(k), cy: y(value), r: most > 60 ? 1.5 : 3.5 },
        svg('title', { text: `${name}: ${curve.prefix}${k} = ${fixed(value)} over ${plural(tasks, index.unit)}` })));
    }
    const shift = close ? (ends[number] >= ends[1 - number] && (number === 0 || ends[0] !== ends[1]) ? -7 : 8) : 0;
    chart.append(svg('text', { class: `name ${name}`, x: wide - right + 10, y: y(ends[number]) + 4 + shift, text: name }));
  });
  const rows = curve.k.map((k, at) => el('tr', {}, el('th', { scope: 'row', class: 'num', text: String(k) }),
    READINGS.map((name) => el('td', { class: 'num', text: fixed(curve[name][at][0]) })),
    el('td', { class: 'num', text: count(curve.careful[at][1]) })));
  return el('section', { class: 'card', 'aria-labelledby': 'h-curve' }, el('h2', { id: 'h-curve', text: curve.title }), chart,
    el('details', {}, el('summary', { text: 'As a table' }), table(curve.title, [column('k', 'num'), column('Official', 'num'), column('Careful', 'num'), column(`${index.unit}s`, 'num')], rows, 'slim')));
}

function outcomes() {
  const cells = new Map();
  const seen = { official: new Map(), careful: new Map() };
  for (const at of all) {
    const pair = READINGS.map((name) => outcomeOf(at, name));
    cells.set(pair.join(' '), (cells.get(pair.join(' ')) || 0) + 1);
    READINGS.forEach((name, n) => seen[name].set(pair[n], (seen[name].get(pair[n]) || 0) + 1));
  }
  // Rows and columns have one order.
  const order = [...tally(all.flatMap((at) => READINGS.map((name) => outcomeOf(at, name))))].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const across = order.filter((name) => seen.careful.has(name));
  const link = (changes, text) => el('a', { href: fresh({ tab: 'items', ...changes }), text: count(text) });
  const rows = order.filter((name) => seen.official.has(name)).map((down) => el('tr', {}, el('th', { scope: 'row' }, badge(down)),
    across.map((name) => {
      const number = cells.get(`${down} ${name}`);
      return el('td', { class: `num ${number ? (down === name ? 'same' : 'other') : 'faint'}` }, number ? link({ official: down, careful: name }, number) : '·');
    }), el('td', { class: 'num total' }, link({ official: down }, seen.official.get(down)))));
  rows.push(el('tr', { class: 'total' }, el('th', { scope: 'row', text: 'all' }),
    across.map((name) => el('td', { class: 'num' }, link({ careful: name }, seen.careful.get(name)))),
    el('td', { class: 'num' }, link({}, all.length))));
  return el('section', { class: 'card', 'aria-labelledby': 'h-outcomes' }, el('h2', { id: 'h-outcomes', text: 'Outcomes' }),
    el('p', { class: 'lead', text: 'Samples by their official outcome (rows) and careful outcome (columns). Every number is a link to its items.' }),
    table('Samples by outcome: official in rows, careful in columns', [el('th', { scope: 'col' }, el('small', { text: 'official ↓ careful →' })),
      across.map((name) => el('th', { scope: 'col', class: `num head ${toneOf(name)}`, title: MEANINGS.get(name), text: outcomeName(name) })), column('all', 'num')], rows, 'matrix'));
}

function categories() {
  const rows = index.breakdown.filter((row) => row.group !== null);
  if (!rows.length) return null;
  const names = [...new Set(rows.map((row) => row.name))];
  const chosen = names.includes(state.metric) ? state.metric : names[0];
  const shown = rows.filter((row) => row.name === chosen);
  const scale = scaleOf(shown);
  const fields = Map.groupBy ? Map.groupBy(shown, (row) => row.group.split('=')[0]) : grouped(shown);
  const short = lookup(index.abbreviations);
  const label = (row) => {
    const name = row.group.slice(row.group.indexOf('=') + 1);
    return [el('a', { href: fresh({ tab: 'items', group: row.group }) }, safe(name)), short.has(name) ? el('small', { text: ` ${named(short.get(name))}` }) : null];
  };
  return el('section', { 'aria-labelledby': 'h-categories' }, el('div', { class: 'heading' }, el('h2', { id: 'h-categories', title: meaning(chosen), text: `By category: ${human(chosen)}` }),
    names.length > 1 ? el('label', {}, 'Metric ', el('select', { id: 'metric', onchange: (event) => go(address({ metric: event.target.value }), { replace: true }) },
      names.map((name) => el('option', { value: name, selected: name === chosen, text: human(name) })))) : null),
  [...fields].map(([field, members]) => table(`${chosen} by ${named(field)}`, metricHead(human(named(field)), scale), metricRows(members, scale, label), 'figures')));
}

function grouped(rows) {
  const found = new Map();
  for (const row of rows) {
    const field = row.group.split('=')[0];
    found.set(field, [...(found.get(field) || []), row]);
  }
  return found;
}

// Additional tables from the scorer.
function tables() {
  return index.tables.map((block, number) => el('section', { class: 'card', 'aria-labelledby': `h-table-${number}` }, el('h2', { id: `h-table-${number}` }, safe(block.title)),
    el('p', { class: 'lead' }, safe(block.lead)),
    table(block.title, block.columns.map((name, at) => el('th', { scope: 'col', class: at ? 'num' : '' }, safe(name))),
      block.rows.map((row) => el('tr', {}, row.map((cell, at) => (at ? el('td', { class: 'num' }, safe(cell)) : el('th', { scope: 'row' }, safe(cell)))))), 'wrapped')));
}

function summary() {
  return [missing(), headline(), overall(), el('div', { class: 'cards' }, curveCard(), all.length ? outcomes() : null, tables()), categories(),
    index.notes.length ? el('section', { 'aria-labelledby': 'h-notes' }, el('h2', { id: 'h-notes', text: 'Notes' }), listed(index.notes)) : null];
}

// A list of what cannot be shown, at the top of two tabs; the view of an item lists its own gaps.
const MISSING = { predictions: 'Raw outputs', questions: 'Questions', images: 'Images', programs: 'Programs' };
function missing() {
  if (!index.gaps.length) return null;
  return el('div', { class: 'notice warn', role: 'note' }, el('strong', { text: 'Not everything can be shown. ' }),
    el('ul', {}, index.gaps.map((gap) => el('li', {}, el('b', { text: `${MISSING[gap.what]}: ` }), safe(gap.why)))));
}
