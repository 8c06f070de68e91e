"""The error tree, its exit codes and its messages."""

from __future__ import annotations

import pytest

from grammeter.core import errors
from grammeter.core.errors import (
    DataError,
    GrammeterError,
    LengthMismatchError,
    MissingResourceError,
    RemoteError,
    UnknownNameError,
    UsageError,
)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (UsageError, 2),
        (UnknownNameError, 2),
        (DataError, 3),
        (LengthMismatchError, 3),
        (MissingResourceError, 4),
        (RemoteError, 5),
    ],
)
def test_exit_codes(kind: type[GrammeterError], code: int) -> None:
    assert kind.exit_code == code
    assert issubclass(kind, GrammeterError)


def test_the_tree_in_the_docstring_is_complete() -> None:
    classes = [
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, GrammeterError)
    ]
    for name in classes:
        assert name in (errors.__doc__ or "")


def test_message_place_and_help() -> None:
    error = DataError("not an edit", where="gold.m2:7", fix="Write it so.")
    assert str(error) == "gold.m2:7: not an edit\n  Write it so."
    assert str(DataError("bare")) == "bare"
    assert (error.message, error.where, error.fix) == ("not an edit", "gold.m2:7", "Write it so.")


def test_unequal_lengths_name_both_parts_and_both_counts() -> None:
    text = str(LengthMismatchError("out/A", 1311, "src.txt", 1312))
    assert all(word in text for word in ("out/A", "1311", "src.txt", "1312"))


@pytest.mark.parametrize(
    ("name", "known", "words"),
    [
        ("gleo", ["gleu", "bleu", "m2"], "Did you mean 'gleu' or 'bleu'?"),
        ("GLEU", ["gleu", "m2"], "Did you mean 'gleu'?"),
        ("gleu", ["GLEU", "Gleu"], "Did you mean"),
        ("gleux", ["gleu", "gleua", "gleub"], "'gleu' or 'gleu"),
        ("zzz", ["m2", "gleu"], "There are: gleu, m2."),
        ("zzz", [], "There is none."),
    ],
)
def test_unknown_names_suggest(name: str, known: list[str], words: str) -> None:
    error = UnknownNameError("metric", name, known)
    assert repr(name) in str(error)
    assert words in str(error)
    assert set(error.suggestions) <= set(known)


def test_an_unknown_name_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="unknown system 'x'"):
        raise UnknownNameError("system", "x", ["y"])
