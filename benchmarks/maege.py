"""MAEGE: what each metric costs on CoNLL-14, and what scoring each distinct text once saves.

Usage: python benchmarks/maege.py [FOLDER with data/] [METRIC ...]      (default: ../shared, m2 ...)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rows import Row, show
from stopwatch import SHARED, cpu, peak

import grammeter as gm
from grammeter.meta import MaegeDesign, maege
from grammeter.meta.partial import partial_outputs

GOLD = "data/conll14_test/alt/official-2014.combined-withalt.m2"
METRICS = ["m2", "sentm2", "gleu", "green", "chrf", "imeasure"]


def main() -> int:
    return show(rows(Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED, sys.argv[2:] or METRICS))


def rows(shared: Path, metrics: Sequence[str] = METRICS) -> Iterator[Row]:
    corpus = gm.read_corpus(references=[shared / GOLD])
    seconds, outputs = cpu(lambda: partial_outputs(corpus.sources, corpus.gold, MaegeDesign()))
    texts = sum(len(chain.texts) for chain in outputs.chains)
    texts += sum(len(lines) for lines in outputs.corpora)
    yield Row(f"MAEGE, {len(outputs.chains):,} chains and 11 corpora of CoNLL-14", seconds)
    for name in metrics:
        given = {name: gm.metric(name)}
        seconds, found = cpu(
            lambda given=given: maege(corpus.sources, corpus.gold, given, design=MaegeDesign())
        )
        yield Row(f"MAEGE of {name}, {found[name].texts:,} distinct of {texts:,} texts", seconds,
                  memory=peak())  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
