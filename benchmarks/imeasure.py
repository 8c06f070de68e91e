"""I-measure against a naive full table on a slice, and the CPU seconds of all CoNLL-14 outputs.

Usage: python benchmarks/imeasure.py [FOLDER with data/]      (default: ../shared)
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

from rows import Goal, Row, show
from stopwatch import SHARED, cpu

from grammeter.alignment.threeway import GAP, MOVES, align_all
from grammeter.formats import read_corpus
from grammeter.metrics import IMeasure

EVERY = 1000


def cost(column):
    pairs = [(a, b) for n, a in enumerate(column) for b in column[n + 1 :]]
    return sum(0 if a == b else 2 if GAP in (a, b) else 3 for a, b in pairs)


def steps(sentences, cell):
    for move in MOVES:
        before = tuple(at - by for at, by in zip(cell, move, strict=True))
        if min(before) >= 0:
            tokens = zip(sentences, before, move, strict=True)
            column = tuple(sentence[at] if by else GAP for sentence, at, by in tokens)
            yield before, column, cost(column)


def naive(sentences):
    """Fill every cell, then read back."""
    table = {}
    for cell in product(*(range(len(sentence) + 1) for sentence in sentences)):
        table[cell] = min((table[b] + c for b, _, c in steps(sentences, cell)), default=0)
    columns, cell = [], tuple(map(len, sentences))
    while any(cell):
        fitting = (s for s in steps(sentences, cell) if table[s[0]] + s[2] == table[cell])
        cell, column, _ = next(fitting)
        columns.append(column)
    return columns[::-1]


def load(conll14):
    gold = conll14 / "noalt" / "official-2014.combined.m2"
    systems = sorted((conll14 / "official_systems").iterdir())
    corpus = read_corpus(source=conll14 / "source.txt", references=[gold], systems=systems)
    return [segment for name in corpus.systems for segment in corpus.segments(name)]


def changed(segments):
    """The alignments of three different sentences, one for each pair of texts."""
    found = {
        (tuple(s.source.split()), tuple(s.hypothesis.split()), candidate)
        for s in segments
        for candidate in IMeasure().candidates(s).values()
    }
    return sorted(triple for triple in found if triple[0] not in triple[1:])


def rows(shared):
    segments = load(shared / "data" / "conll14_test")
    triples = changed(segments)
    part = triples[::EVERY]
    slow, expected = cpu(lambda: [naive(triple) for triple in part])
    fast, found = cpu(lambda: dict(align_all(part)), best_of=3)
    assert [found[n] for n in range(len(part))] == expected
    yield Row(f"I-measure, {len(part)} alignments of three", fast, peer="naive full table",
              theirs=slow)  # fmt: skip
    metric = IMeasure()
    seconds, statistics = cpu(lambda: metric.statistics(segments))
    sentences, _ = cpu(lambda: metric.sentences(statistics))
    yield Row("I-measure, 13 outputs of CoNLL-14, with all sentence scores", seconds + sentences,
              goals=(Goal(4),))  # fmt: skip


def main():
    return show(rows(Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED))


if __name__ == "__main__":
    sys.exit(main())
