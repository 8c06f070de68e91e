"""Sentence-level meta-evaluation: metrics that order the outputs of a sentence as judges do.

A pair is two systems whose outputs of one sentence one judge ranked. The human's preference is held
against the metric's, which is that of the two sentence scores, compared exactly; pooled over all
pairs that gives Kendall's tau and accuracy (Chollampatt & Ng 2018, Table 3; Kobayashi et al. 2024).

Soft pairwise accuracy (Thompson, Mathur, Deutsch & Khayrallah 2024, WMT) asks for metrics that are
as sure as people which of two systems is better: the p-value of a paired one-sided permutation test
by the metric is held against that by people. Here people gave rankings, no scores, so what is
permuted of a sentence is how often one system was preferred to the other, less the reverse.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from grammeter import core, ranking, stats
from grammeter.meta import sentence_design
from grammeter.meta.judged import JudgedScores, differences
from grammeter.meta.rated import rating_notes, with_ratings
from grammeter.meta.sentence_design import SentenceDesign
from grammeter.meta.sentence_level import Estimate, MetricAgreement, PairCounts, SentenceLevel
from grammeter.meta.sides import select_systems
from grammeter.meta.system import chosen_columns
from grammeter.ranking import Pairs, of_judges

NAN = math.nan


def correlate_sentences(
    table: core.ScoreTable, rankings: Sequence[core.Ranking],
    *, design: SentenceDesign | None = None, systems: Sequence[str] | None = None,
    drop: Sequence[str] = (), metrics: Sequence[str] | None = None,
    judges: Sequence[str] | None = None, per_judge: bool = False, per_rule: bool = False,
    criterion: str | None = None,
) -> SentenceLevel:  # fmt: skip
    """Hold the sentence scores of metrics against judgments of sentences with the same number.

    A metric without sentence scores has NaN with a reason. Who takes part is for
    :func:`~grammeter.meta.sides.select_systems` to say; the others that wrote the same as a system
    left out stay. ``metrics`` are spellings, ``judges`` those whose judgments count; by default
    all. ``per_judge`` measures each judge's pairs apart, too, ``per_rule`` all by every rule for
    ties. Where a ``criterion`` is named, the scores in rankings are ratings for it, and
    correlations with these numbers are given, too.

    It is a DataError if a system stands on one side only, a judged sentence has no scores or stands
    in several documents, or no two systems are compared; an UnknownNameError if there is no such
    system, metric or judge.
    """
    design = design or SentenceDesign()
    numbering = getattr(rankings, "numbering", None)  # Judgments have one
    _check_documents(rankings)
    columns = chosen_columns(table, metrics)
    alone = all(isinstance(column, JudgedScores) for column in columns.values())
    assumed = () if alone else getattr(rankings, "assumptions", ())
    notes = (*table.notes_on(columns), *ranking.notes_of(rankings), *assumed)
    names = sorted({name for one in rankings for name in one.systems})
    taking = set(select_systems(table.systems, names, systems=systems, drop=drop))
    judged = ranking.by_first_listed(of_judges(rankings, judges), design.pairs)
    if len(taking) < len(names):
        judged = [one.with_systems(taking) for one in judged]
    pairs = ranking.extract_pairs(judged, extraction=design.pairs)
    if not len(pairs):
        fault = "no two outputs of one sentence are ranked"
        raise core.DataError(fault, fix="Give judgments that rank at least two of the systems.")
    rated = [one.segment for one in judged if criterion is not None and one.scores is not None]
    last = max([int(pairs.segment.max()), *rated])
    _check_sentences(columns.values(), table.segments, last)
    unit = design.unit if design.resamples or design.permutations else None
    count, every = len(np.unique(pairs.ranking)), np.ones(len(pairs), dtype=np.bool_)
    judging = "+".join(pairs.judges) if judges else len(pairs.judges)
    settings = design.settings() | {"meta-systems": len(pairs.systems), "meta-judges": judging}
    settings |= {"meta-criterion": criterion} if criterion else {}
    settings |= {"meta-rankings": count} | ({"meta-first-segment": numbering} if numbering else {})
    sentences = len(np.unique(pairs.segment))
    size = f"{count} rankings of {sentences} sentences"
    few = [f"few judgments: {size}; tau and accuracy vary widely by chance"]
    few = few if sentences < ranking.FEW else []
    chosen = set(map(id, of_judges(rankings, judges)))
    places = np.array([at for at, one in enumerate(rankings) if id(one) in chosen])
    whole = replace(pairs, ranking=places[pairs.ranking])
    answers = {n: _Answers.of(column, whole, rankings, settings) for n, column in columns.items()}
    apart = {judge: _measure(answers, pairs, design, pairs.judge == number)
             for number, judge in enumerate(pairs.judges if per_judge else ())
             if (pairs.judge == number).any()}  # fmt: skip
    rules = {rule: _measure(answers, pairs, replace(design, ties=rule), every)
             for rule in (sentence_design.TIE_RULES if per_rule else ())}  # fmt: skip
    who = (pairs.systems, pairs.judges, count)
    measured = _measure(answers, pairs, design, every)
    if criterion is not None:
        measured = with_ratings(measured, columns, judged, design, table.segments)
        for judge, of in apart.items():
            theirs = of_judges(judged, [judge])
            apart[judge] = with_ratings(of, columns, theirs, design, table.segments)
        few += rating_notes(design)
    tests = _permutation_pvalues(answers, pairs, design)
    soft = soft_accuracies(columns, pairs, design.permutations, design.seed)
    said = tuple(dict.fromkeys([*notes, *few, *ranking.document_notes(pairs, unit)]))
    return SentenceLevel(design, *who, measured, apart, rules, tests, soft, said, criterion)


def _check_documents(rankings: Sequence[core.Ranking]) -> None:
    for segment, documents in core.repeated_segments(rankings).items():
        fault = f"sentence {segment} stands in several documents: {', '.join(documents[:3])}"
        fix = "Give the judgments of one document at a time, and its scores."
        raise core.DataError(f"{fault}; scores know sentences by number alone", fix=fix)


def _check_sentences(columns: Iterable[core.MetricScores], segments: int, last: int) -> None:
    if not any(column.segments for column in columns):
        fix = "Give the JSON of 'grammeter score -o FILE', or a TSV file with the header"
        fix += " 'metric system segment value'."
        raise core.DataError("these scores are of systems, not of sentences", fix=fix)
    if last > segments:
        fault = f"sentence {last} is judged, but scores end at sentence {segments}"
        fix = "Score the very sentences that were judged, and see whether the judgments count"
        fix += " from 0 or 1 (--first-segment)."
        raise core.DataError(fault, fix=fix)


@dataclass(frozen=True, eq=False)
class _Answers:
    """What one metric says of all pairs, arrays of shape ``(pairs,)``.

    The numbers of the ``cells``, by what ``difference`` the first system is better, whether both
    outputs have a ``known`` score; the ``reason`` why some have none.
    """

    signature: core.Signature
    cells: core.IntArray
    difference: core.FloatArray
    known: core.BoolArray
    reason: str | None

    @classmethod
    def of(
        cls, column: core.MetricScores, pairs: Pairs, rankings: Sequence[core.Ranking],
        settings: Mapping[str, object],
    ) -> "_Answers":  # fmt: skip
        higher = column.higher_is_better
        turned = {} if higher else {"meta-direction": "lower is better"}
        signature = column.signature.extended({**settings, **turned})
        lacking = [name for name in pairs.systems if name not in column.segments]
        if lacking:
            reason = f"no sentence scores of {', '.join(lacking)}"
            difference, known = np.zeros(len(pairs)), np.zeros(len(pairs), dtype=np.bool_)
        else:
            difference, known, same = differences(column, pairs, rankings)
            signature = signature.extended({} if same is None else {"meta-same-items": same})
            reason = None if known.all() else _first_missing(column, pairs, known)
        relation = np.sign(difference).astype(np.int64)
        cells = sentence_design.cell_numbers(pairs.outcome, relation, higher_is_better=higher)
        return cls(signature, cells, difference, known, reason)

    def counts(self, chosen: core.BoolArray) -> PairCounts:
        cells = np.bincount(self.cells[chosen & self.known], minlength=len(sentence_design.CELLS))
        return PairCounts(*cells.tolist(), missing=int((chosen & ~self.known).sum()))

    def rows(self, units: core.IntArray, chosen: core.BoolArray) -> core.FloatArray:
        """Count the cells of each unit, shape ``(units, 6)``."""
        used = chosen & self.known
        count = int(units.max(initial=-1)) + 1
        flat = np.bincount(
            units[used] * len(sentence_design.CELLS) + self.cells[used], minlength=count * 6
        )
        return flat.reshape(count, len(sentence_design.CELLS)).astype(np.float64)


def _first_missing(column: core.MetricScores, pairs: Pairs, known: core.BoolArray) -> str:
    at = int(np.flatnonzero(~known)[0])
    first, second = (pairs.systems[int(of[at])] for of in (pairs.first, pairs.second))
    segment = int(pairs.segment[at])
    if isinstance(column, JudgedScores) and column.ranked:
        return f"no judgment of {first} and {second} in sentence {segment}"
    scored = np.isfinite(column.segments[first].values[segment - 1])
    system = second if scored else first
    why = column.segments[system].reason
    return f"no score of {system} for sentence {segment}{f' ({why})' if why else ''}"


def _measure(
    answers: Mapping[str, _Answers], pairs: Pairs, design: SentenceDesign, chosen: core.BoolArray
) -> dict[str, MetricAgreement]:
    counts = {name: answer.counts(chosen) for name, answer in answers.items()}
    faults = {name: _fault(answer, counts[name], design) for name, answer in answers.items()}
    usable = {name: answer for name, answer in answers.items() if faults[name] is None}
    intervals: Mapping[str, Sequence[core.FloatArray]] = {}
    if design.resamples and usable:
        intervals = dict(_resampled(usable, counts, pairs, design, chosen))
    results: dict[str, MetricAgreement] = {}
    for name, answer in answers.items():
        used, cells = chosen & answer.known, np.array(counts[name].cells)
        calibrated = sentence_design.tie_calibrated(pairs.outcome[used], answer.difference[used])
        tau = accuracy = Estimate(value=NAN, reason=faults[name])
        if name in usable:
            again = intervals.get(name, (np.zeros(0),) * 2)
            values = (float(figure(cells)) for figure in design.weights.figures)
            both = zip(values, again, strict=True)
            tau, accuracy = (Estimate.of(*of, design.confidence) for of in both)
        elif counts[name].missing:
            calibrated = (NAN, NAN)
        results[name] = MetricAgreement(answer.signature, counts[name], tau, accuracy, calibrated)
    return results


def _fault(answer: _Answers, counts: PairCounts, design: SentenceDesign) -> str | None:
    if counts.missing and (design.missing == "refuse" or not counts.total):
        judged = counts.missing + counts.total
        lacking = f"{counts.missing} of {judged} pairs lack a score"
        return f"{answer.reason}; {lacking} (missing=drop leaves them out)"
    if not np.array(counts.cells) @ np.array(design.weights.counted):
        return f"no pair that counts under the rule {design.ties}"
    return None


def _resampled(
    answers: Mapping[str, _Answers], counts: Mapping[str, PairCounts], pairs: Pairs,
    design: SentenceDesign, chosen: core.BoolArray,
) -> Iterator[tuple[str, Sequence[core.FloatArray]]]:  # fmt: skip
    """Yield tau and accuracy of each resample of pairs, or of the units that hold them.

    All metrics meet the same resamples of units. To draw n pairs with replacement is one
    multinomial draw of the cells.
    """
    if design.unit == "pair":
        for name in answers:
            cells = np.array(counts[name].cells)
            size, filled = int(cells.sum()), np.flatnonzero(cells)
            drawn = np.zeros((design.resamples, len(cells)), dtype=np.int64)
            drawn[:, filled] = stats.generator(design.seed).multinomial(
                size, cells[filled] / size, size=design.resamples
            )
            yield name, [figure(drawn) for figure in design.weights.figures]
        return
    groups = _groups(answers.values(), pairs, design, chosen)
    resampled = stats.bootstrap(groups, resamples=design.resamples, seed=design.seed)
    yield from zip(answers, zip(*resampled, strict=True), strict=True)


def _groups(
    answers: Iterable[_Answers], pairs: Pairs, design: SentenceDesign, chosen: core.BoolArray
) -> list[stats.PairedSamples]:
    """Count the cells of each unit by metric, for tau and for accuracy."""
    units = np.zeros(len(pairs), dtype=np.int64)
    units[chosen] = ranking.unit_numbers(pairs.select(chosen), design.unit)
    rows = np.stack([answer.rows(units, chosen) for answer in answers])
    return [stats.PairedSamples(rows, figure) for figure in design.weights.figures]


def _permutation_pvalues(
    answers: Mapping[str, _Answers], pairs: Pairs, design: SentenceDesign
) -> dict[str, dict[tuple[str, str], float]]:
    """Swap the answers of two metrics in whole units: if they are as good, nothing changes."""
    complete = {spelling: answer for spelling, answer in answers.items() if answer.known.all()}
    if len(complete) < 2 or not design.permutations:
        return {}
    numbers = np.array(list(combinations(range(len(complete)), 2)), dtype=np.int64)
    groups = _groups(complete.values(), pairs, design, np.ones(len(pairs), dtype=np.bool_))
    pvalues = stats.randomisation_pvalues(
        groups, [numbers, numbers], resamples=design.permutations, seed=design.seed
    )
    return {name: dict(zip(combinations(complete, 2), values.tolist(), strict=True))
            for name, values in zip(("tau", "accuracy"), pvalues, strict=True)}  # fmt: skip


def soft_accuracies(
    columns: Mapping[str, core.MetricScores], pairs: Pairs, rounds: int, seed: int
) -> dict[str, Estimate]:
    """Return the soft pairwise accuracy of each metric on the judged sentences, 0 to 1.

    It is the mean of ``1 - |p_human - p_metric|`` over pairs of systems; NaN with a reason where a
    system has no score for one of these sentences. No rounds, no accuracies.
    """
    if not rounds:
        return {}
    human = swap_pvalues(human_differences(pairs), rounds=rounds, seed=seed)
    judged = np.unique(pairs.segment) - 1
    first, second = np.triu_indices(len(pairs.systems), 1)
    accuracies: dict[str, Estimate] = {}
    for name, column in columns.items():
        of_systems = [column.segments.get(system) for system in pairs.systems]
        values = np.array([of.values[judged] for of in of_systems if of is not None])
        if len(values) < len(of_systems) or not np.isfinite(values).all():
            reason = "a system has no score for a judged sentence"
            accuracies[name] = Estimate(value=math.nan, reason=reason)
            continue
        values *= 1.0 if column.higher_is_better else -1.0
        metric = swap_pvalues((values[first] - values[second]).T, rounds=rounds, seed=seed)
        accuracies[name] = Estimate(value=float(np.mean(1 - np.abs(human - metric))))
    return accuracies


def swap_pvalues(differences: core.FloatArray, *, rounds: int, seed: int) -> core.FloatArray:
    """Test for every two systems whether the first is better than the second, one-sided.

    Each round swaps the two systems in each sentence with probability one half, that is, turns
    the sign of the sentence's difference; rounds that equal the observed sum count half. So the
    p-value of "second better than first" is 1 less that of "first better", whatever the order of
    the names, and two systems without a difference have one half. ``differences`` have shape
    ``(sentences, pairs of systems)``, in any units, the p-values ``(pairs of systems,)``.
    """
    exact = stats.on_grid(differences[None])[0]
    observed = exact.sum(axis=0)
    random = stats.generator(seed)
    above = np.zeros(exact.shape[1])
    for some in stats.chunks(rounds, max(exact.shape)):
        signs = random.integers(0, 2, size=(some, len(exact))) * 2.0 - 1.0
        null = signs @ exact
        above += (null > observed).sum(axis=0) + (null == observed).sum(axis=0) / 2
    return above / rounds


def human_differences(pairs: Pairs) -> core.FloatArray:
    """Return preferences, first less second: ``(judged sentences, combinations of 2 systems)``."""
    sentences, row = np.unique(pairs.segment, return_inverse=True)
    cells = pairs.cells(row, len(sentences)).astype(np.float64)
    return cells[:, 0::3] - cells[:, 1::3]
