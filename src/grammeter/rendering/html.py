"""The page of a report: one HTML file that opens from disk and needs no network.

Style and script come from ``templates/`` and are part of the page. Its policy allows only these
two, by their hashes: a text that became markup despite the escaping could not run or load anything.
"""

import hashlib
import html
import json
import math
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain, count
from string import Template

from grammeter.core import Cell, Style, Table, terminal
from grammeter.rendering.page import Browser, Drawing, DrawnEdit, Page, PageSentence, Section

STYLES = ("page.css", "tables.css", "controls.css", "sentences.css", "edits.css")
SCRIPTS = ("page.js", "tables.js", "data.js", "filter.js", "draw.js", "address.js", "browser.js")
"""In the order in which they are read."""

TALL = 25  # number of rows from which a table scrolls in its own box, with its head in sight
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:;"
    " base-uri 'none'; form-action 'none'"
)
_FACT = "<div><dt>{}</dt><dd>{}</dd></div>\n"
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def page_html(page: Page) -> str:
    """Write a report as one HTML file.

    Every text is escaped; characters that HTML cannot hold (control characters, halves of a
    surrogate pair) become U+FFFD in the tables and remain among the sentences.
    """
    style, script, browser = style_sheet(), script_text(), page.browser
    links = [(section.anchor, escaped(section.title)) for section in page.sections]
    links += [("sentence-browser", "Sentences")] if browser is not None else []
    return Template(_template("page.html")).substitute(
        title=escaped(page.title),
        policy=_POLICY.format(script=_hash(script), style=_hash(style)),
        style=style,
        script=script,
        facts="".join(_FACT.format(*map(escaped, fact)) for fact in page.facts),
        links="".join(f'<li><a href="#{to}">{text}</a></li>\n' for to, text in links),
        sections="".join(_sections(page.sections)),
        browser="" if browser is None else _template("browser.html"),
        data="" if browser is None else "".join(_data(browser)),
    )


def escaped(text: str) -> str:
    """Escape a text for HTML, between tags and within quotes."""
    return html.escape(_UNSEEN.sub("\ufffd", text))


def plain(text: str) -> str:
    """Return a text without control or bidirectional characters, and those XML cannot hold."""
    return _UNSEEN.sub("\ufffd", terminal(text))


@cache
def style_sheet() -> str:
    """Return the page's style: all files of :data:`STYLES`."""
    return "\n".join(map(_template, STYLES))


@cache
def script_text() -> str:
    """Return the page's script: all files of :data:`SCRIPTS` in one function."""
    return '"use strict";\n(() => {\n' + "\n".join(map(_template, SCRIPTS)) + "\nstart();\n})();\n"


@cache
def _template(name: str) -> str:
    return (files("grammeter.rendering") / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _sections(sections: tuple[Section, ...]) -> Iterator[str]:
    tables, figures = count(1), count(1)
    for section in sections:
        head = f"{section.anchor}-head"
        yield f'<section id="{section.anchor}" aria-labelledby="{head}">\n'
        yield f'<h2 id="{head}">{escaped(section.title)}</h2>\n'
        yield from (f"<p>{escaped(words)}</p>\n" for words in section.words)
        captions = section.captions or (section.title,) * len(section.tables)
        for table, caption in zip(section.tables, captions, strict=True):
            yield from _table(table, f"{next(tables)}", caption)
        drawn = [_figure(drawing, next(figures)) for drawing in section.drawings]
        yield f'<div class="figures">\n{"".join(drawn)}</div>\n' if drawn else ""
        yield "</section>\n"


def _table(table: Table, number: str, caption: str) -> Iterator[str]:
    """Write a table that can be sorted, in a box that scrolls sideways where it is too wide."""
    name, tall = f"table-{number}", " tall" * (len(table.rows) > TALL)
    yield f'<div class="table">\n<div class="wide{tall}" role="group" aria-labelledby="{name}"'
    yield f' tabindex="0">\n<table>\n<caption id="{name}"><span><b>Table {number}.</b> '
    yield f"{escaped(caption)}</span></caption>\n<thead><tr>"
    for column in table.columns:
        yield f'<th scope="col" class="{column.side}">{escaped(column.head)}</th>'
    yield "</tr></thead>\n<tbody>\n"
    best = table.best_cells()
    for place, row in enumerate(table.rows):
        yield "<tr>" + "".join(_cells(table, place, row, best)) + "</tr>\n"
    yield "</tbody>\n</table>\n</div>\n"
    notes = [*(["Bold: the best of its column."] if best else []), *table.notes]
    if notes:
        items = "".join(f"<li>{escaped(note)}</li>\n" for note in notes)
        yield f'<ul class="notes">\n{items}</ul>\n'
    yield "</div>\n"


def _cells(
    table: Table, place: int, row: tuple[Cell, ...], best: Collection[tuple[int, int]]
) -> Iterator[str]:
    style = Style()
    for at, (cell, column) in enumerate(zip(row, table.columns, strict=True)):
        text = escaped(style.write(cell, column))
        shown = f"<bdi>{text}</bdi>" if column.side == "l" else text
        if (place, at) in best:
            shown = f"<strong>{shown}</strong>"
        shown += _mark(table, place, at)
        tag = 'th scope="row"' if at == 0 else "td"
        yield f'<{tag} class="{column.side}">{shown}</{tag[:2]}>'


def _mark(table: Table, place: int, column: int) -> str:
    """Write the mark behind a cell, as wide as the widest of its column, to align figures."""
    marks = {row: mark.strip() for (row, at), mark in table.marks.items() if at == column}
    width = max(map(len, marks.values()), default=0)
    mark = marks.get(place, "").ljust(width, "\u00a0")
    return f"<sup>{escaped(mark)}</sup>" if mark else ""


def _figure(drawing: Drawing, number: int) -> str:
    caption = f"<figcaption><b>Figure {number}.</b> {escaped(drawing.caption)}</figcaption>"
    box = f'<div class="wide" role="group" aria-label="Figure {number}" tabindex="0">'
    return f"<figure>\n{box}\n{drawing.svg}\n</div>\n{caption}\n</figure>\n"


def _data(browser: Browser) -> Iterator[str]:
    pieces = packed(browser)
    yield f'<script type="application/json" id="browser-head">{next(pieces)}</script>\n'
    for piece in pieces:
        yield f'<script type="application/json" class="sentences">{piece}</script>\n'


Json = str | int | float | None | list["Json"] | dict[str, "Json"]
PIECE = 200  # number of sentences in a piece
VERDICTS = (None, "matched", "spurious", "missed")
_LEAST_DIGITS, _MOST_DIGITS = 4, 9
_MARKUP = re.compile("[<>&\u2028\u2029\ud800-\udfff]")

Key = tuple[int, int, str, str]


def packed(browser: Browser) -> Iterator[str]:
    """Return the head, then the sentences, :data:`PIECE` at a time.

    The head is what the page needs before it shows the first sentence; its ``metrics`` have
    name, whether higher is better, and the decimals of the values; its ``types`` have name and
    number of sentences. A sentence is ``[source, references, edits, outputs]``; an edit
    ``[start, end, correction, type]``, a remark behind them if there is one; an output
    ``[systems, marks, values]`` and, unless its edits make it out of the source, its text; ``null``
    in that place if references of its own follow. A mark is four times the place of the edit and
    the place of its verdict in :data:`VERDICTS`; a value is a whole number of its last decimal.
    White space in a source, and in a text that is not written, counts as single spaces.
    """
    outputs = [output for sentence in browser.sentences for output in sentence.outputs]
    digits = [_digits(of.values[at] for of in outputs) for at in range(len(browser.metrics))]
    kinds = ({e.type for o in of.outputs for e in o.edits} for of in browser.sentences)
    types = dict(sorted(Counter(chain.from_iterable(kinds)).items()))
    metrics = zip(browser.metrics, digits, strict=True)
    head: dict[str, Json] = {"systems": list(browser.systems)}
    head["metrics"] = [[name, int(higher), places] for (name, higher), places in metrics]
    head["types"] = [[name, number] for name, number in types.items()]
    head |= {"judgedBy": browser.judged_by, "count": len(browser.sentences), "piece": PIECE}
    yield script_json(head)
    numbers = {name: place for place, name in enumerate(types)}
    for first in range(0, len(browser.sentences), PIECE):
        piece = browser.sentences[first : first + PIECE]
        yield script_json([_sentence(sentence, numbers, digits) for sentence in piece])


def script_json(value: Json) -> str:
    r"""Write JSON that may stand in a ``script`` element: ``<`` as ``\u003c`` and so on."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _MARKUP.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _sentence(sentence: PageSentence, numbers: dict[str, int], digits: Sequence[int]) -> Json:
    words = sentence.source.split()
    edits: dict[Key, str] = {}
    for edit in (edit for output in sentence.outputs for edit in output.edits):
        edits[_key(edit)] = edit.remark or edits.get(_key(edit), "")
    places = {key: place for place, key in enumerate(edits)}
    drawn: Json = [
        [start, end, text, numbers[kind], *([remark] if remark else [])]
        for (start, end, text, kind), remark in edits.items()
    ]
    outputs: list[Json] = []
    for output in sentence.outputs:
        marks = [4 * places[_key(edit)] + VERDICTS.index(edit.verdict) for edit in output.edits]
        values = [_whole(*pair) for pair in zip(output.values, digits, strict=True)]
        follows = _corrected(words, output.edits) == output.text.split()
        own: list[Json] = [[*output.references]] if output.references else []
        text: list[Json] = [None] * len(own) if follows else [output.text]
        outputs.append([list(output.systems), [*marks], values, *text, *own])
    return [" ".join(words), list(sentence.references), drawn, outputs]


def _corrected(words: Sequence[str], edits: Iterable[DrawnEdit]) -> list[str] | None:
    done, made = 0, list[str]()
    for edit in edits:
        if edit.verdict == "missed":
            continue
        if not done <= edit.start <= edit.end <= len(words):
            return None
        made += [*words[done : edit.start], *edit.correction.split()]
        done = edit.end
    return [*made, *words[done:]]


def _key(edit: DrawnEdit) -> Key:
    return edit.start, edit.end, edit.correction, edit.type


def _digits(values: Iterable[float]) -> int:
    size = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    wanted = 3 - math.floor(math.log10(size)) if size > 0 else 0
    return min(max(wanted, _LEAST_DIGITS), _MOST_DIGITS)


def _whole(value: float, digits: int) -> Json:
    """Round once: the page shows and sorts by the number that ``format_number`` writes."""
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return int(f"{value:.{digits}f}".replace(".", ""))
