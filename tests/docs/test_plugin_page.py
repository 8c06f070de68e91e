"""The metric of docs/plugins.md works as an installed package: entry point and all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from grammeter.resources import sample_corpus

PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"


def fences(language):
    tokens = MarkdownIt("commonmark").parse(PAGE.read_text(encoding="utf-8"))
    return [t.content for t in tokens if t.type == "fence" and t.info.strip() == language]


@pytest.fixture
def installed(tmp_path):
    """A folder that stands where pip would have put the package."""
    project = tomllib.loads(fences("toml")[0])["project"]
    (tmp_path / "grammeter_exact.py").write_text(fences("python")[0], encoding="utf-8")
    info = tmp_path / f"grammeter_exact-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    group, points = next(iter(project["entry-points"].items()))
    lines = [f"[{group}]", *(f"{name} = {target}" for name, target in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def grammeter(installed, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from grammeter.cli.main import main; sys.exit(main())"]
        + [str(argument) for argument in arguments],
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_scores_as_the_page_says(installed):
    command, *shown = fences("text")[-1].rstrip("\n").split("\n")
    assert command.startswith("$ grammeter score")
    sample = sample_corpus()
    printed = grammeter(
        installed,
        *("score", "-r", sample / "gold.m2", "-m", "exact(ignore_case=true)"),
        *("--hyps", sample / "systems" / "Careful.txt", "--format", "tsv"),
    )
    assert printed.rstrip("\n").split("\n") == shown


def test_list_and_doctor_show_it(installed):
    assert "ignore_case (false)" in grammeter(installed, "list", "exact")
    assert "metric exact" in grammeter(installed, "doctor")


def test_compare_and_explain_use_it(installed):
    sample = sample_corpus()
    stored = installed / "scores.json"
    systems = [sample / "systems" / f"{name}.txt" for name in ("Careful", "Thorough")]
    grammeter(
        installed,
        *("score", "-r", sample / "gold.m2", "-m", "exact", "--hyps", *systems, "-o", stored),
    )
    assert (
        "|package:grammeter-exact 0.1|"
        in json.loads(stored.read_text())["metrics"]["exact"]["signature"]
    )
    assert "letters" in grammeter(installed, "compare", stored)
    explained = grammeter(installed, "explain", stored, "--system", "Careful", "--line", 3)
    assert "exact  1.0000  (reference 0)" in explained


def test_batch_uses_it_in_one_process_and_in_two(installed):
    sample = sample_corpus()
    texts = ":".join(
        str(sample / name) for name in ("source.txt", "systems/Careful.txt", "ref0.txt")
    )
    tables = []
    for jobs in (1, 2):
        out = installed / f"out{jobs}"
        grammeter(installed, "batch", texts, "-m", "exact", "-o", out, "--jobs", jobs)
        tables.append((out / "Careful.tsv").read_text(encoding="utf-8"))
    head, first, *_ = tables[0].splitlines()
    assert head.split("\t")[-2:] == ["exact", "error"]
    assert first.split("\t")[-2:] == ["0.0", ""]
    assert tables[0] == tables[1]
