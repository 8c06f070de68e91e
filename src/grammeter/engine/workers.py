"""Processes that score blocks: models once in each, few blocks under way, none left behind."""

import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

from grammeter import formats, models
from grammeter.core import GrammeterError, Workers, stand_alone
from grammeter.engine.job import Done, Job, Planned, digest
from grammeter.engine.rows import checked_blocks, process

UNDER_WAY = 2  # blocks per process that wait or are worked on: enough that no process is idle
TRIES = 3  # how often processes may be lost at one block before the run ends
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Task(NamedTuple):
    """A block to score; after the last one of a shard, the :func:`digest` of its files."""

    plan: Planned
    block: formats.Block | str


def tasks(planned: Iterable[Planned], job: Job, rows: int) -> Iterator[Task]:
    """Read shards on demand, so many rows at a time; their digests are those before reading."""
    for plan in planned:
        read = digest(plan.shard.paths)
        yield from (Task(plan, block) for block in checked_blocks(job, plan.shard, rows))
        yield Task(plan, read)


def scored(
    jobs: int, job: Job, tasks: Iterable[Task], runtime: models.Runtime
) -> Generator[Done | str, None, None]:
    """Score blocks in ``jobs`` processes (1: this one), in the order of the tasks; pass digests on.

    Tasks are taken as processes get free, so memory does not grow with the input. Blocks of a lost
    process are scored again; tasks before one with an error are finished first.
    """
    if jobs == 1:
        with models.using(runtime):
            for plan, block in tasks:
                yield block if isinstance(block, str) else process(job, block, plan.form)
        return
    workers = _started(jobs, runtime)

    def handed_out(task: Task) -> Future[Done] | None:
        if isinstance(task.block, str):
            return None
        with suppress(BrokenProcessPool):
            return workers.pool.submit(process, job, task.block, task.plan.form)

    errors: list[Exception] = []
    source, lost = _until_error(tasks, errors), 0
    waiting: deque[tuple[Task, Future[Done] | None]] = deque()
    try:
        while True:
            while len(waiting) < UNDER_WAY * jobs and (task := next(source, None)) is not None:
                waiting.append((task, handed_out(task)))
            if not waiting:
                break
            task, future = waiting[0]
            future = future or handed_out(task)
            try:
                done = future.result() if future else task.block
            except BrokenProcessPool:
                done = None
            if isinstance(done, Done | str):
                waiting.popleft()
                lost = 0
                yield done
                continue
            if (lost := lost + 1) > TRIES:
                raise _lost(task)
            workers.stop()
            workers = _started(jobs, runtime)
            # one of those under way ended a process: see which, one after the other
            waiting = deque((one, None) for one, _ in waiting)
        if errors:
            raise errors[0]
        workers.end()
    finally:
        workers.stop()


def _lost(task: Task) -> GrammeterError:
    fault = f"processes that score the rows from here end without a word ({TRIES} times)"
    fix = "Memory may have ended: use fewer --jobs or a smaller --block. The same command"
    first = "" if isinstance(task.block, str) else f":{task.block.first}"
    where = f"{task.plan.shard.where}{first}"
    return GrammeterError(fault, where=where, fix=f"{fix} goes on with the unfinished shards.")


def _started(jobs: int, runtime: models.Runtime) -> Workers:
    with _bounded_threads(jobs):  # processes inherit the environment when they start
        return Workers(jobs, _begin, (runtime,))


def _until_error(tasks: Iterable[Task], errors: list[Exception]) -> Generator[Task, None, None]:
    """Yield tasks; an error of theirs ends them and is put in the list, to be raised later."""
    try:
        yield from tasks
    except Exception as error:
        errors.append(error)


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
