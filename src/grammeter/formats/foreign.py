"""Judgments of Appraise and WMT: names in all their spellings, and what neither says outright.

In names of columns and attributes, case, spaces, hyphens, underscores and full stops do not
count: ``judgeID``, ``judgeId``, ``judge_id`` and ``Judge ID`` are one name. Nor do ``Input.`` and
``Answer.``, which Mechanical Turk puts before names.

Systems that wrote the same stand as ``A B``, ``A,B`` or ``A+B`` in place of one name. Names may
contain these characters, too, so the whole file decides how they are read.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from grammeter.core import DataError, Ranking, listed
from grammeter.formats import judged, tables

_LISTS = map(tuple[str, ...], tables.shipped("spellings.json").values())
JUDGE, SENTENCE, DOCUMENT, SOURCE_LANGUAGE, TARGET_LANGUAGE, ITEM, SYSTEM, RANK = _LISTS
Cells = Sequence[Sequence[str]]  # of each item
_ENDINGS = (".gz", ".xml", ".csv", ".tsv", ".txt")
UNUSED = ("", "-1", "###")
"""What the campaigns wrote where a column had no use."""

_SYSTEM = re.compile(r"(?:system|sys)(?:id|name)?(\d{1,2})(?:id|name)?\Z")
_RANK = re.compile(r"(?:system|sys)?(?:(\d{1,2})rank(?:ing)?|rank(?:ing)?(\d{1,2}))\Z")


@lru_cache(4096)
def plain(name: str) -> str:
    """Return a name without what does not count: case, and all but letters and digits."""
    return re.sub(r"^(input|answer)\.|[\W_]+", "", name.lower())


def find(names: Iterable[str], spellings: Sequence[str]) -> list[str]:
    """Return the names that are spelled in one of these ways, in the order of the spellings."""
    by_spelling = {plain(name): name for name in names}
    return [by_spelling[spelling] for spelling in spellings if spelling in by_spelling]


def find_languages(names: Iterable[str]) -> list[str]:
    """Return the names of the source language and the target language, as far as they are there."""
    names = list(names)
    return [*find(names, SOURCE_LANGUAGE)[:1], *find(names, TARGET_LANGUAGE)[:1]]


def system_number(name: str) -> int | None:
    """Return the N of a column ``systemNId``, None for any other column."""
    match = _SYSTEM.match(plain(name))
    return int(match[1]) if match else None


def rank_number(name: str) -> int | None:
    """Return the N of a column ``systemNrank``, None for any other column."""
    match = _RANK.match(plain(name))
    return int(match[1] or match[2]) if match else None


# --- names of systems that wrote the same --------------------------------------------------
@dataclass(frozen=True, slots=True)
class Names:
    """How the cells of one file are split into names of systems."""

    separator: judged.Separator
    joined: frozenset[str] = frozenset()  # names with ``+`` that stand for several systems
    whole: frozenset[str] = frozenset()  # cells that are the name of one system, as they are
    notes: tuple[str, ...] = ()  # what was guessed

    def split(self, cell: str) -> tuple[str, ...]:
        """Return the systems that a cell names; raise :class:`DataError` for an empty name."""
        if not (names := self.cut(cell)) or not all(names):
            fault = f"a system without a name in {cell[:40]!r}"
            raise DataError(fault, fix="Name the systems of each output.")
        return tuple(part for name in names for part in _parts(name, self.joined))

    def cut(self, cell: str) -> list[str]:
        """Split a cell at the separator."""
        cut = [name.strip() for name in cell.split(judged.MARKS[self.separator])]
        return [cell] if cell in self.whole else cut


def find_names(items: Cells, is_system: Callable[[str], bool]) -> Names:
    """Find out how to split the cells of each item.

    Commas separate names if any cell has one, else spaces do; but spaces belong to the names
    if splitting gives one system two outputs of one item, and no part stands alone anywhere.
    A name with ``+`` stands for several systems if each part stands alone elsewhere, and never
    beside it in one item. Cells that are known to be a system's name are not split.
    """
    cells = {cell for item in items for cell in item}
    whole = frozenset(filter(is_system, cells))
    separator, notes = _separator(items, cells - whole)
    plain = Names(separator, whole=whole)
    shown = [[name for cell in item for name in plain.cut(cell)] for item in items]
    names = {name for some in shown for name in some}
    joined = _joined(shown, is_system)
    if joined:
        text = "read as systems that wrote the same, for each part of it stands alone elsewhere"
        notes.append(f"{listed([*map(repr, sorted(joined))], 1)}: {text}")
    if whole_names := {
        name for name in names - joined if "+" in name and {*name.split("+")} & names
    }:
        one = listed([*map(repr, sorted(whole_names))], 1)
        notes.append(f"{one}: read as the name of one system")
    return Names(separator, joined, whole, tuple(notes))


def check_names(items: Cells) -> None:
    """Raise :class:`DataError` if a name would be read back as the names of several systems."""
    if joined := _joined(items, lambda name: False):
        fault = f"the format cannot hold the system name {min(joined)!r} beside those of its parts"
        raise DataError(fault, fix="Rename the system, or write JSON lines.")


def _separator(items: Cells, cells: Collection[str]) -> tuple[judged.Separator, list[str]]:
    if any("," in cell for cell in cells):
        return "comma", []
    several = {cell for cell in cells if len(cell.split()) > 1}
    parts = {part for cell in several for part in cell.split()}
    words = [[word for cell in {*of} & several for word in {*cell.split()}] for of in items]
    if several and parts.isdisjoint(cells) and any(len({*of}) < len(of) for of in words):
        note = f"names of systems are taken to hold spaces, such as {min(several)!r}"
        return "comma", [f"{note}: none of their words is a system of its own"]
    return "space", []


def _joined(shown: Cells, is_system: Callable[[str], bool]) -> frozenset[str]:
    names = {name for some in shown for name in some}
    plus = [name for name in names if "+" in name and not is_system(name)]
    joined = {n for n in plus if all(p in names or is_system(p) for p in n.split("+"))}
    for some in shown if joined else ():
        parts = Counter(part for name in some for part in _parts(name, joined))
        twice = {part for part, count in parts.items() if count > 1}
        joined -= {name for name in some if twice & {*name.split("+")}}
    return frozenset(joined)


def _parts(name: str, joined: Collection[str]) -> list[str]:
    return name.split("+") if name in joined else [name]


# --- rows to judgments --------------------------------------------------------------------
class Output(NamedTuple):
    """One output of a row: its systems as the file names them, its rank, ``file:line`` if known."""

    names: str
    rank: int | None
    where: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One ranking as a file has it; sentences count from 0, unknown languages are ``()``."""

    where: str
    judge: str | None
    sentence: int
    outputs: tuple[Output, ...]
    item: str | None = None
    document: str | None = None
    languages: tuple[str, ...] = ()
    skipped: bool | None = None  # None: if nothing is ranked
    seconds: float | None = None


def judgments_of(
    rows: Sequence[Row], where: str, systems: Iterable[str],
    *, form: Literal["appraise", "wmt"], blocks: Iterable[judged.JudgedBlock],
    guesses: Iterable[str], short: Callable[[str], str] = str,
) -> judged.Judgments:  # fmt: skip
    """Make rankings of a file's rows; ``short`` cuts names of systems, ``guesses`` become notes."""
    cells, known = [[output.names for output in row.outputs] for row in rows], {*systems}
    names = find_names(cells, lambda cell: short(cell) in known)
    pairs = sorted({"-".join(row.languages) for row in rows if row.languages})
    rankings: list[Ranking] = []
    for row in rows:
        groups: list[tuple[str, ...]] = []
        for output in row.outputs:
            with tables.placed(output.where or row.where):
                groups.append(tuple(map(short, names.split(output.names))))
        with tables.placed(row.where):
            ranking = _ranking(row, groups, where, "-".join(row.languages) if pairs[1:] else "")
            # pairs of a longer ranking have its ranks
            is_pair = form == "wmt" and len(groups) == 2
            rankings.append(ranking if is_pair else judged.check_scale(ranking))
    file = judged.JudgmentFile(form, 0, "default", names.separator, tuple(blocks))
    unranked = sum(len(row.outputs) for row in rows) - sum(len(r.groups) for r in rankings)
    left_out = f"{unranked} outputs have no rank beside others that have one; they are left out"
    notices = (f"{where}: {left_out}",) if unranked else ()
    origins = tuple(row.where for row in rows)
    notes = tuple(_notes(rows, where, (*names.notes, *guesses), pairs))
    said: Any = {"origins": origins, "notices": notices, "notes": notes}
    return judged.Judgments(tuple(rankings), (file,), **said)


def _ranking(row: Row, groups: Sequence[tuple[str, ...]], where: str, languages: str) -> Ranking:
    """Make a ranking; outputs without a rank are left out if others have one, else skipped."""
    ranks = [output.rank for output in row.outputs]
    ranked = [group for group, rank in zip(groups, ranks, strict=True) if rank is not None]
    document = row.document
    if languages and (document or "").partition("/")[0] != languages:
        document = f"{languages}/{document}" if document else languages
    return Ranking(
        judge=row.judge or _judge_of(where),
        segment=row.sentence + 1,
        groups=tuple(ranked or groups),
        ranks=tuple(rank for rank in ranks if rank is not None),
        skipped={*ranks} <= {None} if row.skipped is None else row.skipped,
        seconds=row.seconds,
        item=row.item,
        document=document,
    )


def _notes(rows: Sequence[Row], where: str, said: Iterable[str], pairs: list[str]) -> Iterator[str]:
    if nameless := sum(not row.judge for row in rows):
        some = f"{nameless} of {len(rows)} have no judge"
        some = "no judge is named" if nameless == len(rows) else some
        yield f"{where}: {some}; taken as one judge, {_judge_of(where)!r}, after the file's name"
    yield from (f"{where}: {guess}" for guess in said)
    if pairs[1:]:
        listed = ", ".join(pairs)
        yield f"{where}: several language pairs: {listed}; their sentences are kept apart"


def _judge_of(where: str) -> str:
    name = Path(where).name
    while name.endswith(_ENDINGS):
        name = name.rpartition(".")[0]
    return name if name and name != "-" else "unnamed"
