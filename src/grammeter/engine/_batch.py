"""Score shards into a folder: any engine, resumed where an earlier run ended."""

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from grammeter import formats, models, version
from grammeter.core import (
    UnknownNameError,
    UsageError,
    check_home,
    checked,
    only_one,
    tell,
)
from grammeter.engine.job import (
    ERRORS,
    FIRST_FAULTS,
    LONGEST,
    NAME,
    EditsForm,
    Finished,
    Job,
    Manifest,
    Planned,
    Result,
    Totals,
    write_shards,
)
from grammeter.engine.rows import scored, scorer, tasks

Engine = Literal["local", "ray"]
TableForm = Literal["jsonl", "tsv", "csv", "parquet"]
BLOCK = 1_000  # rows that are read, scored and written together


@dataclass
class Summary:
    """A run: counts by shard, those finished before, the first faults (``file:line: reason``)."""

    totals: dict[str, Totals] = field(default_factory=dict[str, Totals])
    earlier: list[str] = field(default_factory=list[str])
    faults: list[str] = field(default_factory=list[str])
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def all(self) -> Totals:
        """The sums over all shards."""
        return Totals(*map(sum, zip(*map(astuple, self.totals.values()), strict=True)))

    @property
    def fresh(self) -> int:
        """Rows that this run scored."""
        return sum(t.rows for name, t in self.totals.items() if name not in self.earlier)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and notes as plain values."""
        kind = {"kind": "batch-summary", "grammeter": version.__version__}
        rows = {name: asdict(totals) for name, totals in self.totals.items()}
        shards = {name: {**row, "earlier": name in self.earlier} for name, row in rows.items()}
        return kind | asdict(self.all) | {"notes": list(self.notes), "shards": shards}


@checked
def batch(
    inputs: Sequence[str | Path], metrics: Sequence[str],
    *, output: str | Path, source: str = "source", hypothesis: str = "hypothesis",
    reference: Sequence[str] = (), longest: int = LONGEST, keep: str | None = None,
    edits: EditsForm | None = None, output_form: TableForm | None = None,
    engine: Engine = "local", jobs: int | None = None, block: int = BLOCK,
    address: str | None = None, gpus_per_worker: float = 0.0,
    on_note: Callable[[str], None] | None = None,
) -> Summary:  # fmt: skip
    """Score the rows of tables and write them again with a column for each metric.

    The result has counts by file. Memory does not grow with the input. The same call continues an
    earlier run of the folder: finished files are not touched. Models run as
    :func:`~grammeter.using` says. Raises :class:`UsageError` if a setting is not possible or not
    that of the earlier run, or another run writes there; :class:`DataError` with file and line, if
    an input is missing or damaged as a whole.

    Parameters
    ----------
    inputs
        Files (JSON lines, TSV, CSV or parquet, ``.gz`` or not), patterns such as
        ``dir/*.parquet``, or parallel texts as ``source.txt:hypothesis.txt[:reference.txt]``.
    metrics, output
        Spellings, each a column; folder of the scored files, made if need be.
    source, hypothesis, reference
        The columns that hold the texts; a cell of a reference column may be a list of texts. By
        default rows have no reference; of three parallel texts the third is the reference.
    output_form
        Format of the written files; by default that of the inputs, which their names tell.
    longest
        Limit of tokens in a text; a longer text makes its row one with an error.
    keep
        Filter such as ``impara >= 0.9 and errant.edits <= 6``: only rows that pass are written.
    edits
        Also write the edits of metrics that extract some: ``m2``, as lines of M2, or ``list``.
    engine, jobs
        ``local``, or ``ray`` for a cluster; processes, by default 1, or actors of ``ray``, by
        default as many as there is room for. The rows do not depend on it.
    block
        Rows that are scored together; more is faster for models, and takes more memory. The rows
        do not depend on it, but for the last digits of models.
    address
        With ``ray``: of the cluster, ``auto`` for one of this machine; by default one is started.
    gpus_per_worker
        With ``ray``: what each actor takes, may be a fraction.
    on_note
        Called before the work with each note that a reader of the rows needs.
    """
    choices = (("format", output_form, TableForm), ("engine", engine, Engine))
    for what, value, known in (*choices, ("form of edits", edits, EditsForm)):
        if value is not None:
            UnknownNameError.check(what, value, get_args(known))
    of = {"address": address is not None, "gpus_per_worker": gpus_per_worker != 0.0}
    check_home(engine == "ray", "--engine ray", **of)
    if block < 1 or (jobs is not None and jobs < 1):
        raise UsageError(f"{jobs} processes, blocks of {block} rows", fix="Use 1 or more.")
    start, where = time.perf_counter(), Path(output)
    shards = formats.find_shards([str(path) for path in inputs])
    if not reference and all(len(shard.paths) == len(formats.TEXT_COLUMNS) for shard in shards):
        reference = formats.TEXT_COLUMNS[2:]
    texts: dict[str, Any] = {"source": source, "hypothesis": hypothesis, "longest": longest}
    texts["references"] = tuple(reference)
    job = Job(metrics=tuple(metrics), keep=keep, edits=edits, form=output_form, **texts)
    work = scorer(job)
    outcome = [(shard, *formats.output_of(shard, job.form)) for shard in shards]
    planned = [Planned(shard, form, where / name) for shard, form, name in outcome]
    _check_outputs(planned, where)
    with only_one(where):
        outputs = [plan.output for plan in planned]
        record = Manifest(where, job.to_dict() | {"signatures": work.signatures}, outputs)
        left, totals, notes = record.left(planned)
        summary = Summary(dict(totals), [*totals], notes=(*work.notes, *notes))
        if on_note is not None:
            for note in summary.notes:
                on_note(note)
        if engine == "local":
            finished = _score_here(left, job, jobs or 1, block)
        else:
            from grammeter.engine.ray import score_shards

            cluster: Any = {"address": address, "gpus": gpus_per_worker}
            finished = score_shards(left, job, block=block, workers=jobs, **cluster)
        with closing(finished):
            for done in finished:
                record.add(done)
                shard, room = done.planned.shard, FIRST_FAULTS - len(summary.faults)
                summary.totals[shard.name] = done.totals
                summary.faults += [f"{shard.where}:{n}: {why}" for n, why in done.faults[:room]]
    summary.totals = {plan.shard.name: summary.totals[plan.shard.name] for plan in planned}
    summary.seconds = time.perf_counter() - start
    return summary


def _check_outputs(planned: Sequence[Planned], where: Path) -> None:
    taken = {path.resolve() for plan in planned for path in plan.shard.paths}
    taken |= {(where / name).resolve() for name in (NAME, ERRORS)}
    for plan in planned:
        output = plan.output.resolve()
        if output in taken:
            fault = f"{plan.shard.where} would be written as {plan.output}, which is taken"
            raise UsageError(fault, fix="Rename it, choose another folder with -o, or run twice.")
        taken.add(output)


def _score_here(
    left: Sequence[Planned], job: Job, jobs: int, block: int
) -> Generator[Finished, None, None]:
    """Score on this machine, one shard after the other; report rows so far and an estimate."""
    all_bytes = max(sum(plan.shard.size for plan in left), 1)

    def told(results: Iterable[Result]) -> Iterator[Result]:
        before, rows = 0, 0
        for plan, done in results:
            size = plan.shard.size
            if done is not None:
                rows += done.rows
                tell("rows", rows, round(rows * all_bytes / max(before + size * done.share, 1)))
            before += size * (done is None)
            yield plan, done

    with closing(scored(jobs, job, tasks(left, job, block), models.current())) as results:
        yield from write_shards(told(results))
