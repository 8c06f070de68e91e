"""``grammeter batch``: score, filter and annotate tables of any length."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from grammeter.cli import model_arguments
from grammeter.cli.homes import check_home
from grammeter.cli.output import notice, print_json, progress, remark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grammeter.engine import Summary
    from grammeter.formats import Shard

FORMS = ("jsonl", "tsv", "csv", "parquet")

FIRST = 5
"""Files whose line ends are checked before the run: the others will be like them."""

OPTIONS = (
    "output", "source", "hypothesis", "reference", "longest", "keep", "edits", "output_form",
    "engine", "jobs", "block", "address", "gpus_per_worker", "cpus_per_worker",
)  # fmt: skip
"""Options that are parameters of the function by the same names."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.description = (
        "Score the rows of tables and write them again with a column for each metric. Memory"
        " does not grow with the input; the same command goes on where an earlier run ended."
    )
    parser.epilog = (
        "examples:\n"
        "  grammeter batch pairs.jsonl -m gleu --reference ref -o scored/ --jobs 2\n"
        "  grammeter batch 'pairs/*.parquet' -m impara -o scored/ --keep 'impara >= 0.9'\n"
        "  grammeter batch src.txt:hyp.txt -m 'errant(pipeline=neutral)' -o scored/"
    )
    _add_input(parser)
    _add_work(parser)
    _add_engine(parser)
    model_arguments.add_models(parser)
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", help="default: %(default)s"
    )
    parser.add_argument("--quiet", action="store_true", help="no notices and no progress")


def _add_input(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("input").add_argument
    add(
        "inputs",
        nargs="+",
        metavar="FILE",
        help="jsonl, tsv, csv or parquet, .gz or not; a pattern in quotes; or parallel texts as"
        " source.txt:hypothesis.txt[:reference.txt]",
    )
    add("--source", default="source", metavar="NAME", help="column; default: %(default)s")
    add("--hypothesis", default="hypothesis", metavar="NAME", help="column; default: %(default)s")
    add("--reference", nargs="+", default=[], metavar="NAME", help="columns; default: none")
    add("--input-form", choices=FORMS, help="default: what the files' names say")
    add(
        "--longest",
        type=int,
        default=1000,
        metavar="N",
        help="a longer text makes its row one with an error; default: %(default)s",
    )


def _add_work(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("work").add_argument
    add("-m", "--metrics", nargs="+", required=True, metavar="METRIC", help="each is a column")
    add(
        "--keep",
        metavar="FILTER",
        help="write only the rows that pass: 'impara >= 0.9 and errant.edits <= 6'",
    )
    add("--edits", choices=("m2", "list"), help="also write the edits of metrics that find some")
    add("-o", "--output", required=True, metavar="DIR", help="folder of the scored files")
    add("--output-form", choices=FORMS, help="default: as the input")


def _add_engine(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("engine").add_argument
    add("--engine", choices=("local", "ray"), default="local", help="default: %(default)s")
    add("--jobs", type=int, metavar="N", help="processes (ray: actors); default: 1")
    add(
        "--block",
        type=int,
        default=1000,
        metavar="N",
        help="rows scored together; default: %(default)s",
    )
    add("--address", metavar="ADDRESS", help="ray: of the cluster, 'auto' for one that runs here")
    add("--gpus-per-worker", type=float, default=0.0, metavar="G", help="ray: default 0")
    add("--cpus-per-worker", type=float, metavar="C", help="ray: default 0.5, as readers need some")


def run(args: argparse.Namespace) -> int:
    """Score and print the counts; return the exit code."""
    from grammeter.engine import batch
    from grammeter.formats import find_shards, odd_ends
    from grammeter.metrics import metric
    from grammeter.models import using

    ray = ("--address", "--gpus-per-worker", "--cpus-per-worker")
    check_home(args, args.engine == "ray", "--engine ray", *ray)
    shards = find_shards(args.inputs, args.input_form)
    for text in [text for shard in shards[:FIRST] for text in odd_ends(shard)]:
        notice(args, text)
    early: list[str] = []

    def on_note(note: str) -> None:
        early.append(note)
        remark([note])

    with using(model_arguments.runtime(args)):
        model_arguments.remark_unused(args, list(map(metric, args.metrics)))
        with progress(args) as shown:
            try:
                summary = batch(
                    shards,
                    args.metrics,
                    on_note=on_note,
                    **{option: getattr(args, option) for option in OPTIONS},
                )
            except KeyboardInterrupt:
                shown.clear()
                notice(args, f"{args.output} keeps the finished files; the same command goes on")
                raise
    remark(note for note in summary.notes if note not in early)
    _tell(args, shards, summary)
    return 0


def _tell(args: argparse.Namespace, shards: Sequence[Shard], summary: Summary) -> None:
    """Print the counts; rows with an error are told even if quiet: they are no notice.

    Times go to standard error, so that the same work prints the same.
    """
    from grammeter.engine import ERRORS

    totals = summary.all
    if totals.errors:
        more = totals.errors - len(summary.faults)
        print(f"{totals.errors} of {totals.rows} rows have an error:", file=sys.stderr)
        for text in summary.faults:
            print(f"  {text}", file=sys.stderr)
        if more > 0:
            print(f"  and {more} more; all in {args.output}/{ERRORS}", file=sys.stderr)
    files = f"{len(shards)} file" + "s" * (len(shards) != 1)
    if summary.earlier:
        notice(args, f"{len(summary.earlier)} of {files} finished already")
    if summary.fresh:
        rate = summary.fresh / summary.seconds
        notice(args, f"{summary.fresh} rows in {summary.seconds:.1f} s, {rate:.0f} a second")
    if args.format == "json":
        print_json(summary.to_dict())
        return
    filtered = f", {totals.kept} kept" if args.keep else ""
    print(f"{totals.rows} rows of {files}{filtered}, {totals.errors} with an error: {args.output}")
