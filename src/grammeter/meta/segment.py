"""Sentence-level meta-evaluation: metrics that order the outputs of a sentence as judges do.

A pair is two systems whose outputs of one sentence one judge ranked. The human's preference is
held against the metric's, which is that of the two sentence scores, compared exactly; pooled
over all pairs that gives Kendall's tau and accuracy (Chollampatt & Ng 2018, Table 3;
Kobayashi et al. 2024).
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
from grammeter.meta.sentence_design import CELLS, SentenceDesign, cell_numbers, tie_calibrated
from grammeter.meta.sentence_level import (
    Estimate,
    MetricAgreement,
    PairCounts,
    PValues,
    SentenceLevel,
)
from grammeter.meta.sides import select_systems
from grammeter.meta.soft import soft_accuracies
from grammeter.ranking import (
    FEW,
    Pairs,
    by_first_listed,
    extract_pairs,
    notes_of,
    of_judges,
    unit_numbers,
)
from grammeter.stats import (
    SAME,
    PairedSamples,
    bootstrap,
    generator,
    percentile_interval,
    randomisation_pvalues,
)

NAN = math.nan


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
        Who takes part, see :func:`~grammeter.meta.sides.select_systems`. The others that
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
    count = len(np.unique(pairs.ranking))
    settings = design.settings() | {
        "meta-systems": len(pairs.systems),
        "meta-judges": "+".join(pairs.judges) if judges else len(pairs.judges),
        "meta-rankings": count,
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
        count,
        _measure(answers, pairs, design, np.ones(len(pairs), dtype=np.bool_)),
        apart,
        _permutation_pvalues(answers, pairs, design) if design.permutations else {},
        soft_accuracies(columns, pairs, design.permutations, design.seed),
        tuple(dict.fromkeys([*notes, *_few(pairs, count)])),
    )


# --- what is compared ----------------------------------------------------------------------


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
    rankings = by_first_listed(of_judges(rankings, judges), design.pairs)
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


def _few(pairs: Pairs, rankings: int) -> Iterator[str]:
    sentences = len(np.unique(pairs.segment))
    if sentences < FEW:
        yield (
            f"few judgments: {rankings} rankings of {sentences} sentences; tau and accuracy vary"
            " widely by chance"
        )


@dataclass(frozen=True, eq=False)
class _Answers:
    """What one metric says of all pairs.

    ``cells`` are the numbers of the cells, ``difference`` is by how much the first system is
    better, ``known`` whether both outputs have a score: shape ``(pairs,)``. ``reason`` says why
    some have none.
    """

    signature: Signature
    cells: IntArray
    difference: FloatArray
    known: BoolArray
    reason: str | None

    @classmethod
    def of(cls, column: MetricScores, pairs: Pairs, settings: Mapping[str, object]) -> _Answers:
        higher = column.higher_is_better
        turned = {} if higher else {"meta-direction": "lower is better"}
        signature = column.signature.extended({**settings, **turned})
        lacking = [name for name in pairs.systems if name not in column.segments]
        if lacking:
            nothing = np.zeros(len(pairs))
            cells, known = nothing.astype(np.int64), nothing.astype(np.bool_)
            reason = f"no sentence scores of {', '.join(lacking)}"
            return cls(signature, cells, nothing, known, reason)
        difference, known = _differences(column, pairs)
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
    segment = int(pairs.segment[at])
    if isinstance(column, JudgedScores) and column.rankings:
        return f"no judgment of {first} and {second} in sentence {segment}"
    scored = np.isfinite(column.segments[first].values[segment - 1])
    system = second if scored else first
    why = column.segments[system].reason
    return f"no score of {system} for sentence {segment}{f' ({why})' if why else ''}"


# --- tau and accuracy ----------------------------------------------------------------------


def _measure(
    answers: Mapping[str, _Answers], pairs: Pairs, design: SentenceDesign, chosen: BoolArray
) -> dict[str, MetricAgreement]:
    counts = {name: answer.counts(chosen) for name, answer in answers.items()}
    faults = {name: _fault(answer, counts[name], design) for name, answer in answers.items()}
    usable = {name: answer for name, answer in answers.items() if faults[name] is None}
    intervals: Mapping[str, Sequence[FloatArray]] = {}
    if design.resamples and usable:
        intervals = dict(_resampled(usable, counts, pairs, design, chosen))
    results: dict[str, MetricAgreement] = {}
    for name, answer in answers.items():
        used, cells = chosen & answer.known, np.array(counts[name].cells)
        calibrated = tie_calibrated(pairs.outcome[used], answer.difference[used])
        tau = accuracy = Estimate(value=NAN, reason=faults[name])
        if faults[name] is None:
            again = intervals.get(name, (None, None))
            values = design.weights.tau_of(cells), design.weights.accuracy_of(cells)
            tau, accuracy = (
                _estimate(float(value), resampled, design)
                for value, resampled in zip(values, again, strict=True)
            )
        elif counts[name].missing:
            calibrated = (NAN, NAN)
        results[name] = MetricAgreement(answer.signature, counts[name], tau, accuracy, calibrated)
    return results


def _fault(answer: _Answers, counts: PairCounts, design: SentenceDesign) -> str | None:
    """Say why a metric has no value."""
    if counts.missing and (design.missing == "refuse" or not counts.total):
        judged = counts.missing + counts.total
        lacking = f"{counts.missing} of {judged} pairs lack a score"
        return f"{answer.reason}; {lacking} (missing=drop leaves them out)"
    if not np.array(counts.cells) @ np.array(design.weights.counted):
        return f"no pair that counts under the rule {design.ties}"
    return None


def _estimate(value: float, resampled: FloatArray | None, design: SentenceDesign) -> Estimate:
    if resampled is None:
        return Estimate(value=value)
    low, high = (float(end) for end in percentile_interval(resampled, design.confidence))
    reason = "a resample holds no pair that counts" if math.isnan(low) else None
    if low == high:  # certain of nothing: it would have no width
        low, high, reason = NAN, NAN, SAME
    return Estimate(value=value, low=low, high=high, reason=reason)


def _resampled(
    answers: Mapping[str, _Answers],
    counts: Mapping[str, PairCounts],
    pairs: Pairs,
    design: SentenceDesign,
    chosen: BoolArray,
) -> Iterator[tuple[str, Sequence[FloatArray]]]:
    """Yield tau and accuracy of each resample of pairs, or of the units that hold them.

    All metrics meet the same resamples of units. To draw n pairs with replacement is one
    multinomial draw of the cells.
    """
    if design.unit == "pair":
        for name in answers:
            cells = np.array(counts[name].cells)
            size, filled = int(cells.sum()), np.flatnonzero(cells)
            drawn = np.zeros((design.resamples, len(cells)), dtype=np.int64)
            drawn[:, filled] = generator(design.seed).multinomial(
                size, cells[filled] / size, size=design.resamples
            )
            yield name, (design.weights.tau_of(drawn), design.weights.accuracy_of(drawn))
        return
    groups = _groups(answers.values(), pairs, design, chosen)
    resampled = bootstrap(groups, resamples=design.resamples, seed=design.seed)
    yield from zip(answers, zip(*resampled, strict=True), strict=True)


def _groups(
    answers: Iterable[_Answers], pairs: Pairs, design: SentenceDesign, chosen: BoolArray
) -> list[PairedSamples]:
    """Count the cells of each unit by metric, for tau and for accuracy."""
    units = np.zeros(len(pairs), dtype=np.int64)
    units[chosen] = unit_numbers(pairs.select(chosen), design.unit)
    rows = np.stack([answer.rows(units, chosen) for answer in answers])
    figures = (design.weights.tau_of, design.weights.accuracy_of)
    return [PairedSamples(rows, figure) for figure in figures]


def _permutation_pvalues(
    answers: Mapping[str, _Answers], pairs: Pairs, design: SentenceDesign
) -> PValues:
    """Swap the answers of two metrics in whole units: if they are as good, nothing changes."""
    complete = {spelling: answer for spelling, answer in answers.items() if answer.known.all()}
    if len(complete) < 2:
        return {}
    numbers = np.array(list(combinations(range(len(complete)), 2)), dtype=np.int64)
    groups = _groups(complete.values(), pairs, design, np.ones(len(pairs), dtype=np.bool_))
    pvalues = randomisation_pvalues(
        groups, [numbers, numbers], resamples=design.permutations, seed=design.seed
    )
    return {
        name: dict(zip(combinations(complete, 2), values.tolist(), strict=True))
        for name, values in zip(("tau", "accuracy"), pvalues, strict=True)
    }
