"""The two sides of ``meta``: scores of metrics, and what people said, from files and values."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from grammeter import core, formats, meta, ranking, rendering
from grammeter.core import check_home
from grammeter.formats import benchmark as find_benchmark
from grammeter.meta import Human, Source, human_side, join_scores
from grammeter.verbs._rank import rank

PathLike = str | Path
Place = PathLike | core.ScoreTable | core.Ranked | Sequence[core.Ranking]
"""Where scores come from: a file, or what stands in one."""
Scores = Place | Mapping[str, Place] | Sequence[Place]
HumanScores = (
    PathLike | core.Ranked | Mapping[str, float] | Sequence[core.Ranking] | formats.Ratings
)
_OF_FILES = "missing_score", "layout", "scale"
_SIDES = (
    *("scores", "human", "benchmark", "published_data", "by", "systems", "drop"),
    *("criterion", "average", *_OF_FILES),
)
Places = Sequence[tuple[str | None, Place]]
"""Names and places; a file without a name is named when it is read."""


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


def named_sources(places: Places) -> dict[str, Source]:
    """Read scores, rankings and judgments; the latter two are named as metrics."""
    sources: dict[str, Source] = {}
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


def read_sides(
    scores: Scores, human: HumanScores | None, *, benchmark: str | None = None,
    published_data: bool = False, by: str | None = None, systems: Sequence[str] | None = None,
    drop: Sequence[str] = (), clusters: bool = False, **of_ratings: Any,
) -> tuple[core.ScoreTable, Human]:  # fmt: skip
    """Read the scores of metrics and of people; ``clusters``: rank judgments with clusters.

    ``of_ratings`` are the criterion and average of people's ratings, and how files are read.
    """
    if (human is None) == (benchmark is None):
        fix = "Give a file after the scores, or --benchmark NAME."
        raise core.UsageError("people's scores come from one place", fix=fix)
    check_home(bool(benchmark), "--benchmark seeda-e or seeda-s", published_data=published_data)
    sources = named_sources(named_places(scores))
    known = find_benchmark(benchmark) if benchmark else None
    if known is not None:
        check_home(False, "ratings", **of_ratings)
        side = _of_benchmark(known, by, sources)
    else:
        assert human is not None
        judged = not all(isinstance(of, core.ScoreTable | core.Ranked) for of in sources.values())
        side = _of_people(human, by, of_ratings, judged=judged, clusters=clusters)
    usual = meta.MEAN if by == "z-score" else by or side.method
    table = join_scores(sources, by=usual, systems=systems, drop=drop)
    return known.as_published(table) if known and published_data else table, side


def sides_of(
    options: Mapping[str, Any], *, clusters: bool = False
) -> tuple[core.ScoreTable, Human]:
    """Read both sides by the arguments of a verb, once its figures can be written."""
    for name in ("figure", "figure_williams"):
        if options.get(name):
            rendering.check_figure(options[name])
    return read_sides(**{name: options[name] for name in _SIDES}, clusters=clusters)


def _of_people(
    human: HumanScores, by: str | None, of_ratings: Mapping[str, Any], *, judged: bool,
    clusters: bool,
) -> Human:  # fmt: skip
    """Score systems; ratings by their means, or as the rankings that they make."""
    name, read = "human scores", human
    files = {name: of_ratings.get(name) for name in _OF_FILES}
    if isinstance(human, PathLike):
        name, read = formats.metric_name(human), formats.read_human(human, **files)
    else:
        check_home(False, "files of ratings", **files)
    assert not isinstance(read, PathLike)
    notices: tuple[str, ...] = getattr(read, "notices", ())
    is_rated = isinstance(read, formats.Ratings)
    criterion, average = of_ratings.get("criterion"), of_ratings.get("average")
    check_home(is_rated, "ratings", criterion=criterion, average=average)
    check_home(is_rated, "ratings", by=by == "z-score")
    if isinstance(read, formats.Ratings):
        if by in (None, *ranking.RATED):
            read = rank(read, by=by or meta.MEAN, criterion=criterion, average=average)
            return replace(human_side(read, name=name), notices=notices)
        check_home(False, "--by mean and z-score", average=average)
        read = read.rankings(criterion)
    options: dict[str, Any] = {"by": by, "other_is_judged": judged, "clusters": clusters}
    return replace(human_side(read, name=name, **options), notices=notices)


def _of_benchmark(known: formats.Benchmark, by: str | None, sources: Mapping[str, Source]) -> Human:
    """Take the paper's own scores where they are stored and no other method is wanted."""
    *_, (last, source) = sources.items()
    notes: tuple[str, ...] = ()
    if len(sources) > 1 and not isinstance(source, core.ScoreTable):
        notes = (f"{last} is taken in the place of a metric: people's side is {known.name}",)
    stored = known.read_scores() if by in (None, known.method) else None
    if stored is not None:
        name = f"{known.name}, {known.method} as published"
        return Human(scores=stored, name=name, method=known.method, notes=notes)
    human = human_side(known.read_judgments(), name=known.name, by=by or known.method)
    return replace(human, name=f"{known.name}, {human.name}", notes=(*notes, *human.notes))
