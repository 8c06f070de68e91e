"""Tasks: examples in three parts, a loss, and a figure on held-out examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, Protocol

from grammeter.core import FloatArray
from grammeter.models import Item

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

    items: tuple[Item, ...]
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
