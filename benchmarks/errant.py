"""ERRANT from texts to scores against package errant 3.0.2 with the same pipeline, in one run.

Run: ``python benchmarks/errant.py [--all | --sentences N | --rewritten N]`` where spaCy,
errant and the CoNLL-2014 outputs are (``GRAMMETER_SHARED``, else ``../shared``). Both sides run
in processes of their own; what counts is all their CPU time, imports and loading included.

The package runs ``errant_parallel`` for each of 13 systems and once for two references, then
``errant_compare`` for each system, all in one process that loads the pipeline once (its users
load it 14 times). Because it parses the source anew for each system, the second ratio takes
away the parsing of sentences that it had parsed before. We run ``grammeter score``: spans
only, with types, and both again with the parses cached, once before the package's turn and
once after it, because other work on the machine slows all down; last the cost as systems are
added.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import sys
import tempfile
import time
from pathlib import Path

from rows import Goal, Row
from stopwatch import SHARED, Cost, command, cpu, peak

import grammeter as gm
from grammeter.errant import shipped_pipeline

SYSTEMS = (
    "AMU", "CAMB", "CUUI", "IITB", "INPUT", "IPN", "NTHU", "PKU", "POST", "RAC", "SJTU", "UFC",
    "UMC",
)  # fmt: skip
SPANS, TYPES = "errant", "errant(categories=full)"
FEW, WHOLE = 20, 1312
"""Sentences: enough that all must be loaded, and all."""
LABELS = {
    "spans, cold": "spans",
    "spans, warm": "spans, parses on disk",
    "types, cold": "typed",
    "types, warm": "typed, parses on disk",
}
GOALS = {"spans, cold": 10, "spans, warm": 40, "types, cold": 6, "types, warm": 40}
"""How many times less than the package."""


def package(folder, pipeline):
    """Run the package's commands; the child's side of :func:`measure`."""
    sys.path.remove(str(Path(__file__).parent))  # else this very file would be "errant"
    import spacy
    from errant.commands import compare_m2, parallel_to_m2

    import errant

    annotator = errant.load("en", spacy.load(pipeline))
    parse, known, repeated = annotator.parse, set(), 0.0

    def timed(text, tokenise=False):
        nonlocal repeated
        start = time.process_time()
        parsed = parse(text, tokenise)
        if text in known:
            repeated += time.process_time() - start
        known.add(text)
        return parsed

    def run(main, *words):
        sys.argv = ["errant", *map(str, words)]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            main()
        return printed.getvalue()

    annotator.parse = timed
    errant.load = lambda _language: annotator
    references = [folder / "ref0.txt", folder / "ref1.txt"]
    source, gold = folder / "source.txt", folder / "gold.m2"
    run(parallel_to_m2.main, "-orig", source, "-cor", *references, "-out", gold)
    counts = {}
    for name in SYSTEMS:
        out = folder / f"{name}.m2"
        run(parallel_to_m2.main, "-orig", source, "-cor", folder / f"{name}.txt", "-out", out)
        figures = run(compare_m2.main, "-hyp", out, "-ref", gold).splitlines()[3].split()
        counts[name] = [int(figure) for figure in figures[:3]]
    return {"repeated": repeated, "counts": counts}


def ours(folder, pipeline, spelled, systems):
    """Return the command that scores systems."""
    metric = spelled[:-1] + ", " if spelled.endswith(")") else spelled + "("
    metric += f"pipeline='{pipeline}')"
    return [
        sys.executable, "-m", "grammeter", "score", "-s", folder / "source.txt",
        "-r", folder / "ref0.txt", folder / "ref1.txt", "-m", metric, "--format", "json",
        "--hyps", *(folder / f"{name}.txt" for name in systems),
    ]  # fmt: skip


def measure(words, cache="off"):
    """Run a command; return its cost and what it printed."""
    cost = command(words, env={"GRAMMETER_CACHE": str(cache)})
    return cost, json.loads(cost.printed)


def slice_of(sentences, folder, shared):
    """Write the first sentences of all texts."""
    conll = shared / "data" / "conll14_test"
    texts = {"source": conll / "source.txt"}
    texts |= {f"ref{number}": conll / f"ref{number}.txt" for number in (0, 1)}
    texts |= {name: conll / "official_systems" / name for name in SYSTEMS}
    for name, path in texts.items():
        lines = path.read_text("utf-8").splitlines()[:sentences]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", "utf-8")


def counts_of(printed):
    (metric,) = printed["metrics"].values()
    return {
        name: [system["parts"][key] for key in ("tp", "fp", "fn")]
        for name, system in metric["systems"].items()
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentences", type=int, default=150)
    parser.add_argument("--all", action="store_true", help="all 1,312 sentences")
    parser.add_argument("--rewritten", type=int, metavar="N", help="memory after N long sentences")
    parser.add_argument("--pipeline", type=Path, default=shipped_pipeline())
    parser.add_argument("--package", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.package:
        print(json.dumps(package(args.package, args.pipeline)))
        return
    if args.rewritten:
        many_rewritten(args.rewritten)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        slice_of(WHOLE if args.all else args.sentences, folder, SHARED)
        report(folder, args.pipeline)


def report(folder, pipeline):
    before = own_costs(folder, pipeline)
    theirs, printed = measure(child(folder, pipeline))
    after = own_costs(folder, pipeline)
    once = theirs.cpu - printed["repeated"]
    print(
        f"package errant: {theirs.cpu:.1f} s CPU; {once:.1f} s had each sentence been parsed once"
    )
    for label, (cost, counts) in before.items():
        assert counts == after[label][1] == printed["counts"], label
        mean = (cost.cpu + after[label][0].cpu) / 2
        print(f"{label}: {mean:.1f} s CPU, {theirs.cpu / mean:.1f} times less ({once / mean:.1f})")
    print(f"TP, FP, FN equal the package's for {len(SYSTEMS)} systems")
    for number in (1, 4, 13):
        costs = [
            measure(ours(folder, pipeline, spelled, SYSTEMS[:number]))[0].cpu / number
            for spelled in (SPANS, TYPES)
        ]
        print(f"{number} systems: {costs[0]:.2f} s CPU a system for spans, {costs[1]:.2f} typed")
    peak = max(cost.megabytes for costs in (before, after) for cost, _ in costs.values())
    print(f"our largest process: {peak:.0f} MB, the package's {theirs.megabytes:.0f} MB")


def child(folder, pipeline):
    return [sys.executable, __file__, "--package", folder, "--pipeline", pipeline]


def own_costs(folder, pipeline):
    """Score all systems with an empty cache, and again with what it then holds."""
    costs = {}
    for label, spelled in (("spans", SPANS), ("types", TYPES)):
        with tempfile.TemporaryDirectory() as cache:
            for state in ("cold", "warm"):
                cost, printed = measure(ours(folder, pipeline, spelled, SYSTEMS), cache)
                costs[f"{label}, {state}"] = (cost, counts_of(printed))
    return costs


def rows(shared, sentences=200):
    """Measure a slice and a small one; what grows with the sentences is multiplied."""
    yield rewritten()
    pipeline = shipped_pipeline()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        slice_of(FEW, folder, shared)
        start = own_costs(folder, pipeline)
        start_of_theirs, _ = measure(child(folder, pipeline))
        slice_of(sentences, folder, shared)
        found = own_costs(folder, pipeline)
        theirs, printed = measure(child(folder, pipeline))
        first, _ = measure(ours(folder, pipeline, SPANS, SYSTEMS[:1]))
    package = grown(start_of_theirs, theirs, sentences)
    for label, (cost, counts) in found.items():
        assert counts == printed["counts"], label
        yield Row(
            f"ERRANT from texts to scores, 13 systems and 2 references: {LABELS[label]}",
            grown(start[label][0], cost, sentences),
            peer="package errant 3.0.2",
            theirs=package,
            memory=cost.megabytes,
            goals=(Goal(GOALS[label], "ratio"), Goal(600, "memory")),
            slice_of=f"{sentences} of {WHOLE:,} sentences, the rest in proportion",
            command="python benchmarks/errant.py --all",
        )
    yield Row(f"ERRANT spans, {sentences} sentences, 13 systems", found["spans, cold"][0].cpu,
              peer="the first system 13 times", theirs=13 * first.cpu)  # fmt: skip


def grown(start: Cost, cost: Cost, sentences: int) -> float:
    return start.cpu + (cost.cpu - start.cpu) * (WHOLE - FEW) / (sentences - FEW)


def rewritten():
    """Score a sentence of 300 tokens that has no word in common with its correction."""
    metric = warm()
    segment = rewritten_by(random.Random(1))
    seconds, _ = cpu(lambda: metric.statistics([segment]))
    return Row("ERRANT, 300 tokens rewritten, typed", seconds, goals=(Goal(2),))


def warm():
    metric = gm.metric(f"errant(categories=full, pipeline='{shipped_pipeline()}')")
    metric.statistics([gm.Segment("a b", "a c", ("a d",))])
    return metric


def rewritten_by(draw):
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(600)]
    return gm.Segment(" ".join(words[:300]), " ".join(words[300:]), ("a b",))


def many_rewritten(lines):
    """Score rewritten sentences one by one, and print how much memory was held at most so far."""
    metric, draw = warm(), random.Random(1)
    for line in range(1, lines + 1):
        metric.statistics([rewritten_by(draw)])
        if line in (1, 10) or line % 100 == 0:
            print(f"{line} sentences of 300 tokens: {peak():.0f} MB at most", flush=True)


if __name__ == "__main__":
    main()
