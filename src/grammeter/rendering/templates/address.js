// The address: what is filtered, sorted and read, behind the #, so that it can be linked.

const plainState = () => ({
  sentence: null, // place of the current one
  query: "",
  regex: false,
  type: null,
  verdict: "",
  disagree: "",
  differ: false,
  sort: null, // place of a metric
  of: "spread", // or mean, or the place of a system
  order: "up",
  hidden: new Set(), // places of systems
});

function toAddress(state) {
  const parts = new URLSearchParams();
  if (state.sentence !== null) parts.set("s", state.sentence + 1);
  if (state.query) parts.set("q", state.query);
  if (state.regex) parts.set("regex", "1");
  if (state.type !== null) parts.set("type", state.type);
  if (state.verdict) parts.set("edits", state.verdict);
  if (state.disagree) parts.set("disagree", state.disagree);
  if (state.differ) parts.set("differ", "1");
  if (state.sort !== null) parts.set("sort", `${state.sort}.${state.of}`);
  if (state.order !== "up") parts.set("order", state.order);
  if (state.hidden.size) parts.set("without", [...state.hidden].join("."));
  return parts.toString();
}

/** Read an address back; null where it is none of ours, and what does not fit is left out. */
function fromAddress(text, data) {
  if (!text.includes("=")) return null;
  const parts = new URLSearchParams(text);
  const state = plainState();
  const place = (word, size) => (/^\d+$/.test(word) && Number(word) < size ? Number(word) : null);
  state.sentence = place(String(Number(parts.get("s") ?? NaN) - 1), data.count);
  state.query = parts.get("q") ?? "";
  state.regex = parts.get("regex") === "1";
  state.type = data.types.some(([name]) => name === parts.get("type")) ? parts.get("type") : null;
  state.verdict = VERDICTS.includes(parts.get("edits")) ? parts.get("edits") : "";
  const pairs = ["any", ...metricPairs(data.metrics).map((pair) => pair.join("."))];
  state.disagree = pairs.includes(parts.get("disagree")) ? parts.get("disagree") : "";
  state.differ = parts.get("differ") === "1";
  const [metric, of] = (parts.get("sort") ?? "").split(".");
  state.sort = place(metric, data.metrics.length);
  state.of = of === "mean" ? of : (place(of ?? "", data.systems.length) ?? "spread");
  state.order = parts.get("order") === "down" ? "down" : "up";
  const hidden = (parts.get("without") ?? "").split(".");
  const places = hidden.map((word) => place(word, data.systems.length));
  state.hidden = new Set(places.filter((each) => each !== null));
  return state;
}

/** Keep the state in the address without a new step in the history. */
function writeAddress(state) {
  const text = toAddress(state);
  const now = location.hash.slice(1);
  // a plain anchor of the page stays until there is something to keep
  if (text === now || (!text && !now.includes("="))) return;
  try {
    history.replaceState(null, "", `#${text}`);
  } catch {
    // some browsers refuse it for files: the page works, its address stands still
  }
}
