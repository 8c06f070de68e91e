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
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import NoneType
from typing import Any, NoReturn, cast, overload

from grammeter.core import DataError, EditItem, EditJudgment, EditKey, UsageError, apply
from grammeter.formats.numbering import Outputs
from grammeter.formats.tables import (
    Columns,
    Shape,
    check_shape,
    form_of,
    parse_columns,
    parse_line,
    placed,
    read_columns,
    typed,
)
from grammeter.formats.text import split_lines

TABLE = ("judge", "segment", "system", "start", "end", "correction", "verdict")
"""The columns of the CSV."""

_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("valid", "true", "1"), True),
    **dict.fromkeys(("invalid", "false", "0"), False),
    **dict.fromkeys(("", "none", "null"), None),
}
_FIX = f"""\
Write {{"judge": "a", "segment": 1, "shown": [["X"]], "edits": [[{{"start": 0, "end": 1, \
"correction": "b", "verdict": "valid"}}]]}}, or CSV with {",".join(TABLE)}."""
_HYPS = "Give the very source and outputs whose edits were judged, whole."
_CAMPAIGNS = """\
number kind task answer position turn order version complete ranks verdicts skipped reason comment \
correct automatic active_seconds wall_seconds saved sentence_probability draw_probability"""


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_pair(value: Any) -> bool:
    return type(value) is list and len(cast("list[Any]", value)) == 2


_SHAPES: dict[str, Shape] = {
    "judge": [("judge", _is_name, "a text")],
    "segment": typed("segment", "a whole number", int),
    "shown": [
        *typed("shown", "a list", list),
        *typed("an output", "a list", list),
        ("a system", _is_name, "a name"),
    ],
    "edits": [
        *typed("edits", "a list", list),
        *typed("edits of an output", "a list", list),
        *typed("an edit", "an object", dict),
    ],
    "item": typed("item", "a text", str, NoneType),
    "marked": [
        *typed("marked", "a list", list, NoneType),
        ("a marked span", _is_pair, "a list of two numbers"),
        *typed("an end of a marked span", "a whole number", int),
    ],
    "probability": typed("probability", "a number", int, float, NoneType),
}
_EDIT_SHAPES = {
    **{key: typed(key, "a whole number", int) for key in ("start", "end")},
    "correction": typed("correction", "a text", str),
}


@dataclass(frozen=True)
class EditJudgments(Sequence[EditItem]):
    """Judged edits of one or more files, in their order; itself a sequence of items.

    - ``items``: those that count, each with the verdicts of one judge.
    - ``origins``: ``file:line`` of each item.
    - ``notices``: what was passed over: drafts, skipped items, unknown keys.
    - ``notes``: what changes the meaning of results.
    """

    items: tuple[EditItem, ...]
    origins: tuple[str, ...] = field(default=(), compare=False)
    notices: tuple[str, ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @overload
    def __getitem__(self, index: int) -> EditItem: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[EditItem, ...]: ...
    def __getitem__(self, index: int | slice) -> EditItem | tuple[EditItem, ...]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    @property
    def systems(self) -> tuple[str, ...]:
        """All systems whose outputs were shown, by name."""
        return tuple(sorted({s for item in self for group in item.shown for s in group}))

    def refuse(self) -> NoReturn:
        """Raise :class:`UsageError`: rankings are needed, and these are judgments of edits."""
        refuse(self.origins[0].rpartition(":")[0] if self.origins else "these judgments")

    def checked(
        self,
        source: Sequence[str] | None = None,
        outputs: Outputs | None = None,
        *,
        drop: Container[str] = (),
    ) -> "EditJudgments":
        """Return them, if they fit the source and the outputs, texts of a sentence each.

        Raises :class:`DataError` with file and line if an edit lies outside its sentence, overlaps
        another of its output, or the edits of an output do not make the system's text. Systems in
        ``drop`` may lack outputs.
        """
        for at, item in enumerate(self):
            with placed(self.origins[at] if at < len(self.origins) else f"item {at + 1}"):
                _check(item, source, outputs, drop)
        return self


def is_edit_judgments(text: str) -> bool:
    """Whether a text holds judgments of edits; its first lines tell."""
    first, _, rest = text.lstrip().partition("\n")
    if first.startswith("{"):
        head = '"campaign-details"' in first and '"task": "edits"' in first
        line = rest.partition("\n")[0] if '"campaign-details"' in first and not head else first
        return head or ('"shown"' in line and '"edits"' in line and '"edits": null' not in line)
    return {*TABLE} <= {name.strip('"') for name in first.strip().split(_mark(first))}


def refuse(where: str) -> NoReturn:
    """Raise :class:`UsageError`: judgments of edits where rankings are needed."""
    fault = f"{where}: these are judgments of edits, and outputs that were ranked are needed"
    fix = "Edits go into: rank --by accept-rate, agree, meta edits, report --edit-judgments."
    raise UsageError(fault, fix=fix)


def parse_edit_judgments(text: str, where: str, notices: Sequence[str] = ()) -> EditJudgments:
    """Read judgments of edits from a text; ``where`` names it in messages."""
    text = text.replace("\r\n", "\n")
    if text.lstrip().startswith("{"):
        read = _parse_lines(text, where)
    else:
        form = "tsv" if _mark(text.partition("\n")[0]) == "\t" else "csv"
        read = _parse_table(parse_columns(text.encode(), where, form))
    return replace(read, notices=(*notices, *read.notices))


def join_edit_judgments(parts: Iterable[EditJudgments]) -> EditJudgments:
    """Put the judgments of several files together."""
    parts = list(parts)
    rows = {
        name: tuple(row for part in parts for row in getattr(part, name))
        for name in ("items", "origins", "notices", "notes")
    }
    return EditJudgments(**rows)


def read_edit_values(path: str | Path) -> dict[str, dict[EditKey, float]]:
    """Read what metrics give edits: metric, segment, start, end, correction, value, a line each."""
    table = read_columns(path, form=form_of(path) or "tsv")
    names, corrections = table.texts("metric"), table.texts("correction")
    numbers = zip(*(table.numbers(name) for name in ("segment", "start", "end")), strict=True)
    values: dict[str, dict[EditKey, float]] = {}
    rows = zip(names, numbers, corrections, table.numbers("value"), strict=True)
    for at, (name, places, correction, value) in enumerate(rows):
        segment, start, end = map(int, places)
        of, key = values.setdefault(name, {}), (segment, start, end, _tokens(correction))
        if key in of or (segment, start, end) != places:
            fault = f"{name} gives this edit two values" if key in of else "a place is not whole"
            raise DataError(fault, where=table.origin(at), fix="Give each edit one value.")
        of[key] = value
    return values


def _mark(line: str) -> str:
    return "\t" if "\t" in line else ","


def _parse_lines(text: str, where: str) -> EditJudgments:
    items: dict[object, tuple[int, str, EditItem]] = {}
    passed, unknown = Counter[str](), Counter[str]()
    for number, line in enumerate(split_lines(text), start=1):
        if not line.strip():
            continue
        with placed(f"{where}:{number}"):
            data = parse_line(line, _FIX)
            if why := uncounted(data):
                passed[why] += why != "head"
                continue
            unknown.update(data.keys() - _SHAPES.keys() - {*_CAMPAIGNS.split()})
            item, version = _item(data), data.get("version")
        turn = tuple(str(data.get(name)) for name in ("number", "turn", "position"))
        key = number if version is None else (item.judge, item.segment, item.item, turn)
        rank = version if isinstance(version, int) else 0
        passed["earlier version"] += key in items
        if key not in items or items[key][0] <= rank:
            items[key] = rank, f"{where}:{number}", item
    if not items:
        raise DataError("no judged item that counts", where=where, fix=_FIX)
    counts = [f"{count} {why}" for why, count in passed.items() if count]
    notices = [f"{where}: items that do not count: {', '.join(counts)}"] if counts else []
    notices += [f"{where}: unknown key {k!r}, passed over {n} times" for k, n in unknown.items()]
    _, origins, counted = zip(*items.values(), strict=True)
    return EditJudgments(counted, origins, tuple(notices))


def uncounted(data: Mapping[str, Any]) -> str | None:
    """Say why a line of a campaign does not count, if so."""
    if data.get("kind") == "campaign-details":
        return "head"
    if data.get("kind", "normal") != "normal":
        return f"of kind {data['kind']}"
    if data.get("complete", True) is False:
        return "draft"
    return "skipped" if data.get("skipped") else None


def _item(data: Mapping[str, Any]) -> EditItem:
    if lacking := [key for key in ("judge", "segment", "shown", "edits") if key not in data]:
        raise DataError(f"no {lacking[0]}", fix=_FIX)
    for key in _SHAPES.keys() & data.keys():
        check_shape(data[key], _SHAPES[key], _FIX)
    chance = data.get("probability", data.get("sentence_probability"))
    return EditItem(
        judge=data["judge"], segment=data["segment"], item=data.get("item"),
        shown=tuple(map(tuple, data["shown"])),
        edits=tuple(tuple(map(_judged, edits)) for edits in data["edits"]),
        marked=tuple((start, end) for start, end in data.get("marked") or ()),
        probability=None if chance is None else float(chance),
    )  # fmt: skip


def _judged(data: Mapping[str, Any]) -> EditJudgment:
    for key, shape in _EDIT_SHAPES.items():
        check_shape(data.get(key), shape, _FIX)
    verdict = _verdict(data.get("verdict"))
    return EditJudgment(data["start"], data["end"], _tokens(data["correction"]), verdict)


def _tokens(correction: str) -> str:
    return " ".join(correction.split())


def _verdict(value: object) -> bool | None:
    word = "" if value is None else str(value).strip().lower()
    if word not in _WORDS:
        fault = f"verdict is {ascii(value)[:40]}, not valid, invalid or null"
        raise DataError(fault, fix="Write valid, invalid, or nothing where no verdict was reached.")
    return _WORDS[word]


def _parse_table(table: Columns) -> EditJudgments:
    numbers = [table.numbers(name) for name in ("segment", "start", "end")]
    names = [
        "judge",
        "system",
        "correction",
        "verdict",
        *(["item"] if "item" in table.cells else []),
    ]
    rows = zip(*numbers, *map(table.texts, names), strict=True)
    items: dict[tuple[str, ...], dict[str, list[EditJudgment]]] = {}
    origins: dict[tuple[str, ...], str] = {}
    for at, (segment, start, end, judge, system, correction, verdict, *item) in enumerate(rows):
        with placed(table.origin(at)):
            if not judge or not all(map(float.is_integer, (segment, start, end))):
                raise DataError("no judge, or a number that is not whole", fix=_FIX)
            edit = EditJudgment(int(start), int(end), _tokens(correction), _verdict(verdict))
            EditItem(judge=judge, segment=int(segment), shown=((system,),), edits=((edit,),))
        key = (judge, str(int(segment)), *item)
        origins.setdefault(key, table.origin(at))
        items.setdefault(key, {}).setdefault(system, []).append(edit)
    return EditJudgments(
        tuple(_row_item(*row, origins) for row in items.items()), (*origins.values(),)
    )


def _row_item(
    key: tuple[str, ...], outputs: Mapping[str, list[EditJudgment]], origins: Mapping[Any, str]
) -> EditItem:
    judge, segment, *item = key
    with placed(origins[key]):
        return EditItem(
            judge=judge, segment=int(segment), item=item[0] if item else None,
            shown=tuple((system,) for system in outputs), edits=tuple(map(tuple, outputs.values())),
        )  # fmt: skip


def _check(
    item: EditItem,
    source: Sequence[str] | None,
    outputs: Outputs | None,
    drop: Container[str],
) -> None:
    for group, edits in zip(item.shown, item.edits, strict=True):
        texts = {s: _text(s, outputs[s], item.segment) for s in group if outputs and s in outputs}
        if outputs and (odd := [s for s in group if s not in texts and s not in drop]):
            fix = f"Outputs are given of: {', '.join(sorted(outputs))}."
            raise DataError(f"unknown system {odd[0]!r}", fix=fix)
        corrected = None
        if source is not None:
            tokens = _text("the source", source, item.segment).split()
            try:
                corrected = " ".join(apply(tokens, [edit.edit for edit in edits]))
            except ValueError as error:
                fault = f"{group[0]}: {error}; sentence {item.segment} has {len(tokens)} tokens"
                raise DataError(fault, fix=_HYPS) from None
        wanted = next(iter(texts.values()), None) if corrected is None else corrected
        if wrong := next(
            (s for s, text in texts.items() if " ".join(text.split()) != wanted), None
        ):
            fault = f"the judged edits do not make the output of {wrong} for {item.segment}"
            raise DataError(fault, fix=_HYPS)


def _text(name: str, texts: Sequence[str], segment: int) -> str:
    if not 0 < segment <= len(texts):
        fault = f"segment {segment}, but {name} has {len(texts)} sentences"
        raise DataError(fault, fix=_HYPS)
    return texts[segment - 1]
