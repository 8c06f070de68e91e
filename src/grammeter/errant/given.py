"""Edits of annotators: placed in the text that they make, and typed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from grammeter.core import DETECTION_ONLY, Edit
from grammeter.errant.align import Span
from grammeter.errant.languages import Language
from grammeter.errant.tokens import Tokens, split


@dataclass(frozen=True, slots=True)
class GivenEdits:
    """A sentence with an annotator's edits, and the text that they make.

    ``spans`` are the edits in order, each with its tokens in both texts. Edits that only detect
    an error are not applied: both sides are the same there, unless another edit overlaps.
    """

    source: str
    target: str
    spans: tuple[tuple[Edit, Span], ...]

    @classmethod
    def of(cls, source: str, edits: Iterable[Edit], *, minimise: bool) -> GivenEdits:
        """Apply edits one by one, from the left, each at its place after the earlier ones."""
        before = source.split()
        after = list(before)
        moved = 0
        spans: list[tuple[Edit, Span]] = []
        for edit in sorted((e for e in edits if not e.is_noop), key=by_span):
            new = before[edit.start : edit.end] if _detects(edit) else edit.correction.split()
            start = edit.start + moved
            after[start : edit.end + moved] = new
            moved += len(new) - (edit.end - edit.start)
            span = Span(edit.start, edit.end, start, start + len(new))
            spans.append((replace(edit, alternatives=()), span))
        if minimise:
            spans = [
                (edit, span if _detects(edit) else _minimised(span, before, after))
                for edit, span in spans
            ]
        return cls(" ".join(before), " ".join(after), tuple(spans))

    def detections(self) -> GivenEdits:
        """Return the same with only those edits that are not applied."""
        return replace(self, spans=tuple(pair for pair in self.spans if _detects(pair[0])))

    def placed(self) -> tuple[Edit, ...]:
        """Return all edits with their types as they were."""
        target = split(self.target)
        return tuple(_at(span, target, edit) for edit, span in self.spans)

    def typed(self, rules: Language, source: Tokens, target: Tokens) -> tuple[Edit, ...]:
        """Return all edits with new types."""
        return tuple(
            replace(_at(span, target, edit), type=rules.classify(span, source, target))
            for edit, span in self.spans
        )


def _detects(edit: Edit) -> bool:
    return edit.type in DETECTION_ONLY


def _at(span: Span, target: Tokens, edit: Edit) -> Edit:
    """Return an edit with its final offsets and the tokens that the text has there."""
    if _detects(edit):
        return edit
    correction = " ".join(target.texts[span.target_start : span.target_end])
    return replace(edit, start=span.start, end=span.end, correction=correction)


def by_span(edit: Edit) -> tuple[int, int]:
    """Sort edits by where they begin and end."""
    return edit.start, edit.end


def _minimised(span: Span, source: Sequence[str], target: Sequence[str]) -> Span:
    """Remove equal tokens from both ends, first from the beginning."""
    start, end, target_start, target_end = span
    while start < end and target_start < target_end and source[start] == target[target_start]:
        start, target_start = start + 1, target_start + 1
    while start < end and target_start < target_end and source[end - 1] == target[target_end - 1]:
        end, target_end = end - 1, target_end - 1
    return Span(start, end, target_start, target_end)
