"""What a meta-evaluation compares: scores of metrics and of people, from values or files."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from grammeter import formats, rendering
from grammeter.core import Ranked, Ranking, ScoreTable, UsageError
from grammeter.formats import benchmark as find_benchmark
from grammeter.meta import Human, Source, human_side, join_scores

PathLike = str | Path
Place = PathLike | ScoreTable | Ranked | Sequence[Ranking]
"""Where scores come from: a file, or what stands in one."""
Scores = Place | Mapping[str, Place] | Sequence[Place]
HumanScores = PathLike | Ranked | Mapping[str, float] | Sequence[Ranking]
Places = Sequence[tuple[str | None, Place]]
"""Names and places; a file without a name is named when it is read."""


def named_places(scores: Scores) -> Places:
    """Name what scores come from; a list of rankings is judgments, any other a list of places."""
    if isinstance(scores, ScoreTable):
        return [("scores", scores)]
    if isinstance(scores, Ranked):
        return [("ranking", scores)]
    if isinstance(scores, Mapping):
        return list(scores.items())
    if isinstance(scores, PathLike):
        return [(None, scores)]
    if all(isinstance(place, Ranking) for place in scores):
        return [("judgments", cast("Sequence[Ranking]", scores))]
    places = enumerate(cast("Sequence[Place]", scores), start=1)
    return [(None if isinstance(p, PathLike) else f"scores {n}", p) for n, p in places]


def named_sources(places: Places) -> dict[str, Source]:
    """Read scores, rankings and judgments; the latter two are named as metrics."""
    sources: dict[str, Source] = {}
    for stated, place in places:
        source = formats.read_any_scores(place) if isinstance(place, PathLike) else place
        name = stated or str(place)
        if stated is None and not isinstance(source, ScoreTable):
            name = formats.metric_name(str(place))
        if name in sources:
            fix = "Name each once, or rename one."
            raise UsageError(f"two files of scores are called {name!r}", fix=fix)
        sources[name] = source
    return sources


def read_sides(
    scores: Scores,
    human: HumanScores | None,
    *,
    benchmark: str | None = None,
    published_data: bool = False,
    by: str | None = None,
    systems: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    clusters: bool = False,
) -> tuple[ScoreTable, Human]:
    """Read the scores of metrics and of people; ``clusters``: rank judgments with clusters."""
    if (human is None) == (benchmark is None):
        fix = "Give a file after the scores, or --benchmark NAME."
        raise UsageError("people's scores come from one place", fix=fix)
    if published_data and not benchmark:
        fix = "Add --benchmark seeda-e or seeda-s."
        raise UsageError("--published-data is about a benchmark", fix=fix)
    sources = named_sources(named_places(scores))
    known = find_benchmark(benchmark) if benchmark else None
    if known is not None:
        side = _of_benchmark(known, by, sources)
    else:
        assert human is not None
        judged = any(not isinstance(source, ScoreTable | Ranked) for source in sources.values())
        side = _of_people(human, by, judged=judged, clusters=clusters)
    table = join_scores(sources, by=by or side.method, systems=systems, drop=drop)
    return known.as_published(table) if known and published_data else table, side


def sides_of(options: Mapping[str, Any], *, clusters: bool = False) -> tuple[ScoreTable, Human]:
    """Read both sides by the arguments of a verb, once its figures can be written."""
    for name in ("figure", "figure_williams"):
        if options.get(name):
            rendering.check_figure(options[name])
    names = ("scores", "human", "benchmark", "published_data", "by", "systems", "drop")
    return read_sides(**{name: options[name] for name in names}, clusters=clusters)


def _of_people(human: HumanScores, by: str | None, *, judged: bool, clusters: bool) -> Human:
    options: dict[str, Any] = {"by": by, "other_is_judged": judged, "clusters": clusters}
    if isinstance(human, PathLike):
        read = formats.read_human(human)
        side = human_side(read, name=formats.metric_name(human), **options)
        return replace(side, notices=getattr(read, "notices", ()))
    return human_side(human, **options)


def _of_benchmark(known: formats.Benchmark, by: str | None, sources: Mapping[str, Source]) -> Human:
    """Take the paper's own scores where they are stored and no other method is wanted."""
    *_, (last, source) = sources.items()
    notes: tuple[str, ...] = ()
    if len(sources) > 1 and not isinstance(source, ScoreTable):
        notes = (f"{last} is taken in the place of a metric: people's side is {known.name}",)
    stored = known.read_scores() if by in (None, known.method) else None
    if stored is not None:
        name = f"{known.name}, {known.method} as published"
        return Human(scores=stored, name=name, method=known.method, notes=notes)
    human = human_side(known.read_judgments(), name=known.name, by=by or known.method)
    return replace(human, name=f"{known.name}, {human.name}", notes=(*notes, *human.notes))
