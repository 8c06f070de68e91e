"""The verbs that are made of several rooms: sample, correlate.

The others live where their work is done; :mod:`grammeter` gathers them all under one name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

from grammeter.core import (
    DataError,
    Item,
    MetricScores,
    Ranked,
    Ranking,
    ScoreTable,
    UsageError,
    checked,
)
from grammeter.formats import Corpus
from grammeter.metrics import metric

if TYPE_CHECKING:
    from grammeter.core import FloatArray
    from grammeter.meta import Aggregate, Design, Source, SystemMeta
    from grammeter.stats import PairedSamples
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


@checked
def correlate(
    scores: Scores,
    human: Ranked | Mapping[str, float] | Sequence[Ranking],
    *,
    by: str | None = None,
    systems: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    metrics: Sequence[str] | None = None,
    aggregate: Sequence[Aggregate] = (),
    design: Design | None = None,
    outlier_cutoff: float | None = None,
    leave_one_out: bool = False,
    top_k: bool = False,
    notes: Sequence[str] = (),
) -> SystemMeta:
    """Correlate metrics with people's scores of the same systems, with Williams tests.

    Parameters
    ----------
    scores
        What :func:`score` gives, or :func:`grammeter.formats.foreign.read_score_file`; a judge in
        the place of a metric: judgments or a ranking; or several of these, by name or in a list.
    human
        A ranking, such as :func:`rank` gives, judgments, or a score by system; higher is better.
    by
        How judgments on either side become scores: a method of :func:`rank`, or ``mean`` of the
        judges' own scores. Default: that of the ranking on the human side, or Expected Wins.
    systems, drop
        Who takes part; default: all, and they must be the same on both sides.
    metrics
        Which metrics; default: all.
    aggregate
        Also make scores of systems from those of sentences, see
        :func:`grammeter.meta.aggregate.with_aggregates`.
    design
        Intervals, confidence, seed, ties; see :class:`~grammeter.meta.system_values.Design`.
    outlier_cutoff, leave_one_out, top_k
        See :func:`grammeter.meta.system.correlate_systems`.
    notes
        What the reader of ``human`` must know, besides its own notes.

    Raises
    ------
    DataError
        If a system stands on one side only, or two of several scores have a metric of one name.
    UsageError
        If ``by`` has nothing to do.
    """
    from grammeter.meta import Design, correlate_systems, human_side, join_scores, with_aggregates

    sources = _sources(scores)
    judged = any(not isinstance(source, ScoreTable | Ranked) for source in sources.values())
    side = human_side(human, by=by, other_is_judged=judged)
    table = join_scores(sources, by=by or side.method, systems=systems, drop=drop)
    if metrics is not None:
        table = replace(table, columns={name: table[name] for name in dict.fromkeys(metrics)})
    return correlate_systems(
        with_aggregates(table, aggregate),
        side.scores,
        design=design or Design(human=side.name),
        systems=systems,
        drop=drop,
        outlier_cutoff=outlier_cutoff,
        leave_one_out=leave_one_out,
        top_k=top_k,
        sampler=summed_rows,
        notes=(*side.notes, *notes),
    )


def _sources(scores: Scores) -> Mapping[str, Source]:
    """Name what scores come from; a list of rankings is judgments, any other a list of these."""
    if isinstance(scores, ScoreTable):
        return {"scores": scores}
    if isinstance(scores, Ranked):
        return {"ranking": scores}
    if isinstance(scores, Mapping):
        return scores
    if all(isinstance(row, Ranking) for row in scores):
        return {"judgments": cast("Sequence[Ranking]", scores)}
    several = cast("Sequence[Source]", scores)
    return {f"scores {number}": source for number, source in enumerate(several, start=1)}


def summed_rows(column: MetricScores, systems: Sequence[str]) -> PairedSamples:
    """Let a metric of the registry make summable rows of some systems' statistics."""
    from grammeter.verbs._compare.samples import paired_samples

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
    current = next((getattr(scored, f.name) for f in fields(scored) if f.name == "beta"), None)
    if current is None:
        return None
    whole = isinstance(current, int) and float(beta).is_integer()
    changes: dict[str, Any] = {"beta": int(beta) if whole else beta}
    changed = replace(scored, **changes)
    if changed.counting() != scored.counting():
        raise DataError(
            f"{column.metric} counts otherwise with another beta, so its statistics do not serve",
            fix=f"Score it with each beta, '{changed}' for one, and use 'grammeter meta system'.",
        )
    return np.array([changed.score(column.statistics[system]).value for system in systems])
