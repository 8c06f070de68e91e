"""Seeded damage to valid inputs: what networks, editors and enemies do to files."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from random import Random
from typing import Any, cast

_NUMBER = re.compile(rb"\d+")

NUMBERS = (
    *(b"0", b"-1", b"1e400", b"-1e308", b"NaN", b"Infinity", b"1" * 5000, b"9223372036854775808"),
    *(b"4294967296", b"0x10", b"1_000", b"1e-400", b"\xd9\xa3", b"\xc2\xb2", b"2147483647", b"+5"),
)
"""Numbers that a reader may take for others; the last but three are digits of other scripts."""

ODD = (
    *(
        b"\x00",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\x0b",
        b"\x0c",
        b"\x1c",
        b"\x85",
        b"\t",
        b"\xff",
        b"\xc3",
    ),
    *(b"\xef\xbb\xbf", b"\xfe\xff", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\\ud800", b"\\u0000"),
    *("\u2028\u202e\u200b\ufffe\U0001f469\u200d\U0001f680e\u0301\u0130\xa0\u3000".encode(),),
    *(b'"', b"'", b"<", b"&#0;", b"&#xD800;", b"|||", b"||", b"-NONE-", b"null", b"[]", b"{}"),
    *(
        b"<!DOCTYPE a [<!ENTITY b 'c'>]>&b;",
        b"true",
        b'""',
        b"A -1 -1|||",
        b"S ",
        b",",
        b"..",
        b"/",
    ),
)
"""Pieces that some format, decoder or splitter takes for something special."""

_USUAL = (b"0", b"1", b"2", b"3", b"7", b"99", b"-1", b"0.5", b"1e9", b"1000000")
_OTHERS: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        3,
        99,
        0.5,
        -0.5,
        1e308,
        -1e308,
        2**31,
        2**63,
        2**64,
        10**400,
    ),
    *(
        "",
        "x",
        "ALPHA",
        "0.5",
        "nan",
        "\ud800",
        "\0",
        "a\nb",
        "a b",
        "[red]",
        "a|b:c",
        "m2",
        "\u2028",
    ),
    *(
        float("nan"),
        float("inf"),
        [],
        {},
        [[]],
        [0],
        ["x"],
        [None],
        [[0, 1, 2]],
        {"x": 1},
        {"": {}},
    ),
)
_KEYS = ("", "x", "ALPHA", "m2", "value", "kind", "\ud800", "a\nb", "0")
_OPENERS = (b"[", b'{"a":', b"(", b"<a>", b"not ", b'[["', b"-")


def mutate(data: bytes, random: Random) -> bytes:
    """Damage a file in one to four ways."""
    for _ in range(random.choice((1, 1, 2, 4))):
        data = random.choice(_WAYS)(data, random)
    return data[: 2**20]


def packed(data: bytes, random: Random) -> bytes:
    """Pack a file, then perhaps damage what is packed."""
    found = gzip.compress(data, mtime=0)
    return random.choice((_keep, _cut, _bytes, _append))(found, random)


def _keep(data: bytes, random: Random) -> bytes:
    return data


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _bytes(data: bytes, random: Random) -> bytes:
    found = bytearray(data)
    for _ in range(random.choice((1, 3, 20))):
        if found:
            found[random.randrange(len(found))] = random.randrange(256)
    return bytes(found)


def _swap(data: bytes, random: Random) -> bytes:
    found = bytearray(data)
    if found:
        one, other = random.randrange(len(found)), random.randrange(len(found))
        found[one], found[other] = found[other], found[one]
    return bytes(found)


def _number(data: bytes, random: Random) -> bytes:
    places = list(_NUMBER.finditer(data))
    if not places:
        return data
    place = random.choice(places)
    return data[: place.start()] + random.choice(NUMBERS) + data[place.end() :]


def _insert(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(ODD) * random.choice((1, 1, 1, 300)) + data[at:]


def _value(data: bytes, random: Random) -> bytes:
    """Put another value where JSON has one, or a cell, or an attribute."""
    places = list(re.finditer(rb'"[^"\n]*"|[^\s,:{}\[\]]+', data))
    if not places:
        return data
    place = random.choice(places)
    value = random.choice((*ODD, *NUMBERS, b'"x"', b'["x"]', b'{"x":1}', b"[null]", b"1.5", b""))
    return data[: place.start()] + value + data[place.end() :]


def _nest(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(_OPENERS) * random.choice((5, 2000, 100_000)) + data[at:]


def _lines(data: bytes, random: Random) -> bytes:
    """Drop, double or move a line."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    line = lines.pop(random.randrange(len(lines)))
    for _ in range(random.choice((0, 1, 2, 50))):
        lines.insert(random.randrange(len(lines) + 1), line)
    return b"".join(lines)


def _drop(data: bytes, random: Random) -> bytes:
    start = random.randrange(len(data) + 1)
    return data[:start] + data[start + random.choice((1, 5, 40)) :]


def _append(data: bytes, random: Random) -> bytes:
    return data + random.choice((data, random.randbytes(30), *ODD))


def _random(data: bytes, random: Random) -> bytes:
    return random.randbytes(random.choice((0, 1, 20, 500)))


def _line_ends(data: bytes, random: Random) -> bytes:
    return data.replace(b"\n", random.choice((b"\r\n", b"\r", b"", b"\x00", "\u2028".encode())))


def _encoding(data: bytes, random: Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(random.choice(("utf-16", "utf-32", "utf-8-sig", "utf-7")))


def _number_of_usual_size(data: bytes, random: Random) -> bytes:
    places = list(_NUMBER.finditer(data))
    if not places:
        return data
    place = random.choice(places)
    return data[: place.start()] + random.choice(_USUAL) + data[place.end() :]


def _json(data: bytes, random: Random) -> bytes:
    """Put another value somewhere into JSON, all of a file or one line, that stays JSON."""
    lines = [data] if data.count(b"\n") < 2 else data.split(b"\n")
    at = random.randrange(len(lines))
    try:
        whole = json.loads(lines[at])
    except (ValueError, RecursionError):
        return data
    lines[at] = json.dumps(_changed(whole, random)).encode()
    return b"\n".join(lines)


def _changed(value: Any, random: Random) -> Any:
    """Change a value here or further down, keys and items too."""
    if not isinstance(value, dict | list) or not value or random.random() < 0.15:
        return random.choice(_OTHERS)
    holder = cast("dict[Any, Any] | list[Any]", value)
    key = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    way = random.random()
    if way < 0.8:
        holder[key] = _changed(holder[key], random)
    elif way < 0.9:
        del holder[key]
    elif isinstance(holder, dict):
        holder[random.choice(_KEYS)] = holder.pop(key)
    else:
        holder.insert(key, holder[key])
    return holder


_Way = Callable[[bytes, Random], bytes]
_WAYS: tuple[_Way, ...] = (
    *(_cut, _bytes, _swap, _drop, _append, _random, _line_ends, _encoding, _nest),
    *(_number, _insert, _value, _lines, _number_of_usual_size) * 3,
    *(_json,) * 9,
)
