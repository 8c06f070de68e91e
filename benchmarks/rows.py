"""One line of the table: what was measured, against what, and what was promised."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Measured = Literal["ours", "ratio", "memory"]


@dataclass(frozen=True)
class Goal:
    """A limit that the project set itself: at most for costs, at least for ratios."""

    limit: float
    of: Measured = "ours"

    @property
    def at_least(self) -> bool:
        return self.of == "ratio"

    def missed_by(self, value: float) -> float:
        """Return by what share of the goal a value is worse; 0 or less if it is met."""
        return (self.limit - value if self.at_least else value - self.limit) / self.limit

    def text(self, unit: str) -> str:
        if self.of == "ratio":
            return f"ratio ≥ {self.limit:g}"
        return f"≤ {number(self.limit)} {unit if self.of == 'ours' else 'MB'}"


@dataclass(frozen=True)
class Row:
    """What one piece of work costs.

    ``unit`` says how it was measured: ``s CPU`` is user and system time of all processes that do
    the work, ``s wall`` is marked by its name. The peer, or the naive twin, was measured in the
    same run; where it ran on a slice, its name says so and its time is multiplied.
    """

    work: str
    ours: float
    unit: str = "s CPU"
    peer: str = ""
    theirs: float = math.nan
    memory: float = math.nan
    """Peak of the largest process, in MB (2**20 bytes)."""
    goals: tuple[Goal, ...] = ()
    slice_of: str = ""
    """What the row is a slice of, if its work is not the whole work."""
    command: str = ""
    """What measures the whole work."""
    problem: str = ""
    """Why there is no figure."""

    @property
    def ratio(self) -> float:
        """How many times less than the peer."""
        return self.theirs / self.ours if self.ours else math.nan

    def value(self, of: Measured) -> float:
        return {"ours": self.ours, "ratio": self.ratio, "memory": self.memory}[of]

    @property
    def missed_by(self) -> float:
        """The largest miss among the goals; NaN without goals, or without a figure for one."""
        found = [goal.missed_by(self.value(goal.of)) for goal in self.goals]
        return max(found) if found and not any(map(math.isnan, found)) else math.nan

    @property
    def verdict(self) -> str:
        if self.problem:
            return f"not run: {self.problem}"
        if not self.goals:
            return "no goal"
        missed = self.missed_by
        if math.isnan(missed):
            return "not measured"
        found = "met" if missed <= 0 else f"missed by {100 * missed:.0f} %"
        return f"{found}, on the slice" if self.slice_of else found

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, ratio and verdict; what was not measured is null."""
        found = asdict(self) | {"ratio": self.ratio, "verdict": self.verdict}
        found["goals"] = [asdict(goal) | {"text": goal.text(self.unit)} for goal in self.goals]
        return {key: None if _is_nan(value) else value for key, value in found.items()}

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Row:
        kept = {key: found[key] for key in cls.__dataclass_fields__ if found[key] is not None}
        kept["goals"] = tuple(Goal(g["limit"], g["of"]) for g in kept["goals"])
        return cls(**{"ours": math.nan, **kept})


HEAD = ("work", "ours", "before", "peer or naive twin", "theirs", "ratio", "peak MB", "goal",
        "verdict")  # fmt: skip


ALIGNED = ("---", "---:", "---:", "---", "---:", "---:", "---:", "---", "---")


def markdown(rows: Iterable[Row], before: Sequence[Row] = ()) -> str:
    """Return one table; ``before`` are rows of an earlier run, found again by their work."""
    earlier = {row.work: row for row in before}
    lines = [_line(HEAD), _line(ALIGNED)]
    lines += [_line(_cells(row, earlier.get(row.work))) for row in rows]
    return "\n".join(lines) + "\n"


def show(rows: Iterable[Row]) -> int:
    """Print rows as they come; return 1 if one misses its goal, as an exit code."""
    missed = False
    for row in rows:
        print(plain(row), flush=True)
        missed |= row.missed_by > 0
    return int(missed)


def plain(row: Row) -> str:
    """Return a row as one line of plain text."""
    parts = [f"{row.work}: {row.verdict}"] if row.problem else [f"{row.work}: {_ours(row)}"]
    if row.peer:
        parts.append(f"{row.peer}: {number(row.theirs)} {row.unit} = {number(row.ratio)} x ours")
    if not math.isnan(row.memory):
        parts.append(f"{row.memory:.0f} MB")
    if row.goals and not row.problem:
        parts.append(f"{'; '.join(g.text(row.unit) for g in row.goals)}: {row.verdict}")
    return ", ".join(parts)


def number(value: float) -> str:
    """Return three significant digits, whole numbers whole, without an exponent."""
    if math.isnan(value):
        return ""
    if value == round(value) or abs(value) >= 100:
        return f"{round(value):,}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def _cells(row: Row, before: Row | None) -> tuple[str, ...]:
    work = row.work
    if row.slice_of:
        work += f" (slice of {row.slice_of}: `{row.command}`)"
    goals = "; ".join(goal.text(row.unit) for goal in row.goals)
    return (work, _ours(row), _ours(before) if before else "", row.peer, number(row.theirs),
            number(row.ratio), "" if math.isnan(row.memory) else f"{row.memory:.0f}", goals,
            row.verdict)  # fmt: skip


def _ours(row: Row) -> str:
    return "" if math.isnan(row.ours) else f"{number(row.ours)} {row.unit}"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
