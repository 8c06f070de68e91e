"""How a model is fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Any, Literal, Protocol, get_args

from grammeter.core import FloatArray, UsageError
from grammeter.models import ModelInput

Decay = Literal["none", "linear"]
Precision = Literal["auto", "float32", "bfloat16"]

_CHOICES = {"decay": get_args(Decay), "dtype": get_args(Precision)}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a model is fitted.

    The fields are options of :func:`grammeter.verbs.train_impara`, and:

    Attributes
    ----------
    rate
        Learning rate of AdamW.
    weight_decay
        Weight decay of AdamW, except for biases and norms.
    limit
        Tokens to which texts are cut.
    device
        Device, as torch spells it.

    Raises
    ------
    UsageError
        If a value is impossible.
    """

    encoder: str
    epochs: int = 10
    batch_size: int = 32
    rate: float = 1e-5
    decay: Decay = "none"
    warmup: float = 0.0
    weight_decay: float = 0.01
    limit: int = 128
    dtype: Precision = "auto"
    device: str = "cpu"
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("batch_size", "rate", "limit"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name}={getattr(self, name)}", fix="It is greater than 0.")
        if self.epochs < 0:
            raise UsageError(f"epochs={self.epochs}", fix="It is not below 0.")
        if not 0 <= self.seed < 2**63:
            raise UsageError(f"seed={self.seed}", fix="Seeds are 0 to 2^63 - 1.")
        if not (0 <= self.warmup <= 1 and self.weight_decay >= 0):
            raise UsageError(
                f"warmup={self.warmup}, weight_decay={self.weight_decay}",
                fix="The first is a share from 0 to 1, the second not below 0.",
            )
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise UsageError(
                    f"{name}={getattr(self, name)!r}", fix=f"Use {' or '.join(choices)}."
                )

    def identity(self, encoder_hash: str) -> dict[str, object]:
        """Return everything that a run depends on; the encoder is given by its hash."""
        return {**asdict(self), "encoder": encoder_hash}


Part = Literal["train", "validation", "test"]

PARTS: tuple[Part, ...] = ("train", "validation", "test")


@dataclass(frozen=True, slots=True)
class Example:
    """Texts, or pairs of texts, each of which gets one output, with a target.

    Attributes
    ----------
    items
        One or more; all examples of a task have equally many.
    target
        Such as a human score; not used by a task that compares the items with each other.
    """

    items: tuple[ModelInput, ...]
    target: float = 0.0


class Task(Protocol):
    """What a model learns: the examples of each part, a loss, and a figure on held-out examples."""

    @property
    def examples(self) -> Mapping[Part, Sequence[Example]]:
        """The examples of each part."""
        ...

    @property
    def figure_name(self) -> str:
        """Name of the value of :meth:`figure`."""
        ...

    @property
    def first_bias(self) -> float:
        """First value of the bias of the head."""
        ...

    def loss(self, outputs: Any, targets: Any) -> Any:
        """Return the mean loss of a batch, a scalar tensor.

        ``outputs`` has the shape ``(examples, items)``, ``targets`` the shape ``(examples,)``.
        """
        ...

    def figure(self, outputs: FloatArray, targets: FloatArray) -> float:
        """Return the figure by which epochs are compared; greater is better."""
        ...


def allotment(total: int) -> dict[Part, int]:
    """Split a number 8:1:1; the remainder goes to training."""
    tenth = total // 10
    return {"train": total - 2 * tenth, "validation": tenth, "test": tenth}


def assign_parts(groups: Sequence[str], seed: int) -> dict[str, Part]:
    """Assign groups to the parts, 8:1:1, after a shuffle of their sorted names.

    A group is a source sentence: its examples stay together, so that no held-out example is
    nearly a copy of a training example.
    """
    names = sorted(set(groups))
    Random(f"parts {seed}").shuffle(names)  # noqa: S311 - no secret
    sizes = allotment(len(names))
    bounds = sizes["train"], sizes["train"] + sizes["validation"]
    return {
        name: "train" if n < bounds[0] else "validation" if n < bounds[1] else "test"
        for n, name in enumerate(names)
    }
