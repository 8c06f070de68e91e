"""The settings of a batch run, which travel to workers and into manifests, and its row filter.

A filter such as ``impara >= 0.9 and errant.edits <= 6`` has numbers, names of columns, ``< <= > >=
== !=``, ``and``, ``or``, ``not`` and parentheses. Python's parser reads it, with plain names for
columns and numbers; nothing is ever evaluated as Python. Comparing a missing value is false.
"""

import ast
import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
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
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    **{ast.LtE: operator.le, ast.GtE: operator.ge, ast.Eq: operator.eq},
    **{ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.Gt: operator.gt},
}
_WORD = r"[^\s()<>=!]+"
_TOKENS = (
    r"(?P<sign><=|>=|==|!=|[<>()])"
    r"|(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    rf"|(?P<keyword>(?:and|or|not)(?!{_WORD}))|(?P<word>{_WORD})|(?P<other>\S)"
)


def parse_keep(text: str, columns: list[str], *, short: Mapping[str, str] | None = None) -> Test:
    """Return a filter's test of cells; ``short`` maps further names to ``columns``."""
    known = {**(short or {}), **{name: name for name in columns}}
    values: list[str | float] = []  # columns and numbers, which are v0, v1 ... in Python
    names = "|".join(map(re.escape, sorted(known, key=len, reverse=True))) or "(?!)"

    def in_python(token: re.Match[str]) -> str:
        kind = token.lastgroup
        if kind == "word":
            raise UnknownNameError("column of numbers in the filter", token[0], columns)
        if kind not in ("name", "number"):
            return token[0]
        values.append(known[token[0]] if kind == "name" else float(token[0]))
        return f"v{len(values) - 1}"

    tokens = re.finditer(rf"(?P<name>(?:{names})(?!{_WORD}))|{_TOKENS}", text)
    code = " ".join(map(in_python, tokens))
    try:
        return _test(ast.parse(code, mode="eval").body, values)
    except (SyntaxError, ValueError, KeyError, RecursionError, MemoryError):
        fix = "Write comparisons joined by and, or, not: impara >= 0.9 and errant.edits <= 6"
        raise UsageError(f"cannot read the filter {text!r}", fix=fix) from None


def _test(node: ast.expr, values: Sequence[str | float]) -> Test:
    match node:
        case ast.BoolOp(op=joint, values=parts):
            tests = [_test(part, values) for part in parts]
            join = all if isinstance(joint, ast.And) else any
            return lambda cells: join(test(cells) for test in tests)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            negated = _test(operand, values)
            return lambda cells: not negated(cells)
        case ast.Compare(left=ast.Name(id=left), ops=[sign], comparators=[ast.Name(id=right)]):
            one, other = (values[int(name[1:])] for name in (left, right))
            compare = _COMPARE[type(sign)]

            def holds(cells: Cells) -> bool:
                a, b = _value(cells, one), _value(cells, other)
                return a is not None and b is not None and compare(a, b)

            return holds
        case _:
            raise ValueError("no comparison of two values")


def _value(cells: Cells, of: str | float) -> float | None:
    number = cells.get(of) if isinstance(of, str) else of
    # a whole number stays one: it may be too large for a float, and compares as it is
    return number if isinstance(number, int | float) and number == number else None  # noqa: PLR0124
