// The table of all runs: sorted, filtered, page by page, with the details of each.
const TYPING_PAUSE = 150;
const SIZES = [25, 100, 500];
const listed = columns.filter((column) => column.role !== "other" || column.listed);
const table = { sorted: null, down: false, page: 0, size: SIZES[0], open: new Set(), inputs: new Map() };

function sortedRows() {
  const rows = view.rows.slice();
  const column = table.sorted;
  if (!column) return rows;
  const sign = table.down ? -1 : 1;
  const values = column.values;
  const compare = column.numeric
    ? (a, b) => bySize(exactValue(column, a), exactValue(column, b))
    : (a, b) => ORDER.compare(values[a], values[b]);
  // Missing ones come last whichever way; the sort is stable, also downwards.
  const known = rows.filter((row) => present(values[row])).sort((a, b) => sign * compare(a, b));
  return known.concat(rows.filter((row) => !present(values[row])));
}
const ORDER = new Intl.Collator(undefined, { numeric: true });

function sortBy(column) {
  if (table.sorted !== column) Object.assign(table, { sorted: column, down: false });
  else if (!table.down) table.down = true;
  else Object.assign(table, { sorted: null, down: false });
  table.page = 0;
  drawTable();
}

function heading(column) {
  const button = element("button", { type: "button", onclick: () => sortBy(column) }, titled(column));
  const cell = element("th", { scope: "col", "data-column": column.name }, button);
  if (column.numeric) cell.className = "number";
  return cell;
}

function filterCell(column) {
  let timer = 0;
  const input = element("input", {
    type: "text", size: 1, spellcheck: "false", autocomplete: "off",
    "aria-label": `filter ${column.name}`, placeholder: column.numeric ? "> 0, 1..2" : "contains",
    title: column.numeric ? NUMBERS_HINT : TEXTS_HINT, "data-filter": column.name,
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        setFilter(column.name, input.value);
      }, TYPING_PAUSE);
    },
  });
  table.inputs.set(column.name, input);
  return element("td", { "data-column": column.name }, input);
}

// Fields say what is filtered, and what is wrong with it.
function tellFilters() {
  for (const [name, input] of table.inputs) {
    const filter = filters.get(name);
    if (document.activeElement !== input) input.value = filter?.text ?? "";
    const hint = columnsByName.get(name).numeric ? NUMBERS_HINT : TEXTS_HINT;
    input.title = FAULTS[filter?.fault] ?? hint;
    if (filter?.fault) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }
}

function runRow(row) {
  const open = table.open.has(row);
  const toggle = () => {
    table.open[open ? "delete" : "add"](row);
    drawTable(row);
  };
  const button = element("button", {
    type: "button", "aria-expanded": String(open), "data-run": runs[row],
    "aria-label": `details of run ${runs[row]}`, onclick: toggle,
  }, String(runs[row]));
  const cells = listed.map((column) => {
    const value = column.values[row];
    const text = column.long?.has(row) ? exact(exactValue(column, row)) : column.numeric ? column.write(value) : value === null ? MISSING : String(value);
    const long = !column.numeric && text.length > 40;
    const kind = column.numeric ? "number" : column.name === "status" && text === "failed" ? "bad" : null;
    return element("td", { class: kind, "data-column": column.name, title: long ? text : null }, long ? `${text.slice(0, 39)}\u2026` : text);
  });
  const made = element("tr", {}, element("th", { scope: "row", class: "number" }, button), ...cells);
  return open ? [made, details(row)] : [made];
}

function details(row) {
  const list = element("dl", { class: "facts" });
  for (const column of columns) {
    const value = exactValue(column, row);
    if (value === null || value === "" || column.name === "error") continue;
    list.append(element("div", {}, element("dt", {}, titled(column)), element("dd", {}, exact(value))));
  }
  const error = columnsByName.get("error")?.values[row];
  const told = error ? element("pre", {}, error) : null;
  return element("tr", { class: "details" }, element("td", { colspan: listed.length + 1 }, told, list));
}

function drawTable(focused) {
  const rows = sortedRows();
  const pages = Math.max(1, Math.ceil(rows.length / table.size));
  table.page = Math.min(table.page, pages - 1);
  const first = table.page * table.size;
  const page = rows.slice(first, first + table.size);
  place("runs-body").replaceChildren(...page.flatMap(runRow));
  const printed = printedColumns();
  for (const cell of document.querySelectorAll("#runs-table [data-column]")) {
    cell.classList.toggle("unprinted", !printed.has(columnsByName.get(cell.dataset.column)));
  }
  for (const cell of document.querySelectorAll("#runs-table thead th[data-column]")) {
    const active = table.sorted?.name === cell.dataset.column;
    cell.setAttribute("aria-sort", active ? (table.down ? "descending" : "ascending") : "none");
  }
  const last = Math.min(first + table.size, rows.length);
  place("page-place").textContent = rows.length
    ? `${withGroups(String(first + 1))} to ${withGroups(String(last))} of ${counted(rows.length, "run")}`
    : "no run matches";
  for (const [id, stop] of [["first", 0], ["back", 0], ["next", pages - 1], ["last", pages - 1]]) {
    place(`page-${id}`).disabled = table.page === stop;
  }
  if (focused !== undefined) document.querySelector(`#runs-body [data-run="${runs[focused]}"]`)?.focus();
}

function startTable() {
  for (const column of listed) {
    column.write = column.numeric ? writer(column.values) : String;
    column.whole = column.numeric && column.values.every((value) => !Number.isFinite(value) || Number.isInteger(value));
  }
  const head = element("tr", {}, element("th", { scope: "col", class: "number" }, "run"), ...listed.map(heading));
  const second = element("tr", { class: "filters" }, element("td", {}), ...listed.map(filterCell));
  place("runs-head").replaceChildren(head, second);
  const turn = (to) => () => {
    const last = Math.ceil(view.rows.length / table.size) - 1;
    table.page = { first: 0, back: table.page - 1, next: table.page + 1, last }[to];
    drawTable();
  };
  for (const to of ["first", "back", "next", "last"]) place(`page-${to}`).addEventListener("click", turn(to));
  const sizes = place("page-size");
  sizes.append(...SIZES.map((size) => element("option", { value: size }, `${size} a page`)));
  sizes.addEventListener("change", () => {
    Object.assign(table, { size: Number(sizes.value), page: 0 });
    drawTable();
  });
  listeners.push(() => {
    table.page = 0;
    tellFilters();
    drawTable();
  });
}
