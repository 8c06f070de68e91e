"""The folder of a model in training: created or resumed, never overwritten."""

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
"""Name of the file that says which training the folder belongs to, with all its settings."""


@contextmanager
def begun(folder: Path, metric: str, run: Mapping[str, object], *, resume: bool) -> Generator[None]:
    """Begin as :func:`begin`, and lock the folder against other trainings meanwhile."""
    with ExitStack() as stack:
        with _writable(folder):
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(only_one(folder))
        begin(folder, metric, run, resume=resume)
        yield


def begin(folder: Path, metric: str, run: Mapping[str, object], *, resume: bool) -> None:
    """Create the folder of a training, or check that an existing one can be resumed.

    Parameters
    ----------
    folder
        Folder of the model.
    metric
        What is trained.
    run
        Everything that the training depends on: settings, and hashes of data and encoder.
    resume
        Whether the folder may already hold the same run.

    Raises
    ------
    UsageError
        If it is not empty and ``resume`` is not set, if it holds another training or one with
        other settings, or if it cannot be written.
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
    stored = read_object(folder / MARK) or {}
    if stored.get("metric") != mark["metric"]:
        raise UsageError(
            f"{folder} holds no training of {mark['metric']}",
            fix="Name the folder of the earlier run, or a new one.",
        )
    now = json.loads(json.dumps(mark["run"]))
    before = cast("dict[str, object]", stored.get("run") or {})
    other = [key for key in {**before, **now} if before.get(key) != now.get(key)]
    if other:
        shown = ", ".join(f"{key} was {before.get(key)}, is {now.get(key)}" for key in other)
        raise UsageError(
            f"{folder} belongs to another run: {shown}",
            fix="Resume with the same data and options, or name another folder.",
        )


def digest(files: Iterable[Path]) -> str:
    """Return a hash of the contents of files in this order, 16 hexadecimal digits."""
    whole = hashlib.blake2b(digest_size=8)
    for path in files:
        whole.update(hashlib.blake2b(path.read_bytes()).digest())
    return whole.hexdigest()


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Raise :class:`DataError` where writing fails."""
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
    """Return the JSON object of a file; ``None`` if there is no file or no object in it."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", content) if isinstance(content, dict) else None
