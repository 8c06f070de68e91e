"""The benchmarks' table: every benchmark gives rows, and the runner writes them as they are."""

from __future__ import annotations

import ast
import importlib
import json
import math
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks"
PAGE = ROOT / "docs" / "benchmarks.md"


@pytest.fixture(autouse=True)
def runner():
    """Load the runner; benchmarks import each other by name, and one is called like a package."""
    before, known = list(sys.path), set(sys.modules)
    yield runpy.run_path(str(FOLDER / "run"))
    sys.path[:] = before
    for name in set(sys.modules) - known:
        if str(FOLDER) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def rows(runner):
    return importlib.import_module("rows")


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FOLDER / "run"), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_every_benchmark_gives_rows_and_runs_alone(runner):
    names = runner["names"]()
    assert {"m2", "errant", "startup", "weighted"} <= set(names)
    assert not set(names) & runner["HELPERS"]
    for name in names:
        text = (FOLDER / f"{name}.py").read_text("utf-8")
        assert re.search(r"\ndef rows\(\s*shared", text), name
        assert '\nif __name__ == "__main__":' in text, name


def test_the_cheapest_rows_end_to_end(runner, tmp_path):
    page, kept = tmp_path / "table.md", tmp_path / "rows.json"
    done = run("meta", "-o", page, "--json", kept)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "Williams tests, 20 metrics" in done.stderr
    data = json.loads(kept.read_text("utf-8"))
    assert (data["kind"], data["unit"] > 0, len(data["rows"])) == ("benchmarks", True, 4)
    for row in data["rows"]:
        assert row["ours"] > 0
        assert row["theirs"] > row["ours"]
        assert math.isclose(row["ratio"], row["theirs"] / row["ours"])
        assert row["memory"] is None
    first = data["rows"][0]
    assert (first["unit"], first["goals"][0]["text"]) == ("ms CPU", "≤ 50 ms CPU")
    again = run("meta", "--before", kept)
    lines = [line for line in again.stdout.splitlines() if line.startswith("|")]
    assert len(lines) == 6
    assert {line.count(" | ") for line in lines} == {8}
    before = lines[2].split(" | ")[2]
    assert before == f"{runner['number'](first['ours'])} ms CPU"


def test_a_page_keeps_what_stands_around_the_table(runner, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{runner['BEGIN']}\nold\n{runner['END']}\n\nafter\n", "utf-8")
    runner["write"]("new table", page)
    text = page.read_text("utf-8")
    assert text.startswith("# Title\n")
    assert text.endswith("\n\nafter\n")
    assert "new table" in text
    assert "old" not in text


def test_the_page_in_the_docs_has_the_marks(runner):
    text = PAGE.read_text("utf-8")
    assert text.index(runner["BEGIN"]) < text.index(runner["END"])


def test_a_benchmark_that_breaks_off_is_a_row(tmp_path):
    done = run("maege", "--shared", tmp_path / "nowhere")
    assert done.returncode == 0, done.stderr
    assert "| maege |" in done.stdout
    assert "not run: it ended with exit code" in done.stdout


def test_an_unknown_benchmark_is_told():
    done = run("nothing")
    assert done.returncode == 2
    assert "nothing" in done.stderr


def test_costs_must_stay_below_and_ratios_above(rows):
    cost, ratio, memory = rows.Goal(2.0), rows.Goal(10, "ratio"), rows.Goal(100, "memory")
    good = rows.Row("w", 1.0, peer="p", theirs=20.0, memory=99, goals=(cost, ratio, memory))
    assert good.verdict == "met"
    assert rows.Row("w", 3.0, goals=(cost,)).verdict == "missed by 50 %"
    assert rows.Row("w", 1.0, peer="p", theirs=5.0, goals=(cost, ratio)).verdict == "missed by 50 %"
    assert rows.Row("w", 1.0, memory=150, goals=(cost, memory)).verdict == "missed by 50 %"
    assert rows.Row("w", 1.0).verdict == "no goal"


def test_a_slice_says_so_and_names_the_whole(rows):
    row = rows.Row("work", 1.0, goals=(rows.Goal(2.0),), slice_of="1,000 draws", command="all")
    assert row.verdict == "met, on the slice"
    assert "work (slice of 1,000 draws: `all`)" in rows.markdown([row])


def test_a_goal_without_its_figure_is_not_met(rows):
    row = rows.Row("work", 1.0, goals=(rows.Goal(100, "memory"),))
    assert row.verdict == "not measured"


def test_rows_come_back_from_json(rows):
    row = rows.Row("a | b", 1.0, "s wall", "peer", 3.0, goals=(rows.Goal(2.0, "ratio"),))
    back = rows.Row.from_dict(json.loads(json.dumps(row.to_dict())))
    assert back.to_dict() == row.to_dict()
    assert "a \\| b" in rows.markdown([back])
    lost = rows.Row.from_dict(rows.Row("gone", math.nan, problem="no chromium").to_dict())
    assert (lost.verdict, math.isnan(lost.ours)) == ("not run: no chromium", True)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.012345, "0.0123"), (1.5, "1.50"), (12.34, "12.3"), (1234.5, "1,234"), (4.0, "4"),
     (math.nan, ""), (0.0, "0")],
)  # fmt: skip
def test_numbers_have_three_digits(rows, value, shown):
    assert rows.number(value) == shown


def test_a_command_s_memory_is_its_own():
    stopwatch = importlib.import_module("stopwatch")
    held = bytearray(200 * 2**20)
    cost = stopwatch.command([sys.executable, "-c", "print('said')"])
    assert cost.printed == "said\n"
    assert cost.megabytes < 100 < len(held) / 2**20
    assert cost.cpu > 0
    with pytest.raises(RuntimeError, match="exit 3"):
        stopwatch.command([sys.executable, "-c", "raise SystemExit(3)"])


def test_start_up_knows_every_verb():
    from grammeter.cli.parser import VERBS

    assert set(importlib.import_module("startup").CHEAPEST) == set(VERBS)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_what_a_benchmark_imports_of_the_package_is_there(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("grammeter"):
            exec(ast.unparse(node), {})
