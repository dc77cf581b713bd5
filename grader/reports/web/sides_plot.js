// A forest plot of the differences between two runs, with one line per reading.

// The scale is symmetric around zero, so that neither side looks larger than it is.
function forestScale(rows) {
  const most = Math.max(1, ...rows.flatMap((row) => READINGS.flatMap((name) => (row[name] ? row[name].ci.map(Math.abs) : []))));
  const reach = scaleFor(0, most, 2).ticks.at(-1);
  return scaleFor(-reach, reach);
}

function forest(row, scale) {
  const drawing = gridLines(scale);
  drawing.append(svg('line', { class: 'zero', x1: scale.at(0), x2: scale.at(0), y1: 0, y2: 30 }));
  READINGS.forEach((name, number) => {
    if (row[name]) range(drawing, scale, name, 9 + number * 12, row[name].value, row[name].ci);
  });
  return drawing;
}

const pValue = (value) => (value < 0.001 ? '<0.001' : fixed(value, 3));
