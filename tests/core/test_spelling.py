"""How metrics are spelled."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core.errors import UsageError
from grammeter.core.spelling import Value, coerce, parse, spell

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.text("01_eE+-.nNaifruteosTF")  # texts that look like numbers and words
)
VALUES = PLAIN | st.lists(PLAIN).map(tuple) | st.tuples(st.lists(PLAIN, max_size=3).map(tuple))
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_.+-]*", fullmatch=True)
FIELDS = st.dictionaries(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]*", fullmatch=True), VALUES)


def typed(value: Value) -> object:
    """Tell 1, 1.0 and True apart, which are equal to Python."""
    if isinstance(value, tuple):
        return tuple(typed(each) for each in value)
    return type(value), value


@given(NAMES, FIELDS)
def test_spelling_is_read_back(name: str, fields: dict[str, Value]) -> None:
    found, read = parse(spell(name, fields))
    assert found == name
    assert {key: typed(value) for key, value in read.items()} == {
        key: typed(value) for key, value in fields.items()
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("m2", ("m2", {})),
        ("m2()", ("m2", {})),
        (" pt-m2 ( ) ", ("pt-m2", {})),
        ("gleu(order=3)", ("gleu", {"order": 3})),
        ("gleu( order = 3 , unit=char, )", ("gleu", {"order": 3, "unit": "char"})),
        ("m2(beta=1.0,ignore_case=true)", ("m2", {"beta": 1.0, "ignore_case": True})),
        ("m2(beta=.5)", ("m2", {"beta": 0.5})),
        ("x(a=None, b=FALSE)", ("x", {"a": None, "b": False})),
        ("some(model=models/a-1)", ("some", {"model": "models/a-1"})),
        ("x(a='true', b=\"3\")", ("x", {"a": "true", "b": "3"})),
        (r"x(a='it\'s', b='\\')", ("x", {"a": "it's", "b": "\\"})),
        ("x(a=',()=')", ("x", {"a": ",()="})),
        ("some(weights=(0.55, 0.43, 0.02))", ("some", {"weights": (0.55, 0.43, 0.02)})),
        ("x(a=(1,), b=())", ("x", {"a": (1,), "b": ()})),
    ],
)
def test_parse(text: str, expected: tuple[str, dict[str, Value]]) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a name expected at character 1, found the end"),
        ("2m", "a name expected at character 1"),
        ("m2(", r"field=value or '\)' expected at character 4, found the end"),
        ("m2(beta)", r"field=value or '\)' expected"),
        ("m2(beta=)", "a value expected at character 9"),
        ("m2(beta=1", r"',' or '\)' expected at character 10"),
        ("m2(beta=(1, 2)", r"',' or '\)' expected"),
        ("m2(a='x)", "the closing ' expected"),
        ("m2(a=1)b", "the end expected at character 8"),
        ("m2 b", r"'\(' expected at character 4"),
        ("m2(a=1, a=2)", "sets 'a' twice"),
        ("m2(,)", "field=value"),
        ("gleu(order=" + "(" * 50, "expected"),
    ],
)
def test_malformed(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse(text)


def test_a_number_beyond_python_s_digits_is_no_crash() -> None:
    assert parse(f"x(a={'9' * 5000})")[1]["a"] == math.inf


@pytest.mark.parametrize(
    ("value", "allowed", "expected"),
    [
        (3, (int,), 3),
        (3, (float,), 3.0),
        (3.2, ("3.2", "head"), "3.2"),
        ("head", ("3.2", "head"), "head"),
        (0, ("best", "last", int), 0),
        ("best", ("best", int), "best"),
        (None, (None, str), None),
        (7, (None, str), "7"),
        (True, (bool,), True),
        (True, (str,), "true"),
        ((1, 2), (tuple,), (1, 2)),
    ],
)
def test_values_fit_their_fields(
    value: Value, allowed: tuple[object, ...], expected: Value
) -> None:
    assert typed(coerce(value, allowed)) == typed(expected)


@pytest.mark.parametrize(
    ("value", "allowed"),
    [
        (1.5, (int,)),
        (True, (int,)),
        (True, (float,)),
        (1, (bool,)),
        ("x", (float,)),
        ("worst", ("best", int)),
        (None, (str,)),
        (math.nan, (float,)),
        (math.inf, (None, float)),
        ((1,), (str, int)),
    ],
)
def test_values_that_do_not_fit(value: Value, allowed: tuple[object, ...]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the message is the spelling of the value
        coerce(value, allowed)
