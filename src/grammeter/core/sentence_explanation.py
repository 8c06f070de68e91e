"""Why an output got its score: one sentence by several metrics, as text and as JSON."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, Literal, get_args

from grammeter.core.edit import Edit, JudgedEdit, interleaved, minimise
from grammeter.core.result import Result, plain, plain_fields, public_shape
from grammeter.core.score import json_number
from grammeter.core.signature import Signature
from grammeter.core.tables import Cell, Column, Form, Style, Table
from grammeter.core.texts import format_number, isolated, marked_up, terminal, wrapped

Method = Literal["shapley", "leave-one-out"]
"""How a sentence score is shared out among edits; see :mod:`grammeter.scoring.attribution`."""

METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True, slots=True)
class Grid:
    """A small table of an explanation: counts by order, an alignment, sums by reference."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """How much each edit of an output contributes to its sentence score.

    ``total`` and ``baseline`` are the sentence score with all edits and with none, ``values`` has
    one for each of the system's ``edits``, in the order of the sentence; all are in the metric's
    units. A value is NaN, for a ``reason``, where a score that it needs is missing. ``errors``, the
    standard error of each value, are there if random ``orders`` of the edits were drawn: so many.
    ``signature`` is what the values depend on besides the metric.
    """

    method: Method
    total: float
    baseline: float
    edits: tuple[Edit, ...]
    values: tuple[float, ...]
    errors: tuple[float, ...] | None = None
    orders: int | None = None
    signature: Signature
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a sentence got its score.

    ``value`` is in the metric's units, NaN for a ``reason``; ``parts`` are further figures by name;
    ``chosen`` numbers the reference or annotator that the score belongs to, if to one; ``edits``
    are the system's and the missed ones, in the order of the sentence; ``grids`` are whatever else
    shows how the score came about. For a metric that chooses by running totals, ``corpus_chosen``
    numbers the reference that the corpus score chose; ``corpus_value`` is the score against it.
    """

    value: float
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    chosen: int | None = None
    edits: tuple[JudgedEdit, ...] = ()
    grids: tuple[Grid, ...] = ()
    reason: str | None = None
    attribution: Attribution | None = None
    corpus_chosen: int | None = None
    corpus_value: float | None = None

    def judged(self, edit: Edit, source: Sequence[str]) -> JudgedEdit | None:
        """Return what the metric says of an edit of the system, if it knows the same one.

        Edits are the same if they are, less the tokens that they leave as they are.
        ``source`` are the tokens of the sentence.
        """
        wanted = _changed(edit, source)
        made = (judged for judged in self.edits if judged.verdict != "missed")
        return next((each for each in made if _changed(each.edit, source) == wanted), None)


def _changed(edit: Edit, source: Sequence[str]) -> tuple[int, int, str]:
    bare = minimise(edit, source)
    return bare.start, bare.end, bare.correction


@dataclass(frozen=True, repr=False)
class SentenceExplanation(Result):
    """One output of one ``system``, and the :class:`Explanation` of each metric, by its spelling.

    ``line`` is the number of the sentence, from 1; ``references`` has ``None`` for a reference that
    the sentence lacks.
    """

    system: str
    line: int
    source: str
    hypothesis: str
    references: tuple[str | None, ...]
    metrics: Mapping[str, Explanation]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"kind": "explanation", ...}`` with all that is known."""
        metrics = {n: _to_json(each, self.source.split()) for n, each in self.metrics.items()}
        return public_shape("explanation", self, metrics=metrics)

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return a row for each edit that a metric judges."""
        span, weight = Column.many("count", "start", "end"), Column("weight", "number")
        heads = ("metric", Column("score", "score"), "verdict", *span)
        rows = [
            (name, of.value, j.verdict, e.start, e.end, j.original, e.correction, e.type, j.weight)
            for name, of in self.metrics.items()
            for j, e in ((judged, judged.edit) for judged in of.edits)
        ]
        return [Table.of((*heads, "original", "correction", "type", weight), rows)]

    def write(self, style: Style | Form = "table", **options: Any) -> str:
        """Write, for people, the sentence, its references, and what each metric says of it."""
        style = Style(style) if isinstance(style, str) else style
        if style.form == "tsv":
            return super().write(style, **options)
        style = replace(style, digits=4 if style.digits is None else style.digits)
        lines = (wrapped(line, style.width, "    ") for line in _lines(self, style))
        return "".join(f"{part}\n" for line in lines for part in line)

    def _repr_html_(self) -> str:
        lines = "\n".join(map(marked_up, self.write().splitlines()))
        return f"<pre>{lines}</pre>"


_MARKS = {"matched": "+", "spurious": "-", "missed": "?"}
_FIGURE = re.compile(r"(NaN|-|[+-]?[\d.]+(e[+-]?\d+)?)?")
_METHODS = {"shapley": "Shapley values", "leave-one-out": "Leave one out"}
_EDIT = Column("span"), Column("edit"), Column("type")


def _lines(explained: SentenceExplanation, style: Style) -> Iterator[str]:
    yield f"{terminal(explained.system)}, line {explained.line}"
    yield f"  source      {isolated(explained.source)}"
    yield f"  output      {isolated(explained.hypothesis)}"
    for number, text in enumerate(explained.references):
        yield f"  reference {number} {'(none)' if text is None else isolated(text)}"
    for name, explanation in explained.metrics.items():
        yield ""
        yield from _metric_lines(name, explanation, explained.source.split(), style)


def _metric_lines(
    name: str, explanation: Explanation, source: Sequence[str], style: Style
) -> Iterator[str]:
    digits = style.digits or 0
    head = f"{terminal(name)}  {format_number(explanation.value, digits)}"
    yield head if explanation.chosen is None else f"{head}  (reference {explanation.chosen})"
    if explanation.corpus_value is not None and explanation.corpus_chosen != explanation.chosen:
        value = format_number(explanation.corpus_value, digits)
        yield f"  chosen by the corpus: reference {explanation.corpus_chosen}, {value}"
    if explanation.parts:
        parts = explanation.parts.items()
        yield "  " + "  ".join(f"{key} {_short(value, digits)}" for key, value in parts)
    if explanation.reason is not None:
        yield f"  NaN: {terminal(explanation.reason)}"
    if explanation.edits:
        drawn = " ".join(map(_drawn, interleaved(source, explanation.edits)))
        yield f"  {isolated(drawn)}"
        columns = (Column("verdict"), *_EDIT, Column("weight", "number"))
        rows = [(f"{_MARKS[j.verdict]} {j.verdict}", *_cells(j.edit, j.original), j.weight)
                for j in explanation.edits]  # fmt: skip
        yield from _table(columns, rows, style, "  ")
    for grid in explanation.grids:
        yield f"  {grid.title}"
        heads = zip(grid.columns, zip(*grid.rows, strict=True), strict=False)
        columns = [
            Column(head, "number" if at and all(map(_FIGURE.fullmatch, cells)) else "text")
            for at, (head, cells) in enumerate(heads)
        ]
        yield from _table(columns, grid.rows, style, "    ")
    if explanation.attribution is not None:
        yield from _attribution_lines(explanation.attribution, explanation, source, style)


def _drawn(piece: str | JudgedEdit) -> str:
    """Write a word or an edit, such as ``[+ go -> goes]``, signs as in the list."""
    if isinstance(piece, str):
        return terminal(piece)
    change = f"{terminal(piece.original)} -> {terminal(piece.edit.correction)}"
    return f"[{_MARKS[piece.verdict]} {change.strip()}]"


def _short(value: float, digits: int) -> str:
    return str(int(value)) if float(value).is_integer() else format_number(value, digits)


def _cells(edit: Edit, original: str) -> tuple[str, str, str]:
    """Return the cells of the columns :data:`_EDIT`."""
    change = f"[{original} -> {' | '.join(edit.corrections)}]"
    return f"{edit.start}:{edit.end}", change, edit.type


def _table(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], style: Style, indent: str
) -> Iterator[str]:
    """Write a table without the columns that are empty."""
    filled = [any(cell not in (None, "") for cell in cells) for cells in zip(*rows, strict=True)]
    if any(filled):
        table = Table.of(compress(columns, filled), [[*compress(row, filled)] for row in rows])
        width = style.width and style.width - len(indent)
        lines = table.write(Style(digits=style.digits, width=width)).splitlines()
        yield from (f"{indent}{line}" for line in lines)


def _attribution_lines(
    attribution: Attribution, explanation: Explanation, source: Sequence[str], style: Style
) -> Iterator[str]:
    digits = style.digits or 0
    how = _METHODS[attribution.method]
    if attribution.orders is not None:
        how += f" from {attribution.orders} random orders"
    total, none = (format_number(x, digits) for x in (attribution.total, attribution.baseline))
    scores = f"{total} with all edits, {none} with none"
    yield f"  {how}: {scores if attribution.edits else 'the output has no edits'}"
    if attribution.reason is not None:
        yield f"    NaN: {terminal(attribution.reason)}"
    figures = Column("value", "number", sign=True), Column("error", "number")
    columns = (*_EDIT, Column("verdict"), Column("weight", "number"), *figures)
    rows = [
        (*_cells(edit, original), *((of.verdict, of.weight) if of else ("", None)), value, error)
        for edit, original, of, value, error in _attributed(attribution, explanation, source)
    ]
    yield from _table(columns, rows, style, "    ")


def _attributed(
    attribution: Attribution, explanation: Explanation, source: Sequence[str]
) -> Iterator[tuple[Edit, str, JudgedEdit | None, float, float | None]]:
    """Yield each edit, its original, what the metric says of it, and its value and error."""
    errors = attribution.errors or (None,) * len(attribution.edits)
    for edit, value, error in zip(attribution.edits, attribution.values, errors, strict=True):
        original = " ".join(source[edit.start : edit.end])
        yield edit, original, explanation.judged(edit, source), value, error


def _to_json(explanation: Explanation, source: Sequence[str]) -> dict[str, Any]:
    value, attribution = json_number(explanation.value), explanation.attribution
    edits = [
        _edit_to_json(of.edit, of.original, of) | {"corrections": [*of.edit.corrections]}
        for of in explanation.edits
    ]
    shape: dict[str, Any] = {"value": value, "parts": plain(explanation.parts)}
    shape |= {"reference": explanation.chosen, "edits": edits, "tables": plain(explanation.grids)}
    if value is None:
        shape["reason"] = explanation.reason or "undefined"
    if (in_corpus := explanation.corpus_value) is not None:
        chosen = explanation.corpus_chosen
        shape["in_corpus"] = {"reference": chosen, "value": json_number(in_corpus)}
    if attribution is not None:
        attributed = [
            _edit_to_json(edit, original, judged)
            | {"correction": edit.correction, "value": json_number(value)}
            | ({} if error is None else {"error": json_number(error)})
            for edit, original, judged, value, error in _attributed(
                attribution, explanation, source
            )
        ]
        fields = plain_fields(attribution) | {"edits": attributed}
        shape["attribution"] = {k: fields[k] for k in fields if k not in ("values", "errors")}
    return shape


def _edit_to_json(edit: Edit, original: str, judged: JudgedEdit | None) -> dict[str, Any]:
    shape = {"start": edit.start, "end": edit.end, "original": original, "type": edit.type}
    if judged is None:
        return shape
    weight = {} if judged.weight is None else {"weight": json_number(judged.weight)}
    return shape | {"verdict": judged.verdict, **weight}
