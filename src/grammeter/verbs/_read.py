"""The function ``read``: any result that a verb wrote, from its file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from grammeter import core, formats
from grammeter.meta import META_SYSTEM, SystemMeta
from grammeter.ranking import ACCEPT_RATE, AGREEMENT, Agreement
from grammeter.verbs._compare.results import COMPARISON, Comparison

Readable = type[core.ScoreTable | core.Ranked | Comparison | Agreement | SystemMeta]

CLASSES: Mapping[str, Readable] = {
    core.SCORES_KIND: core.ScoreTable,
    core.RANKING_KIND: core.Ranked,
    COMPARISON: Comparison,
    AGREEMENT: Agreement,
    META_SYSTEM: SystemMeta,
}
"""The class of a result by the ``kind`` of its JSON; others become a :class:`StoredResult`."""

_Object = dict[str, Any]


@dataclass(frozen=True, repr=False)
class StoredResult(core.Result):
    """A result as its file has it: ``kind``, the JSON object, and tables of what is in it."""

    kind: str
    data: Mapping[str, Any]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know before believing the numbers."""
        return tuple(self.data.get("notes", ()))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return dict(self.data)

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return the single values, then a table for each list or mapping of objects."""
        single = [(key, value) for key, value in self.data.items() if not _rows(value)]
        listed = [(key, _text(value)) for key, value in single if key not in ("kind", "notes")]
        tables = [core.Table.of((self.kind, "value"), listed)]
        for key, value in self.data.items():
            if rows := _rows(value):
                heads = dict.fromkeys(head for row in rows for head in row)
                columns = core.Column.many("number", *heads)
                cells = [[_text(row.get(head)) for head in heads] for row in rows]
                tables.append(core.Table.of(columns, cells, title=key))
        return tables


@core.checked
def read(path: str | Path) -> core.Result | formats.Judgments | formats.EditJudgments:
    """Read any result that a verb wrote with ``-o``, or :func:`write_result`.

    ``path`` is a JSON file, also gzip; ``-`` is standard input. The result is a
    :class:`ScoreTable`, :class:`Ranked`, :class:`Comparison`, :class:`Agreement` or
    :class:`SystemMeta`, ready for the verbs that take one; those of other verbs are a
    :class:`StoredResult`, which prints, and turns into pandas and JSON, as these do; what ``judge``
    wrote are :class:`Judgments`, as are other judgments, and verdicts on edits
    :class:`EditJudgments`. Raises :class:`DataError` if the file is
    absent, damaged, or no verb wrote it.
    """
    return parsed(formats.read_text(path), str(path))


def parsed(
    text: str, where: str, **of_judgments: Any
) -> core.Result | formats.Judgments | formats.EditJudgments:
    """Read a result or judgments from a text; ``where`` names it in messages."""
    if formats.is_edit_judgments(text):
        return formats.parse_edit_judgments(text, where)
    first = text.lstrip().partition("\n")[0]
    if not first.startswith("{") or ('"judge"' in first and '"kind":' not in first):
        return formats.parse_judgments(text, where, **of_judgments)
    data = formats.parse_object(text, where)
    if not isinstance(kind := data.get("kind"), str):
        fix = "Texts, gold edits and judgments are read by read_corpus and read_judgments."
        raise core.DataError('this JSON says no "kind": no verb wrote it', where=where, fix=fix)
    stored = "edits" in data or data.get("method") == ACCEPT_RATE
    stored = stored or (kind == AGREEMENT and "criteria" in data)
    known = None if stored else CLASSES.get(kind)
    return known.from_dict(data, where=where) if known else StoredResult(kind, data)


@core.checked
def write_result(result: core.Result, path: str | Path) -> None:
    """Write a result as the JSON that ``-o`` writes; :func:`read` reads it.

    A score table is written with all that ``compare`` and ``explain`` need; gzip if the name of the
    ``path`` ends in ``.gz``. Raises :class:`DataError` if the file cannot be written.
    """
    if isinstance(result, core.ScoreTable):
        formats.write_scores(result, path)
    else:
        formats.write_object(result.to_dict(), path)


def _rows(value: Any) -> list[_Object]:
    """Return the rows of a list of objects, or of objects by name; none for anything else."""
    named = cast("_Object", value) if isinstance(value, dict) else {}
    listed = cast("list[Any]", value) if isinstance(value, list) else []
    items = [*named.values()] if named else listed
    if not all(isinstance(item, dict) for item in items):
        return []
    rows = [_flat(item) for item in items]
    return [{"": name, **row} for name, row in zip(named, rows, strict=True)] if named else rows


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the single values of nested objects, by names such as ``tau.value``."""
    flat: dict[str, Any] = {}
    for name, of in value.items():
        nested = isinstance(of, dict)
        flat |= _flat(cast("_Object", of), f"{prefix}{name}.") if nested else {prefix + name: of}
    return flat


def _text(value: Any) -> core.Cell:
    if isinstance(value, list):
        return " ".join(str(item) for item in cast("list[object]", value))
    return value if isinstance(value, int | float | str | None) else str(value)
