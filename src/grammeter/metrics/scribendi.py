"""Scribendi score: a sentence got better if it became likelier and stayed similar."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from grammeter import core, models
from grammeter.alignment import levenshtein_ratio, token_sort_ratio
from grammeter.metrics import base, kinds

FIGURES = ("perplexity_source", "perplexity_hypothesis", "token_sort_ratio", "levenshtein_ratio")
COLUMNS = (*FIGURES, "identical", "empty", "too_long")
_RATIO = base.Limit("Ratios lie between 0 and 1: use 0 to 1.", least=0, most=1)
_TOO_LONG = "a text is longer than the model's positions, so it has no perplexity"


@dataclass(frozen=True, kw_only=True)
class Scribendi(kinds.SentenceMean, kinds.Asking):
    """Scribendi score, -1, 0 or 1 for a sentence, their sum for a system.

    - ``model``: a causal language model: a folder, or a name on the hub.
    - ``threshold``: the greater one of both ratios must reach it.
    - ``average``: the mean over sentences in place of their sum.
    """

    name = "scribendi"
    title = "sentences made likelier less those made worse, by perplexity (Islam & Magnani 2021)"
    needs = "nothing"
    resampling = "sum or mean of sentence scores"
    after_counting = ("threshold", "average")
    citation = base.cited("islam-magnani-2021-end")

    model: str = "gpt2"
    threshold: Annotated[float, _RATIO] = 0.8
    average: bool = False

    def steps(self, segments: Sequence[core.Segment]) -> models.Steps[core.Statistics]:
        """Ask for perplexities; columns :data:`FIGURES`, ``identical``, ``empty``, ``too_long``."""
        pairs = [(segment.source, segment.hypothesis) for segment in segments]
        changed = [at for at, (source, hypothesis) in enumerate(pairs) if source != hypothesis]
        sources, hypotheses = yield [
            models.Request(self.model, models.Perplexity(), [pairs[at][side] for at in changed])
            for side in range(2)
        ]
        figures: list[tuple[float, ...]] = []
        for at, one, other in zip(changed, sources, hypotheses, strict=True):
            ratios = token_sort_ratio(*pairs[at]), levenshtein_ratio(*pairs[at])
            figures.append((one[0], other[0], *ratios, 0, not all(pairs[at]), one[1] or other[1]))
        rows = np.tile([np.nan, np.nan, 1.0, 1.0, 1.0, 0.0, 0.0], (len(pairs), 1))
        rows[changed] = np.array(figures, dtype=np.float64).reshape(-1, len(COLUMNS))
        return kinds.one_slot(rows, COLUMNS)

    def score(self, statistics: core.Statistics) -> core.Score:
        """Add up the sentence scores, or take their mean; NaN if one of them is.

        Parts count sentences: ``positive``, ``negative`` and ``zero`` scores; ``nan``, one of
        the perplexities is none; ``too_long``, for the second reason.
        """
        scores = self.sentences(statistics)
        values = scores.values
        mean = kinds.mean_of(values, self.signature(), scores.reason)
        total = mean.value if self.average or not len(values) else float(values.sum())
        identical, _, too_long = statistics.rows[:, 0, len(FIGURES) :].T > 0
        counts = {
            "positive": values > 0,
            "negative": values < 0,
            "zero": values == 0,
            "nan": np.isnan(statistics.rows[:, 0, :2]).any(axis=1) & ~identical,
            "too_long": too_long,
        }
        parts = {name: int(which.sum()) for name, which in counts.items()}
        return replace(mean, value=total, parts=parts)

    def sentences(self, statistics: core.Statistics) -> core.SegmentScores:
        """Score each sentence; parts are :data:`FIGURES`.

        0 where nothing changed; else 1 if the perplexity falls and a ratio reaches the threshold,
        -1 otherwise, with an empty text too; NaN where a text is too long.
        """
        rows: core.FloatArray = statistics.rows[:, 0]
        before, after, *ratios = rows[:, : len(FIGURES)].T
        identical, empty, too_long = rows[:, len(FIGURES) :].T > 0
        better = (before > after) & (np.maximum(*ratios) >= self.threshold)
        values = np.where(better & ~empty, 1.0, -1.0)
        values[np.isnan(before + after) & ~empty] = np.nan
        values[identical] = 0.0
        unknown = np.isnan(values)
        return core.SegmentScores(
            values=values,
            chosen=kinds.no_choice(len(values)),
            parts={name: rows[:, at] for at, name in enumerate(FIGURES)},
            reason=_TOO_LONG if (unknown & too_long).any() else "the model gave no number",
        )

    def value_of(self, sums: core.FloatArray) -> core.FloatArray:
        """Return summed sentence scores, or their means."""
        return super().value_of(sums) if self.average else sums[..., 0]
