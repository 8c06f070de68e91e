"""Processes that score blocks: models once in each, few blocks under way, none left behind."""

import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from grammeter import formats, models
from grammeter.core import GrammeterError, Workers, stand_alone
from grammeter.engine.job import Job
from grammeter.engine.manifest import Planned, digest
from grammeter.engine.rows import Done, checked_blocks, process

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
    processes = _Processes(jobs, job, runtime)
    errors: list[Exception] = []
    source = _until_error(tasks, errors)
    waiting: deque[tuple[Task, Future[Done] | None]] = deque()
    try:
        while True:
            while len(waiting) < UNDER_WAY * jobs and (task := next(source, None)) is not None:
                waiting.append((task, processes.submit(task)))
            if not waiting:
                break
            task, future = waiting[0]
            try:
                done = future.result() if future else processes.again(task)
            except BrokenProcessPool:
                # one of those under way ended a process: see which, one after the other
                waiting = deque((one, None) for one, _ in waiting)
                done = processes.again(task)
            waiting.popleft()
            yield done
        if errors:
            raise errors[0]
        processes.workers.end()
    finally:
        processes.workers.stop()


def _until_error(tasks: Iterable[Task], errors: list[Exception]) -> Generator[Task, None, None]:
    """Yield tasks; an error of theirs ends them and is put in the list, to be raised later."""
    try:
        yield from tasks
    except Exception as error:
        errors.append(error)


class _Processes:
    """A pool of processes, replaced when one of them is lost."""

    def __init__(self, jobs: int, job: Job, runtime: models.Runtime) -> None:
        self._jobs, self._job, self._runtime = jobs, job, runtime
        self.workers: Workers = self._started()

    def submit(self, task: Task) -> Future[Done] | None:
        """Hand out a block; ``None`` if there is none, or the pool has just broken."""
        if isinstance(task.block, str):
            return None
        try:
            return self.workers.pool.submit(process, self._job, task.block, task.plan.form)
        except BrokenProcessPool:
            return None

    def again(self, task: Task) -> Done | str:
        """Score a block that was not handed out, or at which a process was lost."""
        if isinstance(task.block, str):
            return task.block
        for _ in range(TRIES + 1):  # the first may find a pool that broke before
            future = self.submit(task)
            try:
                if future is not None:
                    return future.result()
            except BrokenProcessPool:
                pass
            self.workers.stop()
            self.workers = self._started()
        fault = f"processes that score the rows from here end without a word ({TRIES} times)"
        fix = "Memory may have ended: use fewer --jobs or a smaller --block. The same command"
        where = f"{task.plan.shard.where}:{task.block.first}"
        raise GrammeterError(fault, where=where, fix=f"{fix} goes on with the unfinished shards.")

    def _started(self) -> Workers:
        with _bounded_threads(self._jobs):  # processes inherit the environment when they start
            return Workers(self._jobs, _begin, (self._runtime,))


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
