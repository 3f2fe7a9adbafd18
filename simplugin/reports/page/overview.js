// Groups of runs beside each other: numbers and plots, for the runs that are looked at.
const metrics = columns.filter(isMetric);
const BLANK = "";
const SEED = /(^|\.)seed$/;

function interval({ low, high }, write) {
  if (low === undefined || low === null) return BLANK;
  return `${write(low)} \u2026 ${write(high)}`;
}

function numberCell(name, value, text, title = null) {
  const data = typeof value === "number" ? value : BLANK;
  return element("td", { class: "number", "data-name": name, "data-value": data, title }, text);
}

const SUMMARY_HEADS = [
  ["runs", "finite values"], ["missing", "runs without a finite value"], ["mean", "arithmetic"],
  ["95 % interval", "of the mean, Student\u2019s t"], ["geometric mean", "exp of the mean logarithm"],
  ["95 % interval", "of the geometric mean, Student\u2019s t of the logarithms"], ["min"], ["lower quartile", "linear between order statistics"],
  ["median"], ["upper quartile", "linear between order statistics"], ["max"],
];

function headRow(first, heads) {
  const cells = heads.map(([name, title = null]) => element("th", { scope: "col", class: "number", title }, name));
  return element("tr", {}, element("th", { scope: "col" }, first), ...cells);
}

function summaryCells(column, write, found) {
  const undefinedWhy = `not defined: ${found.notPositive} of ${counted(found.n, "value")} not above 0`;
  const geometric = found.geometric.mean === undefined
    ? numberCell("geometric", null, "not defined", undefinedWhy)
    : numberCell("geometric", found.geometric.mean, write(found.geometric.mean));
  const plain = (name) => numberCell(name, found[name], (Number.isInteger(found[name]) ? column.write : write)(found[name]));
  return [
    numberCell("n", found.n, withGroups(String(found.n))),
    numberCell("missing", found.missing, found.missing ? withGroups(String(found.missing)) : BLANK),
    numberCell("mean", found.arithmetic.mean, write(found.arithmetic.mean)),
    numberCell("mean-low", found.arithmetic.low, interval(found.arithmetic, write)),
    geometric,
    numberCell("geometric-low", found.geometric.low, interval(found.geometric, write)),
    ...["min", "q1", "median", "q3", "max"].map(plain),
  ];
}

function groupHead(group) {
  const mark = view.group ? element("i", { class: "mark", style: `--c: ${colourOf(group.number)}` }) : null;
  return element("th", { scope: "row" }, mark, group.name);
}

// Means of whole numbers have decimals, their extremes have not.
function finerWriter(column) {
  return writer([...(extent(column.values) ?? []), (extent(column.values)?.[1] ?? 0) / 3 || 0.5]);
}

function summaryBody(column, groups) {
  const finer = finerWriter(column);
  return groups.map((group) => element("tr", { "data-group": group.name }, groupHead(group), ...summaryCells(column, finer, summaryOf(column, group.rows))));
}

function drawSummary(column, groups) {
  place("summary-title").textContent = titled(column);
  const heads = headRow(view.group?.label ?? BLANK, SUMMARY_HEADS);
  place("summary").replaceChildren(element("thead", {}, heads), element("tbody", {}, ...summaryBody(column, groups)));
  const bad = groups.reduce((sum, group) => sum + valuesOf(column, group.rows).filter((value) => value <= 0).length, 0);
  place("summary-note").textContent = bad
    ? `Geometric means are defined for positive values only; ${counted(bad, "value")} of ${column.name} ${bad === 1 ? "is" : "are"} not above 0.`
    : BLANK;
}

function drawEverything(groups) {
  const details = place("every-metric");
  if (!details.open) return;
  const bodies = metrics.map((column) => element("tbody", {},
    element("tr", { class: "part" }, element("th", { colspan: SUMMARY_HEADS.length + 1, scope: "rowgroup" }, titled(column))),
    ...summaryBody(column, groups)));
  place("every-summary").replaceChildren(element("thead", {}, headRow(view.group?.label ?? BLANK, SUMMARY_HEADS)), ...bodies);
}

// As one writes a probability.
const probability = (value) => (value === null ? BLANK : value < 0.001 ? exponential(value, 1) : value.toFixed(3));

function drawComparison(column, groups) {
  const baseline = groups.find((group) => group.name === view.baseline);
  place("comparison-part").hidden = !baseline || groups.length < 2;
  if (!baseline) return;
  const words = { min: ["wins", "ties", "losses"], max: ["losses", "ties", "wins"] }[column.sense] ?? ["lower", "equal", "higher"];
  const counts = [[words[0], "below"], [words[1], "equal"], [words[2], "above"]];
  if (column.sense === "max") counts.reverse();
  const heads = [["pairs"], ["ratio", "geometric mean of the ratios of pairs"], ["95 % interval", "Student\u2019s t of the logarithms"],
    ...counts.map(([name, kind]) => [name, `pairs in which it is ${kind} the baseline`.replace("equal the", "equal to the")]),
    ["p", "Wilcoxon\u2019s signed-rank test of the pairs, corrected for the number of groups after Holm"], ["alone", "runs without a partner that has a value"]];
  const others = groups.filter((group) => group !== baseline);
  const keys = others.map((group) => pairingKeys(view.group, [group, baseline]));
  const comparisons = others.map((group, at) => paired(column, keys[at], group, baseline));
  const tests = holm(comparisons.map(({ test }) => test));
  const rows = others.map((group, at) => {
    const found = comparisons[at];
    const write = (value) => (value === null ? MISSING : value.toFixed(3));
    const ratio = found.ratio.mean === undefined
      ? numberCell("ratio", null, "not defined", `not defined: ${counted(found.notPositive, "pair")} with a value not above 0`)
      : numberCell("ratio", found.ratio.mean, write(found.ratio.mean));
    return element("tr", { "data-group": group.name }, groupHead(group), numberCell("pairs", found.pairs, withGroups(String(found.pairs))), ratio,
      numberCell("ratio-low", found.ratio.low, interval(found.ratio, write)),
      ...counts.map(([, kind]) => numberCell(kind, found[kind], withGroups(String(found[kind])))), numberCell("p", tests[at], probability(tests[at])), numberCell("alone", found.alone, found.alone ? String(found.alone) : BLANK));
  });
  place("comparison").replaceChildren(element("thead", {}, headRow(view.group.label, heads)), element("tbody", {}, ...rows));
  const common = [...new Set(keys.flat())].map((key) => key.label);
  const none = others.filter((group, at) => group.rows.length && baseline.rows.length && !comparisons[at].pairs);
  const lonely = none.length ? ` No run of ${none.map(({ name }) => name).join(", ")} has the same values as a run of ${view.baseline}: there are no pairs.` : BLANK;
  const by = common.length ? `Pairs have the same ${common.join(", ")}.` : "Pairs are the first runs of each group, the second, and so on.";
  const better = { min: " Less is better: below 1 a group does better than the baseline.", max: " More is better: above 1 a group does better than the baseline." };
  const test = " p is of Wilcoxon\u2019s signed-rank test, corrected for the number of groups after Holm.";
  place("comparison-note").textContent = by + lonely + (better[column.sense] ?? BLANK) + test;
  place("comparison-title").textContent = `${column.label}, relative to ${view.baseline}`;
}

function drawOverview() {
  const all = view.rows.length === everyRun.length;
  place("looked-at").textContent = all ? counted(everyRun.length, "run") : `${withGroups(String(view.rows.length))} of ${counted(everyRun.length, "run")}`;
  place("clear").hidden = !filters.size;
  const column = view.metric;
  if (!column) return;
  const groups = grouped(view.group, view.rows).filter((group) => group.rows.length);
  drawSummary(column, groups);
  drawEverything(groups);
  drawComparison(column, groups);
  boxPlot(place("boxes"), column, groups);
  ecdfPlot(place("ecdf"), column, groups);
  const profiles = profilesOf(column, groups);
  place("profile-part").hidden = !profiles;
  if (profiles) profilePlot(place("profile"), column, profiles);
  place("across-part").hidden = !view.across;
  if (view.across) parameterPlot(place("across-plot"), column, groups, view.across);
}

// Of nothing chosen the value is empty.
function options(select, names, chosen, none = null) {
  const named = names.map((name) => element("option", { value: name, selected: name === chosen }, name));
  const empty = none === null ? [] : [element("option", { value: BLANK, selected: !chosen }, none)];
  select.replaceChildren(...named, ...empty);
  select.closest("label").hidden = names.length === 0;
}

// Baselines and parameters depend on the group.
function chooseGroup(name) {
  view.group = columnsByName.get(name) ?? null;
  const names = view.group ? groupNames(view.group) : [];
  view.baseline = names[name === payload.group ? payload.baseline ?? 0 : 0] ?? null;
  options(place("baseline"), names.length > 1 ? names : [], view.baseline);
  const numbers = columns.filter((column) => column.role === "varied" && (column.numeric || column.amounts) && column !== view.group && groupNames(column).filter((each) => each !== NO_VALUE).length > 1);
  // Seeds stand for draws, not for a size: they are an axis only for who wants it.
  const sizes = numbers.filter((column) => !SEED.test(column.name));
  view.across = numbers.includes(view.across) ? view.across : sizes[0] ?? null;
  options(place("across"), numbers.map((column) => column.name), view.across?.name, "nothing");
}

function startOverview() {
  options(place("metric"), metrics.map((column) => column.name), payload.metric);
  view.metric = columnsByName.get(payload.metric) ?? null;
  place("overview").hidden = !metrics.length;
  options(place("group"), payload.groupings, payload.group, ALL_RUNS);
  chooseGroup(payload.group);
  const redraw = (change) => (event) => {
    change(event.target.value);
    drawOverview();
  };
  place("metric").addEventListener("change", redraw((name) => (view.metric = columnsByName.get(name))));
  place("group").addEventListener("change", redraw(chooseGroup));
  place("baseline").addEventListener("change", redraw((name) => (view.baseline = name)));
  place("across").addEventListener("change", redraw((name) => (view.across = columnsByName.get(name) ?? null)));
  place("every-metric").addEventListener("toggle", drawOverview);
  place("clear").addEventListener("click", clearFilters);
  listeners.push(drawOverview);
}
