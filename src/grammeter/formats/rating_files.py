"""Ratings from files: CSV and TSV, long or wide, JSON lines, and the forms of published sets.

One rating a line, in any order of columns; ``score`` may be empty, ``scale`` may be absent::

    judge,segment,system,criterion,score,scale
    ann,1,granska,grammaticality,2,1-4

A wide table has a column a criterion in place of ``criterion`` and ``score``. JSON lines have the
same keys, or ``"scores": {"grammaticality": 3, "fluency": null}`` of one output; ``system`` may be
a list of those that wrote the same. ``segment`` counts from 1; ``item`` may be any name instead.
"""

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import zip_longest
from typing import Any, Literal, NamedTuple, cast

from grammeter.core import DataError, Scale, UsageError
from grammeter.formats import tables
from grammeter.formats.edit_judgments import counted_lines
from grammeter.formats.ratings import RatingFile, RatingRow
from grammeter.formats.text import split_lines, with_line_feeds

Layout = Literal["criteria", "systems"]
"""What the columns of a wide table are."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_SCALE = re.compile(rf"\s*({_NUMBER.pattern})\s*[-–:]\s*({_NUMBER.pattern})\s*")
_FIX = """\
Write judge,segment,system,criterion,score, or {"judge": "a", "segment": 1, "system": "X", \
"criterion": "fluency", "score": 3}."""
_HEADS = ("judge", "segment", "item", "system", "scale", "criterion", "score")
_BESIDE = (
    "seconds", "skipped", "complete", "version", "kind", "document", "comment", "source", "output",
)  # fmt: skip
_CRITERIA = {"meaning preservation": "meaning"}
_ORDER = ("grammaticality", "fluency", "meaning")
_CONTROLS = ("CHK", "BAD", "REF", "TGT")
_TMU = ("grammer", "fluency", "meaning")
_MULTIGEC = re.compile(
    r"\s*#[^\n]+\n\s*\w{1,40}[ \t]?:[ \t]*[\d.]{1,9}([ \t]+\w{1,40}[ \t]?:|[ \t]*(\n|\Z))"
)
_PAIR = re.compile(r"(\w{1,40})[ \t]?:[ \t]*([^\s:]{1,40}(?=\s|\Z))?\s*")
_FOUR = "1-4"
_LARGEST = 1e15  # larger ends of scales are refused
_MISSING = ("", "null", None)
_ANNOTATED = 'Each sentence has "original" and "systems"; a system "output" and "annotators".'
_OF_RATINGS = (
    "Give {'data': [{'systems': {NAME: {'output': TEXT, 'annotators': {JUDGE: {'corrected': TEXT}}}"
    "}}]}, with the names of --hyps; or texts, or M2."
)
_OBJECTS = Mapping[str, Mapping[str, Any]]
Raw = tuple[Any, Any, Any, Any, Any, Any, str]
"""A :class:`RatingRow` as readers find it."""


def parse_scale(text: str) -> Scale:
    """Read ``1-4``; raise :class:`DataError` if it is no scale."""
    match = _SCALE.fullmatch(text)
    low, high = (float(match[1]), float(match[4])) if match else (1.0, 0.0)
    if not -_LARGEST <= low < high <= _LARGEST:
        raise DataError(f"the scale is {text!r}", fix="Write its least and largest score: 1-4.")
    return low, high


def stated_scale(text: str | None) -> Scale | None:
    """Read the scale that the user states; raise :class:`UsageError` if it is none."""
    try:
        return None if text is None else parse_scale(text)
    except DataError as error:
        raise UsageError(f"--scale: {error.message}", fix=error.fix) from None


def is_ratings(text: str, layout: Layout | None = None) -> bool:
    """Whether a text holds ratings; its beginning tells."""
    return _reader(text, layout) is not None


def parse_ratings(
    text: str, where: str, notices: Sequence[str] = (), *, layout: Layout | None = None
) -> RatingFile:
    """Read the rows of a text; ``where`` names it in messages."""
    text = with_line_feeds(text)
    read = _reader(text, layout)
    if layout == "systems" and read is not _systems:
        fix = "Leave out --layout systems (layout=)."
        raise UsageError(f"{where}: no table with a column for each system", fix=fix)
    if read is None:
        raise DataError("ratings of no known form", where=f"{where}:1", fix=_FIX)
    file = read(text, where)
    if not file.rows:
        raise DataError("no rating in this file", where=where, fix=_FIX)
    idle = layout == "criteria" and read is not _table
    notes = ["--layout criteria (layout=) had no effect"] if idle else []
    notices = (*notices, *file.notices)
    return replace(file, where=where, notices=notices, notes=(*file.notes, *notes))


def _reader(text: str, layout: Layout | None) -> Callable[[str, str], RatingFile] | None:
    """Return what reads a text; ``None`` if it holds no ratings."""
    start = text.lstrip()
    head = [] if start[:1] in ("{", "<") else _cells(re.split(r"[\r\n]", start, maxsplit=1)[0])
    known = "judge" in head and "system" in head and ("segment" in head or "item" in head)
    readers: dict[Callable[[str, str], RatingFile], bool] = {
        _lines: start.startswith("{") and _is_rating_line(start),
        _annotations: re.match(r'\{\s*"(data|item_order|next_item)"\s*:', start) is not None,
        _blocks: _MULTIGEC.match(text) is not None,
        _systems: layout == "systems" and len(head) > 1,
        _tmu: {"source", "output", "system", *_TMU} <= {*head},
        _appraise: len(head) == 9 and head[3] in _CONTROLS and bool(_NUMBER.fullmatch(head[6])),
        _table: known and not {"correction", "verdict"} <= {*head},
    }
    return next((read for read, fits in readers.items() if fits), None)


def _cells(line: str) -> list[str]:
    mark = "\t" if "\t" in line else ","
    return [cell.strip() for cell in next(csv.reader([line[:10_000]], delimiter=mark), ())]


def _is_rating_line(text: str) -> bool:
    line, _, rest = text.partition("\n")
    if '"campaign-details"' in line:
        line = rest.partition("\n")[0]
    try:
        data = tables.parse_line(line, _FIX)
    except DataError:
        return False
    return {"judge", "system"} <= {*data} and bool({"score", "scores", "skipped"} & {*data})


# --- rows ----------------------------------------------------------------------------------
def _checked(rows: Iterable[Raw]) -> list[RatingRow]:
    """Check what readers found; names of sentences become numbers if all of them are."""
    rows = list(rows)
    named = {row[1].strip() for row in rows if isinstance(row[1], str)}
    whole = all(re.fullmatch(r"[1-9]\d{0,14}", name) for name in named)
    checked: list[RatingRow] = []
    for judge, segment, system, criterion, score, scale, origin in rows:
        with tables.placed(origin):
            name = isinstance(segment, str) and _name(segment, "item")
            number: int | str = int(name) if name and whole else name or segment
            listed = cast("list[object]", system if isinstance(system, list) else [system])
            systems = tuple(_name(name, "system") for name in listed)
            value = tables.number(score, "the score", _MISSING)
            of = _name(judge, "judge"), number, systems, _name(criterion, "criterion")
            known = None if math.isnan(value) else value
            checked.append(RatingRow(*of, known, _scale_of(scale, criterion), origin))
    return checked


def _name(value: object, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{what} is {ascii(value)[:40]}, not a name", fix=_FIX)
    return tables.checked_text(value.strip(), what)


def _scale_of(value: Any, criterion: str) -> Scale | None:
    """Read ``[1, 4]``, ``"1-4"``, or one of these by criterion."""
    if isinstance(value, dict):
        value = cast("dict[str, object]", value).get(criterion)
    if isinstance(value, list):
        value = "-".join(map(str, cast("list[object]", value)))
    text = "" if value is None else str(cast("object", value))
    return parse_scale(text) if text else None


# --- tables --------------------------------------------------------------------------------
def _columns(text: str, where: str) -> tables.Columns:
    mark: tables.RecordForm = "tsv" if "\t" in text.partition("\n")[0] else "csv"
    table = tables.parse_columns(text.strip("\r\n").encode(), where, mark)
    return replace(table, cells={name.strip(): of for name, of in table.cells.items()})


def _table(text: str, where: str) -> RatingFile:
    """Read a table with a row a rating, or a column a criterion."""
    table = _columns(text, where)
    is_long = bool({"criterion", "score"} & {*table.cells})
    wide = [] if is_long else [name for name in table.cells if name not in (*_HEADS, *_BESIDE)]
    rows: list[Raw] = []
    for origin, row in table.rows(*(wide or ("criterion", "score"))):
        of = row["judge"], _sentence(row, origin), row["system"]
        cells = [(name, row[name]) for name in wide] or [(row["criterion"], row["score"])]
        rows += [(*of, name, cell, row.get("scale"), origin) for name, cell in cells]
    return RatingFile(where, _checked(rows))


def _systems(text: str, where: str) -> RatingFile:
    """Read GMEG (Napoles et al. 2019): a column a system, a row a sentence; empty if not rated."""
    table, rows, empty = _columns(text, where), list[Raw](), 0
    names = [name for name in table.cells if name not in _HEADS]
    for at, (origin, cells) in enumerate(table.rows(), start=1):
        row = {"judge": "unknown", "criterion": "overall", "item": str(at)} | cells
        judge, sentence, criterion = row["judge"], _sentence(row, origin), row["criterion"]
        of = [(judge, sentence, name, criterion, row[name]) for name in names]
        rows += [(*cell, row.get("scale"), origin) for cell in of]
        empty += not any(row[name].strip() for name in names)
    notices = (f"{where}: {empty} rows are empty: not rated",) if empty else ()
    unknown = f"{where}: who gave which rating is unknown: each row counts as one judge's"
    notes = () if "judge" in table.cells else (unknown,)
    return RatingFile(where, _checked(rows), notices=notices, notes=notes)


def _sentence(row: Mapping[str, Any], origin: str) -> int | str:
    """Return the number of a sentence, or its name."""
    with tables.placed(origin):
        if "segment" in row:
            return tables.whole_number(row["segment"], "segment", 1)
    return "" if (name := row.get("item")) is None else str(name)


def _tmu(text: str, where: str) -> RatingFile:
    """Read TMU-GFM (Yoshimura et al. 2020): five ratings in a cell, several systems in another."""
    table = _columns(text, where)
    rows: list[Raw] = []
    for origin, row in table.rows():
        systems = row["system"].split(",")
        for criterion, column in zip(_ORDER, _TMU, strict=True):
            for number, cell in enumerate(row[column].split(","), start=1):
                of = f"annotator{number}", row["source"], systems, criterion, cell
                rows.append((*of, _FOUR, origin))
    note = "the places of ratings in a cell count as judges; they may be other persons in each row"
    return RatingFile(where, _checked(rows), 0.0, repeats=True, notes=(f"{where}: {note}",))


def _appraise(text: str, where: str) -> RatingFile:
    """Read what Appraise exports of direct assessment; only ratings of type TGT count."""
    controls = Counter[str]()
    rows: list[Raw] = []
    for number, line in enumerate(split_lines(text), start=1):
        if not line.strip():
            continue
        cells = _cells(line)
        if len(cells) != 9 or cells[3] not in _CONTROLS:
            fault = f"no nine cells with a type of {', '.join(_CONTROLS)} as the fourth"
            raise DataError(fault, where=f"{where}:{number}", fix="Export the scores again.")
        judge, system, segment, kind = cells[:4]
        if kind == "TGT":
            of = judge, segment, system.split("+"), "overall", cells[6]
            rows.append((*of, "0-100", f"{where}:{number}"))
        controls[kind] += kind != "TGT"
    counts = [(kind, count) for kind, count in controls.items() if count]
    notices = [f"{where}: {n} ratings of type {kind} do not count" for kind, n in counts]
    if any(row[1] == "0" for row in rows) and all(row[1].isdecimal() for row in rows):
        rows = [(row[0], str(int(row[1]) + 1), *row[2:]) for row in rows]
        notices.append(f"{where}: sentences are counted from 0 there, here from 1")
    return RatingFile(where, _checked(rows), notices=tuple(notices))


def _blocks(text: str, where: str) -> RatingFile:
    """Read the annotation of MultiGEC-2025: ``#SYSTEM``, then a line with ratings for each text."""
    sizes: dict[str, int] = {}
    slips = Counter[str]()
    rows: list[Raw] = []
    system = ""
    for number, line in enumerate(split_lines(text), start=1):
        origin = f"{where}:{number}"
        if line.startswith("#"):
            system = line[1:].strip()
            if system in sizes:
                raise DataError(f"a second block of {system}", where=origin, fix="Join the two.")
            sizes[system] = 0
        elif line.strip():
            if "".join(match[0] for match in _PAIR.finditer(line)) != line.lstrip():
                fault = f"{line[:40]!r} is no rating"
                raise DataError(fault, where=origin, fix="Write: Fluency: 2")
            sizes[system] += 1
            for label, cell in cast("list[tuple[str, str]]", _PAIR.findall(line)):
                name = next(iter(get_close_matches(label.lower(), _ORDER, 1, 0.8)), label.lower())
                slips[label] += name != label.lower()
                rows.append(("annotator1", sizes[system], system, name, cell, _FOUR, origin))
    if len({*sizes.values()}) > 1:
        counts = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise DataError(f"unequal numbers of texts: {counts}", where=where, fix="Complete it.")
    slip = "is taken as a slip of the pen"
    notices = tuple(f"{where}: {label!r} {slip} ({n})" for label, n in slips.items() if n)
    note = f"{where}: its one judge has no name: annotator1"
    return RatingFile(where, _checked(rows), notices=notices, notes=(note,))


# --- JSON ----------------------------------------------------------------------------------
def _lines(text: str, where: str) -> RatingFile:
    """Read JSON lines: one rating a line, or one output."""
    lines, notices = counted_lines(text, where, _FIX)
    rows: list[Raw] = []
    for origin, data in lines:
        with tables.placed(origin):
            scores: Any = data.get("scores")
            if "score" in data and scores is None:
                scores = {data.get("criterion"): data["score"]}
            if not isinstance(scores, dict):
                raise DataError("no scores", fix=_FIX)
        of = data.get("judge"), _sentence(data, origin), data.get("system")
        found = cast("dict[str, object]", scores).items()
        rows += [(*of, name, score, data.get("scale"), origin) for name, score in found]
    return RatingFile(where, _checked(rows), notices=tuple(notices))


class Annotated(NamedTuple):
    """The output of a system, or the source (system ""), and what each judge wrote of it."""

    number: int  # of the sentence, from 1
    system: str
    text: str
    judges: Mapping[str, Mapping[str, Any]]


def annotated(text: str, where: str, fix: str = _ANNOTATED) -> list[Annotated]:
    """Read the annotation of Östling et al. (2024): texts, systems, and judges' ratings."""
    data, rows = tables.parse_object(text, where).get("data"), list[Annotated]()
    with tables.placed(where):
        items = tables.fitting("data", data, Sequence[Mapping[str, Any]], fix)
    for number, item in enumerate(items, start=1):
        with tables.placed(f"{where}:sentence {number}"):
            if "original" in item:
                original = tables.fitting("original", item["original"], str, fix)
                rows.append(Annotated(number, "", original, {}))
            systems = tables.fitting("systems", item.get("systems"), _OBJECTS, fix)
            for system, of in systems.items():
                output = tables.fitting("output", of.get("output"), str, fix)
                judges = tables.fitting(
                    "annotators", of.get("annotators", {}), _OBJECTS, _ANNOTATED
                )
                rows.append(Annotated(number, system, output, judges))
    return rows


def _annotations(text: str, where: str) -> RatingFile:
    """Read the ratings of Östling et al. (2024)."""
    found = annotated(text, where)
    rows: list[Raw] = []
    for number, system, _, judges in found:
        for judge, scores in judges.items():
            named = {key.lower(): score for key, score in scores.items() if key != "corrected"}
            named = {_CRITERIA.get(name, name): score for name, score in named.items()}
            usual = [name for name in _ORDER if name in named]
            for name in (*usual, *sorted(named.keys() - {*usual})):
                place = f"{where}:sentence {number}"
                rows.append((judge, number, system, name, named[name], _FOUR, place))
    texts = {(of.number, of.system): of.text for of in found}
    return RatingFile(where, _checked(rows), 0.0, texts)


def post_edits(
    text: str, where: str, system: str, outputs: Sequence[str]
) -> tuple[list[list[str | None]], list[str]]:
    """Read what judges made of a system's outputs: a reference by judge, and notes.

    White space is folded to single spaces; ``None`` where a judge corrected nothing.
    """
    found = annotated(text, where, _OF_RATINGS)
    judges = dict.fromkeys(name for of in found for name in of.judges)
    ours = {of.number: of for of in found if of.system == system}
    count = max((of.number for of in found), default=0)
    lacking = next((number for number in range(1, count + 1) if number not in ours), None)
    texts = [
        {name: said.get("corrected") for name, said in of.judges.items()} for of in ours.values()
    ]
    if lacking or all(text is None for row in texts for text in row.values()):
        where = f"{where}:sentence {lacking}" if lacking else where
        raise DataError(f"no corrections of {system}", where=where, fix=_OF_RATINGS)
    pairs = zip_longest((of.text for of in ours.values()), outputs[:count])
    others = sum(_folded(one) != _folded(other) for one, other in pairs)
    said = f"{where}: {others} outputs of {system} are not those that the judges corrected"
    return [[_folded(row.get(name)) for row in texts] for name in judges], [said] if others else []


def _folded(text: Any) -> str | None:
    return None if text is None else " ".join(str(text).split())
