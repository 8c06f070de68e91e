"""Django's settings, made from options; :func:`configure` may change the database again."""

import logging
import os
import secrets
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from grammeter.core import DataError, UsageError, disk_faults, require

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

DATABASE = "campaign.db"  # the default database: this file in the current folder
POSTGRES = ("postgresql", "postgres")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
BUSY_SECONDS = 30  # longest wait of a writer for another one
_YEAR = 365 * 24 * 3600
_FOR_HTTPS = (
    *("CSRF_COOKIE_SECURE", "SESSION_COOKIE_SECURE", "SECURE_SSL_REDIRECT"),
    *("SECURE_HSTS_INCLUDE_SUBDOMAINS", "SECURE_HSTS_PRELOAD"),
)
_PRAGMAS = """
PRAGMA journal_mode=WAL;
PRAGMA synchronous=FULL; -- answers survive a power cut
PRAGMA secure_delete=ON; -- what is deleted is overwritten
"""
_CONSTANT = Path(__file__).with_name("settings.toml")


_NEEDED = ("django", "django_htmx", "whitenoise", "argon2")  # packages of the settings


def strict_headers(get_response: "Callable[[HttpRequest], HttpResponse]") -> Callable[..., Any]:
    """Middleware: a content security policy, no device features, no caching."""
    from django.conf import settings

    def respond(request: "HttpRequest") -> "HttpResponse":
        response = get_response(request)
        if not request.path.startswith("/static/"):
            response.headers.setdefault("Cache-Control", "no-store")
        for name, value in settings.RESPONSE_HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return respond


class OneLine(logging.Formatter):
    """Describes a refused request in one line, without a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record without Django's advice, which names settings."""
        reason = record.getMessage().partition(". ")[0]
        if record.name.endswith(".DisallowedHost"):
            return f"refused: {reason}. If it is yours, serve with --allowed-host NAME"
        return f"refused a request: {reason.replace('settings.', '')}"


def configure(
    database: str | Path = DATABASE,
    *, serve: bool = False, hosts: Sequence[str] = (), https: bool = False,
    secret_file: str | Path | None = None,
) -> None:  # fmt: skip
    """Configure Django for a database: an SQLite file, or ``postgresql://user@host:port/name``.

    To ``serve`` needs a secret key, by default beside the database, for PostgreSQL here, and names
    of ``hosts`` for browsers, besides the loopback. With ``https`` cookies go over nothing else.
    """
    for package in _NEEDED:  # Django may be here without the extra, and loads the others late
        require(package, extra="campaign")
    import django
    from django.conf import settings
    from django.db import connections

    databases = {"default": database_settings(database)}
    values = tomllib.loads(_CONSTANT.read_text(encoding="utf-8"))
    values |= dict.fromkeys(_FOR_HTTPS, https)
    values |= {"DATABASES": databases, "ALLOWED_HOSTS": [*LOOPBACK, *hosts]}
    values["CSRF_TRUSTED_ORIGINS"] = [f"http{'s' * https}://{name}" for name in hosts]
    values["SECURE_HSTS_SECONDS"] = _YEAR if https else 0
    values["SECRET_KEY"] = secrets.token_urlsafe(64)  # shell commands sign nothing
    if serve:
        beside = f"{database}.key" if is_file(database) else "campaign.key"
        values["SECRET_KEY"] = secret_key(Path(secret_file or beside))
    if not settings.configured:
        settings.configure(**values)
        django.setup()
        return
    for name, value in values.items():
        setattr(settings, name, value)
    connections.close_all()
    handler: Any = connections
    with suppress(AttributeError):  # this thread has none yet
        del handler["default"]
    handler.settings = handler.configure_settings(values["DATABASES"])


def database_settings(database: str | Path) -> dict[str, Any]:
    """Return Django's settings of a database; see :func:`configure`."""
    if is_file(database):
        # transactions wait for each other at the beginning, not in the middle
        waiting = {"timeout": BUSY_SECONDS, "transaction_mode": "IMMEDIATE"}
        where = {"ENGINE": "grammeter.campaign", "NAME": str(Path(database)), "CONN_MAX_AGE": None}
        return {**where, "OPTIONS": {**waiting, "init_command": _PRAGMAS}}
    if (scheme := str(database).partition("://")[0]) not in POSTGRES:
        fix = "Give the path of an SQLite file, or postgresql://USER@HOST:PORT/NAME."
        raise UsageError(f"a database of the kind {scheme!r}", fix=fix)
    psycopg: Any = require("psycopg", extra="postgres")
    try:
        parts: dict[str, str] = psycopg.conninfo.conninfo_to_dict(str(database))
    except psycopg.ProgrammingError as error:
        raise UsageError(f"the database address cannot be understood: {error}") from None
    if not (name := parts.pop("dbname", "")):
        raise UsageError("the address names no database", fix="Write postgresql://USER@HOST/NAME.")
    where = {"ENGINE": "django.db.backends.postgresql", "NAME": name, "CONN_MAX_AGE": None}
    return {**where, "CONN_HEALTH_CHECKS": True, "OPTIONS": parts}


def is_file(database: str | Path) -> bool:
    """Whether a database is an SQLite file."""
    return "://" not in str(database)


def shown(database: str | Path) -> str:
    """Return the name of a database for messages, without a password."""
    if is_file(database):
        return str(database)
    parts = urlsplit(str(database))
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()


def secret_key(path: Path) -> str:
    """Read the secret key, after creating it if necessary; only its owner can read it."""
    fix = "Give a place that you may write with --secret-file."
    writing = disk_faults(path, fix, "the secret key cannot be written")
    if not path.exists():
        part = partial(tempfile.NamedTemporaryFile, dir=path.parent)  # nobody reads half a key
        with writing, suppress(FileExistsError), part() as file:
            file.write(secrets.token_urlsafe(64).encode("ascii"))
            file.flush()
            os.link(file.name, path)
    where, fix = (
        str(path),
        f"Delete {path} to get a new key; judges and organisers log in again then.",
    )
    with disk_faults(path, fix, "no secret key"):
        mode, key = path.stat().st_mode, path.read_text(encoding="ascii", errors="ignore").strip()
    if os.name == "posix" and mode & 0o077:
        raise DataError(
            "others may read this secret key", where=where, fix=f"Run: chmod 600 {path}"
        )
    if len(key) < 50:
        raise DataError("this is no secret key: too short", where=where, fix=fix)
    return key
