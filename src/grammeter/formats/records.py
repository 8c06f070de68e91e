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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from grammeter.core import DataError, UnknownNameError, require
from grammeter.formats.cells import (
    RecordForm,
    checked_text,
    comma_cells,
    parquet_table,
    sure_form,
    tab_cells,
)
from grammeter.formats.text import decode, read_bytes, split_lines, write_bytes, write_text

_JSONError = json.JSONDecodeError
_REFERENCE = re.compile(r"reference\.(0|[1-9]\d*)\Z")
_SYSTEM = "system."
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
        With file and line (parquet: row): columns that are unknown, missing, doubled or not
        texts, rows of unequal columns, no row at all.
    UsageError
        If the name does not tell the format.
    MissingResourceError
        For parquet, if ``pyarrow`` is not installed.
    """
    form = form or sure_form(path)
    data = read_bytes(path)
    if form == "parquet":
        return _from_parquet(data, str(path))
    text = decode(data, path)
    if form == "jsonl":
        return _from_json_lines(text, str(path))
    rows = tab_cells(text) if form == "tsv" else comma_cells(text, str(path))
    return _from_rows(rows, str(path))


def write_records(path: str | Path, records: Records, *, form: RecordForm | None = None) -> None:
    """Write a table; :func:`read_records` gives it back. The same records give the same bytes.

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
        _write_parquet(path, records)
    elif form == "jsonl":
        write_text(path, _to_json_lines(records))
    else:
        write_text(path, _to_tsv(records) if form == "tsv" else _to_csv(records))


def _fault(where: str, message: str, fix: str) -> DataError:
    return DataError(message, where=where, fix=fix)


# --- JSON lines ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """One object of JSON lines; ``references`` is ``None`` if it does not name them."""

    source: str
    references: list[str | None] | None
    systems: dict[str, str]


def _from_json_lines(text: str, where: str) -> Records:
    rows = [
        _json_row(line, f"{where}:{number}") for number, line in enumerate(split_lines(text), 1)
    ]
    if not rows:
        raise _fault(where, "the file is empty", "It needs one JSON object a line.")
    width = max(len(row.references or ()) for row in rows)
    names = list(rows[0].systems)
    for number, row in enumerate(rows, start=1):
        if row.references is not None and len(row.references) != width:
            raise _fault(
                f"{where}:{number}",
                f"{len(row.references)} references, but other lines have {width}",
                "Write null for a reference that a sentence lacks.",
            )
        if row.systems.keys() != rows[0].systems.keys():
            odd = sorted(row.systems.keys() ^ rows[0].systems.keys())
            raise _fault(
                f"{where}:{number}",
                f"other systems than in line 1: {', '.join(odd)} in one of them only",
                "Each line needs an output of each system.",
            )
    lacking: list[str | None] = [None] * width
    references = zip(*(row.references or lacking for row in rows), strict=True)
    return Records(
        tuple(row.source for row in rows),
        tuple(references),
        {name: tuple(row.systems[name] for row in rows) for name in names},
    )


def _json_row(line: str, where: str) -> _Row:
    try:
        data: object = json.loads(line, object_pairs_hook=_pairs)
    except (ValueError, RecursionError) as error:
        place = (
            f"{error.msg} at character {error.colno}" if isinstance(error, _JSONError) else error
        )
        raise _fault(where, f"not JSON: {place}", "Write one JSON object a line.") from None
    row = _object(data, where, "a line")
    for key in row:
        if key not in ("source", "references", "systems"):
            error = UnknownNameError("key", key, ["source", "references", "systems"])
            raise _fault(where, error.message, error.fix or "")
    if "source" not in row:
        raise _fault(where, "no source", "Each line needs the key 'source'.")
    systems = _object(row.get("systems", {}), where, "systems")
    return _Row(
        _text(row["source"], where, "source"),
        _references(row["references"], where) if "references" in row else None,
        {name: _text(text, where, f"systems[{name}]") for name, text in systems.items()},
    )


def _references(value: object, where: str) -> list[str | None]:
    if not isinstance(value, list):
        raise _fault(where, "references is no list", 'Write "references": ["...", null].')
    return [
        None if text is None else _text(text, where, f"references[{number}]")
        for number, text in enumerate(cast("list[object]", value))
    ]


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} comes twice")
    return found


def _object(value: object, where: str, what: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _fault(where, f"{what} is no JSON object", 'Write {"name": "text", ...}.')
    return cast("dict[str, object]", value)


def _text(value: object, where: str, what: str) -> str:
    if not isinstance(value, str):
        raise _fault(
            where,
            f"{what} is {type(value).__name__} {value!r}, not a text",
            "Only references may be null; quote numbers.",
        )
    return checked_text(value, what, where)


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


# --- TSV and CSV ---------------------------------------------------------------------------


def _from_rows(rows: Iterator[tuple[int, list[str]]], where: str) -> Records:
    first = next(rows, None)
    if first is None:
        raise _fault(where, "the file is empty", _FIX_COLUMNS)
    _, head = first
    if not head:
        raise _fault(f"{where}:1", "the first line is empty", _FIX_COLUMNS)
    cells: list[list[str]] = []
    for number, row in rows:
        if len(row) != len(head):
            raise _fault(
                f"{where}:{number}",
                f"{len(row)} cells, but the first line has {len(head)}",
                "Each line needs a cell for each column, empty for an empty text.",
            )
        cells.append(row)
    if not cells:
        raise _fault(where, "no row below the column heads", "It needs one row a sentence.")
    columns = list(zip(*cells, strict=True))
    return _from_columns(head, columns, f"{where}:1")


def _from_columns(
    head: Sequence[str], columns: Sequence[tuple[str | None, ...]], where: str
) -> Records:
    """Sort columns into sources, references and systems; only references may lack texts."""
    by_name = dict(zip(head, columns, strict=True))
    _check_head(head, where)
    count = sum(1 for name in head if _REFERENCE.match(name))
    return Records(
        cast("tuple[str, ...]", by_name["source"]),
        tuple(by_name[f"reference.{number}"] for number in range(count)),
        {
            name.removeprefix(_SYSTEM): cast("tuple[str, ...]", by_name[name])
            for name in head
            if _is_system(name)
        },
    )


def _is_system(name: str) -> bool:
    return name.startswith(_SYSTEM) and name != _SYSTEM


def _check_head(head: Sequence[str], where: str) -> None:
    for name in head:
        if name != "source" and not _REFERENCE.match(name) and not _is_system(name):
            raise _fault(where, f"unknown column {name!r}", _FIX_COLUMNS)
        if head.count(name) > 1:
            raise _fault(where, f"the column {name!r} comes twice", "Rename or drop one.")
    count = sum(1 for name in head if _REFERENCE.match(name))
    for name in ("source", *(f"reference.{number}" for number in range(count))):
        if name not in head:
            raise _fault(where, f"no column {name!r}", _FIX_COLUMNS)


def _columns(records: Records) -> dict[str, tuple[str | None, ...]]:
    columns: dict[str, tuple[str | None, ...]] = {"source": records.sources}
    columns |= {f"reference.{n}": column for n, column in enumerate(records.references)}
    return columns | {f"{_SYSTEM}{name}": column for name, column in records.systems.items()}


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


# --- parquet -------------------------------------------------------------------------------


def _from_parquet(data: bytes, where: str) -> Records:
    arrow: Any = require("pyarrow", extra="records")
    table, head = parquet_table(data, where)
    _check_head(head, where)
    if not table.num_rows:
        raise _fault(where, "no row", "It needs one row a sentence.")
    columns = [_parquet_column(arrow, table.column(n), name, where) for n, name in enumerate(head)]
    return _from_columns(head, columns, where)


def _parquet_column(arrow: Any, column: Any, name: str, where: str) -> tuple[str | None, ...]:
    kind, types = column.type, arrow.types
    if not (types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind)):
        raise _fault(where, f"column {name!r} holds {kind}, not text", "Make it a text column.")
    try:
        values = tuple(cast("list[str | None]", column.to_pylist()))
    except UnicodeDecodeError as error:
        raise _fault(where, f"column {name!r} is not UTF-8: {error}", "Write it again.") from None
    if None in values and not _REFERENCE.match(name):
        message = f"row {values.index(None) + 1}: {name} is missing"
        raise _fault(where, message, "Only references may be missing.")
    return values


def _write_parquet(path: str | Path, records: Records) -> None:
    arrow: Any = require("pyarrow", extra="records")
    parquet: Any = require("pyarrow.parquet", extra="records")
    columns = _columns(records)
    table = arrow.table({n: arrow.array(c, type=arrow.string()) for n, c in columns.items()})
    out = io.BytesIO()
    parquet.write_table(table, out)
    write_bytes(path, out.getvalue())
