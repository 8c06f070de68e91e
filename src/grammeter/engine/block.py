"""One block from raw records to encoded rows: the work that every engine hands out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice

from grammeter.core import DataError
from grammeter.engine.job import ERROR, Job
from grammeter.engine.rows import Made, RowScorer
from grammeter.formats import (
    Block,
    ColumnKind,
    Shard,
    ShardForm,
    encode,
    parse_block,
    read_blocks,
    widened,
)

HEAD = 1_000
"""Rows of a shard that are looked at before any is scored."""


@dataclass(frozen=True)
class Done:
    """A scored block: the rows that passed the filter, encoded for a ``Sink``, and their columns.

    ``rows`` and ``kept`` count all rows and those that passed; ``faults`` are line and reason of
    each row with an error; ``share`` is how much of the shard is read with this block, 0 to 1.
    """

    data: bytes
    columns: tuple[str, ...]
    rows: int
    kept: int
    faults: tuple[tuple[int, str], ...]
    share: float


@dataclass
class Totals:
    """Counts of a shard or of a run."""

    rows: int = 0
    kept: int = 0
    errors: int = 0

    def add(self, done: Done) -> None:
        """Add a block."""
        self.rows += done.rows
        self.kept += done.kept
        self.errors += len(done.faults)


@lru_cache(maxsize=4)
def scorer(job: Job) -> RowScorer:
    """Return this process's scorer of a job: metrics and models are made once."""
    return RowScorer(job)


def checked_blocks(job: Job, shard: Shard, rows: int) -> Iterator[Block]:
    """Read a shard, so many rows at a time, if its columns are those that the job is about.

    Its first rows are looked at before any is scored. A row further on that lacks a column is a
    row with an error.

    Raises
    ------
    DataError
        If no row has a column that holds the texts, if there is one of the name of a new one, or
        as :func:`~grammeter.formats.shards.read_blocks` says.
    """
    blocks, head, seen = read_blocks(shard, rows), list[Block](), 0
    for block in blocks:
        head.append(block)
        seen += len(block.records)
        if block.columns or seen >= HEAD:
            break
    _check_columns(job, shard, head)
    yield from head
    yield from blocks


def process(job: Job, block: Block, form: ShardForm) -> Done:
    """Score a block and encode it in a form."""
    work = scorer(job)
    made = work(parse_block(block))
    passing = [at for at, row in enumerate(made) if row.passes]
    columns = tuple(name for name in block.columns if name != ERROR)
    return Done(
        _encoded(block, form, columns, made, passing, work.columns),
        (*columns, *work.columns, ERROR),
        len(made),
        len(passing),
        tuple((row.line, row.fault) for row in made if row.fault is not None),
        block.done,
    )


def _encoded(
    block: Block,
    form: ShardForm,
    columns: Sequence[str],
    made: Sequence[Made],
    passing: Sequence[int],
    added_columns: Mapping[str, ColumnKind],
) -> bytes:
    """Encode the rows that passed: the input's columns as they are, then the added ones."""
    new: dict[str, ColumnKind] = {**added_columns, ERROR: "text"}
    cells = [made[at].cells for at in passing]
    if form != "parquet":
        return encode(form, cells, new)
    if block.form == "parquet":
        added = encode("parquet", [row.cells for row in made], new)
        return widened(block.records[0], added, passing if len(passing) < len(made) else None)
    texts: dict[str, ColumnKind] = dict.fromkeys(columns, "text")
    return encode("parquet", cells, texts | new)


def _check_columns(job: Job, shard: Shard, head: Sequence[Block]) -> None:
    rows = islice(chain.from_iterable(map(parse_block, head)), HEAD)
    sound = [row for row in rows if row.fault is None]
    there = {name for block in head for name in block.columns}
    there |= {name for row in sound for name in row.cells}
    if not there:
        return
    for name in (job.source, job.hypothesis, *job.references):
        if name not in there:
            raise DataError(
                f"no column {name!r}; there are: {', '.join(sorted(there))}",
                where=shard.where,
                fix="Name the columns with --source, --hypothesis and --reference.",
            )
    clash = there & scorer(job).columns.keys()
    if sound and all(row.cells.get(ERROR) for row in sound):
        clash |= {ERROR}
    if clash:
        raise DataError(
            f"there is a column {min(clash)!r} already",
            where=shard.where,
            fix="Rename it, or take it out: ours would hide it.",
        )
