"""The verbs that are made of several rooms: sample, correlate.

The others live where their work is done; :mod:`grammeter` gathers them all under one name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from grammeter.core.errors import DataError
from grammeter.core.item import Item
from grammeter.core.ranked import Ranked
from grammeter.core.table import MetricScores, ScoreTable
from grammeter.corpus.corpus import Corpus
from grammeter.metrics.registry import metric

if TYPE_CHECKING:
    from grammeter.core.statistics import FloatArray
    from grammeter.meta.system_values import Design, SystemMeta
    from grammeter.ranking.sampling import Select
    from grammeter.stats.resample import PairedSamples


def sample(
    corpus: Corpus,
    *,
    n: int,
    select: Select = "paper",
    per_item: int = 5,
    seed: int = 1,
    distinct: bool = False,
    scores: ScoreTable | None = None,
    judges: Sequence[str] = (),
    overlap: int = 0,
    repeats: int = 0,
) -> tuple[Item, ...]:
    """Draw items for human judgment: sentences, and which of their outputs are shown.

    Parameters
    ----------
    corpus
        Whose systems are to be judged.
    n
        How many items.
    select, per_item, scores
        What makes a sentence likely, how many outputs an item shows at most, and for ``spread``
        the scores that must differ; see :func:`grammeter.ranking.sampling.distribution`.
    seed, distinct
        Where the random numbers start; draw no sentence twice.
    judges, overlap, repeats
        Names; items that all of them see; items that each sees twice. See
        :func:`grammeter.ranking.assignment.assign`.

    Raises
    ------
    UsageError
        If the numbers do not fit each other or the corpus.
    """
    from grammeter.ranking.assignment import assign
    from grammeter.ranking.sampling import distribution
    from grammeter.ranking.sampling import sample as draw

    source = distribution(corpus.systems, select=select, per_item=per_item, scores=scores)
    items = draw(source, n=n, distinct=distinct, seed=seed)
    if judges:
        items = assign(items, judges, overlap=overlap, repeats=repeats, seed=seed)
    return tuple(items)


def correlate(
    scores: ScoreTable,
    human: Ranked | Mapping[str, float],
    *,
    systems: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    metrics: Sequence[str] | None = None,
    design: Design | None = None,
) -> SystemMeta:
    """Correlate metrics with people's scores of the same systems, with Williams tests.

    Parameters
    ----------
    scores
        What :func:`score` gives, or :func:`grammeter.corpus.foreign.read_score_file`.
    human
        A ranking, such as :func:`rank` gives, or a score by system; higher is better.
    systems, drop
        Who takes part; default: all, and they must be the same on both sides.
    metrics
        Which metrics; default: all.
    design
        Intervals, confidence, seed, ties; see :class:`~grammeter.meta.system_values.Design`.

    Raises
    ------
    DataError
        If a system stands on one side only.
    """
    from grammeter.corpus.foreign import system_scores
    from grammeter.meta.system import correlate_systems
    from grammeter.meta.system_values import Design

    found = design or Design()
    if isinstance(human, Ranked):
        found = found if design else Design(human=str(human.signature))
        human = system_scores(human)
    return correlate_systems(
        scores,
        human,
        design=found,
        systems=systems,
        drop=drop,
        metrics=metrics,
        sampler=summed_rows,
    )


def summed_rows(column: MetricScores, systems: Sequence[str]) -> PairedSamples:
    """Let a metric of the registry make summable rows of some systems' statistics."""
    from grammeter.comparison.samples import paired_samples

    return paired_samples(column.metric, column, systems)


def rescored(column: MetricScores, systems: Sequence[str], beta: float) -> FloatArray | None:
    """Score some systems anew from their statistics, with another beta.

    Returns
    -------
    FloatArray or None
        Shape ``(systems,)``: what the metric with this beta gives them. ``None`` where the scores
        have no statistics, or the metric no beta.

    Raises
    ------
    DataError
        If what the metric counts depends on beta.
    UsageError
        If the metric does not take this beta.
    """
    import numpy as np

    if not all(system in column.statistics for system in systems):
        return None
    scored = metric(column.metric)
    own = next((getattr(scored, f.name) for f in fields(scored) if f.name == "beta"), None)
    if own is None:
        return None
    whole = isinstance(own, int) and float(beta).is_integer()
    changes: dict[str, Any] = {"beta": int(beta) if whole else beta}
    asked = replace(scored, **changes)
    if asked.counting() != scored.counting():
        raise DataError(
            f"{column.metric} counts otherwise with another beta, so its statistics do not serve",
            fix=f"Score it with each beta, '{asked}' for one, and use 'grammeter meta system'.",
        )
    return np.array([asked.score(column.statistics[system]).value for system in systems])
