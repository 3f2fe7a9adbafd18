// Everything together.
const THEMES = { auto: "theme: as the system", light: "theme: light", dark: "theme: dark" };

function remembered(theme) {
  try {
    if (theme) localStorage.setItem("theme", theme);
    return localStorage.getItem("theme") ?? "auto";
  } catch {
    return theme ?? "auto"; // Some browsers give files no storage.
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  place("theme").textContent = THEMES[theme];
}

function startTheme() {
  const names = Object.keys(THEMES);
  setTheme(THEMES[remembered()] ? remembered() : "auto");
  place("theme").addEventListener("click", () => {
    const next = names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length];
    remembered(next);
    setTheme(next);
  });
}

function startSections() {
  // Where there are claims or sensitivities, they are what it is about.
  for (const [name, found] of [["sensitivity", payload.sensitivities], ["claims", payload.claims]]) {
    if (!found.length) continue;
    place("view").before(place(name));
    document.querySelector("nav").prepend(document.querySelector(`nav a[href="#${name}"]`), " ");
  }
  for (const link of document.querySelectorAll("nav a")) {
    const section = document.querySelector(link.getAttribute("href"));
    link.hidden = section.hidden;
  }
}

startTheme();
startFacts();
startTable();
startOverview();
startFailures();
startSensitivities();
startKept();
startClaims();
startPrinting();
place("runs").hidden = !everyRun.length;
place("view").hidden = !metrics.length;
startSections();
changed();
redrawAll();
let seen = document.documentElement.clientWidth;
addEventListener("resize", () => {
  const width = document.documentElement.clientWidth;
  if (width === seen) return;
  seen = width;
  requestAnimationFrame(() => {
    drawOverview();
    redrawAll();
  });
});
