"""People's side of a meta-evaluation: scores of systems, whatever they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from grammeter.core import Ranked, Ranking, Signature, UsageError
from grammeter.meta.aggregate import human_scores
from grammeter.meta.judged import MEAN, has_scores, judged_table
from grammeter.ranking import METHODS, method_of, rank_systems, select

USUAL = "expected-wins"
"""How judgments score systems unless said otherwise."""


@dataclass(frozen=True, kw_only=True)
class Human:
    """People's scores of systems.

    Attributes
    ----------
    scores
        By system; higher is better, NaN where there is none.
    name
        What they are, for signatures.
    method
        How judgments were scored, so that those of the other side are scored alike.
    clusters
        By system, where there is a ranking.
    """

    scores: Mapping[str, float]
    name: str
    method: str = USUAL
    clusters: Mapping[str, int] | None = None
    notes: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def human_side(
    human: Ranked | Mapping[str, float] | Sequence[Ranking],
    *,
    name: str = "human scores",
    by: str | None = None,
    other_is_judged: bool = False,
    clusters: bool = False,
) -> Human:
    """Return people's scores.

    Parameters
    ----------
    human
        A ranking, judgments, or bare scores.
    name
        What bare scores are called.
    by
        How judgments score systems: a ranking method or ``mean``.
    other_is_judged
        Whether ``by`` is also about the scores of the other side.
    clusters
        Rank judgments with clusters, which takes a bootstrap.

    Raises
    ------
    UsageError
        If ``by`` has nothing to do.
    """
    if isinstance(human, Ranked | Mapping):
        if by and not other_is_judged:
            raise UsageError(
                f"{name} holds scores, so by {by} has nothing to do",
                fix="Leave it (--by) out, or give the judgments themselves.",
            )
        return _of_ranking(human) if isinstance(human, Ranked) else Human(scores=human, name=name)
    return _of_judgments(human, name, by or USUAL, clusters=clusters)


def _of_ranking(ranking: Ranked) -> Human:
    return Human(
        scores={system: row.score for system, row in ranking.items()},
        name=_spelled(ranking.signature),
        method=ranking.method if ranking.method in METHODS else USUAL,
        clusters={system: row.cluster for system, row in ranking.items()},
        notes=ranking.notes,
    )


def _of_judgments(judgments: Sequence[Ranking], name: str, by: str, *, clusters: bool) -> Human:
    """Score systems by judgments; judges who gave no scores have no mean."""
    notes: tuple[str, ...] = ()
    if by == MEAN and any(has_scores(ranking) for ranking in judgments if ranking.ranks):
        table = judged_table(judgments, MEAN, by=MEAN)
        scores = {system: score.value for system, score in table[MEAN].items()}
        return Human(scores=scores, name=_spelled(table[MEAN].signature), notes=table.notes)
    if by == MEAN:
        by = USUAL
        notes = (f"{name} has no scores to average: its ranks are scored by {by}",)
    if clusters:
        human = _of_ranking(rank_systems(select(judgments), method_of(by)))
        return replace(human, notes=(*notes, *human.notes))
    by_system, signature, more = human_scores(judgments, by=by)
    return Human(scores=by_system, name=_spelled(signature), method=by, notes=(*notes, *more))


def _spelled(signature: Signature) -> str:
    """Write a signature so that it stands inside another one without being encoded."""
    return f"{signature.name}({', '.join(f'{key}={value}' for key, value in signature)})"
