"""Distances from an output to a reference, such as its own post-edit: WER, TER and NLD."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from typing import ClassVar

import numpy as np

from grammeter.alignment import gap, reference_slots
from grammeter.core import FloatArray, IntArray, Segment, SegmentScores, Statistics
from grammeter.metrics import base, kinds

_COLUMNS: tuple[str, ...] = ("edits", "length", "exact")


@dataclass(frozen=True, kw_only=True)
class _Distance(base.Metric):
    """Common base: edits over a length, which is 1 at least; the nearest of several references.

    Columns and parts are ``edits``, ``length`` and ``exact``: whether the output is the reference.
    """

    needs = "texts"
    higher_is_better = False
    bounds = (0.0, float("inf"))
    by_edits: ClassVar[bool] = True  # is the nearest reference that with fewest edits, or shares?

    @abstractmethod
    def measured(self, hypothesis: str, reference: str) -> tuple[int, int]:
        """Return edits and length for one output and one reference."""

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """Measure each output against each reference."""
        present, measured = reference_slots(segments), cache(self.measured)
        rows = np.zeros((*present.shape, 3), dtype=np.int64)
        for row, slot in np.argwhere(present).tolist():
            text, reference = segments[row].hypothesis, segments[row].references[slot] or ""
            rows[row, slot] = *measured(text, reference), text == reference
        return kinds.of_references(rows, present, _COLUMNS)

    def nearest(self, statistics: Statistics) -> tuple[FloatArray, IntArray]:
        """Return each segment's row of its nearest reference, and which that is; -1: none.

        Of equal ones the first; a segment is ``exact`` if any reference is its output.
        """
        counts = statistics.rows.astype(np.float64)
        far = counts[..., 0] if self.by_edits else _share(counts)
        chosen = kinds.best_slot(-far, statistics.present)
        rows = kinds.pick(counts, chosen)
        rows[:, 2] += counts[..., 2].any(axis=1) - rows[:, 2]  # NaN stays
        return rows, chosen

    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Score each segment by its nearest reference."""
        rows, chosen = self.nearest(statistics)
        parts = dict(zip(_COLUMNS, rows.T, strict=True))
        return SegmentScores(_share(rows), chosen, parts, gap(statistics.present))


def _share(counts: FloatArray) -> FloatArray:
    """Return edits by length, or by 1 where that is 0; ``counts``: ``(..., columns)``."""
    return counts[..., 0] / np.where(counts[..., 1] == 0, 1, counts[..., 1])


def _levenshtein(first: Sequence[str], second: Sequence[str]) -> int:
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.distance(first, second)


class _Summed(_Distance, kinds.SumScore):
    """Base of distances whose corpus score is the sum of edits over the sum of lengths."""

    def summands(self, statistics: Statistics) -> FloatArray:
        """Return edits, length and ``exact`` of the nearest references, and ones."""
        rows, _ = self.nearest(statistics)
        return np.hstack([rows, np.ones((len(rows), 1))])

    def value_of(self, sums: FloatArray) -> FloatArray:
        """Return edits by length; NaN without segments."""
        return np.where(sums[..., 3] == 0, np.nan, _share(sums))

    def parts(self, sums: FloatArray) -> dict[str, float]:
        """Return edits, reference length, and the share of outputs that equal their reference."""
        edits, length, exact, number = sums.tolist()
        return {"edits": edits, "length": length, "exact": exact / number if number else 0.0}


@dataclass(frozen=True, kw_only=True)
class WER(_Summed):
    """Word error rate: tokens to insert, delete or substitute, by tokens of the reference.

    0 is equal, above 1 is possible. Tokens are separated by white space. With several references
    that with fewest edits counts; over a corpus edits and tokens are summed.
    """

    name = "wer"
    title = "token edit distance by reference length, 0 is equal (Levenshtein 1966)"
    citation = base.cited("levenshtein-1966-binary")
    tok = "whitespace"

    def measured(self, hypothesis: str, reference: str) -> tuple[int, int]:
        """Return edits, and tokens of the reference."""
        tokens = reference.split()
        return _levenshtein(hypothesis.split(), tokens), len(tokens)


@dataclass(frozen=True, kw_only=True)
class TER(_Summed):
    """Translation edit rate by sacrebleu: as WER, but a block may move at the cost of one edit.

    With post-edits of the output this is HTER. sacrebleu's figure over 100: edits to the nearest
    reference by the mean length of all references.

    - ``case_sensitive``: compare letters as they are.
    - ``normalized``: sacrebleu's tokenisation of punctuation.
    - ``no_punct``: leave punctuation out.
    """

    name = "ter"
    title = "edits with moved blocks by reference length, by sacrebleu (Snover et al. 2006)"
    citation = base.cited("snover-etal-2006-study", "post-2018-call")
    resampling = "all references at once"

    case_sensitive: bool = False
    normalized: bool = False
    no_punct: bool = False

    def settings(self) -> dict[str, object]:
        """Return sacrebleu's version."""
        return super().settings() | {"sacrebleu": version("sacrebleu")}

    def measured(self, hypothesis: str, reference: str) -> tuple[int, int]:
        """Return edits, and tokens of the reference."""
        from sacrebleu.metrics import ter

        score = ter.TER(**asdict(self)).sentence_score(hypothesis, [reference])
        return int(score.num_edits), int(score.ref_length)

    def nearest(self, statistics: Statistics) -> tuple[FloatArray, IntArray]:
        """Return rows of the nearest references with the mean length of all, and which they are."""
        rows, chosen = super().nearest(statistics)
        mean = kinds.ratio(statistics.rows[..., 1].sum(axis=1), statistics.present.sum(axis=1))
        rows[:, 1] += mean - rows[:, 1]  # NaN stays
        return rows, chosen


@dataclass(frozen=True, kw_only=True)
class NLD(_Distance, kinds.SentenceMean):
    """Normalised Levenshtein distance: character edits by the longer text, mean of sentences.

    0 to 1, 0 is equal, as two empty texts are. Characters are code points. With several references
    the smallest distance counts.
    """

    name = "nld"
    title = "character edit distance by the longer text, mean over sentences (Östling et al. 2024)"
    citation = base.cited("ostling-etal-2024-evaluation", "levenshtein-1966-binary")
    bounds = (0.0, 1.0)
    by_edits = False
    counted = ("edits", "length")

    def measured(self, hypothesis: str, reference: str) -> tuple[int, int]:
        """Return character edits, and the length of the longer text."""
        return _levenshtein(hypothesis, reference), max(len(hypothesis), len(reference))
