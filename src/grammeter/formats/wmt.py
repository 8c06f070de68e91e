"""Rankings in the CSV of the WMT campaigns: a row for each pair, or for each five outputs.

::

    srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID
    src,trg,60,60,judge01,conll14st-test.AMU.src-trg,2,conll14st-test.RAC.src-trg,1,24

Columns stand in any order, spelled in any of the ways of :mod:`grammeter.formats.spellings`, and
tabs or semicolons may separate them. A rank of -1 means that this output was not ranked. An Id is
a system's name, the names of all systems that wrote the same, or
``TESTSET.NAME.SRCLANG-TRGLANG``. Sentences count from 0 or from 1, and the file does not tell.

The format knows no times and no skipped items, and rows of pairs lose which outputs were equal.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby

from grammeter.core import DataError, Ranking, shielded, unshielded
from grammeter.formats import spellings
from grammeter.formats.judged import (
    FirstSegment,
    JudgedBlock,
    JudgmentFile,
    Judgments,
    Separator,
    check_scale,
    joined_names,
    judge_of,
    reading_notes,
    whole_number,
    with_languages,
)
from grammeter.formats.spellings import find_names, rank_number, system_number
from grammeter.formats.tables import check_width, comma_cells, placed

_FIX = (
    "The first line names the columns: judgeID, srcIndex or segmentId, system1Id, system1rank,"
    " system2Id, system2rank."
)
_UNRANKED = {"-1", "", "-1.0", "na", "nan", "none", "null"}
_COLUMNS = (
    "srclang", "trglang", "srcIndex", "segmentId", "judgeID",
    "system1Id", "system1rank", "system2Id", "system2rank", "rankingID",
)  # fmt: skip

_Record = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Row:
    """One row: who ranked what how, and where it stands."""

    line: int
    judge: str
    sentence: int
    item: str | None
    document: str | None
    groups: tuple[tuple[str, ...], ...]
    ranks: tuple[int | None, ...]

    @property
    def key(self) -> tuple[object, ...]:
        return self.judge, self.sentence, self.item, self.document


def is_wmt(text: str) -> bool:
    """Whether a text begins like WMT CSV."""
    names = _heads(_first_line(text).split(_mark_of(text)))
    return any(system_number(name) is not None for name in names) and any(
        rank_number(name) is not None for name in names
    )


def parse_wmt(
    text: str,
    where: str,
    *,
    separator: Separator | None = None,
    systems: Iterable[str] = (),
) -> Judgments:
    """Read a text; ``where`` names it in messages.

    Consecutive rows of pairs that together hold every pair of some outputs, each output with
    one rank, were one ranking and become one again; other pairs are rankings of two, and
    systems that share an Id tie in each of them. Sentences are counted from 0. ``separator``
    and ``systems``: see :func:`~grammeter.formats.spellings.find_names`.
    """
    head, records = _read_table(text, where)
    if not records:
        raise DataError("no row below the column heads", where=where, fix=_FIX)
    columns = _Columns.of(head, [record for _, record in records], where)
    reader = _Reader(where, columns, records, separator, {*systems})
    rankings = list(reader.rankings())
    notices: list[str] = []
    if reader.unranked:
        notices.append(
            f"{where}: {reader.unranked} outputs have no rank beside others that have one;"
            " they are left out"
        )
    file = JudgmentFile(
        form="wmt",
        first_segment=0,
        basis="default",
        separator=reader.names.separator,
        blocks=(JudgedBlock(reader.attributes, len(rankings)),),
    )
    return Judgments(
        tuple(ranking for _, ranking in rankings),
        (file,),
        tuple(f"{where}:{line}" for line, _ in rankings),
        tuple(notices),
        tuple(reader.notes()),
    )


def format_wmt(
    rankings: Iterable[Ranking],
    *,
    first_segment: FirstSegment = 0,
    blocks: Sequence[JudgedBlock] = (),
) -> str:
    """Return rankings as expanded pairs: a row for every two systems of one ranking.

    Systems that wrote the same tie. Skipped items and items with one system have no row, and
    times have no column. ``rankingID`` is the item's own name, or its number from 1. Raises
    :class:`DataError` if a system's name holds white space or a comma.
    """
    attributes = blocks[0].attributes if blocks else dict[str, str]()
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    rankings = list(rankings)
    with_documents = any(ranking.document for ranking in rankings)
    writer.writerow([*_COLUMNS, *(["documentId"] if with_documents else [])])
    for number, ranking in enumerate(rankings, start=1):
        head = _head(ranking, attributes, first_segment)
        item = str(number) if ranking.item is None else ranking.item
        tail = [ranking.document or "-1"] if with_documents else []
        for pair in combinations(sorted(_ranked(ranking)), 2):
            cells = [cell for name, rank in pair for cell in (_id(name, attributes), rank)]
            writer.writerow(shielded(str(cell)) for cell in (*head, *cells, item, *tail))
    if "\r" in out.getvalue():
        raise DataError("CSV cannot hold a CR in a name", fix="Take it out, or write JSON lines.")
    return out.getvalue()


def lost_in_wmt(rankings: Iterable[Ranking]) -> str:
    """Say what :func:`format_wmt` does not write; empty if nothing."""
    counts = Counter[str]()
    for ranking in rankings:
        counts["skipped items"] += ranking.skipped
        counts["items with one system"] += not ranking.skipped and len(ranking.systems) < 2
        counts["times"] += ranking.seconds is not None
        counts["equal outputs"] += len(ranking.systems) - len(ranking.groups)
        counts["items with scores"] += ranking.scores is not None
        counts["items with replies"] += bool(ranking.replies)
        counts["documents"] += ranking.document in spellings.UNUSED
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def _ranked(ranking: Ranking) -> Iterator[tuple[str, int]]:
    if not ranking.skipped:
        for group, rank in zip(ranking.groups, ranking.ranks, strict=True):
            yield from ((name, rank) for name in group)


def _head(ranking: Ranking, attributes: Mapping[str, str], first: FirstSegment) -> list[str]:
    number = str(ranking.segment - 1 + first)
    source, target = attributes.get("srclang", "src"), attributes.get("trglang", "trg")
    return [source, target, number, number, ranking.judge]


def _id(name: str, attributes: Mapping[str, str]) -> str:
    plain = joined_names([name], "space")
    if "testset" not in attributes:
        return plain
    return f"{attributes['testset']}.{plain}.{attributes['srclang']}-{attributes['trglang']}"


# --- columns -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Columns:
    """The names of the columns of one file; None or empty where it has no such column."""

    sentence: str
    judge: str | None
    document: str | None
    item: str | None
    languages: tuple[str, ...]
    systems: tuple[tuple[str, str], ...]  # name and rank of each system shown
    unranked: tuple[str, ...]  # systems with a name, but without a column of ranks

    @classmethod
    def of(cls, names: Sequence[str], records: Sequence[_Record], where: str) -> _Columns:
        """Find the columns by their names; of two with sentence numbers, the first one in use."""
        _check_once(names, where)
        bare_first = sorted(names, key=lambda name: spellings.plain(name)[-1:].isalpha())
        named = {n: c for c in bare_first if (n := system_number(c)) is not None}
        ranks = {n: c for c in names if (n := rank_number(c)) is not None}
        sentences = spellings.find(names, spellings.SENTENCE)
        used = [c for c in sentences if any(_used(record[c]) for record in records)]
        both = sorted(named.keys() & ranks.keys())
        lacking = None if used else "srcIndex"
        if len(both) < 2 and not lacking:
            absent = next(n for n in (1, 2, 3) if n not in both)
            lacking = f"system{absent}{'rank' if absent in named else 'Id'}"
        if lacking:
            raise DataError(f"no column {lacking!r}", where=f"{where}:1", fix=_FIX)
        judge, document, item = (
            next(iter(spellings.find(names, spelled)), None)
            for spelled in (spellings.JUDGE, spellings.DOCUMENT, spellings.ITEM)
        )
        return cls(
            used[0],
            judge,
            document,
            item,
            tuple(spellings.find_languages(names)),
            tuple((named[n], ranks[n]) for n in both),
            tuple(named[n] for n in sorted(named.keys() - ranks.keys())),
        )


def _read_table(text: str, where: str) -> tuple[list[str], list[tuple[int, _Record]]]:
    """Return the column heads, and each row with its line.

    Empty lines, and empty cells at the end of rows, are ignored.
    """
    head: list[str] = []
    rows: list[tuple[int, _Record]] = []
    lines = io.StringIO(text, newline="")
    for line, cells in comma_cells(lines, where, _FIX, mark=_mark_of(text)):
        if not any(cells):
            continue
        if not head:
            head = _heads(cells)
            continue
        row = cells if any(cells[len(head) :]) else cells[: len(head)]
        check_width(row, head, f"{where}:{line}")
        rows.append((line, dict(zip(head, map(unshielded, row), strict=True))))
    return head, rows


def _heads(cells: Sequence[str]) -> list[str]:
    """Return column heads without what surrounds them, and without empty ones at the end."""
    names = [cell.strip().strip('"').lstrip("#").strip() for cell in cells]
    return names[: max((n for n, name in enumerate(names, start=1) if name), default=0)]


def _first_line(text: str) -> str:
    """Return the first line that is not empty."""
    return text.lstrip("\r\n").partition("\n")[0]


def _mark_of(text: str) -> str:
    """Return what stands between cells: a tab, a comma or a semicolon."""
    line = _first_line(text)
    return next((mark for mark in "\t,;" if mark in line), ",")


def _used(cell: str) -> bool:
    return cell.strip() not in spellings.UNUSED


def _check_once(names: Sequence[str], where: str) -> None:
    seen: set[str] = set()
    for name in filter(spellings.has_use, names):
        if spellings.plain(name) in seen:
            fault = f"the column {name!r} comes twice"
            raise DataError(fault, where=f"{where}:1", fix="Rename or drop one.")
        seen.add(spellings.plain(name))


# --- rows to rankings ----------------------------------------------------------------------


class _Reader:
    """Turns records into rankings."""

    def __init__(
        self,
        where: str,
        columns: _Columns,
        records: Sequence[tuple[int, _Record]],
        separator: Separator | None,
        systems: set[str],
    ) -> None:
        self.where = where
        self.columns = columns
        self.records = records
        self.unranked = 0
        self.pairs = {self.languages(record) for _, record in records}
        items = list(_items(columns, records))
        self.attributes = _attributes(next(iter(self.pairs)), items) if len(self.pairs) == 1 else {}
        self.names = find_names(
            items, separator=separator, is_system=lambda cell: self.short(cell) in systems
        )

    def rankings(self) -> Iterator[tuple[int, Ranking]]:
        rows = [self.row(line, record) for line, record in self.records]
        for _, run in groupby(rows, key=lambda row: row.key):
            for part in _parts(run):
                with placed(f"{self.where}:{part.line}"):
                    ranking = _ranking(part)
                self.unranked += len(part.groups) - len(ranking.groups)
                yield part.line, ranking

    def notes(self) -> Iterator[str]:
        judge = self.columns.judge
        guesses = list(self.names.notes)
        if self.columns.unranked:
            names = ", ".join(self.columns.unranked)
            guesses.append(f"no column of ranks for {names}: left out")
        judges = [judge and record[judge] for _, record in self.records]
        pairs = self.pairs if len(self.pairs) > 1 else ()
        return reading_notes(self.where, judges, guesses, pairs)

    def row(self, line: int, record: _Record) -> _Row:
        columns = self.columns
        with placed(f"{self.where}:{line}"):
            shown = [(n, r) for n, r in columns.systems if not _absent(record, n, r)]
            return _Row(
                line,
                (columns.judge and record[columns.judge]) or judge_of(self.where),
                whole_number(_whole(record[columns.sentence]), columns.sentence),
                record[columns.item] if columns.item else None,
                self.document(record),
                tuple(self.group(record[name]) for name, _ in shown),
                tuple(_rank(record[rank], rank) for _, rank in shown),
            )

    def group(self, cell: str) -> tuple[str, ...]:
        return tuple(self.short(name) for name in self.names.split(cell))

    def short(self, name: str) -> str:
        """Take the test set and the languages off an Id."""
        if "testset" not in self.attributes:
            return name
        tail = f".{self.attributes['srclang']}-{self.attributes['trglang']}"
        return name.removeprefix(f"{self.attributes['testset']}.").removesuffix(tail)

    def languages(self, record: _Record) -> tuple[str, ...]:
        return tuple(record[name] for name in self.columns.languages)

    def document(self, record: _Record) -> str | None:
        """Return the document, with its languages if the file has several pairs of them."""
        name = record[self.columns.document] if self.columns.document else ""
        languages = "-".join(self.languages(record)) if len(self.pairs) > 1 else ""
        return with_languages(None if name in spellings.UNUSED else name, languages)


def _items(columns: _Columns, records: Iterable[tuple[int, _Record]]) -> Iterator[list[str]]:
    """Return the cells with names of each item: of a row, or of all rows with one rankingID."""
    together: dict[object, dict[str, None]] = {}
    for line, record in records:
        item = columns.item and record[columns.item]
        key = (item, columns.judge and record[columns.judge]) if item else line
        shown = [record[n] for n, r in columns.systems if not _absent(record, n, r)]
        together.setdefault(key, {}).update(dict.fromkeys(shown))
    return (list(cells) for cells in together.values())


def _attributes(languages: Sequence[str], items: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the languages, and the test set if all Ids name the same."""
    if len(languages) < 2:
        return {}
    source, target = languages
    attributes = {"srclang": source, "trglang": target}
    tail = f".{source}-{target}"
    cells = {cell for item in items for cell in item}
    sets = {cell.partition(".")[0] if cell.endswith(tail) else None for cell in cells}
    if len(sets) == 1 and (name := sets.pop()) is not None:
        attributes["testset"] = name
    return attributes


def _absent(record: _Record, name: str, rank: str) -> bool:
    """Whether a row lacks an output: those with fewer outputs than columns leave cells unused."""
    return record[name].strip() in spellings.UNUSED and record[rank].strip().lower() in _UNRANKED


def _rank(text: str, column: str) -> int | None:
    return None if text.strip().lower() in _UNRANKED else whole_number(_whole(text), column)


def _whole(text: str) -> str:
    """Take off what table programs add to whole numbers: spaces, and ``.0``."""
    return re.sub(r"\.0+\Z", "", text.strip())


def _parts(run: Iterable[_Row]) -> Iterator[_Row]:
    """Put the rows of one judge and sentence that follow each other together to rankings."""
    together: list[_Row] = []
    seen: set[frozenset[tuple[str, ...]]] = set()
    for row in run:
        pair = frozenset(row.groups)
        if pair in seen or len(row.groups) != 2:
            yield from _joined(together)
            together, seen = [], set()
        if len(row.groups) == 2:
            together.append(row)
            seen.add(pair)
        else:
            yield row
    yield from _joined(together)


def _joined(rows: list[_Row]) -> Iterator[_Row]:
    """Join pairs to one row if they are all the pairs of one ranking."""
    ranks: dict[tuple[str, ...], int | None] = {}
    agree = True
    for row in rows:
        for group, rank in zip(row.groups, row.ranks, strict=True):
            agree = ranks.setdefault(group, rank) == rank and agree
    if len(rows) > 1 and agree and len(rows) == len(ranks) * (len(ranks) - 1) // 2:
        first = rows[0]
        shown = tuple(ranks), tuple(ranks.values())
        yield replace(first, groups=shown[0], ranks=shown[1])
    else:
        yield from rows


def _ranking(row: _Row) -> Ranking:
    """Leave out what was not ranked; nothing ranked means skipped."""
    ranked = [(g, r) for g, r in zip(row.groups, row.ranks, strict=True) if r is not None]
    skipped = not ranked
    ranking = Ranking(
        judge=row.judge,
        segment=row.sentence + 1,
        groups=row.groups if skipped else tuple(group for group, _ in ranked),
        ranks=tuple(rank for _, rank in ranked),
        skipped=skipped,
        item=row.item,
        document=row.document,
    )
    return ranking if len(row.groups) == 2 else check_scale(ranking)
