// Which runs are looked at: a condition for each column, as the user types it.
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+|infinity)(e[+-]?\d+)?$/i;
const WHOLE = /^[+-]?\d+$/;
const NUMBERS_HINT = ">3, <=1e6, 1..2, =5, !=5, or several: >3 <9; none for missing values";
const TEXTS_HINT = "a part of the text; =text for all of it, !text for those without it";
const FAULTS = {
  unreadable: `cannot be read, and filters nothing; write ${NUMBERS_HINT}`,
  contradiction: "no number is all of this",
};
// Part of a number within which another may be written alike.
const ALIKE = 1e-2;
const CLEARLY_ANOTHER = 1e-4;

// Numbers as this page writes them, with its signs, are read as well.
const unwritten = (text) => text.replace(/[\u202f\u00a0\u2009]/g, "").replaceAll("\u2212", "-").replaceAll("\u221e", "Infinity");

// Whole numbers have all their digits, whatever their length.
function numberOf(text) {
  const value = Number(text.replace(/infinity/i, "Infinity"));
  return WHOLE.test(text) && !Number.isSafeInteger(value) ? BigInt(text.replace("+", "")) : value;
}

// Two numbers are equal where the table shows them alike.
function equalTo(column, limit) {
  const near = ALIKE * Math.abs(Number(limit));
  return (value) => {
    if (value == limit) return true; // A BigInt may equal a number.
    if (typeof value !== "number" || !(Math.abs(value - Number(limit)) <= near)) return false;
    return Number(unwritten(column.write(value))) === limit;
  };
}

// A condition on one number, and between what it lies; undefined where the words cannot be read.
function numberTerm(column, term) {
  if (term.toLowerCase() === "none") return { none: true, holds: (value) => !present(value) };
  const range = term.split("..");
  if (range.length === 2 && range.every((end) => NUMBER.test(end))) {
    const [low, high] = range.map(numberOf);
    return { low, high, holds: (value) => present(value) && value >= low && value <= high };
  }
  const [, sign, rest] = term.match(/^(>=|<=|!=|[<>=]?)(.*)$/);
  if (!NUMBER.test(rest)) return undefined;
  const limit = numberOf(rest);
  const equal = equalTo(column, limit);
  const slack = column.whole ? 0 : CLEARLY_ANOTHER * Math.abs(Number(limit));
  return {
    ">": { low: limit, open: true, holds: (value) => present(value) && value > limit },
    ">=": { low: limit, holds: (value) => present(value) && value >= limit },
    "<": { high: limit, open: true, holds: (value) => present(value) && value < limit },
    "<=": { high: limit, holds: (value) => present(value) && value <= limit },
    "!=": { holds: (value) => present(value) && !equal(value) },
  }[sign] ?? { low: Number(limit) - slack, high: Number(limit) + slack, holds: (value) => present(value) && equal(value) };
}

function contradict(terms) {
  if (terms.some((term) => term.none) && terms.some((term) => !term.none)) return true;
  for (const { low, open } of terms) {
    for (const other of terms) {
      if (low === undefined || other.high === undefined) continue;
      if (low > other.high || (low == other.high && (open || other.open))) return true;
    }
  }
  return false;
}

function textCondition(text) {
  const wanted = text.replace(/^[=!]/, "").toLowerCase();
  const low = (value) => (value === null ? "" : String(value).toLowerCase());
  if (text.startsWith("=")) return (value) => low(value) === wanted;
  if (text.startsWith("!")) return (value) => !low(value).includes(wanted);
  return (value) => low(value).includes(wanted);
}

// What runs have to be, and what is wrong with the words.
function condition(column, text) {
  const words = text.trim();
  if (!column.numeric) return { holds: textCondition(words) };
  const terms = unwritten(words).replace(/([<>=]) +/g, "$1").split(/[\s,]+/).map((term) => numberTerm(column, term));
  if (terms.includes(undefined)) return { holds: null, fault: "unreadable" };
  const fault = contradict(terms) ? "contradiction" : undefined;
  return { fault, holds: (value) => terms.every((term) => term.holds(value)) };
}

const view = { group: null, metric: null, baseline: null, across: null, rows: everyRun };
const filters = new Map();
const listeners = [];

function changed() {
  view.rows = everyRun;
  for (const [name, { holds }] of filters) {
    const column = columnsByName.get(name);
    if (holds) view.rows = view.rows.filter((row) => holds(exactValue(column, row), row));
  }
  for (const listener of listeners) listener();
}

// Set or clear a filter. What cannot be read filters nothing.
function setFilter(name, text) {
  if (text.trim()) filters.set(name, { text, ...condition(columnsByName.get(name), text) });
  else filters.delete(name);
  changed();
}

// Look at some runs and no others; a column says what they have in common.
function showOnly(name, text, rows) {
  const chosen = new Set(rows);
  filters.clear();
  filters.set(name, { text, holds: (_, row) => chosen.has(row) });
  changed();
}

function clearFilters() {
  filters.clear();
  changed();
}
