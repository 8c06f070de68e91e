"""Campaigns are changed and deleted; guidelines are Markdown whose pictures are part of them."""

from __future__ import annotations

import base64
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import grammeter as gm
from grammeter.campaign.guidelines import html_of, read_guidelines
from grammeter.cli.main import main
from grammeter.core import DataError, UnknownNameError, UsageError
from grammeter.resources import sample_corpus

pytest.importorskip("django", reason="the extra 'campaign' is not installed")
pytest.importorskip("argon2", reason="the extra 'campaign' is not installed")

PIXEL = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
SOURCE = str(sample_corpus() / "source.txt")
OUTPUTS = sorted(map(str, (sample_corpus() / "systems").iterdir()))


@pytest.fixture
def pilot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    corpus = gm.read_corpus(source=SOURCE, systems=OUTPUTS)
    for name in ("pilot", "other"):
        gm.campaign_create(name, corpus, n=3, judges=1, guidelines="first *words*")


def fields(column: str) -> list[str]:
    with closing(sqlite3.connect("campaign.db")) as database:
        return [row[0] for row in database.execute(f"SELECT {column} FROM campaign_campaign")]


# --- guidelines
def test_pictures_beside_the_guidelines_become_part_of_them(tmp_path: Path):
    (tmp_path / "a.gif").write_bytes(PIXEL)
    (tmp_path / "g.md").write_text("# How\n\n![a mark](a.gif) and\nmore\n", "utf-8")
    text = read_guidelines(tmp_path / "g.md")
    data = re.search(r"data:image/gif;base64,([\w+/=]+)\)", text)
    assert data
    assert base64.b64decode(data[1]) == PIXEL
    html = html_of(text)
    assert '<img src="data:image/gif;base64,' in html
    assert 'alt="a mark"' in html
    assert "<h1>How</h1>" in html
    assert "and<br" in html


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("one\n![x](absent.png)", "absent.png: there is no such file"),
        ("one\n![x](https://a.example/a.png)", "g.md:2: the picture 'https://a.example/a.png'"),
        ("one\n![x](a.svg)", "g.md:2: the picture 'a.svg'"),
        ("![x](large.png)", "g.md:1: the picture 'large.png' has 2,097,153 bytes"),
    ],
)
def test_pictures_that_no_judge_would_see_are_refused(tmp_path: Path, text: str, fault: str):
    (tmp_path / "large.png").write_bytes(bytes(2**21 + 1))
    (tmp_path / "g.md").write_text(text, "utf-8")
    with pytest.raises(DataError, match=re.escape(fault)):
        read_guidelines(tmp_path / "g.md")


def test_html_and_scripts_are_shown_and_not_obeyed():
    html = html_of("<script>alert(1)</script> <b>b</b>\n\n[x](javascript:alert(1))")
    assert "<script" not in html
    assert "<b>" not in html
    assert "href" not in html
    assert "&lt;script&gt;" in html


def test_tables_and_plain_lines():
    assert "<table>" in html_of("| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert html_of("one\ntwo") == "<p>one<br />\ntwo</p>\n"


# --- changes
def test_guidelines_and_name_change_and_stand_in_the_log(pilot):
    Path("g.md").write_text("# Other", "utf-8")
    assert gm.campaign_change("pilot", guidelines=Path("g.md"), rename="spring") == [
        "name",
        "guidelines",
    ]
    assert sorted(fields("name")) == ["other", "spring"]
    assert sorted(fields("guidelines")) == ["# Other", "first *words*"]
    assert gm.campaign_change("spring", rename="spring") == []
    with closing(sqlite3.connect("campaign.db")) as database:
        entries = database.execute("SELECT action, detail FROM campaign_auditentry").fetchall()
    assert ("change", '{"fields": ["name", "guidelines"]}') in entries


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, "nothing to change"),
        ({"rename": "other"}, "name: .*already exists"),
        ({"rename": ""}, "name: .*blank"),
        ({"redirect": "nowhere"}, "redirect_url: .*valid URL"),
    ],
)
def test_impossible_changes_change_nothing(pilot, change, fault):
    with pytest.raises(UsageError, match=fault):
        gm.campaign_change("pilot", **change)
    assert sorted(fields("name")) == ["other", "pilot"]


# --- deletion
def test_a_deleted_campaign_leaves_nothing_and_the_others(pilot, capsys):
    gm.campaign_change("pilot", guidelines="a word that nobody else wrote: xylograph")
    assert main(["campaign", "delete", "pilot", "--quiet"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert main(["campaign", "delete", "pilot", "--yes"]) == 0
    assert "deleted, with 0 judgments" in capsys.readouterr().err
    assert fields("name") == ["other"]
    assert b"xylograph" not in Path("campaign.db").read_bytes()
    assert gm.campaign_status("other").progress.items == 3
    with pytest.raises(UnknownNameError):
        gm.campaign_delete("pilot")


# --- judges who are left out
@pytest.fixture
def old(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    corpus = gm.read_corpus(source=SOURCE, systems=OUTPUTS)
    judgments = gm.read_judgments(sample_corpus() / "judgments.xml")
    gm.campaign_import("old", corpus, judgments)
    return judgments


def test_an_excluded_judge_is_in_no_result_until_counted_again(old):
    before = gm.campaign_export("old")
    judge = before[0].judge
    assert gm.campaign_exclude("old", judge, reason="answers at random")
    assert not gm.campaign_exclude("old", judge, reason="answers at random")
    others = [ranking for ranking in before if ranking.judge != judge]
    exported = gm.campaign_export("old", output="out.jsonl", details="all.jsonl")
    assert list(exported) == others
    count = len(before) - len(others)
    note = f"{judge} is left out (answers at random): {count} answers"
    assert note in exported.notes
    assert judge not in Path("out.jsonl").read_text("utf-8")
    assert judge in Path("all.jsonl").read_text("utf-8")
    status = gm.campaign_status("old")
    assert note in status.notes
    assert {one.judge: one.state for one in status.progress.judges}[judge] == "excluded"
    ranking, alone = status.to_dict()["ranking"], gm.rank(gm.read_judgments("out.jsonl")).to_dict()
    assert ranking["systems"] == alone["systems"]
    assert gm.campaign_include("old", judge)
    assert not gm.campaign_include("old", judge)
    assert list(gm.campaign_export("old")) == list(before)
    assert note not in gm.campaign_status("old").notes


def test_a_reason_is_needed(old):
    with pytest.raises(UsageError, match="no reason"):
        gm.campaign_exclude("old", old[0].judge, reason=" ")


def test_organisers_leave_judges_out_and_count_them_again(old, capsys):
    judge = old[0].judge
    assert main(["campaign", "exclude", "old", judge, "--reason", "in a hurry"]) == 0
    assert main(["campaign", "status", "old"]) == 0
    assert f"{judge} is left out (in a hurry)" in capsys.readouterr().out
    assert main(["campaign", "include", "old", judge]) == 0
    assert "counts again" in capsys.readouterr().err


def test_the_page_of_judges_has_a_form_for_it(old):
    from django.contrib.auth.models import User
    from django.test import Client

    from grammeter.campaign import commands
    from grammeter.campaign.models import Campaign

    judge = old[0].judge
    gm.campaign_organiser("olga", password="a long password", every_campaign=True)
    with commands.opened("campaign.db"):
        client = Client()
        client.force_login(User.objects.get(username="olga"))
        campaign = Campaign.objects.get(name="old")
        person = campaign.judges.get(name=judge)
        place = f"/organise/{campaign.pk}/judges"
        shown = client.get(place, secure=True, HTTP_HOST="localhost").content.decode()
        assert f"Leave {judge} out of results" in shown
        path = f"{place}/{person.pk}/exclude"
        client.post(path, {"reason": "<in> a hurry"}, HTTP_HOST="localhost")
        shown = client.get(place, HTTP_HOST="localhost").content.decode()
        assert "Left out: &lt;in&gt; a hurry" in shown
        client.post(path, HTTP_HOST="localhost")
        assert (
            f"Leave {judge} out of results"
            in client.get(place, HTTP_HOST="localhost").content.decode()
        )
