"""Law 5: every file that a verb writes is taken by every verb that can make sense of it.

The table of ``docs/feeds.md`` is the list of what is tried.
"""

from __future__ import annotations

import pytest

import page_examples
from laws import feeds


@pytest.mark.parametrize("command", feeds.readers(), ids=lambda text: text[10:70])
def test_a_file_that_a_verb_writes_is_read(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    code, printed = page_examples.run(command)
    assert code == 0, printed
    assert printed.strip() or "-o " in command or "-out " in command


def test_every_row_has_a_reader():
    assert all(feeds.readers())
    assert len(set(feeds.readers())) == len(feeds.readers())
