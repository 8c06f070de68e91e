"""``grammeter judge --demo``: from items to correlations with people, by a script, offline."""

import argparse
import shlex
import sys
import tomllib
from pathlib import Path

import grammeter as gm
from grammeter import formats, llm
from grammeter.cli.output import put


def run(args: argparse.Namespace) -> int:
    """Judge, rank, correlate, and show each step; return 0."""
    import tempfile

    from grammeter.cli.main import main

    judged, sample = gm.judge(demo=True), gm.sample_corpus()
    people = str(sample / "judgments.xml")
    words = tomllib.loads(Path(__file__).with_name("judge_demo.toml").read_text("utf-8"))
    print(words["begin"])
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
    print(words["next"].format(sample=shlex.quote(str(sample))), end="")
    return 0


def _asked(judged: gm.Judged, sample: Path) -> tuple[str, ...]:
    """Return the prompt of the first item, the reply, and what becomes of it."""
    source = (sample / "source.txt").read_text("utf-8").splitlines()
    first = judged.rankings[0]
    files = [sample / f"systems/{names[0]}.txt" for names in first.groups]
    outputs = [file.read_text("utf-8").splitlines()[first.segment - 1] for file in files]
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
