"""M2: the 13 CoNLL-14 outputs, the naive twin on a slice, what further systems cost, and
pathological inputs.

Usage: python benchmarks/m2.py [FOLDER with data/ and golden/]      (default: ../shared)
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "edits"))

from maxmatch_twin import Twin

import grammeter as gm
from grammeter.corpus.m2 import read_m2
from grammeter.edits.lattice import matcher
from grammeter.metrics.m2 import M2

SHORT = 16  # tokens: the twin's time grows with the fourth power and more


def main() -> None:
    shared = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "shared")
    corpus = read(shared / "data" / "conll14_test")
    segments = [s for system in corpus.systems for s in corpus.segments(system)]
    seconds = cpu(lambda: M2().evaluate(segments))
    rate = len(segments) / seconds
    print(f"13 systems, {len(segments)} segments: {seconds:.2f} CPU s, {rate:.0f} a second")
    compare_with_twin(segments)
    curve(corpus)
    pathological(shared / "golden" / "classic")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def read(folder: Path) -> gm.Corpus:
    return gm.read_corpus(
        source=folder / "source.txt",
        references=[folder / "noalt" / "official-2014.combined.m2"],
        systems=sorted((folder / "official_systems").iterdir()),
    )


def compare_with_twin(segments: list[gm.Segment]) -> None:
    pairs = [
        (s.source.split(), s.hypothesis.split(), gold)
        for s in segments
        for gold in s.gold.values()
        if s.source.split() != s.hypothesis.split() and len(s.source.split()) <= SHORT
    ][:300]
    ours = cpu(lambda: [matcher(a, b).edits(gold) for a, b, gold in pairs])
    twin = cpu(lambda: [Twin(a, b).edits(gold) for a, b, gold in pairs])
    print(
        f"{len(pairs)} changed sentences of at most {SHORT} tokens: twin / ours = {twin / ours:.0f}"
    )


def curve(corpus: gm.Corpus) -> None:
    """What further systems cost: equal outputs of one sentence are matched once."""
    names = list(corpus.systems)
    first = 0.0
    for count in (1, 4, 13):
        part = gm.Corpus(
            sources=corpus.sources,
            gold=corpus.gold,
            systems={name: corpus.systems[name] for name in names[:count]},
        )
        seconds = cpu(lambda part=part: gm.score(part, ["m2"]))
        first = first or seconds
        print(f"{count:2} systems: {seconds:.2f} CPU s, {seconds / first:.1f} times the first")


def pathological(folder: Path) -> None:
    hypotheses = (folder / "pathological.hyp.txt").read_text("utf-8").split("\n")
    names = {}
    for row in (folder / "pathological.tsv").read_text("utf-8").splitlines()[1:]:
        name, line = row.split("\t")[:2]
        names[int(line)] = name
    for line, block in enumerate(read_m2(folder / "pathological.m2").blocks):
        segment = gm.Segment(block.source, hypotheses[line], (), block.gold)
        seconds = cpu(lambda segment=segment: M2().statistics([segment]))
        print(f"{names[line]:24} {seconds:.2f} CPU s, two annotators")


def cpu(work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
