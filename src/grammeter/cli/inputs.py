"""What verbs read: the arguments that name corpora, judgments and metrics, and their reading."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any

import grammeter as gm
from grammeter import formats, ranking
from grammeter.cli import flags, output


def corpus(
    args: argparse.Namespace, *, noted: bool = False, references: bool = True
) -> formats.Corpus:
    """Read the corpus of the arguments; print its notes unless the result has them (``noted``)."""
    given = flags.options(args, gm.read_corpus, systems=args.hyps)
    if "data" not in args:  # the benchmark has judgments
        given.pop("benchmark", None)
    corpus = gm.read_corpus(**given)
    if not given.get("benchmark"):
        flags.remark_idle(args, "no --benchmark is named", "--data")
    for text in corpus.notices:
        output.notice(args, text)
    if not noted:
        output.remark(corpus.notes)
    if not references:
        unused = ["--um", "--missing-annotator", *(["--references"] if args.source else [])]
        flags.remark_idle(args, "references are not looked at", *unused)
    elif corpus.text_rule == "given":
        why = "no reference text is made from gold edits"
        flags.remark_idle(args, why, "--um", "--missing-annotator")
    if not corpus.unjudgeable:
        flags.remark_idle(args, "each sentence can be judged", "--unjudged")
    for option in ("missing-essay", "missing-reference"):
        if option not in corpus.settings:
            flags.remark_idle(args, "nothing of the kind is missing", f"--{option}")
    if "texts" not in corpus.report and "level" not in corpus.settings:
        flags.remark_idle(args, "there are no essays or documents of running text", "--level")
    if len(corpus.notes) == ("benchmark" in corpus.settings):  # which has a note of its own
        flags.remark_idle(args, flags.NO_FAULTS, "--lenient")
    return corpus


def judgments(
    args: argparse.Namespace,
) -> formats.Judgments | formats.EditJudgments | formats.Ratings:
    """Read the arguments' judgments, print notes; dropped systems need no output of ``--hyps``."""
    outputs = formats.read_outputs(args.hyps) if args.hyps else None
    drop = _Left(args, outputs or ())
    names = "first_segment", "documents", "missing_score", "layout", "scale"
    of: Any = {name: getattr(args, name, None) for name in names}
    judgments = formats.read_judgments(args.judgments, systems=outputs, drop=drop, **of)
    if isinstance(judgments, formats.EditJudgments) and getattr(args, "source", None):
        judgments.checked(formats.read_corpus(source=args.source).sources, outputs, drop=drop)
    for text in judgments.notices:
        output.notice(args, text)
    return judgments


class _Left:
    def __init__(self, args: argparse.Namespace, known: Collection[str]) -> None:
        chosen: list[str] | None = getattr(args, "systems", None)
        everyone = chosen is None or chosen == ["all"]
        self._dropped: set[str] = set(getattr(args, "drop", None) or ())
        self._chosen = None if everyone else {*ranking.named_systems(chosen or [], known)}

    def __contains__(self, name: object) -> bool:
        return name in self._dropped or (self._chosen is not None and name not in self._chosen)
