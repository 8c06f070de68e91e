"""A campaign database for each test: a copy of one that was made once."""

from __future__ import annotations

import shutil

import pytest

pytest.importorskip("django", reason="the extra 'campaign' is not installed")
pytest.importorskip("argon2", reason="the extra 'campaign' is not installed")

from grammeter.campaign import conf


@pytest.fixture(scope="session")
def blank(tmp_path_factory):
    """A database with all tables and no campaign."""
    path = tmp_path_factory.mktemp("blank") / "campaign.db"
    conf.configure(path)
    from django.db import connection

    from grammeter.campaign.services import database

    database.open_or_make(path)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path


@pytest.fixture
def database(blank, tmp_path, monkeypatch):
    """The path of a database of its own, which Django works on; it does not wait for the disk."""
    monkeypatch.setattr(conf, "_PRAGMAS", conf._PRAGMAS.replace("FULL", "OFF"))
    path = tmp_path / "campaign.db"
    shutil.copy(blank, path)
    conf.configure(path, serve=True)
    from django.core.cache import cache
    from django.db import connections

    cache.clear()
    yield path

    connections.close_all()


@pytest.fixture(scope="session")
def postgresql():
    """The address of a PostgreSQL server that lives as long as the tests."""
    import throwaway_postgresql

    if reason := throwaway_postgresql.missing():
        pytest.skip(reason)
    with throwaway_postgresql.cluster() as server:
        yield server


@pytest.fixture
def postgresql_database(postgresql, request):
    """The address of an empty PostgreSQL database with all tables, which Django works on."""
    import throwaway_postgresql
    from grammeter.campaign.services import database

    name = f"t{abs(hash(request.node.nodeid))}"
    url = throwaway_postgresql.new_database(postgresql, name)
    conf.configure(url)
    database.open_or_make(url)
    yield url
    from django.db import connections

    connections.close_all()
