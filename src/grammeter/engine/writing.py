"""A shard's output: its rows, and beside them the list of those with an error."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from grammeter.engine.block import Done, Totals
from grammeter.formats import Shard, ShardForm, Sink

ERRORS = "errors"
"""The folder, inside that of the output, of the lists of rows with an error."""

FIRST_FAULTS = 5
"""How many rows with an error are told one by one."""

_HEAD = ("row", "error")


@dataclass(frozen=True)
class Planned:
    """A shard and where it goes."""

    shard: Shard
    form: ShardForm
    output: Path

    @property
    def errors(self) -> Path:
        """The list of its rows with an error; there is none where no row has one."""
        return self.output.parent / ERRORS / f"{self.output.name}.tsv"


@dataclass(frozen=True)
class Finished:
    """A shard whose output is complete, with line and reason of its first rows with an error.

    ``read`` is :func:`~grammeter.engine.manifest.digest` of the shard before it was read.
    """

    planned: Planned
    totals: Totals
    faults: list[tuple[int, str]]
    read: str


class Writer:
    """Writes one shard: its rows, and the list of those with an error.

    As a context it removes what was written if anything fails inside.
    """

    def __init__(self, planned: Planned) -> None:
        self._planned = planned
        self._sink = Sink(planned.output, planned.form)
        self._errors = Sink(planned.errors, "tsv")
        self._totals = Totals()
        self._faults: list[tuple[int, str]] = []

    def add(self, done: Done) -> None:
        """Write a block."""
        self._sink.write(done.data, done.columns)
        self._totals.add(done)
        self._faults += done.faults[: FIRST_FAULTS - len(self._faults)]
        if done.faults:
            lines = (f"{line}\t{' '.join(why.split())}\n" for line, why in done.faults)
            self._errors.write("".join(lines).encode("utf-8", "backslashreplace"), _HEAD)

    def finish(self, read: str) -> Finished:
        """Give the files their names; the rows last, so that whatever they need is there.

        ``read`` is the digest of the shard before it was read.
        """
        if self._totals.errors:
            self._errors.finish()
        self._sink.finish()
        return Finished(self._planned, self._totals, self._faults, read)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._sink.abandon()
            self._errors.abandon()
