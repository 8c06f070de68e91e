"""Sentence-level meta-evaluation: does a metric order the outputs of a sentence as judges do?

A pair is two systems whose outputs of one sentence one judge ranked. The human's preference is
held against the metric's, which is that of the two sentence scores, compared exactly; pooled
over all pairs that gives Kendall's tau and accuracy (Chollampatt & Ng 2018, section 4.2; Kobayashi
et al. 2024). How ties count is a choice of its own: see :mod:`grammeter.meta.ties`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core.errors import DataError, UnknownNameError, UsageError
from grammeter.core.judgment import Ranking
from grammeter.core.score import json_number
from grammeter.core.signature import Signature
from grammeter.core.statistics import BoolArray, FloatArray, IntArray
from grammeter.core.table import MetricScores, ScoreTable
from grammeter.meta.chosen import chosen_systems
from grammeter.meta.ties import (
    AGAINST,
    BOTH,
    CELLS,
    CONCORDANT,
    DISCORDANT,
    HUMAN,
    WITH,
    TieRule,
    cell_numbers,
    tie_calibrated,
    weights_of,
)
from grammeter.ranking.bootstrap import UNITS, Unit, unit_numbers
from grammeter.ranking.pairs import Extraction, Pairs, extract_pairs
from grammeter.stats.resample import PairedSamples, bootstrap, generator, percentile_interval
from grammeter.stats.significance import randomisation_pvalues
from grammeter.version import __version__

KIND = "meta-sentence"

Missing = Literal["refuse", "drop"]
"""A metric without a score for a judged output has no value at all (Chollampatt & Ng 2018), or is
measured on the other pairs, which are counted."""

EXTRACTIONS: tuple[Extraction, ...] = get_args(Extraction)
MISSING: tuple[Missing, ...] = get_args(Missing)


@dataclass(frozen=True, kw_only=True)
class SentenceDesign:
    """How a metric is held against judgments: all that the signature of a result adds.

    Attributes
    ----------
    pairs
        ``expanded``: all systems behind an output are compared; ``unexpanded``: one of them.
    ties
        A rule of :data:`grammeter.meta.ties.RULES`.
    missing
        What a missing sentence score does.
    bootstrap, seed, unit, confidence
        Resamples (0: no interval), where chance starts, what is drawn as a whole, and the share
        that a percentile interval covers.
    permutations
        Rounds of the permutation test between metrics; 0: no test.

    Raises
    ------
    UsageError
        If a value is out of range or unknown.
    """

    pairs: Extraction = "expanded"
    ties: TieRule = "no-ties"
    missing: Missing = "refuse"
    bootstrap: int = 1000
    seed: int = 1
    unit: Unit = "sentence"
    confidence: float = 0.95
    permutations: int = 0

    def __post_init__(self) -> None:
        weights_of(self.ties)
        for kind, name, known in (
            ("extraction of pairs", self.pairs, EXTRACTIONS),
            ("resampling unit", self.unit, UNITS),
            ("rule for missing scores", self.missing, MISSING),
        ):
            if name not in known:
                raise UnknownNameError(kind, name, known)
        if min(self.bootstrap, self.seed, self.permutations) < 0 or not 0 < self.confidence < 1:
            raise UsageError(
                f"bootstrap={self.bootstrap}, permutations={self.permutations}, seed={self.seed},"
                f" confidence={self.confidence} is not possible",
                fix="Counts and seed are 0 or more, the confidence lies between 0 and 1.",
            )

    def settings(self) -> dict[str, object]:
        """Return what a signature shows; names are prefixed, for metrics have seeds, too."""
        shown: dict[str, object] = {
            "pairs": self.pairs,
            "ties": self.ties,
            "missing": self.missing,
            "bootstrap": self.bootstrap,
        }
        if self.bootstrap:
            shown["bootstrap-unit"] = self.unit
            shown["confidence"] = self.confidence
        if self.permutations:
            shown |= {"permutations": self.permutations, "permutation-unit": self.unit}
        if self.bootstrap or self.permutations:
            shown["meta-seed"] = self.seed
        return shown


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value and its bootstrap interval, ``None`` if there was no bootstrap.

    NaN has a ``reason``.
    """

    value: float
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the public shape; NaN becomes ``null`` with a reason."""
        named = {"value": self.value, "low": self.low, "high": self.high}
        data: dict[str, Any] = {k: json_number(v) for k, v in named.items() if v is not None}
        return data | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True)
class PairCounts:
    """How many pairs fall into each of :data:`grammeter.meta.ties.CELLS`, and without a score."""

    cells: tuple[int, ...]
    missing: int = 0

    @property
    def total(self) -> int:
        """All pairs with a score."""
        return sum(self.cells)

    @property
    def metric_ties(self) -> int:
        """Pairs that the metric alone ties."""
        return self.cells[AGAINST] + self.cells[WITH]

    @property
    def tie_share(self) -> float:
        """Share of the pairs that the metric ties, alone or with the human; NaN without pairs."""
        tied = self.metric_ties + self.cells[BOTH]
        return tied / self.total if self.total else float("nan")

    def to_json(self) -> dict[str, Any]:
        """Return the public shape."""
        ties = {
            "metric": self.metric_ties,
            "human": self.cells[HUMAN],
            "both": self.cells[BOTH],
            "metric_share": json_number(self.tie_share),
        }
        return {
            "n": self.total,
            "missing": self.missing,
            "concordant": self.cells[CONCORDANT],
            "discordant": self.cells[DISCORDANT],
            "ties": ties,
        }


@dataclass(frozen=True, kw_only=True)
class MetricAgreement:
    """How well one metric orders the outputs of a sentence.

    Attributes
    ----------
    tau, accuracy
        Under the design's rule for ties.
    calibrated
        ``acc_eq`` with the best threshold for ties, and this threshold in the metric's units;
        see :func:`grammeter.meta.ties.tie_calibrated`.
    """

    signature: Signature
    counts: PairCounts
    tau: Estimate
    accuracy: Estimate
    calibrated: tuple[float, float]

    def to_json(self) -> dict[str, Any]:
        """Return the public shape of one metric."""
        accuracy, epsilon = (json_number(number) for number in self.calibrated)
        calibrated: dict[str, Any] = {"accuracy": accuracy, "epsilon": epsilon}
        if accuracy is None:
            calibrated["reason"] = self.tau.reason or "no pair"
        return {
            "tau": self.tau.to_json(),
            "accuracy": self.accuracy.to_json(),
            **self.counts.to_json(),
            "tie_calibrated": calibrated,
            "signature": str(self.signature),
        }


PValues = Mapping[str, Mapping[tuple[str, str], float]]
"""``tau`` and ``accuracy`` -> two metrics -> two-sided p-value of their difference."""


@dataclass(frozen=True)
class SentenceLevel(Mapping[str, MetricAgreement]):
    """How well several metrics order the outputs of a sentence, by spelling.

    Attributes
    ----------
    rankings
        How many rankings gave at least one pair.
    by_judge
        The same figures for the judgments of each judge alone; empty unless asked for.
    pvalues
        Permutation tests between metrics that have all scores; empty unless asked for.
    """

    design: SentenceDesign
    systems: tuple[str, ...]
    judges: tuple[str, ...]
    rankings: int
    metrics: Mapping[str, MetricAgreement]
    by_judge: Mapping[str, Mapping[str, MetricAgreement]] = field(
        default_factory=dict[str, Mapping[str, MetricAgreement]]
    )
    pvalues: PValues = field(default_factory=dict[str, Mapping[tuple[str, str], float]])

    def __getitem__(self, spelling: str) -> MetricAgreement:
        if spelling not in self.metrics:
            raise UnknownNameError("metric in this result", spelling, self.metrics)
        return self.metrics[spelling]

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def to_json(self) -> dict[str, Any]:
        """Return the public shape."""
        data: dict[str, Any] = {
            "kind": KIND,
            "grammeter": __version__,
            "pairs": self.design.pairs,
            "ties": self.design.ties,
            "systems": list(self.systems),
            "judges": list(self.judges),
            "rankings": self.rankings,
            "metrics": _metrics_to_json(self.metrics),
        }
        if self.by_judge:
            data["by_judge"] = {j: _metrics_to_json(found) for j, found in self.by_judge.items()}
        if self.pvalues:
            data["permutation"] = {name: _nested(found) for name, found in self.pvalues.items()}
        return data


def correlate_sentences(
    table: ScoreTable,
    rankings: Sequence[Ranking],
    *,
    systems: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    judges: Sequence[str] | None = None,
    per_judge: bool = False,
    settings: Mapping[str, object] | None = None,
    **design: Any,
) -> SentenceLevel:
    """Hold the sentence scores of each metric against judgments of the same sentences.

    Parameters
    ----------
    table
        Scores with their sentences; a metric without them has NaN with a reason.
    rankings
        Judgments; their sentences are those of the scores with the same number.
    systems, drop
        As for :func:`grammeter.meta.chosen.chosen_systems`. A system left out leaves its group,
        too, so the other systems behind the output stay.
    judges
        Use the judgments of these alone.
    per_judge
        Measure each judge's pairs apart, too.
    settings
        What signatures show besides, the numbering of the judgments' sentences, say.
    **design
        The fields of :class:`SentenceDesign`.

    Raises
    ------
    DataError
        If systems stand on one side only, a judged sentence has no scores, or no pair is left.
    UsageError
        If an option is wrong.
    """
    chosen = SentenceDesign(**design)
    pairs = _judged_pairs(table, rankings, chosen, systems, drop)
    pairs = _of_judges(pairs, judges)
    _check_sentences(table, pairs)
    names = pairs.systems
    answers = {
        spelling: _Answers.of(column, pairs, chosen, dict(settings or {}))
        for spelling, column in table.items()
    }
    who = tuple(pairs.judges[number] for number in np.unique(pairs.judge))
    apart = {
        judge: _measure(answers, pairs, chosen, pairs.judge == pairs.judges.index(judge))
        for judge in (who if per_judge else ())
    }
    return SentenceLevel(
        chosen,
        names,
        who,
        len(np.unique(pairs.ranking)),
        _measure(answers, pairs, chosen, np.ones(len(pairs), dtype=np.bool_)),
        apart,
        _permutation_pvalues(answers, pairs, chosen) if chosen.permutations else {},
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
    def of(
        cls, column: MetricScores, pairs: Pairs, design: SentenceDesign, settings: dict[str, object]
    ) -> _Answers:
        signature = column.signature.extended(design.settings() | settings)
        lacking = [name for name in pairs.systems if name not in column.segments]
        if lacking:
            nothing = np.zeros(len(pairs))
            reason = f"no sentence scores of {', '.join(lacking)}"
            none = np.zeros(len(pairs), dtype=np.bool_)
            return cls(signature, nothing.astype(np.int64), nothing, none, reason)
        values = np.stack([column.segments[name].values for name in pairs.systems])
        first = values[pairs.first, pairs.segment - 1]
        second = values[pairs.second, pairs.segment - 1]
        known = np.isfinite(first) & np.isfinite(second)
        sign = 1 if column.higher_is_better else -1
        relation = sign * ((first > second).astype(np.int64) - (first < second))
        difference = np.where(known, sign * np.subtract(first, second, where=known), 0.0)
        cells = cell_numbers(pairs.outcome, relation, higher_is_better=sign > 0)
        reason = None if known.all() else _first_missing(column, pairs, np.isfinite(first), known)
        return cls(signature, cells, difference, known, reason)

    def counts(self, chosen: BoolArray) -> PairCounts:
        """Count the cells of some pairs."""
        cells = np.bincount(self.cells[chosen & self.known], minlength=len(CELLS))
        return PairCounts(tuple(cells.tolist()), int((chosen & ~self.known).sum()))

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
) -> Pairs:
    judged = {name for ranking in rankings for name in ranking.systems}
    names = set(chosen_systems(table.systems, judged, systems=systems, drop=drop))
    if names == judged:
        return extract_pairs(rankings, extraction=design.pairs)
    return extract_pairs([_restricted(r, names) for r in rankings], extraction=design.pairs)


def _restricted(ranking: Ranking, names: set[str]) -> Ranking:
    """Take systems out of a ranking, and groups that lose all theirs."""
    kept = [tuple(name for name in group if name in names) for group in ranking.groups]
    ranks = tuple(rank for group, rank in zip(kept, ranking.ranks, strict=False) if group)
    return replace(ranking, groups=tuple(group for group in kept if group), ranks=ranks)


def _of_judges(pairs: Pairs, judges: Sequence[str] | None) -> Pairs:
    for name in judges or ():
        if name not in pairs.judges:
            raise UnknownNameError("judge", name, pairs.judges)
    if judges is not None:
        pairs = pairs.select(np.isin(np.array(pairs.judges)[pairs.judge], list(judges)))
    if not len(pairs):
        raise DataError(
            "no two outputs of one sentence are ranked",
            fix="Give judgments that rank at least two of the systems.",
        )
    return pairs


def _check_sentences(table: ScoreTable, pairs: Pairs) -> None:
    last = int(pairs.segment.max())
    if not any(column.segments for column in table.values()):
        raise DataError(
            "these scores are of systems, not of sentences",
            fix="Give the JSON of 'grammeter score -o FILE', or a TSV file with the header"
            " 'metric system segment value'.",
        )
    if last > table.segments:
        raise DataError(
            f"sentence {last} is judged, but scores end at sentence {table.segments}",
            fix="Score the very sentences that were judged, and see whether the judgments count"
            " from 0 or 1 (--first-segment).",
        )


def _first_missing(
    column: MetricScores, pairs: Pairs, first_known: BoolArray, known: BoolArray
) -> str:
    at = int(np.flatnonzero(~known)[0])
    system = pairs.systems[int((pairs.second if first_known[at] else pairs.first)[at])]
    why = column.segments[system].reason
    return (
        f"no score of {system} for sentence {pairs.segment[at]}"
        f"{f' ({why})' if why else ''}, {int((~known).sum())} of {len(pairs)} pairs have none"
    )


def _measure(
    answers: Mapping[str, _Answers], pairs: Pairs, design: SentenceDesign, chosen: BoolArray
) -> dict[str, MetricAgreement]:
    intervals = _intervals(answers, pairs, design, chosen) if design.bootstrap else {}
    return {
        spelling: _agreement(answer, pairs, design, chosen, intervals.get(spelling, (None, None)))
        for spelling, answer in answers.items()
    }
