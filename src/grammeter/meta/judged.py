"""Comparisons turned into scores of systems: people's, judges', and a metric's sentence scores.

Judges may stand in the place of metrics. A judge of one item orders the outputs that it shows, so a
rank means something beside the other ranks of its item alone. Hence, where ranks are all there is:

- two systems are compared in each item that shows both; what several items of one sentence say of
  the two is added up (:attr:`JudgedScores.rankings`, which ``meta sentence`` reads);
- a single number for a system's sentence is the share of the other outputs of the item that it
  beats, a tie by half, the mean over the items of the sentence. Where each sentence has one item,
  it orders outputs as the ranks do.

Where judges gave scores, these are the metric: the mean over the judgments of a sentence; outputs
without a score are missing. A system's score is that of a ranking method or, by scores, the mean
over its sentences.

Against people who were shown the very same item, a judge is held by what it said in this item
alone (:func:`differences`), as in Kobayashi et al. 2024: a score may depend on the outputs beside.

A metric's sentence scores are as a rule averaged. Goto et al. 2025 aggregate both sides in one way:
each sentence's scores are a ranking of the systems, and go through the same method as people's.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from grammeter import core
from grammeter.ranking import Pairs, extract_pairs, method_of, notes_of, notes_of_few, select

MEAN = "mean"
"""The way of scoring systems that takes the judges' own scores."""

Aggregate = Literal["mean", "expected-wins", "trueskill", "bradley-terry"]
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)


@dataclass(frozen=True, eq=False)
class JudgedScores(core.MetricScores, over="scores", what="system"):
    """Judgments as scores of a metric, by their ranks (``ranked``) or the scores in them.

    ``by``: how systems are scored; ``rankings`` are all judgments, those that were skipped, too.
    """

    rankings: tuple[core.Ranking, ...] = ()
    ranked: bool = False
    by: str = MEAN


def human_scores(
    rankings: Sequence[core.Ranking], *, by: str = "expected-wins"
) -> tuple[dict[str, float], core.Signature, tuple[str, ...]]:
    """Score systems by all judgments without resampling: scores, NaN for none, signature, notes."""
    method, chosen = method_of(by), select(rankings)
    scores = method.score(*chosen.pairs.counts())
    shown = {**method.settings(len(chosen.pairs)), **chosen.shown}
    by_system = dict(zip(chosen.pairs.systems, scores.tolist(), strict=True))
    return by_system, core.Signature.of(method.name, shown), chosen.notes


def judged_table(
    rankings: Sequence[core.Ranking], name: str, *, by: str = "expected-wins", segments: int = 0
) -> core.ScoreTable:
    """Turn judgments into a table of scores with one metric, called ``name``.

    Systems are scored ``by`` a method of :func:`grammeter.rank`, or the ``mean`` of the scores that
    the judges gave. There are so many ``segments``, if more than the last one that was judged.
    Sentences that nobody judged are NaN. A system that the method cannot score is NaN with a
    reason. If nothing is judged this raises DataError; if means are asked for and no judgment has
    scores, or there is no such method, UsageError.
    """
    judged = [ranking for ranking in rankings if ranking.ranks and not ranking.skipped]
    if not judged:
        raise core.DataError(f"{name}: nothing is judged, all items are skipped", fix="Judge some.")
    scored = [ranking for ranking in judged if has_scores(ranking)]
    if by == MEAN and not scored:
        fault = f"{name}: the judgments have ranks, but no scores to average"
        fix = "Leave '--by mean' out: ranks make scores by expected-wins, trueskill or"
        fix += " bradley-terry."
        raise core.UsageError(fault, fix=fix)
    size = max(segments, *(ranking.segment for ranking in judged))
    answers = [ranking.scores or () for ranking in scored] or [_shares(of) for of in judged]
    values = means(scored or judged, answers, size)
    systems = tuple(sorted({system for ranking in judged for system in ranking.systems}))
    values = {system: np.full(size, np.nan) for system in systems} | values
    level, shown = _system_level(judged, values, by)
    settings = {"scores": "judgments", "values": "scores" if scored else "ranks"}
    signature = core.Signature.of(
        name, {**settings, "judges": len({r.judge for r in judged}), **shown}
    )
    by_system = {system: level.get(system, math.nan) for system in systems}
    scores = _scores(by_system, signature, size, "the judgments do not tell")
    nothing = np.full(size, -1, dtype=np.int64)
    sentences = {s: core.SegmentScores(row, nothing, {}, "not judged") for s, row in values.items()}
    column = JudgedScores(
        name, signature, True, scores, sentences, rankings=tuple(rankings), ranked=not scored, by=by
    )
    few = notes_of_few(extract_pairs(judged))
    due = [ranking for ranking in judged if scored and len(ranking.groups) > 1]
    lacking = sum(None in (ranking.scores or (None,)) for ranking in due)
    some = f"{name}: {lacking} of {len(judged)} judgments lack scores of outputs: they are missing"
    notes = [*notes_of(rankings), *([some] if lacking else []), *few]
    return core.ScoreTable(systems, size, {name: column}, about=tuple(dict.fromkeys(notes)))


def ranked_table(ranked: core.Ranked, name: str) -> core.ScoreTable:
    """Turn a ranking into a table with the scores of its systems."""
    settings = {"scores": "ranking", **{k: v for k, v in ranked.signature if k != "version"}}
    signature = core.Signature.of(name, {**settings, "method": ranked.method})
    scores = {s: core.Score(r.score, signature, 0, reason=r.reason) for s, r in ranked.items()}
    column = core.MetricScores(name, signature, True, scores)
    return core.ScoreTable(tuple(ranked), 0, {name: column}, about=ranked.notes)


def preferences(column: JudgedScores, pairs: Pairs) -> tuple[core.FloatArray, core.FloatArray]:
    """Say of pairs of systems in sentences which of the two the judges prefer.

    Shape ``(pairs,)``: of the items that show both, how many more prefer the first one, divided by
    the number of the items, 0 where there is none; and this number.
    """
    size, systems = len(pairs.systems), set(pairs.systems)
    judged = extract_pairs([ranking.with_systems(systems) for ranking in column.rankings])
    number = np.searchsorted(pairs.systems, judged.systems)  # both are in alphabetical order
    wanted = (pairs.segment * size + pairs.first) * size + pairs.second
    answered = (judged.segment * size + number[judged.first]) * size + number[judged.second]
    known, at = np.unique(np.concatenate([wanted, answered]), return_inverse=True)
    places, cells = at[: len(wanted)], at[len(wanted) :]
    wins = np.bincount(cells, weights=judged.outcome, minlength=len(known))[places]
    items = np.bincount(cells, minlength=len(known))[places].astype(np.float64)
    return wins / np.maximum(items, 1), items


def differences(
    column: core.MetricScores, pairs: Pairs, rankings: Sequence[core.Ranking]
) -> tuple[core.FloatArray, core.BoolArray, int | None]:
    """Return by how much the first system of each pair is better, 0 where unknown; where it is.

    ``pairs`` number the ``rankings``. Also how many of these were items that a judge was shown,
    too, ``None`` if it is no judge.
    """
    if isinstance(column, JudgedScores) and column.ranked:
        difference, items = preferences(column, pairs)
        known = items > 0
    else:
        values = np.stack([column.segments[name].values for name in pairs.systems])
        first, second = (values[of, pairs.segment - 1] for of in (pairs.first, pairs.second))
        known = np.isfinite(first) & np.isfinite(second)
        difference = np.subtract(first, second, out=np.zeros(len(pairs)), where=known)
        difference *= 1 if column.higher_is_better else -1
    if not isinstance(column, JudgedScores):
        return difference, known, None
    answers, names = _in_items(column, rankings), pairs.systems
    numbers: list[int] = pairs.ranking.tolist()
    for at, number in enumerate(numbers):
        if (said := answers[number]) is not None:
            first, second = (names[int(of[at])] for of in (pairs.first, pairs.second))
            known[at] = first in said and second in said
            difference[at] = said[first] - said[second] if known[at] else 0
    same = sum(answers[number] is not None for number in set(numbers))
    return difference, known, same


def _in_items(
    column: JudgedScores, rankings: Sequence[core.Ranking]
) -> list[Mapping[str, float] | None]:
    """Return what the judge said in the item of each ranking, by system, the mean of several times.

    ``None`` if it was shown another item; a system without a score is absent.
    """
    answers: list[Mapping[str, float] | None] = []
    for same in in_same_item(rankings, column.rankings):
        values: dict[str, list[float]] = {}
        for one in same:
            said = [-float(rank) for rank in one.ranks] if column.ranked else one.scores or ()
            said = (0.0,) if len(one.groups) == 1 else said  # equal outputs need no judge
            for group, value in zip(one.groups, said, strict=False):  # a skipped one has none
                if value is not None:
                    for name in group:
                        values.setdefault(name, []).append(value)
        means = {name: sum(of) / len(of) for name, of in values.items()}
        answers.append(means if same else None)
    return answers


def in_same_item(
    rankings: Sequence[core.Ranking], others: Sequence[core.Ranking]
) -> list[Sequence[core.Ranking]]:
    """Return for each ranking the others of its item: its sentence, its outputs side by side.

    Where there are as many of an item as rankings, the first belongs to the first ranking, and so
    on; else all belong to each.
    """
    there = defaultdict[object, list[core.Ranking]](list)
    for other in others:
        there[_item(other)].append(other)
    times, seen = Counter(map(_item, rankings)), Counter[object]()
    found: list[Sequence[core.Ranking]] = []
    for item in map(_item, rankings):
        same = there.get(item, [])
        found.append(same[seen[item] :][:1] if len(same) == times[item] else same)
        seen[item] += 1
    return found


def _item(ranking: core.Ranking) -> object:
    return ranking.segment, frozenset(map(frozenset, ranking.groups))


def has_scores(ranking: core.Ranking) -> bool:
    """Whether a judge gave an output a score."""
    return any(score is not None for score in ranking.scores or ())


def _system_level(
    judged: Sequence[core.Ranking], values: Mapping[str, core.FloatArray], by: str
) -> tuple[Mapping[str, float], dict[str, object]]:
    shown: dict[str, object] = {"by": by}
    if by == MEAN:
        there = {system: row[np.isfinite(row)] for system, row in values.items()}
        return {system: float(row.mean()) for system, row in there.items() if len(row)}, shown
    try:
        scores, signature, _ = human_scores(judged, by=by)
    except core.DataError:  # nothing is decided: each sentence may be of use all the same
        return {}, shown
    return scores, shown | {k: v for k, v in signature if k not in ("version", "judges")}


def _shares(ranking: core.Ranking) -> Sequence[float | None]:
    ranks = np.array(ranking.ranks)
    others = len(ranks) - 1
    beaten = (int((ranks > rank).sum()) + (int((ranks == rank).sum()) - 1) / 2 for rank in ranks)
    return [share / others if others else None for share in beaten]


def means(
    judged: Sequence[core.Ranking], answers: Sequence[Sequence[float | None]], segments: int
) -> dict[str, core.FloatArray]:
    """Average what the judgments of a sentence say of a system; NaN where nobody judged it.

    ``answers`` has a number, or ``None``, for each group of each judgment; the result for each
    system those of sentences, shape ``(segments,)``.
    """
    sums: dict[str, core.FloatArray] = {}
    for ranking, values in zip(judged, answers, strict=True):
        for group, value in zip(ranking.groups, values, strict=True):
            if value is not None:
                for system in group:
                    rows = sums.setdefault(system, np.zeros((2, segments)))
                    rows[:, ranking.segment - 1] += value, 1
    return {system: np.divide(total, count, out=np.full(segments, np.nan), where=count > 0)
            for system, (total, count) in sums.items()}  # fmt: skip


def _scores(
    values: Mapping[str, float], signature: core.Signature, n: int, reason: str
) -> dict[str, core.Score]:
    return {system: core.Score(value, signature, n, reason=reason if math.isnan(value) else None)
            for system, value in values.items()}  # fmt: skip


def with_aggregates(table: core.ScoreTable, aggregates: Sequence[Aggregate]) -> core.ScoreTable:
    """Add a column for each metric and way of aggregating: ``m2 by trueskill``.

    DataError if a metric has no sentence scores of a system.
    """
    columns: dict[str, core.MetricScores] = {}
    for name, column in table.items():
        columns[name] = column
        columns |= {f"{name} by {by}": aggregated(name, column, by) for by in aggregates}
    return replace(table, columns=columns)


def aggregated(name: str, column: core.MetricScores, by: Aggregate) -> core.MetricScores:
    """Score systems by a metric's sentence scores; see :func:`with_aggregates`."""
    core.UnknownNameError.check("way of aggregating", by, AGGREGATES)
    missing = [system for system in column if system not in column.segments]
    if missing:
        fix = "Aggregate what 'grammeter score -o FILE' wrote, or a file with segments."
        raise core.DataError(f"{name}: no sentence scores of {', '.join(missing)}", fix=fix)
    values = np.array([column.segments[system].values for system in column])
    n, new = values.shape[1], f"{column.metric} by {by}"
    if by == "mean":
        scores, shown, reason = values.mean(axis=1), {"sentences": n}, "sentences without a score"
    else:
        wins, ties = comparisons(values if column.higher_is_better else -values)
        method, reason, tied = method_of(by), "no decided comparison", int(ties.sum() // 2)
        shown: dict[str, object] = {"comparisons": int(wins.sum()) + tied, "tied": tied}
        scores = np.full(len(values), math.nan)
        if wins.any():
            # the prefix keeps the method's settings apart from the metric's of the same name
            settings = method.settings(int(wins.sum()) + tied)
            shown = {f"aggregate-{key}": value for key, value in settings.items()} | shown
            scores = method.score(wins, ties)
    signature = column.signature.extended({"aggregate": by, **shown})
    final = _scores(dict(zip(column, scores.tolist(), strict=True)), signature, n, reason)
    if by == "mean":
        return core.MetricScores(new, signature, column.higher_is_better, final, column.segments)
    return core.MetricScores(new, signature, True, final)


def comparisons(values: core.FloatArray) -> tuple[core.IntArray, core.IntArray]:
    """Count how often the row's system beats the column's, and how often they tie.

    ``values`` have shape ``(systems, sentences)``, higher is better; a sentence without a score
    (NaN) of one of the two compares nothing. The counts have shape ``(systems, systems)``.
    """
    wins, ties = (
        np.array([compare(row, values).sum(axis=1) for row in values], dtype=np.int64)
        for compare in (np.greater, np.equal)
    )
    np.fill_diagonal(ties, 0)
    return wins, ties
