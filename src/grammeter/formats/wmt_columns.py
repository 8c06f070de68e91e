"""Which column of WMT CSV holds what: every year and every tool spelled them otherwise."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grammeter.core import DataError, unshielded
from grammeter.formats import spellings
from grammeter.formats.tables import check_width, comma_cells

FIX = (
    "The first line names the columns: judgeID, srcIndex or segmentId, system1Id, system1rank,"
    " system2Id, system2rank."
)
MARKS = ("\t", ",", ";")
Record = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class WMTColumns:
    """The names of the columns of one file; None or empty where it has no such column."""

    sentence: str
    judge: str | None
    document: str | None
    item: str | None
    languages: tuple[str, ...]
    systems: tuple[tuple[str, str], ...]  # name and rank of each system shown
    unranked: tuple[str, ...]  # systems with a name, but without a column of ranks

    @classmethod
    def of(cls, names: Sequence[str], records: Sequence[Record], where: str) -> WMTColumns:
        """Find the columns by their names; of two with sentence numbers, the first one in use."""
        _check_once(names, where)
        bare_first = sorted(names, key=lambda name: spellings.plain(name)[-1:].isalpha())
        named = {n: c for c in bare_first if (n := spellings.system_number(c)) is not None}
        ranks = {n: c for c in names if (n := spellings.rank_number(c)) is not None}
        sentences = spellings.find(names, spellings.SENTENCE)
        used = [c for c in sentences if any(_used(record[c]) for record in records)]
        both = sorted(named.keys() & ranks.keys())
        if not used:
            raise _missing("srcIndex", where)
        if len(both) < 2:
            absent = next(n for n in (1, 2, 3) if n not in both)
            raise _missing(f"system{absent}{'rank' if absent in named else 'Id'}", where)
        languages = (spellings.SOURCE_LANGUAGE, spellings.TARGET_LANGUAGE)
        return cls(
            used[0],
            _first(names, spellings.JUDGE),
            _first(names, spellings.DOCUMENT),
            _first(names, spellings.ITEM),
            tuple(name for spelled in languages if (name := _first(names, spelled))),
            tuple((named[n], ranks[n]) for n in both),
            tuple(named[n] for n in sorted(named.keys() - ranks.keys())),
        )


def is_wmt_head(names: Sequence[str]) -> bool:
    """Whether these are the column heads of WMT CSV."""
    return any(spellings.system_number(name) is not None for name in names) and any(
        spellings.rank_number(name) is not None for name in names
    )


def read_table(text: str, where: str) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Return the column heads, and each row with its line.

    Empty lines, and empty cells at the end of rows, are ignored.
    """
    head: list[str] = []
    rows: list[tuple[int, dict[str, str]]] = []
    lines = io.StringIO(text, newline="")
    for line, cells in comma_cells(lines, where, FIX, mark=mark_of(text)):
        if not any(cells):
            continue
        if not head:
            head = heads(cells)
            continue
        row = cells if any(cells[len(head) :]) else cells[: len(head)]
        check_width(row, head, f"{where}:{line}")
        rows.append((line, dict(zip(head, map(unshielded, row), strict=True))))
    return head, rows


def heads(cells: Sequence[str]) -> list[str]:
    """Return column heads without what surrounds them, and without empty ones at the end."""
    names = [cell.strip().strip('"').lstrip("#").strip() for cell in cells]
    return names[: max((n for n, name in enumerate(names, start=1) if name), default=0)]


def first_line(text: str) -> str:
    """Return the first line that is not empty."""
    return text.lstrip("\r\n").partition("\n")[0]


def mark_of(text: str) -> str:
    """Return what stands between cells: a tab, a comma or a semicolon."""
    line = first_line(text)
    return next((mark for mark in MARKS if mark in line), ",")


def _first(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    return next(iter(spellings.find(names, wanted)), None)


def _used(cell: str) -> bool:
    return cell.strip() not in spellings.UNUSED


def _check_once(names: Sequence[str], where: str) -> None:
    seen: set[str] = set()
    for name in filter(spellings.has_use, names):
        if spellings.plain(name) in seen:
            fault = f"the column {name!r} comes twice"
            raise DataError(fault, where=f"{where}:1", fix="Rename or drop one.")
        seen.add(spellings.plain(name))


def _missing(name: str, where: str) -> DataError:
    return DataError(f"no column {name!r}", where=f"{where}:1", fix=FIX)
