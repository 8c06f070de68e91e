"""Sentence-level meta-evaluation: metrics that order the outputs of a sentence as judges do.

A pair is two systems whose outputs of one sentence one judge ranked. The human's preference is
held against the metric's, which is that of the two sentence scores, compared exactly; pooled
over all pairs that gives Kendall's tau and accuracy (Chollampatt & Ng 2018, Table 3;
Kobayashi et al. 2024). How ties count is a choice of its own: see :mod:`grammeter.meta.ties`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from grammeter.core import (
    BoolArray,
    DataError,
    FloatArray,
    IntArray,
    MetricScores,
    Ranking,
    ScoreTable,
    Signature,
    repeated_segments,
)
from grammeter.meta.judged import JudgedScores, preferences
from grammeter.meta.selection import select_systems
from grammeter.meta.sentence_level import (
    Estimate,
    MetricAgreement,
    PairCounts,
    PValues,
    SentenceDesign,
    SentenceLevel,
)
from grammeter.meta.soft import soft_accuracies
from grammeter.meta.ties import CELLS, cell_numbers, tie_calibrated, weights_of
from grammeter.ranking import FEW, Pairs, extract_pairs, notes_of, of_judges, unit_numbers
from grammeter.stats import (
    SAME,
    PairedSamples,
    bootstrap,
    generator,
    percentile_interval,
    randomisation_pvalues,
)

Intervals = tuple[tuple[float, float], tuple[float, float]]
"""Of tau and of accuracy."""


def correlate_sentences(
    table: ScoreTable,
    rankings: Sequence[Ranking],
    *,
    design: SentenceDesign | None = None,
    systems: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    metrics: Sequence[str] | None = None,
    judges: Sequence[str] | None = None,
    per_judge: bool = False,
    numbering: str | None = None,
) -> SentenceLevel:
    """Hold the sentence scores of metrics against judgments of the same sentences.

    Parameters
    ----------
    table
        Scores with their sentences; a metric without them has NaN with a reason.
    rankings
        Judgments; their sentences are those of the scores with the same number.
    systems, drop
        Who takes part, see :func:`~grammeter.meta.selection.select_systems`. The others that
        wrote the same as a system left out stay.
    metrics
        Spellings, all in the table by default.
    judges
        Use the judgments of these alone.
    per_judge
        Measure the pairs of each judge apart, too.
    numbering
        How the judgments counted sentences, for the signature; what was read from files knows.

    Raises
    ------
    DataError
        If a system stands on one side only, a judged sentence has no scores or stands in several
        documents, or no two systems are compared.
    UnknownNameError
        If there is no such system, metric or judge.
    """
    design = design or SentenceDesign()
    numbering = numbering or getattr(rankings, "numbering", None)  # Judgments have one
    _check_documents(rankings)
    columns = {name: table[name] for name in (table if metrics is None else metrics)}
    alone = all(isinstance(column, JudgedScores) for column in columns.values())
    assumed = () if alone else getattr(rankings, "assumptions", ())
    notes = (*table.notes_on(columns), *notes_of(rankings), *assumed)
    pairs = _judged_pairs(table, rankings, design, systems, drop, judges)
    _check_sentences(columns.values(), table.segments, pairs)
    settings = design.settings() | {
        "meta-systems": len(pairs.systems),
        "meta-judges": "+".join(pairs.judges) if judges else len(pairs.judges),
        "meta-rankings": len(np.unique(pairs.ranking)),
        **({"meta-first-segment": numbering} if numbering else {}),
    }
    answers = {name: _Answers.of(column, pairs, settings) for name, column in columns.items()}
    apart = {
        judge: _measure(answers, pairs, design, pairs.judge == number)
        for number, judge in enumerate(pairs.judges if per_judge else ())
        if (pairs.judge == number).any()
    }
    return SentenceLevel(
        design,
        pairs.systems,
        pairs.judges,
        len(np.unique(pairs.ranking)),
        _measure(answers, pairs, design, np.ones(len(pairs), dtype=np.bool_)),
        apart,
        _permutation_pvalues(answers, pairs, design) if design.permutations else {},
        soft_accuracies(columns, pairs, design.permutations, design.seed),
        tuple(dict.fromkeys([*notes, *_few(pairs)])),
    )


def _few(pairs: Pairs) -> Iterator[str]:
    sentences, rankings = (len(np.unique(ids)) for ids in (pairs.segment, pairs.ranking))
    if sentences < FEW:
        yield (
            f"few judgments: {rankings} rankings of {sentences} sentences; tau and accuracy vary"
            " widely by chance"
        )


@dataclass(frozen=True, eq=False)
class _Answers:
    """What one metric says of all pairs.

    Attributes
    ----------
    cells, difference
        Shape ``(pairs,)``: number of the cell; by how much the first system is better.
    known
        Shape ``(pairs,)``: whether both outputs have a score.
    reason
        Why some have none.
    """

    signature: Signature
    cells: IntArray
    difference: FloatArray
    known: BoolArray
    reason: str | None

    @classmethod
    def of(cls, column: MetricScores, pairs: Pairs, settings: Mapping[str, object]) -> _Answers:
        turned = {} if column.higher_is_better else {"meta-direction": "lower is better"}
        signature = column.signature.extended({**settings, **turned})
        lacking = [name for name in pairs.systems if name not in column.segments]
        if lacking:
            nothing = np.zeros(len(pairs))
            reason = f"no sentence scores of {', '.join(lacking)}"
            none = np.zeros(len(pairs), dtype=np.bool_)
            return cls(signature, nothing.astype(np.int64), nothing, none, reason)
        difference, known = _differences(column, pairs)
        higher = column.higher_is_better
        relation = np.sign(difference).astype(np.int64)
        cells = cell_numbers(pairs.outcome, relation, higher_is_better=higher)
        reason = None if known.all() else _first_missing(column, pairs, known)
        return cls(signature, cells, difference, known, reason)

    def counts(self, chosen: BoolArray) -> PairCounts:
        """Count the cells of some pairs."""
        cells = np.bincount(self.cells[chosen & self.known], minlength=len(CELLS))
        return PairCounts(*cells.tolist(), missing=int((chosen & ~self.known).sum()))

    def rows(self, units: IntArray, chosen: BoolArray) -> FloatArray:
        """Count the cells of each unit, shape ``(units, 6)``."""
        used = chosen & self.known
        count = int(units.max(initial=-1)) + 1
        flat = np.bincount(units[used] * len(CELLS) + self.cells[used], minlength=count * 6)
        return flat.reshape(count, len(CELLS)).astype(np.float64)


def _judged_pairs(
    table: ScoreTable,
    rankings: Sequence[Ranking],
    design: SentenceDesign,
    systems: Sequence[str] | None,
    drop: Sequence[str],
    judges: Sequence[str] | None,
) -> Pairs:
    judged = sorted({name for ranking in rankings for name in ranking.systems})
    names = set(select_systems(table.systems, judged, systems=systems, drop=drop))
    rankings = of_judges(rankings, judges)
    if len(names) < len(judged):
        rankings = [ranking.with_systems(names) for ranking in rankings]
    pairs = extract_pairs(rankings, extraction=design.pairs)
    if not len(pairs):
        raise DataError(
            "no two outputs of one sentence are ranked",
            fix="Give judgments that rank at least two of the systems.",
        )
    return pairs


def _check_documents(rankings: Sequence[Ranking]) -> None:
    for segment, documents in repeated_segments(rankings).items():
        raise DataError(
            f"sentence {segment} stands in several documents: {', '.join(documents[:3])}; scores"
            " know sentences by number alone",
            fix="Give the judgments of one document at a time, and its scores.",
        )


def _check_sentences(columns: Iterable[MetricScores], segments: int, pairs: Pairs) -> None:
    last = int(pairs.segment.max())
    if not any(column.segments for column in columns):
        raise DataError(
            "these scores are of systems, not of sentences",
            fix="Give the JSON of 'grammeter score -o FILE', or a TSV file with the header"
            " 'metric system segment value'.",
        )
    if last > segments:
        raise DataError(
            f"sentence {last} is judged, but scores end at sentence {segments}",
            fix="Score the very sentences that were judged, and see whether the judgments count"
            " from 0 or 1 (--first-segment).",
        )


def _differences(column: MetricScores, pairs: Pairs) -> tuple[FloatArray, BoolArray]:
    """Return by how much the first system is better, 0 where that is unknown, and where it is."""
    if isinstance(column, JudgedScores) and column.rankings:
        difference, items = preferences(column, pairs)
        return difference, items > 0
    values = np.stack([column.segments[name].values for name in pairs.systems])
    first, second = (values[of, pairs.segment - 1] for of in (pairs.first, pairs.second))
    known = np.isfinite(first) & np.isfinite(second)
    difference = np.subtract(first, second, out=np.zeros(len(pairs)), where=known)
    return difference * (1 if column.higher_is_better else -1), known


def _first_missing(column: MetricScores, pairs: Pairs, known: BoolArray) -> str:
    at = int(np.flatnonzero(~known)[0])
    first, second = (pairs.systems[int(of[at])] for of in (pairs.first, pairs.second))
    if isinstance(column, JudgedScores) and column.rankings:
        return f"no judgment of {first} and {second} in sentence {pairs.segment[at]}"
    scored = np.isfinite(column.segments[first].values[pairs.segment[at] - 1])
    system = second if scored else first
    why = column.segments[system].reason
    return f"no score of {system} for sentence {pairs.segment[at]}{f' ({why})' if why else ''}"


def _measure(
    answers: Mapping[str, _Answers], pairs: Pairs, design: SentenceDesign, chosen: BoolArray
) -> dict[str, MetricAgreement]:
    usable = {
        spelling: answer
        for spelling, answer in answers.items()
        if _fault(answer, answer.counts(chosen), design) is None
    }
    intervals = dict(_intervals(usable, pairs, design, chosen)) if design.resamples else {}
    return {
        spelling: _agreement(answer, pairs, design, chosen, intervals.get(spelling))
        for spelling, answer in answers.items()
    }


def _fault(answer: _Answers, counts: PairCounts, design: SentenceDesign) -> str | None:
    """Say why a metric has no value."""
    if counts.missing and (design.missing == "refuse" or not counts.total):
        judged = counts.missing + counts.total
        lacking = f"{counts.missing} of {judged} pairs lack a score"
        return f"{answer.reason}; {lacking} (missing=drop leaves them out)"
    below = np.array(weights_of(design.ties).counted)
    if not (np.array(counts.cells) @ below):
        return f"no pair that counts under the rule {design.ties}"
    return None


def _agreement(
    answer: _Answers,
    pairs: Pairs,
    design: SentenceDesign,
    chosen: BoolArray,
    intervals: Intervals | None,
) -> MetricAgreement:
    counts = answer.counts(chosen)
    fault = _fault(answer, counts, design)
    used = chosen & answer.known
    calibrated = tie_calibrated(pairs.outcome[used], answer.difference[used])
    if fault:
        none = Estimate(value=float("nan"), reason=fault)
        refused = (float("nan"), float("nan")) if counts.missing else calibrated
        return MetricAgreement(answer.signature, counts, none, none, refused)
    weights, cells = weights_of(design.ties), np.array(counts.cells)
    tau, accuracy = intervals or ((None, None), (None, None))
    return MetricAgreement(
        answer.signature,
        counts,
        _estimate(float(weights.tau_of(cells)), tau),
        _estimate(float(weights.accuracy_of(cells)), accuracy),
        calibrated,
    )


def _estimate(value: float, interval: tuple[float | None, float | None]) -> Estimate:
    low, high = interval
    reason = None
    if low is not None and math.isnan(low):
        reason = "a resample holds no pair that counts"
    elif low is not None and low == high:  # certain of nothing: it would have no width
        low, high, reason = math.nan, math.nan, SAME
    return Estimate(value=value, low=low, high=high, reason=reason)


def _intervals(
    answers: Mapping[str, _Answers], pairs: Pairs, design: SentenceDesign, chosen: BoolArray
) -> Iterator[tuple[str, Intervals]]:
    """Resample pairs, or the units that hold them; all metrics meet the same resamples of units."""
    if not answers:
        return
    if design.unit == "pair":
        for spelling, answer in answers.items():
            yield spelling, _pair_intervals(np.array(answer.counts(chosen).cells), design)
        return
    rows = _unit_rows(answers.values(), pairs, design, chosen)
    weights = weights_of(design.ties)
    groups = [PairedSamples(rows, weights.tau_of), PairedSamples(rows, weights.accuracy_of)]
    resampled = bootstrap(groups, resamples=design.resamples, seed=design.seed)
    for spelling, taus, accuracies in zip(answers, *resampled, strict=True):
        yield spelling, (_bounds(taus, design), _bounds(accuracies, design))


def _pair_intervals(cells: IntArray, design: SentenceDesign) -> Intervals:
    """Resample pairs: drawing n of them with replacement is one multinomial draw of the cells."""
    size, filled = int(cells.sum()), np.flatnonzero(cells)
    drawn = np.zeros((design.resamples, len(cells)), dtype=np.int64)
    shares = cells[filled] / size
    drawn[:, filled] = generator(design.seed).multinomial(size, shares, size=design.resamples)
    weights = weights_of(design.ties)
    return _bounds(weights.tau_of(drawn), design), _bounds(weights.accuracy_of(drawn), design)


def _bounds(values: FloatArray, design: SentenceDesign) -> tuple[float, float]:
    low, high = percentile_interval(values, design.confidence)
    return float(low), float(high)


def _unit_rows(
    answers: Iterable[_Answers], pairs: Pairs, design: SentenceDesign, chosen: BoolArray
) -> FloatArray:
    """Count the cells of each unit by metric, shape ``(metrics, units, 6)``."""
    units = np.zeros(len(pairs), dtype=np.int64)
    units[chosen] = unit_numbers(pairs.select(chosen), design.unit)
    return np.stack([answer.rows(units, chosen) for answer in answers])


def _permutation_pvalues(
    answers: Mapping[str, _Answers], pairs: Pairs, design: SentenceDesign
) -> PValues:
    """Swap the answers of two metrics in whole units: if they are as good, nothing changes."""
    complete = {spelling: answer for spelling, answer in answers.items() if answer.known.all()}
    names = list(combinations(range(len(complete)), 2))
    if not names:
        return {}
    numbers = np.array(names, dtype=np.int64)
    rows = _unit_rows(complete.values(), pairs, design, np.ones(len(pairs), dtype=np.bool_))
    weights = weights_of(design.ties)
    groups = [PairedSamples(rows, weights.tau_of), PairedSamples(rows, weights.accuracy_of)]
    pvalues = randomisation_pvalues(
        groups, [numbers, numbers], resamples=design.permutations, seed=design.seed
    )
    spellings = [tuple(np.array(list(complete))[pair].tolist()) for pair in numbers]
    return {
        name: dict(zip(spellings, values.tolist(), strict=True))
        for name, values in zip(("tau", "accuracy"), pvalues, strict=True)
    }
