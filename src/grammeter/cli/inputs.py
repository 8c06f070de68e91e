"""What the arguments of verbs name: corpora, judgments, models, and how models run."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import grammeter as gm
from grammeter import core, formats, llm, ranking
from grammeter.cli import flags, output

IDLE_HERE = ("--base-url", "--key-variable", "--requests-per-minute", "--tokens-per-minute",
             "--timeout", "--patience", "--prices", "--max-cost", "--structured")  # fmt: skip
"""Options that have no effect where a judge answers in this process."""
IDLE_SAMPLING = ("--temperature", "--top-p", "--max-output", "--attempts", "--repeats")
"""Options that have no effect on a likelihood."""


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


def runtime(args: argparse.Namespace, *, cached: bool = True) -> gm.Runtime:
    """Return how models shall run."""
    folder = core.expanded(args.cache_dir) if args.cache_dir and cached else None
    return gm.Runtime(**flags.options(args, gm.Runtime, cache_dir=folder))


@contextmanager
def asking(args: argparse.Namespace, *, concessions: bool = True) -> Generator[None]:
    """Use the arguments' endpoint; then print usage and, with ``concessions``, refused settings."""
    values: dict[str, Any] = {name: getattr(args, name) or None for name in ("cache_dir", "prices")}
    values["base_url"] = args.base_url or llm.OPENAI
    endpoint = llm.Endpoint(**flags.options(args, llm.Endpoint, **values))
    if endpoint.in_process:
        flags.remark_idle(args, "the model answers in this process", *IDLE_HERE)
    if endpoint.read == "likelihood":
        flags.remark_idle(args, "a likelihood is no reply, and the same every time", *IDLE_SAMPLING)
    try:
        with llm.using(endpoint):
            yield
    finally:
        for text in _usage(endpoint.bill):
            output.notice(args, text)
        if concessions and endpoint.bill.concessions:
            names = ", ".join(sorted(endpoint.bill.concessions))
            output.notice(args, f"the endpoint does not take: {names}")


def remark_unused(
    args: argparse.Namespace, metrics: Collection[gm.Metric], *, judging: bool = False
) -> None:
    """Say which options do nothing, as no metric runs a model or, if ``judging``, asks one."""
    language = any(metric.asks_language_model for metric in metrics)  # which keeps replies
    if not any(metric.models() for metric in metrics):
        cache = () if language else ("--cache-dir",)
        names = ("--device", "--dtype", "--batch-tokens", "--download", *cache)
        flags.remark_idle(args, "no metric here runs a pretrained model", *names)
    if judging and not language:
        names = {f"--{each.name.replace('_', '-')}" for each in fields(llm.Endpoint)}
        flags.remark_idle(args, "no metric here asks a language model", *names - {"--cache-dir"})


def _usage(bill: llm.Bill) -> Iterator[str]:
    if bill.requests:
        yield f"sent: {bill}"
    if bill.known:
        yield f"from the cache: {bill.known} calls"
    if bill.states:
        ends = ", ".join(f"{count} {state}" for state, count in bill.states.most_common())
        yield f"calls ended: {ends}"
