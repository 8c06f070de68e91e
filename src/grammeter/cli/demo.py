"""``grammeter demo``: the whole loop on the built-in sample corpus, offline."""

import argparse
import shlex
import sys
from pathlib import Path

import grammeter as gm
from grammeter import formats

REPORT = "grammeter-demo-report.html"
TITLE = "The sample corpus of grammeter, scored and judged"
"""Title of the page; only a file with it is overwritten."""

METRICS = ("m2", "gleu", "imeasure", "green")
SYSTEM = "Thorough"
LINE = 16


def run(args: argparse.Namespace) -> int:
    """Score, compare, explain and report the sample corpus, showing each command; return 0."""
    import tempfile

    from grammeter.cli.main import main

    check_page(Path(REPORT))
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
        for step in steps:
            print(f"$ grammeter {_short(step, str(sample), folder)}\n")
            sys.stdout.flush()
            code = main(step)
            if code:
                return code
            print()
    print(f"The page is {Path(REPORT).absolute()}: open it in a browser.")
    print("Next: put your own files in place of these. 'grammeter score --help' has all options,")
    print("'grammeter list' all metrics, 'grammeter cite m2' what to cite.")
    return 0


def check_page(path: Path) -> None:
    """Raise ``UsageError`` if there is a file with another title."""
    if path.exists() and TITLE.encode() not in formats.read_bytes(path)[:4000]:
        fault = f"{path} is there already, and no page of the demonstration"
        raise gm.UsageError(fault, fix="Move it away, or run the demonstration in another folder.")


def _short(step: list[str], sample: str, folder: str) -> str:
    shown = [word.replace(sample, "sample").replace(f"{folder}/", "") for word in step]
    if "--hyps" in shown:
        first = shown.index("--hyps") + 1
        last = shown.index("-o", first)
        shown[first:last] = ["sample/systems/*.txt"]
    return " ".join(word if "*" in word else shlex.quote(word) for word in shown)
