// Answers on their way to the server. What was not sent yet lies in localStorage and is sent
// later, from this page or from the next one; its key makes the server keep it once.

const PREFIX = "grammeter.answer.";
const PATIENCE = 20000; // milliseconds until a request counts as lost
const SLOWEST = 30000;

const judge = document.body.dataset.judge || "";
const session = document.body.dataset.session || "";
let token = "";
let lane = Promise.resolve();
let pause = 1000;
let timer = 0;

const listeners = new Set();
const tabs = new BroadcastChannel(`grammeter.${judge}`); // one tab may send what another one waits for
const memory = new Map(); // in place of localStorage where the browser has none to give

export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Listeners get (entry, outcome); outcome.kind is saved, refused, away, offline or broken, and
// outcome.elsewhere says that another tab of this judge sent the entry.
export function listen(listener) {
  listeners.add(listener);
}

export function useToken(value) {
  token = value;
}

export function waiting(item) {
  const text = read(name(item));
  return text ? JSON.parse(text) : null;
}

// A newer entry of an item takes the place of an older one.
export function post(entry) {
  write(name(entry.item), JSON.stringify(entry));
  return flush();
}

export function forget(item) {
  write(name(item), null);
}

// One request at a time, so that a draft never overtakes the answer that follows it.
export function flush() {
  lane = lane.then(sendAll, sendAll);
  return lane;
}

function name(item) {
  return `${PREFIX}${judge}.${item}`;
}

function read(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return memory.get(key) || null;
  }
}

function write(key, text) {
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    if (text === null) memory.delete(key);
    else memory.set(key, text);
  }
}

function stored() {
  let keys = [...memory.keys()];
  try {
    keys = keys.concat(Object.keys(localStorage));
  } catch {
    // only what this page keeps
  }
  return keys.filter((key) => key.startsWith(`${PREFIX}${judge}.`));
}

async function sendAll() {
  clearTimeout(timer);
  for (const key of stored()) {
    const text = read(key);
    if (!text) continue;
    const entry = JSON.parse(text);
    const outcome = await send(entry);
    const settled = outcome.kind === "saved" || outcome.kind === "refused";
    if (settled && read(key) === text) write(key, null);
    tell(entry, outcome);
    if (settled) tabs.postMessage([entry, { ...outcome, elsewhere: true }]);
    if (outcome.kind === "offline" || outcome.kind === "broken") return again();
    if (outcome.kind === "away") return;
  }
  pause = 1000;
}

function tell(entry, outcome) {
  for (const listener of listeners) listener(entry, outcome);
}

function again() {
  timer = setTimeout(flush, pause);
  pause = Math.min(2 * pause, SLOWEST);
}

async function send(entry) {
  let answer = await request(entry);
  if (answer && (answer.status === 401 || answer.status === 403)) {
    if (!(await renewed())) return { kind: "away" };
    answer = await request(entry);
  }
  if (!answer) return { kind: "offline" };
  if (answer.status >= 500 || answer.status === 429) return { kind: "broken" };
  const body = await answer.json().catch(() => null);
  if (answer.ok && body) return { kind: "saved", body };
  return { kind: "refused", body: body || { faults: [gettext("The server refused this answer.")] } };
}

async function request(entry) {
  const body = new URLSearchParams(entry.fields).toString();
  const headers = {
    Accept: "application/json",
    "Content-Type": "application/x-www-form-urlencoded",
    "X-CSRFToken": token,
  };
  const signal = AbortSignal.timeout(PATIENCE);
  // browsers finish a short request after the page is left, and refuse to promise it for long ones
  const keepalive = body.length < 60000;
  const options = { method: "POST", body, headers, signal, keepalive, redirect: "error" };
  return fetch(entry.url, options).catch(() => null);
}

// After an expired session somebody may have come back by a new link: as the same judge?
async function renewed() {
  const headers = { Accept: "application/json" };
  const answer = await fetch(session, { headers, cache: "no-store" }).catch(() => null);
  const body = answer && answer.ok ? await answer.json().catch(() => null) : null;
  if (!body || body.judge !== judge) return false;
  token = body.token;
  return true;
}

tabs.addEventListener("message", (event) => tell(...event.data));
addEventListener("online", flush);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") flush();
});
if (judge && stored().length) renewed().then(flush);
