"""A whole corpus in one table: JSON lines, TSV, CSV or parquet.

JSON lines have one object a sentence::

    {"source": "...", "references": ["...", null], "systems": {"AMU": "..."}}

The tables have the columns ``source``, ``reference.0``, ``reference.1`` ..., ``system.NAME``.
A reference that a sentence lacks is ``null`` in JSON lines and parquet; TSV and CSV know texts
only, so there every sentence has every reference. Names end in ``.jsonl``, ``.tsv``, ``.csv`` or
``.parquet``, with ``.gz`` after that if packed.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from grammeter.core import DataError, UnknownNameError, require
from grammeter.formats.objects import parse_line, placed
from grammeter.formats.tables import Columns, RecordForm, checked_text, read_columns, sure_form
from grammeter.formats.text import read_text, split_lines, write_bytes, write_text

_REFERENCE = re.compile(r"reference\.(0|[1-9]\d*)\Z")
_SYSTEM = re.compile(r"system\.(.+)\Z", re.DOTALL)
_KEYS = ("source", "references", "systems")
_TEXT_TYPES = {"string", "large_string", "null"}
_FIX_COLUMNS = "Columns are source, reference.0, reference.1, ... and system.NAME."


@dataclass(frozen=True, slots=True)
class Records:
    """Parallel sentences, column by column.

    Attributes
    ----------
    sources
        One text a sentence; one sentence at least.
    references
        Shape ``[references][sentences]``; ``None`` where a sentence lacks that reference.
    systems
        The outputs by system name.
    """

    sources: tuple[str, ...]
    references: tuple[tuple[str | None, ...], ...] = ()
    systems: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def __post_init__(self) -> None:
        columns: list[Sequence[str | None]] = [*self.references, *self.systems.values()]
        if not self.sources or any(len(column) != len(self.sources) for column in columns):
            counts = [len(self.sources), *map(len, columns)]
            raise DataError(
                f"columns of {counts} texts are not parallel",
                fix="Each column needs one text for each source, and one source at least.",
            )
        if "" in self.systems:
            raise DataError("a system has no name", fix="Give every system a name.")


def read_records(path: str | Path, *, form: RecordForm | None = None) -> Records:
    """Read a table of sentences.

    Parameters
    ----------
    path
        The file, plain or gzip; ``-`` is standard input.
    form
        Its format; default: by its name.

    Raises
    ------
    DataError
        With file and line: columns that are unknown, missing, doubled or not texts, rows of
        unequal length, no row at all.
    UsageError
        If the name does not tell the format.
    MissingResourceError
        For parquet, if ``pyarrow`` is not installed.
    """
    form = form or sure_form(path)
    if form == "jsonl":
        return _from_json_lines(read_text(path), str(path))
    return _from_columns(read_columns(path, form=form))


def write_records(path: str | Path, records: Records, *, form: RecordForm | None = None) -> None:
    """Write a table that :func:`read_records` reads. The same records give the same bytes.

    Raises
    ------
    DataError
        If the format cannot hold a text: a missing reference in TSV or CSV, a tab or line end
        in TSV.
    UsageError, MissingResourceError
        As :func:`read_records`.
    """
    form = form or sure_form(path)
    if form == "parquet":
        write_bytes(path, _to_parquet(records))
    elif form == "jsonl":
        write_text(path, _to_json_lines(records))
    else:
        write_text(path, _to_tsv(records) if form == "tsv" else _to_csv(records))


# --- JSON lines ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """One object of JSON lines; ``references`` is ``None`` if it does not name them."""

    source: str
    references: list[str | None] | None
    systems: dict[str, str]


def _from_json_lines(text: str, where: str) -> Records:
    rows: list[_Row] = []
    for number, line in enumerate(split_lines(text), start=1):
        with placed(f"{where}:{number}"):
            rows.append(_json_row(line))
    if not rows:
        raise DataError("the file is empty", where=where, fix="It needs one JSON object a line.")
    width = max(len(row.references or ()) for row in rows)
    for number, row in enumerate(rows, start=1):
        with placed(f"{where}:{number}"):
            _check_shape(row, width, rows[0].systems)
    lacking: list[str | None] = [None] * width
    references = zip(*(row.references or lacking for row in rows), strict=True)
    return Records(
        tuple(row.source for row in rows),
        tuple(references),
        {name: tuple(row.systems[name] for row in rows) for name in rows[0].systems},
    )


def _check_shape(row: _Row, width: int, systems: Mapping[str, str]) -> None:
    if row.references is not None and len(row.references) != width:
        raise DataError(
            f"{len(row.references)} references, but other lines have {width}",
            fix="Write null for a reference that a sentence lacks.",
        )
    odd = sorted(row.systems.keys() ^ systems.keys())
    if odd:
        raise DataError(
            f"other systems than in line 1: {', '.join(odd)} in one of them only",
            fix="Each line needs an output of each system.",
        )


def _json_row(line: str) -> _Row:
    row = parse_line(line, "Write one JSON object a line.", once=True)
    for key in row:
        if key not in _KEYS:
            error = UnknownNameError("key", key, _KEYS)
            raise DataError(error.message, fix=error.fix)
    if "source" not in row:
        raise DataError("no source", fix="Each line needs the key 'source'.")
    systems = row.get("systems", {})
    if not isinstance(systems, dict):
        raise DataError("systems is no JSON object", fix='Write {"name": "text", ...}.')
    outputs = cast("dict[str, object]", systems)
    return _Row(
        _text(row["source"], "source"),
        _references(row["references"]) if "references" in row else None,
        {name: _text(text, f"systems[{name}]") for name, text in outputs.items()},
    )


def _references(value: object) -> list[str | None]:
    if not isinstance(value, list):
        raise DataError("references is no list", fix='Write "references": ["...", null].')
    return [
        None if text is None else _text(text, f"references[{number}]")
        for number, text in enumerate(cast("list[object]", value))
    ]


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise DataError(
            f"{what} is {type(value).__name__} {value!r}, not a text",
            fix="Only references may be null; quote numbers.",
        )
    return checked_text(value, what)


def _to_json_lines(records: Records) -> str:
    lines: list[str] = []
    for number, source in enumerate(records.sources):
        row: dict[str, Any] = {"source": source}
        if records.references:
            row["references"] = [column[number] for column in records.references]
        if records.systems:
            row["systems"] = {name: column[number] for name, column in records.systems.items()}
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    return "".join(lines)


# --- TSV, CSV, parquet ---------------------------------------------------------------------


def _from_columns(table: Columns) -> Records:
    """Sort columns into sources, references and systems; only references may lack texts."""
    _check_head(table.names, table.head)
    _check_types(table)
    columns = {name: tuple(cast("list[str]", cells)) for name, cells in table.cells.items()}
    count = sum(_REFERENCE.match(name) is not None for name in columns)
    return Records(
        columns["source"],
        tuple(columns[f"reference.{number}"] for number in range(count)),
        {match[1]: columns[name] for name in columns if (match := _SYSTEM.match(name))},
    )


def _check_head(names: Sequence[str], where: str) -> None:
    for name in names:
        if name != "source" and not _REFERENCE.match(name) and not _SYSTEM.match(name):
            raise DataError(f"unknown column {name!r}", where=where, fix=_FIX_COLUMNS)
    count = sum(_REFERENCE.match(name) is not None for name in names)
    for name in ("source", *(f"reference.{number}" for number in range(count))):
        if name not in names:
            raise DataError(f"no column {name!r}", where=where, fix=_FIX_COLUMNS)


def _check_types(table: Columns) -> None:
    for name, kind in table.types.items():
        if kind not in _TEXT_TYPES:
            raise DataError(
                f"column {name!r} holds {kind}, not text",
                where=table.where,
                fix="Make it a text column.",
            )
        if None in table.cells[name] and not _REFERENCE.match(name):
            raise DataError(
                f"row {table.cells[name].index(None) + 1}: {name} is missing",
                where=table.where,
                fix="Only references may be missing.",
            )


def _columns(records: Records) -> dict[str, tuple[str | None, ...]]:
    columns: dict[str, tuple[str | None, ...]] = {"source": records.sources}
    columns |= {f"reference.{n}": column for n, column in enumerate(records.references)}
    return columns | {f"system.{name}": column for name, column in records.systems.items()}


def _rows(records: Records) -> Iterable[tuple[str, ...]]:
    columns = _columns(records)
    for name, column in columns.items():
        if None in column:
            raise DataError(
                f"{name} lacks the text of sentence {column.index(None) + 1}",
                fix="TSV and CSV know texts only; write .jsonl or .parquet.",
            )
    texts = cast("dict[str, tuple[str, ...]]", columns)
    return [tuple(texts), *zip(*texts.values(), strict=True)]


def _to_tsv(records: Records) -> str:
    lines: list[str] = []
    for number, row in enumerate(_rows(records), start=1):
        if any(mark in cell for cell in row for mark in "\t\n\r"):
            raise DataError(
                f"a text of line {number} holds a tab or line end",
                fix="TSV cannot hold it; write .jsonl, .csv or .parquet.",
            )
        lines.append("\t".join(row) + "\n")
    return "".join(lines)


def _to_csv(records: Records) -> str:
    out = io.StringIO(newline="")
    # with CR LF, as RFC 4180 has it: else the module leaves a lone CR in a text unquoted
    csv.writer(out, lineterminator="\r\n").writerows(_rows(records))
    return out.getvalue()


def _to_parquet(records: Records) -> bytes:
    arrow: Any = require("pyarrow", extra="records")
    parquet: Any = require("pyarrow.parquet", extra="records")
    columns = _columns(records)
    table = arrow.table({n: arrow.array(c, type=arrow.string()) for n, c in columns.items()})
    out = io.BytesIO()
    parquet.write_table(table, out)
    return out.getvalue()
