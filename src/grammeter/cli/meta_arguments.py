"""The arguments by which scores and people's scores are named, shared by questions of ``meta``."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grammeter.cli.output import notice, remark

if TYPE_CHECKING:
    from grammeter.core import ScoreTable
    from grammeter.formats import Benchmark
    from grammeter.meta import Human, Source

METHODS = ("expected-wins", "trueskill", "bradley-terry")
MEAN = "mean"
BENCHMARKS = ("gjg15", "seeda-e", "seeda-s")


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add the files, the benchmark, and which systems take part."""
    add = parser.add_argument
    add(
        "files",
        metavar="FILE",
        nargs="+",
        help="SCORES ... HUMAN. Scores: what 'grammeter score -o FILE' wrote, TSV (metric system"
        " [segment] value), or a judge in the place of a metric: judgments, what 'grammeter rank -o"
        " FILE' wrote. The last file is people's side: a ranking, TSV (system value), or judgments",
    )
    add("--benchmark", choices=BENCHMARKS, help="people's scores of a data set, in place of HUMAN")
    add(
        "--published-data",
        action="store_true",
        help="as SEEDA's published figures have it: LM-Critic is scored by PIE's outputs",
    )
    add(
        "--by",
        choices=(*METHODS, MEAN),
        help="how judgments on either side become scores; mean: of the scores that the judges gave;"
        " default: expected-wins, or as the benchmark or ranking on the human side",
    )
    add(
        "--systems",
        nargs="+",
        metavar="NAME",
        help="only these; base, +input and +fluent are the sets of SEEDA; default: all",
    )
    add("--drop", nargs="+", default=[], metavar="NAME", help="all but these")


@dataclass(frozen=True)
class Inputs:
    """What is held against what."""

    table: ScoreTable
    human: Human


def read_inputs(args: argparse.Namespace, *, clusters: bool = False) -> Inputs:
    """Read both sides.

    Parameters
    ----------
    clusters
        Whether judgments are to be ranked with clusters, which takes a bootstrap.

    Raises
    ------
    UsageError
        If neither or both of a file and a benchmark are named, or ``--by`` has nothing to do.
    """
    from grammeter.core import ScoreTable, UsageError
    from grammeter.formats import Judgments, benchmark
    from grammeter.meta import join_scores

    if len(args.files) < 2 and args.benchmark is None:
        raise UsageError(
            "people's scores come from one place",
            fix="Give a file after the scores, or --benchmark NAME.",
        )
    if args.published_data and not args.benchmark:
        raise UsageError(
            "--published-data is about a benchmark", fix="Add --benchmark seeda-e or seeda-s."
        )
    paths = args.files if args.benchmark else args.files[:-1]
    sources = read_sources(paths)
    judged = any(isinstance(source, Judgments) for source in sources.values())
    *_, last = sources.items()
    if args.benchmark and len(sources) > 1 and not isinstance(last[1], ScoreTable):
        taken = f"{last[0]} is taken in the place of a metric: people's side is {args.benchmark}"
        remark([f"--benchmark: {taken}"])
    if args.benchmark:
        human = _of_benchmark(args, benchmark(args.benchmark))
    else:
        human = _of_file(args, judged=judged, clusters=clusters)
    by = args.by or human.method
    table = join_scores(sources, by=by, systems=args.systems, drop=args.drop)
    if args.published_data:
        table = benchmark(args.benchmark).as_published(table)
    return Inputs(table, human)


def read_sources(paths: list[str]) -> dict[str, Source]:
    """Read scores, rankings and judgments; the latter two are named as metrics."""
    from grammeter.core import ScoreTable, UsageError
    from grammeter.formats import foreign

    sources: dict[str, Source] = {}
    for path in paths:
        source = foreign.read_any_scores(path)
        name = str(path) if isinstance(source, ScoreTable) else foreign.metric_name(path)
        if name in sources:
            raise UsageError(
                f"two files of scores are called {name!r}", fix="Name each once, or rename one."
            )
        sources[name] = source
    return sources


def _of_file(args: argparse.Namespace, *, judged: bool, clusters: bool) -> Human:
    from grammeter.formats import Judgments, foreign
    from grammeter.meta import human_side

    path = args.files[-1]
    human = foreign.read_human(path)
    for text in human.notices if isinstance(human, Judgments) else ():
        notice(args, text)
    name = foreign.metric_name(path)
    return human_side(human, name=name, by=args.by, other_is_judged=judged, clusters=clusters)


def _of_benchmark(args: argparse.Namespace, chosen: Benchmark) -> Human:
    """Take the paper's own scores where they are stored and no other method is asked for."""
    from grammeter.meta import Human, human_side

    stored = chosen.read_scores() if args.by in (None, chosen.method) else None
    if stored is not None:
        name = f"{chosen.name}, {chosen.method} as published"
        return Human(scores=stored, name=name, method=chosen.method)
    judgments = chosen.read_judgments()
    human = human_side(judgments, name=chosen.name, by=args.by or chosen.method)
    return replace(human, name=f"{chosen.name}, {human.name}")
