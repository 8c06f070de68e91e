"""Verbs called in this process: in a folder, with an environment, their streams caught."""

from __future__ import annotations

import io
import os
from collections.abc import Generator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from grammeter.cli.main import main


def call(words: str) -> tuple[int, str, str]:
    """Call the main program; return exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(words.split())
        except SystemExit as error:
            code = error.code
    return code, out.getvalue(), err.getvalue()


@contextmanager
def mounted(folder: Path, size: str) -> Generator[Path]:
    """Mount a small file system in memory; skip where that is not permitted."""
    import subprocess

    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no command 'mount'")
    if done.returncode:
        pytest.skip(f"no file system can be mounted: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, free: int) -> None:
    """Fill a file system but for so many bytes."""
    found = os.statvfs(folder)
    left = found.f_bavail * found.f_frsize - free
    if left > 0:
        (folder / "filler").write_bytes(bytes(left))


def listing(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "filler"
    }
