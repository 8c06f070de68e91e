"""A batch run: its settings, which travel to workers; its row filter; the record of its shards.

A filter such as ``impara >= 0.9 and errant.edits <= 6`` has numbers, names of columns, ``< <= > >=
== !=``, ``and``, ``or``, ``not`` and parentheses. Python's parser reads it, with plain names for
columns and numbers; nothing is ever evaluated as Python. Comparing a missing value is false.
"""

import ast
import hashlib
import json
import operator
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from grammeter.core import UnknownNameError, UsageError, reading
from grammeter.formats import Shard, ShardForm, Sink, read_object, write_text
from grammeter.version import __version__

EditsForm = Literal["m2", "list"]  # edits as `A` lines of M2 in one text, or as a list of objects
ERROR = "error"  # the column that says why a row has no scores
LONGEST = 1_000
"""Default limit of tokens in a text: longer texts are no sentences, and the cost of an alignment
grows with the square of its length."""

LONGEST_TOKEN = 50  # limit of characters per token, on average over a text
ERRORS = "errors"  # the folder, inside that of the output, of the lists of rows with an error
FIRST_FAULTS = 5  # how many rows with an error are told one by one
Notes = Sequence[str]
NAME = "manifest.json"
KIND = "batch"
_HEAD = ("row", "error")
_KEYS = ("input", "output", "files", "rows", "kept", "errors")


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

    def __post_init__(self) -> None:
        if not self.metrics or len({*self.metrics}) != len(self.metrics):
            fault = f"metrics are {', '.join(self.metrics) or 'none'}"
            raise UsageError(fault, fix="Name each once, one at least, with -m.")
        if self.longest < 1:
            raise UsageError(f"texts of {self.longest} tokens", fix="Use 1 or more.")

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


def parse_keep(text: str, columns: list[str], short: Mapping[str, str] | None = None) -> Test:
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


# --- the output of a run: shards as they are written, and the record of the finished ones ------
class Done(NamedTuple):
    """A scored block: rows that passed the filter, encoded for a ``Sink``, and their columns."""

    data: Any
    columns: tuple[str, ...]
    rows: int  # all
    kept: int  # those that passed
    faults: tuple[tuple[int, str], ...]  # line and reason of each row with an error
    share: float  # how much of the shard is read with this block, 0 to 1


@dataclass
class Totals:
    """Counts of a shard or of a run."""

    rows: int = 0
    kept: int = 0
    errors: int = 0

    def add(self, done: Done) -> None:
        """Add a block."""
        self.rows += done.rows
        self.kept += done.kept
        self.errors += len(done.faults)


@dataclass(frozen=True)
class Planned:
    """A shard and where it goes; its :func:`digest` from before it was ``read``."""

    shard: Shard
    form: ShardForm
    output: Path
    read: str = ""

    @property
    def errors(self) -> Path:
        """The list of its rows with an error; there is none where no row has one."""
        return self.output.parent / ERRORS / f"{self.output.name}.tsv"

    def files(self, errors: int) -> list[Path]:
        """All output files, if so many rows have an error."""
        return [self.output, self.errors] if errors else [self.output]


Result = tuple[Planned, Done | None]  # None: the shard ends


@dataclass
class Finished:
    """A complete shard, and its first errors."""

    planned: Planned
    totals: Totals = field(default_factory=Totals)
    faults: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])


def write_shards(results: Iterator[Result]) -> Generator[Finished, None, None]:
    """Write the rows of each shard, and a list of those with an error; or nothing."""
    for planned, first in results:
        rows, errors = Sink(planned.output, planned.form), Sink(planned.errors, "tsv")
        finished, done = Finished(planned), first
        try:
            while done is not None:
                rows.write(done.data, done.columns)
                finished.totals.add(done)
                finished.faults += done.faults[: FIRST_FAULTS - len(finished.faults)]
                if done.faults:
                    lines = (f"{line}\t{' '.join(why.split())}\n" for line, why in done.faults)
                    errors.write("".join(lines).encode("utf-8", "backslashreplace"), _HEAD)
                done = next(results)[1]
            if finished.totals.errors:
                errors.finish()
            rows.finish()  # last, so that whatever they need is there
        except BaseException:
            rows.abandon()
            errors.abandon()
            raise
        yield finished


class Manifest:
    """The finished shards of a folder, whose run begins or goes on.

    Refuses other settings than those of finished shards.
    """

    def __init__(self, folder: Path, settings: dict[str, Any], outputs: Sequence[Path]) -> None:
        self._path, self._settings = folder / NAME, settings
        self._shards: dict[str, dict[str, Any]] = {}
        if self._path.exists():
            self._read()
        elif path := next(filter(Path.exists, outputs), None):
            fault = f"{path} is there already, and no run of this folder wrote it"
            raise UsageError(fault, fix="Give another folder with -o.")
        self._write()

    def left(self, planned: Sequence[Planned]) -> tuple[list[Planned], Mapping[str, Totals], Notes]:
        """Return the shards to do, the counts of the finished ones by name, and notes.

        Raises UsageError if the input of a finished shard has changed since.
        """
        left, totals, notes = list[Planned](), dict[str, Totals](), list[str]()
        for plan in planned:
            entry = self._shards.get(plan.shard.name)
            files = plan.files(entry["errors"]) if entry else []
            written = [path for path in files if path.exists()]
            if entry and plan.output in written:
                if entry["input"] != digest(plan.shard.paths):
                    fault = f"{plan.shard.where} has changed since its output was written"
                    fix = f"Remove {plan.output} to have it made again, or give another folder."
                    raise UsageError(fault, fix=fix)
                if entry["files"] == _prints(written):
                    counts = (entry[name] for name in ("rows", "kept", "errors"))
                    totals[plan.shard.name] = Totals(*counts)
                    continue
            left.append(plan)
            notes += [f"{plan.output} is gone or has changed: it is made again"] if entry else []
        why = "its input is not among those named now, and no row of it is counted"
        for name in self._shards.keys() - {plan.shard.name for plan in planned}:
            notes.append(f"{self._shards[name]['output']} is of an earlier run: {why}")
        return left, totals, notes

    def add(self, finished: Finished) -> None:
        """Record that a shard is finished; when this returns, the record is on disk."""
        planned, totals = finished.planned, finished.totals
        files = _prints(planned.files(totals.errors))
        entry = {"input": planned.read, "output": planned.output.name, "files": files}
        self._shards[planned.shard.name] = entry | asdict(totals)
        self._write()

    def _read(self) -> None:
        where, data = str(self._path), read_object(self._path)
        with reading(data, KIND, verb="batch", where=where):
            settings, version, ours = data["settings"], data["grammeter"], self._settings
            pairs = ((name, settings.get(name), ours.get(name)) for name in {**settings, **ours})
            changes = [f"{name}: {there} / {here}" for name, there, here in pairs if there != here]
            for name, entry in data["shards"].items():
                self._shards[name] = {key: entry[key] for key in _KEYS}
        if version != __version__:
            changes.append(f"version: {version} / {__version__}")
        if changes and self._shards:
            fault = f"{self._path.parent} holds a run with other settings (there / here)"
            fix = "Give another folder with -o, or the settings of that run."
            raise UsageError(f"{fault}: {'; '.join(changes)}", fix=fix)

    def _write(self) -> None:
        data = {"kind": KIND, "grammeter": __version__, "settings": self._settings}
        data["shards"] = dict(sorted(self._shards.items()))
        write_text(self._path, json.dumps(data, indent=1))


def digest(paths: Iterable[Path]) -> str:
    """Return a hash of the bytes of files, one after the other."""
    total = hashlib.blake2b(digest_size=16)
    for path in paths:
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: total)
    return total.hexdigest()


def _prints(paths: Iterable[Path]) -> list[list[Any]]:
    return [[path.stat().st_size, digest([path])] for path in paths]
