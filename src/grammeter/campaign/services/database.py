"""The database as a whole: open, upgrade, copy."""

import errno
import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from grammeter.campaign.conf import configure, is_file, shown
from grammeter.core import DataError, MissingResourceError, RemoteError, UsageError, disk_faults

APP = "campaign"  # the label of our tables
_FIX_FILE = (
    "It must be a whole campaign database that no other program holds for long, in a folder where "
    "you may write, on a disk with room. Nothing that was confirmed is lost."
)


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
            with explained(path), _made(half, path):
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
        _copy_file(half) if is_file(database) else _copy_rows(half, database)
        half.replace(path)


@contextmanager
def explained(database: str | Path) -> Generator[None]:
    """Convert database errors to errors with a remedy."""
    try:
        yield
    except (DatabaseError, sqlite3.Error, ValueError) as error:  # the last: a damaged value
        fault, where = f"database: {str(error).strip()}", shown(database)
        if is_file(database):
            raise DataError(fault, where=where, fix=_FIX_FILE) from error
        fix = "Check the address, the password (PGPASSWORD or ~/.pgpass), and that it runs."
        raise RemoteError(fault, where=where, fix=fix) from error


def _is_there(path: Path) -> bool:
    """Whether there is a file that is not empty."""
    with disk_faults(path, "Name a file that you may read with --database.", "cannot be read"):
        return path.exists() and path.stat().st_size > 0


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
def _made(target: Path, database: str | Path) -> Generator[None]:
    """Make an SQLite file with all tables, and work on it for a while instead of a database."""
    configure(target)
    try:
        call_command("migrate", verbosity=0)
        yield
    finally:
        configure(database)


def _copy_file(target: Path) -> None:
    connection.ensure_connection()
    with closing(sqlite3.connect(target)) as copy:
        try:
            connection.connection.backup(copy)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_FULL:
                raise
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None  # of the copy


def _copy_rows(target: Path, database: str | Path) -> None:
    tables: list[Any] = [*apps.get_models(include_auto_created=True)]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        rows = [list(table._base_manager.order_by("pk")) for table in tables]
    # references are checked at the end of the transaction only
    with _made(target, database), transaction.atomic():
        for table, lines in zip(tables, rows, strict=True):
            table._base_manager.all().delete()  # what migrations wrote there
            for row in lines:
                row.save_base(raw=True, force_insert=True)  # raw: keeps the times
