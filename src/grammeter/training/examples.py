"""What a model is fitted to: examples in three parts, and how outputs become loss and figure."""

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
    """Texts, or pairs of texts, that get an output each, and what these are held against.

    Attributes
    ----------
    items
        One or more; all examples of a task have equally many.
    target
        A human score, say; a task that compares its items with each other needs none.
    """

    items: tuple[Item, ...]
    target: float = 0.0


class Task(Protocol):
    """What is learned: the examples of each part, a loss, and a figure on held-out examples."""

    @property
    def examples(self) -> Mapping[Part, Sequence[Example]]:
        """The examples of each part."""
        ...

    @property
    def figure_name(self) -> str:
        """What :meth:`figure` is."""
        ...

    @property
    def first_bias(self) -> float:
        """Where the bias of the head starts."""
        ...

    def loss(self, outputs: Any, targets: Any) -> Any:
        """Return the mean loss of a batch, a scalar tensor.

        ``outputs`` has the shape ``(examples, items)``, ``targets`` the shape ``(examples,)``.
        """
        ...

    def figure(self, outputs: FloatArray, targets: FloatArray) -> float:
        """Return the figure by which epochs are compared: the greater, the better."""
        ...


def allotment(total: int) -> dict[Part, int]:
    """Split a number 8:1:1; what does not divide goes to training."""
    tenth = total // 10
    return {"train": total - 2 * tenth, "validation": tenth, "test": tenth}


def assign_parts(groups: Sequence[str], seed: int) -> dict[str, Part]:
    """Deal distinct groups out to the parts, 8:1:1, by a shuffle of their sorted names.

    Examples of one group, all pairs made from one source sentence, stay together: near-copies of
    training examples would otherwise be among the held-out ones.
    """
    names = sorted(set(groups))
    Random(f"parts {seed}").shuffle(names)  # noqa: S311 - no secret
    sizes = allotment(len(names))
    bounds = sizes["train"], sizes["train"] + sizes["validation"]
    return {
        name: "train" if n < bounds[0] else "validation" if n < bounds[1] else "test"
        for n, name in enumerate(names)
    }
