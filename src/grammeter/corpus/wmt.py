"""Rankings in the CSV of the WMT campaigns: a row for each pair, or for each five outputs.

::

    srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID
    src,trg,60,60,judge01,conll14st-test.AMU.src-trg,2,conll14st-test.RAC.src-trg,1,24

Columns stand in any order; needed are ``judgeID``, ``srcIndex`` or else ``segmentId``, and
``systemNId`` and ``systemNrank`` for N = 1, 2 and on. A rank of -1 means that this output was not
ranked. An Id is a system's name, the names of all systems that wrote the same, or
``TESTSET.NAME.SRCLANG-TRGLANG``. Sentences count from 0 or from 1, and the file does not tell.

The format knows no times and no skipped items, and rows of pairs lose which outputs were equal.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

from grammeter.core.errors import DataError
from grammeter.core.judgment import Ranking
from grammeter.corpus.cells import comma_cells
from grammeter.corpus.judged import (
    Block,
    FirstSegment,
    JudgmentFile,
    Judgments,
    Separator,
    check_scale,
    comma_or_space,
    joined_names,
    placed,
    split_names,
    whole_number,
)

UNRANKED = "-1"
COLUMNS = (
    "srclang", "trglang", "srcIndex", "segmentId", "judgeID",
    "system1Id", "system1rank", "system2Id", "system2rank", "rankingID",
)  # fmt: skip

_ID = re.compile(r"system([1-9]\d?)Id\Z")
_SENTENCE = ("srcIndex", "segmentId")
_FIX = (
    "The first line names the columns: judgeID, srcIndex or segmentId, system1Id, system1rank,"
    " system2Id, system2rank."
)


@dataclass(frozen=True, slots=True)
class _Row:
    """One row: who ranked what how, and where it stands."""

    line: int
    judge: str
    sentence: int
    item: str | None
    groups: tuple[tuple[str, ...], ...]
    ranks: tuple[int | None, ...]

    @property
    def key(self) -> tuple[str, int, str | None]:
        return self.judge, self.sentence, self.item


def is_wmt(text: str) -> bool:
    """Whether a text begins like WMT CSV."""
    head = text.partition("\n")[0].strip().split(",")
    return {"judgeID", "system1Id"} <= {name.strip('"') for name in head}


def parse_wmt(text: str, where: str, *, separator: Separator | None = None) -> Judgments:
    """Read a text; ``where`` names it in messages.

    Rows of pairs that follow each other and together hold every pair of some outputs, each
    output with one rank, were one ranking and become one again; other pairs are rankings of
    two, and systems that share an Id tie in each of them. Sentences are counted as if the file
    began with 0.

    Parameters
    ----------
    separator
        What stands between names in an Id; default: commas if an Id has one, else spaces.

    Raises
    ------
    DataError
        With file and line: missing columns or cells, numbers that are none, a system twice in
        one row.
    """
    head, records = _table(text, where)
    if not records:
        raise DataError("no row below the column heads", where=where, fix=_FIX)
    reader = _Reader(where, head, separator, records)
    found = list(reader.rankings())
    return Judgments(
        tuple(ranking for _, ranking in found),
        (
            JudgmentFile(
                form="wmt",
                first_segment=0,
                basis="default",
                separator=reader.separator,
                blocks=(Block(reader.attributes, len(found)),),
            ),
        ),
        tuple(f"{where}:{line}" for line, _ in found),
        tuple(reader.notices()),
    )


def format_wmt(
    rankings: Iterable[Ranking],
    *,
    first_segment: FirstSegment = 0,
    blocks: Sequence[Block] = (),
) -> str:
    """Return rankings as expanded pairs: a row for every two systems of one ranking.

    Systems that wrote the same tie. Skipped items and items with one system have no row, and
    times have no column. ``rankingID`` is the item's own name, or its number from 1.

    Raises
    ------
    DataError
        If a system's name holds white space or a comma.
    """
    attributes = blocks[0].attributes if blocks else dict[str, str]()
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, ranking in enumerate(rankings, start=1):
        head = _head(ranking, attributes, first_segment)
        item = str(number) if ranking.item is None else ranking.item
        for pair in combinations(sorted(_ranked(ranking)), 2):
            cells = [cell for name, rank in pair for cell in (_id(name, attributes), rank)]
            writer.writerow([*head, *cells, item])
    return out.getvalue()


def lost_in_wmt(rankings: Iterable[Ranking]) -> str:
    """Say what :func:`format_wmt` does not write; empty if nothing."""
    counts = dict.fromkeys(("skipped items", "items with one system", "times", "equal outputs"), 0)
    for ranking in rankings:
        counts["skipped items"] += ranking.skipped
        counts["items with one system"] += not ranking.skipped and len(ranking.systems) < 2
        counts["times"] += ranking.seconds is not None
        counts["equal outputs"] += len(ranking.systems) - len(ranking.groups)
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


def _table(text: str, where: str) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Return the column heads, and each row with its line."""
    head: list[str] = []
    rows: list[tuple[int, dict[str, str]]] = []
    for line, cells in comma_cells(text, where, _FIX):
        if not head:
            head = cells
        elif len(cells) != len(head):
            raise DataError(
                f"{len(cells)} cells, but the first line has {len(head)}",
                where=f"{where}:{line}",
                fix="Each row needs a cell for each column.",
            )
        else:
            rows.append((line, dict(zip(head, cells, strict=True))))
    return head, rows


class _Reader:
    """Turns records into rankings; knows the file's name for messages."""

    def __init__(
        self,
        where: str,
        columns: Sequence[str],
        separator: Separator | None,
        records: Sequence[tuple[int, Mapping[str, str]]],
    ) -> None:
        self.where = where
        self.records = records
        self.unranked = 0
        self.numbers = [int(found[1]) for found in map(_ID.match, columns) if found]
        self.sentence = next((name for name in _SENTENCE if name in columns), "srcIndex")
        self._check(columns)
        ids = [record[f"system{n}Id"] for _, record in records for n in self.numbers]
        self.attributes = _attributes(records[0][1], ids)
        self.separator: Separator = separator or comma_or_space(ids)

    def rankings(self) -> Iterator[tuple[int, Ranking]]:
        rows = [self.row(line, record) for line, record in self.records]
        for _, run in groupby(rows, key=lambda row: row.key):
            for part in _parts(run):
                with placed(f"{self.where}:{part.line}"):
                    ranking = _ranking(part)
                self.unranked += len(part.groups) - len(ranking.groups)
                yield part.line, ranking

    def notices(self) -> Iterator[str]:
        if self.unranked:
            yield (
                f"{self.where}: {self.unranked} outputs have no rank beside others that have one;"
                " they are left out"
            )

    def row(self, line: int, record: Mapping[str, str]) -> _Row:
        with placed(f"{self.where}:{line}"):
            shown = [n for n in self.numbers if _is_shown(record, n)]
            if not record["judgeID"]:
                raise DataError("no judge", fix="Each row needs a judgeID.")
            return _Row(
                line,
                record["judgeID"],
                whole_number(record[self.sentence], self.sentence),
                record.get("rankingID"),
                tuple(self.names(record[f"system{n}Id"]) for n in shown),
                tuple(_rank(record[f"system{n}rank"], n) for n in shown),
            )

    def names(self, cell: str) -> tuple[str, ...]:
        return tuple(_name(name, self.attributes) for name in split_names(cell, self.separator))

    def _check(self, columns: Sequence[str]) -> None:
        ranks = [f"system{n}rank" for n in self.numbers]
        for name in ("judgeID", self.sentence, "system1Id", "system2Id", *ranks):
            if name not in columns:
                raise DataError(f"no column {name!r}", where=f"{self.where}:1", fix=_FIX)
        for name in columns:
            if columns.count(name) > 1:
                fault = f"the column {name!r} comes twice"
                raise DataError(fault, where=f"{self.where}:1", fix="Rename or drop one.")


def _attributes(record: Mapping[str, str], ids: Sequence[str]) -> dict[str, str]:
    """Return the languages, and the test set if all Ids name the same."""
    found = {name: record[name] for name in ("srclang", "trglang") if name in record}
    if len(found) == 2:
        tail = f".{found['srclang']}-{found['trglang']}"
        sets = {cell.partition(".")[0] if cell.endswith(tail) else None for cell in ids}
        if len(sets) == 1 and (name := sets.pop()) is not None:
            found["testset"] = name
    return found


def _name(text: str, attributes: Mapping[str, str]) -> str:
    if "testset" not in attributes:
        return text
    tail = f".{attributes['srclang']}-{attributes['trglang']}"
    return text.removeprefix(f"{attributes['testset']}.").removesuffix(tail)


def _is_shown(record: Mapping[str, str], number: int) -> bool:
    """Whether a row has this output; those with fewer outputs than columns leave cells unused."""
    cells = record[f"system{number}Id"], record[f"system{number}rank"]
    return any(cell not in ("", UNRANKED) for cell in cells)


def _rank(text: str, number: int) -> int | None:
    return None if text == UNRANKED else whole_number(text, f"system{number}rank")


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
        yield _Row(first.line, first.judge, first.sentence, first.item, *shown)
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
    )
    return ranking if len(row.groups) == 2 else check_scale(ranking)
