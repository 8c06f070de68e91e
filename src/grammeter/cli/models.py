"""How models run and language models are asked: the arguments, and the settings they make."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import grammeter as gm
from grammeter import core, llm
from grammeter.cli import flags, output

IDLE_HERE = ("--base-url", "--key-variable", "--requests-per-minute", "--tokens-per-minute",
             "--timeout", "--patience", "--prices", "--max-cost", "--structured")  # fmt: skip
"""Options that have no effect where a judge answers in this process."""
IDLE_SAMPLING = ("--temperature", "--top-p", "--max-output", "--attempts", "--repeats")
"""Options that have no effect on a likelihood."""


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
