"""The training loop: one output per text, exact resumption, the weights of the best epoch.

A step depends only on the seed and the step's number, so that a run that was killed and resumed
ends with the same weights as an uninterrupted one (on one CPU, with one number of threads).
"""

import math
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grammeter.core import FloatArray, UsageError, in_force, track
from grammeter.training.folder import Checkpoint, Progress, Saved, writing
from grammeter.training.network import PARTS, Network, Part, Settings
from grammeter.training.pairs import HumanScore, Preference

BLOCK = 17  # batches sorted by length together: little padding, still random batches
EVERY = 60.0  # seconds between checkpoints inside an epoch
Task = Preference | HumanScore
HELD_OUT: tuple[Part, ...] = ("validation", "test")


@dataclass(frozen=True)
class Fitted:
    """Result of a fit."""

    settings: Settings
    figure: str  # name of the figure that compares epochs
    epochs: list[dict[str, Any]]  # ``number loss figure seconds``, figures on the validation part
    best: int  # the epoch with the best figure, whose weights are written; 0: the untrained head
    outputs: dict[Part, FloatArray]  # with these weights, held out, shape (examples, items)
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
        self.progress = saved.progress
        self._network.load(saved.weights)
        self._network.load_optimiser(saved.optimiser, self.progress.updates)
        here = self._network.environment()
        if other := [key for key in here if here[key] != saved.environment.get(key)]:
            began = ", ".join(f"{key} {saved.environment.get(key)}" for key in other)
            differ = "its weights may differ from those of an uninterrupted one"
            warnings.warn(f"{self._folder}: the run began with {began}: {differ}", stacklevel=2)

    def epoch(self) -> None:
        """Finish the current epoch, measure, and write a checkpoint."""
        self._timed = time.monotonic()
        with held_interrupts() as interrupted:
            left = self._batches(self.progress.epoch)[self.progress.step :]
            before = f" (before: {self._summary()})" if self.progress.epochs else ""
            label = f"epoch {self.progress.epoch} of {self._settings.epochs}{before}"
            for batch in track(left, label):
                self._step(batch)
                if interrupted or time.monotonic() - self._saved > EVERY:
                    self._keep()
                if interrupted:
                    break
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

    def outputs(self, part: Part, label: str) -> FloatArray:
        """Return the outputs of all examples of a part, shape ``(examples, items)``."""
        examples = self.encoded[part]
        order = sorted(range(len(examples)), key=lambda n: examples[n].length)
        result = np.zeros((len(examples), len(examples[0].items)))
        for start in track(range(0, len(order), self._settings.batch_size), label):
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
            raise UsageError(f"the loss is {loss} in step {number}", fix=fix)
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
        network = self._network
        weights, optimiser = network.weights(), network.optimiser_state()
        self._checkpoint.write(Saved(self.progress, weights, optimiser, network.environment()))
        self._saved = time.monotonic()


@contextmanager
def held_interrupts() -> Generator[list[int]]:
    """Delay the first Ctrl-C to the end of the block (the second raises); yield those that came."""
    noted: list[int] = []

    def note(number: int, frame: object) -> None:
        del frame
        if noted:
            raise KeyboardInterrupt
        noted.append(number)

    handler = signal.getsignal(signal.SIGINT)
    in_main = threading.current_thread() is threading.main_thread()
    ours = in_main and handler is signal.default_int_handler
    try:
        if ours:
            signal.signal(signal.SIGINT, note)
        yield noted
    finally:
        if ours:
            signal.signal(signal.SIGINT, handler)
    if noted:
        raise KeyboardInterrupt


Listener = Callable[[str], None]
_listener: ContextVar[Listener] = ContextVar("listener", default=lambda _: None)


def listening(listener: Listener) -> AbstractContextManager[Listener]:
    """Send the messages of trainings inside the block, a line each, to ``listener``."""
    return in_force(_listener, listener)


def tell(text: str) -> None:
    """Send one line to the listener."""
    _listener.get()(text)
