"""GLEU against a naive twin on a slice, and the CPU seconds of all 13 CoNLL-14 outputs.

python benchmarks/gleu.py [FOLDER OF CONLL14_TEST]
"""

from __future__ import annotations

import math
import random
from collections import Counter

from ngram_corpus import cpu, distinct, folder, load

from grammeter.core.segment import Segment
from grammeter.metrics.gleu import Gleu

LINES = 100


def grams(tokens: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1))


def counts(source: str, hypothesis: str, reference: str) -> list[int]:
    s, h, r = source.split(), hypothesis.split(), reference.split()
    found = [len(h), len(r)]
    for n in range(1, 5):
        in_s, in_h, in_r = grams(s, n), grams(h, n), grams(r, n)
        penalty = sum(count for gram, count in (in_h & in_s).items() if gram not in in_r)
        found += [max((in_h & in_r).total() - penalty, 0), max(len(h) + 1 - n, 0)]
    return found


def value(sums: list[int]) -> float:
    if 0 in sums:
        return 0.0
    c, r, *rest = sums
    logs = sum(math.log(num / den) for num, den in zip(rest[::2], rest[1::2], strict=True))
    return math.exp(min(0, 1 - r / c) + logs / 4)


def naive(segments: list[Segment]) -> tuple[float, list[float]]:
    """Corpus score by 500 draws and the sentence scores."""
    rows = [[counts(s.source, s.hypothesis, text) for text in s.texts] for s in segments]
    drawn: list[float] = []
    for j in range(500):
        stream = random.Random(101 * j)
        picked = [slots[int(stream.random() * len(slots))] for slots in rows]
        drawn.append(value([sum(column) for column in zip(*picked, strict=True)]))
    alone = [
        sum(value([count or 1 for count in ten]) for ten in slots) / len(slots) for slots in rows
    ]
    return sum(drawn) / len(drawn), alone


def ours(segments: list[Segment], rows: dict[str, list[int]]) -> dict[str, float]:
    m = Gleu()
    statistics = m.statistics(segments)
    m.sentences(statistics)
    return {name: m.score(statistics.take(chosen)).value for name, chosen in rows.items()}


def main() -> None:
    segments, rows = load(folder())
    slice_of = {name: chosen[:LINES] for name, chosen in rows.items()}
    slow, expected = cpu(
        lambda: {name: naive([segments[at] for at in c])[0] for name, c in slice_of.items()}
    )
    fast, found = cpu(lambda: ours(*distinct(segments, slice_of)), best_of=5)
    assert all(abs(found[name] - value) < 1e-12 for name, value in expected.items())
    print(f"13 outputs, {LINES} lines, 500 draws: naive twin / ours = {slow / fast:.0f}")
    first, _ = cpu(lambda: ours(segments, rows))
    best, _ = cpu(lambda: ours(segments, rows), best_of=5)
    print(f"13 CoNLL-14 outputs with all sentence scores: {best:.2f} CPU s (first run {first:.2f})")


if __name__ == "__main__":
    main()
