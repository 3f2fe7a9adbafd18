// Statistics of a sample, the same as those of simplugin.reports.statistics.

// Quantiles of Student's t at 0.975 for 1 to 30 degrees of freedom.
const T_975 = [
  12.706204736174694, 4.302652729749462, 3.1824463052837078, 2.7764451051977934, 2.5705818356363146,
  2.4469118511449786, 2.364624251592784, 2.306004135204166, 2.262157162798205, 2.228138851986274,
  2.200985160091639, 2.1788128296672284, 2.1603686564627913, 2.144786687917804, 2.131449545559776,
  2.1199052992212546, 2.1098155778333156, 2.1009220402410382, 2.0930240544083087, 2.085963447265864,
  2.0796138447276795, 2.0738730679040254, 2.0686576104190486, 2.0638985616280245, 2.0595385527532972,
  2.0555294386428735, 2.0518305164802846, 2.0484071417952454, 2.045229642132703, 2.0422724563012378,
];
const Z_975 = 1.959963984540054;

// Beyond the table: Abramowitz and Stegun (1964), 26.7.5, right to seven digits and more.
function tQuantile(freedom) {
  if (freedom <= T_975.length) return T_975[freedom - 1];
  const z = Z_975;
  const terms = [
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92160,
  ];
  return terms.reduce((sum, term, power) => sum + term / freedom ** (power + 1), z);
}

// Mean and its 95 % interval; no interval of one value.
function meanOf(values) {
  const n = values.length;
  if (!n) return { mean: null, low: null, high: null };
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n === 1) return { mean, low: null, high: null };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const half = (tQuantile(n - 1) * Math.sqrt(squares / (n - 1))) / Math.sqrt(n);
  return { mean, low: mean - half, high: mean + half };
}

// Geometric mean and its interval on the scale of logarithms; undefined unless all are positive.
function geometricOf(values) {
  if (values.some((value) => value <= 0)) return { mean: undefined, low: undefined, high: undefined };
  return fromLogarithms(meanOf(values.map(Math.log)));
}

function fromLogarithms({ mean, low, high }) {
  const back = (value) => (value === null ? null : Math.exp(value));
  return { mean: back(mean), low: back(low), high: back(high) };
}

// Linear between order statistics (Hyndman and Fan's type 7, as numpy has it).
function quantile(sorted, part) {
  if (!sorted.length) return null;
  const at = (sorted.length - 1) * part;
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

const present = (value) => value !== null && !Number.isNaN(value);

// The finite values of some rows.
function valuesOf(column, rows) {
  const found = [];
  for (const row of rows) if (Number.isFinite(column.values[row])) found.push(column.values[row]);
  return found;
}

function summary(values, missing = 0) {
  const sorted = Float64Array.from(values).sort();
  return {
    n: values.length,
    missing,
    notPositive: values.filter((value) => value <= 0).length,
    arithmetic: meanOf(values),
    geometric: geometricOf(values),
    min: quantile(sorted, 0),
    q1: quantile(sorted, 0.25),
    median: quantile(sorted, 0.5),
    q3: quantile(sorted, 0.75),
    max: quantile(sorted, 1),
  };
}

function summaryOf(column, rows) {
  const values = valuesOf(column, rows);
  return summary(values, rows.length - values.length);
}
