"""The database as a whole: opened, copied, and what is said when something is wrong with it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from grammeter.campaign import conf
from grammeter.core import DataError, MissingResourceError, RemoteError, UsageError
from judged_campaigns import come_in, made_campaign, work


def opened(path):
    from grammeter.campaign.services import database

    conf.configure(path)
    database.open_existing(path)


def test_a_copy_holds_everything_and_can_be_served(database, tmp_path):
    from grammeter.campaign.models import Campaign
    from grammeter.campaign.services import database as databases
    from grammeter.campaign.services import results

    campaign = made_campaign(10, judges=1)
    (judge,) = come_in(campaign)
    work(judge)
    before = list(results.details(campaign))
    databases.backup(database, tmp_path / "copy.db")
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    opened(tmp_path / "copy.db")
    assert list(results.details(Campaign.objects.get())) == before
    with pytest.raises(UsageError, match="exists"):
        databases.backup(tmp_path / "copy.db", database)
    assert {path.name.partition("-")[0] for path in tmp_path.iterdir()} <= {
        "campaign.db", "campaign.db.key", "copy.db"
    }  # fmt: skip


def test_a_copy_that_cannot_be_written(database, tmp_path):
    from grammeter.campaign.services import database as databases

    with pytest.raises(DataError, match="cannot be written"):
        databases.backup(database, tmp_path / "nowhere" / "copy.db")


def test_a_row_by_row_copy_is_the_same(database, tmp_path, monkeypatch):
    """As PostgreSQL is copied; here from SQLite, which knows no isolation levels."""
    from django.db import connection

    from grammeter.campaign.models import Campaign
    from grammeter.campaign.services import database as databases
    from grammeter.campaign.services import results

    campaign = made_campaign(10, judges=1)
    (judge,) = come_in(campaign)
    work(judge)
    before = list(results.details(campaign))
    execute = connection.execute_wrapper(
        lambda run, sql, *rest: None if sql.startswith("SET TRANSACTION") else run(sql, *rest)
    )
    monkeypatch.setattr(databases, "is_file", lambda _: False)
    with execute:
        databases.backup(database, tmp_path / "copy.db")
    monkeypatch.undo()
    opened(tmp_path / "copy.db")
    assert list(results.details(Campaign.objects.get())) == before


def test_missing(tmp_path):
    with pytest.raises(MissingResourceError, match="campaign create") as error:
        opened(tmp_path / "campaign.db")
    assert error.value.where == str(tmp_path / "campaign.db")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("data", "told"), [(b"some text, long enough", "not a database"), (b"", "no campaign database")]
)
def test_another_file(tmp_path, data, told):
    (tmp_path / "campaign.db").write_bytes(data)
    with pytest.raises((DataError, MissingResourceError), match=told):
        opened(tmp_path / "campaign.db")


def test_a_folder(tmp_path):
    with pytest.raises(DataError, match="unable to open"):
        opened(tmp_path)


def test_another_program_s_database(tmp_path):
    with closing(sqlite3.connect(tmp_path / "campaign.db")) as other:
        other.execute("CREATE TABLE birds (name TEXT)")
        other.commit()
    with pytest.raises(DataError, match="holds no campaigns"):
        opened(tmp_path / "campaign.db")
    from grammeter.campaign.services import database

    with pytest.raises(DataError, match="holds no campaigns"):
        database.open_or_make(tmp_path / "campaign.db")


def test_a_damaged_database(database):
    data = bytearray(database.read_bytes())
    data[100:4096] = b"x" * 3996
    database.write_bytes(bytes(data))
    with pytest.raises(DataError, match="database:"):
        opened(database)


def change(path, sql):
    from django.db import connections

    connections.close_all()
    with closing(sqlite3.connect(path)) as other:
        other.execute(sql)
        other.commit()


def test_a_newer_database(database):
    change(database, "INSERT INTO django_migrations (app, name, applied)"
                     " VALUES ('campaign', '0999_future', '2030-01-01')")  # fmt: skip
    with pytest.raises(DataError, match="newer grammeter"):
        opened(database)


def test_an_older_database_is_upgraded_and_kept(database, tmp_path):
    from grammeter.campaign.services import database as databases

    change(database, "DELETE FROM django_migrations WHERE app = 'sessions'")
    change(database, "DROP TABLE django_session")
    with pytest.raises(DataError, match="campaign upgrade"):
        opened(database)
    assert databases.upgrade(database, tmp_path / "old.db")
    assert (tmp_path / "old.db").exists()
    opened(database)
    assert not databases.upgrade(database)


def test_a_locked_database(database, monkeypatch):
    from grammeter.campaign.services import campaigns
    from grammeter.campaign.services import database as databases

    campaign = made_campaign(5)
    monkeypatch.setattr(conf, "BUSY_SECONDS", 0.1)
    conf.configure(database)
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DataError, match="locked") as error, databases.explained(database):
            campaigns.close(campaign)
    assert error.value.where == str(database)


def test_no_place_for_a_database(tmp_path):
    from grammeter.campaign.services import database

    path = tmp_path / "nowhere" / "campaign.db"
    conf.configure(path)
    with pytest.raises(DataError, match="cannot be made"):
        database.open_or_make(path)


@pytest.mark.parametrize(
    ("message", "fix"),
    [
        ("attempt to write a readonly database", "you may write"),
        ("unable to open database file", "in a folder"),
        ("database or disk is full", "with room"),
        ("connection refused", "address"),
    ],
)
def test_faults_say_what_to_do(database, message, fix):
    from django.db import OperationalError

    from grammeter.campaign.services import database as databases

    url = "postgresql://ann:secret@db/gec" if fix == "address" else database
    kind = RemoteError if fix == "address" else DataError
    with pytest.raises(kind) as error, databases.explained(url):
        raise OperationalError(message)
    assert fix in error.value.fix
    assert "secret" not in str(error.value)
