"""The verb ``meta``: how good is a metric at systems? Its two sides, and each question.

The sides are scores of metrics, and what people said, from files and values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from grammeter import core, formats, meta, ranking, rendering, stats
from grammeter.metrics import metric as make_metric
from grammeter.verbs._compare.units import Units
from grammeter.verbs._rank import rank
from grammeter.verbs._using import fields_among

PathLike = str | Path
Place = PathLike | core.ScoreTable | core.Ranked | Sequence[core.Ranking]
"""Where scores come from: a file, or what stands in one."""
Scores = Place | Mapping[str, Place] | Sequence[Place]
HumanScores = (
    PathLike | core.Ranked | Mapping[str, float] | Sequence[core.Ranking] | formats.Ratings
)
_OF_FILES = "missing_score", "layout", "scale"
Places = Sequence[tuple[str | None, Place]]
"""Names and places; a file without a name is named when it is read."""


@core.checked
def meta_system(
    scores: Scores, human: HumanScores | None = None, *, benchmark: str | None = None,
    published_data: bool = False, by: str | None = None, systems: Sequence[str] | None = None,
    drop: Sequence[str] = (), metrics: Sequence[str] | None = None,
    aggregate: Sequence[meta.Aggregate] = (), interval: meta.IntervalName = "fisher",
    unit: str | None = None, resamples: int = 1000, seed: int = 1, confidence: float = 0.95,
    ties: stats.TiePolicy = "tau-b", drop_outliers: float | None = None,
    leave_one_out: bool = False, top_k: bool = False, rankings: bool = False,
    figure: PathLike | None = None, figure_williams: PathLike | None = None,
    criterion: str | None = None, average: ranking.Average | None = None,
    missing_score: float | None = None, layout: formats.Layout | None = None,
    scale: str | None = None,
) -> meta.SystemMeta:  # fmt: skip
    """Correlate metrics with people's scores of the same systems, with Williams tests.

    Raises :class:`DataError` if a system stands on one side only, or two of several scores have a
    metric of one name; :class:`UsageError` if people's scores come from no place or two, or ``by``
    has nothing to do.

    Parameters
    ----------
    scores
        What :func:`score` gives, or :func:`grammeter.formats.scores.read_score_file`; a judge in
        the place of a metric: judgments or a ranking; files; or several of these, by name or in a
        list.
    human
        A ranking, such as :func:`rank` gives, judgments, ratings, a file of these, or a score by
        system; higher is better.
    benchmark
        Take people's scores of a data set, ``gjg15``, ``seeda-e`` or ``seeda-s``.
    published_data
        As SEEDA's published figures have it: LM-Critic is scored by PIE's outputs.
    by
        How judgments on either side become scores: a method of :func:`rank`, or ``mean`` of the
        judges' own scores. Default: that of the ranking on the human side, or Expected Wins; of
        ratings ``mean``, and ``z-score`` is possible.
    systems, drop
        Who takes part; default: all, and they must be the same on both sides.
    metrics
        Which metrics; default: all.
    aggregate
        Also make scores of systems from those of sentences, see
        :func:`grammeter.meta.with_aggregates`.
    interval, resamples, seed, confidence, ties
        See :class:`~grammeter.meta.system_values.Design`.
    unit
        What is drawn as a whole where sentences are resampled: as for :func:`compare`.
    drop_outliers
        Leave out systems whose human score is further from the median, in scaled median absolute
        deviations, such as 2.5.
    leave_one_out, top_k
        See :func:`grammeter.meta.system.correlate_systems`.
    rankings
        Also rank the systems by each judge in the place of a metric, with ranges and clusters.
    figure, figure_williams
        Files, .svg or .png, into which each metric's scores are drawn against people's, and the
        p-values of Williams' test.
    criterion, average, missing_score, layout, scale
        Of ratings: see :func:`rank` and :func:`read_judgments`.
    """
    options = locals()
    table, side = sides_of(options)
    design = meta.Design(**fields_among(options | {"human": side.name}, meta.Design))
    drawn = design.interval == "sentences"
    core.check_home(drawn, "the interval 'sentences'", unit=unit is not None)
    units = Units.of(table, unit) if drawn else Units("sentence")
    if units.count is not None:
        design = replace(design, drawn=f"{units.name}({units.count})")
    columns = {name: table[name] for name in (table if metrics is None else metrics)}
    result = meta.correlate_systems(
        meta.with_aggregates(replace(table, columns=columns), aggregate), side.scores,
        design=design, systems=systems, drop=drop,
        outlier_cutoff=drop_outliers, leave_one_out=leave_one_out, top_k=top_k,
        sampler=lambda of, names: units.samples(
            of.metric, replace(of, scores={name: of[name] for name in names})
        ),
        summed=units.summed, notes=(*side.notes, *units.limits()),
    )  # fmt: skip
    rendering.save_figures(result, {"scores": figure, "williams": figure_williams})
    ranked: dict[str, core.Ranked] = {}
    for name, of in table.items():
        if rankings and isinstance(of, meta.JudgedScores):
            method = meta.USUAL if of.by == meta.MEAN else of.by
            judged = [one for one in of.rankings if not one.skipped]
            ranked[name] = rank(judged, by=method, resamples=resamples, seed=seed)
    notes = [note for of in ranked.values() for note in of.notes]
    if rankings and not ranked:
        notes.append("--rankings: no judge stands here in the place of a metric")
    notes = list(dict.fromkeys([*result.notes, *notes]))
    return replace(result, notices=side.notices, rankings=ranked, notes=tuple(notes))


@core.checked
def meta_window(
    scores: Scores, human: HumanScores | None = None, *, benchmark: str | None = None,
    published_data: bool = False, by: str | None = None, systems: Sequence[str] | None = None,
    drop: Sequence[str] = (), metrics: Sequence[str] | None = None, size: int = 4,
    confidence: float = 0.95, figure: PathLike | None = None, criterion: str | None = None,
    average: ranking.Average | None = None, missing_score: float | None = None,
    layout: formats.Layout | None = None, scale: str | None = None,
) -> meta.Windows:  # fmt: skip
    """Correlate metrics with people among systems that follow each other in the human ranking.

    Parameters
    ----------
    scores, human, benchmark, published_data, by, systems, drop
        See :func:`meta_system`. Judgments are ranked with clusters.
    metrics, size, confidence
        See :func:`~grammeter.meta.correlate_windows`.
    figure
        A file, .svg or .png, into which the correlations by window are drawn.
    criterion, average, missing_score, layout, scale
        Of ratings: see :func:`rank` and :func:`read_judgments`.
    """
    table, side = sides_of(locals(), clusters=True)
    windows = meta.correlate_windows(
        table, side.scores, size=size, clusters=side.clusters, systems=systems, drop=drop,
        metrics=metrics, confidence=confidence, human_name=side.name, notes=side.notes,
    )  # fmt: skip
    rendering.save_figures(windows, {"windows": figure})
    return replace(windows, notices=side.notices)


@core.checked
def meta_beta(
    scores: Scores, human: HumanScores | None = None, *,
    beta: str | Sequence[float] = "0.01:1.0:0.01", metric: str | None = None,
    choice: meta.Choice | None = None, benchmark: str | None = None, published_data: bool = False,
    by: str | None = None, systems: Sequence[str] | None = None, drop: Sequence[str] = (),
    figure: PathLike | None = None, criterion: str | None = None,
    average: ranking.Average | None = None, missing_score: float | None = None,
    layout: formats.Layout | None = None, scale: str | None = None,
) -> meta.BetaSweep:  # fmt: skip
    """Correlate a metric of all betas with people's scores, to find the best weight of recall.

    Parameters
    ----------
    beta
        ``FIRST:LAST:STEP``, betas between commas, or numbers.
    metric
        Which metric, if several have a weight of recall.
    choice
        See :func:`~grammeter.meta.sweep_beta`.
    scores, human, benchmark, published_data, by, systems, drop
        See :func:`meta_system`.
    figure
        A file, .svg or .png, into which both correlations are drawn over beta.
    criterion, average, missing_score, layout, scale
        Of ratings: see :func:`rank` and :func:`read_judgments`.
    """
    betas = meta.parse_betas(beta) if isinstance(beta, str) else beta
    table, side = sides_of(locals())
    name = metric or meta.swept_metric(table)
    sweep = meta.sweep_beta(
        table[name], side.scores, betas, metric=name, human_name=side.name, systems=systems,
        drop=drop, choice=choice, rescorer=rescored,
        notes=(*table.notes_on([name]), *side.notes),
    )  # fmt: skip
    rendering.save_figures(sweep, {"betas": figure})
    return replace(sweep, notices=side.notices)


def rescored(
    column: core.MetricScores, systems: Sequence[str], beta: float
) -> core.FloatArray | None:
    """Score some systems anew from their statistics, with another beta: shape ``(systems,)``.

    ``None`` where the scores have no statistics, or the metric no beta. A ``DataError`` where
    what the metric counts depends on beta, a ``UsageError`` where it does not take this one.
    """
    if not all(system in column.statistics for system in systems):
        return None
    scored = make_metric(column.metric)
    current: object = getattr(scored, "beta", None)
    if current is None:
        return None
    whole = isinstance(current, int) and float(beta).is_integer()
    changed = replace(scored, **{"beta": int(beta) if whole else beta})
    if changed.counting() != scored.counting():
        fault = (
            f"{column.metric} counts otherwise with another beta, so its statistics do not serve"
        )
        fix = f"Score it with each beta, '{changed}' for one, and use 'grammeter meta system'."
        raise core.DataError(fault, fix=fix)
    return np.array([changed.score(column.statistics[system]).value for system in systems])


def named_places(scores: Scores) -> Places:
    """Name what scores come from; a list of rankings is judgments, any other a list of places."""
    if isinstance(scores, core.ScoreTable):
        return [("scores", scores)]
    if isinstance(scores, core.Ranked):
        return [("ranking", scores)]
    if isinstance(scores, Mapping):
        return list(scores.items())
    if isinstance(scores, PathLike):
        return [(None, scores)]
    if all(isinstance(place, core.Ranking) for place in scores):
        return [("judgments", cast("Sequence[core.Ranking]", scores))]
    places = enumerate(cast("Sequence[Place]", scores), start=1)
    return [(None if isinstance(p, PathLike) else f"scores {n}", p) for n, p in places]


def named_sources(places: Places) -> dict[str, meta.Source]:
    """Read scores, rankings and judgments; the latter two are named as metrics."""
    sources: dict[str, meta.Source] = {}
    for stated, place in places:
        source = formats.read_any_scores(place) if isinstance(place, PathLike) else place
        name = stated or str(place)
        if stated is None and not isinstance(source, core.ScoreTable):
            name = formats.metric_name(str(place))
        if name in sources:
            fix = "Name each once, or rename one."
            raise core.UsageError(f"two files of scores are called {name!r}", fix=fix)
        sources[name] = source
    return sources


def sides_of(
    options: Mapping[str, Any], *, clusters: bool = False
) -> tuple[core.ScoreTable, meta.Human]:
    """Read the scores of metrics and of people by the arguments of a verb.

    Refuses figures that cannot be written first. ``clusters``: rank judgments with clusters.
    """
    for name in ("figure", "figure_williams"):
        if options.get(name):
            rendering.check_figure(options[name])
    human, benchmark, by = (options[name] for name in ("human", "benchmark", "by"))
    if (human is None) == (benchmark is None):
        fix = "Give a file after the scores, or --benchmark NAME."
        raise core.UsageError("people's scores come from one place", fix=fix)
    published = options["published_data"]
    core.check_home(bool(benchmark), "--benchmark seeda-e or seeda-s", published_data=published)
    of_ratings = {name: options[name] for name in ("criterion", "average", *_OF_FILES)}
    sources = named_sources(named_places(options["scores"]))
    known = formats.benchmark(benchmark) if benchmark else None
    if known is not None:
        core.check_home(False, "ratings", **of_ratings)
        side = _of_benchmark(known, by, sources)
    else:
        judged = not all(isinstance(of, core.ScoreTable | core.Ranked) for of in sources.values())
        side = _of_people(human, by, of_ratings, judged=judged, clusters=clusters)
    usual = meta.MEAN if by == "z-score" else by or side.method
    table = meta.join_scores(sources, by=usual, systems=options["systems"], drop=options["drop"])
    return known.as_published(table) if known and published else table, side


def _of_people(
    human: HumanScores, by: str | None, of_ratings: Mapping[str, Any], *, judged: bool,
    clusters: bool,
) -> meta.Human:  # fmt: skip
    """Score systems; ratings by their means, or as the rankings that they make."""
    name, read = "human scores", human
    files = {name: of_ratings.get(name) for name in _OF_FILES}
    if isinstance(human, PathLike):
        name, read = formats.metric_name(human), formats.read_human(human, **files)
    else:
        core.check_home(False, "files of ratings", **files)
    assert not isinstance(read, PathLike)
    notices: tuple[str, ...] = getattr(read, "notices", ())
    is_rated = isinstance(read, formats.Ratings)
    criterion, average = of_ratings.get("criterion"), of_ratings.get("average")
    core.check_home(is_rated, "ratings", criterion=criterion, average=average)
    core.check_home(is_rated, "ratings", by=by == "z-score")
    if isinstance(read, formats.Ratings):
        if by in (None, *ranking.RATED):
            read = rank(read, by=by or meta.MEAN, criterion=criterion, average=average)
            return replace(meta.human_side(read, name=name), notices=notices)
        core.check_home(False, "--by mean and z-score", average=average)
        read = read.rankings(criterion)
    options: dict[str, Any] = {"by": by, "other_is_judged": judged, "clusters": clusters}
    return replace(meta.human_side(read, name=name, **options), notices=notices)


def _of_benchmark(
    known: formats.Benchmark, by: str | None, sources: Mapping[str, meta.Source]
) -> meta.Human:
    """Take the paper's own scores where they are stored and no other method is wanted."""
    *_, (last, source) = sources.items()
    notes: tuple[str, ...] = ()
    if len(sources) > 1 and not isinstance(source, core.ScoreTable):
        notes = (f"{last} is taken in the place of a metric: people's side is {known.name}",)
    stored = known.read_scores() if by in (None, known.method) else None
    if stored is not None:
        name = f"{known.name}, {known.method} as published"
        return meta.Human(scores=stored, name=name, method=known.method, notes=notes)
    human = meta.human_side(known.read_judgments(), name=known.name, by=by or known.method)
    return replace(human, name=f"{known.name}, {human.name}", notes=(*notes, *human.notes))
