"""``grammeter judge``: a language model ranks outputs as people do."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import grammeter as gm
from grammeter import formats, llm, metrics, verbs
from grammeter.cli import demo, flags, inputs
from grammeter.cli.output import notice, print_json, print_result, progress, put, remark

ONLINE = ("--concurrency", "--requests-per-minute", "--tokens-per-minute", "--max-requests",
          "--max-tokens", "--max-cost")  # fmt: skip
"""Options that have no effect beside --offline."""

OF_CORPUS = frozenset((
    "--source", "--references", "--hyps", "--names", "--corpus", "--um", "--missing-annotator",
    "--normalise", "--lenient", "--items", "--first-segment", "--per-output",
))  # fmt: skip
"""Options that are not possible beside --benchmark."""


def run(args: argparse.Namespace) -> int:
    """Judge items, write the judgments, return the exit code."""
    if args.demo:
        if others := sorted(getattr(args, "asked", set[str]()) - {"--demo", "--output", "--quiet"}):
            fault = f"--demo goes without {', '.join(others)}"
            raise gm.UsageError(fault, fix="Give -o FILE alone.")
        return demo.run_judge(args)
    if args.format == "json" and not (args.output or args.dry_run or args.submit):
        fix = "Name a file for the judgments with -o, or leave out --format."
        raise gm.UsageError("--format json prints counts and notes where the judgments go", fix=fix)
    names = ("prompt", "per_output", "permute", "repeats", "seed", "coverage")
    settings = {name: getattr(args, name) for name in names}
    metric = verbs.judging_metric(args.metric, **settings)  # refuses wrong options before any work
    formats.check_folder(args.output)
    options: Any = {**settings, "metric": metric, "benchmark": args.benchmark}
    corpus, items = _material(args)
    with (
        gm.using(inputs.runtime(args, cached=False)),
        inputs.asking(args, concessions=False),
        progress(args, note=lambda: str(llm.current().bill)),
    ):
        inputs.remark_unused(args, [metric])
        remark(filter(None, [metric.notice]))
        if args.dry_run or args.submit:
            return _plan(args, corpus=corpus, items=items, **options)
        given: Any = {"collect": args.collect, **options}
        judged = verbs.judge(corpus, items, dry_run=False, submit=None, **given)
    put(args.output, formats.format_judgments(judged.rankings, "jsonl"))
    for text in _summary(judged, metric):
        notice(args, text)
    if silent := "--offline" if args.offline else "--collect" if args.collect else "":
        flags.remark_idle(args, f"with {silent} nothing is sent", *ONLINE)
    if args.format == "json":
        print_json(judged.to_dict())
    else:
        remark(judged.notes)
    if judged.shortfall:
        print(judged.shortfall, file=sys.stderr)
    return int(judged.shortfall is not None)


def _material(
    args: argparse.Namespace,
) -> tuple[formats.Corpus | None, Sequence[verbs.Shown] | None]:
    if args.benchmark is None:
        corpus = inputs.corpus(args, noted=not args.dry_run)
        return corpus, _items(args, corpus)
    if others := sorted(OF_CORPUS & getattr(args, "asked", set[str]())):
        fix = f"Leave out {', '.join(others)}."
        raise gm.UsageError("--benchmark has sources, outputs and items of its own", fix=fix)
    return None, None


def _items(args: argparse.Namespace, corpus: formats.Corpus) -> Sequence[verbs.Shown] | None:
    verbs.check_shown(corpus, args.items, args.per_output)
    if args.items is None and args.first_segment is not None:
        raise gm.UsageError("--first-segment belongs to --items", fix="Leave out --first-segment.")
    if args.items is None:
        return None
    if args.items == formats.STDIN:
        raise gm.UsageError("--items -", fix="Give a file: its format is told by its content.")
    if formats.is_items(args.items):
        if args.first_segment is not None:
            fix = "Leave out --first-segment."
            raise gm.UsageError("--first-segment: items count sentences from 1", fix=fix)
        return formats.read_items(args.items)
    of: Any = {"first_segment": args.first_segment, "systems": corpus.systems}
    judgments = formats.read_rankings(args.items, **of)
    for text in judgments.notices:
        notice(args, text)
    return judgments


def _plan(args: argparse.Namespace, **options: Any) -> int:
    """Print what a judge would take, or its request files; return 1 if a ceiling left out any."""
    left = 0
    if args.dry_run:
        planned = verbs.judge(**options, dry_run=True)
        print_result(args, planned)
        if (planned.cost or 0) > (args.max_cost or math.inf):
            notice(args, f"--max-cost {args.max_cost:g} would end it before it is done")
    else:
        planned = verbs.judge(**options, submit=str(args.submit))
        print_result(args, planned)
        left = planned.left
        if planned.files:
            next_one = f"the same command with --collect {args.submit}"
            notice(args, "send each file as a batch, put the files that come back into the same"
                   f" folder, then: {next_one}")  # fmt: skip
        if left:
            remark([f"{left} requests have no room under the ceiling, if each takes as much as it"
                    " may: --submit again, after --collect, writes these"])  # fmt: skip
    why = f"{'--dry-run' if args.dry_run else '--submit'} sends nothing and writes no judgments"
    flags.remark_idle(args, why, "--output", "--coverage", "--offline")
    return int(left > 0)


def _summary(judged: verbs.Judged, metric: metrics.Judging) -> Iterator[str]:
    alone = len(judged.rankings) - judged.due
    ties = f", {alone} of them with one output, which are ties" if alone else ""
    yield f"{len(judged.rankings)} items{ties}"
    if metric.permutations * metric.repeats > 1:
        spread = f"{judged.spread:.2f} on average over orders and repeats"
        yield f"a target's highest and lowest score differ by {spread}"
    yield f"signature: {judged.signature}"
