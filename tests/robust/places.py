"""A folder with all that the long verbs read, made once and copied for each trial."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import made_training
from fuzz import samples
from grammeter.resources import sample_corpus
from robust import data

HYPS = ["Careful", "Eager", "Echo", "Fluent", "Speller", "Thorough"]
ROWS = 400
CORPUS = f"-s source.txt -r gold.m2 --hyps {' '.join(f'{name}.txt' for name in HYPS)}"
"""Options that give the sample corpus."""


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Return an environment whose home, caches and temporary files lie in a folder."""
    (folder / "tmp").mkdir(exist_ok=True)
    ours = {
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "GRAMMETER_CACHE": str(folder / "cache"),
        "GRAMMETER_DATA": str(folder / "data"),
        "OMP_NUM_THREADS": "1",
        "NO_COLOR": "1",
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }
    left_out = ("GRAMMETER_", "OPENAI_", "XDG_", "PYTHONWARNINGS", "COV_", "PYTEST_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return {**kept, **ours, **more}


def run(folder: Path, words: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a verb in a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "grammeter", *words.split()],
        cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=300,
        check=False, **options,
    )  # fmt: skip
    return done


def make(folder: Path, wanted: Sequence[str] = ()) -> Path:
    """Write the files into a new folder; ``wanted``: what takes a run of a verb to make."""
    folder.mkdir()
    sample = sample_corpus()
    samples.lay_out(folder)  # small ones; those of the sample corpus replace some
    for name in ("source.txt", "gold.m2", "judgments.xml"):
        shutil.copy(sample / name, folder / name)
    for name in HYPS:
        shutil.copy(sample / "systems" / f"{name}.txt", folder / f"{name}.txt")
    made_training.write_m2(folder / "training.m2")
    made_training.write_scores(folder / "ratings.csv")
    _write_pairs(folder)
    (folder / "archive.zip").write_bytes(data.archive())
    for name in wanted:
        done = run(folder, _STEPS[name])
        assert done.returncode == 0, done.stderr
    return folder


_STEPS = {
    "scores": f"score {CORPUS} -m m2 gleu(iterations=20) -o scores.json",
    "campaign": f"campaign import pilot {CORPUS} --judgments judgments.xml",
}


def _write_pairs(folder: Path) -> None:
    sources = (folder / "source.txt").read_text("utf-8").splitlines()
    for number, system in enumerate(HYPS[:3]):
        outputs = (folder / f"{system}.txt").read_text("utf-8").splitlines()
        rows = [
            {"source": source, "hypothesis": output, "reference": source}
            for source, output in zip(sources, outputs, strict=True)
        ]
        lines = [json.dumps(rows[at % len(rows)]) + "\n" for at in range(ROWS)]
        (folder / f"pairs-{number}.jsonl").write_text("".join(lines), "utf-8")
