// One sentence as elements: source, references, and each output with its edits drawn in.

const SIGNS = { "": "", matched: "✓", spurious: "✗", missed: "○" };

const unseen = (text) => make("span", { class: "unseen" }, text);
const shownText = (text) => make("bdi", { class: "text" }, text);

/** Draw an edit. What colour, line and sign tell the eye, hidden words tell the ear. */
function drawEdit(original, correction, verdict, type, remark = "") {
  const act = original && correction ? "replace" : original ? "delete" : "insert";
  const says = [verdict, type, remark].filter(Boolean).join(", ");
  const box = make("span", { class: `edit ${verdict || "plain"}`, title: says || null });
  if (SIGNS[verdict]) {
    box.append(make("span", { class: "sign", "aria-hidden": "true" }, SIGNS[verdict]));
  }
  box.append(unseen(`[${verdict || "edit"}: ${act} `));
  if (verdict === "missed") {
    // the output left these words as they are, so nothing is struck out
    const wanted = make("ins", {}, make("span", { "aria-hidden": "true" }, "→"), correction || "∅");
    if (original) box.append(make("span", { class: "kept" }, original), unseen(" to "));
    box.append(wanted);
  } else {
    if (original) box.append(make("del", {}, original));
    if (act === "replace") box.append(unseen(" with "));
    if (correction) box.append(make("ins", {}, correction));
  }
  for (const text of [type, remark]) if (text) box.append(make("small", { class: "kind" }, text));
  const all = new DocumentFragment();
  all.append(box, unseen("]")); // behind the box, whose last line it could otherwise break
  return all;
}

const overlap = (a, b) => a.start < b.end && b.start < a.end;

/**
 * Part edits into those that stand in the line of the sentence and those that overlap one of
 * them; what the output made goes before what it missed.
 */
function partEdits(edits) {
  const inLine = [];
  const beside = [];
  const missedLast = (a, b) => (a.verdict === "missed") - (b.verdict === "missed");
  for (const edit of [...edits].sort((a, b) => missedLast(a, b) || a.place - b.place)) {
    const other = inLine.find((each) => overlap(each, edit));
    if (other) beside.push({ edit, after: other });
    else inLine.push(edit);
  }
  inLine.sort((a, b) => a.start - b.start || a.end - b.end || a.place - b.place);
  return [inLine, beside];
}

/** Draw edits into the words of a source. */
function drawEdits(words, edits) {
  const line = make("bdi", { class: "text" });
  const add = (node) => line.append(...(line.childNodes.length ? [" ", node] : [node]));
  const draw = (e) =>
    drawEdit(words.slice(e.start, e.end).join(" "), e.correction, e.verdict, e.type, e.remark);
  const [inLine, beside] = partEdits(edits);
  let done = 0;
  for (const edit of inLine) {
    if (edit.start > done) add(words.slice(done, edit.start).join(" "));
    add(draw(edit));
    for (const other of beside) if (other.after === edit) add(draw(other.edit));
    done = Math.max(done, edit.end);
  }
  if (done < words.length) add(words.slice(done).join(" "));
  return line;
}

/** Return the edits of an output as objects, in the order they have in the data. */
function editsOf(data, sentence, output) {
  return output[MARKS].map((mark, place) => {
    const [start, end, correction, type, note] = sentence[EDITS][mark >> 2];
    const verdict = VERDICTS[mark & 3];
    const remark = verdict === "spurious" ? note : "";
    return { place, start, end, correction, verdict, type: data.types[type][0], remark };
  });
}

function drawOutputText(data, sentence, output) {
  const words = sentence[SOURCE] ? sentence[SOURCE].split(" ") : [];
  const text = textOf(sentence, output);
  const box = make("div", { class: "what" });
  const drawn = () => drawEdits(words, editsOf(data, sentence, output));
  if ((output[TEXT] ?? null) === null) {
    box.append(make("p", {}, text || output[MARKS].length ? drawn() : label("empty")));
    if (text === sentence[SOURCE] && text) box.lastChild.append(" ", label("unchanged"));
    return box;
  }
  // the edits are not the whole difference: the text itself must be seen
  box.append(make("p", {}, text ? shownText(text) : label("empty")));
  if (output[MARKS].length) box.append(make("p", { class: "aside" }, label("edits"), " ", drawn()));
  return box;
}

const label = (text) => make("i", { class: "label" }, text);

function drawValues(data, output, best) {
  return data.metrics.map(([name, , digits], metric) => {
    const whole = wholeValue(output, metric);
    const text = shownValue(whole, digits);
    const shown = best[metric] === whole ? make("strong", {}, text) : text;
    const attributes = { class: "value", "data-metric": name };
    return make("div", attributes, make("dt", {}, make("bdi", {}, name)), make("dd", {}, shown));
  });
}

/** Return the best value of each metric, NaN where all outputs have the same. */
function bestValues(data, outputs) {
  return data.metrics.map(([, higher], metric) => {
    const values = outputs.map((output) => wholeValue(output, metric)).filter((v) => !Number.isNaN(v));
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return low === high || !values.length ? NaN : higher ? high : low;
  });
}

function drawOutput(data, sentence, output, best, hidden) {
  const names = output[SYSTEMS].filter((place) => !hidden.has(place)).map((p) => data.systems[p]);
  const who = make("div", { class: "who" });
  for (const [place, name] of names.entries()) {
    who.append(...(place ? [", "] : []), make("bdi", {}, name));
  }
  const values = make("dl", { class: "values" }, ...drawValues(data, output, best));
  const item = make("div", { class: "output", role: "listitem" });
  const what = drawOutputText(data, sentence, output);
  if (output[OWN]) what.append(drawTexts(sentence, output[OWN]));
  item.append(who, what, values);
  return item;
}

/** Draw references: below the source, or, if they are an output's own, alone. */
function drawTexts(sentence, own) {
  const references = own ?? sentence[REFERENCES];
  const list = make("dl", { class: "texts" });
  const row = (name, shown) => list.append(make("div", {}, make("dt", {}, name), make("dd", {}, shown)));
  if (!own) row("source", sentence[SOURCE] ? shownText(sentence[SOURCE]) : label("empty"));
  for (const [place, text] of references.entries()) {
    const name = references.length > 1 ? `reference ${place + 1}` : "reference";
    if (text === null) row(name, label("none"));
    else if (text === sentence[SOURCE]) row(name, label("as the source"));
    else row(name, text ? shownText(text) : label("empty"));
  }
  return list;
}

/** Draw a sentence; `note` says by what it was sorted. */
function drawSentence(data, number, state, note) {
  const sentence = data.sentence(number);
  const outputs = shownOutputs(sentence, state.hidden);
  const best = bestValues(data, outputs);
  const link = make("a", { href: `#s=${number + 1}` }, `Sentence ${number + 1}`);
  const head = make("header", {}, make("h3", { id: `head-${number}` }, link));
  if (note) head.append(make("span", { class: "note" }, note));
  const heads = make("div", { class: "heads", "aria-hidden": "true" });
  heads.append(make("span", {}, "systems"), make("span", {}, "output"));
  heads.append(...data.metrics.map(([name]) => make("span", { class: "r", title: name }, name)));
  const list = make("div", { class: "outputs", role: "list", "aria-label": "Outputs" }, heads);
  list.style.setProperty("--metrics", data.metrics.length);
  list.append(...outputs.map((output) => drawOutput(data, sentence, output, best, state.hidden)));
  const attributes = { class: "sentence", tabindex: "-1", "aria-labelledby": `head-${number}` };
  const article = make("article", attributes, head, drawTexts(sentence), list);
  article.dataset.number = number;
  return article;
}

/** Say in the line above the sentences what the signs mean. */
function drawLegend(judgedBy) {
  if (judgedBy === null) {
    const edit = drawEdit("old", "new", "", "");
    return [edit, " an edit of the output; no metric here says whether it is right"];
  }
  const items = [
    ["matched", "made, as the reference has it"],
    ["spurious", "made, but not in the reference"],
    ["missed", "in the reference, but not made"],
  ].map(([verdict, words]) => {
    const name = make("b", {}, verdict);
    return make("span", { class: "item" }, drawEdit("old", "new", verdict, ""), " ", name, `: ${words}`);
  });
  return [...items, make("span", { class: "item" }, "judged by ", make("bdi", {}, judgedBy))];
}

/** Mark what the search found, where the browser can mark without changing elements. */
function markFound(root, query, isPattern) {
  if (!globalThis.CSS?.highlights) return;
  CSS.highlights.delete("found");
  if (!query) return;
  const plain = query.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const pattern = new RegExp(isPattern ? query : plain, "giu");
  const ranges = [];
  for (const box of root.querySelectorAll(".text")) {
    const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      if (walker.currentNode.parentElement.matches(".unseen, .kind, .sign")) continue;
      for (const match of walker.currentNode.data.matchAll(pattern)) {
        const range = new Range();
        range.setStart(walker.currentNode, match.index);
        range.setEnd(walker.currentNode, match.index + match[0].length);
        if (match[0]) ranges.push(range);
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}
