"""M2: the 13 CoNLL-14 outputs, the naive twin on a slice, what further systems cost, and
pathological inputs.

Usage: python benchmarks/m2.py [FOLDER with data/ and golden/]      (default: ../shared)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "edits"))

from maxmatch_twin import Twin
from rows import Goal, Row, show
from stopwatch import SHARED, cpu, grammeter, peak

import grammeter as gm
from grammeter.alignment import matcher
from grammeter.formats import read_m2
from grammeter.metrics import M2

SHORT = 16  # tokens: the twin's time grows with the fourth power and more
GOLD = "noalt/official-2014.combined.m2"


def main() -> int:
    return show(rows(Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED))


def rows(shared: Path) -> Iterator[Row]:
    folder = shared / "data" / "conll14_test"
    yield from pathological(shared / "golden" / "classic")
    corpus = read(folder)
    segments = [s for system in corpus.systems for s in corpus.segments(system)]
    seconds, _ = cpu(lambda: M2().evaluate(segments))
    yield Row("M2, 13 outputs of CoNLL-14", seconds, goals=(Goal(1.5),))
    yield against_twin(segments)
    yield from curve(corpus)
    cost = grammeter("score", "-s", folder / "source.txt", "-r", folder / GOLD, "-m", "m2",
                     "--hyps", *sorted((folder / "official_systems").iterdir()))  # fmt: skip
    yield Row("`score -m m2`, 13 outputs, start and files included", cost.cpu,
              memory=cost.megabytes, goals=(Goal(120, "memory"),))  # fmt: skip


def read(folder: Path) -> gm.Corpus:
    return gm.read_corpus(
        source=folder / "source.txt",
        references=[folder / GOLD],
        systems=sorted((folder / "official_systems").iterdir()),
    )


def against_twin(segments: list[gm.Segment]) -> Row:
    pairs = [
        (s.source.split(), s.hypothesis.split(), gold)
        for s in segments
        for gold in s.gold.values()
        if s.source.split() != s.hypothesis.split() and len(s.source.split()) <= SHORT
    ][:300]
    ours, found = cpu(lambda: [matcher(a, b).edits(gold) for a, b, gold in pairs])
    twin, _ = cpu(lambda: [Twin(a, b).edits(gold) for a, b, gold in pairs])
    return Row(f"M2 edits of {len(found)} changed sentences, at most {SHORT} tokens", ours,
               peer="naive twin, whole tables", theirs=twin)  # fmt: skip


def curve(corpus: gm.Corpus) -> Iterator[Row]:
    """What further systems cost: equal outputs of one sentence are matched once."""
    names = list(corpus.systems)
    first = 0.0
    for count in (1, 4, 13):
        part = gm.Corpus(
            sources=corpus.sources,
            gold=corpus.gold,
            systems={name: corpus.systems[name] for name in names[:count]},
        )
        seconds, _ = cpu(lambda part=part: gm.score(part, ["m2"]))
        first = first or seconds
        if count > 1:
            yield Row(f"score of {count} systems with M2", seconds,
                      peer=f"the first system {count} times", theirs=first * count,
                      goals=(Goal(1, "ratio"),))  # fmt: skip


def pathological(folder: Path) -> Iterator[Row]:
    hypotheses = (folder / "pathological.hyp.txt").read_text("utf-8").split("\n")
    names = {}
    for row in (folder / "pathological.tsv").read_text("utf-8").splitlines()[1:]:
        name, line = row.split("\t")[:2]
        names[int(line)] = name
    found: dict[str, float] = {}
    for line, block in enumerate(read_m2(folder / "pathological.m2").blocks):
        segment = gm.Segment(block.source, hypotheses[line], (), block.gold)
        found[names[line]] = cpu(lambda segment=segment: M2().statistics([segment]))[0]
    rewritten = found.pop("rewritten_200")
    slowest = max(found, key=lambda name: found[name])
    yield Row("M2, 200 tokens rewritten, two annotators", rewritten, goals=(Goal(1.5),))
    yield Row(f"M2, slowest of {len(found)} other pathological inputs, {slowest}", found[slowest],
              memory=peak(), goals=(Goal(1), Goal(300, "memory")))  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
