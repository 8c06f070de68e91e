"""Sentence scores held against people's ratings as numbers, not only as an order of outputs.

People's number of an output is the mean over its judges. Pooled over all outputs, a coefficient
mixes "which sentence is easy" with "which output is better"; the mean of the coefficients within
segments knows the latter alone. Intervals draw whole segments, or documents.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from grammeter import core, stats
from grammeter.meta.judged import means
from grammeter.meta.sentence_design import SentenceDesign
from grammeter.meta.sentence_level import ByMetric, Estimate, MetricAgreement, RatedAgreement
from grammeter.meta.system import constant

LEFT_OUT = "one_output", "people_constant", "metric_constant"
"""Why a segment has no coefficient, in the order in which this is asked."""

NONE_LEFT = "no segment has two outputs and unequal numbers on both sides"

_Values = Mapping[stats.CoefficientName, core.FloatArray]


@dataclass(frozen=True, eq=False)
class _People:
    """People's numbers of outputs.

    ``values``, shape ``(segments, systems)``, are NaN where nobody rated; ``units``, shape
    ``(segments,)``, number what is drawn as a whole, in all ``drawn``.
    """

    systems: tuple[str, ...]
    values: core.FloatArray
    units: core.IntArray
    drawn: int

    @classmethod
    def of(cls, ratings: Sequence[core.Ranking], segments: int, *, by_document: bool) -> "_People":
        """Average the judges' scores of each output."""
        rows = means(ratings, [ranking.scores or () for ranking in ratings], segments)
        units, names = np.zeros(segments, dtype=np.int64), dict[str | int | None, int]()
        for ranking in ratings:
            name = ranking.document_name if by_document else ranking.segment
            units[ranking.segment - 1] = names.setdefault(name, len(names))
        return cls(tuple(rows), np.array(list(rows.values())).T, units, len(names))


def with_ratings(
    measured: ByMetric, columns: Mapping[str, core.MetricScores], rankings: Sequence[core.Ranking],
    design: SentenceDesign, segments: int,
) -> dict[str, MetricAgreement]:  # fmt: skip
    """Add to each metric's agreement with an order of outputs that with the ``scores`` in it."""
    ratings = [ranking for ranking in rankings if ranking.scores is not None]
    if design.pairs == "unexpanded":  # as for pairs, one system stands for each output
        ratings = [replace(r, groups=tuple((min(group),) for group in r.groups)) for r in ratings]
    people = _People.of(ratings, segments, by_document=design.unit == "document")
    agreements: dict[str, MetricAgreement] = {}
    for name, agreement in measured.items():
        column = columns[name]
        scores = np.full(people.values.shape, np.nan)
        for at, system in enumerate(people.systems):
            if system in column.segments:
                scores[:, at] = column.segments[system].values
        turned = scores if column.higher_is_better else -scores
        agreements[name] = replace(agreement, rated=rated_agreement(turned, people, design))
    return agreements


def rating_notes(design: SentenceDesign) -> Iterator[str]:
    """Say what of a design does not hold for ratings as numbers."""
    if design.resamples and design.unit in ("pair", "ranking"):
        yield f"correlations with ratings are resampled by sentence: they know no {design.unit}"


def rated_agreement(
    scores: core.FloatArray, people: _People, design: SentenceDesign
) -> RatedAgreement:
    """Correlate one metric, ``(segments, systems)``, higher is better, with people's numbers."""
    rated = np.isfinite(people.values)
    known = rated & np.isfinite(scores)
    outputs, missing = int(known.sum()), int((rated & ~known).sum())
    if missing and (design.missing == "refuse" or not outputs):
        reason = f"{missing} of {outputs + missing} rated outputs lack a score"
        nothing = dict.fromkeys(stats.KINDS, Estimate(value=math.nan, reason=reason))
        return RatedAgreement(nothing, nothing, outputs, missing, 0, {})
    within, undefined = stats.row_coefficients(scores, np.where(known, people.values, np.nan))
    faults = [undefined[0] & rated.any(axis=1), *undefined[1:]]
    x, y, units = scores[known], people.values[known], people.units[np.nonzero(known)[0]]
    again = stats.resample_counts(people.drawn, design.resamples, seed=design.seed, width=outputs)
    drawn = [
        (stats.clustered_coefficients(x, y, units, counts), _means_within(within, people, counts))
        for counts in chain([np.ones((1, people.drawn))], again)  # first the data
    ]
    why = "fewer than two outputs" if outputs < 2 else constant(x, y, "all outputs")
    pooled, segment = (
        _estimates([pair[side] for pair in drawn], design, reason)
        for side, reason in enumerate((why, NONE_LEFT))
    )
    return RatedAgreement(
        pooled, segment, outputs, missing, int(np.isfinite(within["kendall"]).sum()),
        {name: int(fault.sum()) for name, fault in zip(LEFT_OUT, faults, strict=True)},
    )  # fmt: skip


def _means_within(within: _Values, people: _People, counts: core.FloatArray) -> _Values:
    """Average the coefficients of the segments that have one, in each resample."""
    weights = counts[:, people.units]
    results: dict[stats.CoefficientName, core.FloatArray] = {}
    for kind, values in within.items():
        there = np.isfinite(values)
        total, count = weights[:, there] @ values[there], weights[:, there].sum(axis=1)
        results[kind] = np.divide(total, count, out=np.full(len(counts), np.nan), where=count > 0)
    return results


def _estimates(
    parts: Sequence[_Values], design: SentenceDesign, undefined: str | None
) -> dict[stats.CoefficientName, Estimate]:
    """Return the first values, those of the data, with the intervals of the others."""
    estimates: dict[stats.CoefficientName, Estimate] = {}
    for kind in stats.KINDS:
        of = np.concatenate([part[kind] for part in parts])
        estimates[kind] = Estimate.of(float(of[0]), of[1:], design.confidence, undefined)
    return estimates
