"""Filters on the columns of a row: ``impara >= 0.9 and errant.edits <= 6``.

The language has numbers, names of columns, ``< <= > >= == !=``, ``and``, ``or``, ``not`` and
parentheses; nothing is ever evaluated as Python. A comparison with a missing value is false.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grammeter.core import UnknownNameError, UsageError

Cells = Mapping[str, object]
Test = Callable[[Cells], bool]
Value = Callable[[Cells], float | None]

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_SIGN = re.compile("|".join(map(re.escape, _COMPARE)) + r"|[()]")
_WORD = re.compile(r"[^\s()<>=!]+")
_KEYWORDS = ("and", "or", "not")


@dataclass(frozen=True)
class Keep:
    """A filter that was understood: ``keep(cells)`` says whether a row passes.

    Attributes
    ----------
    text
        As it was written.
    names
        The columns that it looks at.
    """

    text: str
    names: frozenset[str]
    test: Test

    def __call__(self, cells: Cells) -> bool:
        """Whether a row with these cells passes."""
        return self.test(cells)


def parse_keep(
    text: str, columns: Sequence[str], *, short: Mapping[str, str] | None = None
) -> Keep:
    """Read a filter.

    Parameters
    ----------
    text
        Such as ``gleu > 0.5 and not (errant.edits == 0)``.
    columns
        All names that it may use; they may hold spaces and signs, as ``gleu(order=2)`` does.
    short
        Further names, and the column that each stands for.

    Raises
    ------
    UnknownNameError
        If it names another column.
    UsageError
        If it cannot be read.
    """
    parser = _Parser(text, {**(short or {}), **{name: name for name in columns}})
    try:
        test = parser.either()
    except RecursionError:
        raise parser.fault("its parentheses are too deep") from None
    if parser.ahead is not None:
        raise parser.fault(f"{parser.ahead!r} is not expected there")
    return Keep(text, frozenset(parser.used), test)


class _Parser:
    """A recursive descent over the tokens; each method reads one level of the grammar."""

    def __init__(self, text: str, columns: Mapping[str, str]) -> None:
        self._text = text
        self._columns = columns
        self._names = sorted(columns, key=len, reverse=True)  # the longest name that fits
        self._tokens = self._scan()
        self.used: set[str] = set()
        self.ahead: str | None = None
        self._is_name = False
        self._next()

    def either(self) -> Test:
        tests = [self._both()]
        while self._takes("or"):
            tests.append(self._both())
        return tests[0] if len(tests) == 1 else lambda cells: any(test(cells) for test in tests)

    def fault(self, message: str) -> UsageError:
        return UsageError(
            f"cannot read the filter {self._text!r}: {message}",
            fix="Write comparisons joined by and, or, not: impara >= 0.9 and errant.edits <= 6",
        )

    def _both(self) -> Test:
        tests = [self._negated()]
        while self._takes("and"):
            tests.append(self._negated())
        return tests[0] if len(tests) == 1 else lambda cells: all(test(cells) for test in tests)

    def _negated(self) -> Test:
        if self._takes("not"):
            test = self._negated()
            return lambda cells: not test(cells)
        if self._takes("("):
            test = self.either()
            if not self._takes(")"):
                raise self.fault("a parenthesis is not closed")
            return test
        return self._comparison()

    def _comparison(self) -> Test:
        left = self._value()
        sign = self.ahead
        if sign not in _COMPARE or self._is_name:
            raise self.fault(
                f"a comparison is missing before {sign!r}" if sign else "it ends early"
            )
        self._next()
        right, compare = self._value(), _COMPARE[sign]

        def holds(cells: Cells) -> bool:
            one, other = left(cells), right(cells)
            return one is not None and other is not None and compare(one, other)

        return holds

    def _value(self) -> Value:
        word = self.ahead
        if word is None:
            raise self.fault("it ends early")
        if self._is_name:
            column = self._columns[word]
            self.used.add(column)
            self._next()
            return lambda cells: _number(cells.get(column))
        if not _NUMBER.fullmatch(word):
            raise self.fault(f"{word!r} is neither a number nor a column")
        self._next()
        number = float(word)
        return lambda cells: number

    def _takes(self, word: str) -> bool:
        found = self.ahead == word and not self._is_name
        if found:
            self._next()
        return found

    def _next(self) -> None:
        self.ahead, self._is_name = next(self._tokens, (None, False))

    def _scan(self) -> Iterator[tuple[str, bool]]:
        """Yield the tokens, and whether each is the name of a column."""
        at = 0
        while at < len(self._text):
            if self._text[at].isspace():
                at += 1
                continue
            token, is_name = self._token(at)
            yield token, is_name
            at += len(token)

    def _token(self, at: int) -> tuple[str, bool]:
        for name in self._names:
            end = at + len(name)
            if self._text.startswith(name, at) and not _WORD.match(self._text[end : end + 1]):
                return name, True
        for pattern in (_SIGN, _NUMBER):
            found = pattern.match(self._text, at)
            if found:
                return found[0], False
        word = _WORD.match(self._text, at)
        if word is None:
            raise self.fault(f"{self._text[at]!r} is not expected there")
        if word[0] in _KEYWORDS:
            return word[0], False
        raise UnknownNameError("column of numbers in the filter", word[0], list(self._columns))


def _number(value: object) -> float | None:
    # a whole number stays one: it may be too large for a float, and compares as it is
    return value if isinstance(value, int | float) and value == value else None  # noqa: PLR0124
