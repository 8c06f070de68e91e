// What all parts share: elements, what the reader's machine remembers, the theme, the start.

const byId = (id) => document.getElementById(id);

/** Make an element. Texts become text nodes, so that none of them is ever read as markup. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

/** A browser may refuse to remember anything for a file: then it forgets. */
const memory = {
  get(key) {
    try {
      return localStorage.getItem(`grammeter-report-${key}`);
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      localStorage.setItem(`grammeter-report-${key}`, value);
    } catch {
      // the choice lasts as long as the page
    }
  },
};

const THEMES = ["auto", "light", "dark"];

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function rememberedTheme() {
  const theme = memory.get("theme");
  return THEMES.includes(theme) ? theme : "auto";
}

function offerThemes() {
  const select = byId("theme");
  select.value = rememberedTheme();
  select.parentElement.hidden = false;
  select.addEventListener("change", () => {
    setTheme(select.value);
    memory.set("theme", select.value);
  });
}

/** A box that scrolls can be reached by Tab, so that arrow keys work. */
function watchWidths() {
  const watch = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const scrolls = target.scrollWidth > target.clientWidth || target.matches(".tall");
      if (scrolls) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const box of document.querySelectorAll(".wide")) watch.observe(box);
}

function start() {
  setTheme(rememberedTheme()); // before the first paint
  document.addEventListener("DOMContentLoaded", () => {
    offerThemes();
    watchWidths();
    for (const table of document.querySelectorAll("main table")) makeSortable(table);
    if (byId("browser-head")) openBrowser();
  });
}
