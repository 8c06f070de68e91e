"""A database that may not be written: everything in it can be looked at, and nothing is changed."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

from made_campaigns import made

RIGHTS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
"""Take from root the right to write what is not for it."""


@pytest.fixture
def run():
    """Run a command in a folder without the right to write there."""
    prefix = []
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may write everywhere here")
        prefix = RIGHTS

    def call(folder, *arguments):
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        command = [*prefix, sys.executable, "-m", "grammeter", "campaign", *map(str, arguments)]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )
        folder.chmod(0o755)
        return done

    return call


@pytest.fixture
def folder(database, tmp_path):
    made(database)
    from django.db import connection

    connection.close()
    place = tmp_path / "a folder? #1"
    place.mkdir()
    return place


def test_status_export_and_backup(database, folder, run, tmp_path):
    shutil.copy(database, folder)
    status = run(folder, "status", "pilot", "--format", "json")
    assert (status.returncode, json.loads(status.stdout)["campaign"]) == (0, "pilot")
    people, judgments = tmp_path / "people.jsonl", tmp_path / "j.jsonl"
    done = run(folder, "export", "pilot", "-o", judgments, "--people", people, "--quiet")
    assert done.returncode == 0
    assert "its log does not say" in done.stderr
    assert len(people.read_text().splitlines()) == 2
    assert run(folder, "backup", tmp_path / "copy.db").returncode == 0
    assert sorted(path.name for path in folder.iterdir()) == ["campaign.db"]
    assert run(folder, "close", "pilot").returncode == 3


@pytest.mark.parametrize("ends", [("-wal",), ("-wal", "-shm")], ids=" ".join)
def test_the_latest_answers_may_lie_beside_the_file(database, folder, run, ends):
    with contextlib.closing(sqlite3.connect(database)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE campaign_campaign SET name = 'renamed'")
        writer.commit()
        for end in ("", *ends):
            shutil.copy(f"{database}{end}", folder)
    done = run(folder, "status", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert [row["campaign"] for row in json.loads(done.stdout)["campaigns"]] == ["renamed"]
