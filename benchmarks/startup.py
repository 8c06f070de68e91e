"""Start-up: what the shell's verbs cost before there is anything to do, and with hardly anything.

Usage: python benchmarks/startup.py [TIMES]      (default: 3, of which the middle one counts)

Each command runs in a process of its own, on the sample corpus, with byte code as after ``pip
install``. The peer is what an interpreter with numpy alone costs.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from rows import Goal, Row, show
from stopwatch import Cost, command, compiled, grammeter, median

import made_models
from grammeter.cli.parser import VERBS
from grammeter.resources import sample_corpus

OUTPUT = "sample/systems/Careful.txt"
CAREFUL = ("-s", "sample/source.txt", "-r", "sample/gold.m2", "--hyps", OUTPUT)
TEXTS = ("-s", "sample/source.txt", "-r", "sample/ref0.txt", "--hyps", OUTPUT)
SYSTEMS = ("Careful", "Eager", "Echo", "Fluent", "Speller", "Thorough")
ALL = ("-s", "sample/source.txt", "--hyps", *(f"sample/systems/{name}.txt" for name in SYSTEMS))
CHEAPEST = {
    "demo": ("demo",),
    "score": ("score", *CAREFUL, "-m", "gleu"),
    "compare": ("compare", "scores.json"),
    "explain": ("explain", "scores.json", "--system", "Careful", "--line", "1"),
    "judge": ("judge", *ALL, "-m", "llm-s(model=any)", "--dry-run"),
    "rank": ("rank", "sample/judgments.jsonl"),
    "agree": ("agree", "sample/judgments.jsonl"),
    "sample": ("sample", *ALL, "-n", "4", "-o", "items.jsonl"),
    "campaign": ("campaign", "status", "--database", "campaign.db"),
    "meta": ("meta", "system", "scores.json", "sample/judgments.jsonl"),
    "combine": ("combine", *ALL, "-o", "combined.txt"),
    "robustness": ("robustness", "cases.txt", "--hyps", "cases.out", "--resamples", "0"),
    "report": ("report", "scores.json", "-o", "report.html"),
    "reproduce": ("reproduce",),
    "edits": ("edits", "compare", "-hyp", "sample/gold.m2", "-ref", "sample/gold.m2"),
    "train": ("train", "impara", "--parallel", "sample/gold.m2", "--encoder", "encoder",
              "--pairs", "20", "--epochs", "1", "-o", "trained"),
    "batch": ("batch", f"sample/source.txt:{OUTPUT}:sample/ref0.txt", "-m",
              "gleu", "-o", "scored"),
    "data": ("data", "list"),
    "list": ("list",),
    "cite": ("cite", "m2"),
    "completion": ("completion", "bash"),
    "doctor": ("doctor",),
}  # fmt: skip
"""Verb -> what it is called with for hardly any work."""

PREPARED = (
    ("score", "-s", "sample/source.txt", "-r", "sample/gold.m2", "-m", "m2", "gleu", "-o",
     "scores.json", *ALL[2:]),
    ("campaign", "create", "pilot", *ALL, "-n", "4", "--no-background", "--database",
     "campaign.db"),
)  # fmt: skip
WRITTEN = ("trained", "scored", "items.jsonl")
"""What a command would refuse to write again."""


def main() -> int:
    return show(rows(times=int(sys.argv[1]) if len(sys.argv) > 1 else 3))


def rows(
    shared: Path | None = None, *, times: int = 3, verbs: Mapping[str, tuple[str, ...]] = CHEAPEST
) -> Iterator[Row]:
    del shared  # the sample corpus is enough
    with compiled() as environment, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(sample_corpus(), folder / "sample")
        if "robustness" in verbs:
            texts = "He go .", "He goes .", "She go .", "She goes ."
            marks = "O-S", "O-T", "A1-S", "A1-T"
            rows = "".join(f"{mark} {text}\n" for mark, text in zip(marks, texts, strict=True))
            (folder / "cases.txt").write_text(rows)
            (folder / "cases.out").write_text("He goes .\nShe goes .\n")
        if "train" in verbs:
            made_models.encoder(folder / "encoder")
        environment |= {"GRAMMETER_CACHE": str(folder / "cache")}
        for words in PREPARED:
            grammeter(*words, env=environment, cwd=folder)

        def cost(*words: str, program: str = "") -> Cost:
            return middle(words, program, folder, environment, times)

        numpy, bare = cost(program="import numpy"), cost(program="pass")
        yield of("`python -c 'import numpy'`", numpy, bare, "`python -c pass`")
        package = cost(program="import grammeter")
        yield of("`import grammeter`", package, bare, "`python -c pass`", Goal(0.05))
        yield of("`grammeter --help`", cost("--help"), numpy, goal=Goal(0.15))
        helps = {verb: cost(verb, "--help") for verb in VERBS}
        slowest = max(helps, key=lambda verb: helps[verb].cpu)
        yield of(f"`grammeter VERB --help`, slowest of {len(VERBS)}: {slowest}", helps[slowest],
                 numpy, goal=Goal(0.15))  # fmt: skip
        for verb, words in verbs.items():
            yield of(f"`{verb}`, hardly any work: `{shown(words)}`", cost(*words), numpy,
                     goal=Goal(5) if verb == "demo" else None)  # fmt: skip
        environment["GRAMMETER_CACHE"] = "off"
        for metric, given in (("m2", CAREFUL), ("errant", TEXTS)):
            yield of(f"`score -m {metric}`, 64 sentences, one output, no parse kept",
                     cost("score", *given, "-m", metric), numpy)  # fmt: skip


def middle(
    words: tuple[str, ...], program: str, folder: Path, environment: Mapping[str, str], times: int
) -> Cost:
    found = []
    for _ in range(times + 1):  # the first one compiles
        for name in WRITTEN:
            path = folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        if program:
            found.append(command([sys.executable, "-c", program], env=environment, cwd=folder))
        else:
            found.append(grammeter(*words, env=environment, cwd=folder))
        if found[0].wall > 5 and len(found) == 2:
            break
    return median(found[1:])


def of(
    work: str, cost: Cost, peer: Cost, named: str = "`import numpy`", goal: Goal | None = None
) -> Row:
    return Row(work, cost.cpu, peer=named, theirs=peer.cpu, memory=cost.megabytes,
               goals=(goal,) if goal else ())  # fmt: skip


def shown(words: tuple[str, ...]) -> str:
    return " ".join(words) if len(words) < 4 else f"{' '.join(words[:2])} ..."


if __name__ == "__main__":
    sys.exit(main())
