// The sentence browser: its controls, the page of sentences that is shown, and its keys.

const PRINTED = 200; // sentences printed at most
const PAUSE = 200; // milliseconds without a key before a search begins

function openBrowser() {
  const data = openData();
  let state = plainState();
  let found = [];
  let first = 0; // place among the found of the first that is shown
  const size = data.systems.length > 10 ? 10 : 20; // sentences shown at a time

  fillControls(data);
  byId("legend").append(...drawLegend(data.judgedBy));
  for (const id of ["filters", "legend"]) byId(id).hidden = false;
  for (const pager of document.querySelectorAll(".pager")) pager.hidden = false;

  function search() {
    try {
      found = findSentences(data, state);
      say(byId("query-fault"), "");
      byId("query").removeAttribute("aria-invalid");
    } catch (fault) {
      if (!(fault instanceof SyntaxError)) throw fault;
      say(byId("query-fault"), `Not a regular expression: ${fault.message.replace(/^Invalid[^:]*: /, "")}`);
      byId("query").setAttribute("aria-invalid", "true");
      return;
    }
    const place = found.indexOf(state.sentence);
    if (place < 0) state.sentence = null;
    first = Math.max(0, place - (place % size));
    show();
    writeAddress(state);
  }

  function draw(places) {
    const list = byId("list");
    list.replaceChildren(...places.map((n) => drawSentence(data, n, state, sortNote(data, n, state))));
    list.classList.toggle("cards", byId("cards").checked);
    list.classList.toggle("typed", byId("show-types").checked);
    markFound(list, state.query, state.regex);
  }

  function show() {
    draw(found.slice(first, first + size));
    say(byId("found"), foundWords(found.length, data.count));
    byId("below").hidden = found.length <= size;
    const last = Math.max(1, Math.ceil(found.length / size));
    const now = Math.floor(first / size) + 1;
    for (const box of document.querySelectorAll(".pages")) say(box, `page ${now} of ${last}`);
    for (const button of document.querySelectorAll(".previous")) button.disabled = first === 0;
    for (const button of document.querySelectorAll(".next")) button.disabled = now >= last;
    markCurrent();
  }

  function markCurrent() {
    for (const article of byId("list").children) {
      const current = Number(article.dataset.number) === state.sentence;
      if (current) article.setAttribute("aria-current", "true");
      else article.removeAttribute("aria-current");
    }
  }

  /** Make the sentence at a place among the found the current one, and go to it. */
  function goTo(place) {
    if (place < 0 || place >= found.length) return;
    state.sentence = found[place];
    const page = place - (place % size);
    if (page !== first) {
      first = page;
      show();
    }
    markCurrent();
    const article = byId("list").querySelector('[aria-current="true"]');
    article.focus({ preventScroll: true });
    article.scrollIntoView({ block: "start" });
    writeAddress(state);
  }

  function turn(pages) {
    const place = first + pages * size;
    if (place < 0 || place >= found.length) return;
    state.sentence = null;
    first = place;
    show();
    writeAddress(state);
    byId("list").scrollIntoView({ block: "start" });
  }

  function step(by) {
    const place = found.indexOf(state.sentence);
    if (place >= 0) return goTo(place + by);
    return goTo(by > 0 ? first : Math.min(first + size, found.length) - 1);
  }

  /** Go to a sentence by its place in the data; filters that keep it out give way. */
  function goToSentence(number) {
    if (!found.includes(number)) {
      const hidden = state.hidden;
      state = { ...plainState(), hidden };
      showState();
      search();
    }
    goTo(found.indexOf(number));
  }

  /** Do what an address asks; one of a sentence alone keeps filters that let it through. */
  function follow(address) {
    const asked = fromAddress(address, data);
    if (!asked) return;
    const alone = [...new URLSearchParams(address).keys()].join() === "s";
    if (alone && asked.sentence !== null) return goToSentence(asked.sentence);
    state = asked;
    showState();
    search();
    goTo(found.indexOf(state.sentence));
  }

  function showState() {
    writeControls(state, data);
  }

  function change() {
    state = { ...readControls(data), sentence: state.sentence };
    writeControls(state, data);
    search();
  }

  listenToControls(change, () => {
    state = plainState();
    showState();
    search();
  });
  listenToPages(turn, (number) => {
    if (Number.isInteger(number) && number >= 1 && number <= data.count) goToSentence(number - 1);
    else say(byId("found"), `No sentence ${number}: they are 1 to ${data.count}`);
  });
  listenToKeys(step);
  for (const id of ["cards", "show-types"]) keepChoice(byId(id), show);
  addEventListener("hashchange", () => follow(location.hash.slice(1)));
  addEventListener("beforeprint", () => {
    draw(found.slice(0, PRINTED));
    const note = byId("print-note");
    note.hidden = found.length <= PRINTED;
    say(note, `The first ${PRINTED} of ${found.length} sentences are printed.`);
  });
  addEventListener("afterprint", show);

  const address = location.hash.slice(1);
  showState();
  search();
  follow(address);
}

/** Write a text into an element, unless it stands there: a live region speaks when it changes. */
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function foundWords(found, all) {
  const noun = all === 1 ? "sentence" : "sentences";
  const count = (number) => number.toLocaleString("en");
  if (found === all) return `${count(all)} ${noun}`;
  return found ? `${count(found)} of ${count(all)} ${noun}` : `none of ${count(all)} ${noun}`;
}

function sortNote(data, number, state) {
  if (state.sort === null) return "";
  const [name, , digits] = data.metrics[state.sort];
  const value = shownValue(sortKey(data.sentence(number), state), digits);
  const of = typeof state.of === "number" ? data.systems[state.of] : state.of;
  return `${name}, ${of}: ${value}`;
}

// Controls

const option = (value, text) => make("option", { value }, text);

function fillControls(data) {
  byId("type").append(option("", "any"));
  for (const [place, [name, count]] of data.types.entries()) {
    byId("type").append(option(place, `${name || "(none)"} (${count})`));
  }
  const names = data.metrics.map(([name]) => name);
  byId("disagree").append(option("", "off"), option("any", "any two metrics"));
  for (const [one, other] of metricPairs(names)) {
    byId("disagree").append(option(`${one}.${other}`, `${names[one]} and ${names[other]}`));
  }
  byId("sort").append(option("", "position"), ...names.map((name, place) => option(place, name)));
  byId("of").append(option("spread", "spread over systems"), option("mean", "mean of systems"));
  byId("of").append(...data.systems.map((name, place) => option(place, name)));
  const box = document.querySelector(".systems");
  for (const [place, name] of data.systems.entries()) {
    const tick = make("input", { type: "checkbox", value: place });
    box.append(make("label", { class: "tick" }, tick, make("bdi", {}, name)));
  }
  byId("verdict").parentElement.hidden = data.judgedBy === null;
  byId("type").parentElement.hidden = !data.types.some(([name]) => name);
  byId("disagree").parentElement.hidden = data.metrics.length < 2;
}

const systemTicks = () => [...document.querySelectorAll(".systems input")];

function readControls(data) {
  const type = byId("type").value;
  const [sort, of] = [byId("sort").value, byId("of").value];
  const hidden = systemTicks().filter((tick) => !tick.checked);
  return {
    ...plainState(),
    query: byId("query").value,
    regex: byId("regex").checked,
    type: type === "" ? null : data.types[type][0],
    verdict: byId("verdict").value,
    disagree: byId("disagree").value,
    differ: byId("differ").checked,
    sort: sort === "" ? null : Number(sort),
    of: /^\d+$/.test(of) ? Number(of) : of,
    order: byId("order").value,
    hidden: new Set(hidden.map((tick) => Number(tick.value))),
  };
}

function writeControls(state, data) {
  if (byId("query").value !== state.query) byId("query").value = state.query;
  byId("regex").checked = state.regex;
  const type = data.types.findIndex(([name]) => name === state.type);
  byId("type").value = type < 0 ? "" : type;
  byId("verdict").value = state.verdict;
  byId("disagree").value = state.disagree;
  byId("differ").checked = state.differ;
  byId("sort").value = state.sort ?? "";
  byId("of").value = state.of;
  byId("of").disabled = state.sort === null;
  byId("order").value = state.order;
  for (const tick of systemTicks()) tick.checked = !state.hidden.has(Number(tick.value));
  const shown = data.systems.length - state.hidden.size;
  say(byId("systems-count"), `${shown} of ${data.systems.length} shown`);
}

function listenToControls(change, reset) {
  const form = byId("filters");
  let waiting = 0;
  const now = () => {
    clearTimeout(waiting);
    change();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    now();
  });
  form.addEventListener("change", (event) => {
    if (!["cards", "show-types", "query"].includes(event.target.id)) now();
  });
  byId("query").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(change, PAUSE);
  });
  byId("reset").addEventListener("click", () => {
    clearTimeout(waiting);
    reset();
  });
  for (const [id, checked] of [["all-systems", true], ["no-systems", false]]) {
    byId(id).addEventListener("click", () => {
      for (const tick of systemTicks()) tick.checked = checked;
      now();
    });
  }
}

/** A choice of how things look is remembered by the machine, not by the address. */
function keepChoice(tick, show) {
  tick.checked = memory.get(tick.id) === "1";
  tick.addEventListener("change", () => {
    memory.set(tick.id, tick.checked ? "1" : "0");
    show();
  });
}

function listenToPages(turn, goToNumber) {
  for (const button of document.querySelectorAll(".previous")) {
    button.addEventListener("click", () => turn(-1));
  }
  for (const button of document.querySelectorAll(".next")) {
    button.addEventListener("click", () => turn(1));
  }
  byId("go").addEventListener("keydown", (event) => {
    if (event.key === "Enter") goToNumber(Number(byId("go").value.trim() || NaN));
  });
}

// Keys

function listenToKeys(step) {
  const [help, shortcuts] = [byId("help"), byId("shortcuts")];
  shortcuts.checked = memory.get("shortcuts") !== "0";
  shortcuts.addEventListener("change", () => memory.set("shortcuts", shortcuts.checked ? "1" : "0"));
  byId("help-open").addEventListener("click", () => help.showModal());
  byId("help-close").addEventListener("click", () => help.close());
  const acts = {
    j: () => step(1),
    k: () => step(-1),
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
    "/": () => {
      byId("query").focus();
      byId("query").select();
    },
    "?": () => help.showModal(),
  };
  addEventListener("keydown", (event) => {
    const from = event.target;
    if (event.key === "Escape" && from === byId("query")) return from.blur();
    const busy = "input:not([type=checkbox]), select, dialog";
    const scrolls = event.key.startsWith("Arrow") ? ", .wide, nav" : "";
    if (event.ctrlKey || event.altKey || event.metaKey || !shortcuts.checked) return;
    if (!Object.hasOwn(acts, event.key) || from.closest?.(busy + scrolls)) return;
    event.preventDefault();
    acts[event.key]();
  });
}
