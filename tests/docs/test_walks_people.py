"""The tutorials about people and about training run as they stand, with judges and on real data.

``shell-session`` blocks need what is not everywhere, judges or data sets; the commands are read
from the pages.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import browsers
import made_models
from page_examples import (
    ROOT,
    Block,
    answering,
    blocks,
    lay_out,
    module_of,
    run,
    run_blocks,
    run_console,
)
from played_judges import Judge

TUTORIALS = ROOT / "docs" / "tutorials"
ADDRESS = "http://127.0.0.1:8765"
"""Where links lead unless told otherwise."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A reader's folder."""
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path / "data"))
    return tmp_path


def judge_all(block: Block, folder: Path) -> None:
    """Serve as the block says, but at a free port, and let a judge follow each link."""
    command = block.text.split("#")[0].split()
    assert command == ["grammeter", "campaign", "serve"], block.where
    references = [folder / "sample" / name for name in ("ref0.txt", "ref1.txt")]
    links = (folder / "links.txt").read_text("utf-8").split()
    with browsers.serving("campaign.db", folder) as (base, _):
        for number, link in enumerate(links):
            assert link.startswith(ADDRESS)
            assert Judge(number, references).work(link.replace(ADDRESS, base)) > 30


@pytest.mark.slow
def test_a_human_evaluation_is_run_and_published(folder, capfd):
    for module in ("django", "waitress", "whitenoise", "argon2"):
        pytest.importorskip(module, reason="the extra 'campaign' is not installed")
    judged = False
    for block in blocks(TUTORIALS / "human-evaluation.md"):
        if block.language in ("console", "shell-session"):
            run_console(block)
        elif block.text.startswith("grammeter campaign serve ") and not judged:
            judge_all(block, folder)
            judged = True
    assert judged
    names = {"judgments.jsonl", "details.jsonl", "people.json", "report.html", "archive.db"}
    assert names <= {path.name for path in folder.iterdir()}
    assert r"\bottomrule" in (folder / "ranking.tex").read_text("utf-8")
    check_method_section(folder)


@pytest.mark.slow
def test_people_accept_and_metrics_are_measured(folder, shared, monkeypatch, capfd):
    for module in ("django", "waitress", "whitenoise", "argon2", "torch", "aiohttp"):
        pytest.importorskip(module, reason="an extra is not installed")
    monkeypatch.setenv("DATA", str(shared / "data"))
    monkeypatch.setenv("ENCODER", made_models.encoder("encoder"))
    judged = False
    with answering(TUTORIALS / "judge-with-a-language-model.md") as address:
        monkeypatch.setenv("JUDGE", address)
        for block in blocks(TUTORIALS / "what-people-accept.md"):
            if block.language in ("console", "shell-session"):
                run_console(block)
            elif block.text.startswith("grammeter campaign serve "):
                judge_all(block, folder)
                judged = True
    assert judged


@pytest.mark.slow
def test_a_metric_is_trained_and_filters(folder, shared, monkeypatch, capfd):
    pytest.importorskip("torch", reason="the extra 'neural' is not installed")
    code, told = run(f"grammeter data get cweb --from {shared / 'data' / 'cweb'} --quiet")
    assert not code, told
    monkeypatch.setenv("ENCODER", made_models.encoder("encoder"))
    monkeypatch.setenv("CWEB", "")  # what the page sets is taken back afterwards
    for name in ("train-impara.md", "filter-a-million-pairs.md"):
        page = TUTORIALS / name
        with module_of(page, monkeypatch) as module:
            run_blocks(page, module, ("console", "shell-session"))
    assert {"my-impara", "untrained", "web-impara"} <= {path.name for path in folder.iterdir()}
    check_halves(folder)


def check_halves(folder: Path) -> None:
    """What was kept and what was thrown away are the pairs, each of them once."""
    pairs, kept, thrown = (
        (folder / name / "part-0.jsonl").read_text("utf-8").splitlines()
        for name in ("pairs", "kept", "thrown")
    )
    held = [json.loads(line) for line in kept + thrown]
    wanted = [json.loads(line) for line in pairs]
    told = [{name: row[name] for name in wanted[0]} for row in held]
    assert sorted(map(str, told)) == sorted(map(str, wanted))
    assert not [row for row in map(json.loads, kept) if row["kind"] == "same"]


def check_method_section(folder: Path) -> None:
    """What the page suggests for the paper are the figures of this run."""
    page = (TUTORIALS / "human-evaluation.md").read_text("utf-8")
    section = " ".join(line[2:] for line in page.splitlines() if line.startswith("> "))
    _, agreement = run("grammeter agree judgments.jsonl --format json --quiet")
    _, ranking = run("grammeter rank judgments.jsonl --format json --quiet")
    kappas, signature = json.loads(agreement), json.loads(ranking)["signature"]
    assert f"`{signature}`" in section
    parts = dict(part.split(":", 1) for part in signature.split("|") if ":" in part)
    assert f"these are {parts['comparisons']} comparisons, {parts['tied']} of them ties" in section
    between, within = (round(kappas[key]["kappa"], 2) for key in ("inter", "intra"))
    told = f"κ = {between:.2f} between and {within:.2f} within judges"
    assert told.replace("0.", ".") in section
