"""The training loop: one output per text, exact resumption, the weights of the best epoch.

A step depends only on the seed and the step's number, so that a run that was killed and resumed
ends with the same weights as an uninterrupted one (on one CPU, with one number of threads). The
folder of a model is created or resumed, never overwritten; until the end it holds checkpoints.
"""

import hashlib
import json
import math
import os
import shutil
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from grammeter import core
from grammeter.formats import read_object, write_object
from grammeter.training.network import PARTS, Network, Part, Settings, Tensors, full_disk
from grammeter.training.pairs import HumanScore, Preference

BLOCK = 17  # batches sorted by length together: little padding, still random batches
EVERY = 60.0  # seconds between checkpoints inside an epoch
Task = Preference | HumanScore
HELD_OUT: tuple[Part, ...] = ("validation", "test")
MARK = "training.json"  # says which training the folder belongs to, with all its settings


@contextmanager
def begun(folder: Path, metric: str, run: Mapping[str, object], *, resume: bool) -> Generator[None]:
    """Lock a training folder; create it, or check that it has the same ``run`` (data, settings)."""
    mark = {"metric": metric, **json.loads(json.dumps(dict(run)))}
    with core.only_one(folder, kind=core.UsageError):
        # a mark alone is left by a run that never had its data
        if any(path.name not in (MARK, core.LOCK) for path in folder.iterdir()):
            _check(folder, mark, resume=resume)
        else:
            write_object(mark, folder / MARK)
        yield


def _check(folder: Path, mark: Mapping[str, Any], *, resume: bool) -> None:
    if not resume:
        fault = f"{folder} is not empty"
        raise core.UsageError(fault, fix="Add --resume to go on with it, or name another folder.")
    before: dict[str, Any] = {}
    with suppress(core.DataError):
        before = read_object(folder / MARK)
    if other := [key for key in {**before, **mark} if before.get(key) != mark.get(key)]:
        shown = ", ".join(f"{key} was {before.get(key)}, is {mark.get(key)}" for key in other)
        fix = "Resume with the same data and options, or name another folder."
        raise core.UsageError(f"{folder} belongs to another run: {shown}", fix=fix)


def digest(files: Iterable[Path]) -> str:
    """Return a hash of the contents of files in this order, 16 hexadecimal digits."""
    whole = hashlib.blake2b(digest_size=8)
    for path in files:
        whole.update(hashlib.blake2b(path.read_bytes()).digest())
    return whole.hexdigest()


writing = partial(core.disk_faults, fix="Make room, then go on with --resume.")
"""Context of writing a file or folder."""


FOLDER = "checkpoint"  # inside the folder of the model, until the training ends
LAST, BEST = "last.safetensors", "best.safetensors"


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


class Checkpoint:
    """Last state and best weights of a training; :class:`DataError` if damaged or unwritable."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def last(self) -> tuple[Progress, Tensors, Tensors] | None:
        """Return the last progress, weights and state of the optimiser; ``None`` if none."""
        if not (self._folder / LAST).exists():
            return None
        tensors, state = self._read(LAST)
        parts: dict[str, dict[str, Any]] = {"weights": {}, "optimiser": {}}
        with self._undamaged(LAST):
            for name, tensor in tensors.items():
                part, _, key = name.partition("/")
                parts[part][key] = tensor
            return Progress(**state), parts["weights"], parts["optimiser"]

    def write(self, progress: Progress, weights: Tensors, optimiser: Tensors) -> None:
        """Write a state in place of the one before it."""
        parts = {"weights": weights, "optimiser": optimiser}
        tensors = {f"{part}/{key}": of[key] for part, of in parts.items() for key in of}
        self._write(LAST, tensors, asdict(progress))

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
        torch: Any = core.require("safetensors.torch", extra="neural")
        whole = {key: tensor.contiguous() for key, tensor in tensors.items()}
        with writing(self._folder), full_disk():
            self._folder.mkdir(parents=True, exist_ok=True)
            new = self._folder / f"{name}.part"
            torch.save_file(whole, new, metadata={"state": json.dumps(state)})
            os.replace(new, self._folder / name)

    def _read(self, name: str) -> tuple[Tensors, Any]:
        safetensors: Any = core.require("safetensors", extra="neural")
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
            raise core.DataError(fault, where=str(self._folder / name), fix=fix) from error


@dataclass(frozen=True)
class Fitted:
    """Result of a fit."""

    settings: Settings
    figure: str  # name of the figure that compares epochs
    epochs: list[dict[str, Any]]  # ``number loss figure seconds``, figures on the validation part
    best: int  # the epoch with the best figure, whose weights are written; 0: the untrained head
    outputs: dict[Part, core.FloatArray]  # with these weights, held out, shape (examples, items)
    truncated: dict[Part, int]  # number of examples with a text of more tokens than the limit
    dtype: str  # number type of the steps
    environment: dict[str, object]  # versions, device, threads


def fit(task: Task, settings: Settings, folder: Path, *, resume: bool) -> Fitted:
    """Fit a model and write its best weights, with their tokenizer, into a folder.

    The folder holds checkpoints until the caller removes them. ``resume``: go on from the last one,
    if there is one; the caller checks that it belongs to the same run.
    """
    with Network.open(settings, bias=task.first_bias) as network:
        run = _Run(task, settings, network, folder)
        run.start(resume=resume)
        while run.progress.epoch <= settings.epochs:
            run.epoch()
        run.finish()
        return Fitted(
            settings,
            task.figure_name,
            run.progress.epochs,
            run.progress.best_epoch,
            {part: run.outputs(part, f"measuring {part}") for part in HELD_OUT},
            {part: sum(one.truncated for one in run.encoded[part]) for part in PARTS},
            network.dtype,
            network.environment(),
        )


class _Run:
    def __init__(self, task: Task, settings: Settings, network: Network, folder: Path) -> None:
        self._task, self._settings, self._network = task, settings, network
        self._folder, self._checkpoint = folder, Checkpoint(folder)
        self._saved = self._timed = time.monotonic()
        self.encoded = {part: network.encode(examples) for part, examples in task.examples.items()}
        self.progress = Progress()

    def start(self, *, resume: bool) -> None:
        if (saved := self._checkpoint.last() if resume else None) is None:
            self._checkpoint.clear()
            return
        self.progress, weights, optimiser = saved
        self._network.load(weights)
        self._network.load_optimiser(optimiser, self.progress.updates)

    def epoch(self) -> None:
        """Finish the current epoch, measure, and write a checkpoint."""
        self._timed = time.monotonic()
        left = self._batches(self.progress.epoch)[self.progress.step :]
        before = f" (before: {self._summary()})" if self.progress.epochs else ""
        for batch in core.track(
            left, f"epoch {self.progress.epoch} of {self._settings.epochs}{before}"
        ):
            self._step(batch)
            if time.monotonic() - self._saved > EVERY:
                self._keep()
        targets = np.array([example.target for example in self.encoded["validation"]])
        figure = self._task.figure(self.outputs("validation", "validation"), targets)
        self._count_time()
        self.progress.finish_epoch(figure)
        if self.progress.best_epoch == self.progress.epoch - 1:
            self._checkpoint.keep_best(self._network.weights())
        self._keep()
        tell(self._summary())

    def finish(self) -> None:
        if self.progress.epochs:
            self._network.load(self._checkpoint.best())
        with writing(self._folder):
            self._network.save(self._folder)

    def outputs(self, part: Part, label: str) -> core.FloatArray:
        """Return the outputs of all examples of a part, shape ``(examples, items)``."""
        examples = self.encoded[part]
        order = sorted(range(len(examples)), key=lambda n: examples[n].length)
        result = np.zeros((len(examples), len(examples[0].items)))
        for start in core.track(range(0, len(order), self._settings.batch_size), label):
            at = order[start : start + self._settings.batch_size]
            result[at] = self._network.outputs([examples[n] for n in at])
        return result

    def _step(self, batch: Sequence[int]) -> None:
        examples, progress = [self.encoded["train"][n] for n in batch], self.progress
        number = progress.updates + 1
        (seed,) = np.random.SeedSequence([self._settings.seed, number]).generate_state(1)
        rate = self._rate(number)
        loss = self._network.step(examples, self._task.loss, rate=rate, seed=int(seed))
        if not math.isfinite(loss):
            fix = "Train anew with a lower --learning-rate, or with --dtype float32."
            raise core.UsageError(f"the loss is {loss} in step {number}", fix=fix)
        progress.updates = number
        progress.step += 1
        progress.loss += loss

    def _rate(self, update: int) -> float:
        settings = self._settings
        total = -(-len(self.encoded["train"]) // settings.batch_size) * settings.epochs
        rising = settings.warmup * total
        if update <= rising:
            return settings.rate * update / rising
        left = 1.0 if settings.decay == "none" else (total - update + 1) / (total - rising)
        return settings.rate * min(1.0, left)

    def _batches(self, epoch: int) -> list[list[int]]:
        random = np.random.default_rng([self._settings.seed, 0, epoch])
        examples, size = self.encoded["train"], self._settings.batch_size
        order: list[int] = random.permutation(len(examples)).tolist()
        batches: list[list[int]] = []
        for start in range(0, len(order), size * BLOCK):
            block = order[start : start + size * BLOCK]
            block.sort(key=lambda n: examples[n].length)
            batches += [block[at : at + size] for at in range(0, len(block), size)]
        return [batches[n] for n in random.permutation(len(batches)).tolist()]

    def _summary(self) -> str:
        last, of = self.progress.epochs[-1], self._settings.epochs
        figure = f"validation {self._task.figure_name} {last['figure']:.4f}"
        return f"epoch {last['number']} of {of}: loss {last['loss']:.4f}, {figure}"

    def _count_time(self) -> None:
        now = time.monotonic()
        self.progress.seconds += now - self._timed
        self._timed = now

    def _keep(self) -> None:
        self._count_time()
        state = self._network.weights(), self._network.optimiser_state()
        self._checkpoint.write(self.progress, *state)
        self._saved = time.monotonic()


Listener = Callable[[str], None]
_listener: ContextVar[Listener] = ContextVar("listener", default=lambda _: None)


def listening(listener: Listener) -> AbstractContextManager[Listener]:
    """Send the messages of trainings inside the block, a line each, to ``listener``."""
    return core.in_force(_listener, listener)


def tell(text: str) -> None:
    """Send one line to the listener."""
    _listener.get()(text)
