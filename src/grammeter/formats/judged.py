"""What all formats of judgments share: the value they are read into, and its checks."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, overload

from grammeter.core import DataError, Ranking

JudgmentForm = Literal["appraise", "wmt", "jsonl"]
"""Appraise-2015 XML, WMT CSV, and our own JSON lines."""

FirstSegment = Literal[0, 1]
"""The number that a file gives to the first sentence."""

Basis = Literal["default", "stated", "found", "format"]
"""How that number is known: assumed, stated by the user, found in the outputs, or fixed by the
format (JSON lines count from 1)."""

Separator = Literal["space", "comma", "plus"]
"""What separates the names of systems that wrote the same."""

MARKS: dict[Separator, str | None] = {"space": None, "comma": ",", "plus": "+"}
"""Separator -> what a cell is split at; None is any white space."""

ENDINGS = (".gz", ".xml", ".csv", ".tsv", ".txt")
"""What is removed from a file's name to make a judge's name."""

LARGEST = 10**15
"""Larger numbers of sentences are refused; arrays can index smaller ones."""

SCALE = 5
"""The lowest rank of a scale for up to five systems; for more, it is their number."""


@dataclass(frozen=True, slots=True)
class JudgedBlock:
    """Consecutive rankings of a file with common attributes.

    Attributes
    ----------
    attributes
        Appraise: those of the element ``error-correction-ranking-result``; WMT CSV:
        ``testset``, ``srclang`` and ``trglang``, as far as the file has them.
    count
        How many rankings.
    """

    attributes: Mapping[str, str]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgmentFile:
    """How one file stored its rankings; used to write them the same way."""

    form: JudgmentForm
    first_segment: FirstSegment = 1
    basis: Basis = "format"
    separator: Separator = "space"
    blocks: tuple[JudgedBlock, ...] = ()


@dataclass(frozen=True)
class Judgments(Sequence[Ranking]):
    """The rankings of one or more files, in their order; itself a sequence of them.

    Attributes
    ----------
    rankings
        All of them: skipped items and items with one output, too.
    files
        How each file wrote its rankings, in the order of the files.
    origins
        ``file:line`` of each ranking.
    notices
        What readers should know: items that give no pairs, what was passed over.
    notes
        What changes the meaning of results: guessed numbers, names of judges, names of systems.
    """

    rankings: tuple[Ranking, ...]
    files: tuple[JudgmentFile, ...] = ()
    origins: tuple[str, ...] = field(default=(), compare=False)
    notices: tuple[str, ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @overload
    def __getitem__(self, index: int) -> Ranking: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Ranking, ...]: ...
    def __getitem__(self, index: int | slice) -> Ranking | tuple[Ranking, ...]:
        return self.rankings[index]

    def __len__(self) -> int:
        return len(self.rankings)

    def __iter__(self) -> Iterator[Ranking]:
        return iter(self.rankings)

    @property
    def numbering(self) -> str:
        """How sentences were counted, for signatures: ``0 (default)``, ``1 (found)``."""
        numbers = [f"{file.first_segment} ({file.basis})" for file in self.files]
        return ", ".join(dict.fromkeys(numbers)) or "1 (format)"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must be known where sentences are looked up elsewhere by their number."""
        open_files = any(file.basis == "default" for file in self.files)
        if not open_files or any(ranking.segment == 1 for ranking in self.rankings):
            return ()
        return (
            "the judgments are taken to count sentences from 0; if from 1, say --first-segment 1"
            " (first_segment=1), or give the outputs that were judged (--hyps, systems=)",
        )


@contextmanager
def placed(where: str) -> Generator[None, None, None]:
    """Add the place in the file to errors that have none."""
    try:
        yield
    except DataError as error:
        raise DataError(error.message, where=error.where or where, fix=error.fix) from None


def with_languages(document: str | None, languages: str) -> str | None:
    """Return the name of a document, prefixed once with its pair of languages."""
    if not languages or (document and document.partition("/")[0] == languages):
        return document
    return f"{languages}/{document}" if document else languages


def judge_of(where: str) -> str:
    """Return the judge of a file that names none: the file's name."""
    name = Path(where).name
    while name.endswith(ENDINGS):
        name = name.rpartition(".")[0]
    return name if name and name != "-" else "unnamed"


def judge_notes(where: str, nameless: int, count: int) -> tuple[str, ...]:
    """Return a note if rankings got the name of :func:`judge_of`."""
    if not nameless:
        return ()
    some = "no judge is named" if nameless == count else f"{nameless} of {count} have no judge"
    return (f"{where}: {some}; taken as one judge, {judge_of(where)!r}, after the file's name",)


def whole_number(text: str, name: str) -> int:
    """Read a whole number from 0 up; raise :class:`DataError` for anything else."""
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(LARGEST)):
        raise DataError(
            f"{name} is {text[:40]!r}, no whole number", fix="Write it in digits, from 0 on."
        )
    return int(text)


def check_scale(ranking: Ranking) -> Ranking:
    """Return the ranking; raise :class:`DataError` if a rank lies outside the scale."""
    lowest = max(SCALE, len(ranking.systems))
    for rank in ranking.ranks:
        if rank > lowest:
            raise DataError(
                f"rank {rank} lies outside the scale of 1 to {lowest}",
                fix=f"Rank 1 is best; ranks go to {SCALE}, or to the number of systems.",
            )
    return ranking


def split_names(cell: str, separator: Separator) -> tuple[str, ...]:
    """Split the names of the systems that wrote one output."""
    names = cell.split(MARKS[separator])
    if not all(stripped := [name.strip() for name in names]) or not stripped:
        raise DataError(
            f"a system without a name in {cell[:40]!r}", fix="Name the systems of each output."
        )
    return tuple(stripped)


def joined_names(group: Sequence[str], separator: Separator) -> str:
    """Join names as :func:`split_names` splits them; refuse names with spaces or commas."""
    for name in group:
        if "," in name or name.split() != [name]:
            raise DataError(
                f"the format cannot hold the system name {name!r}",
                fix="Take white space and commas out of it, or write JSON lines.",
            )
    return (MARKS[separator] or " ").join(group)
