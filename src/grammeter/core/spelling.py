"""How a metric is spelled: ``name`` or ``name(field=value, field=value)``.

A value is a number, ``true``, ``false``, ``none``, a bare word or path, a text in single or
double quotes (a backslash escapes the quote or itself), or several values in parentheses.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from grammeter.core.errors import UsageError

Value = bool | int | float | str | None | tuple["Value", ...]
"""What a field of a metric may hold."""

Read = TypeVar("Read")
_MOST_BRACKETS = 100
_NAME = re.compile(r"\s*([A-Za-z][\w.+-]*)\s*")
_FIELD = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*")
_INTEGER = re.compile(r"[+-]?\d{1,4000}\Z")  # Python reads no more than 4,300 digits
_QUOTED = re.compile(r"""(['"])((?:[^\\]|\\\\|\\(?=[^\\])(?!\1)|\\\1)*?)\1""", re.S)
_WORD = re.compile(r"[^,()]+")
_BARE = re.compile(r"[A-Za-z0-9_./~@+:-]+\Z")
_WORDS: Mapping[str, Value] = {"true": True, "false": False, "none": None}
_SPELLED: Mapping[object, str] = {True: "true", False: "false", None: "none"}


def parse(text: str) -> tuple[str, dict[str, Value]]:
    """Split a spelling into name and fields; UsageError if it is none or names a field twice."""
    match = _NAME.match(text)
    if match is None:
        raise _malformed(text, 0, "a name")
    if text.count("(") > _MOST_BRACKETS:
        raise UsageError(f"{text[:40]!r}... has too many brackets", fix="Write fewer.")
    name, at = match[1], match.end()
    if at == len(text):
        return name, {}
    if text[at] != "(":
        if text[at] == ",":
            fault = f"{text!r} is no name of a metric"
            raise UsageError(fault, fix="Separate several metrics by spaces.")
        raise _malformed(text, at, "'('")
    pairs, at = _listed(text, at + 1, _field)
    if text[at:].strip():
        raise _malformed(text, at, "the end")
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise UsageError(f"{text!r} sets {key!r} twice", fix="Keep one of them.")
    return name, dict(pairs)


def spell(name: str, fields: Mapping[str, Value]) -> str:
    """Write a spelling that :func:`parse` reads back."""
    if not fields:
        return name
    return f"{name}({', '.join(f'{key}={spell_value(value)}' for key, value in fields.items())})"


def spell_value(value: Value) -> str:
    """Write one value."""
    if isinstance(value, tuple):
        inner = ", ".join(spell_value(v) for v in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if value is None or isinstance(value, bool):
        return _SPELLED[value]
    if isinstance(value, str):
        mark = "'" if '"' in value and "'" not in value else '"'
        quoted = value.replace("\\", "\\\\").replace(mark, "\\" + mark)
        is_bare = _BARE.match(value) and isinstance(_bare(value), str)
        return value if is_bare else f"{mark}{quoted}{mark}"
    return repr(value)


def _listed(
    text: str, at: int, read: Callable[[str, int], tuple[Read, int]]
) -> tuple[list[Read], int]:
    """Read items between commas, up to the bracket that closes them."""
    items: list[Read] = []
    while not text.startswith(")", at := _skip(text, at)):
        item, at = read(text, at)
        items.append(item)
        at = _skip(text, at)
        if not text.startswith((",", ")"), at):
            raise _malformed(text, at, "',' or ')'")
        at += text[at] == ","
    return items, at + 1


def _field(text: str, at: int) -> tuple[tuple[str, Value], int]:
    match = _FIELD.match(text, at)
    if match is None:
        raise _malformed(text, at, "field=value or ')'")
    value, at = _value(text, match.end())
    return (match[1], value), at


def _value(text: str, at: int) -> tuple[Value, int]:
    at = _skip(text, at)
    if match := _QUOTED.match(text, at):
        return re.sub(rf"\\([\\{match[1]}])", r"\1", match[2]), match.end()
    if text.startswith(("'", '"'), at):
        raise _malformed(text, len(text), f"the closing {text[at]}")
    if text.startswith("(", at):
        values, at = _listed(text, at + 1, _value)
        return tuple(values), at
    word = _WORD.match(text, at)
    if not word or not word[0].strip():
        raise _malformed(text, at, "a value")
    return _bare(word[0].strip()), word.end()


def _bare(word: str) -> Value:
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    if _INTEGER.match(word):
        return int(word)
    try:
        return float(word)
    except ValueError:
        return word


def _skip(text: str, at: int) -> int:
    return len(text) - len(text[at:].lstrip())


def _malformed(text: str, at: int, expected: str) -> UsageError:
    found = repr(text[at : at + 12]) if at < len(text) else "the end"
    fault = f"cannot read {text!r}: {expected} expected at character {at + 1}, found {found}"
    fix = 'Write it as name or "name(field=value, field=value)", in quotes on the shell.'
    return UsageError(fault, fix=fix)


def coerce(value: Value, allowed: tuple[object, ...]) -> Value:
    """Fit a parsed value to a field's types and words, else raise ValueError.

    ``allowed`` mixes types (``float``, ``str`` ...), ``None`` and literal values. A number is taken
    as text where only texts are allowed (``row0=3.2``), an integer as a float; neither NaN nor
    infinity is a number here.
    """
    if isinstance(value, float) and not math.isfinite(value) and float in allowed:
        raise ValueError(spell_value(value))
    literal = any(value == option and type(value) is type(option) for option in allowed)
    if literal or type(value) in allowed:
        return value
    if type(value) is int and float in allowed:
        return float(value)
    word = spell_value(value) if not isinstance(value, str) else value
    if word in allowed or (str in allowed and isinstance(value, int | float)):
        return word
    raise ValueError(word)
