"""The verb `campaign`, called as the main program calls it."""

from __future__ import annotations

import http.client
import inspect
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

from grammeter.cli.main import main
from grammeter.cli.parser import parser_of
from grammeter.resources import sample_corpus

pytest.importorskip("django", reason="the extra 'campaign' is not installed")
pytest.importorskip("argon2", reason="the extra 'campaign' is not installed")

FOLDER = sample_corpus()
OUTPUTS = sorted(map(str, (FOLDER / "systems").iterdir()))
CORPUS = ["-s", str(FOLDER / "source.txt"), "--hyps", *OUTPUTS]


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*words, code=0):
        found = main(["campaign", *map(str, words)])
        printed = capsys.readouterr()
        assert found == code, printed.err
        return printed.out if code == 0 else printed.err

    return call


def test_from_a_corpus_to_links_and_status(run, tmp_path):
    run("create", "pilot", *CORPUS, "-n", 20, "--judges", 2, "--overlap", 0.5, "--repeats", "10%")
    links = run("invite", "pilot", "--judges", 2, "--base-url", "https://a.example").splitlines()
    assert len(links) == 2
    assert "judge01" in run("status", "pilot")
    assert all(re.fullmatch(r"https://a\.example/join/[\w-]{22}/", link) for link in links)
    data = json.loads(run("status", "pilot", "--format", "json"))
    assert data["kind"] == "campaign-status"
    assert data["progress"]["items"] == 20
    assert data["progress"]["wanted"] == 30
    assert [judge["planned"] for judge in data["progress"]["judges"]] == [17, 17]
    assert data["agreement"] is None
    assert "no judgment" in data["agreement_reason"]
    assert "no ranking yet" in run("status", "pilot")
    assert "pilot" in run("status")
    assert (tmp_path / "campaign.db").stat().st_mode & 0o777 == 0o600
    assert run("export", "pilot") == ""


def test_same_seed_same_items(run):
    for name in ("a", "b"):
        run("create", name, *CORPUS, "-n", 15, "--seed", 7, "--strategy", "pool")
    one, two = (json.loads(run("status", name, "--format", "json")) for name in "ab")
    assert one["signature"] == two["signature"]
    assert one["origin"]["texts"] == two["origin"]["texts"]


def test_import_status_and_export(run, tmp_path):
    given = FOLDER / "judgments.xml"
    run("import", "old", *CORPUS, "--judgments", given)
    run("export", "old", "-o", "out.xml", "--details", "all.jsonl")
    for verb in ("agree", "rank"):
        found = [
            subprocess.run(
                [sys.executable, "-m", "grammeter", verb, str(path), "--format", "json"],
                capture_output=True, text=True, check=True,
            ).stdout
            for path in (given, tmp_path / "out.xml")
        ]  # fmt: skip
        assert found[0] == found[1]
    ranked = json.loads(found[0])
    assert (
        json.loads(run("status", "old", "--format", "json"))["ranking"]["systems"]
        == (ranked["systems"])
    )
    assert "Thorough" in run("status", "old")
    lines = (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 122


def test_import_says_what_it_has_no_place_for(run, tmp_path, capsys):
    line = json.loads((FOLDER / "judgments.jsonl").read_text("utf-8").partition("\n")[0])
    line["scores"] = [1.0] * len(line["groups"])
    (tmp_path / "llm.jsonl").write_text(json.dumps(line), "utf-8")
    main(["campaign", "import", "llm", *CORPUS, "--judgments", "llm.jsonl", "--quiet"])
    assert capsys.readouterr().err == (
        "note: scores and replies of 1 judgments are not imported; their ranks are\n"
    )


def test_items_of_sample(run, tmp_path):
    main(
        ["sample", *CORPUS, "-n", "10", "--judges", "ann", "bob", "--overlap", "4", "-o", "i.jsonl"]
    )
    run("create", "panel", *CORPUS, "--items", "i.jsonl")
    data = json.loads(run("status", "panel", "--format", "json"))
    assert [judge["judge"] for judge in data["progress"]["judges"]] == ["ann", "bob"]


def test_all_that_judges_are_told(run, tmp_path):
    (tmp_path / "guide.txt").write_text("Rank them.\n", encoding="utf-8")
    check = '{"source": "x .", "outputs": ["x .", "y ."], "ranks": [1, 2]}\n'
    (tmp_path / "checks.jsonl").write_text(check, encoding="utf-8")
    run(
        "create", "crowd", *CORPUS, "-n", 30, "--strategy", "adaptive", "--per-judge", 10,
        "--startup", 5, "--guidelines", "guide.txt", "--consent", "guide.txt", "--no-background",
        "--tutorial", "checks.jsonl", "--attention", "checks.jsonl", "--pass-code", "A",
        "--fail-code", "B", "--redirect", "https://crowd.example/{code}", "--task", "edits",
    )  # fmt: skip
    from grammeter.campaign.models import Campaign

    found = Campaign.objects.get(name="crowd")
    assert (found.guidelines, found.consent, found.asks_background) == ("Rank them.\n",) * 2 + (
        False,
    )
    assert (found.task, found.startup, found.per_judge) == ("edits", 5, 10)
    assert found.items.count() == 32


def test_who_judges_are_is_a_file_of_its_own(run, tmp_path):
    run("create", "pilot", *CORPUS, "-n", 3)
    run("export", "pilot", "-o", "j.jsonl", "--people", "people.jsonl")
    (row,) = map(json.loads, (tmp_path / "people.jsonl").read_text("utf-8").splitlines())
    assert row["judge"] == "judge01"
    assert set(row) == {"judge", "who", "consented", "first_language", "experience", "remarks"}
    assert (tmp_path / "people.jsonl").stat().st_mode & 0o777 == 0o600
    from grammeter.campaign.models import AuditEntry

    assert AuditEntry.objects.filter(action="export", detail__form="people").count() == 1


def test_accounts(run, monkeypatch):
    password = run("organiser", "ann").strip()  # nobody can answer: it is made
    assert len(password) >= 15
    assert run("organiser", "ann", "--make-password").strip() != password
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("getpass.getpass", lambda _: "short")
    assert "too short" in run("organiser", "bob", code=2)
    answers = iter(["a long password 1", "another one 22222"])
    monkeypatch.setattr("getpass.getpass", lambda _: next(answers))
    assert "not the same" in run("organiser", "bob", code=2)


def test_forget_backup_upgrade(run, tmp_path):
    run("import", "old", *CORPUS, "--judgments", FOLDER / "judgments.xml")
    run("forget", "old", "judge01", "--rename", "person1")
    assert "person1" in run("status", "old")
    run("backup", "copy.db")
    assert "person1" in run("status", "old", "--database", "copy.db")
    assert "exists" in run("backup", "copy.db", code=2)
    run("upgrade")
    run("invite", "old", "--judge", "judge02")


def test_close_and_reopen(run, capsys):
    run("create", "pilot", *CORPUS, "-n", 5)
    for verb, told in (("close", "closed"), ("close", "before"), ("reopen", "open again"),
                       ("reopen", "it is open"), ("close", "closed")):  # fmt: skip
        assert main(["campaign", verb, "pilot"]) == 0
        assert told in capsys.readouterr().err
    assert json.loads(run("status", "pilot", "--format", "json"))["closed"] is True
    assert "; closed" in run("status", "pilot")
    assert re.search(r"pilot +closed", run("status"))
    from grammeter.campaign.models import AuditEntry

    actions = [entry.action for entry in AuditEntry.objects.exclude(campaign=None)]
    assert actions == ["close", "reopen", "close", "create"]  # what changed nothing is no entry
    assert "'pilot'" in run("close", "pilt", code=2)


def test_judges_stand_by_name(run, tmp_path):
    names = ["judge10", "judge2", "judge1", "Ann"]
    items = [{"segment": at, "systems": ["Careful", "Fluent"], "judges": names} for at in (1, 2)]
    text = "".join(f"{json.dumps(item)}\n" for item in items)
    (tmp_path / "i.jsonl").write_text(text, encoding="utf-8")
    run("create", "panel", *CORPUS, "--items", "i.jsonl")
    wanted = ["Ann", "judge1", "judge10", "judge2"]
    data = json.loads(run("status", "panel", "--format", "json"))
    assert [judge["judge"] for judge in data["progress"]["judges"]] == wanted
    assert re.findall(r"^(Ann|judge\d+) ", run("status", "panel"), re.M) == wanted


def test_hostile_names_do_nothing_to_a_terminal(run, tmp_path):
    name = "judge\x1b[2J\u202e1"
    row = {"judge": name, "segment": 1, "groups": [["Careful"], ["Fluent"]], "ranks": [1, 2]}
    (tmp_path / "j.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    run("import", "old", *CORPUS, "--judgments", "j.jsonl")
    printed = run("status", "old") + run("status")
    assert "\x1b" not in printed
    assert "\u202e" not in printed


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("status",), 4, "campaign create"),
        (("invite", "pilot"), 4, "no campaign database"),
        (("serve",), 4, "no campaign database"),
        (("create", "a", *CORPUS), 2, "-n or from --items"),
        (("create", "a", *CORPUS, "-n", 5, "--overlap", 9), 2, "9 of 5"),
        (("create", "a", *CORPUS, "-n", 5, "--database", "no/where.db"), 3, "cannot be made"),
        (("create", "a", *CORPUS, "-n", 5, "--database", "mysql://a/b"), 2, "mysql"),
        (("create", "a", "-s", "absent.txt", "-n", 5), 3, "absent.txt"),
        (("import", "a", *CORPUS, "--judgments", "absent.xml"), 3, "absent.xml"),
        (("invite", "a", "--base-url", "ftp://x"), 2, "ftp://x"),
        (("create", "a", *CORPUS, "-n", 5, "--judges", 0), 2, "0 judges"),
        (("create", "a", *CORPUS, "-n", 5, "--seed", 2**63), 2, "seed"),
        (("serve", "--https"), 2, "--behind-proxy"),
    ],
)
def test_faults(run, words, code, told):
    assert told in run(*words, code=code)


def test_faults_with_a_database(run):
    run("create", "pilot", *CORPUS, "-n", 5)
    assert "did you mean 'pilot'" in run("status", "pilt", code=2).lower()
    assert "there is a campaign" in run("create", "pilot", *CORPUS, "-n", 5, code=2)
    assert "judge01" in run("forget", "pilot", "judge9", code=2)
    assert "0 places" not in run("invite", "pilot")
    assert "0 places" in run("invite", "pilot", code=2)


def test_shares_and_counts():
    import argparse

    from grammeter.cli.flags import share_or_count

    found = [share_or_count(text) for text in ("0.2", "20%", "1.0", "1", "40")]
    assert found == [0.2, 0.2, 1.0, 1, 40]
    assert [type(value) for value in found] == [float, float, float, int, int]
    with pytest.raises(argparse.ArgumentTypeError):
        share_or_count("half")


def test_the_choices_are_those_of_the_services():
    from grammeter.campaign import conf

    conf.configure("x.db")
    from grammeter.campaign.tasks import Strategy, Task

    choices = {action.dest: action.choices for action in actions()["create"]._actions}
    assert [list(Strategy), list(Task)] == [choices["strategy"], choices["task"]]


def actions():
    (choices,) = [action.choices for action in parser_of("campaign")._actions if action.choices]
    return choices


CORPUS_FLAGS = {"source", "references", "hyps", "names", "corpus", "um", "missing_annotator",
                "normalise", "lenient", "raw", "tokenize", "para"}  # fmt: skip
ELSEWHERE = {"help", "debug", "quiet", "format", "make_password", "first_segment", "yes"}
"""Printing; a password that nobody typed; a careful word; what ``read_judgments`` takes."""


@pytest.mark.parametrize("name", actions())
def test_flags_are_parameters_with_the_same_defaults(name):
    import grammeter as gm

    parameters = dict(inspect.signature(getattr(gm, f"campaign_{name}")).parameters)
    if parameters.pop("options", None):  # those of another function
        parameters = {**inspect.signature(gm.campaign_create).parameters, **parameters}
    flags = {action.dest: action.default for action in actions()[name]._actions}
    elsewhere = ELSEWHERE | CORPUS_FLAGS | ({"output"} if name == "status" else set())
    assert set(flags) - set(parameters) <= elsewhere
    shared = set(flags) & set(parameters) - {"corpus"}
    positional = {key for key in shared if parameters[key].default is inspect.Parameter.empty}
    for key in shared - positional:
        default = parameters[key].default
        same = flags[key] == default or (flags[key] is None and not default)
        assert same or (not flags[key] and not default), f"{name} --{key}"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "::"])
def test_serving_other_machines_comes_with_notes(run, monkeypatch, host):
    """One names this machine, or its address."""
    import grammeter as gm
    from grammeter.campaign import server

    class Ended:
        effective_port = 80

        def run(self):
            raise KeyboardInterrupt

        def close(self):
            lines.append("closed")

    lines = []
    run("create", "pilot", *CORPUS, "-n", 5)
    monkeypatch.setattr(server, "make_server", lambda *of: Ended())
    with pytest.raises(KeyboardInterrupt):
        gm.campaign_serve(host=host, started=lambda *told: lines.append(told))
    (address, (network, names)), closed = lines
    shown = "[::]" if host == "::" else host
    assert (address, closed) == (f"http://{shown}:80", "closed")
    assert "--https" in network
    assert (f" {host};" in names) == (host == "192.0.2.7")
    assert "--allowed-host" in names


def test_help_loads_no_django():
    code = (
        "import sys\nfrom grammeter.cli.main import main\n"
        "try:\n    main(['campaign', 'create', '--help'])\nexcept SystemExit:\n    pass\n"
        "assert not {'django', 'waitress', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def started(tmp_path, port):
    server = subprocess.Popen(
        [sys.executable, "-m", "grammeter", "campaign", "serve", "--port", str(port)],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    line = server.stderr.readline()
    assert line.startswith(f"http://127.0.0.1:{port}"), line
    return server


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def refused_code(port, size):
    """Announce a body, and send none of it: the server answers before it has to take it."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.putrequest("POST", "/login")
        connection.putheader("Content-Length", str(size))
        connection.endheaders()
        return connection.getresponse().status


def test_serve_answers_and_ends_when_told(run, tmp_path):
    run("create", "pilot", *CORPUS, "-n", 5)
    port = free_port()
    server = started(tmp_path, port)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=20) as answer:
            assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
            assert "Server" not in answer.headers
        assert refused_code(port, 2 * 2**20 + 1) == 413
        second = [sys.executable, "-m", "grammeter", "campaign", "serve", "--port", str(port)]
        refused = subprocess.run(second, cwd=tmp_path, capture_output=True, text=True)
        assert refused.returncode == 2
        assert "no server at 127.0.0.1" in refused.stderr
        assert (tmp_path / "campaign.db.key").stat().st_mode & 0o777 == 0o600
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 0
        server.stderr.close()


def test_what_was_acknowledged_outlives_kill_9(run, tmp_path):
    """A process saves answers and says so; it is killed in the middle of its work."""
    run("create", "pilot", *CORPUS, "-n", 40, "--strategy", "pool")
    code = (
        "import sys\n"
        "from grammeter.campaign import conf\n"
        "conf.configure('campaign.db')\n"
        "from grammeter.campaign.services import answers, assign, campaigns, judges\n"
        "campaign = campaigns.find('pilot')\n"
        "judge = judges.redeem(judges.invite(campaign, 1)[0])\n"
        "number = 0\n"
        "found = assign.next_assignment(judge)\n"
        "while True:\n"
        "    number += 1\n"
        "    answers.save(judge, found, ranks=[1] * len(found.shown_order), key=str(number))\n"
        "    print(number, flush=True)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    for _ in range(15):
        last = int(child.stdout.readline())
    os.kill(child.pid, signal.SIGKILL)
    child.wait(20)
    told = [last, *map(int, re.findall(r"\d+\n", child.stdout.read()))]
    child.stdout.close()
    run("status")
    from grammeter.campaign.models import Judgment

    kept = set(Judgment.objects.values_list("key", flat=True))
    assert {str(number) for number in range(1, max(told) + 1)} <= kept


def test_personal_data_in_a_file_that_is_there_and_on_a_device(run, tmp_path):
    import os

    run("create", "pilot", *CORPUS, "-n", 3)
    there = tmp_path / "people.jsonl"
    there.write_text("old\n")
    there.chmod(0o644)
    before = os.stat(os.devnull).st_mode
    run("export", "pilot", "-o", "j.jsonl", "--people", "people.jsonl")
    assert there.stat().st_mode & 0o777 == 0o600
    assert "old" not in there.read_text("utf-8")
    run("export", "pilot", "-o", "j.jsonl", "--people", os.devnull)
    assert os.stat(os.devnull).st_mode == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--select", "uniform", "--per-item", "3"), "--select, --per-item had no effect"),
        (("--overlap", "2"), "--overlap had no effect: there is one judge"),
        (("--strategy", "pool", "--judges", "3"), "--judges had no effect"),
        (("--pass-threshold", "0.5"), "--pass-threshold had no effect"),
        (("--pass-code", "A", "--fail-code", "B"), "--fail-code is given to nobody"),
    ],
)
def test_what_has_no_effect_is_said(run, capsys, options, words):
    assert main(["sample", *CORPUS, "-n", "6", "-o", "items.jsonl", "--quiet"]) == 0
    made = ["campaign", "create", "p", *CORPUS, "--items", "items.jsonl", *options, "--quiet"]
    assert main(made) == 0
    assert words in capsys.readouterr().err


def test_what_has_an_effect_is_not_said(run, capsys):
    options = ("-n", "20", "--judges", "2", "--overlap", "0.5", "--repeats", "0.1")
    assert main(["campaign", "create", "p", *CORPUS, *options, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_items_that_name_their_judges(run, capsys):
    sample = ["sample", *CORPUS, "-n", "6", "--judges", "a", "b", "-o", "items.jsonl", "--quiet"]
    assert main(sample) == 0
    made = ["campaign", "create", "p", *CORPUS, "--items", "items.jsonl", "--quiet"]
    assert main([*made, "--judges", "3"]) == 2
    assert "the items name 2: a, b" in capsys.readouterr().err
    assert main([*made, "--repeats", "1"]) == 0
    assert "--repeats had no effect" in capsys.readouterr().err


def test_a_campaign_of_what_others_judged(run):
    run("create", "p", *CORPUS, "--items", str(FOLDER / "judgments.xml"), "--quiet")
    found = json.loads(run("status", "p", "--format", "json"))
    from grammeter.formats import read_judgments

    texts = {Path(name).stem: Path(name).read_text().splitlines() for name in OUTPUTS}
    judgments = read_judgments(FOLDER / "judgments.xml", systems=texts)
    shown = {
        (row.segment, frozenset(texts[group[0]][row.segment - 1] for group in row.groups))
        for row in judgments
        if row.groups
    }
    assert found["progress"]["items"] == len(shown)


def test_an_import_without_new_items_asks_nobody(run, capsys):
    judgments = str(FOLDER / "judgments.xml")
    made = ["campaign", "import", "old", *CORPUS, "--judgments", judgments, "--per-judge", "5"]
    assert main([*made, "--quiet"]) == 0
    assert "--per-judge had no effect: without -n" in capsys.readouterr().err
