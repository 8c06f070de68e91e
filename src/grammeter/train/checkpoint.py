"""Checkpoints of a training run: safetensors and JSON, whole or absent."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from grammeter.core.errors import DataError, UsageError
from grammeter.core.lazy import require

FOLDER = "checkpoint"
"""Inside the folder of the model, until the training ends."""

Tensors = Mapping[str, Any]


def _no_epochs() -> list[dict[str, Any]]:
    return []


@dataclass
class Progress:
    """How far a run has come.

    Attributes
    ----------
    epoch, step
        The epoch, from 1, and how many of its batches are done.
    updates
        Steps of all epochs.
    loss, seconds
        Summed over the done batches of the epoch.
    epochs
        ``number loss figure seconds`` of the epochs that are done.
    """

    epoch: int = 1
    step: int = 0
    updates: int = 0
    loss: float = 0.0
    seconds: float = 0.0
    epochs: list[dict[str, Any]] = field(default_factory=_no_epochs)

    @property
    def best_epoch(self) -> int:
        """The first epoch with the greatest figure; 0 before the first one's end."""
        best = max(self.epochs, key=lambda one: one["figure"], default={"number": 0})
        return best["number"]

    def finish_epoch(self, figure: float, *, steps: int, seconds: float) -> None:
        """Note the epoch and begin the next."""
        self.epochs.append(
            {
                "number": self.epoch,
                "loss": self.loss / steps,
                "figure": figure,
                "seconds": seconds,
            }
        )
        self.epoch, self.step, self.loss, self.seconds = self.epoch + 1, 0, 0.0, 0.0


@dataclass(frozen=True)
class Saved:
    """What a checkpoint holds."""

    progress: Progress
    weights: Tensors
    optimiser: Tensors


class Checkpoint:
    """The checkpoints of one run: the last state, and the weights of the best epoch.

    Parameters
    ----------
    folder
        The folder of the model.
    identity
        Settings and data; a checkpoint of others is refused.
    """

    def __init__(self, folder: Path, identity: Mapping[str, object]) -> None:
        self._folder = folder / FOLDER
        self._identity = dict(identity)

    def last(self) -> Saved | None:
        """Return the last state, ``None`` if there is none.

        Raises
        ------
        UsageError
            If it was written under other settings or for other data.
        DataError
            If it is damaged.
        """
        folder = self._newest()
        if folder is None:
            return None
        try:
            state = json.loads((folder / "state.json").read_text("utf-8"))
            found = Saved(
                Progress(**state["progress"]),
                _load(folder / "weights.safetensors"),
                _load(folder / "optimiser.safetensors"),
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"the checkpoint is damaged: {error}", where=str(folder), fix="Train anew."
            ) from error
        self._check(cast("dict[str, object]", state["identity"]))
        return found

    def _check(self, identity: Mapping[str, object]) -> None:
        wanted = json.loads(json.dumps(self._identity))
        other = [key for key in wanted if wanted[key] != identity.get(key)]
        if other:
            shown = ", ".join(f"{key} was {identity.get(key)}, is {wanted[key]}" for key in other)
            raise UsageError(
                f"{self._folder} belongs to another run: {shown}",
                fix="Give the same options to resume, or leave --resume out to begin anew.",
            )

    def write(self, progress: Progress, weights: Tensors, optimiser: Tensors) -> None:
        """Keep a state; the one before is removed when the new one is whole."""
        before = self._newest()
        name = f"{progress.updates:09d}"
        new = self._folder / f"{name}.part"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        _save(new / "weights.safetensors", weights)
        _save(new / "optimiser.safetensors", optimiser)
        state = {"progress": asdict(progress), "identity": self._identity}
        (new / "state.json").write_text(json.dumps(state, indent=1), "utf-8")
        whole = self._folder / f"{name}-{progress.epoch:03d}"
        shutil.rmtree(whole, ignore_errors=True)
        os.replace(new, whole)
        if before is not None and before != whole:
            shutil.rmtree(before)

    def keep_best(self, weights: Tensors) -> None:
        """Keep the weights of the best epoch so far."""
        self._folder.mkdir(parents=True, exist_ok=True)
        new = self._folder / "best.part"
        _save(new, weights)
        os.replace(new, self._folder / "best.safetensors")

    def best(self) -> Tensors:
        """Return the weights of the best epoch."""
        return _load(self._folder / "best.safetensors")

    def _newest(self) -> Path | None:
        found = [path for path in self._folder.glob("*-*") if path.is_dir()]
        return max(found, key=lambda path: path.name, default=None)


def clear(folder: Path) -> None:
    """Remove the checkpoints from the folder of a model."""
    shutil.rmtree(folder / FOLDER, ignore_errors=True)


def _save(path: Path, tensors: Tensors) -> None:
    safetensors: Any = require("safetensors.torch", extra="neural")
    safetensors.save_file({key: tensor.contiguous() for key, tensor in tensors.items()}, path)


def _load(path: Path) -> Tensors:
    safetensors: Any = require("safetensors.torch", extra="neural")
    try:
        return safetensors.load_file(path)
    except OSError:
        raise
    except Exception as error:  # safetensors' own class
        raise ValueError(f"{path.name}: {error}") from error
