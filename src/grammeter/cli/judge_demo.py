"""``grammeter judge --demo``: from items to correlations with people, by a script, offline."""

import argparse
import shlex
import sys
from pathlib import Path

import grammeter as gm
from grammeter import formats, llm
from grammeter.cli.output import put

BEGIN = """\
No language model judges here, but a script: from five points it takes one for each word by which
an output differs from the nearest reference. It needs no key and no network, and its figures say
nothing about any model. The sample corpus has 64 invented sentences, the outputs of six invented
systems, and 122 items, outputs side by side, that three invented judges ranked.
"""
NEXT = """\
Next, with a model of yours: the same on the sample, then on what people judged in SEEDA.

  export OPENAI_API_KEY=...    # or, for a server of yours: --base-url http://localhost:8000/v1
  cp -r {sample} sample
  grammeter judge -s sample/source.txt --hyps sample/systems/*.txt --items sample/judgments.xml \\
      -m "llm-s(model=NAME)" -o run.jsonl
  grammeter meta sentence run.jsonl sample/judgments.xml
  grammeter data get seeda --from FOLDER
  grammeter judge --benchmark seeda-s -m "llm-s(model=NAME)" --max-cost 5 -o run.jsonl
  grammeter meta system run.jsonl --benchmark seeda-s --systems base
"""


def run(args: argparse.Namespace) -> int:
    """Judge, rank, correlate, and show each step; return 0."""
    import tempfile

    from grammeter.cli.main import main

    judged, sample = gm.judge(demo=True), gm.sample_corpus()
    people = str(sample / "judgments.xml")
    print(BEGIN)
    print(*_asked(judged, sample), sep="\n\n", end="\n\n")
    with tempfile.TemporaryDirectory() as folder:
        written = args.output or str(Path(folder) / "run.jsonl")
        put(written, formats.format_judgments(judged.rankings, "jsonl"))
        both = written, people
        for step in (["rank", written], ["meta", "system", *both], ["meta", "sentence", *both]):
            shown = [word.replace(str(sample), "sample").replace(f"{folder}/", "") for word in step]
            print(f"$ grammeter {shlex.join(shown)}\n")
            sys.stdout.flush()
            if code := main([*step, "--quiet"]):
                return code
            print()
    print(NEXT.format(sample=shlex.quote(str(sample))), end="")
    return 0


def _asked(judged: gm.Judged, sample: Path) -> tuple[str, ...]:
    """Return the prompt of the first item, the reply, and what becomes of it."""
    source = (sample / "source.txt").read_text("utf-8").splitlines()
    first = judged.rankings[0]
    outputs = [
        (sample / f"systems/{names[0]}.txt").read_text("utf-8").splitlines()[first.segment - 1]
        for names in first.groups
    ]
    before, line, after = ["", *source, ""][first.segment - 1 : first.segment + 2]
    prompt = llm.Protocol(name="llm-s").render(llm.Question(before, line, after, tuple(outputs)))
    scores = zip(first.scores or (), first.ranks, first.groups, strict=True)
    lines = [f"{score} points, rank {rank}: {', '.join(names)}" for score, rank, names in scores]
    return (
        f"--- what a model is asked, item 1 of {len(judged.rankings)} ---",
        prompt,
        "--- what it replies ---",
        str(first.replies[0]["text"]),
        "--- what is read in it ---",
        "\n".join(lines),
    )
