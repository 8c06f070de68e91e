"""The arguments by which judgments are named, shared by the verbs that read them."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import TYPE_CHECKING

from grammeter.cli.chance_arguments import Add
from grammeter.cli.output import notice

if TYPE_CHECKING:
    from grammeter.formats import Judgments

EXTRACTIONS = ("expanded", "unexpanded")


def add_judgments(parser: argparse.ArgumentParser) -> None:
    """Add the files of judgments, and how their sentences are counted."""
    parser.add_argument(
        "judgments",
        nargs="+",
        metavar="JUDGMENTS",
        help="Appraise XML, WMT CSV or JSON lines; '-' is standard input",
    )
    parser.add_argument(
        "--first-segment",
        type=int,
        choices=[0, 1],
        help="the number that Appraise and WMT files give to the first sentence; default: found"
        " in the outputs of --hyps or in the other files, else 0",
    )
    parser.add_argument(
        "--hyps",
        nargs="+",
        default=[],
        metavar="FILE",
        help="the outputs that were judged, one file a system; judgments are checked against them",
    )


def add_extraction(add: Add) -> None:
    """Declare which comparisons an output makes that several systems share."""
    add(
        "--extraction",
        "--pairs",
        choices=EXTRACTIONS,
        default="expanded",
        help="compare all systems behind an output, or one of them; default: %(default)s",
    )


def read(args: argparse.Namespace) -> Judgments:
    """Read the judgments that the arguments name, and say what is to be known of them.

    Systems that take no part, by ``--systems`` or ``--drop`` where a verb has them, need no
    output of ``--hyps``.
    """
    from grammeter.formats import read_judgments, read_outputs

    outputs = read_outputs(args.hyps) if args.hyps else None
    judgments = read_judgments(
        args.judgments,
        first_segment=args.first_segment,
        systems=outputs,
        drop=_Left(args, outputs or ()),
    )
    for text in judgments.notices:
        notice(args, text)
    return judgments


class _Left:
    """The systems that take no part."""

    def __init__(self, args: argparse.Namespace, known: Collection[str]) -> None:
        from grammeter.ranking import named_systems

        chosen: list[str] | None = getattr(args, "systems", None)
        everyone = chosen is None or chosen == ["all"]
        self._dropped: set[str] = set(getattr(args, "drop", None) or ())
        self._chosen = None if everyone else {*named_systems(chosen or [], known)}

    def __contains__(self, name: object) -> bool:
        return name in self._dropped or (self._chosen is not None and name not in self._chosen)
