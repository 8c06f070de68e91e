"""grammeter batch on made corpora: memory by the number of rows, speed a core, two processes.

Rows are sampled from the outputs of CoNLL-14, each with two words of the vocabulary put before
all of its texts, so that hardly any row is there twice and nothing is answered from memory.

    python benchmarks/batch.py [--rows 10000 100000] [--jobs 1] [--metrics ...] [--pipeline ...]
    python benchmarks/batch.py --rows 1000000 --jobs 1 2        two processes against one
    python benchmarks/batch.py --rows 2000 --models FOLDER      impara and some over an encoder

``--models`` puts a head of random weights on an encoder of BERT's kind: what scores would be is
not asked, what they cost is.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rows import Goal, Row
from stopwatch import SHARED, Cost, grammeter

DATA = SHARED / "data" / "conll14_test"
SHARDS = 8
BARE = ("errant(pipeline=neutral)", "m2")
"""Without references: what they come to is a number of edits."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--jobs", type=int, nargs="+", default=[1])
    parser.add_argument("--metrics", nargs="+", default=[*BARE, "gleu"])
    parser.add_argument("--models", metavar="FOLDER", help="also impara and some over this encoder")
    parser.add_argument("--data", type=Path, default=DATA)
    args = parser.parse_args()
    print(f"{'metric':26} {'rows':>9} {'jobs':>4} {'MB':>6} {'wall s':>8} {'CPU s':>8}"
          f" {'rows/CPU s':>10}")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        spelled = [*args.metrics, *(asked(args.models, work) if args.models else [])]
        for rows in args.rows:
            write(work / "in", args.data, rows)
            for metric in spelled:
                compare(metric, rows, args.jobs, work)
            shutil.rmtree(work / "in")


def compare(metric: str, rows: int, jobs: list[int], work: Path) -> None:
    costs = [measure(metric, rows, count, work) for count in jobs]
    for count, cost in zip(jobs, costs, strict=True):
        print(f"{short(metric):26} {rows:9} {count:4} {cost.megabytes:6.0f} {cost.wall:8.1f}"
              f" {cost.cpu:8.1f} {rows / cost.cpu:10.0f}", flush=True)  # fmt: skip
    for count, cost in zip(jobs[1:], costs[1:], strict=True):
        ratio = costs[0].wall / cost.wall
        print(f"{short(metric):26} {count} processes are {ratio:.2f} times as fast as {jobs[0]}")


def measure(metric: str, rows: int, jobs: int, work: Path) -> Cost:
    """Run the verb; CPU and the peak are those of the process and all that it waited for."""
    inputs = sorted((work / "in").iterdir())
    words = ["batch", *inputs, "-m", metric, "--quiet", "-o", work / "out", "--jobs", jobs,
             "--format", "json"]  # fmt: skip
    words += [] if metric in BARE else ["--reference", "reference"]
    cost = grammeter(*words, env={"GRAMMETER_CACHE": "off"})  # no parse of an earlier run
    told = json.loads(cost.printed)
    assert (told["rows"], told["errors"]) == (rows, 0), told
    shutil.rmtree(work / "out")
    return cost


def rows(shared: Path, *, few: int = 10_000, many: int = 100_000) -> Iterator[Row]:
    data = shared / "data" / "conll14_test"
    whole = {"slice_of": "1,000,000 rows",
             "command": "python benchmarks/batch.py --rows 1000000 --jobs 1 2"}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write(work / "in", data, few)
        for metric in (*BARE, "gleu"):
            cost = measure(metric, few, 1, work)
            yield Row(f"`batch`, {few:,} rows with {short(metric)}", cost.cpu,
                      memory=cost.megabytes, goals=(Goal(600, "memory"),), **whole)  # fmt: skip
        shutil.rmtree(work / "in")
        write(work / "in", data, many)
        one, two = (measure("gleu", many, jobs, work) for jobs in (1, 2))
        yield Row(f"`batch`, {many:,} rows with gleu", one.cpu, memory=one.megabytes,
                  goals=(Goal(600, "memory"),), **whole)  # fmt: skip
        yield Row(f"`batch --jobs 2`, {many:,} rows with gleu", two.wall, "s wall", "one process",
                  one.wall, goals=(Goal(1.7, "ratio"),), **whole)  # fmt: skip


def write(folder: Path, data: Path, rows: int) -> None:
    folder.mkdir()
    made = sampled(data, rows)
    for shard in range(SHARDS):
        with open(folder / f"part-{shard}.jsonl", "w", encoding="utf-8") as file:
            for _ in range(rows * (shard + 1) // SHARDS - rows * shard // SHARDS):
                file.write(json.dumps(next(made)) + "\n")


def sampled(data: Path, rows: int) -> Iterator[dict[str, str]]:
    generator = random.Random(1)
    sources = (data / "source.txt").read_text("utf-8").splitlines()
    references = (data / "ref0.txt").read_text("utf-8").splitlines()
    systems = sorted((data / "official_systems").iterdir())
    outputs = [path.read_text("utf-8").splitlines() for path in systems]
    words = sorted({word for line in sources for word in line.split()})
    for _ in range(rows):
        at = generator.randrange(len(sources))
        texts = (sources[at], generator.choice(outputs)[at], references[at])
        before = " ".join(generator.choices(words, k=2))
        names = ("source", "hypothesis", "reference")
        yield {name: f"{before} {text}" for name, text in zip(names, texts, strict=True)}


def asked(encoder: str, work: Path) -> list[str]:
    """Write a regressor over an encoder; return the metrics that ask it."""
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    model = transformers.AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=1)
    folder = str(work / "regressor")
    model.save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(encoder).save_pretrained(folder)
    some = ", ".join(f"{part}='{folder}'" for part in ("grammaticality", "fluency", "meaning"))
    return [f"impara(model='{folder}', similarity='{encoder}', threshold=-1)", f"some({some})"]


def short(metric: str) -> str:
    return metric if len(metric) <= 26 else metric.partition("(")[0]


if __name__ == "__main__":
    main()
