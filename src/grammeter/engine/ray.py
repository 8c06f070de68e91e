"""The same work on a Ray cluster: Ray Data hands out shards, actors keep their models.

An actor reads, scores and writes whole shards, under a temporary name that becomes the file's own
when it is complete: an actor that is killed leaves nothing behind that counts, and Ray gives its
shard to another. The folders of input and output must be seen by all machines under one name.
"""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

from grammeter.core import (
    DataError,
    GrammeterError,
    MissingResourceError,
    RemoteError,
    UsageError,
    require,
    tell,
)
from grammeter.engine.block import Totals, checked_blocks, process
from grammeter.engine.job import Job
from grammeter.engine.manifest import digest
from grammeter.engine.writing import Finished, Planned, Writer
from grammeter.models import Runtime, current, using

CPUS = 0.5
"""Of a worker: whole ones on all processors would leave none to hand out the work."""

ANSWER = 10.0
"""Seconds in which a cluster takes up a connection."""


def score_shards(
    planned: Sequence[Planned],
    job: Job,
    *,
    block: int,
    workers: int | None = None,
    address: str | None = None,
    gpus: float = 0.0,
    cpus: float | None = None,
) -> Generator[Finished, None, None]:
    """Score shards on a cluster; yield each when it is finished, in any order.

    Parameters
    ----------
    planned
        Shards and where they go: paths that all machines share.
    workers
        Actors; default: as many as the processors have room for, at most one a shard.
    address
        Of a cluster, ``auto`` for the one of this machine; ``None`` starts one here.
    gpus, cpus
        What each actor takes; may be fractions.

    Raises
    ------
    UsageError
        If the cluster has no room for a worker.
    RemoteError
        If the cluster cannot be reached, or fails.
    """
    each = CPUS if cpus is None else cpus
    if each < 0 or gpus < 0:
        raise UsageError(f"workers of {each:g} processors, {gpus:g} GPUs", fix="Use 0 or more.")
    if not planned:
        return
    at = {finding.shard.name: finding for finding in planned}
    with _cluster(address) as ray:
        count = _workers(ray.cluster_resources(), len(planned), workers, each, gpus)
        data: Any = require("ray.data", extra="ray")
        shards = data.from_items([{"shard": name} for name in at], override_num_blocks=len(planned))
        results = shards.map_batches(
            _Worker,
            fn_constructor_args=([_placed(one) for one in planned], job, block, current()),
            batch_size=1,
            compute=data.ActorPoolStrategy(size=count),
            num_cpus=each,
            num_gpus=gpus or None,
        )
        try:
            for done, row in enumerate(results.iter_rows(), start=1):
                tell("files", done, len(planned))
                yield _finished(at[row["shard"]], json.loads(row["told"]))
        except ray.exceptions.RayError as error:
            raise _failed(error) from error


def _placed(one: Planned) -> Planned:
    """Return the same with whole paths: workers may stand in another folder."""
    paths = tuple(path.absolute() for path in one.shard.paths)
    return replace(one, shard=replace(one.shard, paths=paths), output=one.output.absolute())


def _finished(planned: Planned, told: dict[str, Any]) -> Finished:
    if "error" in told:
        raise _KINDS[told["exit"]](told["error"], where=told["where"], fix=told["fix"])
    totals = Totals(told["rows"], told["kept"], told["errors"])
    faults = [(line, why) for line, why in told["faults"]]
    return Finished(planned, totals, faults, told["read"])


def _error(what: str, where: str | None, fix: str | None, code: int) -> dict[str, Any]:
    return {"error": what, "where": where, "fix": fix, "exit": code}


class _Worker:
    """An actor: one process of the cluster, with its models."""

    def __init__(self, planned: list[Planned], job: Job, block: int, runtime: Runtime) -> None:
        self._planned = {each.shard.name: each for each in planned}
        self._job, self._block, self._runtime = job, block, runtime

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        names = [str(name) for name in batch["shard"]]
        return {"shard": names, "told": [self._told(self._planned[name]) for name in names]}

    def _told(self, each: Planned) -> str:
        """Return what came out as JSON; errors too, which Ray would bury in its own."""
        try:
            told = self._score(each)
        except GrammeterError as error:
            told = _error(error.message, error.where, error.fix, error.exit_code)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            told = _error(what, each.shard.where, _GOES_ON, RemoteError.exit_code)
        return json.dumps(told)

    def _score(self, each: Planned) -> dict[str, Any]:
        writer = Writer(each)
        try:
            read = digest(each.shard.paths)
            with using(self._runtime):
                for found in checked_blocks(self._job, each.shard, self._block):
                    writer.add(process(self._job, found, each.form))
            finished = writer.finish(read)
        except BaseException:
            writer.abandon()
            raise
        return asdict(finished.totals) | {"faults": finished.faults, "read": read}


@contextmanager
def _cluster(address: str | None) -> Generator[Any, None, None]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray: Any = require("ray", extra="ray")
    ours = not ray.is_initialized()
    try:
        if ours and address:
            _check_answers(address)
        if ours:
            options: dict[str, Any] = {} if address else {"include_dashboard": False}
            ray.init(
                address=address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                configure_logging=False,
                **options,
            )
        _quieten()
        yield ray
    except ConnectionError as error:
        raise RemoteError(
            f"no Ray cluster at {address}: {error}", fix="Start one: ray start --head"
        ) from None
    finally:
        if ours:
            ray.shutdown()


def _check_answers(address: str) -> None:
    """Find out at once that nobody is there: Ray would go on asking for many minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and port.isdecimal()):  # `auto`: Ray knows by itself what runs here
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER).close()
    except (OSError, OverflowError) as error:
        raise ConnectionError(str(error)) from None


def _quieten() -> None:
    """Leave standard output to results: Ray's own reports and bars are not ours."""
    data: Any = require("ray.data", extra="ray")
    context = data.DataContext.get_current()
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)


def _workers(
    resources: dict[str, float], shards: int, asked: int | None, cpus: float, gpus: float
) -> int:
    """Return how many actors fit beside half a processor for the rest, as many as asked."""
    room = [(resources.get("CPU", 0.0) - 0.5) / cpus] if cpus else [float(shards)]
    room += [resources.get("GPU", 0.0) / gpus] if gpus else []
    fitting = int(min(room))
    if fitting < (asked or 1):
        raise UsageError(
            f"the cluster has {resources.get('CPU', 0):g} processors and"
            f" {resources.get('GPU', 0):g} GPUs: room for {max(fitting, 0)} workers of"
            f" {cpus:g} and {gpus:g}",
            fix="Ask for fewer --jobs, or less for each: --cpus-per-worker, --gpus-per-worker.",
        )
    return min(asked or fitting, shards)


def _failed(error: Exception) -> RemoteError:
    """Say what Ray said, in the words of the error behind its own, if there is one."""
    cause = getattr(error, "cause", None) or error
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    return RemoteError(
        f"Ray failed: {type(cause).__name__}: {lines[0] if lines else 'no more is known'}",
        fix=_GOES_ON,
    )


_GOES_ON = "The same command goes on with the files that are left; --debug shows more."


_KINDS: dict[int, type[GrammeterError]] = {
    kind.exit_code: kind for kind in (UsageError, DataError, MissingResourceError, RemoteError)
}
"""By exit code, what an actor's error becomes here."""
