"""Batch scoring on a Ray cluster: a pool of actors that keep their models.

An actor reads, scores and writes whole shards, under a temporary name until the file is complete:
an actor that is killed leaves no output, and Ray gives its shard to another. All machines must see
the folders of input and output under the same name.
"""

import logging
import os
import socket
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from grammeter.core import GrammeterError, RemoteError, UsageError, require, tell
from grammeter.engine.job import Finished, Job, Planned, write_shards
from grammeter.engine.rows import scored, tasks
from grammeter.models import Runtime, current

CPUS = 0.5  # processors per worker: whole ones would leave none to hand out the work
TRIES = 3  # how often an actor may be lost at one file before the run ends
ANSWER = 10.0  # seconds to wait for a connection to a cluster
_GOES_ON = "The same command goes on with the files that are left; --debug shows more."


def score_shards(
    planned: Sequence[Planned], job: Job,
    *, block: int, workers: int | None = None, address: str | None = None, gpus: float = 0.0,
) -> Generator[Finished, None, None]:  # fmt: skip
    """Score shards on a cluster; yield each when it is finished, in any order.

    ``workers`` are actors: by default as many as the processors have room for, at most one a
    shard. ``address`` is that of :func:`~.batch`; ``gpus``: what each actor takes.
    """
    if gpus < 0:
        raise UsageError(f"workers of {gpus:g} GPUs", fix="Use 0 or more.")
    if not planned:
        return
    plans = {plan.shard.name: plan for plan in planned}
    with _cluster(address) as ray:
        count = _workers(ray.cluster_resources(), len(plans), workers, gpus)
        options = {"max_restarts": -1, "max_task_retries": TRIES}
        actor = ray.remote(_Worker).options(num_cpus=CPUS, num_gpus=gpus, **options)
        actors = [actor.remote(job, block, current()) for _ in range(count)]
        pool: Any = require("ray.util", extra="ray").ActorPool(actors)
        results = pool.map_unordered(_score, [_absolute(plan) for plan in planned])
        try:
            for done, finished in enumerate(results, start=1):
                tell("files", done, len(planned))
                plan = plans[finished.planned.shard.name]
                yield replace(finished, planned=replace(plan, read=finished.planned.read))
        except ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None) or error
            if isinstance(cause, GrammeterError):
                raise cause from None
            lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
            words = f"{type(cause).__name__}: {lines[0] if lines else 'no more is known'}"
            raise RemoteError(f"Ray failed: {words}", fix=_GOES_ON) from error


def _score(actor: Any, plan: Planned) -> Any:
    return actor.score.remote(plan)


def _absolute(plan: Planned) -> Planned:
    """Make paths absolute: workers may have another working folder."""
    paths = tuple(path.absolute() for path in plan.shard.paths)
    return replace(plan, shard=replace(plan.shard, paths=paths), output=plan.output.absolute())


class _Worker:
    def __init__(self, job: Job, block: int, runtime: Runtime) -> None:
        self._job, self._block, self._runtime = job, block, runtime

    def score(self, plan: Planned) -> Finished:
        blocks = tasks([plan], self._job, self._block)
        with closing(scored(1, self._job, blocks, self._runtime)) as results:
            return next(write_shards(results))


@contextmanager
def _cluster(address: str | None) -> Generator[Any, None, None]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray: Any = require("ray", extra="ray")
    ours = not ray.is_initialized()
    try:
        if ours:
            _check_answers(address or "")
            quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
            options = {} if address else {"include_dashboard": False}
            ray.init(address=address, configure_logging=False, **quiet, **options)
        yield ray
    except ConnectionError as error:
        fix = "Start one: ray start --head"
        raise RemoteError(f"no Ray cluster at {address}: {error}", fix=fix) from None
    finally:
        if ours:
            ray.shutdown()


def _check_answers(address: str) -> None:
    """Fail at once if the address does not answer: Ray would retry for many minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and port.isdecimal()):  # `auto`: Ray knows by itself what runs here
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER).close()
    except (OSError, OverflowError) as error:
        raise ConnectionError(str(error)) from None


def _workers(resources: dict[str, float], shards: int, wanted: int | None, gpus: float) -> int:
    room = [(resources.get("CPU", 0.0) - 0.5) / CPUS]
    room += [resources.get("GPU", 0.0) / gpus] if gpus else []
    if (fitting := int(min(room))) < (wanted or 1):
        has = f"{resources.get('CPU', 0):g} processors and {resources.get('GPU', 0):g} GPUs"
        room_for = f"room for {max(fitting, 0)} workers of {CPUS:g} and {gpus:g}"
        fix = "Ask for fewer --jobs, or less for each: --gpus-per-worker."
        raise UsageError(f"the cluster has {has}: {room_for}", fix=fix)
    return min(wanted or fitting, shards)
