"""How Django runs."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from grammeter.campaign import conf
from grammeter.core import DataError, UsageError


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path):
    path = tmp_path / "key"
    key = conf.secret_key(path)
    assert len(key) >= 64
    assert conf.secret_key(path) == key
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_key_that_others_may_read_is_refused(tmp_path):
    path = tmp_path / "key"
    conf.secret_key(path)
    path.chmod(0o644)
    with pytest.raises(DataError, match="others may read"):
        conf.secret_key(path)


@pytest.mark.parametrize("text", ["", "short\n", "é" * 60])
def test_a_broken_key_is_refused(tmp_path, text):
    path = tmp_path / "key"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(DataError, match="secret key"):
        conf.secret_key(path)


def test_no_place_for_the_key(tmp_path):
    with pytest.raises(DataError, match="cannot be written"):
        conf.secret_key(tmp_path / "nowhere" / "key")


def test_commands_write_no_key(tmp_path):
    conf.configure(tmp_path / "a.db")
    assert not list(tmp_path.iterdir())


def test_the_key_lies_beside_the_database(tmp_path):
    conf.configure(tmp_path / "a.db", serve=True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.db.key"]
    from django.conf import settings

    assert (tmp_path / "a.db.key").read_text(encoding="ascii") == settings.SECRET_KEY


def test_sqlite_waits_its_turn_and_writes_through():
    found = conf.database_settings("x.db")
    assert found["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in found["OPTIONS"]["init_command"]
    assert found["OPTIONS"]["timeout"] >= 10


def test_the_pragmas_hold(tmp_path):
    from django.db import connection

    conf.configure(tmp_path / "a.db")
    with connection.cursor() as cursor:
        for pragma, value in {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}.items():
            cursor.execute(f"PRAGMA {pragma}")
            assert cursor.fetchone()[0] == value, pragma
    connection.close()


def test_postgresql_address():
    pytest.importorskip("psycopg")
    found = conf.database_settings("postgresql://ann:p%40ss@db.example:5433/gec?sslmode=require")
    assert found["ENGINE"].endswith("postgresql")
    assert found["NAME"] == "gec"
    assert found["OPTIONS"] == {
        "user": "ann", "password": "p@ss", "host": "db.example", "port": "5433",
        "sslmode": "require",
    }  # fmt: skip


@pytest.mark.parametrize("url", ["mysql://a/b", "postgresql://host", "postgresql://[h/db"])
def test_addresses_that_are_none(url):
    pytest.importorskip("psycopg")
    with pytest.raises(UsageError):
        conf.database_settings(url)


def test_messages_show_no_password():
    url = "postgresql://ann:secret@db/gec?password=secret"
    assert "secret" not in conf.shown(url)
    assert conf.shown("campaign.db") == "campaign.db"


def test_https_makes_everything_strict(tmp_path):
    from django.conf import settings

    conf.configure(tmp_path / "a.db", serve=True, hosts=["judge.example"], https=True)
    assert settings.SESSION_COOKIE_SECURE
    assert settings.CSRF_COOKIE_SECURE
    assert settings.SECURE_SSL_REDIRECT
    assert settings.SECURE_HSTS_SECONDS > 0
    assert settings.CSRF_TRUSTED_ORIGINS == ["https://judge.example"]
    conf.configure(tmp_path / "a.db", serve=True)
    assert not settings.SESSION_COOKIE_SECURE
    assert "*" not in settings.ALLOWED_HOSTS


def test_the_deployment_check_is_clean(tmp_path):
    code = (
        "import sys\n"
        "from grammeter.campaign import conf\n"
        "conf.configure(sys.argv[1], serve=True, hosts=['judge.example'], https=True)\n"
        "from django.core.management import call_command\n"
        "call_command('check', deploy=True, fail_level='WARNING')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.db")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


def test_the_models_and_the_migrations_agree(database):
    from django.core.management import call_command

    call_command("makemigrations", "campaign", check=True, dry_run=True, verbosity=0)


def test_importing_the_package_loads_no_django():
    code = "import sys, grammeter.campaign.conf; assert 'django' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_servers_that_start_together_have_one_key(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(conf.secret_key, [tmp_path / "key"] * 64))
    assert len(keys) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["key"]
