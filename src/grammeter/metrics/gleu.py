"""GLEU: n-grams shared with the references, less those wrongly kept from the source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from grammeter.alignment import Shared, Unit, ngrams
from grammeter.core import FloatArray, Grid, IntArray, Score, Segment, SegmentScores, Statistics
from grammeter.metrics.base import Grids, Positive, cited
from grammeter.metrics.kinds import SumScore, grid_of, no_choice, of_references

_DRAWS = 1 << 24
"""Drawn references held in memory together; 32 MB."""

_TOKENS = {"word": "whitespace", "char": "characters of the stripped line"}


@dataclass(frozen=True, kw_only=True)
class Gleu(SumScore):
    """GLEU in its 2016 form, without tuning (Napoles et al. 2016); 0 to 1.

    Attributes
    ----------
    order
        The longest n-grams; the geometric mean is over orders 1 to ``order``.
    iterations
        How many times one reference per segment is drawn.
    variant
        What is penalised in an n-gram that hypothesis and source share: ``original``, all of it
        if the reference lacks the n-gram altogether; ``multiset``, what exceeds the reference.
    references
        ``sampled``: the mean over draws, as the authors do it. ``expected``: the score of the
        expected statistics, without chance.
    unit
        ``word`` or ``char``; characters are those of the stripped line, spaces included.
    """

    name = "gleu"
    bounds = (0.0, 1.0)
    title = (
        "n-gram precision that rewards agreement with the references and penalises errors left"
        " from the source (Napoles et al. 2015, 2016)"
    )
    needs = "texts"
    citation = cited("napoles-etal-2015-ground", "napoles-etal-2016-gleu")
    resampling = "expected statistics"
    after_counting = ("iterations", "references")

    order: Positive = 4
    iterations: Positive = 500
    variant: Literal["original", "multiset"] = "original"
    references: Literal["sampled", "expected"] = "sampled"
    unit: Unit = "word"

    def settings(self) -> dict[str, object]:
        """Return the tokenisation and, where references are drawn, the rule of the seeds."""
        seeds = {"seeds": "101*j"} if self.references == "sampled" else {}
        return {"tok": _TOKENS[self.unit], **seeds}

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """Count lengths, matches less penalties, and n-grams, against each reference.

        Columns are ``c r num1 den1 num2 den2 ...``: lengths of hypothesis and reference, then per
        order what was matched less what was penalised (at least 0), and the hypothesis' n-grams.
        """
        present = ngrams.reference_slots(segments)
        rows = np.zeros((*present.shape, 2 + 2 * self.order), dtype=np.int64)
        for batch in ngrams.batches(segments, unit=self.unit, strip=True):
            counts = np.empty((len(batch.rows), *rows.shape[1:]), dtype=np.int64)
            length = batch.hypothesis_lengths[:, None]
            counts[..., 0], counts[..., 1] = length, batch.reference_lengths
            for n, shared in enumerate(batch.by_order(self.order), 1):
                for slot, reference in enumerate(shared.references):
                    counts[:, slot, 2 * n] = shared.total(self._gain(shared, reference))
                counts[..., 2 * n + 1] = length + 1 - n
            rows[batch.rows] = np.maximum(counts, 0)
        rows[~present] = 0
        kinds = [f"{kind}{n}" for n in range(1, self.order + 1) for kind in ("num", "den")]
        return of_references(rows, present, ("c", "r", *kinds))

    def score(self, statistics: Statistics) -> Score:
        """Score a corpus; parts are ``std low high`` where references are drawn.

        ``std`` is the population deviation over the draws, ``low`` and ``high`` are 1.96 of it
        away from the mean.
        """
        if self.references == "expected" or ngrams.gap(statistics.present):
            return super().score(statistics)
        values = self.value_of(_drawn_sums(statistics, self.iterations))
        mean, std = float(values.mean()), float(values.std())
        parts = {"std": std, "low": mean - 1.96 * std, "high": mean + 1.96 * std}
        return Score(value=mean, signature=self.signature(), n=len(statistics), parts=parts)

    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Score segments by the mean over references, part ``std``; zero statistics count as 1."""
        present = statistics.present
        scores = self._by_reference(statistics)
        mean = _mean_over(scores, present)
        std = np.sqrt(_mean_over((scores - mean[:, None]) ** 2, present))
        return SegmentScores(mean, no_choice(len(mean)), {"std": std}, ngrams.gap(present))

    def _by_reference(self, statistics: Statistics) -> FloatArray:
        return self.value_of(np.where(statistics.rows == 0, 1.0, statistics.rows))

    def summands(self, statistics: Statistics) -> FloatArray:
        """Return each segment's statistics in the mean over its references; NaN if none."""
        return _mean_over(statistics.rows, statistics.present[..., None])

    def value_of(self, sums: FloatArray) -> FloatArray:
        """Score sums of the statistics; 0 where one of them is 0."""
        counts = np.asarray(sums, dtype=np.float64)
        undefined = (counts == 0).any(axis=-1)
        counts = np.where(undefined[..., None], 1.0, counts)
        logs = np.log(counts[..., 2::2] / counts[..., 3::2]).sum(axis=-1)
        brevity = np.minimum(0.0, 1.0 - counts[..., 1] / counts[..., 0])
        return np.where(undefined, 0.0, np.exp(brevity + logs / self.order))

    def tables(self, segment: Segment, statistics: Statistics, chosen: int) -> Grids:
        """Show the statistics by reference, and the n-grams that made them."""
        columns = {
            "reference": statistics.labels,
            "score": self._by_reference(statistics)[0],
            **dict(zip(statistics.columns, statistics.rows[0].T, strict=True)),
        }
        yield grid_of("sums by reference (zeros count as 1)", columns, statistics.present[0])
        yield self._ngram_grid(segment)

    def _gain(self, shared: Shared, reference: IntArray) -> IntArray:
        """Return what each n-gram adds to the numerator: its matches less its penalty."""
        in_source = np.minimum(shared.hypothesis, shared.source)
        matches = np.minimum(shared.hypothesis, reference)
        if self.variant == "multiset":
            return matches - np.maximum(in_source - reference, 0)
        return matches - in_source * (reference == 0)

    def _ngram_grid(self, segment: Segment) -> Grid:
        """Name what was gained over the source, and what was penalised."""
        rows: list[tuple[str, ...]] = []
        for slot, text in enumerate(segment.references):
            for n in range(1, self.order + 1) if text is not None else ():
                h, s, r = (
                    ngrams.counts(ngrams.tokenise(side, self.unit, strip=True), n)
                    for side in (segment.hypothesis, segment.source, text or "")
                )
                there = r if self.variant == "multiset" else dict.fromkeys(r, h.total())
                matches, lost = h & r, (h & s) - Counter(there)
                sums = slot, n, matches.total(), lost.total(), h.total()
                rows.append((*map(str, sums), self._shown(matches - s), self._shown(lost)))
        columns = "reference", "n", "matches", "penalty", "n-grams", "matched, not in source"
        return Grid("n-grams by reference and order", (*columns, "penalised"), tuple(rows))

    def _shown(self, counts: Counter[tuple[str, ...]]) -> str:
        glue = " " if self.unit == "word" else ""
        return ", ".join(
            f"{glue.join(ngram)!r}" + (f" x{count}" if count > 1 else "")
            for ngram, count in counts.items()
        )


def _mean_over(values: npt.NDArray[np.number], present: npt.NDArray[np.bool_]) -> FloatArray:
    """Return the mean over axis 1 of what is present; NaN where nothing is."""
    number = present.sum(axis=1).astype(np.float64)
    sums = np.where(present, values, 0).sum(axis=1)
    return sums / np.where(number == 0, np.nan, number)


def _drawn_sums(statistics: Statistics, iterations: int) -> FloatArray:
    """Sum the statistics of one drawn reference per segment, shape ``(iterations, columns)``."""
    first_present = np.argsort(~statistics.present, axis=1, kind="stable")
    rows = np.take_along_axis(statistics.rows, first_present[..., None], axis=1).astype(np.float64)
    number = statistics.present.sum(axis=1)
    if number.max(initial=0) == 1:
        return rows[:, 0].sum(axis=0)[None]
    more = [rows[:, pick] - rows[:, 0] for pick in range(1, int(number.max()))]
    sums = [
        sum(((drawn == pick) @ row for pick, row in enumerate(more, 1)), start=rows[:, 0].sum(0))
        for drawn in _draws(number, iterations)
    ]
    return np.concatenate(sums)


def _draws(number: IntArray, iterations: int) -> Iterator[npt.NDArray[np.int16]]:
    """Draw one of ``number`` references per segment, a block of iterations at a time."""
    step = max(1, _DRAWS // len(number))
    counts = number.astype(np.int16).tobytes()
    for first in range(0, iterations, step):
        yield _drawn(first, min(first + step, iterations), counts)


@lru_cache(maxsize=2)
def _drawn(first: int, last: int, counts: bytes) -> npt.NDArray[np.int16]:
    """Draw as the authors' program does, shape ``(last - first, segments)``.

    Iteration j seeds the Mersenne twister with 101 * j and takes ``int(random() * count)`` per
    segment, which is what ``randint`` of Python 2 did. This numpy generator is frozen for good
    and, seeded by a list, has the stream of :class:`random.Random`.
    """
    number = np.frombuffer(counts, dtype=np.int16)
    drawn = np.empty((last - first, len(number)), dtype=np.int16)
    stream = np.random.RandomState(0)
    for j in range(first, last):
        stream.seed([101 * j])
        drawn[j - first] = stream.random_sample(len(number)) * number
    drawn.flags.writeable = False
    return drawn
