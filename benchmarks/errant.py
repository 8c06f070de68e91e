"""ERRANT from texts to scores against package errant 3.0.2 with the same pipeline, in one run.

Run: ``python benchmarks/errant.py [--all | --sentences N] [--pipeline FOLDER]`` where spaCy,
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
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from grammeter.edits.pipelines import shipped_pipeline

SHARED = Path(os.environ.get("GRAMMETER_SHARED", Path(__file__).parents[2] / "shared"))
CONLL = SHARED / "data" / "conll14_test"
SYSTEMS = (
    "AMU", "CAMB", "CUUI", "IITB", "INPUT", "IPN", "NTHU", "PKU", "POST", "RAC", "SJTU", "UFC",
    "UMC",
)  # fmt: skip
SPANS, TYPES = "errant", "errant(categories=full)"


def package(folder, pipeline):
    """Run the package's commands; the child's side of :func:`measure`."""
    sys.path.remove(str(Path(__file__).parent))  # else this very file would be "errant"
    import errant
    import spacy
    from errant.commands import compare_m2, parallel_to_m2

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

    def command(main, *words):
        sys.argv = ["errant", *map(str, words)]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            main()
        return printed.getvalue()

    annotator.parse = timed
    errant.load = lambda _language: annotator
    references = [folder / "ref0.txt", folder / "ref1.txt"]
    source, gold = folder / "source.txt", folder / "gold.m2"
    command(parallel_to_m2.main, "-orig", source, "-cor", *references, "-out", gold)
    counts = {}
    for name in SYSTEMS:
        out = folder / f"{name}.m2"
        command(parallel_to_m2.main, "-orig", source, "-cor", folder / f"{name}.txt", "-out", out)
        figures = command(compare_m2.main, "-hyp", out, "-ref", gold).splitlines()[3].split()
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


def measure(command, cache="off"):
    """Run a command; return its CPU seconds and what it printed."""
    environment = os.environ | {"GRAMMETER_CACHE": str(cache)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [str(word) for word in command], env=environment, capture_output=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, json.loads(done.stdout)


def slice_of(sentences, folder):
    """Write the first sentences of all texts."""
    texts = {"source": CONLL / "source.txt"}
    texts |= {f"ref{number}": CONLL / f"ref{number}.txt" for number in (0, 1)}
    texts |= {name: CONLL / "official_systems" / name for name in SYSTEMS}
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
    parser.add_argument("--pipeline", type=Path, default=shipped_pipeline())
    parser.add_argument("--package", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.package:
        print(json.dumps(package(args.package, args.pipeline)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        slice_of(1312 if args.all else args.sentences, folder)
        report(folder, args.pipeline)


def report(folder, pipeline):
    child = [sys.executable, __file__, "--package", folder, "--pipeline", pipeline]
    before = own_costs(folder, pipeline)
    theirs, printed = measure(child)
    after = own_costs(folder, pipeline)
    once = theirs - printed["repeated"]
    print(f"package errant: {theirs:.1f} s CPU; {once:.1f} s had each sentence been parsed once")
    for label, (seconds, counts) in before.items():
        assert counts == after[label][1] == printed["counts"], label
        mean = (seconds + after[label][0]) / 2
        print(f"{label}: {mean:.1f} s CPU, {theirs / mean:.1f} times less ({once / mean:.1f})")
    print(f"TP, FP, FN equal the package's for {len(SYSTEMS)} systems")
    for number in (1, 4, 13):
        costs = [
            measure(ours(folder, pipeline, spelled, SYSTEMS[:number]))[0] / number
            for spelled in (SPANS, TYPES)
        ]
        print(f"{number} systems: {costs[0]:.2f} s CPU a system for spans, {costs[1]:.2f} typed")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"largest process (the package's or ours): {peak:.0f} MB")


def own_costs(folder, pipeline):
    """Score all systems with an empty cache, and again with what it then holds."""
    costs = {}
    for label, spelled in (("spans", SPANS), ("types", TYPES)):
        with tempfile.TemporaryDirectory() as cache:
            for state in ("cold", "warm"):
                seconds, printed = measure(ours(folder, pipeline, spelled, SYSTEMS), cache)
                costs[f"{label}, {state}"] = (seconds, counts_of(printed))
    return costs


if __name__ == "__main__":
    main()
