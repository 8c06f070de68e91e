"""The files of arguments: each belongs to a verb, and what they share is used."""

from grammeter.cli.flags import FOLDER, arguments
from grammeter.cli.parser import VERBS


def groups(part):
    """Yield the groups of a file and of its actions."""
    yield from part.get("group", ())
    for value in part.values():
        if isinstance(value, dict):
            yield from groups(value)


def test_every_verb_has_a_file_and_every_file_a_verb():
    assert {file.stem for file in FOLDER.iterdir()} == {*VERBS, "shared"}


def test_what_is_shared_is_used():
    parts = [group for file in (*VERBS, "shared") for group in groups(arguments(file))]
    used = {name for group in parts for name in group.get("use", ())}
    assert {*arguments("shared")} == used - {"output", "numbers"}
