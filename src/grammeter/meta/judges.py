"""What a judge's own answers say of it: how sure it is, and whether place or length sways it.

Every figure is a function of sums over items, shape ``(items, k)``, so that one bootstrap of the
items serves all. Formulas stand in the manual, concepts/judge-the-judge.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product
from typing import Any, cast

import numpy as np

from grammeter.core import DataError, FloatArray, Ranking, UnknownNameError
from grammeter.errant import NEUTRAL, annotator
from grammeter.formats import Corpus
from grammeter.meta.judged import in_same_item
from grammeter.meta.sentence_level import Estimate
from grammeter.stats import PairedSamples, bootstrap

ValueOf = Callable[[FloatArray], FloatArray]
"""Sums ``(..., k)`` to values ``(...)``, NaN where there is nothing to divide by."""

Sums = dict[str, tuple[FloatArray, ValueOf]]
"""Sums over items, shape ``(items, k)``, by the name of the figure made of them."""


Answer = Mapping[int, float]
"""A usable reply: the score of each group, by its number from 0, in the order shown."""


def answers_of(ranking: Ranking) -> list[Answer]:
    """Return the replies to an item that have a score for each output they were shown."""
    usable: list[Answer] = []
    for reply in ranking.replies:
        both: tuple[object, object] = reply.get("order"), reply.get("scores")
        order, scores = (cast("list[Any]", of) if isinstance(of, list) else [] for of in both)
        if scores and len(order) == len(scores):
            by_group: dict[int, Any] = dict(zip(order, scores, strict=True))
            values = {g: float(of) for g, of in by_group.items() if isinstance(of, int | float)}
            if by_group.keys() <= {*range(len(ranking.groups))} and len(values) == len(order):
                usable.append(values)
    return usable


def judgments_of(ranking: Ranking) -> list[Ranking]:
    """Return a judgment for each usable reply to an item; the item itself if there is none."""
    said: list[Ranking] = []
    for answer in answers_of(ranking):
        scores = [answer[number] for number in sorted(answer)]
        best = sorted(set(scores), reverse=True)
        groups = tuple(ranking.groups[number] for number in sorted(answer))
        ranks = tuple(1 + best.index(score) for score in scores)
        one = replace(ranking, groups=groups, ranks=ranks, scores=tuple(scores), replies=())
        said.append(replace(one, skipped=False))
    return said or [ranking]


# --- sums ----------------------------------------------------------------------------------
def again(items: Sequence[Sequence[Answer]]) -> dict[str, FloatArray]:
    """Compare what two answers to one item say of two outputs, each shape ``(items, 5)``.

    ``same``: answers in the same order; ``swapped``: in orders that show the two outputs the other
    way round. Columns: equal verdicts (better, tied, worse), all, ties in both answers; absolute
    differences of an output's two scores (in the same order, or in any two orders), their number.
    """
    sums = {name: np.zeros((len(items), 5)) for name in ("same", "swapped")}
    for at, answers in enumerate(items):
        groups = sorted({group for answer in answers for group in answer})
        scores = np.array([[of.get(group, math.nan) for group in groups] for of in answers])
        shown = [dict(zip(of, range(len(of)), strict=True)) for of in answers]
        places = np.array([[of.get(group, -1) for group in groups] for of in shown])
        if len(answers) < 2:
            continue
        (one, two), (i, j) = np.triu_indices(len(answers), 1), np.triu_indices(len(groups), 1)
        verdicts = np.sign(scores[:, i] - scores[:, j])
        turned = (places[:, i] < places[:, j])[one] != (places[:, i] < places[:, j])[two]
        alike = (places[one] == places[two]).all(axis=1)[:, None]
        known = np.isfinite(verdicts[one] + verdicts[two])
        apart = np.abs(scores[one] - scores[two])
        equal, ties = verdicts[one] == verdicts[two], (verdicts == 0).astype(np.int64)
        same, swapped = ("same", known & alike, alike), ("swapped", known & turned, ~alike)
        for name, pairs, rows in same, swapped:
            compared = apart[np.isfinite(apart) & rows]
            counts = (equal & pairs).sum(), pairs.sum(), (ties[one] + ties[two])[pairs].sum()
            sums[name][at] = *counts, compared.sum(), len(compared)
    return sums


def by_place(items: Sequence[Sequence[Answer]], places: int) -> FloatArray:
    """Add up scores by the place where outputs were shown, shape ``(items, 2 * places)``."""
    rows = np.zeros((len(items), places, 2))
    for row, answers in zip(rows, items, strict=True):
        for answer in answers:
            for place, score in enumerate(answer.values()):
                row[place] += score, 1
    return rows.reshape(len(items), -1)


def within(x: Sequence[float], y: Sequence[float]) -> FloatArray:
    """Return what correlates two columns of one item: shape ``(6,)``.

    Products and squares of the deviations from the item's means; over pairs of outputs, concordant
    less discordant ones, those that differ in ``x``, and those in ``y``.
    """
    a, b = np.array(x, dtype=np.float64), np.array(y, dtype=np.float64)
    first, second = np.triu_indices(len(a), 1)
    da, db = np.sign(a[first] - a[second]), np.sign(b[first] - b[second])
    a, b = (of - of.mean() if len(of) else of for of in (a, b))
    return np.array([a @ b, a @ a, b @ b, da @ db, da @ da, db @ db])


def swayed(items: Sequence[Sequence[tuple[Sequence[float], Sequence[float]]]]) -> FloatArray:
    """Add up :func:`within` over the columns of each item, shape ``(items, 6)``."""
    rows = [sum((within(x, y) for x, y in columns), np.zeros(6)) for columns in items]
    return np.array(rows).reshape(-1, 6)


# --- values --------------------------------------------------------------------------------
def ratio(above: int, below: int) -> ValueOf:
    """Return the function that divides one sum by another."""
    return lambda sums: _divided(sums[..., above], sums[..., below])


def changed(sums: FloatArray) -> FloatArray:
    """Return the share of verdicts that differ, of sums of :func:`again`."""
    return 1 - _divided(sums[..., 0], sums[..., 1])


def kappa(sums: FloatArray) -> FloatArray:
    """Return kappa, of sums of :func:`again`; "better" and "worse" are equally likely by chance."""
    tied = _divided(sums[..., 2], 2 * sums[..., 1])
    chance = tied**2 + (1 - tied) ** 2 / 2
    return _divided(1 - changed(sums) - chance, 1 - chance)


def pooled(first: int) -> ValueOf:
    """Return a correlation of sums of :func:`swayed`: Pearson's within items (0), tau-b (3)."""
    return lambda sums: _divided(
        sums[..., first], np.sqrt(sums[..., first + 1] * sums[..., first + 2])
    )


def _divided(above: FloatArray, below: FloatArray) -> FloatArray:
    known = below > 1e-12
    return np.where(known, above / np.where(known, below, 1), np.nan)


def estimates(
    figures: Sums, *, resamples: int, seed: int, confidence: float
) -> dict[str, Estimate]:
    """Compute figures of sums, with percentile intervals; all meet the same resampled items."""
    samples = [PairedSamples(rows[None], value_of) for rows, value_of in figures.values()]
    drawn = bootstrap(samples, resamples=resamples, seed=seed)
    of = zip(figures, samples, drawn, strict=True)
    return {name: Estimate.of(float(one.observed[0]), again[0], confidence, "nothing to measure")
            for name, one, again in of}  # fmt: skip


# --- beside people -------------------------------------------------------------------------
def same_items(
    run: Sequence[Ranking], people: Sequence[Ranking]
) -> Iterator[tuple[Ranking, Ranking]]:
    """Yield a judge's item and people's, as :func:`in_same_item` has it, without skipped ones."""
    for ours, theirs in zip(run, in_same_item(run, people), strict=True):
        yield from ((ours, one) for one in theirs if ours.ranks and one.ranks)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two outputs of a sentence that a judge and people order the other way round.

    ``preferred`` has the systems of people's choice, ``other`` those of the judge's; ``ranks`` and
    ``scores`` are of the two, in this order, ``texts`` where they are known.
    """

    judge: str
    segment: int
    person: str
    preferred: tuple[str, ...]
    other: tuple[str, ...]
    ranks: tuple[int, int]
    scores: tuple[float, float]
    source: str | None = None
    texts: tuple[str, str] | None = None

    @property
    def size(self) -> float:
        """How far they are apart: the difference of scores times that of ranks."""
        return (self.scores[1] - self.scores[0]) * (self.ranks[1] - self.ranks[0])


def disagreements(pairs: Sequence[tuple[Ranking, Ranking]], most: int) -> list[Disagreement]:
    """Return the largest disagreements of a judge with people, one for each item at most."""
    listed: list[Disagreement] = []
    for ours, theirs in pairs:
        scores = dict(zip(map(frozenset, ours.groups), ours.scores or (), strict=False))
        pairs_of = zip(theirs.ranks, theirs.groups, strict=True)
        ranked = [(rank, group, scores.get(frozenset(group))) for rank, group in pairs_of]
        wrong = [
            Disagreement(ours.judge, ours.segment, theirs.judge, a, b, (rank, worse), (low, high))
            for (rank, a, low), (worse, b, high) in product(ranked, repeat=2)
            if low is not None and high is not None and rank < worse and low < high
        ]
        listed += sorted(wrong, key=lambda one: -one.size)[:1]
    return sorted(listed, key=lambda one: (-one.size, one.segment))[:most]


# --- a judge -------------------------------------------------------------------------------
Figures = Mapping[str, Estimate]
SWAYS = (("r", pooled(0)), ("tau", pooled(3)))


@dataclass(frozen=True)
class JudgeProfile:
    """What a judge's answers tell of it.

    ``items``; those ``due`` have two outputs or more, ``scored`` ones a score for each. ``replies``
    came, ``usable`` ones have scores, ``asked_again`` ones answer a question that was put before.
    ``tokens`` of prompts and replies. ``scores``: how often each was given; ``read`` and
    ``finish``: how replies were read, and why they ended; ``beside_people``: for each score, counts
    of people's ranks 1, 2, ...; ``verdicts``: how many were compared, by order. For the names of
    ``figures`` see :func:`judge_profile`.
    """

    items: int
    due: int
    scored: int
    replies: int
    usable: int
    asked_again: int
    tokens: tuple[int, int]
    seconds: float
    scores: Mapping[str, int]
    read: Mapping[str, int]
    finish: Mapping[str, int]
    beside_people: Mapping[str, tuple[int, ...]]
    verdicts: Mapping[str, int] = field(default_factory=dict[str, int])
    figures: Figures = field(default_factory=dict[str, Estimate])


def judge_profile(
    rankings: Sequence[Ranking], people: Sequence[Ranking] = (), corpus: Corpus | None = None,
    **drawn: Any,
) -> JudgeProfile:  # fmt: skip
    """Measure one judge; ``drawn``: see :func:`~grammeter.meta.estimates`.

    Figures are ``mean`` and ``tied`` (share of pairs of outputs); ``changed``, ``kappa`` and
    ``apart`` of two answers in the ``same`` order, or of outputs that were ``swapped``; ``place-1``
    and so on, the mean score there; ``r`` and ``tau`` with ``place``, ``tokens`` and ``edits``.
    """
    due = [ranking for ranking in rankings if len(ranking.groups) > 1]
    answers = [answers_of(ranking) for ranking in due]
    replies = [reply for ranking in rankings for reply in ranking.replies]
    values = [list(r.scores or (None,) * len(r.groups)) for r in due]
    known = [[value for value in of if value is not None] for of in values]
    raw = [score for of in answers for answer in of for score in answer.values()]
    repeated = again(answers)
    figures = _of_answers(answers, known, repeated) | swaying(due, values, corpus)
    tokens = np.array([reply.get("tokens") or (0, 0) for reply in replies]).reshape(-1, 2)
    return JudgeProfile(
        items=len(rankings), due=len(due),
        scored=sum(len(one) == len(of) for one, of in zip(known, values, strict=True)),
        replies=len(replies), usable=sum(map(len, answers)),
        asked_again=sum(reply.get("attempt", 1) > 1 for reply in replies),
        tokens=(int(tokens[:, 0].sum()), int(tokens[:, 1].sum())),
        seconds=float(sum(reply.get("seconds") or 0 for reply in replies)),
        scores=_counts(round(score) for score in (raw if replies else chain(*known))),
        read=_counts(word for of in replies if "read" in of  # what was tolerated, else how
                     for word in of.get("repairs") or [of["read"]]),
        finish=_counts(reply["finish"] for reply in replies if reply.get("finish")),
        beside_people=_beside(rankings, people),
        verdicts={name: int(rows[:, 1].sum()) for name, rows in repeated.items()},
        figures=estimates(figures, **drawn) if due else {},
    )  # fmt: skip


def people_figures(people: Sequence[Ranking], corpus: Corpus | None, **drawn: Any) -> Figures:
    """Measure what people's ranks, turned, go with: lengths and numbers of edits."""
    due = [ranking for ranking in people if ranking.ranks and len(ranking.groups) > 1]
    figures = swaying(due, [[-float(rank) for rank in r.ranks] for r in due], corpus)
    return estimates(figures, **drawn) if due else {}


def _counts(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(map(str, values)).items()))


def _of_answers(
    answers: Sequence[Sequence[Answer]],
    known: Sequence[Sequence[float]],
    repeated: Mapping[str, FloatArray],
) -> Sums:
    means = np.array([[sum(of), len(of)] for of in known])
    pairs = swayed([[(of, of)] for of in known])  # column 4: those that differ
    every = np.array([len(of) * (len(of) - 1) / 2 for of in known])
    ties = np.stack([every - pairs[:, 4], every], axis=1)
    share, apart = ratio(0, 1), ratio(3, 4)
    figures: Sums = {"mean": (means, share), "tied": (ties, share)}
    for name, rows in repeated.items():
        figures[f"changed-{name}"] = (rows, changed)
        figures[f"kappa-{name}"] = (rows, kappa)
        figures[f"apart-{name}"] = (rows, apart)
    places = max((len(answer) for of in answers for answer in of), default=0)
    rows = by_place(answers, places)
    figures |= {f"place-{n + 1}": (rows, ratio(2 * n, 2 * n + 1)) for n in range(places)}
    rows = swayed([[([*range(len(a))], [*a.values()]) for a in of] for of in answers])
    return figures | {f"{name}-place": (rows, of) for name, of in SWAYS if places}


def swaying(
    due: Sequence[Ranking], values: Sequence[Sequence[float | None]], corpus: Corpus | None
) -> Sums:
    """Return the sums that correlate scores with lengths and edits within items."""
    if corpus is None:
        return {}
    pairs = [_texts(ranking, corpus) for ranking in due]
    edits = iter(annotator(NEUTRAL, types=False).annotate([pair for of in pairs for pair in of]))
    sizes = {
        "tokens": [[len(text.split()) for _, text in of] for of in pairs],
        "edits": [[len(next(edits)) for _ in of] for of in pairs],
    }
    sums: Sums = {}
    for what, of in sizes.items():
        both = [[(size, value) for size, value in zip(x, y, strict=True) if value is not None]
                for x, y in zip(of, values, strict=True)]  # fmt: skip
        rows = swayed([[([a for a, _ in item], [b for _, b in item])] for item in both])
        sums |= {f"{name}-{what}": (rows, value_of) for name, value_of in SWAYS}
    return sums


def _texts(ranking: Ranking, corpus: Corpus) -> list[tuple[str, str]]:
    at = ranking.segment - 1
    for name in ranking.systems:
        UnknownNameError.check("system with outputs", name, corpus.systems)
    if at >= len(corpus):
        fault = f"sentence {ranking.segment} is judged, but there are {len(corpus)}"
        fix = "Give all sentences, and see whether judgments count from 0 (--first-segment)."
        raise DataError(fault, fix=fix)
    return [(corpus.sources[at], corpus.systems[group[0]][at]) for group in ranking.groups]


def _beside(rankings: Sequence[Ranking], people: Sequence[Ranking]) -> dict[str, tuple[int, ...]]:
    """Count people's ranks by the judge's score, in items that both judged."""
    counts: dict[int, Counter[int]] = {}
    for ours, theirs in same_items(rankings, people):
        ranks = dict(zip(map(frozenset, theirs.groups), theirs.ranks, strict=True))
        for group, score in zip(ours.groups, ours.scores or (), strict=False):
            if score is not None:
                counts.setdefault(round(score), Counter())[ranks[frozenset(group)]] += 1
    last = max((rank for of in counts.values() for rank in of), default=0)
    return {str(s): tuple(counts[s][rank] for rank in range(1, last + 1)) for s in sorted(counts)}
