"""The verbs that are made of several rooms: sample, correlate.

The others live where their work is done; :mod:`grammeter` gathers them all under one name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from grammeter.core import (
    Item,
    Ranked,
    Ranking,
    ScoreTable,
    UsageError,
    checked,
)
from grammeter.formats import Corpus

if TYPE_CHECKING:
    from grammeter.meta import Source
    from grammeter.study import Select

    Scores = Source | Mapping[str, Source] | Sequence[ScoreTable]
else:  # for the door: the rooms above would take long to load
    _SOURCE = ScoreTable | Ranked | Sequence[Ranking]
    Scores = _SOURCE | Mapping[str, _SOURCE] | Sequence[ScoreTable]


@checked
def sample(
    corpus: Corpus,
    *,
    n: int,
    select: Select = "paper",
    per_item: int = 5,
    seed: int = 1,
    distinct: bool = False,
    scores: ScoreTable | None = None,
    metric: str | None = None,
    judges: Sequence[str] = (),
    overlap: int = 0,
    sharers: int | None = None,
    repeats: int = 0,
) -> tuple[Item, ...]:
    """Draw items for human judgment: sentences, and which of their outputs are shown.

    Parameters
    ----------
    corpus
        Whose systems are to be judged.
    n
        How many items.
    select, per_item, scores, metric
        What makes a sentence likely, how many outputs an item shows at most, and for ``spread``
        the scores that must differ and by which of their metrics; see
        :func:`grammeter.study.sampling.distribution`.
    seed, distinct
        Where the random numbers start; draw no sentence twice.
    judges, overlap, sharers, repeats
        Names; items that several of them see, and how many (all); items that each sees twice. See
        :func:`grammeter.study.assignment.assign`.

    Raises
    ------
    UsageError
        If the numbers do not fit each other or the corpus.
    """
    from grammeter.study import assign, distribution
    from grammeter.study import sample as draw

    if not judges and (overlap or sharers is not None or repeats):
        raise UsageError(
            "overlap, sharers and repeats are for judges", fix="Name the judges: judges=[...]."
        )
    if metric is not None and scores is None:
        raise UsageError("metric says which of the scores to take", fix="Give scores, too.")
    source = distribution(
        corpus.systems, select=select, per_item=per_item, scores=scores, metric=metric
    )
    items = draw(source, n=n, distinct=distinct, seed=seed)
    if judges:
        items = assign(items, judges, overlap=overlap, sharers=sharers, repeats=repeats, seed=seed)
    return tuple(items)
