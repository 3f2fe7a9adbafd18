// Facts, failures, kept runs and claims.

function startFacts() {
  const list = place("facts");
  for (const [name, text] of payload.facts) list.append(element("div", {}, element("dt", {}, name), element("dd", {}, text)));
  place("downloads").hidden = !payload.files.length;
  const figures = new Map();
  for (const file of payload.files) {
    const [, name, suffix] = file.match(/([^/]*)\.(\w+)$/);
    figures.set(name, [...(figures.get(name) ?? []), [file, suffix]]);
  }
  const link = ([file, suffix]) => element("a", { href: file, download: true }, suffix.toUpperCase());
  place("files").append(...[...figures].map(([name, files]) => element("li", {}, element("span", {}, name), ...files.map(link))));
}

const MOST_FAILURES = 20;

// Failures with one kind and one first line are one.
function startFailures() {
  const [kinds, errors] = [columnsByName.get("failure"), columnsByName.get("error")];
  const groups = new Map();
  if (errors) {
    for (const row of everyRun) {
      if (!kinds.values[row]) continue;
      const error = errors.values[row] ?? "";
      const key = `${kinds.values[row]}\n${error.split("\n")[0]}`;
      if (!groups.has(key)) groups.set(key, { kind: kinds.values[row], error, rows: [] });
      groups.get(key).rows.push(row);
    }
  }
  place("failures").hidden = !groups.size;
  const sorted = [...groups.values()].sort((a, b) => b.rows.length - a.rows.length);
  const rest = sorted.slice(MOST_FAILURES);
  place("failure-list").append(...sorted.slice(0, MOST_FAILURES).map(oneFailure));
  if (!rest.length) return;
  const count = rest.reduce((sum, { rows }) => sum + rows.length, 0);
  const show = (event) => event.target.closest("li").replaceWith(...rest.map(oneFailure));
  place("failure-list").append(element("li", {}, element("p", {}, `${counted(rest.length, "more message")}, of ${counted(count, "run")} `, element("button", { type: "button", onclick: show }, "show them all"))));
}

function oneFailure({ kind, error, rows }) {
  const some = rows.slice(0, 12).map((row) => runs[row]).join(", ") + (rows.length > 12 ? ", \u2026" : "");
  const [first, ...rest] = error.split("\n");
  const show = () => {
    showOnly("error", first, rows);
    place("runs").scrollIntoView();
  };
  return element("li", {},
    element("p", {}, element("b", {}, `${counted(rows.length, "run")}: ${kind.replace("_", " ")}`), element("span", { class: "quiet" }, ` ${rows.length === 1 ? "run" : "runs"} ${some} `), element("button", { type: "button", onclick: show }, "show them")),
    element("pre", {}, first), rest.length ? element("details", {}, element("summary", {}, "the whole message"), element("pre", {}, error)) : null);
}

// Length of a text from which on those of a column are broken into lines.
const SENTENCE = 80;

function listing({ title, columns: heads, lines, note }) {
  const writers = heads.map((_, at) => {
    const values = lines.map((line) => line[at]);
    const numeric = values.some((value) => typeof value === "number") && values.every((value) => value === null || typeof value === "number");
    const percent = heads[at].unit === "%";
    const long = values.some((value) => String(value).length > SENTENCE);
    return { numeric, long, write: numeric ? (percent ? (value) => (value === null ? MISSING : `${(100 * value).toFixed(1)} %`) : writer(values)) : (value) => (value === null ? MISSING : String(value)) };
  });
  const cell = (value, at) => element("td", { class: writers[at].numeric ? "number" : writers[at].long ? "sentence" : null }, writers[at].write(value));
  const head = ({ name, unit }, at) => element("th", { scope: "col", class: writers[at].numeric ? "number" : null }, unit && unit !== "%" ? `${name} [${unit}]` : name);
  const made = element("table", {}, element("thead", {}, element("tr", {}, ...heads.map(head))), element("tbody", {}, ...lines.map((line) => element("tr", {}, ...line.map(cell)))));
  return element("div", { class: "listing" }, element("h4", {}, title), element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": title }, made), note ? element("p", { class: "quiet" }, note) : null);
}

// Drawings are made when they are first seen, and again when the window changes.
const drawings = [];
function drawing(title, draw) {
  const target = element("div", { class: "plot" });
  drawings.push(() => target.isConnected && target.clientWidth && draw(target));
  return element("figure", {}, title ? element("h4", {}, title) : null, target);
}
const redrawAll = () => drawings.forEach((draw) => draw());

function startSensitivities() {
  place("sensitivity").hidden = !payload.sensitivities.length;
  place("sensitivity-list").append(...payload.sensitivities.flatMap((table) => [
    listing(table),
    ...(table.lines.length ? [drawing("", (target) => drawIndices(target, table))] : []),
  ]));
}

function startKept() {
  place("kept").hidden = !payload.kept.length;
  place("kept-list").append(...payload.kept.map((kept, at) => {
    const figures = kept.figures.map((figure) => drawing(figure.title, (target) => drawCurves(target, figure)));
    const parts = [
      ...(kept.schedule ? [drawing(kept.schedule.title || "Gantt chart", (target) => drawSchedule(target, kept.schedule))] : []),
      ...(kept.open ? [element("div", { class: "plots" }, ...figures)] : figures),
      ...kept.listings.map(listing),
    ];
    return element("details", { open: kept.open || at === 0, ontoggle: redrawAll }, element("summary", {}, kept.title), ...parts);
  }));
}

function verdictOf(claim) {
  if (claim.agrees === null) return "? cannot be told";
  return claim.agrees ? "\u2713 agrees" : "\u2717 disagrees";
}

// One sentence; the reason on demand.
function oneClaim(claim) {
  const text = (value) => (typeof value === "number" ? shown(value) : value);
  const source = `${claim.kind === "ours" ? "our own statement, " : ""}${claim.source}`;
  return element("tr", {},
    element("td", {}, element("div", {}, claim.claim), element("details", { class: "quiet" }, element("summary", {}, source), claim.why)),
    element("td", { "data-label": "paper or bar" }, text(claim.paper)),
    element("td", { "data-label": "measured" }, text(claim.measured), claim.optimum === null ? null : element("div", { class: "quiet" }, `optimum ${text(claim.optimum)}`)),
    element("td", { "data-label": "verdict", class: claim.agrees ? "good" : claim.agrees === null ? "quiet" : "bad" }, verdictOf(claim)));
}

// The claims of a paper, and its figures below them.
function onePaper(name, title) {
  const rows = payload.claims.filter(({ capability }) => capability === name).map((claim) => ({ claim, row: oneClaim(claim) }));
  const figures = payload.figures.filter(({ capability }) => capability === name).map(({ figure }) => drawing(figure.title, (target) => drawCurves(target, figure)));
  const heads = ["claim", "paper or bar", "measured", "verdict"].map((head) => element("th", { scope: "col" }, head));
  const table = element("table", { class: "claims" }, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows.map(({ row }) => row)));
  return { name, rows, table, made: element("div", {}, title, rows.length ? table : null, element("div", { class: "plots" }, ...figures)) };
}

function startClaims() {
  place("claims").hidden = !payload.claims.length;
  const verdicts = { agree: true, disagree: false, open: null };
  place("claims-count").textContent = `${payload.headline}.`;
  const names = [...new Set([...payload.claims, ...payload.figures].map(({ capability }) => capability))];
  const papers = names.map((name) => onePaper(name, names.length > 1 ? element("h3", {}, name) : null));
  place("claims-papers").append(...papers.map(({ made }) => made));
  options(place("claims-paper"), names.length > 1 ? names : [], null, "all");
  const chosen = { paper: BLANK, verdict: "all" };
  const draw = (change) => {
    Object.assign(chosen, change);
    for (const { name, rows, table, made } of papers) {
      for (const { claim, row } of rows) row.hidden = chosen.verdict !== "all" && claim.agrees !== verdicts[chosen.verdict];
      table.hidden = rows.every(({ row }) => row.hidden);
      made.hidden = (chosen.paper !== BLANK && chosen.paper !== name) || (table.hidden && chosen.verdict !== "all");
    }
    for (const button of document.querySelectorAll("#claims-filter button")) button.setAttribute("aria-pressed", String(button.value === chosen.verdict));
    redrawAll();
  };
  place("claims-paper").addEventListener("change", (event) => draw({ paper: event.target.value }));
  for (const button of document.querySelectorAll("#claims-filter button")) button.addEventListener("click", () => draw({ verdict: button.value }));
  draw({});
}
