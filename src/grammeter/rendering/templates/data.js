// The sentences as report/packed.py writes them: pieces of JSON, each read when it is needed.

const [SOURCE, REFERENCES, EDITS, OUTPUTS] = [0, 1, 2, 3]; // places in a sentence
const [SYSTEMS, MARKS, VALUES, TEXT, OWN] = [0, 1, 2, 3, 4]; // places in an output
const [START, END, CORRECTION, TYPE] = [0, 1, 2, 3]; // places in an edit
const VERDICTS = ["", "matched", "spurious", "missed"];
const MISSED = VERDICTS.indexOf("missed");

function openData() {
  const head = JSON.parse(byId("browser-head").textContent);
  const pieces = [...document.querySelectorAll("script.sentences")];
  const read = [];
  return {
    ...head,
    sentence(number) {
      const piece = Math.floor(number / head.piece);
      if (!read[piece]) {
        read[piece] = JSON.parse(pieces[piece].textContent);
        pieces[piece].remove(); // its text need not be held twice
      }
      return read[piece][number % head.piece];
    },
  };
}

/** Apply to the words of a source the edits that an output made. */
function corrected(sentence, output) {
  const words = sentence[SOURCE] ? sentence[SOURCE].split(" ") : [];
  const made = [];
  let done = 0;
  for (const mark of output[MARKS]) {
    if ((mark & 3) === MISSED) continue;
    const edit = sentence[EDITS][mark >> 2];
    made.push(...words.slice(done, edit[START]));
    if (edit[CORRECTION]) made.push(edit[CORRECTION]);
    done = edit[END];
  }
  return [...made, ...words.slice(done)].join(" ");
}

/** Return what an output reads; built on first use where it is not written down. */
function textOf(sentence, output) {
  return output[TEXT] ?? output.built ?? (output.built = corrected(sentence, output));
}

/** Return a value as a whole number of its last decimal; NaN where there is none. */
function wholeValue(output, metric) {
  const whole = output[VALUES][metric];
  return whole === null ? NaN : Number(whole);
}

/** Write a whole number of the last decimal as people read it. */
function shownValue(whole, digits) {
  if (Number.isNaN(whole)) return "NaN";
  if (!Number.isFinite(whole)) return whole > 0 ? "∞" : "−∞";
  return (whole / 10 ** digits).toFixed(digits);
}
