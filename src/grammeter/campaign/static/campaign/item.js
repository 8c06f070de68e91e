// The page of one item: the clock, the keyboard, and saving. Without this script the form works
// as a plain form.

import { flush, forget, listen, post, randomKey, useToken, waiting } from "./outbox.js";

const form = document.getElementById("item");
const status = document.getElementById("status");
const cards = [...form.querySelectorAll(".card")];
const asks = [...form.querySelectorAll(".ask")]; // all that must be answered, besides verdicts
const TYPED = "textarea, input[type=number], input[type=range]";
const submit = form.querySelector(".answer button");
const skip = document.getElementById("skip");
const comment = document.getElementById("comment");
const showEdits = form.querySelector(".show-edits");
const shortcuts = document.getElementById("shortcuts");
const DELAY = 350; // milliseconds from a choice to its draft

form.noValidate = true;
useToken(form.elements.csrfmiddlewaretoken.value);

function say(text) {
  if (status.textContent !== text) status.textContent = text;
}

// ---------------------------------------------------------------- the clock

const clock = {
  wall: Number(form.dataset.wall) || 0,
  active: Number(form.dataset.active) || 0,
  idle: 1000 * (Number(form.dataset.idle) || 60),
  last: performance.now(),
  input: performance.now(),

  // Time counts as active while the page has the focus and the last input is not long ago.
  tick() {
    const now = performance.now();
    const end = Math.min(now, this.input + this.idle);
    const here = document.visibilityState === "visible" && document.hasFocus();
    if (here) this.active += Math.max(0, end - this.last) / 1000;
    this.wall += (now - this.last) / 1000;
    this.last = now;
  },

  touch() {
    this.tick();
    this.input = performance.now();
  },
};

for (const kind of ["keydown", "pointerdown", "pointermove", "scroll", "input"]) {
  addEventListener(kind, () => clock.touch(), { passive: true, capture: true });
}
addEventListener("blur", () => clock.tick());
addEventListener("focus", () => clock.touch());
setInterval(() => clock.tick(), 1000);

// ---------------------------------------------------------------- saving

let timer = 0;
let submitted = null; // the entry that is on its way to being handed in
let sentText = "";

function fields() {
  clock.tick();
  const found = Object.fromEntries(new FormData(form));
  delete found.csrfmiddlewaretoken;
  found.active = clock.active.toFixed(2);
  found.wall = clock.wall.toFixed(2);
  return found;
}

function content(found) {
  const { key, active, wall, action, ...rest } = found;
  return JSON.stringify(rest);
}

function entryOf(action) {
  const found = { ...fields(), action, key: randomKey() };
  return { item: form.dataset.item, url: form.getAttribute("action"), action, fields: found };
}

function draft() {
  clearTimeout(timer);
  const found = fields();
  if (submitted || content(found) === sentText) return;
  sentText = content(found);
  post(entryOf("draft"));
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(draft, DELAY);
}

function hand(action) {
  const entry = entryOf(action);
  clearTimeout(timer);
  // the same answer once more is the same entry: its key stays, and the server keeps it once
  const known = submitted && submitted.action === action;
  if (known && content(submitted.fields) === content(entry.fields)) return post(submitted);
  submitted = entry;
  say(gettext("Sending …"));
  return post(entry);
}

const SAID = {
  offline: gettext("No connection. Your answer stays in this browser and is sent as soon as it can be."),
  broken: gettext("The server has a problem. Your answer stays in this browser and is sent again."),
  away: gettext("Your session has ended. Your answer stays in this browser: open a new link from whoever invited you, in another tab, and it is sent."),
};

listen((entry, outcome) => {
  const handed = submitted && entry.fields.key === submitted.fields.key;
  if (outcome.elsewhere && !handed) return;
  if (entry.item !== form.dataset.item) {
    if (outcome.kind === "refused" && entry.action !== "draft") {
      say([gettext("An earlier answer was refused:"), ...outcome.body.faults].join(" "));
    }
    return;
  }
  if (outcome.kind === "saved") {
    if (handed) location.assign(outcome.body.next);
    else if (!submitted) say([progress(), gettext("Saved.")].join(" "));
  } else if (outcome.kind === "refused") {
    if (handed) submitted = null;
    say(outcome.body.faults.join(" "));
  } else {
    if (!handed) sentText = "";
    say(SAID[outcome.kind]);
  }
});

function restore() {
  const entry = waiting(form.dataset.item);
  if (!entry) return;
  for (const [name, value] of Object.entries(entry.fields)) {
    const element = form.elements.namedItem(name);
    if (!element || ["key", "active", "wall", "action"].includes(name)) continue;
    if (element.type === "checkbox") element.checked = true;
    else element.value = value;
  }
  clock.active = Math.max(clock.active, Number(entry.fields.active) || 0);
  clock.wall = Math.max(clock.wall, Number(entry.fields.wall) || 0);
  if (entry.action !== "draft") submitted = entry;
  say(gettext("An answer of yours was not sent yet; sending it now."));
}

// ---------------------------------------------------------------- cards

function rankOf(card) {
  const found = card.querySelector(".ranking :checked");
  return found ? Number(found.value) : null;
}

function isOpen(ask) {
  const box = ask.querySelector("input[type=number]");
  return box ? box.value === "" : !ask.querySelector(":checked");
}

function openParts(place) {
  return [...place.querySelectorAll(".ask, .verdict")].filter(isOpen);
}

function progress() {
  const answered = asks.filter((ask) => !isOpen(ask)).length;
  const ranked = form.querySelector(".ranking") !== null;
  const done = ranked ? gettext("%s of %s ranked.") : gettext("%s of %s answered.");
  const open = [...form.querySelectorAll(".verdict")].filter(isOpen).length;
  const words = ngettext("%s change to judge.", "%s changes to judge.", open);
  const parts = asks.length ? [interpolate(done, [answered, asks.length])] : [];
  return parts.concat(open ? [interpolate(words, [open])] : []).join(" ");
}

function draw() {
  for (const card of cards) {
    const rank = rankOf(card);
    const chosen = card.querySelector(".chosen");
    if (chosen) chosen.textContent = rank === null ? "" : interpolate(gettext("rank %s"), [rank]);
  }
  for (const part of form.querySelectorAll(".missing")) {
    if (!openParts(part).length && !(part.matches(".ask") && isOpen(part))) part.classList.remove("missing");
  }
  markCurrent();
}

// Without any focus, as after a reload, the keys go to the first open question, or to the one that
// had the focus last, or to the first one: one of them is always current, and its card is marked.
let lastAsk = null;

function currentAsk() {
  const focused = document.activeElement.closest(".ask");
  if (focused) return focused;
  const card = document.activeElement.closest(".card");
  const here = card ? [...card.querySelectorAll(".ask")] : [];
  return here.find(isOpen) || here[0] || asks.find(isOpen) || lastAsk || asks[0];
}

function markCurrent() {
  const ask = currentAsk();
  const current = document.activeElement.closest(".card") || (ask ? ask.closest(".card") : cards[0]);
  for (const card of cards) card.classList.toggle("current", card === current);
}

form.addEventListener("focusin", (event) => {
  lastAsk = event.target.closest(".ask") || lastAsk;
  markCurrent();
});

function enter(ask) {
  const target = ask.querySelector(":checked") || ask.querySelector("input:not([type=range])");
  target.focus({ preventScroll: true, focusVisible: true });
  reveal(ask.closest(".card") && ask.matches(".ranking") ? ask.closest(".card") : ask);
}

// The bar at the bottom covers nothing that has the focus: see scroll-padding in the style sheet.
function reveal(element) {
  element.scrollIntoView({ block: "nearest" });
}

function answerBy(digit) {
  const ask = currentAsk();
  const radio = ask && ask.querySelector(`input[type=radio][value="${digit}"]`);
  if (!radio) return false;
  radio.checked = true;
  radio.dispatchEvent(new Event("change", { bubbles: true }));
  enter(asks[asks.indexOf(ask) + 1] || ask);
  return true;
}

function move(step) {
  const at = asks.indexOf(document.activeElement.closest(".ask")) + step;
  enter(asks[Math.max(0, Math.min(at, asks.length - 1))]);
}

function judgeEdit(value) {
  const all = [...form.querySelectorAll(".verdict")];
  const open = all.filter((one) => !one.querySelector(":checked"));
  const current = document.activeElement.closest(".verdict") || open[0] || all[0];
  if (!current) return false;
  const radio = current.querySelector(`input[value="${value}"]`);
  radio.checked = true;
  radio.dispatchEvent(new Event("change", { bubbles: true }));
  const after = all.slice(all.indexOf(current) + 1).find((one) => !one.querySelector(":checked"));
  const any = after || form.querySelector(".verdict:not(:has(:checked))");
  const next = any || all[all.indexOf(current) + 1];
  if (next) {
    next.querySelector("input").focus({ preventScroll: true, focusVisible: true });
    reveal(next);
  } else {
    enter(current.closest(".card").querySelector(".ask") || current);
  }
  return true;
}

function check() {
  const missing = openParts(form);
  for (const part of [...cards, ...asks.filter((ask) => !ask.closest(".card"))]) {
    part.classList.toggle("missing", missing.some((one) => part === one || part.contains(one)));
  }
  if (!missing.length) return true;
  enter(missing[0]);
  say([progress(), gettext("Not handed in yet: what is missing is framed.")].join(" "));
  return false;
}

function checkSkip() {
  if (skip.querySelector(":checked")) return true;
  openSkip();
  say(gettext("Please say why you skip this item."));
  return false;
}

function openSkip() {
  skip.open = true;
  const reason = skip.querySelector("input:checked") || skip.querySelector("input");
  reason.focus({ focusVisible: true });
  reveal(skip);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const wanted = event.submitter && event.submitter.value === "skip" ? "skip" : "submit";
  if (wanted === "skip" ? checkSkip() : check()) hand(wanted);
});

form.addEventListener("change", (event) => {
  if (event.target === showEdits) {
    remember("edits", showEdits.checked);
    return;
  }
  if (submitted) submitted = null;
  draw();
  say(progress());
  soon();
});

// A slider writes into the box beside it, which is the answer, and the box moves the slider.
function slide(target) {
  const name = target.dataset.of || target.name;
  const slider = form.querySelector(`input[data-of="${name}"]`);
  if (target === slider) form.elements.namedItem(name).value = slider.value;
  else if (slider && target.value !== "") slider.value = target.value;
}

for (const slider of form.querySelectorAll("input[data-of]")) slider.hidden = false;

form.addEventListener("input", (event) => {
  if (!event.target.matches(TYPED)) return;
  slide(event.target);
  if (submitted) submitted = null;
  if (event.target !== comment) draw();
  soon();
});

// ---------------------------------------------------------------- the keyboard

const LETTERS = {
  v: () => judgeEdit("valid"),
  x: () => judgeEdit("invalid"),
  e: () => showEdits.click(),
  c: () => comment.focus(),
  s: openSkip,
  b: () => form.dataset.back && leave(form.dataset.back),
};

async function leave(address) {
  draft();
  location.assign(address);
}

function isText(element) {
  return element.matches("textarea, select, input:not([type=radio], [type=checkbox])");
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && isText(event.target)) return event.target.blur();
  if (isText(event.target)) return;
  if (event.key === "Enter") return onEnter(event);
  if (!shortcuts.checked) return;
  const digit = /^[0-9]$/.test(event.key); // some keyboards have digits with Shift only
  if (event.shiftKey && !digit) return;
  if (event.key === "ArrowUp" || event.key === "ArrowDown") return onArrow(event);
  const used = digit ? answerBy(event.key) : LETTERS[event.key];
  if (!used) return;
  event.preventDefault();
  if (typeof used === "function") used();
}

// Enter on a button, a link or a heading that opens does what it does everywhere.
function onEnter(event) {
  if (event.target.closest("a, button, summary")) return;
  event.preventDefault();
  if (event.target.closest("#skip")) form.requestSubmit(skip.querySelector("button"));
  else if (document.getElementById("continue") && !changed()) location.assign(document.getElementById("continue").href);
  else form.requestSubmit(submit);
}

function changed() {
  return content(fields()) !== initial;
}

// Outside the ranks the arrows scroll, as everywhere.
function onArrow(event) {
  if (!event.target.closest(".ask")) return;
  event.preventDefault();
  move(event.key === "ArrowUp" ? -1 : 1);
}

document.addEventListener("keydown", onKey);

// ---------------------------------------------------------------- settings of this browser

function remember(what, value) {
  try {
    localStorage.setItem(`grammeter.${what}`, String(value));
  } catch {
    // the setting lasts as long as the page
  }
}

function remembered(what) {
  try {
    return localStorage.getItem(`grammeter.${what}`) !== "false";
  } catch {
    return true;
  }
}

showEdits.checked = remembered("edits");
shortcuts.checked = remembered("shortcuts");
shortcuts.addEventListener("change", () => remember("shortcuts", shortcuts.checked));

// A page from the browser's memory shows an old answer and an old clock.
addEventListener("pageshow", (event) => event.persisted && location.reload());
addEventListener("pagehide", draft);

const initial = content(fields());
sentText = initial;
restore();
draw();
if (!status.textContent) say(progress());
if (submitted || waiting(form.dataset.item)) flush();
