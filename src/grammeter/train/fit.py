"""The training loop: one output per text, checkpoints that resume exactly, the best epoch kept.

What happens in a step depends on the seed and the step's number alone, so that a run that was
killed and resumed ends in the weights of one that was not (on one CPU, with one number of
threads).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from grammeter.core.progress import track
from grammeter.core.statistics import FloatArray
from grammeter.train.checkpoint import Checkpoint, Progress, clear
from grammeter.train.examples import Part, Task
from grammeter.train.network import Encoded, Network
from grammeter.train.settings import Settings

BLOCK = 17
"""Batches that are sorted by length together: little padding, and batches still random."""

EVERY = 60.0
"""Seconds between checkpoints inside an epoch."""


@dataclass(frozen=True)
class Epoch:
    """One pass over the training examples."""

    number: int
    loss: float
    figure: float
    seconds: float


@dataclass(frozen=True)
class Fitted:
    """What came out.

    Attributes
    ----------
    epochs
        All epochs; figures are those of the validation part.
    best
        Number of the epoch whose weights were kept.
    outputs
        Of the examples of each part under these weights, shape ``(examples, items)``.
    precision, environment
        The number type that was used; versions, device, threads.
    """

    epochs: tuple[Epoch, ...]
    best: int
    outputs: dict[Part, FloatArray]
    precision: str
    environment: dict[str, object]


def fit(task: Task, settings: Settings, folder: Path, *, identity: str, resume: bool) -> Fitted:
    """Fit a model and write its best weights, with their tokenizer, into a folder.

    Parameters
    ----------
    task
        Examples, loss, figure.
    settings
        How.
    folder
        Where the model goes; checkpoints lie in it until the end.
    identity
        What the examples depend on; a checkpoint of another identity or of other settings is
        refused.
    resume
        Go on from the last checkpoint, if there is one.

    Raises
    ------
    UsageError
        If the checkpoint belongs to another run.
    MissingResourceError
        If torch, the encoder or the device is not here.
    """
    checkpoint = Checkpoint(folder, {**asdict(settings), "data": identity})
    network = Network.open(settings, bias=task.first_bias)
    encoded: dict[Part, list[Encoded]] = {
        part: network.encode(examples) for part, examples in task.examples.items()
    }
    run = _Run(task, settings, network, encoded, folder, checkpoint)
    run.start(resume=resume)
    while run.progress.epoch <= settings.epochs:
        run.epoch()
    network.load(checkpoint.best())
    network.save(folder)
    outputs: dict[Part, FloatArray] = {
        part: run.outputs(part, f"measuring {part}") for part in encoded
    }
    epochs = tuple(Epoch(**one) for one in run.progress.epochs)
    return Fitted(
        epochs, run.progress.best_epoch, outputs, network.precision, network.environment()
    )


class _Run:
    """The state of a training run, and its steps."""

    def __init__(
        self,
        task: Task,
        settings: Settings,
        network: Network,
        encoded: dict[Part, list[Encoded]],
        folder: Path,
        checkpoint: Checkpoint,
    ) -> None:
        self._task = task
        self._settings = settings
        self._network = network
        self._encoded = encoded
        self._folder = folder
        self._checkpoint = checkpoint
        self._saved = time.monotonic()
        self.progress = Progress()

    @property
    def _steps(self) -> int:
        return -(-len(self._encoded["train"]) // self._settings.batch)

    def start(self, *, resume: bool) -> None:
        found = self._checkpoint.last() if resume else None
        if found is None:
            clear(self._folder)
        else:
            self.progress = found.progress
            self._network.load(found.weights)
            self._network.load_optimiser(found.optimiser, self.progress.updates)

    def epoch(self) -> None:
        """Go on with the current epoch to its end, then measure and keep."""
        started, progress = time.monotonic(), self.progress
        batches = self._batches(progress.epoch)
        left = batches[progress.step :]
        for batch in track(left, self._label()):
            progress.loss += self._step(batch)
            progress.step += 1
            if time.monotonic() - self._saved > EVERY:
                progress.seconds += time.monotonic() - started
                started = time.monotonic()
                self._keep()
        figure = self._task.figure(self.outputs("validation", "validation"), self._targets())
        progress.finish_epoch(
            figure, steps=len(batches), seconds=progress.seconds + time.monotonic() - started
        )
        if progress.best_epoch == progress.epoch - 1:
            self._checkpoint.keep_best(self._network.weights())
        self._keep()

    def outputs(self, part: Part, label: str) -> FloatArray:
        """Return the outputs of all examples of a part, shape ``(examples, items)``."""
        examples = self._encoded[part]
        order = sorted(range(len(examples)), key=lambda n: _length(examples[n]))
        result = np.zeros((len(examples), len(examples[0].items)))
        starts = range(0, len(order), self._settings.batch)
        for start in track(starts, label):
            at = order[start : start + self._settings.batch]
            result[at] = self._network.outputs([examples[n] for n in at])
        return result

    def _targets(self) -> FloatArray:
        return np.array([example.target for example in self._encoded["validation"]])

    def _step(self, batch: Sequence[int]) -> float:
        examples = [self._encoded["train"][n] for n in batch]
        self.progress.updates += 1
        rate = self._rate(self.progress.updates)
        return self._network.step(
            examples, self._task.loss, rate=rate, seed=self._seed(self.progress.updates)
        )

    def _rate(self, update: int) -> float:
        """Return the learning rate of an update, counted from 1."""
        settings, total = self._settings, self._steps * self._settings.epochs
        rising = settings.warmup * total
        if update <= rising:
            return settings.rate * update / rising
        if settings.decay == "none":
            return settings.rate
        return settings.rate * (total - update + 1) / (total - rising)

    def _seed(self, number: int) -> int:
        return int(np.random.SeedSequence([self._settings.seed, number]).generate_state(1)[0])

    def _batches(self, epoch: int) -> list[list[int]]:
        """Shuffle, sort by length inside blocks, shuffle the batches."""
        random = np.random.default_rng([self._settings.seed, 0, epoch])
        examples, size = self._encoded["train"], self._settings.batch
        order: list[int] = random.permutation(len(examples)).tolist()
        batches: list[list[int]] = []
        for start in range(0, len(order), size * BLOCK):
            block = order[start : start + size * BLOCK]
            block.sort(key=lambda n: _length(examples[n]))
            batches += [block[at : at + size] for at in range(0, len(block), size)]
        return [batches[n] for n in random.permutation(len(batches)).tolist()]

    def _label(self) -> str:
        progress = self.progress
        label = f"epoch {progress.epoch}/{self._settings.epochs}"
        if not progress.epochs:
            return label
        last = progress.epochs[-1]
        return f"{label}, loss {last['loss']:.4f}, validation {last['figure']:.4f}"

    def _keep(self) -> None:
        self._checkpoint.write(
            self.progress, self._network.weights(), self._network.optimiser_state()
        )
        self._saved = time.monotonic()


def _length(example: Encoded) -> int:
    return max(len(item["input_ids"]) for item in example.items)
