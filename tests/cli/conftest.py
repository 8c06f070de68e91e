"""Verbs called as the main program calls them."""

from __future__ import annotations

import pytest

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
