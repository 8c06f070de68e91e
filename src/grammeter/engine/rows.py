"""Rows in, rows with metric columns out, a block at a time, in this process or in several."""

import os
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice
from typing import Any, NamedTuple, cast

from grammeter import core, formats, metrics, models, scoring
from grammeter.core import DataError, GrammeterError, Segment, UsageError
from grammeter.engine import job as runs
from grammeter.engine.job import ERROR, LONGEST_TOKEN, Done, EditsForm, Job, Planned, parse_keep
from grammeter.metrics import metric as make_metric

_ENDS = ("", ".edits")  # of columns of numbers
UNDER_WAY = 2  # blocks per process that wait or are worked on: enough that no process is idle
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
Task = tuple[Planned, formats.Block | None]


class Made(NamedTuple):
    """Cells of the input, then new ones, and why any are missing; ``passes`` the filter or not."""

    line: int
    cells: dict[str, Any]
    fault: str | None
    passes: bool


_NewCells = tuple[dict[str, Any], list[str]]  # the new cells of a row, and why some are missing


class _Plan(NamedTuple):
    spelled: str
    metric: metrics.Metric
    scored: bool
    edits: EditsForm | None

    def columns(self) -> Iterator[tuple[str, formats.ColumnKind]]:
        if self.scored:
            yield self.spelled, "value"
        if self.metric.extracts:
            yield f"{self.spelled}.edits", "count"
            if self.edits:
                yield f"{self.spelled}.{self.edits}", "text" if self.edits == "m2" else "list"


class RowScorer:
    """Scores rows by the settings of a job; made once in each process, so that models stay."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._plans = [_plan(spelled, job) for spelled in job.metrics]
        self.columns = dict(column for plan in self._plans for column in plan.columns())
        numbers = [name for name, kind in self.columns.items() if kind in ("value", "count")]
        # the name alone suffices where one metric has it: errant.edits
        often = Counter(plan.metric.name for plan in self._plans)
        alone = [plan for plan in self._plans if often[plan.metric.name] == 1]
        short = {plan.metric.name + end: plan.spelled + end for plan in alone for end in _ENDS}
        short = {name: column for name, column in short.items() if column in numbers}
        self._keep = None if job.keep is None else parse_keep(job.keep, numbers, short)
        self._tried = False

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the columns must know."""
        gold, other = " needs gold edits, which rows do not hold", ": no references are named"
        bare = ((p.spelled, p.metric.needs == "gold") for p in self._plans if not p.scored)
        edits = ": only its edits are counted"
        notes = [f"{name}{gold if of_gold else other}{edits}" for name, of_gold in bare]
        notes += [plan.metric.notice for plan in self._plans if plan.metric.notice]
        return tuple(dict.fromkeys(notes))

    @property
    def signatures(self) -> list[str]:
        """The signatures of all metrics."""
        return [str(plan.metric.signature()) for plan in self._plans]

    def __call__(self, rows: Sequence[formats.Row]) -> list[Made]:
        """Return the rows with their new columns; fail if a metric fails even on a simple row."""
        if not self._tried:
            self._try()
            self._tried = True
        new = [dict[str, Any].fromkeys(self.columns) for _ in rows]
        reasons = [[why] if (why := row.fault or self._unfit(row.cells)) else [] for row in rows]
        fit = [at for at, of in enumerate(reasons) if not of]
        segments = [self._segment(rows[at].cells) for at in fit]
        self._score(segments, [(new[at], reasons[at]) for at in fit])
        faults = ["; ".join(dict.fromkeys(of)) or None for of in reasons]
        return list(map(self._made, rows, new, faults))

    def _segment(self, cells: Mapping[str, Any]) -> Segment:
        references = tuple(text for _, text in self._references(cells))
        return Segment(cells[self._job.source], cells[self._job.hypothesis], references)

    def _try(self) -> None:
        simple = [Segment("a b", "a b", ("a b",) * len(self._job.references))]
        for plan in self._plans:
            try:
                if plan.scored:
                    scoring.count([plan.metric], simple, [1])
                if plan.metric.extracts:
                    plan.metric.found_edits(simple, types=plan.edits is not None)
            except GrammeterError:
                raise
            except Exception as error:
                fault = f"{plan.spelled} fails on every row: {type(error).__name__}: {error}"
                raise GrammeterError(fault, fix="Use another; --debug shows more.") from error

    def _made(self, row: formats.Row, new: Mapping[str, Any], fault: str | None) -> Made:
        old = {name: cell for name, cell in row.cells.items() if name != ERROR}
        passes = self._keep is None or (fault is None and self._keep(new))
        # a row that has one of the new columns already is a row with an error: its cell stays
        return Made(row.line, {**old, **new, **(old if fault else {}), ERROR: fault}, fault, passes)

    def _unfit(self, cells: Mapping[str, Any]) -> str | None:
        if cells.get(ERROR):
            return str(cells[ERROR])  # of an earlier run, whose output this is
        if not self.columns.keys().isdisjoint(cells):
            return f"there is a column {min(self.columns.keys() & cells.keys())!r} already"
        job = self._job
        texts = [(name, cells.get(name)) for name in (job.source, job.hypothesis)]
        if missing := [name for name, text in texts if text is None]:
            return f"no {missing[0]}"
        references = [pair for pair in self._references(cells) if pair[1] is not None]
        if job.references and not references:
            return f"no {' and no '.join(job.references)}"
        whole = ((name, self._unfit_text(text)) for name, text in texts + references)
        return next((f"{name} {why}" for name, why in whole if why), None)

    def _unfit_text(self, text: object) -> str | None:
        most = self._job.longest
        if not isinstance(text, str):
            return "is no text"
        if len(text) > most * LONGEST_TOKEN:
            return f"has {len(text)} characters, {most * LONGEST_TOKEN} at most"
        if len(text) > most and len(text.split()) > most:
            return f"has {len(text.split())} tokens, {most} at most"
        if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
            return "holds half a surrogate pair"
        return None

    def _references(self, cells: Mapping[str, Any]) -> list[tuple[str, Any]]:
        references: list[tuple[str, Any]] = []
        for name in self._job.references:
            cell = cells.get(name)
            texts = cast("list[Any]", cell) if isinstance(cell, list) else [cell]
            references += [(name, text) for text in texts]
        return references

    def _score(self, segments: Sequence[Segment], made: Sequence[_NewCells]) -> None:
        scored = [plan for plan in self._plans if plan.scored]
        values = scoring.sentence_values([plan.metric for plan in scored], segments)
        for plan, column in zip(scored, values, strict=True):
            for (cells, reasons), value in zip(made, column, strict=True):
                cells[plan.spelled] = value.value
                reasons.extend([f"{plan.spelled}: {value.reason}"] if value.reason else [])
        for plan in self._plans:
            if plan.metric.extracts:
                _add_edits(plan, segments, made)


def _plan(spelled: str, job: Job) -> _Plan:
    metric = make_metric(spelled)
    scoring.check_alone(metric)
    scored = metric.needs == "nothing" or (metric.needs != "gold" and bool(job.references))
    edits_suffice = metric.extracts and (job.edits or not job.references)
    if metric.needs == "gold" and not edits_suffice:
        edits = ", or add --edits m2 for its edits alone" if metric.extracts else ""
        fault = f"{spelled} needs gold edits, which rows do not hold"
        raise UsageError(fault, fix=f"Use another metric{edits}.")
    if not scored and not metric.extracts:
        raise UsageError(f"{spelled} needs references", fix="Name their column: --reference")
    return _Plan(spelled, metric, scored, job.edits)


def _add_edits(plan: _Plan, segments: Sequence[Segment], made: Sequence[_NewCells]) -> None:
    find = partial(plan.metric.found_edits, types=plan.edits is not None)
    rows = zip(made, segments, scoring.isolated(find, segments), strict=True)
    for (cells, reasons), segment, edits in rows:
        if isinstance(edits, scoring.Value):
            reasons.append(f"{plan.spelled}: {edits.reason}")
            continue
        cells[f"{plan.spelled}.edits"] = len(edits)
        if plan.edits == "m2":
            form, end = "A {} {}|||{}|||{}", "|||REQUIRED|||-NONE-|||0"
            lines = ((e.start, e.end, e.type or "NA", e.correction or "-NONE-") for e in edits)
            cells[f"{plan.spelled}.m2"] = "\n".join(form.format(*line) + end for line in lines)
        elif plan.edits == "list":
            words = segment.source.split()
            cells[f"{plan.spelled}.list"] = [
                {"start": e.start, "end": e.end, "original": " ".join(words[e.start : e.end])}
                | {"correction": e.correction, "type": e.type}
                for e in edits
            ]


@lru_cache(maxsize=4)
def scorer(job: Job) -> RowScorer:
    """Return this process's scorer of a job: metrics and models are made once."""
    return RowScorer(job)


def process(job: Job, block: formats.Block, form: formats.ShardForm) -> Done:
    """Score a block and encode the rows that passed: the input's columns, then the added ones."""
    work = scorer(job)
    made = work(formats.parse_block(block))
    passing = [at for at, row in enumerate(made) if row.passes]
    columns = tuple(name for name in block.columns if name != ERROR)
    new: dict[str, formats.ColumnKind] = {**work.columns, ERROR: "text"}
    if form == block.form == "parquet":
        added = formats.encode("parquet", [row.cells for row in made], new)
        chosen = passing if len(passing) < len(made) else None
        data = formats.widened(block.records[0], added, chosen)
    else:
        texts: dict[str, formats.ColumnKind] = dict.fromkeys(columns, "text")
        kinds = texts | new if form == "parquet" else new
        data = formats.encode(form, [made[at].cells for at in passing], kinds)
    faults = tuple((row.line, row.fault) for row in made if row.fault is not None)
    return Done(data, (*columns, *new), len(made), len(passing), faults, block.done)


def _check_columns(job: Job, shard: formats.Shard, first: formats.Block) -> None:
    """Raise :class:`DataError` if the first rows lack a column of the job, or have one of ours."""
    sound = [row for row in formats.parse_block(first) if row.fault is None]
    there = {*first.columns, *(name for row in sound for name in row.cells)}
    if not there:
        return
    for name in (job.source, job.hypothesis, *job.references):
        if name not in there:
            fault = f"no column {name!r}; there are: {', '.join(sorted(there))}"
            fix = "Name the columns with --source, --hypothesis and --reference."
            raise DataError(fault, where=shard.where, fix=fix)
    clash = there & scorer(job).columns.keys()
    if sound and all(row.cells.get(ERROR) for row in sound):
        clash |= {ERROR}
    if clash:
        fix = "Rename it, or take it out: ours would hide it."
        raise DataError(f"there is a column {min(clash)!r} already", where=shard.where, fix=fix)


# --- blocks of shards, in several processes ------------------------------------------------
def tasks(planned: Iterable[Planned], job: Job, rows: int) -> Iterator[Task]:
    """Read shards on demand, so many rows at a time; each ends with None.

    Their digests are those before reading.
    """
    for plan in planned:
        known = replace(plan, read=runs.digest(plan.shard.paths))
        for number, block in enumerate(formats.read_blocks(plan.shard, rows)):
            if not number:
                _check_columns(job, plan.shard, block)
            yield known, block
        yield known, None


def scored(
    jobs: int, job: Job, tasks: Iterable[Task], runtime: models.Runtime
) -> Generator[runs.Result, None, None]:
    """Score blocks in ``jobs`` processes (1: this one), in the order of the tasks.

    Tasks are taken as processes get free, so memory does not grow with the input.
    """
    if jobs == 1:
        with models.using(runtime):
            for plan, block in tasks:
                yield plan, block and process(job, block, plan.form)
        return
    source, waiting = iter(tasks), deque[tuple[Planned, Future[Done] | None]]()
    try:
        with ExitStack() as open_pool:
            with _bounded_threads(jobs):  # processes inherit the environment when they start
                pool = open_pool.enter_context(core.workers(jobs, _begin, (runtime,)))
            while True:
                for plan, block in islice(source, UNDER_WAY * jobs - len(waiting)):
                    future = block and pool.submit(process, job, block, plan.form)
                    waiting.append((plan, future))
                if not waiting:
                    break
                plan, future = waiting.popleft()
                yield plan, future and future.result()
    except BrokenProcessPool:
        fix = "Memory may have ended: use fewer --jobs or a smaller --block. The same command"
        fix = f"{fix} goes on with the unfinished files."
        raise GrammeterError("a process that scored rows ended without a word", fix=fix) from None


@contextmanager
def _bounded_threads(jobs: int) -> Generator[None, None, None]:
    share = str(max(1, (os.cpu_count() or 1) // jobs))
    ours = [name for name in _THREAD_VARIABLES if name not in os.environ]
    os.environ.update(dict.fromkeys(ours, share))
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)


_inside = ExitStack()


def _begin(runtime: models.Runtime) -> None:
    core.stand_alone()
    _inside.enter_context(models.using(runtime))
