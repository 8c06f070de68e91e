"""What tests of meta-evaluation share: the verbs, called as from a shell."""

import json

import pytest

from grammeter.cli.main import main


@pytest.fixture
def answer(capsys):
    """Call a verb with ``--format json``; return the result."""

    def call(*arguments):
        code = main([*map(str, arguments), "--format", "json"])
        printed = capsys.readouterr()
        assert code == 0, printed.err
        return json.loads(printed.out)

    return call
