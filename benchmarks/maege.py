"""MAEGE: what each metric costs on CoNLL-14, and what scoring each distinct text once saves.

Usage: python benchmarks/maege.py [FOLDER with data/] [METRIC ...]      (default: ../shared, m2 ...)
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import grammeter as gm
from grammeter.meta.maege import Design, maege
from grammeter.meta.partial_outputs import partial_outputs

GOLD = "data/conll14_test/alt/official-2014.combined-withalt.m2"
METRICS = ["m2", "sentm2", "gleu", "green", "chrf", "imeasure"]


def main() -> None:
    shared = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "shared")
    corpus = gm.read_corpus(references=[shared / GOLD])
    start = time.process_time()
    outputs = partial_outputs(corpus.sources, corpus.gold)
    seconds = time.process_time() - start
    texts = sum(len(chain.texts) for chain in outputs.chains)
    texts += sum(len(lines) for lines in outputs.corpora)
    print(f"{len(outputs.chains)} chains and 11 corpora, {texts} texts: {seconds:.2f} CPU s")
    for name in sys.argv[2:] or METRICS:
        measure(corpus, name, texts)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def measure(corpus: gm.Corpus, name: str, texts: int) -> None:
    start = time.process_time()
    found = maege(corpus.sources, corpus.gold, {name: gm.metric(name)}, design=Design())[name]
    seconds = time.process_time() - start
    figures = " ".join(f"{level} {kind} {value:.3f}," for level, kind, value, _ in found.figures())
    print(
        f"{name}: {seconds:.1f} CPU s; {found.texts} distinct of {texts} texts, ratio"
        f" {texts / found.texts:.2f}; {figures} ties {found.chain.tie_share:.3f}"
    )


if __name__ == "__main__":
    main()
