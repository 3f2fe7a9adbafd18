// Curves and schedules of single runs.
const SETTLED = 0.02;
const FEW_POINTS = 20;
const SEPARATE_BARS = 2000;
// Height of a transfer, in processors.
const THIN = 0.35;
// Circle, square, triangle and diamond around their middle.
const MARKS = ["M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0", "M-3-3h6v6h-6z", "M0-4l4 7h-8z", "M0-4l4 4l-4 4l-4-4z"];
const markOf = (number, x, y) => drawn("path", { d: MARKS[number % MARKS.length], transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });

// A start that is far off runs out of the frame, or it flattens the rest.
function frameOf(figure) {
  const drawable = (values) => (figure.log ? values.filter((value) => value > 0) : values);
  const levels = drawable(figure.lines.map(([, level]) => level));
  const whole = extent(figure.series.flatMap(({ y }) => extent(drawable(y)) ?? []).concat(levels));
  if (!whole || figure.log || figure.whole || figure.bars || figure.names) return whole;
  const ends = extent(figure.series.flatMap(({ x }) => extent(x) ?? []));
  const settled = ends[0] + SETTLED * (ends[1] - ends[0]);
  const late = ({ x, y }) => y.filter((_, at) => x[at] >= settled || x.length < FEW_POINTS);
  const rest = extent(figure.series.flatMap((each) => extent(late(each)) ?? []).concat(levels));
  return rest && rest[1] > rest[0] && whole[1] - whole[0] > 3 * (rest[1] - rest[0]) ? rest : whole;
}

function curvePath({ x, y }, across, up, bars) {
  let path = "";
  let pen = false;
  y.forEach((value, at) => {
    const drawable = value !== null && Number.isFinite(value) && !(up.log && value <= 0);
    if (drawable && bars) path += `${pen ? "L" : "M"}${across(x[at]).toFixed(1)},${up(value).toFixed(1)}H${across(x[at + 1]).toFixed(1)}`;
    else if (drawable) path += `${pen ? "L" : "M"}${across(x[at]).toFixed(1)},${up(value).toFixed(1)}`;
    pen = drawable;
  });
  return path;
}

function drawCurves(target, { title, panels }) {
  target.replaceChildren(...panels.flatMap((figure) => onePanel(roomOf(target), figure, title, panels.length > 1 ? 150 : 280)));
}

function onePanel(width, figure, title, usual) {
  const range = frameOf(figure);
  const ends = extent(figure.series.flatMap(({ x }) => extent(x) ?? []));
  if (!range || !ends) return [nothing("No values.")];
  const height = figure.names || figure.square ? 380 : usual;
  const { log } = figure;
  const up = scaled(...(figure.bars ? [Math.min(0, range[0]), range[1]] : range), height - 44, 26, { log, count: height / 56, whole: figure.wholeUp });
  const left = widthOfTicks(up);
  const across = spanned(scaled(...ends, left, width - RIGHT, { log: figure.logAcross, count: (width - left) / 90, pad: figure.names || figure.series.some(({ dots }) => dots) ? 0.08 : 0.01, whole: figure.wholeAcross }), left, width - RIGHT);
  const svg = sheet(width, height, title);
  const clip = `clip-${(drawCurves.count = (drawCurves.count ?? 0) + 1)}`;
  svg.append(drawn("clipPath", { id: clip }, drawn("rect", { x: left, y: 20, width: width - RIGHT - left, height: height - 62 })));
  upAxis(svg, up, left, width - RIGHT, figure.up);
  acrossAxis(svg, across, 26, height - 44, figure.across);
  const inside = drawn("g", { "clip-path": `url(#${clip})` });
  figure.lines.forEach(([name, level], at) => inside.append(drawn("line", { x1: left, x2: width - RIGHT, y1: up(level), y2: up(level), class: "level", "stroke-dasharray": DASHES[1 + (at % 4)] }, drawn("title", {}, name))));
  const keys = figure.series.map(({ name, dots }, at) => ({ name, dots, number: figure.styles[at][0], dash: figure.styles[at][1] }));
  // Two points are no trend.
  const joined = figure.bars || figure.series.some(({ x }) => x.length > 2);
  // Names keep off all points.
  const taken = figure.series.filter(({ names }) => names).flatMap(({ x, y }) => x.map((place, at) => [across(place) - 4, up(y[at]) - 4, across(place) + 4, up(y[at]) + 4]));
  figure.series.forEach((each, at) => inside.append(oneSeries(each, keys[at], across, up, figure.bars, joined, taken)));
  svg.append(inside);
  return [svg, keyOf(keys, figure.lines)];
}

function oneSeries(each, { name, number, dash }, across, up, bars, joined, taken) {
  const colour = colourOf(number);
  const finite = each.y.map((value, at) => at).filter((at) => Number.isFinite(each.y[at]));
  if (each.dots) return drawn("g", { fill: colour }, drawn("title", {}, name), ...finite.map((at) => markOf(number, across(each.x[at]), up(each.y[at]))));
  const line = each.names || !joined || (finite.length === 1 && !bars) ? [] : [drawn("path", { d: curvePath(each, across, up, bars), class: "curve", stroke: colour, "stroke-dasharray": dashOf(dash) }, drawn("title", {}, name))];
  const points = drawn("g", { fill: colour }, ...line);
  if (bars || finite.length >= FEW_POINTS || (line.length && finite.length === 2)) return points;
  for (const at of finite) {
    const [x, y] = [across(each.x[at]), up(each.y[at])];
    points.append(drawn("circle", { cx: x, cy: y, r: each.names || !line.length ? 3.5 : 2.5 }, drawn("title", {}, each.names?.[at] ?? name)));
    if (each.names) points.append(...[pointName(each.names[at], x, y, across.span, taken)].filter(Boolean));
  }
  return points;
}

// A name beside, above or below its point, where it covers no other; else only where one points at it.
function pointName(name, x, y, [start, end], taken) {
  const wide = widthOf(name);
  const corners = [[x + 7, y - 7], [x - 7 - wide, y - 7], [x - wide / 2, y - 19], [x - wide / 2, y + 5]];
  const free = corners.map(([left, top]) => [left, top, left + wide, top + FONT + 2])
    .find((box) => box[0] >= start && box[2] <= end && !taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]));
  if (!free) return null;
  taken.push(free);
  return drawn("text", { x: free[0], y: free[1] + FONT - 1, class: "tick" }, name);
}

function keyOf(keys, lines) {
  const sample = (attributes) => drawn("svg", { width: 26, height: 10, "aria-hidden": "true" }, drawn("line", { x1: 1, x2: 25, y1: 5, y2: 5, ...attributes }));
  const dot = (number) => drawn("svg", { width: 26, height: 10, "aria-hidden": "true" }, drawn("g", { fill: colourOf(number) }, markOf(number, 13, 5)));
  const curves = keys.map(({ name, dots, number, dash }) => element("li", {}, dots ? dot(number) : sample({ class: "curve", stroke: colourOf(number), "stroke-dasharray": dashOf(dash) }), name));
  const levels = lines.map(([name, level], at) => element("li", {}, sample({ class: "level", "stroke-dasharray": DASHES[1 + (at % 4)] }), `${name} (${shown(level)})`));
  return element("ul", { class: "legend" }, ...(keys.length + lines.length > 1 ? [...curves, ...levels] : []));
}

// Processors by cluster, from top to bottom; time to the right; a colour for each group.
function drawSchedule(target, chart) {
  const width = roomOf(target);
  const left = Math.min(0.3 * width, Math.max(...chart.clusters.map(([name]) => widthOf(name)), 0) + 16);
  const total = chart.clusters.reduce((sum, [, size]) => sum + size, 0);
  const lane = Math.min(22, Math.max(620 / Math.max(total, 1), 0.8));
  const gap = chart.clusters.length > 40 ? 1 : 6;
  const thin = new Set(chart.transfers);
  const [tops, ends] = [[], []];
  let height = 8;
  for (const [, size] of chart.clusters) {
    for (let each = 0; each < size; each += 1) {
      tops.push(height);
      ends.push((height += lane * (thin.has(tops.length - 1) ? THIN : 1)));
    }
    height += gap;
  }
  const svg = sheet(width, height + 46, `Gantt chart: ${chart.title}`);
  const end = Math.max(extent(chart.finish)?.[1] ?? 0, ...chart.dates.map(([, date]) => date)) || 1;
  const across = spanned(scaled(0, end, left, width - RIGHT, { count: (width - left) / 90, pad: 0 }), left, width - RIGHT);
  acrossAxis(svg, across, 8, height, "time [s]");
  nameClusters(svg, chart, tops, ends, thin, left, width);
  svg.append(chart.group.length <= SEPARATE_BARS ? separateBars(chart, across, tops, ends) : joinedBars(chart, across, tops, ends));
  for (const [name, date] of chart.dates) svg.append(drawn("line", { x1: across(date), x2: across(date), y1: 4, y2: height, class: "level", "stroke-dasharray": DASHES[1] }, drawn("title", {}, `${name}: ${exact(date)} s`)));
  const swatch = (number) => element("i", { class: "mark", style: `--c: ${colourOf(number)}` });
  const used = new Set(chart.group);
  const names = chart.groups.map((name, number) => [name, number]).filter(([name, number]) => name && used.has(number)).slice(0, 40);
  const key = element("ul", { class: "legend" }, ...names.map(([name, number]) => element("li", {}, swatch(number), name)));
  const dates = chart.dates.map(([name, date]) => `${name} ${shown(date)} s`).join(", ");
  return target.replaceChildren(svg, key, element("p", { class: "quiet" }, [chart.facts, dates].filter(Boolean).join(" \u00b7 ")));
}

function nameClusters(svg, chart, tops, ends, thin, left, width) {
  let first = 0;
  let free = -Infinity;
  chart.clusters.forEach(([name, size], at) => {
    const [top, tall] = [tops[first], ends[first + size - 1] - tops[first]];
    let counts = 0;
    for (let each = first; each < first + size; each += 1) counts += Number(!thin.has(each));
    if (at % 2 === 0) svg.append(drawn("rect", { x: left, y: top, width: width - RIGHT - left, height: tall, class: "band" }));
    const middle = top + tall / 2 + 4;
    if (middle - free >= FONT) {
      svg.append(drawn("text", { x: left - 8, y: middle, "text-anchor": "end" }, drawn("title", {}, `${name}: ${counted(counts, "processor")}`), cut(name, left - 10)));
      free = middle;
    }
    first += size;
  });
}

function separateBars(chart, across, tops, ends) {
  const all = drawn("g", { class: "bars" });
  chart.group.forEach((group, at) => {
    const [x, top, tall] = [across(chart.start[at]), tops[chart.first[at]], tallOf(chart, tops, ends, at)];
    const wide = Math.max(across(chart.finish[at]) - x, 0.6);
    const label = chart.labels[chart.label[at]];
    const words = [label, chart.groups[group], `${exact(chart.start[at])} to ${exact(chart.finish[at])} s`].filter(Boolean).join("\n");
    all.append(drawn("rect", { x, y: top, width: wide, height: tall, fill: colourOf(group) }, drawn("title", {}, words)));
    if (label && tall >= FONT - 1 && wide > widthOf(label)) all.append(drawn("text", { x: x + wide / 2, y: top + tall / 2 + 4, "text-anchor": "middle", style: `fill: var(--on${group % COLOURS})` }, label));
  });
  return all;
}

const tallOf = (chart, tops, ends, at) => ends[chart.first[at] + chart.count[at] - 1] - tops[chart.first[at]];

function joinedBars(chart, across, tops, ends) {
  const paths = new Map();
  chart.group.forEach((group, at) => {
    const [x, until] = [across(chart.start[at]), across(chart.finish[at])];
    const [top, tall] = [tops[chart.first[at]], tallOf(chart, tops, ends, at)];
    const path = `M${x.toFixed(1)},${top.toFixed(1)}H${Math.max(until, x + 0.4).toFixed(1)}v${tall.toFixed(1)}H${x.toFixed(1)}z`;
    paths.set(group, (paths.get(group) ?? "") + path);
  });
  return drawn("g", {}, ...[...paths].map(([group, path]) => drawn("path", { d: path, fill: colourOf(group) }, drawn("title", {}, chart.groups[group]))));
}

// Sensitivity indices: dots with their intervals, a row for each parameter of each group.
function drawIndices(target, { title, columns: heads, lines }) {
  const first = heads.findIndex(({ name }) => name === "parameter") + 1;
  const indices = heads.slice(first).filter((_, at) => at % 3 === 0).map(({ name }, number) => ({ name, number }));
  const names = lines.map((line) => line.slice(0, first).join(", "));
  const width = roomOf(target);
  const room = 0.4 * width;
  const left = Math.min(room, Math.max(...names.map(widthOf))) + 14;
  const [step, lane] = [10, 10 * indices.length + 14];
  const bottom = lines.length * lane + 6;
  const svg = sheet(width, bottom + 48, title);
  const range = extent([0, ...lines.flatMap((line) => line.slice(first))]);
  const scale = spanned(scaled(...range, left, width - RIGHT, { count: (width - left) / 90 }), left, width - RIGHT);
  const { unit } = heads.at(-1);
  acrossAxis(svg, scale, 4, bottom, unit ? `${title} [${unit}]` : title);
  lines.forEach((line, at) => {
    const middle = 6 + (at + 0.5) * lane;
    svg.append(drawn("text", { x: left - 10, y: middle + 4, "text-anchor": "end" }, drawn("title", {}, names[at]), cut(names[at], room)));
    for (const { name, number } of indices) {
      const [value, low, high] = line.slice(first + 3 * number);
      const y = middle + (number - (indices.length - 1) / 2) * step;
      svg.append(drawn("line", { x1: scale(low), x2: scale(high), y1: y, y2: y, class: "curve", stroke: colourOf(number), "stroke-dasharray": dashOf(number) }));
      svg.append(drawn("circle", { cx: scale(value), cy: y, r: 3.5, fill: colourOf(number) }, drawn("title", {}, `${name} ${exact(value)}`)));
    }
  });
  return target.replaceChildren(svg, legend(indices));
}
