"""Ratings from files: CSV and TSV, long or wide, JSON lines, and the forms of published sets.

One rating a line, in any order of columns; ``score`` may be empty, ``scale`` may be absent::

    judge,segment,system,criterion,score,scale
    ann,1,granska,grammaticality,2,1-4

A wide table has a column a criterion in place of ``criterion`` and ``score``. JSON lines have the
same keys, or ``"scores": {"grammaticality": 3, "fluency": null}`` of one output; ``system`` may be
a list of those that wrote the same. ``segment`` counts from 1; ``item`` may be any name instead.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal, cast

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
_CRITERIA = {"grammer": "grammaticality", "meaning preservation": "meaning"}
_ORDER = ("grammaticality", "fluency", "meaning")
_CONTROLS = ("CHK", "BAD", "REF", "TGT")
_TMU = ("source", "output", "grammer", "fluency", "meaning", "system")
_MULTIGEC = re.compile(
    r"\s*#[^\n]+\n\s*\w{1,40}[ \t]?:[ \t]*[\d.]{1,9}([ \t]+\w{1,40}[ \t]?:|[ \t]*(\n|\Z))"
)
_PAIR = re.compile(r"(\w{1,40})[ \t]?:[ \t]*([^\s:]{1,40}(?=\s|\Z))?\s*")
_FOUR = (1.0, 4.0)
_LARGEST = 1e15  # larger numbers are refused
Rows = Iterator[RatingRow]


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
        _tmu: {*_TMU} <= {*head},
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


# --- cells ---------------------------------------------------------------------------------
def _score(value: object) -> float | None:
    """Return a number, or ``None`` for an empty cell; DataError for a word, NaN, inf."""
    text = value.strip() if isinstance(value, str) else value
    if text in (None, "", "null"):
        return None
    is_text = isinstance(text, str) and _NUMBER.fullmatch(text)
    number: Any = float(cast("str", text)) if is_text else text
    if not (is_text or type(text) in (int, float)) or not abs(number) <= _LARGEST:
        fix = "Write a number, or nothing where there is none."
        raise DataError(f"the score is {ascii(value)[:40]}, no number", fix=fix)
    return float(number)  # not before: an int may be too large for a float


def _name(value: object, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{what} is {ascii(value)[:40]}, not a name", fix=_FIX)
    return tables.checked_text(value.strip(), what)


def _segment(value: object) -> int:
    text = str(value).strip()
    if isinstance(value, bool) or not re.fullmatch(r"0*[1-9]\d{0,14}", text):
        fault = f"segment is {ascii(value)[:40]}, not a whole number from 1"
        raise DataError(fault, fix="Number the sentences from 1, or call the column 'item'.")
    return int(text)


def _named_segments(names: Sequence[object]) -> list[int | str]:
    """Return names of sentences; as numbers if all of them are."""
    texts = [_name(str(name), "item") for name in names]
    whole = all(re.fullmatch(r"[1-9]\d{0,14}", text) for text in texts)
    return [int(text) if whole else text for text in texts]


# --- tables --------------------------------------------------------------------------------
def _columns(text: str, where: str) -> tables.Columns:
    mark: tables.RecordForm = "tsv" if "\t" in text.partition("\n")[0] else "csv"
    table = tables.parse_columns(text.strip("\r\n").encode(), where, mark)
    cells = {name.strip(): of for name, of in table.cells.items()}
    return tables.Columns(cells, table.lines, table.where, table.head)


def _segments(table: tables.Columns) -> list[int | str]:
    if "segment" not in table.cells:
        return _named_segments(table.cells.get("item") or range(1, len(table.lines) + 1))
    numbers: list[int | str] = []
    for at, cell in enumerate(table.cells["segment"]):
        with tables.placed(table.origin(at)):
            numbers.append(_segment(cell))
    return numbers


def _table(text: str, where: str, *, by_system: bool = False) -> RatingFile:
    """Read a table with a row a rating, or a column a criterion, or a column a system."""
    table = _columns(text, where)
    cells, long = table.cells, "score" in table.cells and not by_system
    beside = _HEADS if by_system else (*_HEADS, *_BESIDE)
    wide = [] if long else [name for name in cells if name not in beside]
    wanted = [] if by_system and wide else ["judge", "system"] + ["criterion"] * (not wide)
    wanted += ["score"] if "criterion" in cells and not (by_system and wide) else []
    if lacking := next((name for name in wanted if name not in cells), None):
        raise DataError(f"no column {lacking!r}", where=table.head, fix=_FIX)
    segments = _segments(table)
    rows: list[RatingRow] = []
    for at, origin in enumerate(map(table.origin, range(len(segments)))):
        row = {"judge": "unknown", "criterion": "overall"} if by_system else {}
        row: dict[str, object] = {**row, **{name: of[at] for name, of in cells.items()}}
        with tables.placed(origin):
            judge = _name(row["judge"], "judge")
            scale = parse_scale(str(row["scale"])) if row.get("scale") else None
            for name in wide or ["score"]:
                system = _name(name if by_system else row["system"], "system")
                named = name if wide and not by_system else row["criterion"]
                of = judge, segments[at], (system,), _name(named, "criterion")
                rows.append(RatingRow(*of, _score(row[name]), scale, origin))
    empty = len(segments) - len({row.origin for row in rows if row.score is not None})
    unused = [] if by_system else sorted({*cells} & {*_BESIDE})
    notices = [f"{where}: columns passed over: {', '.join(unused)}"] if unused else []
    notices += [f"{where}: {empty} rows are empty: not rated"] if by_system and empty else []
    unknown = f"{where}: who gave which rating is unknown: each row counts as one judge's"
    notes = () if "judge" in cells else (unknown,)
    return RatingFile(where, rows, notices=tuple(notices), notes=notes)


_systems = partial(_table, by_system=True)


def _tmu(text: str, where: str) -> RatingFile:
    """Read TMU-GFM (Yoshimura et al. 2020): five ratings in a cell, several systems in another."""
    table = _columns(text, where)
    rows: list[RatingRow] = []
    for at, origin in enumerate(map(table.origin, range(len(table.lines)))):
        row = {name: str(table.cells[name][at]) for name in _TMU}
        with tables.placed(origin):
            systems = tuple(_name(name, "system") for name in row["system"].split(","))
            for column in ("grammer", "fluency", "meaning"):
                criterion = _CRITERIA.get(column, column)
                for number, cell in enumerate(row[column].split(","), start=1):
                    judge, name = f"annotator{number}", _name(row["source"], "source")
                    score = _score(cell)
                    rows.append(RatingRow(judge, name, systems, criterion, score, _FOUR, origin))
    note = "the places of ratings in a cell count as judges; they may be other persons in each row"
    return RatingFile(where, rows, 0.0, repeats=True, notes=(f"{where}: {note}",))


def _appraise(text: str, where: str) -> RatingFile:
    """Read what Appraise exports of direct assessment; only ratings of type TGT count."""
    controls = Counter[str]()
    rows: list[RatingRow] = []
    for number, line in enumerate(split_lines(text), start=1):
        if not line.strip():
            continue
        with tables.placed(f"{where}:{number}"):
            if len(cells := _cells(line)) != 9:
                raise DataError(f"{len(cells)} cells, not 9", fix="Export the scores again.")
            judge, system, segment, kind = cells[:4]
            if kind not in _CONTROLS:
                raise DataError(f"the type {kind!r} is none of {_CONTROLS}", fix="Repair it.")
            if kind != "TGT":
                controls[kind] += 1
                continue
            systems = tuple(_name(name, "system") for name in system.split("+"))
            score, named = _score(cells[6]), _name(segment, "segment")
            of = _name(judge, "judge"), named, systems, "overall", score, (0.0, 100.0)
            rows.append(RatingRow(*of, f"{where}:{number}"))
    segments = [*map(str, (row.segment for row in rows))]
    first = 1 if "0" in segments else 0
    notices = [f"{where}: {n} ratings of type {kind} do not count" for kind, n in controls.items()]
    if all(map(str.isdecimal, segments)):
        rows = [row._replace(segment=int(row.segment) + first) for row in rows]
        notices += [f"{where}: sentences are counted from 0 there, here from 1"] * first
    return RatingFile(where, rows, notices=tuple(notices))


def _blocks(text: str, where: str) -> RatingFile:
    """Read the annotation of MultiGEC-2025: ``#SYSTEM``, then a line with ratings for each text."""
    sizes: dict[str, int] = {}
    slips = Counter[str]()
    rows: list[RatingRow] = []
    system = ""
    for number, line in enumerate(split_lines(text), start=1):
        with tables.placed(f"{where}:{number}"):
            if line.startswith("#"):
                system = _name(line[1:], "system")
                if system in sizes:
                    raise DataError(f"a second block of {system}", fix="Join the two.")
                sizes[system] = 0
            elif line.strip():
                if "".join(match[0] for match in _PAIR.finditer(line)) != line.lstrip():
                    raise DataError(f"{line[:40]!r} is no rating", fix="Write: Fluency: 2")
                sizes[system] += 1
                for label, cell in _PAIR.findall(line):
                    near = get_close_matches(str(label).lower(), _ORDER, 1, 0.8)
                    name: str = near[0] if near else str(label).lower()
                    slips.update([label] * (name != label.lower()))
                    of = "annotator1", sizes[system], (system,), name
                    rows.append(RatingRow(*of, _score(cell), _FOUR, f"{where}:{number}"))
    if len({*sizes.values()}) > 1:
        counts = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise DataError(f"unequal numbers of texts: {counts}", where=where, fix="Complete it.")
    slip = "is taken as a slip of the pen"
    notices = tuple(f"{where}: {label!r} {slip} ({n})" for label, n in slips.items())
    note = f"{where}: its one judge has no name: annotator1"
    return RatingFile(where, rows, notices=notices, notes=(note,))


# --- JSON ----------------------------------------------------------------------------------
def _lines(text: str, where: str) -> RatingFile:
    """Read JSON lines: one rating a line, or one output."""
    lines, notices = counted_lines(text, where, _FIX)
    names = [data.get("item") for _, data in lines if "segment" not in data]
    if None in names:
        raise DataError("a line without segment and item", where=where, fix=_FIX)
    segments = dict(zip(map(str, names), _named_segments(names), strict=True))
    rows: list[RatingRow] = []
    for origin, data in lines:
        with tables.placed(origin):
            rows += _line_rows(data, segments, origin)
    return RatingFile(where, rows, notices=tuple(notices))


def _line_rows(data: Mapping[str, Any], segments: Mapping[str, int | str], origin: str) -> Rows:
    if lacking := next((key for key in ("judge", "system") if key not in data), None):
        raise DataError(f"no {lacking}", fix=_FIX)
    system: Any = data["system"]
    names = cast("list[object]", system if isinstance(system, list) else [system])
    systems = tuple(_name(name, "system") for name in names)
    named = segments.get(str(data.get("item")), 0)
    segment = _segment(data["segment"]) if "segment" in data else named
    scores: object = data.get("scores")
    if "score" in data and scores is None:
        scores = {_name(data.get("criterion"), "criterion"): data["score"]}
    if not isinstance(scores, dict):
        raise DataError("no scores", fix=_FIX)
    for name, score in cast("dict[str, object]", scores).items():
        of = _name(data["judge"], "judge"), segment, systems, _name(name, "criterion")
        yield RatingRow(*of, _score(score), _scale_of(data.get("scale"), name), origin)


def _scale_of(value: Any, criterion: str) -> Scale | None:
    """Read ``[1, 4]``, ``"1-4"``, or one of these by criterion."""
    if isinstance(value, dict):
        value = cast("dict[str, object]", value).get(criterion)
    if isinstance(value, list) and len(ends := cast("list[object]", value)) == 2:
        value = f"{ends[0]}-{ends[1]}"
    return None if value is None else parse_scale(str(cast("object", value)))


def _annotations(text: str, where: str) -> RatingFile:
    """Read the annotation of Östling et al. (2024): texts, systems, and judges' ratings."""
    texts: dict[tuple[int, str], str] = {}
    rows: list[RatingRow] = []
    data = tables.parse_object(text, where).get("data")
    try:
        for number, item in enumerate(cast("list[dict[str, Any]]", data), start=1):
            texts[number, ""] = item["original"]
            for system, of in item["systems"].items():
                texts[number, system] = of["output"]
                judged: dict[str, dict[str, object]] = of["annotators"]
                for judge, scores in judged.items():
                    place = f"{where}: sentence {number}, {system}, {judge}"
                    keys = {key.lower(): key for key in scores if key != "corrected"}
                    names = {_CRITERIA.get(name, name): key for name, key in keys.items()}
                    usual = [name for name in _ORDER if name in names]
                    with tables.placed(place):
                        for name in (*usual, *sorted(names.keys() - {*usual})):
                            rated = judge, number, (system,), name, _score(scores[names[name]])
                            rows.append(RatingRow(*rated, _FOUR, f"{where}:{number}"))
    except (KeyError, TypeError, AttributeError) as error:
        fault = f"damaged annotation: {type(error).__name__}: {error}"
        fix = 'Each sentence has "original" and "systems"; a system "output" and "annotators".'
        raise DataError(fault, where=where, fix=fix) from None
    return RatingFile(where, rows, 0.0, texts)
