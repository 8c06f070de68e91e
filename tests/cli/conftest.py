"""Verbs called as the main program calls them."""

from __future__ import annotations

import pytest

from grammeter.cli.main import main
from grammeter.cli.parser import parser_of


@pytest.fixture
def parse():
    """Return the arguments of a verb: ``parse("meta system", "scores.json")``."""

    def parse(verb, *arguments):
        name, *action = verb.split()
        return parser_of(name).parse_args([*action, *map(str, arguments)])

    return parse


@pytest.fixture
def called(parse, capsys):
    """Return the exit code of a verb, what it printed, and what it said beside that."""

    def called(verb, *arguments):
        args = parse(verb, *arguments)
        code = args.run(args) or 0
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return called


@pytest.fixture
def program(capsys):
    """Return the exit code of the whole program, what it printed, and what it said beside that."""

    def program(*words):
        capsys.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as stop:
            code = int(stop.code or 0)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return program


@pytest.fixture
def put(tmp_path):
    """Write a file, return its path."""

    def write(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write
