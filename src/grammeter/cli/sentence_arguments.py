"""The arguments that name scores and judgments of the same sentences, and how both are read."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from grammeter.cli import judgment_arguments
from grammeter.cli.homes import remark_idle
from grammeter.cli.meta_arguments import read_sources
from grammeter.cli.output import notice

if TYPE_CHECKING:
    from grammeter.core import ScoreTable
    from grammeter.formats import Judgments
    from grammeter.meta import Source


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add the scores, and the judgments that they are held against."""
    parser.add_argument(
        "scores",
        metavar="SCORES",
        help="what 'grammeter score -o FILE' wrote, TSV with the header 'metric system segment"
        " value', or a judge in the place of a metric: judgments, as of 'grammeter judge -o'",
    )
    judgment_arguments.add_judgments(parser)
    parser.add_argument(
        "--scores",
        dest="more",
        nargs="+",
        default=[],
        metavar="SCORES",
        help="more files of scores, or of judgments in the place of scores",
    )


def read_sides(args: argparse.Namespace) -> tuple[ScoreTable, Judgments]:
    """Read the scores, and the judgments that they are held against.

    Scores may be judgments, too, of a language model or other people; all judgments count their
    sentences alike. Files of scores among the judgments are scores.

    Raises
    ------
    UsageError
        If no judgments are left, or judgments in the place of scores come from standard input.
    """
    from grammeter.core import ScoreTable, UsageError
    from grammeter.formats import foreign, judgments
    from grammeter.meta import join_scores

    more = [path for path in args.judgments if path != "-" and not foreign.is_judged(path)]
    people = [path for path in args.judgments if path not in more]
    paths = [args.scores, *args.more, *more]
    sources = read_sources(paths)
    judged = {foreign.metric_name(p): p for p in paths if _is_judged(sources, p)}
    if not people or "-" in judged.values():
        raise UsageError(
            "judgments to hold the scores against are missing"
            if not people
            else "judgments in the place of scores come from a file, not from standard input",
            fix="Give scores first, then judgments.",
        )
    sides = judgments.read_sides(
        [people, *([path] for path in judged.values())],
        partial(
            _read, args, [source for source in sources.values() if isinstance(source, ScoreTable)]
        ),
        alone=len(judged) == len(sources),
    )
    for text in sides[0].notices:
        notice(args, text)
    if all(file.form == "jsonl" for side in sides for file in side.files):
        remark_idle(args, "JSON lines count sentences from 1", "--first-segment")
    sources |= dict(zip(judged, sides[1:], strict=True))
    last = max(ranking.segment for ranking in sides[0])
    table = join_scores(sources, systems=args.systems, drop=args.drop, segments=last)
    return table, sides[0]


def _is_judged(sources: Mapping[str, Source], path: str) -> bool:
    from grammeter.formats import Judgments, metric_name

    return isinstance(sources.get(metric_name(path)), Judgments)


def _read(
    args: argparse.Namespace, tables: Sequence[ScoreTable], paths: Sequence[str]
) -> Judgments:
    """Read judgments; the outputs that were scored tell the number of the first sentence."""
    from grammeter.formats import Corpus, read_judgments, read_judgments_of, read_outputs

    if args.hyps:
        outputs = read_outputs(args.hyps)
        return read_judgments(paths, first_segment=args.first_segment, systems=outputs)
    corpus = next((table.corpus for table in tables if table.corpus is not None), None)
    return read_judgments_of(
        paths,
        None if corpus is None else Corpus.from_json(corpus).systems,
        segments=max((table.segments for table in tables), default=0),
        first_segment=args.first_segment,
    )
