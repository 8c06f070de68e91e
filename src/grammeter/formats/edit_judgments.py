"""Judgments of single edits from files: JSON lines of campaigns with task ``edits``, and CSV.

One item a line, as ``campaign export --details`` writes it::

    {"judge": "ann", "segment": 12, "item": "0", "shown": [["T5", "PIE"], ["REF-M"]],
     "edits": [[{"start": 0, "end": 1, "correction": "After all", "verdict": "valid"}], []],
     "marked": [[16, 17]]}

(on one line). The verdict is ``valid``, ``invalid`` or null. Drafts, skipped items, checks and
earlier versions of an answer do not count. The CSV has the columns ``judge``, ``segment``,
``system``, ``start``, ``end``, ``correction``, ``verdict``, a line an edit.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grammeter.core import DataError, Edit, EditItem, EditJudgment, EditKey, apply
from grammeter.formats import tables
from grammeter.formats.judged import Rows
from grammeter.formats.numbering import Evidence, Outputs
from grammeter.formats.tables import fitting, made, placed

TABLE = ("judge", "segment", "system", "start", "end", "correction", "verdict")
"""The columns of the CSV; a column ``item`` may stand beside them."""

_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("valid", "true", "1"), True),
    **dict.fromkeys(("invalid", "false", "0"), False),
    **dict.fromkeys(("", "none"), None),
}
_FIX = f"""\
Write {{"judge": "a", "segment": 1, "shown": [["X"]], "edits": [[{{"start": 0, "end": 1, \
"correction": "b", "verdict": "valid"}}]]}}, or CSV with {",".join(TABLE)}."""
_HEAD = "campaign-details"
_PLACE = ("segment", "start", "end")
_WHOLE = "Give the very source and outputs whose edits were judged, whole."
_ANSWER = ("judge", "segment", "item", "system", "criterion", "number", "turn", "position")


@dataclass(frozen=True)
class EditJudgments(Rows[EditItem]):
    """Judged edits of one or more files, in their order; itself a sequence of ``items``."""

    _over, _what = "items", "judgments of edits"
    items: tuple[EditItem, ...]

    def checked(
        self, source: Sequence[str] | None = None, outputs: Outputs | None = None,
        *, drop: Container[str] = (),
    ) -> "EditJudgments":  # fmt: skip
        """Return them, if they fit the source and the outputs, texts of a sentence each.

        Raises :class:`DataError` with file and line if an edit lies outside its sentence, overlaps
        another of its output, or the edits of an output do not make the system's text. Systems in
        ``drop`` may lack outputs.
        """
        evidence = Evidence(outputs, drop)
        for at, item in enumerate(self):
            with placed(self.origins[at] if at < len(self.origins) else f"item {at + 1}"):
                for group, edits in zip(item.shown, item.edits, strict=True):
                    text = None if source is None else _made(item, group[0], edits, source)
                    evidence.check([group], item.segment, text)
        return self


def is_edit_judgments(text: str) -> bool:
    """Whether a text holds judgments of edits; its first line tells."""
    first = text.lstrip().partition("\n")[0]
    if f'"{_HEAD}"' in first:
        return '"task": "edits"' in first or '"task": "marks"' in first
    if first.startswith("{"):
        return '"shown"' in first and '"edits"' in first and '"edits": null' not in first
    return {*TABLE} <= {name.strip('" \r') for name in first.split("\t" if "\t" in first else ",")}


def parse_edit_judgments(text: str, where: str, notices: Sequence[str] = ()) -> EditJudgments:
    """Read judgments of edits from a text; ``where`` names it in messages."""
    text = text.replace("\r\n", "\n")
    parse = _parse_lines if text.lstrip().startswith("{") else _parse_table
    read = parse(text, where)
    return replace(read, notices=(*notices, *read.notices))


def read_edit_values(path: str | Path) -> dict[str, dict[EditKey, float]]:
    """Read what metrics give edits: metric, segment, start, end, correction, value, a line each."""
    table = tables.read_columns(path, form=tables.form_of(path) or "tsv")
    values: dict[str, dict[EditKey, float]] = {}
    for origin, row in table.rows("metric", *_PLACE, "correction", "value"):
        with placed(origin):
            segment, start, end = (tables.whole_number(row[name], name) for name in _PLACE)
            correction = tables.checked_text(str(row["correction"]), "correction")
            of, key = (
                values.setdefault(row["metric"], {}),
                (segment, start, end, _tokens(correction)),
            )
            if key in of:
                fault = f"{row['metric']} gives this edit two values"
                raise DataError(fault, fix="Give each edit one value.")
            of[key] = tables.number(row["value"], "value")
    return values


def counted_lines(
    text: str, where: str, fix: str
) -> tuple[list[tuple[str, dict[str, Any]]], list[str]]:
    """Return the JSON lines of judgments that count, with places, and a notice of the others.

    Of several versions of an answer the last counts; a line without a number of its version is an
    answer of its own. Drafts, skipped items and checks do not count.
    """
    lines: dict[object, tuple[str, dict[str, Any]]] = {}
    passed = Counter[str]()
    for origin, data in tables.json_lines(text, where, fix):
        if why := _uncounted(data):
            passed[why] += 1
            continue
        is_version = type(data.get("version")) is int
        key = str([data.get(name) for name in _ANSWER]) if is_version else origin
        passed["earlier version"] += key in lines
        if key not in lines or lines[key][1]["version"] <= data["version"]:
            lines[key] = origin, data
    counts = ", ".join(f"{count} {why}" for why, count in passed.items() if count and why != _HEAD)
    return [*lines.values()], [f"{where}: lines that do not count: {counts}"] if counts else []


def _uncounted(data: Mapping[str, Any]) -> str | None:
    if (kind := data.get("kind", "normal")) != "normal":
        return _HEAD if kind == _HEAD else f"of kind {kind}"
    draft = data.get("complete", True) is False
    return "draft" if draft else "skipped" if data.get("skipped") else None


def _parse_lines(text: str, where: str) -> EditJudgments:
    lines, notices = counted_lines(text, where, _FIX)
    items: dict[str, EditItem] = {}
    for origin, data in lines:
        if data.get("edits", ()) is None:  # an answer to another task of this campaign
            continue
        with placed(origin):
            items[origin] = _item({"probability": data.get("sentence_probability")} | data)
    if not items:
        raise DataError("no judged item that counts", where=where, fix=_FIX)
    if other := len(lines) - len(items):
        notices.append(f"{where}: {other} answers to other tasks do not count")
    read = tuple(items.values())
    return EditJudgments(read, origins=tuple(items), notices=tuple(notices))


def _item(data: Mapping[str, Any]) -> EditItem:
    edits = data.get("edits")
    if edits is not None:
        rows = fitting("edits", edits, Sequence[Sequence[Mapping[str, Any]]], _FIX)
        edits = tuple(tuple(map(_judged, row)) for row in rows)
    return made(EditItem, {**data, "edits": edits}, _FIX)


def _judged(data: Mapping[str, Any]) -> EditJudgment:
    word = str(data.get("verdict")).strip().lower()
    if word not in _WORDS:
        fault = f"verdict is {ascii(data['verdict'])[:40]}, not valid, invalid or null"
        raise DataError(fault, fix="Write valid, invalid, or nothing where there is none.")
    start, end = (fitting(name, data.get(name), int, _FIX) for name in ("start", "end"))
    correction = _tokens(fitting("correction", data.get("correction"), str, _FIX))
    return EditJudgment(start, end, correction, _WORDS[word])


def _tokens(correction: str) -> str:
    return " ".join(correction.split())


def _parse_table(text: str, where: str) -> EditJudgments:
    form = "tsv" if "\t" in text.partition("\n")[0] else "csv"
    items: dict[tuple[str, int, str | None], dict[str, list[EditJudgment]]] = {}
    origins: dict[tuple[str, int, str | None], str] = {}
    for origin, row in tables.parse_columns(text.encode(), where, form).rows(*TABLE):
        with placed(origin):
            numbers = {name: tables.whole_number(row[name], name) for name in _PLACE}
            edit = _judged(row | numbers)
        key = row["judge"], numbers["segment"], row.get("item")
        items.setdefault(key, {}).setdefault(row["system"], []).append(edit)
        origins.setdefault(key, origin)
    judged: list[EditItem] = []
    for key, edits in items.items():
        data: dict[str, Any] = dict(zip(("judge", "segment", "item"), key, strict=True))
        data |= {
            "shown": tuple((name,) for name in edits),
            "edits": tuple(map(tuple, edits.values())),
        }
        with placed(origins[key]):
            judged.append(made(EditItem, data, _FIX))
    return EditJudgments(tuple(judged), origins=tuple(origins.values()))


def _made(item: EditItem, name: str, edits: Iterable[EditJudgment], source: Sequence[str]) -> str:
    if not 0 < item.segment <= len(source):
        fault = f"segment {item.segment}, but the source has {len(source)} sentences"
        raise DataError(fault, fix=_WHOLE)
    tokens = source[item.segment - 1].split()
    try:
        return " ".join(apply(tokens, [Edit(e.start, e.end, e.correction) for e in edits]))
    except ValueError as error:
        fault = f"{name}: {error}; sentence {item.segment} has {len(tokens)} tokens"
        raise DataError(fault, fix=_WHOLE) from None
