"""Scores of partial corrections: what each text is held against, each distinct one scored once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from grammeter.alignment import appliable, partial_text
from grammeter.core import (
    FloatArray,
    GoldEdits,
    Score,
    Segment,
    SegmentScores,
    Signature,
    Statistics,
)
from grammeter.meta.partial_outputs import Chain, Line, PartialOutputs

Against = Literal["others", "all", "given"]
"""What a metric holds a text against: the edits of the annotators other than its own; those of
all annotators, its own too; the reference texts that were given."""


class Scorer(Protocol):
    """What is asked of a metric; :class:`grammeter.Metric` has it all."""

    needs: ClassVar[Any]
    higher_is_better: ClassVar[bool]

    def pooled_statistics(  # noqa: D102
        self, segments: Sequence[Segment], copies: Sequence[int]
    ) -> Statistics: ...
    def score(self, statistics: Statistics) -> Score: ...  # noqa: D102
    def sentences(self, statistics: Statistics) -> SegmentScores: ...  # noqa: D102
    def signature(self, context: Mapping[str, object] | None = None) -> Signature: ...  # noqa: D102


@dataclass(frozen=True)
class PartialScores:
    """What one metric says of all texts, larger being better.

    Attributes
    ----------
    chains
        Those whose texts have something to be held against.
    texts
        The scores of each chain's texts, each text scored alone.
    corpora
        Shape ``(11,)``: the scores of the corpora.
    lines
        How many lines of each corpus count.
    distinct
        How many distinct texts were scored.
    """

    chains: tuple[Chain, ...]
    texts: tuple[FloatArray, ...]
    corpora: FloatArray
    lines: int
    distinct: int


def score_outputs(metric: Scorer, outputs: PartialOutputs, targets: Targets) -> PartialScores:
    """Score all chains and corpora with one metric, in one batch."""
    pool = _Pool(targets, metric.needs)
    placed = [(chain, pool.add(chain, chain.texts)) for chain in outputs.chains]
    rows = [
        [at for line in lines for at in pool.add(line, [line.text])] for lines in outputs.corpora
    ]
    chains = [(chain, at) for chain, at in placed if at]
    if not pool.segments:
        return PartialScores((), (), np.full(len(rows), np.nan), 0, 0)
    statistics = metric.pooled_statistics(pool.segments, pool.copies)
    sign = 1.0 if metric.higher_is_better else -1.0
    alone = _alone(metric, statistics, sorted({x for _, at in chains for x in at}))
    return PartialScores(
        chains=tuple(chain for chain, _ in chains),
        texts=tuple(sign * alone[at] for _, at in chains),
        corpora=sign * np.array([metric.score(statistics.take(at)).value for at in rows]),
        lines=len(rows[0]),
        distinct=len(pool.segments),
    )


def _alone(metric: Scorer, statistics: Statistics, rows: Sequence[int]) -> FloatArray:
    """Score each row as if it stood alone: M2 chooses annotators by what stands before."""
    values = np.full(len(statistics), np.nan)
    for row in rows:
        values[row] = metric.sentences(statistics.take([row])).values[0]
    return values


class Targets:
    """What a text is held against: references and gold edits, one object for equal ones."""

    def __init__(
        self,
        sources: Sequence[str],
        gold: Sequence[GoldEdits],
        references: Sequence[Sequence[str | None]],
        *,
        against: Against,
        with_edits: bool,
    ) -> None:
        """Take the corpus; ``with_edits``: gold edits fit what metrics are given as source."""
        self._sources = sources
        self._gold = gold
        self._texts = references
        self._against = against
        self._with_edits = with_edits
        self._known: dict[tuple[int, int], Segment] = {}

    def segment(self, item: Chain | Line, needs: str) -> Segment | None:
        """Return a segment without hypothesis; None where there is nothing to hold it against."""
        if needs == "nothing":
            return Segment(item.source, "")
        left_out = item.annotator if self._against == "others" else -1
        key = (item.sentence, left_out)
        if key not in self._known:
            self._known[key] = self._make(item.sentence, left_out)
        made = self._known[key]
        if not made.texts:
            return None
        return Segment(item.source, "", made.references, made.gold)

    def _make(self, sentence: int, left_out: int) -> Segment:
        source = self._sources[sentence]
        if self._against == "given":
            return Segment(source, "", tuple(column[sentence] for column in self._texts))
        others = [edits for a, edits in self._gold[sentence].items() if a != left_out]
        texts = tuple(partial_text(source.split(), appliable(edits)).strip() for edits in others)
        # numbered anew: a metric that takes one annotator by number takes one who is there
        gold: GoldEdits = dict(enumerate(others)) if self._with_edits else {}
        return Segment(source, "", texts, gold)


class _Pool:
    """The distinct segments of all chains and corpora, and how often each is there."""

    def __init__(self, targets: Targets, needs: str) -> None:
        self._targets = targets
        self._needs = needs
        self.segments: list[Segment] = []
        self.copies: list[int] = []
        self._known: dict[tuple[object, ...], int] = {}

    def add(self, item: Chain | Line, texts: Sequence[str]) -> list[int]:
        """Return the positions of an item's texts; none where it cannot be scored."""
        shape = self._targets.segment(item, self._needs)
        return [] if shape is None else [self._position(shape, text) for text in texts]

    def _position(self, shape: Segment, text: str) -> int:
        # the references are known by identity: equal ones are one object
        key = (shape.source, text, id(shape.references) if shape.references else 0)
        position = self._known.setdefault(key, len(self.segments))
        if position == len(self.segments):
            self.segments.append(Segment(shape.source, text, shape.references, shape.gold))
            self.copies.append(0)
        self.copies[position] += 1
        return position
