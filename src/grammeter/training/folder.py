"""The folder of a model in training: begun, resumed, never overwritten unasked."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

from grammeter.core import LOCK, DataError, UsageError, only_one

MARK = "training.json"
"""Says whose training the folder belongs to, and all that this depends on."""


@contextmanager
def begun(folder: Path, metric: str, run: Mapping[str, object], *, resume: bool) -> Generator[None]:
    """Do as :func:`begin`, and keep other trainings out of the folder during this one."""
    with ExitStack() as stack:
        with _writable(folder):
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(only_one(folder))
        begin(folder, metric, run, resume=resume)
        yield


def begin(folder: Path, metric: str, run: Mapping[str, object], *, resume: bool) -> None:
    """Make the folder of a training, or take up the one that is there.

    Parameters
    ----------
    folder
        Where the model goes.
    metric
        What is trained.
    run
        All that the training depends on: settings, and hashes of data and encoder.
    resume
        Whether there may be a folder with the same run already.

    Raises
    ------
    UsageError
        If it holds anything and ``resume`` is not set, or the training of something else or
        under other settings, or cannot be written.
    """
    mark = {"metric": metric, "run": dict(run)}
    with _writable(folder):
        # a mark alone is left by a run that never had its data
        there = folder.is_dir() and any(one.name not in (MARK, LOCK) for one in folder.iterdir())
        if there and not resume:
            raise UsageError(
                f"{folder} is not empty",
                fix="Add --resume to go on with it, or name another folder.",
            )
        if there:
            _check(folder, mark)
            return
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / MARK, mark)


@contextmanager
def _writable(folder: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written: {error.strerror}", fix="Name another folder."
        ) from error


def _check(folder: Path, mark: Mapping[str, Any]) -> None:
    """Refuse to go on with another training."""
    found = read_object(folder / MARK) or {}
    if found.get("metric") != mark["metric"]:
        raise UsageError(
            f"{folder} holds no training of {mark['metric']}",
            fix="Name the folder of the earlier run, or a new one.",
        )
    wanted = json.loads(json.dumps(mark["run"]))
    own = cast("dict[str, object]", found.get("run") or {})
    other = [key for key in {**own, **wanted} if own.get(key) != wanted.get(key)]
    if other:
        shown = ", ".join(f"{key} was {own.get(key)}, is {wanted.get(key)}" for key in other)
        raise UsageError(
            f"{folder} belongs to another run: {shown}",
            fix="Resume with the same data and options, or name another folder.",
        )


def digest(files: Iterable[Path]) -> str:
    """Return the contents of files in 16 hexadecimal digits, their order included."""
    whole = hashlib.blake2b(digest_size=8)
    for path in files:
        whole.update(hashlib.blake2b(path.read_bytes()).digest())
    return whole.hexdigest()


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Turn a failure to write into a :class:`DataError`."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"cannot be written: {error.strerror or error}",
            where=str(path),
            fix="Make room, then go on with --resume.",
        ) from error


def write_text(path: Path, content: str | Mapping[str, object]) -> None:
    """Write a text, or a mapping as JSON, whole or not at all; may raise :class:`OSError`."""
    text = content
    if not isinstance(text, str):
        text = json.dumps(text, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    new = path.with_name(path.name + ".part")
    new.write_text(text, "utf-8")
    os.replace(new, path)


def read_object(path: Path) -> dict[str, Any] | None:
    """Return a JSON object; ``None`` if there is none to read."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None
