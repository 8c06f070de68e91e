"""The folder of a model in training: created or resumed, never overwritten; its checkpoints."""

import hashlib
import json
import os
import shutil
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

from grammeter.core import LOCK, DataError, UsageError, disk_faults, only_one, require
from grammeter.formats import read_object, write_text

MARK = "training.json"  # says which training the folder belongs to, with all its settings


@contextmanager
def begun(folder: Path, metric: str, run: Mapping[str, object], *, resume: bool) -> Generator[None]:
    """Lock a training folder; create it, or check that it has the same ``run`` (data, settings)."""
    mark = {"metric": metric, "run": dict(run)}
    with only_one(folder, kind=UsageError):
        # a mark alone is left by a run that never had its data
        if any(path.name not in (MARK, LOCK) for path in folder.iterdir()):
            _check(folder, mark, resume=resume)
        else:
            write_json(folder / MARK, mark)
        yield


def _check(folder: Path, mark: Mapping[str, Any], *, resume: bool) -> None:
    if not resume:
        fault = f"{folder} is not empty"
        raise UsageError(fault, fix="Add --resume to go on with it, or name another folder.")
    stored: dict[str, Any] = {}
    with suppress(DataError):
        stored = read_object(folder / MARK)
    if stored.get("metric") != mark["metric"]:
        fault = f"{folder} holds no training of {mark['metric']}"
        raise UsageError(fault, fix="Name the folder of the earlier run, or a new one.")
    now = json.loads(json.dumps(mark["run"]))
    before = cast("dict[str, object]", stored.get("run") or {})
    if other := [key for key in {**before, **now} if before.get(key) != now.get(key)]:
        shown = ", ".join(f"{key} was {before.get(key)}, is {now.get(key)}" for key in other)
        fix = "Resume with the same data and options, or name another folder."
        raise UsageError(f"{folder} belongs to another run: {shown}", fix=fix)


def digest(files: Iterable[Path]) -> str:
    """Return a hash of the contents of files in this order, 16 hexadecimal digits."""
    whole = hashlib.blake2b(digest_size=8)
    for path in files:
        whole.update(hashlib.blake2b(path.read_bytes()).digest())
    return whole.hexdigest()


writing = partial(disk_faults, fix="Make room, then go on with --resume.")
"""Context of writing a file or folder."""


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Write a mapping, whole or not at all."""
    write_text(path, json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


FOLDER = "checkpoint"  # inside the folder of the model, until the training ends
BEST = "best.safetensors"
Tensors = Mapping[str, Any]


@dataclass
class Progress:
    """Progress of a run; ``loss`` and ``seconds`` are sums over the epoch's batches so far."""

    epoch: int = 1
    step: int = 0  # batches of the epoch that are done
    updates: int = 0  # steps of all epochs
    loss: float = 0.0
    seconds: float = 0.0
    # ``number loss figure seconds`` of the epochs that are done
    epochs: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def best_epoch(self) -> int:
        """The first epoch with the greatest figure; 0 before the first one's end."""
        return max(self.epochs, key=lambda one: one["figure"], default={"number": 0})["number"]

    def finish_epoch(self, figure: float) -> None:
        """Record the epoch and start the next one."""
        row = {"number": self.epoch, "loss": self.loss / self.step}
        self.epochs.append(row | {"figure": figure, "seconds": self.seconds})
        self.epoch, self.step, self.loss, self.seconds = self.epoch + 1, 0, 0.0, 0.0


@dataclass(frozen=True)
class Saved:
    """Contents of a checkpoint; ``environment`` is that of the machine that wrote it."""

    progress: Progress
    weights: Tensors
    optimiser: Tensors
    environment: Mapping[str, object]


class Checkpoint:
    """Last state and best weights of a training; :class:`DataError` if damaged or unwritable."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def last(self) -> Saved | None:
        """Return the last state, ``None`` if there is none."""
        if (folder := self._newest()) is None:
            return None
        with self._undamaged(folder):
            state = json.loads((folder / "state.json").read_text("utf-8"))
            names = ("weights.safetensors", "optimiser.safetensors")
            weights, optimiser = (_load(folder / name) for name in names)
            environment = dict(state["environment"])
            return Saved(Progress(**state["progress"]), weights, optimiser, environment)

    def write(self, saved: Saved) -> None:
        """Write a state, then remove the one before it."""
        before, progress = self._newest(), saved.progress
        whole = self._folder / f"{progress.updates:09d}-{progress.epoch:03d}"
        if whole.exists():  # the same state
            return
        new = self._folder / f"{progress.updates:09d}.part"
        with writing(self._folder):
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(parents=True)
            _save(new / "weights.safetensors", saved.weights)
            _save(new / "optimiser.safetensors", saved.optimiser)
            state = {"progress": asdict(progress), "environment": dict(saved.environment)}
            (new / "state.json").write_text(json.dumps(state, indent=1), "utf-8")
            os.replace(new, whole)
        if before is not None:
            shutil.rmtree(before, ignore_errors=True)

    def keep_best(self, weights: Tensors) -> None:
        """Write the weights of the best epoch so far."""
        new = self._folder / "best.part"
        with writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            _save(new, weights)
            os.replace(new, self._folder / BEST)

    def best(self) -> Tensors:
        """Return the weights of the best epoch."""
        with self._undamaged(self._folder):
            return _load(self._folder / BEST)

    def clear(self) -> None:
        """Remove all checkpoints."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _newest(self) -> Path | None:
        states = [path for path in self._folder.glob("*-*") if path.is_dir()]
        return max(states, key=lambda path: path.name, default=None)

    @contextmanager
    def _undamaged(self, folder: Path) -> Generator[None]:
        try:
            yield
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            fault = f"the checkpoint is damaged: {error}"
            fix = "Remove the folder of the model and train anew."
            raise DataError(fault, where=str(folder), fix=fix) from error


@contextmanager
def full_disk() -> Generator[None]:
    """Raise :class:`OSError` where safetensors cannot read or write a file."""
    safetensors: Any = require("safetensors", extra="neural")
    try:
        yield
    except safetensors.SafetensorError as error:
        raise OSError(str(error)) from error


def _save(path: Path, tensors: Tensors) -> None:
    whole = {key: tensor.contiguous() for key, tensor in tensors.items()}
    with full_disk():
        require("safetensors.torch", extra="neural").save_file(whole, path)


def _load(path: Path) -> Tensors:
    with full_disk():
        return require("safetensors.torch", extra="neural").load_file(path)
