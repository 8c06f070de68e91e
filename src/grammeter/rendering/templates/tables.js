// Tables that are sorted by a click on the head: numbers as numbers, what is none last.

const NUMBER = /^[\s([]*([+\-−]?)(\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(e[+-]?\d+)?/i;

/** Return the number that a cell begins with, or NaN. */
function numberIn(text) {
  const found = NUMBER.exec(text);
  if (!found) return NaN;
  const size = Number(found[2].replaceAll(",", "") + (found[3] ?? ""));
  return found[1] === "-" || found[1] === "−" ? -size : size;
}

const collator = new Intl.Collator("en", { numeric: true });

/** Order two cells; `sign` is 1 for ascending, -1 for descending. */
function compareCells(a, b, sign, asNumbers) {
  if (!asNumbers) return sign * collator.compare(a, b);
  const [x, y] = [numberIn(a), numberIn(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
  return sign * (x - y);
}

function makeSortable(table) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  if (original.length < 2) return;
  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    const button = make("button", { type: "button", title: "Sort by this column" });
    button.append(...head.childNodes, make("span", { class: "arrow", "aria-hidden": "true" }));
    head.append(button);
    const asNumbers = head.classList.contains("r");
    // the first click shows the largest number, or the first name; the third the order as it was
    const turns = asNumbers ? ["descending", "ascending", null] : ["ascending", "descending", null];
    button.addEventListener("click", () => {
      const now = turns[(turns.indexOf(head.getAttribute("aria-sort")) + 1) % turns.length];
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      if (now) head.setAttribute("aria-sort", now);
      const sign = now === "ascending" ? 1 : -1;
      const text = (row) => row.cells[column].textContent.trim();
      const order = (a, b) => compareCells(text(a), text(b), sign, asNumbers);
      body.append(...(now ? [...original].sort(order) : original));
    });
  }
}
