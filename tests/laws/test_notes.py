"""Law 6: what must be known to read a number is part of the result, quiet or not.

The commands are the readers of ``docs/feeds.md`` that print a result.
"""

from __future__ import annotations

import json

import pytest

import page_examples
from grammeter.cli.main import main
from laws import feeds

READERS = [command for command in feeds.readers() if " -o report" not in command]


def has_format(command: str) -> bool:
    verb = command.split()[1 : 3 if command.split()[1] in ("meta", "campaign", "edits") else 2]
    return "--format" in feeds.help_of(*verb)


RESULTS = [command for command in READERS if has_format(command)]


@pytest.mark.parametrize("command", RESULTS, ids=lambda text: text[10:70])
def test_notes_stand_in_json_and_below_the_table(command, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    words = feeds.words(command)
    assert main([*words, "--quiet", "--format", "json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert all(isinstance(note, str) and note for note in notes)
    assert len(set(notes)) == len(notes)
    code, printed = page_examples.run(f"{command} --quiet")
    assert code == 0
    lines = printed.splitlines()
    assert [line for line in lines if line.startswith("note: ")] == [f"note: {n}" for n in notes]


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("grammeter meta system scores.json people.xml", "6 systems"),
        ("grammeter score -r outside.m2 -m m2 --hyps one.txt --lenient", "passed over"),
    ],
)
def test_a_note_that_must_be_there(command, word, folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "outside.m2").write_text(
        "S a b .\nA 1 7|||X|||c|||REQUIRED|||-NONE-|||0\n\n", "utf-8"
    )
    (folder / "one.txt").write_text("a c .\n", "utf-8")
    assert any(
        word in line
        for line in page_examples.run(f"{command} --quiet")[1].splitlines()
        if line.startswith("note: ")
    )
