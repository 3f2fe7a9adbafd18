// Which runs are looked at: a condition for each column, as the user types it.
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const COMPARISONS = {
  ">": (value, limit) => value > limit,
  ">=": (value, limit) => value >= limit,
  "<": (value, limit) => value < limit,
  "<=": (value, limit) => value <= limit,
  "=": (value, limit) => value === limit,
  "!=": (value, limit) => value !== limit,
};
const NUMBERS_HINT = ">3, <=1e6, 1..2, =5, !=5, or several: >3 <9; none for missing values";
const TEXTS_HINT = "a part of the text; =text for all of it, !text for those without it";

// A condition on one number; undefined where the words cannot be read.
function numberTerm(term) {
  if (term === "none") return (value) => !present(value);
  const range = term.split("..");
  if (range.length === 2 && range.every((end) => NUMBER.test(end))) {
    const [low, high] = range.map(Number);
    return (value) => present(value) && value >= low && value <= high;
  }
  const [, sign, rest] = term.match(/^(>=|<=|!=|[<>=]?)(.*)$/);
  if (!NUMBER.test(rest)) return undefined;
  const compare = COMPARISONS[sign || "="];
  return (value) => present(value) && compare(value, Number(rest));
}

function condition(column, text) {
  const words = text.trim();
  if (!column.numeric) {
    const wanted = words.replace(/^[=!]/, "").toLowerCase();
    const low = (value) => (value === null ? "" : String(value).toLowerCase());
    if (words.startsWith("=")) return (value) => low(value) === wanted;
    if (words.startsWith("!")) return (value) => !low(value).includes(wanted);
    return (value) => low(value).includes(wanted);
  }
  const terms = words.replace(/([<>=]) +/g, "$1").split(/[\s,]+/).map(numberTerm);
  if (terms.includes(undefined)) return undefined;
  return (value) => terms.every((holds) => holds(value));
}

const view = { group: null, metric: null, baseline: null, across: null, rows: everyRun };
const filters = new Map();
const listeners = [];

function changed() {
  for (const listener of listeners) listener();
}

// Set or clear a filter; returns whether it could be read. What cannot be read filters nothing.
function setFilter(name, text) {
  const holds = text.trim() ? condition(columnsByName.get(name), text) : undefined;
  if (holds) filters.set(name, { text, holds });
  else filters.delete(name);
  view.rows = everyRun;
  for (const [column, filter] of filters) {
    const values = columnsByName.get(column).values;
    view.rows = view.rows.filter((row) => filter.holds(values[row]));
  }
  changed();
  return Boolean(holds) || !text.trim();
}

function clearFilters() {
  filters.clear();
  view.rows = everyRun;
  changed();
}
