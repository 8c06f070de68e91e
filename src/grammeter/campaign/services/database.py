"""The database as a whole: open, upgrade, copy."""

import errno
import os
import re
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection, connections, transaction
from django.db.migrations.executor import MigrationExecutor

from grammeter.campaign.conf import database_settings, is_file, shown
from grammeter.core import DataError, MissingResourceError, RemoteError, UsageError, disk_faults

APP = "campaign"  # the label of our tables
_MAGIC = b"SQLite format 3\0"
_BATCH = 500
_REMEDIES = {  # expression for part of an error message -> what to do
    "locked": "Another program holds it for long; end that one, or wait, and try again.",
    "read-?only": "Give yourself the right to write to the file and its folder.",
    "unable to open": "The folder must exist, and you must be allowed to write to it.",
    "full|disk i/o": "Make room on the disk; nothing that was confirmed is lost.",
}


def open_existing(database: str | Path, *, older: bool = False) -> bool:
    """Check that there is a campaign database of this version.

    With ``older``, it may be of an older one; return whether it is.
    """
    if is_file(database) and not _is_there(Path(database)):
        make = "'grammeter campaign create NAME -s SOURCE --hyps FILES ...'"
        fault, fix = "there is no campaign database here", f"Make one with {make}, or name it"
        raise MissingResourceError(fault, where=str(database), fix=f"{fix} with --database.")
    with explained(database):
        loader = (executor := MigrationExecutor(connection)).loader
        applied = {name for app, name in loader.applied_migrations if app == APP}
        known = {name for app, name in loader.disk_migrations or {} if app == APP}
        pending = bool(executor.migration_plan(loader.graph.leaf_nodes()))
    if not applied:
        fault = "this database holds no campaigns"
        fix = "Make one with 'grammeter campaign create', or name another database."
    elif unknown := sorted(applied - known):
        fault = f"this database was written by a newer grammeter ({', '.join(unknown)})"
        fix = "Update grammeter: pip install -U 'grammeter[campaign]'"
    elif pending and not older:
        fault = "this database was written by an older grammeter"
        fix = "Run 'grammeter campaign upgrade' with the same --database; it copies SQLite files."
    else:
        return pending
    raise DataError(fault, where=shown(database), fix=fix)


def open_or_make(database: str | Path) -> None:
    """Open a campaign database; create it if there is none."""
    if is_file(database) and not _is_there(Path(database)):
        path = Path(database).resolve()
        fix = "Name a place in a folder that you may write to with --database."
        with disk_faults(path, fix, "the database cannot be made"), _beside(path) as half:
            with explained(path), _made(half):
                pass
            try:
                os.link(half, path)  # fails if another process made one meanwhile
            except OSError as error:  # or in a file system without links
                if not isinstance(error, FileExistsError) or not path.stat().st_size:
                    half.replace(path)
        return
    with explained(database):
        if not connection.introspection.table_names():
            call_command("migrate", verbosity=0)
    open_existing(database)


def upgrade(database: str | Path, copy: str | Path | None = None) -> bool:
    """Upgrade an older database, after copying it to ``copy``; return whether it was needed."""
    if not open_existing(database, older=True):
        return False
    if copy is not None and is_file(database):
        backup(database, copy)
    with explained(database):
        call_command("migrate", verbosity=0)
    return True


def backup(database: str | Path, target: str | Path) -> None:
    """Copy a database to a new SQLite file, consistently, while others write to it."""
    path = Path(target)
    if path.exists():
        raise UsageError(f"{path} exists", fix="Name a new file: a copy never replaces one.")
    with disk_faults(path, "Name another place."), _beside(path) as half, explained(database):
        (_copy_file if is_file(database) else _copy_rows)(half)
        half.replace(path)


@contextmanager
def explained(database: str | Path) -> Generator[None]:
    """Convert database errors to errors with a remedy."""
    try:
        yield
    except (DatabaseError, sqlite3.Error, ValueError) as error:  # the last: a damaged value
        fault, where = f"database: {str(error).strip()}", shown(database)
        known = (fix for part, fix in _REMEDIES.items() if re.search(part, fault, re.IGNORECASE))
        if (fix := next(known, "")) or is_file(database):
            fix = fix or "Look whether it is a whole campaign database."
            raise DataError(fault, where=where, fix=fix) from error
        fix = "Check the address, the password (PGPASSWORD or ~/.pgpass), and that it runs."
        raise RemoteError(fault, where=where, fix=fix) from error


def _is_there(path: Path) -> bool:
    """Whether there is an SQLite file that is not empty; raise for other files."""
    where, fix = str(path), "Name a file that you may read with --database."
    try:
        with path.open("rb") as file:
            head = file.read(len(_MAGIC))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", where=where, fix=fix) from None
    except ValueError as error:
        fault, fix = f"this is no name of a file: {error}", "Name a file with --database."
        raise DataError(fault, where=ascii(where), fix=fix) from None
    if head and head != _MAGIC:
        raise DataError("this is no SQLite database", where=where, fix=fix)
    return bool(head)


@contextmanager
def _beside(path: Path) -> Generator[Path]:
    """Make a temporary file beside another, readable by its owner only: it has personal data."""
    half = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        os.close(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        yield half
    finally:
        for name in (half, *(Path(f"{half}{end}") for end in ("-wal", "-shm", "-journal"))):
            name.unlink(missing_ok=True)


@contextmanager
def _made(target: Path) -> Generator[str]:
    """Make another database, an SQLite file with all tables, and yield its alias."""
    alias = "copy"
    databases = {"default": settings.DATABASES["default"], alias: database_settings(target)}
    connections.settings[alias] = connections.configure_settings(databases)[alias]
    try:
        call_command("migrate", database=alias, verbosity=0)
        yield alias
        with connections[alias].cursor() as cursor:  # what is in the WAL
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connections[alias].close()
        del connections[alias]
        del connections.settings[alias]


def _copy_file(target: Path) -> None:
    connection.ensure_connection()
    with closing(sqlite3.connect(target)) as copy:
        try:
            connection.connection.backup(copy)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_FULL:
                raise
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None  # of the copy


def _copy_rows(target: Path) -> None:
    # references are checked at the end of the transaction only
    with _made(target) as alias, transaction.atomic(), transaction.atomic(using=alias):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        models: Any = apps.get_models(include_auto_created=True)
        for rows in (model._base_manager for model in models):
            rows.using(alias).all().delete()  # what migrations wrote there
            for row in rows.order_by("pk").iterator(chunk_size=_BATCH):
                row.save_base(raw=True, using=alias, force_insert=True)  # raw: keeps the times
