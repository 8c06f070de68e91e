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
from grammeter.formats import read_object, write_object

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
            write_object(mark, folder / MARK)
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
    run = stored.get("run")
    before = cast("dict[str, object]", run) if isinstance(run, dict) else {}
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


FOLDER = "checkpoint"  # inside the folder of the model, until the training ends
LAST, BEST = "last.safetensors", "best.safetensors"
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
        if not (self._folder / LAST).exists():
            return None
        tensors, state = self._read(LAST)
        parts: dict[str, dict[str, Any]] = {"weights": {}, "optimiser": {}}
        with self._undamaged(LAST):
            for name, tensor in tensors.items():
                part, _, key = name.partition("/")
                parts[part][key] = tensor
            progress, environment = Progress(**state["progress"]), dict(state["environment"])
            return Saved(progress, parts["weights"], parts["optimiser"], environment)

    def write(self, saved: Saved) -> None:
        """Write a state in place of the one before it."""
        parts = {"weights": saved.weights, "optimiser": saved.optimiser}
        tensors = {f"{part}/{key}": of[key] for part, of in parts.items() for key in of}
        state = {"progress": asdict(saved.progress), "environment": dict(saved.environment)}
        self._write(LAST, tensors, state)

    def keep_best(self, weights: Tensors) -> None:
        """Write the weights of the best epoch so far."""
        self._write(BEST, weights, {})

    def best(self) -> Tensors:
        """Return the weights of the best epoch."""
        return self._read(BEST)[0]

    def clear(self) -> None:
        """Remove all checkpoints."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self, name: str, tensors: Tensors, state: Mapping[str, object]) -> None:
        """Write a file, whole or not at all."""
        torch: Any = require("safetensors.torch", extra="neural")
        whole = {key: tensor.contiguous() for key, tensor in tensors.items()}
        with writing(self._folder), full_disk():
            self._folder.mkdir(parents=True, exist_ok=True)
            new = self._folder / f"{name}.part"
            torch.save_file(whole, new, metadata={"state": json.dumps(state)})
            os.replace(new, self._folder / name)

    def _read(self, name: str) -> tuple[Tensors, Any]:
        safetensors: Any = require("safetensors", extra="neural")
        opened = partial(safetensors.safe_open, self._folder / name, framework="pt")
        with self._undamaged(name), full_disk(), opened() as file:
            metadata: dict[str, str] = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            return tensors, json.loads(metadata.get("state", "{}"))

    @contextmanager
    def _undamaged(self, name: str) -> Generator[None]:
        try:
            yield
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            fault = f"the checkpoint is damaged: {error}"
            fix = "Remove the folder of the model and train anew."
            raise DataError(fault, where=str(self._folder / name), fix=fix) from error


@contextmanager
def full_disk() -> Generator[None]:
    """Raise :class:`OSError` where safetensors cannot read or write a file."""
    safetensors: Any = require("safetensors", extra="neural")
    try:
        yield
    except safetensors.SafetensorError as error:
        raise OSError(str(error)) from error
