"""``grammeter demo`` and ``judge --demo``: whole loops on the built-in sample corpus, offline."""

import argparse
import shlex
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

import grammeter as gm
from grammeter import formats, llm
from grammeter.cli.output import put

REPORT = "grammeter-demo-report.html"
TITLE = "The sample corpus of grammeter, scored and judged"
"""Title of the page; only a file with it is overwritten."""

METRICS = ("m2", "gleu", "imeasure", "green")
SYSTEM, LINE = "Thorough", 16


def run(args: argparse.Namespace) -> int:
    """Score, compare, explain and report the sample corpus, showing each command; return 0."""
    page = Path(REPORT)
    if page.exists() and TITLE.encode() not in formats.read_bytes(page)[:4000]:
        fault = f"{page} is there already, and no page of the demonstration"
        raise gm.UsageError(fault, fix="Move it away, or run the demonstration in another folder.")
    sample = gm.sample_corpus()
    systems = sorted(sample.glob("systems/*.txt"))
    print(f"The sample corpus: 64 invented learner sentences, {len(systems)} invented systems.")
    print(f"It lies in {sample}\n")
    with tempfile.TemporaryDirectory() as folder:
        scores = args.output or str(Path(folder) / "scores.json")
        steps = [
            ["score", "-s", str(sample / "source.txt"), "-r", str(sample / "gold.m2"),
             "-m", *METRICS, "--hyps", *map(str, systems), "-o", scores, "--quiet"],
            ["compare", scores, "--baseline", "Echo", "-m", "m2", "--quiet"],
            ["explain", scores, "--system", SYSTEM, "--line", str(LINE), "-m", "m2"],
            ["report", scores, str(sample / "judgments.xml"), "-o", REPORT, "--title", TITLE,
             "--quiet"],
        ]  # fmt: skip
        if code := _show(steps, sample, folder):
            return code
    print(f"The page is {page.absolute()}: open it in a browser.")
    print("Next: put your own files in place of these. 'grammeter score --help' has all options,")
    print("'grammeter list' all metrics, 'grammeter cite m2' what to cite.")
    return 0


def run_judge(args: argparse.Namespace) -> int:
    """Judge by a script, rank, correlate with people, and show each step; return 0."""
    judged, sample = gm.judge(demo=True), gm.sample_corpus()
    words = tomllib.loads(Path(__file__).with_name("judge_demo.toml").read_text("utf-8"))
    print(words["begin"])
    print(*_asked(judged, sample), sep="\n\n", end="\n\n")
    with tempfile.TemporaryDirectory() as folder:
        written = args.output or str(Path(folder) / "run.jsonl")
        put(written, formats.format_judgments(judged.rankings, "jsonl"))
        both = written, str(sample / "judgments.xml")
        steps = ["rank", written], ["meta", "system", *both], ["meta", "sentence", *both]
        if code := _show(steps, sample, folder, "--quiet"):
            return code
    print(words["next"].format(sample=shlex.quote(str(sample))), end="")
    return 0


def _show(steps: Iterable[Sequence[str]], sample: Path, folder: str, *silent: str) -> int:
    """Print and run commands, with ``silent`` options, until one fails; return its exit code."""
    from grammeter.cli.main import main

    for step in steps:
        shown = [word.replace(str(sample), "sample").replace(f"{folder}/", "") for word in step]
        if "--hyps" in shown:
            first = shown.index("--hyps") + 1
            shown[first : shown.index("-o", first)] = ["sample/systems/*.txt"]
        quoted = " ".join(word if "*" in word else shlex.quote(word) for word in shown)
        print(f"$ grammeter {quoted}\n")
        sys.stdout.flush()
        if code := main([*step, *silent]):
            return code
        print()
    return 0


def _asked(judged: "gm.Judged", sample: Path) -> tuple[str, ...]:
    source = (sample / "source.txt").read_text("utf-8").splitlines()
    first = judged.rankings[0]
    files = [sample / f"systems/{names[0]}.txt" for names in first.groups]
    outputs = [file.read_text("utf-8").splitlines()[first.segment - 1] for file in files]
    before, line, after = ["", *source, ""][first.segment - 1 : first.segment + 2]
    prompt = llm.Protocol(name="llm-s").render(llm.Question(before, line, after, tuple(outputs)))
    scores = zip(first.scores or (), first.ranks, first.groups, strict=True)
    lines = [f"{score} points, rank {rank}: {', '.join(names)}" for score, rank, names in scores]
    head = f"--- what a model is asked, item 1 of {len(judged.rankings)} ---"
    reply = "--- what it replies ---", str(first.replies[0]["text"])
    return (head, prompt, *reply, "--- what is read in it ---", "\n".join(lines))
