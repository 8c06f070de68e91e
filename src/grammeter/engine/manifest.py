"""The record of a run's finished shards, read when the same command is given again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from grammeter.core import DataError, UsageError, only_one, reading
from grammeter.engine.block import Totals
from grammeter.engine.job import Job
from grammeter.engine.writing import Finished, Planned
from grammeter.formats import PARTIAL, Shard, read_object
from grammeter.version import __version__

State = Literal["new", "done", "gone", "changed"]
"""Not written yet; as it was written; no longer there; there, but not as it was written."""

NAME = "manifest.json"
KIND = "batch"
_CHUNK = 1 << 20


class Manifest:
    """The finished shards of an output folder; written anew after each of them."""

    def __init__(self, folder: Path, job: Job) -> None:
        self._path = folder / NAME
        self._job = job
        self._shards: dict[str, dict[str, Any]] = {}

    @classmethod
    def open(cls, folder: Path, job: Job, outputs: Sequence[Path]) -> Manifest:
        """Begin or continue the run of a folder that is to hold these outputs.

        Raises
        ------
        UsageError
            If the folder holds a run with other settings or of another version, or, without any
            run, one of the outputs.
        DataError
            If the manifest is damaged or cannot be written.
        """
        manifest = cls(folder, job)
        if manifest._path.exists():
            manifest._read()
            return manifest
        strange = [path for path in outputs if path.exists()]
        if strange:
            raise UsageError(
                f"{strange[0]} is there already, and no run of this folder wrote it",
                fix="Give another folder with -o.",
            )
        manifest._write()
        return manifest

    def state(self, planned: Planned) -> State:
        """Return the state of a shard's output.

        Raises
        ------
        UsageError
            If its input has changed since it was written.
        """
        shard, output = planned.shard, planned.output
        entry = self._shards.get(shard.name)
        if entry is None:
            return "new"
        written = [path for path in _written(planned, entry["errors"]) if path.exists()]
        if output not in written:
            return "gone"
        if entry["input"] != digest(shard.paths):
            raise UsageError(
                f"{shard.where} has changed since its output was written",
                fix=f"Remove {output} to have it made again, or give another folder with -o.",
            )
        return "done" if entry["files"] == _prints(written) else "changed"

    def orphans(self, planned: Sequence[Planned]) -> list[str]:
        """Return the outputs of an earlier run whose input is not among those of this run."""
        inputs = {plan.shard.name for plan in planned}
        return [entry["output"] for name, entry in self._shards.items() if name not in inputs]

    def totals(self, shard: Shard) -> Totals:
        """Return the counts of a finished shard."""
        entry = self._shards[shard.name]
        return Totals(entry["rows"], entry["kept"], entry["errors"])

    def add(self, finished: Finished) -> None:
        """Record that a shard is finished; when this returns, the record is on disk."""
        planned, totals = finished.planned, finished.totals
        self._shards[planned.shard.name] = {
            "input": finished.read,
            "output": planned.output.name,
            "files": _prints(_written(planned, totals.errors)),
            **asdict(totals),
        }
        self._write()

    def withdraw(self, outputs: Sequence[Path]) -> None:
        """Remove a manifest without outputs, so that the next run may have other settings."""
        if not self._shards and not any(path.exists() for path in outputs):
            self._path.unlink(missing_ok=True)

    def _read(self) -> None:
        where, data = str(self._path), read_object(self._path)
        with reading(data, KIND, verb="batch", where=where):
            settings, version = data["settings"], data["grammeter"]
            ours = self._job.to_dict()
            changes = [
                f"{name}: {settings.get(name)} / {ours.get(name)}"
                for name in dict.fromkeys([*settings, *ours])
                if settings.get(name) != ours.get(name)
            ]
            for name, entry in data["shards"].items():
                self._shards[name] = {key: entry[key] for key in _KEYS}
        if version != __version__:
            changes.append(f"version: {version} / {__version__}")
        if changes:
            raise UsageError(
                f"{self._path.parent} holds a run with other settings (there / here):"
                f" {'; '.join(changes)}",
                fix="Give another folder with -o, or the settings of that run.",
            )

    def _write(self) -> None:
        data = {
            "kind": KIND,
            "grammeter": __version__,
            "settings": self._job.to_dict(),
            "shards": dict(sorted(self._shards.items())),
        }
        text = json.dumps(data, ensure_ascii=False, indent=1)
        fresh = self._path.with_name(NAME + PARTIAL)
        try:
            with fresh.open("w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._path)
        except OSError as error:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)
            raise DataError(
                f"cannot be written: {error.strerror or error}",
                where=str(self._path),
                fix="Make room; the same command goes on from here.",
            ) from error


_KEYS = ("input", "output", "files", "rows", "kept", "errors")


def digest(paths: Iterable[Path]) -> str:
    """Return a hash of the bytes of files, one after the other."""
    total = hashlib.blake2b(digest_size=16)
    for path in paths:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                total.update(chunk)
    return total.hexdigest()


def _written(planned: Planned, errors: int) -> list[Path]:
    """Return the output files of a shard."""
    return [planned.output, planned.errors] if errors else [planned.output]


def _prints(paths: Iterable[Path]) -> list[list[Any]]:
    """Return size in bytes and hash of each file, by which later changes are detected."""
    return [[path.stat().st_size, digest([path])] for path in paths]


@contextmanager
def at_work(folder: Path) -> Generator[None, None, None]:
    """Keep a second run out of the folder while this one writes.

    Raises
    ------
    UsageError
        If another process is at work there.
    DataError
        If the folder cannot be made or written.
    """
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(only_one(folder))
        except OSError as error:
            raise DataError(
                f"cannot be written: {error.strerror}",
                where=str(folder),
                fix="Choose another folder.",
            ) from None
        yield
