// Runs of groups that are otherwise equal: ratios, tests and profiles, the same as those of
// simplugin.reports.comparisons and profiles.

// Relative difference up to which two values are equal.
const TIE = 1e-9;
// Differences up to which the rank sum is counted out, beyond which it is as good as normal.
const MOST_COUNTED = 50;
const OF_SCHEDULERS = "scheduler";

// What runs that are compared have in common: all that is varied, but for what each group has one
// value of; the scheduler and its parameters only if all groups have values of them in common.
function pairingKeys(group, compared) {
  const groups = grouped(group, everyRun);
  const valuesIn = (column, { number }) => new Set(groups[number].rows.map((row) => exactValue(column, row)));
  const fixed = (column) => compared.every((each) => valuesIn(column, each).size <= 1);
  const shared = (column) => {
    const [first, ...rest] = compared.map((each) => valuesIn(column, each));
    return [...first].some((value) => value !== null && rest.every((values) => values.has(value)));
  };
  const own = (column) => column.name.startsWith(OF_SCHEDULERS) && !shared(column);
  return columns.filter((column) => column.role === "varied" && column !== group && !fixed(column) && !own(column));
}

// What each run was done on. Runs that differ in nothing are numbered, once over all runs: the
// first is compared with the first whatever the filters leave.
const instanceLists = new Map();
function instancesOf(group, keys) {
  const name = JSON.stringify([group?.name ?? null, keys.map((key) => key.name)]);
  if (!instanceLists.has(name)) {
    const text = (value) => (value === null ? null : String(value));
    const found = Array(runs.length);
    for (const { rows } of grouped(group, everyRun)) {
      const seen = new Map();
      for (const row of rows) {
        const key = JSON.stringify(keys.map((each) => text(exactValue(each, row))));
        seen.set(key, (seen.get(key) ?? 0) + 1);
        found[row] = `${key} ${seen.get(key)}`;
      }
    }
    instanceLists.set(name, found);
  }
  return instanceLists.get(name);
}

function valuesByInstance(column, instances, rows) {
  return new Map(rows.map((row) => [instances[row], column.values[row]]));
}

// A group against a baseline, pair by pair.
function paired(column, keys, group, baseline) {
  const instances = instancesOf(view.group, keys);
  const [own, others] = [group, baseline].map(({ rows }) => valuesByInstance(column, instances, rows));
  const found = { pairs: 0, below: 0, equal: 0, above: 0, alone: 0, notPositive: 0, test: null };
  const pairs = [];
  for (const [key, value] of own) {
    const other = others.get(key);
    if (Number.isFinite(value) && Number.isFinite(other)) pairs.push([value, other]);
    else found.alone += 1;
  }
  found.pairs = pairs.length;
  found.notPositive = pairs.filter(([value, other]) => value <= 0 || other <= 0).length;
  const steps = pairs.map(([value, other]) => {
    const same = Math.abs(value - other) <= TIE * Math.max(Math.abs(value), Math.abs(other));
    found[same ? "equal" : value < other ? "below" : "above"] += 1;
    return same ? 0 : found.notPositive ? value - other : Math.log(value) - Math.log(other);
  });
  if (pairs.length) found.test = signedRankTest(steps);
  const undefinedRatio = { mean: undefined, low: undefined, high: undefined };
  found.ratio = found.notPositive ? undefinedRatio : fromLogarithms(meanOf(pairs.map(([value, other]) => Math.log(value) - Math.log(other))));
  return found;
}

// Two-sided p-value of Wilcoxon's signed-rank test; differences of 0 are left out.
function signedRankTest(differences) {
  const kept = differences.filter((each) => each !== 0).sort((a, b) => Math.abs(a) - Math.abs(b));
  if (!kept.length) return 1;
  // Twice the ranks are whole numbers; equal differences have the mean of their ranks.
  const ranks = [];
  let positive = 0;
  for (let first = 0; first < kept.length; first = ranks.length) {
    let last = first;
    while (last + 1 < kept.length && Math.abs(kept[last + 1]) === Math.abs(kept[first])) last += 1;
    for (let at = first; at <= last; at += 1) {
      ranks.push(first + last + 2);
      if (kept[at] > 0) positive += first + last + 2;
    }
  }
  const total = ranks.reduce((sum, rank) => sum + rank, 0);
  const least = Math.min(positive, total - positive);
  if (kept.length > MOST_COUNTED) {
    const spread = Math.sqrt(ranks.reduce((sum, rank) => sum + rank * rank, 0)) / 2;
    return Math.min(1, 2 * normalBelow((least - total / 2) / spread));
  }
  const ways = new Float64Array(total + 1);
  ways[0] = 1;
  for (const rank of ranks) for (let sum = total; sum >= rank; sum -= 1) ways[sum] += ways[sum - rank];
  const below = ways.subarray(0, least + 1).reduce((sum, count) => sum + count, 0);
  return Math.min(1, (2 * below) / 2 ** kept.length);
}

// The standard normal distribution function of z <= 0: Marsaglia's series (2004), and for the tail
// the continued fraction of Mills' ratio.
function normalBelow(z) {
  const [size, density] = [-z, Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)];
  if (size > 3) {
    let fraction = size;
    for (let at = 200; at >= 1; at -= 1) fraction = size + at / fraction;
    return density / fraction;
  }
  let [sum, term] = [0, size];
  for (let at = 1; term > 1e-18; at += 2) {
    sum += term;
    term *= (size * size) / (at + 2);
  }
  return 0.5 - density * sum;
}

// P-values corrected for their number after Holm (1979); what was not tested does not count.
function holm(values) {
  const tested = values.map((value, at) => [value, at]).filter(([value]) => value !== null).sort((a, b) => a[0] - b[0]);
  const adjusted = values.map(() => null);
  let largest = 0;
  tested.forEach(([value, at], rank) => {
    largest = Math.max(largest, Math.min(1, value * (tested.length - rank)));
    adjusted[at] = largest;
  });
  return adjusted;
}

// How many times worse than the best group each is, instance by instance (Dolan and Moré 2002);
// infinite where it has no value. Null where there is nothing to compare.
function profilesOf(column, groups) {
  if (!column.sense || groups.length < 2) return null;
  const instances = instancesOf(view.group, pairingKeys(view.group, groups));
  const values = groups.map(({ rows }) => valuesByInstance(column, instances, rows));
  if (values.some((each) => [...each.values()].some((value) => Number.isFinite(value) && value <= 0))) return null;
  const every = new Set(values.flatMap((each) => [...each.keys()]));
  const cost = (value) => (!Number.isFinite(value) ? Infinity : column.sense === "min" ? value : 1 / value);
  const ratios = groups.map(() => []);
  for (const key of every) {
    if (!values.every((each) => each.has(key))) continue;
    const costs = values.map((each) => cost(each.get(key)));
    const best = Math.min(...costs);
    if (Number.isFinite(best)) costs.forEach((each, at) => ratios[at].push(each / best));
  }
  const n = ratios[0].length;
  if (n < 2) return null;
  return { n, tried: every.size, groups: groups.map((group, at) => ({ ...group, ratios: Float64Array.from(ratios[at]).sort() })) };
}
