"""What people say of single edits: valid or not, in the outputs that an item showed."""

from collections.abc import Iterator
from dataclasses import dataclass

from grammeter.core.errors import DataError

EditKey = tuple[int, int, int, str]
"""A distinct edit: segment from 1, start and end in tokens of the source from 0, correction."""


@dataclass(frozen=True, slots=True)
class EditJudgment:
    """An edit of one shown output, and whether the judge calls it valid; ``None``: no verdict.

    ``start`` and ``end`` count tokens of the source from 0, half-open; ``start == end`` inserts,
    an empty ``correction`` deletes.
    """

    start: int
    end: int
    correction: str
    verdict: bool | None = None

    @property
    def operation(self) -> str:
        """``M`` (missing: an insertion), ``U`` (unnecessary: a deletion), or ``R``."""
        return "M" if self.start == self.end else "R" if self.correction else "U"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditItem:
    """One judge's verdicts on the edits of the distinct outputs of one sentence.

    ``segment`` is the number of the sentence, from 1; ``shown`` has the systems behind each output,
    ``edits`` the edits of each. ``item`` is its name in its file, if it has one. ``marked`` are
    spans of the source, ``(start, end)``, that the judge calls wrong and left unrepaired.
    ``probability`` is how likely the item was to be drawn, if it was drawn with known chances; one
    over it is its weight. DataError if outputs and edits do not fit, an edit comes twice in an
    output, a span is impossible, or a system stands in two outputs.
    """

    judge: str
    segment: int
    shown: tuple[tuple[str, ...], ...]
    edits: tuple[tuple[EditJudgment, ...], ...]
    item: str | None = None
    marked: tuple[tuple[int, int], ...] = ()
    probability: float | None = None

    def __post_init__(self) -> None:
        if fault := next(self._faults(), None):
            fix = "Each output has its systems and its edits, each edit once."
            fault = f"edits judged by {self.judge!r} in segment {self.segment}: {fault}"
            raise DataError(fault, fix=fix)

    def _faults(self) -> Iterator[str]:
        everyone = [system for group in self.shown for system in group]
        if self.segment < 1:
            yield "segments count from 1"
        if len(self.shown) != len(self.edits):
            yield f"{len(self.shown)} outputs, but edits of {len(self.edits)}"
        if len(set(everyone)) != len(everyone) or not all(everyone) or not all(self.shown):
            yield f"a system without a name or in two outputs: {everyone}"
        for group, edits in zip(self.shown, self.edits, strict=False):
            keys = [(edit.start, edit.end, edit.correction) for edit in edits]
            if twice := next((key for key in keys if keys.count(key) > 1), None):
                yield f"the edit {twice} comes twice in the output of {group[0]}"
        spans = [(edit.start, edit.end) for edits in self.edits for edit in edits]
        spans += self.marked
        if bad := [s for s in spans if len(s) != 2 or not 0 <= s[0] <= s[1]]:
            yield f"{bad[0]} is no span of tokens"
        if self.probability is not None and not 0 < self.probability <= 1:
            yield f"{self.probability} is no probability of something that was drawn"

    def occurrences(self) -> Iterator[tuple[tuple[str, ...], EditJudgment]]:
        """Yield each edit of each output with the output's systems."""
        for group, edits in zip(self.shown, self.edits, strict=True):
            yield from ((group, edit) for edit in edits)

    def key(self, edit: EditJudgment) -> EditKey:
        """Return the distinct edit of a judged one."""
        return self.segment, edit.start, edit.end, edit.correction
