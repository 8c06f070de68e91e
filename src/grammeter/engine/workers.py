"""Processes that score blocks: models once in each, few blocks under way, none left behind."""

import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice

from grammeter import formats, models
from grammeter.core import GrammeterError, Workers, stand_alone
from grammeter.engine.job import Done, Job, Planned, Result, digest
from grammeter.engine.rows import check_columns, process

UNDER_WAY = 2  # blocks per process that wait or are worked on: enough that no process is idle
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
Task = tuple[Planned, formats.Block | None]


def tasks(planned: Iterable[Planned], job: Job, rows: int) -> Iterator[Task]:
    """Read shards on demand, so many rows at a time; each ends with None.

    Their digests are those before reading.
    """
    for plan in planned:
        known = replace(plan, read=digest(plan.shard.paths))
        for number, block in enumerate(formats.read_blocks(plan.shard, rows)):
            if not number:
                check_columns(job, plan.shard, block)
            yield known, block
        yield known, None


def scored(
    jobs: int, job: Job, tasks: Iterable[Task], runtime: models.Runtime
) -> Generator[Result, None, None]:
    """Score blocks in ``jobs`` processes (1: this one), in the order of the tasks.

    Tasks are taken as processes get free, so memory does not grow with the input.
    """
    if jobs == 1:
        with models.using(runtime):
            for plan, block in tasks:
                yield plan, block and process(job, block, plan.form)
        return
    with _bounded_threads(jobs):  # processes inherit the environment when they start
        workers = Workers(jobs, _begin, (runtime,))
    source, waiting = iter(tasks), deque[tuple[Planned, Future[Done] | None]]()
    try:
        while True:
            for plan, block in islice(source, UNDER_WAY * jobs - len(waiting)):
                future = block and workers.pool.submit(process, job, block, plan.form)
                waiting.append((plan, future))
            if not waiting:
                break
            plan, future = waiting.popleft()
            yield plan, future and future.result()
        workers.end()
    except BrokenProcessPool:
        fix = "Memory may have ended: use fewer --jobs or a smaller --block. The same command"
        fix = f"{fix} goes on with the unfinished files."
        raise GrammeterError("a process that scored rows ended without a word", fix=fix) from None
    finally:
        workers.stop()


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
    stand_alone()
    _inside.enter_context(models.using(runtime))
