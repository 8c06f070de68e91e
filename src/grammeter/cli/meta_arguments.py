"""The arguments by which scores and people's scores are named, shared by questions of ``meta``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from grammeter.cli.output import notice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grammeter.core.judgment import Ranking
    from grammeter.core.signature import Signature
    from grammeter.core.table import ScoreTable

METHODS = ("expected-wins", "trueskill", "bradley-terry")
BENCHMARKS = ("gjg15", "seeda-e", "seeda-s")


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add the two files, the benchmark, and which systems take part."""
    add = parser.add_argument
    add(
        "scores",
        metavar="SCORES",
        help="what 'grammeter score -o FILE' wrote, or TSV: metric system [segment] value",
    )
    add(
        "human",
        metavar="HUMAN",
        nargs="?",
        help="what 'grammeter rank -o FILE' wrote, TSV: system value, or judgments",
    )
    add("--benchmark", choices=BENCHMARKS, help="people's scores of a data set, in place of HUMAN")
    add(
        "--published-data",
        action="store_true",
        help="as SEEDA's published figures have it: LM-Critic is scored by PIE's outputs",
    )
    add(
        "--by",
        choices=METHODS,
        help="how judgments become scores; default: expected-wins, of a benchmark as in its paper",
    )
    add(
        "--systems",
        nargs="+",
        metavar="NAME",
        help="only these; base, +input and +fluent are the sets of SEEDA; default: all",
    )
    add("--drop", nargs="+", default=[], metavar="NAME", help="all but these")


def read_scores(args: argparse.Namespace) -> ScoreTable:
    """Read the metrics' scores, with ``--published-data`` as the benchmark's figures had them.

    Raises
    ------
    UsageError
        If there is no benchmark, or its published data are those of today.
    """
    from grammeter.core.errors import UsageError
    from grammeter.corpus.benchmarks import benchmark
    from grammeter.corpus.foreign import read_score_file

    if args.published_data and not args.benchmark:
        raise UsageError(
            "--published-data is about a benchmark", fix="Add --benchmark seeda-e or seeda-s."
        )
    table = read_score_file(args.scores)
    return benchmark(args.benchmark).as_published(table) if args.published_data else table


def read_human(args: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Read people's scores of systems, and what to call them.

    Raises
    ------
    UsageError
        If neither or both of a file and a benchmark are named, or ``--by`` has nothing to do.
    """
    from grammeter.core.errors import UsageError
    from grammeter.core.ranked import Ranked
    from grammeter.corpus import foreign
    from grammeter.corpus.judgments import Judgments

    if (args.human is None) == (args.benchmark is None):
        raise UsageError(
            "people's scores come from one place", fix="Give a file HUMAN, or --benchmark NAME."
        )
    if args.benchmark:
        return _of_benchmark(args)
    found = foreign.read_human(args.human)
    if isinstance(found, Judgments):
        for text in found.notices:
            notice(args, text)
        return _ranked(found, args.by or METHODS[0])
    if args.by:
        raise UsageError(
            f"{args.human} holds scores, so --by {args.by} has nothing to do",
            fix="Leave it out, or give the judgments themselves.",
        )
    if isinstance(found, Ranked):
        return foreign.system_scores(found), _spelled(found.signature)
    return found, foreign.metric_name(args.human)


def _of_benchmark(args: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Take the paper's own scores where they are stored and no other method is asked for."""
    from grammeter.corpus.benchmarks import benchmark

    chosen = benchmark(args.benchmark)
    stored = chosen.read_scores() if args.by in (None, chosen.method) else None
    if stored is not None:
        return stored, f"{chosen.name}, {chosen.method} as published"
    scores, signature = _ranked(chosen.read_judgments(), args.by or chosen.method)
    return scores, f"{chosen.name}, {signature}"


def _ranked(rankings: Sequence[Ranking], by: str) -> tuple[dict[str, float], str]:
    from grammeter.meta.aggregate import human_scores

    scores, signature = human_scores(rankings, by=by)
    return scores, _spelled(signature)


def _spelled(signature: Signature) -> str:
    """Write a signature so that it stands inside another one without being encoded."""
    return f"{signature.name}({', '.join(f'{key}={value}' for key, value in signature)})"
