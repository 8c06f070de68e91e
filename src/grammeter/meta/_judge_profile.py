"""What the answers of one judge tell of it: counts, and figures with intervals by items."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from grammeter.core import DataError, FloatArray, Ranking, UnknownNameError
from grammeter.errant import NEUTRAL, annotator
from grammeter.formats import Corpus
from grammeter.meta import judge_sums, sentence_level

Figures = Mapping[str, sentence_level.Estimate]
SWAYS = (("r", judge_sums.pooled_r), ("tau", judge_sums.pooled_tau))


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
    figures: Figures = field(default_factory=dict[str, sentence_level.Estimate])


def judge_profile(
    rankings: Sequence[Ranking], people: Sequence[Ranking] = (), corpus: Corpus | None = None,
    **drawn: Any,
) -> JudgeProfile:  # fmt: skip
    """Measure one judge; ``drawn``: see :func:`~grammeter.meta.judge_sums.estimates`.

    Figures are ``mean`` and ``tied`` (share of pairs of outputs); ``changed``, ``kappa`` and
    ``apart`` of two answers in the ``same`` order, or of outputs that were ``swapped``; ``place-1``
    and so on, the mean score there; ``r`` and ``tau`` with ``place``, ``tokens`` and ``edits``.
    """
    due = [ranking for ranking in rankings if len(ranking.groups) > 1]
    answers = [judge_sums.answers_of(ranking) for ranking in due]
    replies = [reply for ranking in rankings for reply in ranking.replies]
    values = [list(r.scores or (None,) * len(r.groups)) for r in due]
    known = [[value for value in of if value is not None] for of in values]
    raw = [score for of in answers for answer in of for score in answer.scores.values()]
    repeated = judge_sums.again(answers)
    figures = _of_answers(answers, known, repeated) | swaying(due, values, corpus)
    tokens = np.array([reply.get("tokens") or (0, 0) for reply in replies]).reshape(-1, 2)
    return JudgeProfile(
        items=len(rankings),
        due=len(due),
        scored=sum(len(one) == len(of) for one, of in zip(known, values, strict=True)),
        replies=len(replies),
        usable=sum(map(len, answers)),
        asked_again=sum(reply.get("attempt", 1) > 1 for reply in replies),
        tokens=(int(tokens[:, 0].sum()), int(tokens[:, 1].sum())),
        seconds=float(sum(reply.get("seconds") or 0 for reply in replies)),
        scores=_counts(round(score) for score in (raw if replies else chain(*known))),
        read=_counts(word for of in replies if "read" in of for word in _read(of)),
        finish=_counts(reply["finish"] for reply in replies if reply.get("finish")),
        beside_people=_beside(rankings, people),
        verdicts={name: int(rows[:, 1].sum()) for name, rows in repeated.items()},
        figures=judge_sums.estimates(figures, **drawn) if due else {},
    )


def people_figures(people: Sequence[Ranking], corpus: Corpus | None, **drawn: Any) -> Figures:
    """Measure what people's ranks, turned, go with: lengths and numbers of edits."""
    due = [ranking for ranking in people if ranking.ranks and len(ranking.groups) > 1]
    figures = swaying(due, [[-float(rank) for rank in r.ranks] for r in due], corpus)
    return judge_sums.estimates(figures, **drawn) if due else {}


def _read(reply: Mapping[str, Any]) -> Sequence[str]:
    """Return what had to be tolerated in a reply, else how it was read."""
    return reply.get("repairs") or [reply["read"]]


def _counts(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(map(str, values)).items()))


def _of_answers(
    answers: Sequence[Sequence[judge_sums.Answer]],
    known: Sequence[Sequence[float]],
    repeated: Mapping[str, FloatArray],
) -> judge_sums.Sums:
    means = np.array([[sum(of), len(of)] for of in known])
    pairs = judge_sums.swayed([[(of, of)] for of in known])  # column 4: those that differ
    every = np.array([len(of) * (len(of) - 1) / 2 for of in known])
    ties = np.stack([every - pairs[:, 4], every], axis=1)
    share, apart = judge_sums.ratio(0, 1), judge_sums.ratio(3, 4)
    figures: judge_sums.Sums = {"mean": (means, share), "tied": (ties, share)}
    for name, rows in repeated.items():
        figures[f"changed-{name}"] = (rows, judge_sums.changed)
        figures[f"kappa-{name}"] = (rows, judge_sums.kappa)
        figures[f"apart-{name}"] = (rows, apart)
    places = max((len(answer.order) for of in answers for answer in of), default=0)
    rows = judge_sums.by_place(answers, places)
    figures |= {f"place-{n + 1}": (rows, judge_sums.ratio(2 * n, 2 * n + 1)) for n in range(places)}
    columns = [[([*range(len(a.order))], [a.scores[at] for at in a.order]) for a in of]
               for of in answers]  # fmt: skip
    rows = judge_sums.swayed(columns)
    return figures | {f"{name}-place": (rows, of) for name, of in SWAYS if places}


def swaying(
    due: Sequence[Ranking], values: Sequence[Sequence[float | None]], corpus: Corpus | None
) -> judge_sums.Sums:
    """Return the sums that correlate scores with lengths and edits within items."""
    if corpus is None:
        return {}
    pairs = [_texts(ranking, corpus) for ranking in due]
    edits = iter(annotator(NEUTRAL, types=False).annotate([pair for of in pairs for pair in of]))
    sizes = {
        "tokens": [[len(text.split()) for _, text in of] for of in pairs],
        "edits": [[len(next(edits)) for _ in of] for of in pairs],
    }
    sums: judge_sums.Sums = {}
    for what, of in sizes.items():
        both = [[(size, value) for size, value in zip(x, y, strict=True) if value is not None]
                for x, y in zip(of, values, strict=True)]  # fmt: skip
        rows = judge_sums.swayed([[([a for a, _ in item], [b for _, b in item])] for item in both])
        sums |= {f"{name}-{what}": (rows, value_of) for name, value_of in SWAYS}
    return sums


def _texts(ranking: Ranking, corpus: Corpus) -> list[tuple[str, str]]:
    """Return source and output of each group of an item."""
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
    for ours, theirs in judge_sums.same_items(rankings, people):
        ranks = dict(zip(map(frozenset, theirs.groups), theirs.ranks, strict=True))
        for group, score in zip(ours.groups, ours.scores or (), strict=False):
            if score is not None:
                counts.setdefault(round(score), Counter())[ranks[frozenset(group)]] += 1
    last = max((rank for of in counts.values() for rank in of), default=0)
    return {str(s): tuple(counts[s][rank] for rank in range(1, last + 1)) for s in sorted(counts)}
