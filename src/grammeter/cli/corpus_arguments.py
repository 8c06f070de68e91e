"""The arguments by which a corpus is named, shared by the verbs that read one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from grammeter.cli.homes import NO_FAULTS, remark_idle
from grammeter.cli.output import notice, remark

if TYPE_CHECKING:
    from grammeter.formats import Corpus


def add_corpus(parser: argparse.ArgumentParser) -> None:
    """Add sources, references, outputs, and how they are read."""
    group = parser.add_argument_group("corpus")
    group.add_argument(
        "-s",
        "--source",
        nargs="+",
        metavar="FILE",
        help="source sentences, a text or an M2 file; several are read one after the other;"
        " default: the S lines of the gold M2",
    )
    group.add_argument(
        "-r",
        "--references",
        nargs="+",
        default=[],
        metavar="FILE",
        help="reference texts, gold edits (M2, or SGML with its sentences as --source), or both",
    )
    group.add_argument(
        "--hyps",
        nargs="+",
        default=[],
        metavar="FILE",
        help="system outputs, one file a system: texts, or M2 files, FILE.m2:1 where several"
        " annotators are in it; '-' is standard input",
    )
    group.add_argument(
        "--names", nargs="+", metavar="NAME", help="the systems' names; default: from the files"
    )
    group.add_argument(
        "--corpus",
        metavar="FILE",
        help="all of these in one table: JSON lines, TSV, CSV or parquet",
    )
    _add_reading(group.add_argument)


def _add_reading(add: Callable[..., Any]) -> None:
    """Declare how the files of a corpus are read."""
    add(
        "--um",
        choices=["skip", "apply"],
        default="skip",
        help="gold edits of the types Um and UNK, when made into texts; default: %(default)s",
    )
    add(
        "--missing-annotator",
        choices=["other", "source", "none"],
        default="other",
        help="text of an annotator who is not listed for a sentence; default: %(default)s",
    )
    add(
        "--normalise",
        choices=["NFC", "NFD", "NFKC", "NFKD"],
        help="bring all texts to this Unicode form; default: as they are",
    )
    add(
        "--lenient",
        action="store_true",
        help="pass over M2 edits outside their sentence and unknown lines, and count them",
    )


def read(args: argparse.Namespace, *, noted: bool = False, references: bool = True) -> Corpus:
    """Read the corpus that the arguments name, and say what is unusual about its files.

    Parameters
    ----------
    noted
        The result has the notes of the corpus; otherwise they are printed here.
    references
        Whether the verb looks at references at all.
    """
    corpus = _read(args)
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


def _read(args: argparse.Namespace) -> Corpus:
    from grammeter.formats import read_corpus

    return read_corpus(
        source=args.source,
        references=args.references,
        systems=args.hyps,
        names=args.names,
        corpus=args.corpus,
        um=args.um,
        missing_annotator=args.missing_annotator,
        normalise=args.normalise,
        lenient=args.lenient,
    )
