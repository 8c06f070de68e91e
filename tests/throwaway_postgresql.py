"""A PostgreSQL cluster for the tests of one session, where its programs are installed."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

USER = "grammeter"


def missing() -> str | None:
    """Say why there can be no cluster; ``None`` if there can."""
    for program in ("initdb", "pg_ctl", "postgres"):
        if shutil.which(program) is None:
            return f"no {program} on PATH"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed"
    if os.geteuid() == 0 and (_account() is None or shutil.which("setpriv") is None):
        return "PostgreSQL refuses root, and there is no account 'postgres' to run it as"
    return None


@contextmanager
def cluster():
    """Start a cluster in a folder of its own; give the address of its server."""
    # not in pytest's folders, which are for their owner alone, and too long for a socket's name
    folder = Path(tempfile.mkdtemp(prefix="grammeter-postgresql-"))
    try:
        if os.geteuid() == 0:
            os.chown(folder, _account().pw_uid, _account().pw_gid)
        yield from _running(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _running(folder: Path):
    data = folder / "data"
    _call("initdb", "-D", data, "-A", "trust", "-U", USER, "--no-sync", cwd=folder)
    port = _free_port()
    options = f"-p {port} -k {folder} -h 127.0.0.1 -c fsync=off"
    _call("pg_ctl", "-D", data, "-o", options, "-l", folder / "log", "-w", "start", cwd=folder)
    try:
        yield f"postgresql://{USER}@127.0.0.1:{port}"
    finally:
        _call("pg_ctl", "-D", data, "-m", "fast", "-w", "stop", cwd=folder)


def new_database(server: str, name: str) -> str:
    """Make an empty database; return its address."""
    import psycopg

    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')  # pyright: ignore
    return f"{server}/{name}"


def _account():
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return None


def _call(*words, cwd):
    root = os.geteuid() == 0
    head = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if root else []
    with (cwd / "programs.log").open("ab") as log:  # a pipe would stay open in the server
        subprocess.run([*head, *map(str, words)], cwd=cwd, check=True, stdout=log, stderr=log)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
