"""The arguments by which scores and people's scores are named, shared by questions of ``meta``."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from grammeter.cli.output import drawn, emit, notice

if TYPE_CHECKING:
    from grammeter.rendering import Table

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


def add_metrics(add: Callable[..., Any]) -> None:
    """Declare which metrics of the scores take part."""
    add("-m", "--metrics", nargs="+", metavar="METRIC", help="default: all in the file")


def call(args: argparse.Namespace, verb: Callable[..., Any], **more: Any) -> Any:
    """Call a verb with the arguments that have the names of its parameters.

    The last of several files is people's side, unless a benchmark takes its place.
    """
    names = inspect.signature(verb).parameters
    options = {name: getattr(args, name) for name in names if hasattr(args, name)}
    if hasattr(args, "files"):
        human = None if args.benchmark or len(args.files) < 2 else args.files[-1]
        more = {"scores": args.files[: -1 if human else None], "human": human, **more}
    result = verb(**(options | more))
    for text in getattr(result, "notices", ()):
        notice(args, text)
    return result


def show(
    args: argparse.Namespace,
    result: Any,
    tables: Callable[[], Iterable[Table]],
    rows: Callable[[], Table],
) -> int:
    """Print a result: ``tables`` for people, or ``rows`` for programs; return the exit code."""
    long = args.format == "tsv"
    emit(args, result.to_dict(), lambda: drawn(args, *([rows()] if long else tables())))
    return 0
