"""Score shards into a folder: any engine, resumed where an earlier run ended."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from grammeter.core import GrammeterError, UsageError, tell
from grammeter.engine.block import Done, Totals, checked_blocks
from grammeter.engine.job import Job
from grammeter.engine.manifest import NAME, Manifest, at_work, digest
from grammeter.engine.rows import RowScorer
from grammeter.engine.workers import Task, score_here, score_with
from grammeter.engine.writing import ERRORS, FIRST_FAULTS, Finished, Planned, Writer
from grammeter.formats import Shard, output_form, output_name
from grammeter.models import current
from grammeter.version import __version__

Engine = Literal["local", "ray"]

BLOCK = 1_000
"""Rows that are read, scored and written together."""


@dataclass
class Summary:
    """The result of a run.

    Attributes
    ----------
    totals
        By shard, those of earlier runs included.
    earlier
        Shards that an earlier run had finished.
    faults
        The first rows with an error, as ``file:line: reason``.
    notes
        What a reader of the rows must know: columns without scores, outputs made again.
    seconds
        Duration of this run.
    """

    totals: dict[str, Totals] = field(default_factory=dict[str, Totals])
    earlier: list[str] = field(default_factory=list[str])
    faults: list[str] = field(default_factory=list[str])
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def all(self) -> Totals:
        """The sums over all shards."""
        columns = zip(*map(astuple, self.totals.values()), strict=True)
        return Totals(*map(sum, columns))

    @property
    def fresh(self) -> int:
        """Rows that this run scored."""
        return sum(t.rows for name, t in self.totals.items() if name not in self.earlier)

    def to_json(self) -> dict[str, Any]:
        """Return the counts and notes as plain values."""
        return {
            "kind": "batch-summary",
            "grammeter": __version__,
            **asdict(self.all),
            "notes": list(self.notes),
            "shards": {
                name: {**asdict(totals), "earlier": name in self.earlier}
                for name, totals in self.totals.items()
            },
        }


def run_batch(
    shards: Sequence[Shard],
    folder: str | Path,
    job: Job,
    *,
    jobs: int = 1,
    block: int = BLOCK,
    engine: Engine = "local",
    ray: Mapping[str, Any] | None = None,
) -> Summary:
    """Score rows and write them again with their metric columns.

    Parameters
    ----------
    shards
        Of :func:`~grammeter.formats.shards.find_shards`; each becomes one file of the folder.
    folder
        Made if need be. If it holds an earlier run with the same settings, that is continued:
        finished shards are not touched.
    job
        What is done to each row.
    jobs
        Processes; 1 works in this one. The rows do not depend on it.
    block
        Rows that are scored together; more is faster for models, and takes more memory. The rows
        do not depend on it, but for the last digits of models.
    engine, ray
        ``local``, or ``ray`` with the options of :func:`grammeter.engine.ray.score_shards`.

    Raises
    ------
    UsageError
        If a setting is not possible or not that of the earlier run, or another run writes there.
    DataError
        With file and line, if an input is damaged as a whole.
    """
    if jobs < 1 or block < 1:
        raise UsageError(f"{jobs} processes, blocks of {block} rows", fix="Use 1 or more.")
    start, where = time.perf_counter(), Path(folder)
    work = RowScorer(job)
    job = replace(job, signatures=work.signatures)
    planned = [_planned(shard, where, job) for shard in shards]
    summary = Summary(notes=work.notes)
    _check_outputs(planned)
    with at_work(where):
        outputs = [plan.output for plan in planned]
        manifest = Manifest.open(where, job, outputs)
        left = _left(planned, manifest, summary)
        if engine == "ray":
            from grammeter.engine.ray import score_shards

            finished = score_shards(left, job, block=block, **(ray or {}))
        else:
            finished = _score_here(left, job, jobs, block)
        try:
            with closing(finished):
                for shard in finished:
                    _note(shard, manifest, summary)
        except GrammeterError:
            manifest.withdraw(outputs)
            raise
    summary.totals = {plan.shard.name: summary.totals[plan.shard.name] for plan in planned}
    summary.seconds = time.perf_counter() - start
    return summary


def _planned(shard: Shard, folder: Path, job: Job) -> Planned:
    form = output_form(shard, job.form)
    return Planned(shard, form, folder / output_name(shard, form))


def _check_outputs(planned: Sequence[Planned]) -> None:
    """Refuse outputs that are inputs, that are one file, or have a name of ours."""
    inputs = {path.resolve() for plan in planned for path in plan.shard.paths}
    by_name: dict[str, Planned] = {}
    for plan in planned:
        name = plan.output.name
        if plan.output.resolve() in inputs:
            raise UsageError(f"{plan.output} is an input", fix="Choose another folder with -o.")
        if name in (NAME, ERRORS):
            raise UsageError(f"an input is called {name}", fix="Rename it: that name is ours.")
        other = by_name.setdefault(name, plan)
        if other is not plan:
            raise UsageError(
                f"{other.shard.where} and {plan.shard.where} would both be written as {name}",
                fix="Rename one, or run twice.",
            )


def _left(planned: Sequence[Planned], manifest: Manifest, summary: Summary) -> list[Planned]:
    """Return what is still to be scored; note in the summary what earlier runs finished."""
    left: list[Planned] = []
    for plan in planned:
        state = manifest.state(plan)
        if state == "done":
            summary.totals[plan.shard.name] = manifest.totals(plan.shard)
            summary.earlier.append(plan.shard.name)
            continue
        left.append(plan)
        if state == "gone":
            summary.notes += (f"{plan.output} of an earlier run is gone: it is made again",)
        elif state == "changed":
            summary.notes += (f"{plan.output} is not as it was written: it is made again",)
    for name in manifest.orphans(planned):
        summary.notes += (
            f"{name} is of an earlier run: its input is not among those named now, and no row of"
            " it is counted",
        )
    return left


def _score_here(
    left: Sequence[Planned], job: Job, jobs: int, block: int
) -> Generator[Finished, None, None]:
    """Score on this machine, one shard after the other."""
    progress, runtime, read = _Progress(left), current(), dict[str, str]()
    tasks = _tasks(left, job, block, read)
    results = (
        score_here(job, tasks, runtime) if jobs == 1 else score_with(jobs, job, tasks, runtime)
    )
    with closing(results):
        for plan in left:
            with Writer(plan) as writer:
                for done in iter(lambda: next(results), None):
                    writer.add(done)
                    progress.add(plan, done)
                finished = writer.finish(read.pop(plan.shard.name))
            yield finished


def _tasks(left: Sequence[Planned], job: Job, rows: int, read: dict[str, str]) -> Iterator[Task]:
    """Yield blocks on demand; ``read`` gets the digest of each shard before it is read."""
    for plan in left:
        read[plan.shard.name] = digest(plan.shard.paths)
        for block in checked_blocks(job, plan.shard, rows):
            yield Task(plan.shard, plan.form, block)
        yield Task(plan.shard, plan.form, None)


def _note(finished: Finished, manifest: Manifest, summary: Summary) -> None:
    """Record a finished shard on disk and in the summary."""
    shard = finished.planned.shard
    manifest.add(finished)
    summary.totals[shard.name] = finished.totals
    room = FIRST_FAULTS - len(summary.faults)
    summary.faults += [f"{shard.where}:{line}: {why}" for line, why in finished.faults[:room]]


class _Progress:
    """Reports rows so far and an estimate of all rows, by the share of bytes that were read."""

    def __init__(self, left: Sequence[Planned]) -> None:
        self._sizes = {plan.shard.name: plan.shard.size for plan in left}
        self._all = max(sum(self._sizes.values()), 1)
        self._shares: dict[str, float] = {}
        self._rows = 0

    def add(self, plan: Planned, done: Done) -> None:
        self._rows += done.rows
        self._shares[plan.shard.name] = done.share
        read = sum(self._sizes[name] * share for name, share in self._shares.items())
        tell("rows", self._rows, round(self._rows * self._all / max(read, 1)))
