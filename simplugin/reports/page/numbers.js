// Numbers as one reads them: of one column with equally many decimals.
const MISSING = "\u2013";
const GROUP = "\u202f";
const DIGITS = 5;

function special(value) {
  if (value === null || value === undefined) return MISSING;
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "\u221e" : "\u2212\u221e";
}

function withGroups(text) {
  const [whole, rest] = text.split(".");
  const digits = whole.replace("-", "");
  const shown = digits.length > 4 ? digits.replace(/\B(?=(\d{3})+$)/g, GROUP) : digits;
  return (whole.startsWith("-") ? "\u2212" : "") + shown + (rest === undefined ? "" : `.${rest}`);
}

function exponential(value, digits) {
  return value.toExponential(digits).replace("-", "\u2212").replace("e+", "e");
}

// Values further apart than this have significant digits each, not decimals in common.
const DECADES = 100;

// A number with five significant digits.
function significant(value) {
  const size = Math.floor(Math.log10(Math.abs(value)));
  if (size >= 9 || size <= -5) return exponential(value, DIGITS - 1);
  return withGroups(value.toFixed(Math.max(DIGITS - 1 - size, 0)));
}

// A function that writes the numbers of a column.
function writer(values) {
  let [least, most] = [Infinity, 0];
  let whole = true;
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    most = Math.max(most, Math.abs(value));
    if (value !== 0) least = Math.min(least, Math.abs(value));
    if (whole && !Number.isInteger(value)) whole = false;
  }
  const size = most > 0 ? Math.floor(Math.log10(most)) : 0;
  const decimals = whole ? 0 : Math.min(Math.max(DIGITS - 1 - size, 0), 6);
  const apart = !whole && most > DECADES * least;
  const scientific = size >= (whole ? 16 : 9) || (size <= -4 && most > 0);
  return (value) => {
    if (value === null || !Number.isFinite(value)) return special(value);
    if (apart) return value === 0 ? "0" : significant(value);
    if (scientific && value !== 0) return exponential(value, DIGITS - 1);
    const text = value.toFixed(Number.isInteger(value) && whole ? 0 : decimals);
    if (value !== 0 && Number(text) === 0) return exponential(value, 1);
    return withGroups(text.replace(/^-(0(\.0*)?)$/, "$1"));
  };
}

// A number alone, with all its digits.
function exact(value) {
  if (typeof value === "bigint") return withGroups(String(value));
  if (typeof value !== "number") return value === null ? MISSING : String(value);
  if (!Number.isFinite(value)) return special(value);
  const text = String(value);
  return text.includes("e") ? text.replace(/-/g, "\u2212").replace("e+", "e") : withGroups(text);
}

// A number alone, with as many digits as one reads.
function shown(value) {
  return exact(Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : value);
}

const counted = (count, noun) => `${withGroups(String(count))} ${noun}${count === 1 ? "" : "s"}`;
