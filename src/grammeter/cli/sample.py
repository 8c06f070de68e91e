"""``grammeter sample``: which sentences, and which of their outputs, to show to judges."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import grammeter as gm
from grammeter import core, formats, study
from grammeter.cli import flags, inputs, output

LIKELY = ("select", "per_item", "metric")  # flags that also say how likely each sentence is


def run(args: argparse.Namespace) -> None:
    """Draw and print."""
    likely: dict[str, Any] = {name: getattr(args, name) for name in LIKELY}
    likely["scores"] = gm.read_scores(args.scores) if args.scores else None
    names: list[str] = args.judges
    judges = int(names[0]) if len(names) == 1 and names[0].isdecimal() else names
    corpus = inputs.corpus(args, references=False)
    drawn = likely | {"judges": judges, "probabilities": False}
    items: Sequence[core.Item] = flags.call(args, gm.sample, corpus=corpus, **drawn)
    if args.probabilities:
        chances = gm.sample(corpus, probabilities=True, **likely)
        output.put(args.probabilities, _probabilities_tsv(chances))
    if args.output or args.probabilities != "-":
        output.put(args.output, formats.items_text(items))
    output.notice(args, _summary(items))


def _probabilities_tsv(source: study.Distribution) -> str:
    columns = (source.expected_systems, source.values, source.probabilities)
    rows: list[tuple[str, ...]] = []
    figures = zip(*(column.tolist() for column in columns), strict=True)
    for number, (groups, numbers) in enumerate(zip(source.groups, figures, strict=True), start=1):
        shared = " ".join(map(str, study.multiplicities(groups)))
        rows.append((str(number), shared, *map(repr, numbers)))
    header = ("segment", "multiplicities", "expected_systems", "value", "probability")
    return gm.Table.of(header, rows).write("tsv")


def _summary(items: Sequence[core.Item]) -> str:
    shown = [item for item in items if not item.repeat]
    alone = sum(item.distinct == 1 for item in shown)
    parts = [f"{len(shown)} items of {len({item.segment for item in shown})} sentences"]
    if alone:
        parts.append(f"{alone} with one output only, a tie of all systems")
    if len(items) > len(shown):
        parts.append(f"{len(items) - len(shown)} repeats")
    return "; ".join(parts)
