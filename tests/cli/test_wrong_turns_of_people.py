"""What somebody is told who took a wrong turn, in words that lead back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grammeter.cli.main import main
from grammeter.resources import sample_corpus

FOLDER = sample_corpus()
CORPUS = [
    "-s",
    str(FOLDER / "source.txt"),
    "--hyps",
    *sorted(map(str, (FOLDER / "systems").iterdir())),
]


@pytest.fixture
def told(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*words, code=0):
        found = main(list(map(str, words)))
        printed = capsys.readouterr()
        assert found == code, printed.err
        return printed.err if code else printed.err + printed.out

    return call


@pytest.fixture
def campaign(told):
    pytest.importorskip("waitress", reason="the extra 'campaign' is not installed")
    pytest.importorskip("argon2", reason="the extra 'campaign' is not installed")
    return lambda *words, code=0: told("campaign", *words, code=code)


@pytest.mark.parametrize("name", ["judgments.jsonl", "judgments.xml"])
def test_a_report_of_judgments_alone(told, name):
    told("report", FOLDER / name, "-o", "r.html")
    assert "the share of the other outputs that an output beats" in Path("r.html").read_text(
        "utf-8"
    )


def test_a_batch_that_is_interrupted_says_how_to_go_on(told, monkeypatch):
    def interrupted(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("grammeter.engine._batch.scorer", interrupted)
    pair = f"{FOLDER / 'source.txt'}:{FOLDER / 'ref0.txt'}"
    err = told("batch", pair, "-m", "errant(pipeline=neutral)", "-o", "out", code=130)
    assert "out keeps the finished files; the same command goes on" in err


def test_the_plan_is_told(campaign):
    plan = ("-n", 20, "--judges", 2)
    told = campaign("create", "some", *CORPUS, *plan, "--overlap", 0.5, "--repeats", 0.2)
    assert "20 items of 18 sentences, 10 of them for several judges; 36 judgments" in told
    assert "planned for 2 judges, 6 of them repeats" in told
    told = campaign("create", "one", *CORPUS, *plan, "--overlap", 1)
    assert "1 of them for several judges; 21 judgments planned for 2 judges\n" in told
    told = campaign("create", "none", *CORPUS, "-n", 5)
    assert "5 items of 4 sentences; 5 judgments planned for 1 judge\n" in told
    assert "some: 20 items; 0 of 36 judgments handed in, 0 skipped" in campaign("status", "some")
    campaign("create", "pool", *CORPUS, *plan, "--strategy", "pool")
    told = campaign("status", "pool")
    assert "0 judgments handed in; 0 of 20 places taken, repeats aside, 0 skipped" in told


def test_addresses_that_lead_nowhere(campaign):
    campaign("create", "pilot", *CORPUS, "-n", 5)
    err = campaign("serve", "--port", 80_000, code=2)
    assert "80000" in err
    assert "65535" in err
    err = campaign("serve", "--host", "192.0.2.1", "--allowed-host", "a", "--port", 0, code=2)
    assert "an address of this machine" in err
    err = campaign("invite", "pilot", "--base-url", "https://example.org/gec", code=2)
    assert "at the root of a host" in err
    campaign("invite", "pilot")
    assert "--judge judge02" in campaign("invite", "pilot", code=2)


def test_a_database_of_an_older_version(campaign, tmp_path):
    from django.db import connection

    campaign("create", "pilot", *CORPUS, "-n", 5, "--database", "old.db")
    from grammeter.campaign import conf

    conf.configure("old.db")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'sessions'")
    connection.close()
    err = campaign("status", "--database", "old.db", code=3)
    assert "'grammeter campaign upgrade' with the same --database" in err


def test_the_same_places_are_written_once(campaign):
    given = FOLDER / "judgments.jsonl"
    campaign("import", "old", *CORPUS, "--judgments", given)
    ranks = json.loads(campaign("status", "old", "--format", "json", "--quiet"))["ranking"]
    assert ranks["systems"][2]["ranks"] == [3, 3]
    assert " 3-3 " not in campaign("status", "old")
