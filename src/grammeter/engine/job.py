"""The settings of a batch run, which travel to workers and into manifests, and its row filter.

A filter such as ``impara >= 0.9 and errant.edits <= 6`` has numbers, names of columns, ``< <= > >=
== !=``, ``and``, ``or``, ``not`` and parentheses. Python's parser reads it, with plain names for
columns and numbers; nothing is ever evaluated as Python. Comparing a missing value is false.
"""

import ast
import json
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from grammeter.core import UnknownNameError, UsageError
from grammeter.formats import ShardForm

EditsForm = Literal["m2", "list"]  # edits as `A` lines of M2 in one text, or as a list of objects
ERROR = "error"  # the column that says why a row has no scores
LONGEST = 1_000
"""Default limit of tokens in a text: longer texts are no sentences, and the cost of an alignment
grows with the square of its length."""

LONGEST_TOKEN = 50  # limit of characters per token, on average over a text


@dataclass(frozen=True, kw_only=True)
class Job:
    """The settings of :func:`~.batch`; two runs with equal settings write equal rows."""

    metrics: tuple[str, ...]
    source: str = "source"
    hypothesis: str = "hypothesis"
    references: tuple[str, ...] = ()
    keep: str | None = None
    edits: EditsForm | None = None
    longest: int = LONGEST
    form: ShardForm | None = None  # of the output; `None`: as the input
    signatures: tuple[str, ...] = ()  # of the metrics

    def __post_init__(self) -> None:
        if not self.metrics:
            raise UsageError("no metric", fix="Name one at least with -m.")
        if len(set(self.metrics)) != len(self.metrics):
            raise UsageError("a metric is named twice", fix="Name each metric once.")
        if self.longest < 1:
            raise UsageError(f"texts of {self.longest} tokens", fix="Use 1 or more.")
        if self.form == "text":
            raise UsageError("plain text has no columns", fix="Write jsonl, tsv, csv or parquet.")

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return json.loads(json.dumps(asdict(self)))


Cells = Mapping[str, object]
Test = Callable[[Cells], bool]
Value = Callable[[Cells], float | None]
_COMPARE: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    **{ast.LtE: operator.le, ast.GtE: operator.ge, ast.Eq: operator.eq},
    **{ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.Gt: operator.gt},
}
_WORD = r"[^\s()<>=!]+"
_TOKENS = (
    r"(?P<sign><=|>=|==|!=|[<>()])"
    r"|(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    rf"|(?P<keyword>(?:and|or|not)(?!{_WORD}))|(?P<word>{_WORD})|(?P<other>\S)"
)
_TOO_DEEP = "its parentheses are too deep"


def parse_keep(text: str, columns: list[str], *, short: Mapping[str, str] | None = None) -> Test:
    """Return a filter's test of cells; ``short`` maps further names to ``columns``."""
    return _Parser(text, {**(short or {}), **{name: name for name in columns}}).parse()


class _Parser:
    """Rewrites a filter as a Python expression over ``v0``, ``v1``, ..., and reads its tree."""

    def __init__(self, text: str, columns: Mapping[str, str]) -> None:
        self._text, self._columns = text, columns
        self._values: dict[str, Value] = {}
        names = "|".join(map(re.escape, sorted(columns, key=len, reverse=True))) or "(?!)"
        self._tokens = list(re.finditer(rf"(?P<name>(?:{names})(?!{_WORD}))|{_TOKENS}", text))

    def parse(self) -> Test:
        try:
            code = "\n".join(["(", *map(self._as_python, self._tokens), ")"])
            return self._test(ast.parse(code, mode="eval").body)
        except SyntaxError as error:
            raise self._fault(self._reason(error)) from None
        except (RecursionError, MemoryError):
            raise self._fault(_TOO_DEEP) from None

    def _as_python(self, token: re.Match[str]) -> str:
        text, kind = token[0], token.lastgroup
        if kind == "word":
            raise UnknownNameError("column of numbers in the filter", text, list(self._columns))
        if kind == "other":
            raise self._fault(f"{text!r} is not expected there")
        if kind in ("sign", "keyword"):
            return text
        variable = f"v{len(self._values)}"
        number = float(text) if kind == "number" else None
        self._values[variable] = _cell(self._columns[text]) if number is None else lambda _: number
        return variable

    def _test(self, node: ast.expr) -> Test:
        match node:
            case ast.BoolOp(op=joint, values=parts):
                tests = list(map(self._test, parts))
                join = all if isinstance(joint, ast.And) else any
                return lambda cells: join(test(cells) for test in tests)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                negated = self._test(operand)
                return lambda cells: not negated(cells)
            case ast.Compare(left=ast.Name(id=left), ops=[sign], comparators=[ast.Name(id=right)]):
                one, other, compare = self._values[left], self._values[right], _COMPARE[type(sign)]

                def holds(cells: Cells) -> bool:
                    a, b = one(cells), other(cells)
                    return a is not None and b is not None and compare(a, b)

                return holds
            case _:
                raise self._fault("it is not made of comparisons of two values")

    def _reason(self, error: SyntaxError) -> str:
        """Say what is wrong at the token, one a line, where Python's parser stopped."""
        if error.msg.startswith("too many"):
            return _TOO_DEEP
        if error.msg.startswith("'(' was"):
            return "a parenthesis is not closed"
        if error.msg.startswith("unmatched"):
            return "')' is not expected there"
        at = (error.end_lineno or 0) - 2
        text = self._tokens[at][0] if 0 <= at < len(self._tokens) else None
        return f"{text!r} is not expected there" if text else "it ends early"

    def _fault(self, message: str) -> UsageError:
        fix = "Write comparisons joined by and, or, not: impara >= 0.9 and errant.edits <= 6"
        return UsageError(f"cannot read the filter {self._text!r}: {message}", fix=fix)


def _cell(column: str) -> Value:
    def value(cells: Cells) -> float | None:
        number = cells.get(column)
        # a whole number stays one: it may be too large for a float, and compares as it is
        return number if isinstance(number, int | float) and number == number else None  # noqa: PLR0124

    return value
