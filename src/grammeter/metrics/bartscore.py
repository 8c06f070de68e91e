"""BARTScore: how likely a sequence-to-sequence model finds one text, given another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from grammeter.alignment import reference_slots
from grammeter.core import (
    BoolArray,
    Explanation,
    FloatArray,
    Grid,
    IntArray,
    Segment,
    SegmentScores,
    Statistics,
)
from grammeter.metrics.asking import Asking
from grammeter.metrics.base import Needs, SentenceMean, no_choice
from grammeter.models import Likelihood, Pair, Request, Steps

Direction = Literal[
    "source-to-hypothesis", "reference-to-hypothesis", "hypothesis-to-reference", "f"
]


@dataclass(frozen=True, kw_only=True)
class BartScore(SentenceMean, Asking):
    """BARTScore, the mean log-likelihood of a text's tokens given another text; 0 at most.

    Attributes
    ----------
    model
        An encoder and decoder: a folder, or a name on the hub.
    direction
        Which text is given, and which one is measured: ``source-to-hypothesis``
        (faithfulness), ``reference-to-hypothesis`` (precision), ``hypothesis-to-reference``
        (recall), or ``f``, the mean of the last two.
    references
        Of several references, the ``mean`` or the ``max``; of ``f`` the greatest F.
    """

    name: ClassVar[str] = "bartscore"
    bounds: ClassVar[tuple[float, float]] = (-math.inf, 0.0)
    title: ClassVar[str] = (
        "log-likelihood of the hypothesis given the source, or with references (Yuan et al. 2021)"
    )
    needs: ClassVar[Needs] = "nothing"
    after_counting: ClassVar[tuple[str, ...]] = ("references",)
    citation: ClassVar[str] = """\
@inproceedings{yuan-etal-2021-bartscore,
    title = "{BARTScore}: Evaluating Generated Text as Text Generation",
    author = "Yuan, Weizhe and Neubig, Graham and Liu, Pengfei",
    booktitle = "Advances in Neural Information Processing Systems",
    volume = "34",
    year = "2021",
    pages = "27263--27277",
}"""

    model: str = "facebook/bart-base"
    direction: Direction = "source-to-hypothesis"
    references: Literal["mean", "max"] = "mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._by_source:  # the class speaks of the default
            object.__setattr__(self, "needs", "texts")

    @property
    def _by_source(self) -> bool:
        return self.direction == "source-to-hypothesis"

    def settings(self) -> dict[str, object]:
        """Return the model's hash and how many tokens of a text are read."""
        return {**super().settings(), "max-tokens": Likelihood().limit}

    @property
    def figures(self) -> tuple[str, ...]:
        """The log-likelihoods whose mean is the score against one text."""
        return ("precision", "recall") if self.direction == "f" else ("likelihood",)

    def steps(self, segments: Sequence[Segment]) -> Steps[Statistics]:
        """Ask the model, each direction against each reference.

        Columns are ``likelihood``, with ``f`` ``precision`` and ``recall``; and ``truncated``,
        whether only a part of a text was read. Against the source there is one slot.
        """
        present = self._present(segments)
        at, slots = np.nonzero(present)
        pairs = [
            (self._held(segments[row], slot), segments[row].hypothesis)
            for row, slot in zip(at.tolist(), slots.tolist(), strict=True)
        ]
        figures = yield [Request(self.model, Likelihood(), items) for items in self._items(pairs)]
        columns = (*self.figures, "truncated")
        rows = np.zeros((*present.shape, len(columns)))
        for column, answers in enumerate(figures):
            rows[at, slots, column] = answers[:, 0]
            rows[at, slots, -1] = answers[:, 1] > 0
        return Statistics(rows, present, tuple(range(present.shape[1])), columns)

    def _present(self, segments: Sequence[Segment]) -> BoolArray:
        if self._by_source:
            return np.ones((len(segments), 1), dtype=np.bool_)
        return reference_slots(segments)

    def _held(self, segment: Segment, slot: int) -> str:
        """Return the text that the hypothesis is held against."""
        return segment.source if self._by_source else segment.references[slot] or ""

    def _items(self, pairs: Sequence[Pair]) -> list[list[Pair]]:
        """Return what is asked for each figure, from (held, hypothesis) pairs."""
        forward, back = list(pairs), [(hypothesis, held) for held, hypothesis in pairs]
        if self.direction == "f":
            return [forward, back]
        return [back if self.direction == "hypothesis-to-reference" else forward]

    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Score each sentence by the mean over its references, or by the best of them.

        Parts: ``truncated``; with ``f`` ``precision`` and ``recall``, their means over the
        references, or those of the best one.
        """
        chosen = self._chosen(statistics)
        weights = _weights(statistics.present, chosen)
        figures = (statistics.rows[..., :-1] * weights[..., None]).sum(axis=1)
        there = statistics.present.any(axis=1)
        figures[~there] = np.nan
        parts = {name: figures[:, at] for at, name in enumerate(self._shown)}
        truncated = np.asarray((statistics.rows[..., -1] > 0).any(axis=1), dtype=np.int64)
        return SegmentScores(
            values=figures.mean(axis=1),
            chosen=chosen,
            parts={**parts, "truncated": truncated},
            reason="the model gave no number" if there.all() else "no reference",
        )

    @property
    def _shown(self) -> tuple[str, ...]:
        """The figures that are parts of a score, and not the score itself."""
        return self.figures if self.direction == "f" else ()

    def _chosen(self, statistics: Statistics) -> IntArray:
        """Return the slot of the best reference; -1 where all count, or there is none."""
        present = statistics.present
        if self._by_source or self.references == "mean" or not statistics.slots:
            return no_choice(len(present))
        scores = statistics.rows[..., :-1].mean(axis=-1)
        best = np.where(present, scores, -np.inf).argmax(axis=1)
        return np.where(present.any(axis=1), best, -1)

    def explain(self, segment: Segment) -> Explanation:
        """Show the log-likelihoods against the source, or against each reference."""
        statistics = self.statistics([segment])
        rows = tuple(
            ("source" if self._by_source else str(slot), *(f"{x:.4f}" for x in figures[:-1]))
            for slot, figures in enumerate(statistics.rows[0].tolist())
            if statistics.present[0, slot]
        )
        grid = Grid(f"log-likelihoods ({self.direction})", ("against", *self.figures), rows)
        return self.explained(self.sentences(statistics), grids=[grid])


def _weights(present: BoolArray, chosen: IntArray) -> FloatArray:
    """Return what each slot weighs in a sentence's score, shape ``(segments, slots)``."""
    taken = present.astype(np.float64)
    alone = np.flatnonzero(chosen >= 0)
    taken[alone] = 0
    taken[alone, chosen[alone]] = 1
    return taken / np.maximum(taken.sum(axis=1, keepdims=True), 1)
