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
  return column;
}

const columns = payload.columns.map(decoded);
const columnsByName = new Map(columns.map((column) => [column.name, column]));
const runs = payload.runs;
const everyRun = Array.from({ length: runs.length }, (_, at) => at);

const isMetric = (column) => column.role === "metric" && column.numeric;
const titled = (column) => (column.unit ? `${column.name} [${column.unit}]` : column.name);

// Names of groups in their order: numbers by size, texts as they first came.
function groupNames(column) {
  const found = [...new Set(column.values)].filter((value) => value !== null);
  if (column.numeric) found.sort((a, b) => a - b);
  return found;
}

// Rows of each group, in the order of the groups; all rows in one group where there is no column.
function grouped(column, rows) {
  if (!column) return [{ name: "all runs", number: 0, rows }];
  const groups = groupNames(column).map((name, number) => ({ name: String(name), number, rows: [] }));
  const byName = new Map(groupNames(column).map((name, number) => [name, groups[number]]));
  for (const row of rows) {
    const group = byName.get(column.values[row]);
    if (group) group.rows.push(row);
  }
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
