// A forest plot of the differences between two runs, with one line per reading.

const FOREST = 300;

// A scale with round ends, symmetric around zero, so that neither side looks larger than it is.
function forestScale(rows) {
  const most = Math.max(1, ...rows.flatMap((row) => READINGS.flatMap((name) => (row[name] ? row[name].ci.map(Math.abs) : []))));
  const reach = [2, 5, 10, 20, 30, 40, 50, 60, 80, 100].find((end) => end >= most) ?? 100;
  return { reach, at: (value) => FOREST / 2 + (value / reach) * (FOREST / 2 - 12) };
}

function forest(row, scale) {
  const drawing = svg('svg', { class: 'interval forest', viewBox: `0 0 ${FOREST} 30`, 'aria-hidden': 'true', focusable: 'false' },
    [-1, -0.5, 0.5, 1].map((part) => svg('line', { class: 'grid', x1: scale.at(part * scale.reach), x2: scale.at(part * scale.reach), y1: 0, y2: 30 })),
    svg('line', { class: 'zero', x1: scale.at(0), x2: scale.at(0), y1: 0, y2: 30 }));
  READINGS.forEach((name, number) => {
    const one = row[name];
    if (!one) return;
    const y = 9 + number * 12;
    drawing.append(svg('line', { class: `range ${name}`, x1: scale.at(one.ci[0]), x2: scale.at(one.ci[1]), y1: y, y2: y }));
    for (const end of one.ci) drawing.append(svg('line', { class: `range ${name}`, x1: scale.at(end), x2: scale.at(end), y1: y - 3, y2: y + 3 }));
    drawing.append(svg('circle', { class: `point ${name}`, cx: scale.at(one.value), cy: y, r: 4 }));
  });
  return drawing;
}

function forestAxis(scale) {
  const values = [-scale.reach, 0, scale.reach];
  return svg('svg', { class: 'interval axis', viewBox: `0 0 ${FOREST} 14`, 'aria-hidden': 'true', focusable: 'false' },
    values.map((value, number) => svg('text', { x: scale.at(value) + [-10, 0, 10][number], y: 11, 'text-anchor': ['start', 'middle', 'end'][number],
      text: value > 0 ? `+${value}` : fixed(value, 0) })));
}

const signed = (value) => (Math.abs(value) < 0.05 ? '0.0' : `${value > 0 ? '+' : '−'}${Math.abs(value).toFixed(1)}`);
const pValue = (value) => (value < 0.001 ? '<0.001' : value.toFixed(3));
