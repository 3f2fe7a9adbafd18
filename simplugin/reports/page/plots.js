// Scales, axes, and the plots of groups of runs.
const FONT = 12;
// Room for half of the last tick's number.
const RIGHT = 22;
const COLOURS = payload.colours;
const DASHES = ["", "7 3", "2 3", "8 3 2 3", "12 4"];
const MOST_DOTS = 200;
const MOST_STEPS = 1000;
const MOST_OUTLIERS = 300;
const MOST_MARKS = 60;
// Fewer values have dots only.
const LEAST_BOXED = 5;

const colourOf = (number) => `var(--c${number % COLOURS})`;
const dashOf = (number) => DASHES[number % DASHES.length];

// Width of a text as it is drawn [px]; letters of other scripts are wide.
const ruler = document.createElement("canvas").getContext("2d");
ruler.font = `${FONT}px ${getComputedStyle(document.body).fontFamily}`;
const widthOf = (text) => ruler.measureText(text).width;

// As much of a text as there is room for, its end above all: many names differ there only.
function cut(text, room) {
  if (widthOf(text) <= room) return text;
  const letters = [...text];
  const keep = (count) => {
    const first = Math.ceil(count / 3);
    return `${letters.slice(0, first).join("")}\u2026${letters.slice(letters.length - count + first).join("")}`;
  };
  let [fits, long] = [0, letters.length];
  while (long - fits > 1) {
    const middle = (fits + long) >> 1;
    if (widthOf(keep(middle)) <= room) fits = middle;
    else long = middle;
  }
  return keep(fits);
}

// What is cut is told where one points at it.
const cutNamed = (text, room) => (widthOf(text) > room ? [drawn("title", {}, text), cut(text, room)] : [text]);

function niceTicks(low, high, count, whole = false) {
  const rough = Math.max((high - low) / Math.max(count, 2.5), whole ? 1 : 0);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each >= rough * 0.999 && !(whole && each % 1));
  const ticks = [];
  for (let at = Math.ceil(low / step); at * step <= high * (1 + 1e-12); at += 1) ticks.push(at * step);
  return ticks;
}

function logTicks(low, high, count) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  if (last - first < 1) return niceTicks(low, high, 4).filter((tick) => tick > 0);
  const every = Math.ceil((last - first) / (1.6 * count));
  return Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at)).filter((_, at) => at % every === 0);
}

// A scale from values to pixels, with ticks and texts.
function scaled(low, high, start, end, { log = false, count = 5, pad = 0.04, whole = false } = {}) {
  const to = log ? Math.log10 : (value) => value;
  let [from, until] = [to(low), to(high)];
  if (!(until > from)) [from, until] = [from - (Math.abs(from) * 0.05 || 0.5), until + (Math.abs(until) * 0.05 || 0.5)];
  const margin = pad * (until - from);
  [from, until] = [from - margin, until + margin];
  const scale = (value) => start + ((to(value) - from) / (until - from)) * (end - start);
  const back = log ? (value) => 10 ** value : (value) => value;
  scale.ticks = log ? logTicks(back(from), back(until), count) : niceTicks(from, until, count, whole);
  const long = log && scale.ticks.at(-1) >= 1e7;
  scale.text = long ? (value) => exponential(value, scale.ticks.some((tick) => Math.log10(tick) % 1) ? 1 : 0) : log ? shown : tickWriter(scale.ticks);
  scale.log = log;
  return scale;
}

// Ticks have as many decimals as their distance needs.
function tickWriter(ticks) {
  const most = Math.max(...ticks.map(Math.abs), 0);
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : most || 1;
  if (most >= 1e7 || (most < 1e-3 && most > 0)) {
    return (value) => (Math.abs(value) < step / 2 ? "0" : exponential(Number(value.toPrecision(6)), Math.max(0, Math.floor(Math.log10(most)) - Math.floor(Math.log10(step) + 1e-9))));
  }
  const first = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  // Of steps of 2.5 one more.
  const decimals = Math.abs(step * 10 ** first - Math.round(step * 10 ** first)) > 1e-6 ? first + 1 : first;
  return (value) => withGroups((Math.abs(value) < step / 2 ? 0 : value).toFixed(decimals));
}

// As the figures for papers have it: logarithmic where positive values span two decades.
const wantsLog = (low, high) => low > 0 && high / low > 100;

// As the figures have it too: of sizes that grow by one ratio, four or more, or three over two decades.
function grows(values) {
  const sizes = [...new Set(values)].sort(bySize);
  if (sizes.length < 3 || sizes[0] <= 0 || (sizes.length < 4 && sizes.at(-1) < 100 * sizes[0])) return false;
  const [low, high] = extent(sizes.slice(1).map((size, at) => size / sizes[at]));
  return low > 1.2 && high - low < 0.05 * low;
}

function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) if (value !== null && Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low <= high ? [low, high] : null;
}

// An empty drawing with the name that screen readers tell.
function sheet(width, height, name) {
  return drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": name });
}

function acrossAxis(svg, scale, top, bottom, label) {
  for (const tick of scale.ticks) {
    const x = scale(tick);
    svg.append(drawn("line", { x1: x, x2: x, y1: top, y2: bottom, class: "grid" }));
    svg.append(drawn("text", { x, y: bottom + FONT + 5, "text-anchor": "middle", class: "tick" }, scale.text(tick)));
  }
  const words = scale.log ? `${label}, log scale` : label;
  const [start, end] = scale.span;
  svg.append(drawn("text", { x: (start + end) / 2, y: bottom + 2 * FONT + 12, "text-anchor": "middle" }, ...cutNamed(words, end - start)));
}

function upAxis(svg, scale, left, right, label) {
  for (const tick of scale.ticks) {
    const y = scale(tick);
    svg.append(drawn("line", { x1: left, x2: right, y1: y, y2: y, class: "grid" }));
    svg.append(drawn("text", { x: left - 6, y: y + 4, "text-anchor": "end", class: "tick" }, scale.text(tick)));
  }
  const words = scale.log ? `${label}, log scale` : label;
  svg.append(drawn("text", { x: 2, y: FONT }, ...cutNamed(words, right - 2)));
}

function widthOfTicks(scale) {
  return Math.max(...scale.ticks.map((tick) => widthOf(scale.text(tick))), 6) + 12;
}

function spanned(scale, start, end) {
  scale.span = [start, end];
  return scale;
}

const roomOf = (target) => Math.max(260, target.clientWidth || 600);
const nothing = (words) => element("p", { class: "quiet" }, words);

// Boxes beside each other: quartiles, median, whiskers to 1.5 interquartile ranges, dots.
function boxPlot(target, column, groups) {
  const kept = groups.map((group) => ({ ...group, values: valuesOf(column, group.rows) })).filter((group) => group.values.length);
  const range = extent(kept.flatMap((group) => extent(group.values)));
  if (!range) return target.replaceChildren(nothing("No values."));
  const width = roomOf(target);
  const room = 0.3 * width;
  const left = Math.min(room, Math.max(...kept.map((group) => widthOf(group.name)))) + 14;
  const lane = kept.length > 12 ? 26 : 36;
  const bottom = kept.length * lane + 6;
  const svg = sheet(width, bottom + 48, `box plot of ${column.name} by group`);
  const scale = spanned(scaled(...range, left, width - RIGHT, { log: wantsLog(...range), count: (width - left) / 90 }), left, width - RIGHT);
  acrossAxis(svg, scale, 4, bottom, titled(column));
  const everyDot = kept.reduce((sum, group) => sum + group.values.length, 0) < MOST_DOTS;
  kept.forEach((group, at) => {
    const middle = 6 + (at + 0.5) * lane;
    svg.append(drawn("text", { x: left - 10, y: middle + 4, "text-anchor": "end" }, drawn("title", {}, group.name), cut(group.name, room)));
    svg.append(boxOf(Float64Array.from(group.values).sort(), scale, middle, lane * 0.27, colourOf(group.number), everyDot));
    if (group.values.length >= LEAST_BOXED) svg.append(meanMark(group.values, scale, middle));
  });
  return target.replaceChildren(svg);
}

// A diamond; the mean of what is drawn on a scale of logarithms is the geometric one.
function meanMark(values, scale, middle) {
  const mean = (scale.log ? geometricOf(values) : meanOf(values)).mean;
  const at = scale(mean);
  const words = `${scale.log ? "geometric mean" : "mean"} ${exact(mean)}`;
  return drawn("path", { d: `M${at - 5},${middle}l5,-5l5,5l-5,5z`, class: "mean", "data-value": mean }, drawn("title", {}, words));
}

function boxOf(sorted, scale, middle, half, colour, everyDot) {
  const [q1, median, q3] = [0.25, 0.5, 0.75].map((part) => quantile(sorted, part));
  const reach = 1.5 * (q3 - q1);
  const inside = sorted.filter((value) => value >= q1 - reach && value <= q3 + reach);
  const [low, high] = [Math.min(inside[0], q1), Math.max(inside[inside.length - 1], q3)];
  const line = (x1, x2, y1, y2, kind) => drawn("line", { x1, x2, y1, y2, class: kind });
  const box = drawn("g", { style: `--c: ${colour}`, class: "box" });
  if (sorted.length >= LEAST_BOXED) {
    box.append(line(scale(low), scale(q1), middle, middle), line(scale(q3), scale(high), middle, middle));
    for (const end of [low, high]) box.append(line(scale(end), scale(end), middle - half / 2, middle + half / 2));
    box.append(drawn("rect", { x: scale(q1), y: middle - half, width: Math.max(scale(q3) - scale(q1), 0.5), height: 2 * half, rx: 1.5 }));
    box.append(line(scale(median), scale(median), middle - half, middle + half, "median"));
  }
  const dots = everyDot || sorted.length < LEAST_BOXED ? sorted : sorted.filter((value) => value < low || value > high);
  const count = Math.min(dots.length, MOST_OUTLIERS);
  for (let dot = 0; dot < count; dot += 1) {
    const value = dots[count > 1 ? Math.round((dot * (dots.length - 1)) / (count - 1)) : 0];
    const shift = everyDot && sorted.length > 1 ? (((dot * 0.618) % 1) - 0.5) * half * 1.5 : 0;
    box.append(drawn("circle", { cx: scale(value), cy: middle + shift, r: 2.2 }, drawn("title", {}, exact(value))));
  }
  return box;
}

// What part of the runs that were tried has at most a value; those without one never get there.
function ecdfPlot(target, column, groups) {
  const kept = groups.map((group) => ({ ...group, sorted: Float64Array.from(group.rows.map((row) => column.values[row]).filter(present)).sort() })).filter((group) => group.sorted.length);
  const range = extent(kept.flatMap((group) => extent(group.sorted) ?? []));
  if (!range) return target.replaceChildren(nothing("No values."));
  const [width, height, left] = [roomOf(target), 280, 40];
  const svg = sheet(width, height, `distribution functions of ${column.name} by group`);
  const scale = spanned(scaled(...range, left, width - RIGHT, { log: wantsLog(...range), count: (width - left) / 90 }), left, width - RIGHT);
  const up = scaled(0, 1, height - 44, 26, { count: 5, pad: 0 });
  upAxis(svg, up, left, width - RIGHT, "part of the runs with at most");
  acrossAxis(svg, scale, 26, height - 44, titled(column));
  for (const { sorted, number, name, rows } of kept) {
    const below = sorted.findIndex((value) => value > -Infinity);
    let path = `M${left},${up(Math.max(below, 0) / rows.length).toFixed(1)}`;
    const count = Math.min(sorted.length, MOST_STEPS);
    for (let step = 1; step <= count; step += 1) {
      // Of very many steps each that is drawn is exact.
      const upTo = Math.ceil((step * sorted.length) / count);
      const value = sorted[upTo - 1];
      if (Number.isFinite(value)) path += `H${scale(value).toFixed(1)}V${up(upTo / rows.length).toFixed(1)}`;
    }
    path += `H${width - RIGHT}`;
    svg.append(drawn("path", { d: path, class: "curve", stroke: colourOf(number), "stroke-dasharray": dashOf(number) }, drawn("title", {}, name)));
  }
  return target.replaceChildren(svg, legend(kept));
}

// Where profiles are that far apart they are drawn on a scale of logarithms.
const FAR = 10;

// On what part of the instances a group is within a factor of the best group.
function profilePlot(target, column, found) {
  const [width, height, left] = [roomOf(target), 280, 40];
  const farthest = extent(found.groups.flatMap(({ ratios }) => extent(ratios) ?? []))[1];
  const log = farthest > FAR;
  const end = Math.max(log ? 1.05 * farthest : 1 + 1.05 * (farthest - 1), 1.1);
  const svg = sheet(width, height, `performance profiles of ${column.name} by group`);
  const scale = spanned(scaled(1, end, left, width - RIGHT, { log, count: (width - left) / 90, pad: 0 }), left, width - RIGHT);
  const up = scaled(0, 1, height - 44, 26, { count: 5, pad: 0 });
  upAxis(svg, up, left, width - RIGHT, `part of ${found.n === found.tried ? found.n : `${found.n} of ${found.tried}`} instances`);
  acrossAxis(svg, scale, 26, height - 44, `factor to the best ${column.name}`);
  for (const { ratios, number, name } of found.groups) {
    const finite = ratios.filter(Number.isFinite);
    const count = Math.min(finite.length, MOST_STEPS);
    let path = `M${left},${up(0)}`;
    for (let step = 1; step <= count; step += 1) {
      const upTo = Math.ceil((step * finite.length) / count);
      path += `H${scale(finite[upTo - 1]).toFixed(1)}V${up(upTo / found.n).toFixed(1)}`;
    }
    path += `H${width - RIGHT}`;
    svg.append(drawn("path", { d: path, class: "curve", stroke: colourOf(number), "stroke-dasharray": dashOf(number) }, drawn("title", {}, name)));
  }
  return target.replaceChildren(svg, legend(found.groups));
}

function legend(groups) {
  if (groups.length < 2) return element("span");
  const sample = ({ number }) => drawn("svg", { width: 26, height: 10, "aria-hidden": "true" },
    drawn("line", { x1: 1, x2: 25, y1: 5, y2: 5, class: "curve", stroke: colourOf(number), "stroke-dasharray": dashOf(number) }));
  return element("ul", { class: "legend" }, ...groups.map((group) => element("li", {}, sample(group), group.name)));
}

// Means and their intervals over a number that is varied.
function parameterPlot(target, column, groups, over) {
  const points = groups.map((group) => ({ ...group, points: grouped(over, group.rows).map(({ name, rows }) => ({ x: over.amounts ? over.amounts[over.texts.indexOf(name)] : Number(name), ...meanOf(valuesOf(column, rows)) })).filter(({ x, mean }) => Number.isFinite(x) && Number.isFinite(mean)) })).filter((group) => group.points.length);
  const all = points.flatMap((group) => group.points);
  const range = extent(all.flatMap(({ mean, low, high }) => [mean, low, high]));
  if (!range) return target.replaceChildren(nothing("No values."));
  const [width, height] = [roomOf(target), 300];
  const up = scaled(...range, height - 44, 26, { log: wantsLog(...range), count: 5 });
  const left = widthOfTicks(up);
  const ends = extent(all.map(({ x }) => x));
  const places = all.map(({ x }) => x);
  const scale = spanned(scaled(...ends, left, width - RIGHT, { log: wantsLog(...ends) || grows(places), count: (width - left) / 90, whole: places.every(Number.isInteger) }), left, width - RIGHT);
  // Two points are no trend.
  const joined = new Set(places).size > 2;
  const svg = sheet(width, height, `mean ${column.name} over ${over.name}`);
  upAxis(svg, up, left, width - RIGHT, `mean ${titled(column)}`);
  acrossAxis(svg, scale, 26, height - 44, titled({ ...over, unit: over.amountUnit ?? over.unit }));
  for (const { number, name, points: own } of points) {
    const at = ({ x }) => scale(x).toFixed(1);
    const mark = drawn("g", { stroke: colourOf(number), fill: colourOf(number) }, drawn("title", {}, name));
    if (joined) mark.append(drawn("path", { d: `M${own.map((point) => `${at(point)},${up(point.mean).toFixed(1)}`).join("L")}`, class: "curve", "stroke-dasharray": dashOf(number) }));
    for (const point of own.length > MOST_MARKS ? [] : own) {
      if (point.low !== null && !(up.log && point.low <= 0)) mark.append(drawn("line", { x1: at(point), x2: at(point), y1: up(point.low), y2: up(point.high), class: "interval" }));
      mark.append(drawn("circle", { cx: at(point), cy: up(point.mean), r: 3 }, drawn("title", {}, `${name}: ${exact(point.mean)} at ${exact(point.x)}`)));
    }
    svg.append(mark);
  }
  return target.replaceChildren(svg, legend(points));
}
