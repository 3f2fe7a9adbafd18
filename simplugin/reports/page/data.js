// What the page is about: the JSON of the element "data", decoded.
const payload = JSON.parse(document.getElementById("data").textContent);

const SPECIAL = { nan: NaN, inf: Infinity, "-inf": -Infinity };

// A column: numbers with null where one is missing, or texts.
function decoded(column) {
  if (column.texts) {
    return { ...column, values: column.codes.map((code) => (code < 0 ? null : column.texts[code])) };
  }
  const special = column.special;
  if (special) for (const [at, name] of special) column.values[at] = SPECIAL[name];
  // Whole numbers that JavaScript's numbers only come near; statistics are made of those.
  column.long = new Map((column.long ?? []).map(([at, text]) => [at, BigInt(text)]));
  for (const [at, value] of column.long) column.values[at] = Number(value);
  return column;
}

// A value with all its digits.
const exactValue = (column, row) => column.long?.get(row) ?? column.values[row];
// For sorting, also of numbers of both kinds.
const bySize = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

const columns = payload.columns.map(decoded);
const columnsByName = new Map(columns.map((column) => [column.name, column]));
const runs = payload.runs;
const everyRun = Array.from({ length: runs.length }, (_, at) => at);

const isMetric = (column) => column.role === "metric" && column.numeric;
const titled = (column) => (column.unit ? `${column.label} [${column.unit}]` : column.label);

const ALL_RUNS = "all runs";
const NO_VALUE = "(none)";

// Names of groups in their order, numbers by size, texts as they first came, what has no value
// last; and the number of the group of each run.
const numberings = new Map();
function numbered(column) {
  if (!numberings.has(column)) {
    const values = everyRun.map((row) => exactValue(column, row));
    const found = [...new Set(values)].filter((value) => value !== null);
    if (column.numeric) found.sort((a, b) => Number.isNaN(a) - Number.isNaN(b) || bySize(a, b));
    const numbers = new Map(found.map((value, number) => [value, number]));
    const names = found.map(String);
    if (values.includes(null)) names.push(NO_VALUE);
    numberings.set(column, { names, numbers: values.map((value) => numbers.get(value) ?? found.length) });
  }
  return numberings.get(column);
}
const groupNames = (column) => numbered(column).names;

// Rows of each group, in the order of the groups; all rows in one group where there is no column.
function grouped(column, rows) {
  if (!column) return [{ name: ALL_RUNS, number: 0, rows }];
  const { names, numbers } = numbered(column);
  const groups = names.map((name, number) => ({ name, number, rows: [] }));
  for (const row of rows) groups[numbers[row]].rows.push(row);
  return groups;
}

// An element with attributes and children; texts are never read as HTML.
function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const place = (id) => document.getElementById(id);
