// On paper: light, everything open, as many rows and as few columns as a sheet has room for.
const MOST_PRINTED_ROWS = 500;
const MOST_PRINTED_COLUMNS = 8;
let onScreen = null;

// What tells runs apart, and the metric that is looked at.
function printedColumns() {
  const wanted = [columnsByName.get("status"), view.group, view.metric];
  const beside = listed.filter((column) => column.role === "varied" && column !== view.group);
  const some = [...wanted.filter((column) => column), ...beside].slice(0, MOST_PRINTED_COLUMNS);
  return new Set(some);
}

function beforePrint() {
  if (onScreen) return;
  const closed = [...document.querySelectorAll("details:not([open])")];
  onScreen = { size: table.size, page: table.page, closed };
  for (const details of closed) details.open = true;
  Object.assign(table, { size: MOST_PRINTED_ROWS, page: 0 });
  drawOverview();
  drawTable();
  redrawAll();
}

function afterPrint() {
  if (!onScreen) return;
  for (const details of onScreen.closed) details.open = false;
  Object.assign(table, { size: onScreen.size, page: onScreen.page });
  onScreen = null;
  drawTable();
}

function startPrinting() {
  addEventListener("beforeprint", beforePrint);
  addEventListener("afterprint", afterPrint);
}
