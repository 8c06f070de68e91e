"""What docs/continuous-integration.md promises: the action, its script, the Makefile, the image."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from page_examples import ROOT, blocks, lay_out

ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
PAGE = ROOT / "docs" / "continuous-integration.md"
STEP = ACTION["runs"]["steps"][-1]


@pytest.fixture
def here(tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gh").write_text('#!/bin/sh\necho "$@" > called\n')
    (tmp_path / "gh").chmod(0o755)
    return tmp_path


def step(here: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the last step of the action with these inputs, as GitHub does."""
    values = {name: field.get("default", "") for name, field in ACTION["inputs"].items()}
    values |= {"source": "src.txt", "references": "ref0.txt ref1.txt", "hyps": "out/*.txt"} | inputs
    expressions = {f"inputs.{name}": value for name, value in values.items()} | {
        "github.action_path": str(ROOT),
        "github.token": "secret",
        "github.event.pull_request.html_url": "https://github.com/o/r/pull/1",
    }
    settings = {
        name: re.sub(r"\$\{\{ (.+?) \}\}", lambda found: expressions[found[1]], text)
        for name, text in STEP["env"].items()
    }
    path = f"{here}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", STEP["run"]],
        env=os.environ | settings | {"PATH": path, "GITHUB_STEP_SUMMARY": str(here / "summary")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_scores_are_shown_stored_and_commented_upon(here):
    done = step(here, metrics="gleu\nchrf\n", comment="true")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("| system | gleu | chrf |")
    assert (here / "summary").read_text() == done.stdout
    assert (here / "grammeter-scores.json").is_file()
    assert "pr comment https://github.com/o/r/pull/1" in (here / "called").read_text()


def test_a_system_that_became_worse_fails_and_is_named(here):
    assert step(here, scores="before.json").returncode == 0
    assert not (here / "called").exists()
    same = step(here, baseline="before.json")
    assert same.returncode == 0, same.stderr
    shutil.copy("sample/systems/Echo.txt", "out/Careful.txt")
    worse = step(here, baseline="before.json")
    assert worse.returncode == 1
    assert "> Careful scores 0.2551" in worse.stdout.replace("0.25507", "0.2551")


def test_a_missed_limit_fails_after_the_table(here):
    done = step(here, options="--fail-under gleu=0.99")
    assert done.returncode == 1
    assert "| Careful |" in done.stdout


def test_an_error_has_its_own_code(here):
    assert step(here, source="nothing.txt").returncode == 3
    assert step(here, metrics="glue").returncode == 2
    (here / "damaged.json").write_text("{")
    assert step(here, baseline="damaged.json").returncode == 3


def test_every_input_reaches_the_script():
    texts = " ".join(value for one in ACTION["runs"]["steps"] for value in one["env"].values())
    assert {f"inputs.{name}" for name in ACTION["inputs"]} == set(re.findall(r"inputs\.\w+", texts))
    script = (ROOT / "scripts" / "ci-table").read_text("utf-8")
    assert all(name == "ACTION" or name in script for name in STEP["env"] if name != "GH_TOKEN")


def test_the_makefile_of_the_page(here):
    if not shutil.which("make"):
        pytest.skip("no make on this machine")
    recipe = next(block.text for block in blocks(PAGE) if block.language == "make")
    (here / "Makefile").write_text(recipe)
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["make", "report.html"], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (here / "report.html").stat().st_size > 10_000


def test_the_image_is_built_and_runs(here):
    if (
        not shutil.which("docker")
        or subprocess.run(["docker", "info"], capture_output=True, check=False).returncode
    ):
        pytest.skip("no docker on this machine")
    subprocess.run(["docker", "build", "-t", "grammeter-test", str(ROOT)], check=True)
    command = ["docker", "run", "--rm", "-v", f"{here}:/work", "grammeter-test", "score"]
    command += ["-s", "src.txt", "-r", "ref0.txt", "-m", "gleu", "--hyps", "out/Careful.txt"]
    assert "Careful" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
