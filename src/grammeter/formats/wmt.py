"""Rankings in the CSV of the WMT campaigns: a row for each pair, or for each five outputs.

::

    srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID
    src,trg,60,60,judge01,conll14st-test.AMU.src-trg,2,conll14st-test.RAC.src-trg,1,24

Columns stand in any order, spelled in any of the ways of :mod:`grammeter.formats.foreign`, and
tabs or semicolons may separate them. A rank of -1 means that this output was not ranked. An Id is
a system's name, the names of all systems that wrote the same, or
``TESTSET.NAME.SRCLANG-TRGLANG``. Sentences count from 0 or from 1, and the file does not tell.

The format knows no times and no skipped items, and rows of pairs lose which outputs were equal.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, groupby
from typing import Any

from grammeter.core import DataError, Ranking, shielded, unshielded
from grammeter.formats import foreign, judged, tables

_FIX = "Heads are judgeID, srcIndex or segmentId, system1Id, system1rank, system2Id, system2rank."
_UNRANKED = {"-1", "", "-1.0", "na", "nan", "none", "null"}
_COLUMNS = (
    "srclang", "trglang", "srcIndex", "segmentId", "judgeID",
    "system1Id", "system1rank", "system2Id", "system2rank", "rankingID",
)  # fmt: skip


def is_wmt(text: str) -> bool:
    """Whether a text begins like WMT CSV."""
    names = _heads(_first_line(text).split(_mark_of(text)))
    kinds = (foreign.system_number, foreign.rank_number)
    return all(any(number(name) is not None for name in names) for number in kinds)


def parse_wmt(text: str, where: str, systems: Iterable[str] = ()) -> judged.Judgments:
    """Read a text called ``where``, sentences from 0; ``systems`` as in ``foreign.find_names``.

    Consecutive rows of pairs that together hold every pair of some outputs, each output with
    one rank, were one ranking and become one again; other pairs are rankings of two, and
    systems that share an Id tie in each of them.
    """
    rows, lacking = _rows(text, where)
    runs = groupby(rows, key=lambda r: (r.judge, r.sentence, r.item, r.document, r.languages))
    whole = [row for _, run in runs for row in _parts(run)]
    attributes = _attributes(rows)
    said: dict[str, Any] = {"blocks": [judged.JudgedBlock(attributes, len(whole))]}
    said["guesses"] = [f"no column of ranks for {', '.join(lacking)}: left out"] if lacking else []
    said["short"] = partial(_short, attributes=attributes)
    return foreign.judgments_of(whole, where, systems, form="wmt", **said)


def format_wmt(
    rankings: Iterable[Ranking],
    *, first_segment: int = 0, blocks: Sequence[judged.JudgedBlock] = (),
) -> str:  # fmt: skip
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
    source, target = attributes.get("srclang", "src"), attributes.get("trglang", "trg")
    before, after = _around(attributes)
    for number, ranking in enumerate(rankings, start=1):
        segment = ranking.segment - 1 + first_segment
        head = (source, target, segment, segment, ranking.judge)
        item = number if ranking.item is None else ranking.item
        tail = [ranking.document or "-1"] if with_documents else []
        ranked = () if ranking.skipped else zip(ranking.groups, ranking.ranks, strict=True)
        names = sorted((name, rank) for group, rank in ranked for name in group)
        for pair in combinations(names, 2):
            written = ((judged.joined_names([name], "space"), rank) for name, rank in pair)
            cells = [cell for name, rank in written for cell in (f"{before}{name}{after}", rank)]
            writer.writerow(shielded(str(cell)) for cell in (*head, *cells, item, *tail))
    if "\r" in out.getvalue():
        raise DataError("CSV cannot hold a CR in a name", fix="Take it out, or write JSON lines.")
    return out.getvalue()


def _around(attributes: Mapping[str, str]) -> tuple[str, str]:
    """Return what stands before and after a name in an Id: the test set, the languages."""
    if "testset" not in attributes:
        return "", ""
    return f"{attributes['testset']}.", f".{attributes['srclang']}-{attributes['trglang']}"


# --- text to rows --------------------------------------------------------------------------
def _rows(text: str, where: str) -> tuple[list[foreign.Row], list[str]]:
    """Read the rows; also return the columns of systems that have no column of ranks."""
    lines = tables.comma_cells(io.StringIO(text, newline=""), where, _FIX, mark=_mark_of(text))
    filled = [(line, cells) for line, cells in lines if any(cells)]
    if len(filled) < 2:
        raise DataError("no row below the column heads", where=where, fix=_FIX)
    head = _heads(filled.pop(0)[1])
    records: list[tuple[str, dict[str, str]]] = []
    for line, cells in filled:
        row = cells if any(cells[len(head) :]) else cells[: len(head)]
        tables.check_width(row, head, f"{where}:{line}")
        records.append((f"{where}:{line}", dict(zip(head, map(unshielded, row), strict=True))))
    bare_first = sorted(head, key=lambda name: foreign.plain(name)[-1:].isalpha())
    named = {n: c for c in bare_first if (n := foreign.system_number(c)) is not None}
    ranks = {n: c for c in head if (n := foreign.rank_number(c)) is not None}
    both = sorted(named.keys() & ranks.keys())
    numbers = foreign.find(head, foreign.SENTENCE)
    sentence = next((n for n in numbers if any(_is_used(row[n]) for _, row in records)), None)
    if sentence is None or len(both) < 2:
        absent = next(n for n in (1, 2, 3) if n not in both)
        lacking = f"system{absent}{'rank' if absent in named else 'Id'}"
        lacking = "srcIndex" if sentence is None else lacking
        raise DataError(f"no column {lacking!r}", where=f"{where}:1", fix=_FIX)
    kinds = foreign.JUDGE, foreign.DOCUMENT, foreign.ITEM
    judge, document, item = (next(iter(foreign.find(head, kind)), "") for kind in kinds)
    languages = foreign.find_languages(head)
    used = [sentence, judge, document, item, *languages, *named.values(), *ranks.values()]
    if twice := next((name for name in used if head.count(name) > 1), None):
        fault = f"the column {twice!r} comes twice"
        raise DataError(fault, where=f"{where}:1", fix="Rename or drop one.")
    rows: list[foreign.Row] = []
    for origin, record in records:
        with tables.placed(origin):
            shown: list[tuple[str, int | None]] = []
            for name, rank, column in (
                (record[named[n]], record[ranks[n]], ranks[n]) for n in both
            ):
                if rank.strip().lower() not in _UNRANKED:
                    shown.append((name, tables.whole_number(_whole(rank), column)))
                elif _is_used(name):
                    shown.append((name, None))
            unused = record.get(document, "") in foreign.UNUSED
            row = foreign.Row(
                where=origin,
                judge=record.get(judge),
                sentence=tables.whole_number(_whole(record[sentence]), sentence),
                outputs=tuple(foreign.Output(name, rank) for name, rank in shown),
                item=record.get(item),
                document=None if unused else record[document],
                languages=tuple(record[name] for name in languages),
            )
            rows.append(row)
    return rows, [named[n] for n in sorted(named.keys() - ranks.keys())]


def _heads(cells: Sequence[str]) -> list[str]:
    names = [cell.strip().strip('"').lstrip("#").strip() for cell in cells]
    return names[: max((n for n, name in enumerate(names, start=1) if name), default=0)]


def _first_line(text: str) -> str:
    return text.lstrip("\r\n").partition("\n")[0]


def _mark_of(text: str) -> str:
    line = _first_line(text)
    return next((mark for mark in "\t,;" if mark in line), ",")


def _is_used(cell: str) -> bool:
    return cell.strip() not in foreign.UNUSED


def _whole(text: str) -> str:
    return re.sub(r"\.0+\Z", "", text.strip())


# --- rows to rankings ----------------------------------------------------------------------
def _attributes(rows: Iterable[foreign.Row]) -> dict[str, str]:
    """Return the languages, and the test set if all Ids name the same."""
    pairs = {row.languages for row in rows}
    if len(pairs) != 1 or len(pair := pairs.pop()) != 2:
        return {}
    tail = f".{'-'.join(pair)}"
    cells = {output.names for row in rows for output in row.outputs}
    sets = {cell.partition(".")[0] if cell.endswith(tail) else None for cell in cells}
    attributes = {"srclang": pair[0], "trglang": pair[1]}
    name = sets.pop() if len(sets) == 1 else None
    return attributes if name is None else attributes | {"testset": name}


def _short(name: str, attributes: Mapping[str, str]) -> str:
    before, after = _around(attributes)
    return name.removeprefix(before).removesuffix(after)


def _parts(run: Iterable[foreign.Row]) -> Iterator[foreign.Row]:
    """Put the rows of one judge and sentence that follow each other together to rankings."""
    together: dict[frozenset[str], foreign.Row] = {}
    for row in run:
        pair = frozenset(cell for cell, *_ in row.outputs)
        if pair in together or len(row.outputs) != 2:
            yield from _joined([*together.values()])
            together = {}
        if len(row.outputs) == 2:
            together[pair] = row
        else:
            yield row
    yield from _joined([*together.values()])


def _joined(rows: Sequence[foreign.Row]) -> Sequence[foreign.Row]:
    """Join pairs to one row if they are all the pairs of one ranking."""
    outputs = {output: None for row in rows for output in row.outputs}
    systems = len({output.names for output in outputs})
    if len(rows) > 1 and systems == len(outputs) and len(rows) == systems * (systems - 1) // 2:
        return [replace(rows[0], outputs=tuple(outputs))]
    return rows
