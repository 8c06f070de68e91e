"""The table of ``docs/feeds.md``: what writes and what reads each file."""

from __future__ import annotations

import glob
import io
import re
import shlex
from contextlib import redirect_stdout, suppress
from functools import cache
from pathlib import Path

from grammeter.cli.main import main

PAGE = Path(__file__).parents[2] / "docs" / "feeds.md"
_COMMAND = re.compile(r"`(grammeter [^`]+)`")


@cache
def rows() -> list[tuple[str, str]]:
    """Return the commands that write and read, row by row; empty where the cell is."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    matches = [[_COMMAND.search(cell) for cell in line.split("|")[2:4]] for line in lines[1:]]
    return [tuple(match[1] if match else "" for match in row) for row in matches]


def writers() -> list[str]:
    return [writer for writer, _ in rows() if writer]


def readers() -> list[str]:
    return [reader for _, reader in rows()]


def words(command: str) -> list[str]:
    """Split a command as a shell does, patterns of file names included."""
    plain = shlex.split(command)[1:]
    return [path for word in plain for path in sorted(glob.glob(word)) or [word]]


@cache
def help_of(*verb: str) -> str:
    text = io.StringIO()
    with redirect_stdout(text), suppress(SystemExit):
        main([*verb, "--help"])
    return text.getvalue()
