"""The folder of a model in training: begun, resumed, never overwritten unasked."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from grammeter.core.errors import UsageError

MARK = "training.json"
"""Says whose training the folder belongs to."""


def begin(folder: Path, metric: str, *, resume: bool) -> bool:
    """Make the folder, or take up the one that is there; return whether it was there.

    Raises
    ------
    UsageError
        If it holds anything and ``resume`` is not set, or something else's training, or cannot
        be made.
    """
    there = folder.is_dir() and any(folder.iterdir())
    if there and not resume:
        raise UsageError(
            f"{folder} is not empty", fix="Add --resume to go on with it, or name another folder."
        )
    if there and (read_text(folder / MARK) or {}).get("metric") != metric:
        raise UsageError(
            f"{folder} holds no training of {metric}", fix="Name the folder of the earlier run."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / MARK, {"metric": metric})
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written: {error.strerror}", fix="Name another folder."
        ) from error
    return there


def digest(files: Iterable[Path]) -> str:
    """Return the contents of files in 16 hexadecimal digits, their order included."""
    whole = hashlib.blake2b(digest_size=8)
    for path in files:
        whole.update(hashlib.blake2b(path.read_bytes()).digest())
    return whole.hexdigest()


def write_text(path: Path, content: str | Mapping[str, object]) -> None:
    """Write a text, or a mapping as JSON, whole or not at all."""
    text = content if isinstance(content, str) else json.dumps(content, indent=1) + "\n"
    new = path.with_name(path.name + ".part")
    new.write_text(text, "utf-8")
    os.replace(new, path)


def read_text(path: Path) -> dict[str, Any] | None:
    """Return a JSON object; ``None`` if there is none to read."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None
