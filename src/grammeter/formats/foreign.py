"""From the rows of Appraise and WMT files to judgments: what neither format says outright."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from grammeter.core import DataError, Ranking
from grammeter.formats import judged, spellings, tables

_ENDINGS = (".gz", ".xml", ".csv", ".tsv", ".txt")
_MOST_DIGITS = 16


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
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of the ranking


def judgments_of(
    rows: Sequence[Row],
    where: str,
    names: spellings.Names,
    *,
    form: Literal["appraise", "wmt"],
    blocks: Iterable[judged.JudgedBlock],
    guesses: Iterable[str] = (),
    notices: Iterable[str] = (),
    short: Callable[[str], str] = str,
) -> judged.Judgments:
    """Make rankings of the rows of the file ``where``.

    ``short`` makes the name of a system from what ``names`` splits; ``guesses`` become notes.
    """
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
    notices = (*notices, *([f"{where}: {left_out}"] if unranked else []))
    origins = tuple(row.where for row in rows)
    notes = tuple(_notes(rows, where, guesses, pairs))
    return judged.Judgments(tuple(rankings), (file,), origins, notices, notes)


def _ranking(row: Row, groups: Sequence[tuple[str, ...]], where: str, languages: str) -> Ranking:
    """Make a ranking; outputs without a rank are left out if others have one, else skipped."""
    ranks = [output.rank for output in row.outputs]
    ranked = [group for group, rank in zip(groups, ranks, strict=True) if rank is not None]
    document = row.document
    if languages and (document or "").partition("/")[0] != languages:
        document = f"{languages}/{document}" if document else languages
    judge, known = row.judge or _judge_of(where), tuple(rank for rank in ranks if rank is not None)
    skipped = {*ranks} <= {None} if row.skipped is None else row.skipped
    more: dict[str, Any] = {"item": row.item, "document": document, "skipped": skipped, **row.more}
    shown = tuple(ranked or groups)
    return Ranking(judge=judge, segment=row.sentence + 1, groups=shown, ranks=known, **more)


def _notes(
    rows: Sequence[Row], where: str, guesses: Iterable[str], pairs: Sequence[str]
) -> Iterator[str]:
    """Yield notes on unknown judges, guesses, and pairs of languages if there are several."""
    if nameless := sum(not row.judge for row in rows):
        some = f"{nameless} of {len(rows)} have no judge"
        some = "no judge is named" if nameless == len(rows) else some
        yield f"{where}: {some}; taken as one judge, {_judge_of(where)!r}, after the file's name"
    yield from (f"{where}: {guess}" for guess in guesses)
    if pairs[1:]:
        listed = ", ".join(pairs)
        yield f"{where}: several language pairs: {listed}; their sentences are kept apart"


def _judge_of(where: str) -> str:
    """Return the judge of a file that names none: the file's name."""
    name = Path(where).name
    while name.endswith(_ENDINGS):
        name = name.rpartition(".")[0]
    return name if name and name != "-" else "unnamed"


def whole_number(text: str, name: str) -> int:
    """Read a whole number from 0 up; raise :class:`DataError` for anything else."""
    if not (text.isascii() and text.isdigit()) or len(text) > _MOST_DIGITS:
        fault = f"{name} is {text[:40]!r}, no whole number"
        raise DataError(fault, fix="Write it in digits, from 0 on.")
    return int(text)
