"""What verbs read: the arguments that name corpora, judgments and metrics, and their reading."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from grammeter.cli.flags import NO_FAULTS, add_options, options, remark_idle
from grammeter.cli.output import notice, remark

if TYPE_CHECKING:
    from grammeter.formats import Corpus, Judgments

METRICS = {"metrics": "spellings such as m2 or \"gleu(order=3)\"; 'grammeter list' shows all"}
JUDGES = {"judge": "only these judges", "without_judge": "all but these judges"}
SYSTEMS = {
    "systems": "only these; base, +input and +fluent are the sets of SEEDA; default: all",
    "drop": "all but these",
}
TIERS = "R, NOUN:NUM or, by default, R:NOUN:NUM"
"""What values ``--types`` has."""
EXTRACTION = {"extraction": "compare all systems behind an output, or one of them"}
WHO = JUDGES | SYSTEMS


def add_corpus(parser: argparse.ArgumentParser) -> None:
    """Add sources, references, outputs, and how they are read."""
    names: dict[str, Any] = {
        "source": {"names": ["-s", "--source"]},
        "references": {"names": ["-r", "--references"]},
        "systems": {"names": ["--hyps"], "dest": "hyps"},
    }
    add_options(parser, "formats.read_corpus", {
        "source": "source sentences, a text or an M2 file; several are read one after the other;"
        " default: the S lines of the gold M2",
        "references": "reference texts, gold edits (M2, or SGML with its sentences as --source),"
        " or both",
        "systems": "system outputs, one file a system: texts, or M2 files, FILE.m2:1 where several"
        " annotators are in it; '-' is standard input",
        "names": "the systems' names; default: from the files",
        "corpus": "all of these in one table: JSON lines, TSV, CSV or parquet",
        "um": "gold edits of the types Um and UNK, when made into texts",
        "missing_annotator": "text of an annotator who is not listed for a sentence",
        "normalise": "bring all texts to this Unicode form; default: as they are",
        "lenient": "pass over M2 edits outside their sentence and unknown lines, and count them",
    }, "corpus", **names)  # fmt: skip


def corpus(args: argparse.Namespace, *, noted: bool = False, references: bool = True) -> Corpus:
    """Read the corpus of the arguments; print its notes unless the result has them (``noted``)."""
    from grammeter.formats import read_corpus

    corpus = read_corpus(**options(args, read_corpus, systems=args.hyps))
    for text in corpus.notices:
        notice(args, text)
    if not noted:
        remark(corpus.notes)
    if not references:
        unused = ["--um", "--missing-annotator", *(["--references"] if args.source else [])]
        remark_idle(args, "references are not looked at", *unused)
    elif corpus.text_rule == "given":
        why = "no reference text is made from gold edits"
        remark_idle(args, why, "--um", "--missing-annotator")
    if not corpus.notes:
        remark_idle(args, NO_FAULTS, "--lenient")
    return corpus


def add_judgments(parser: argparse.ArgumentParser) -> None:
    """Add the files of judgments, and how their sentences are counted."""
    parser.add_argument(
        "judgments",
        nargs="+",
        metavar="JUDGMENTS",
        help="Appraise XML, WMT CSV or JSON lines; '-' is standard input",
    )
    add_first_segment(parser, "in the outputs of --hyps or in the other files, else 0")
    parser.add_argument(
        "--hyps",
        nargs="+",
        default=[],
        metavar="FILE",
        help="the outputs that were judged, one file a system; judgments are checked against them",
    )


def add_first_segment(parser: Any, where: str) -> None:
    """Add the number of the first sentence in judgments; ``where`` it is found by default."""
    text = "the number that Appraise and WMT files give to the first sentence; default: found "
    add_options(parser, "formats.read_judgments", {"first_segment": text + where})


def judgments(args: argparse.Namespace) -> Judgments:
    """Read the arguments' judgments, print notes; dropped systems need no output of ``--hyps``."""
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
