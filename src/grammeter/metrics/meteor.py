"""meteor_es: METEOR of 2005 with its exact and its stem stage, without synonyms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from grammeter.alignment import gap, reference_slots, stem
from grammeter.core import (
    Explanation,
    FloatArray,
    Grid,
    IntArray,
    Score,
    Segment,
    SegmentScores,
    Statistics,
)
from grammeter.metrics.base import Needs, SentenceMean, mean_of, ratio


@dataclass(frozen=True, kw_only=True)
class MeteorES(SentenceMean):
    """METEOR with exact and stem matches only (after Banerjee and Lavie 2005); 0 to 1.

    Not comparable with figures of the Meteor program, which has synonyms and paraphrases too.

    Attributes
    ----------
    alpha
        The share of precision in the harmonic mean; 0.9 makes recall weigh nine times as much.
    beta
        The exponent of the fragmentation penalty.
    gamma
        The greatest fragmentation penalty.
    """

    name: ClassVar[str] = "meteor_es"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    title: ClassVar[str] = (
        "unigram F-measure with a penalty for scattered matches; exact and stem stages of METEOR"
        " (Banerjee and Lavie 2005)"
    )
    needs: ClassVar[Needs] = "texts"
    resampling: ClassVar[str] = "chosen references fixed"
    after_counting: ClassVar[tuple[str, ...]] = ("alpha", "beta", "gamma")
    citation: ClassVar[str] = """\
@inproceedings{banerjee-lavie-2005-meteor,
    title = "{METEOR}: An Automatic Metric for {MT} Evaluation with Improved Correlation with Human Judgments",
    author = "Banerjee, Satanjeev and Lavie, Alon",
    booktitle = "Proceedings of the ACL Workshop on Intrinsic and Extrinsic Evaluation Measures for Machine Translation and/or Summarization",
    year = "2005",
    pages = "65--72",
}"""  # noqa: E501 - titles stand on one line

    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5

    def check_fields(self) -> None:
        """Refuse shares outside 0 to 1 and a negative exponent."""
        for name in ("alpha", "gamma"):
            self.refuse_unless(0 <= getattr(self, name) <= 1, name, fix="Use 0 to 1.")
        self.refuse_unless(0 <= self.beta < float("inf"), "beta", fix="Use 0 or more.")

    def settings(self) -> dict[str, object]:
        """Return case, tokenisation and stemmer."""
        return {"case": "lower", "tok": "whitespace", "stemmer": "porter"}

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """Match words with each reference.

        Columns are ``matches chunks hypothesis reference``: matched words, maximal runs of
        them that stand together on both sides, and the lengths in words.
        """
        present = reference_slots(segments)
        rows = np.zeros((*present.shape, 4), dtype=np.int64)
        words, known_stem = cache(_words), cache(stem)
        for row, segment in enumerate(segments):
            hypothesis = words(segment.hypothesis)
            for slot, text in enumerate(segment.references):
                if text is None:
                    continue
                pairs = _match(hypothesis, words(text), known_stem)
                rows[row, slot] = len(pairs), _chunks(pairs), len(hypothesis), len(words(text))
        columns = ("matches", "chunks", "hypothesis", "reference")
        return Statistics(rows, present, tuple(range(present.shape[1])), columns)

    def score(self, statistics: Statistics) -> Score:
        """Score a corpus by the mean of its sentence scores."""
        return mean_of(self.sentences(statistics).values, self.signature(), "no reference")

    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Score each segment by its best reference; parts ``precision recall penalty``."""
        precision, recall, penalty = self._parts(statistics.rows)
        scores = np.where(statistics.present, self._combined(precision, recall, penalty), -1.0)
        chosen = _best(scores)
        labels = np.append(np.array(statistics.labels, dtype=np.int64), -1)
        parts = {
            "precision": _pick(precision, chosen),
            "recall": _pick(recall, chosen),
            "penalty": _pick(penalty, chosen),
        }
        return SegmentScores(_pick(scores, chosen), labels[chosen], parts, gap(statistics.present))

    def explain(self, segment: Segment) -> Explanation:
        """Show the matches with the chosen reference, in the order of the hypothesis."""
        scores = self.sentences(self.statistics([segment]))
        chosen = int(scores.chosen[0])
        if chosen < 0:
            return self.explained(scores)
        hypothesis, reference = _words(segment.hypothesis), _words(segment.references[chosen] or "")
        pairs = _match(hypothesis, reference, stem)
        rows = [
            (str(at), hypothesis[at], str(there), reference[there], stage)
            for at, there in pairs
            for stage in ["exact" if hypothesis[at] == reference[there] else "stem"]
        ]
        columns = ("position", "hypothesis", "position in reference", "reference", "stage")
        title = f"{len(pairs)} matches in {_chunks(pairs)} chunks with reference {chosen}"
        return self.explained(scores, grids=[Grid(title, columns, tuple(rows))])

    def _parts(self, rows: npt.NDArray[np.number]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return precision, recall and penalty; 0 where there is nothing to divide by."""
        matches, chunks, hypothesis, reference = np.moveaxis(rows.astype(np.float64), -1, 0)
        precision, recall = ratio(matches, hypothesis), ratio(matches, reference)
        return precision, recall, self.gamma * ratio(chunks, matches) ** self.beta

    def _combined(
        self, precision: FloatArray, recall: FloatArray, penalty: FloatArray
    ) -> FloatArray:
        mean = ratio(precision * recall, self.alpha * precision + (1 - self.alpha) * recall)
        return mean * (1 - penalty)


def _words(text: str) -> list[str]:
    return text.lower().split()


def _match(
    hypothesis: Sequence[str], reference: Sequence[str], stem_of: Callable[[str], str]
) -> list[tuple[int, int]]:
    """Pair equal words, then words of equal stem among the rest; in hypothesis order.

    Each stage goes through the hypothesis from its end, and each word takes the last free
    word of the reference that fits.
    """
    ours, theirs = dict(enumerate(hypothesis)), dict(enumerate(reference))
    pairs = _take(ours, theirs)
    pairs += _take(
        {at: stem_of(word) for at, word in ours.items()},
        {at: stem_of(word) for at, word in theirs.items()},
    )
    return sorted(pairs)


def _take(ours: dict[int, str], theirs: dict[int, str]) -> list[tuple[int, int]]:
    """Take equal words out of both sides, from the end, and return their positions."""
    places: dict[str, list[int]] = {}
    for at, word in theirs.items():
        places.setdefault(word, []).append(at)
    pairs = [
        (at, places[word].pop()) for at, word in reversed(list(ours.items())) if places.get(word)
    ]
    for at, other in pairs:
        del ours[at], theirs[other]
    return pairs


def _chunks(pairs: Sequence[tuple[int, int]]) -> int:
    """Count maximal runs of pairs that follow each other on both sides."""
    starts = [pair for before, pair in pairwise(pairs) if pair != (before[0] + 1, before[1] + 1)]
    return len(starts) + bool(pairs)


def _best(scores: FloatArray) -> IntArray:
    """Return the first slot with the greatest score, -1 where all are absent (negative)."""
    absent = np.full((len(scores), 1), -0.5)
    best = np.append(scores, absent, axis=1).argmax(axis=1)
    return np.where(best == scores.shape[1], -1, best)


def _pick(values: FloatArray, slots: IntArray) -> FloatArray:
    """Return each segment's value at its slot; NaN at slot -1."""
    padded = np.append(values, np.full((len(values), 1), np.nan), axis=1)
    return padded[np.arange(len(values)), slots]
