"""Sentences as plain values: their tokens, parsed or not, and edits applied to them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from sys import intern
from typing import NamedTuple

from grammeter.core import DETECTION_ONLY, Edit

Column = Iterable[str]
Heads = Iterable[int]


@dataclass(frozen=True, slots=True)
class Tokens:
    """One sentence, an entry for each token in every column; unknown columns are empty.

    ``raw`` is the text as it was written, if a pipeline's tokeniser split it: the pipeline parses
    this text, for it may look at where no space stands between two tokens.
    """

    texts: tuple[str, ...]
    lowers: tuple[str, ...]  # in lower case
    lemmas: tuple[str, ...] = ()  # dictionary forms, empty where the pipeline gives none
    pos: tuple[str, ...] = ()  # word classes of Universal Dependencies (`NOUN`)
    tags: tuple[str, ...] = ()  # the treebank's own (`NNS`)
    deps: tuple[str, ...] = ()  # relations to the heads (`nsubj`)
    heads: tuple[int, ...] = ()  # their positions; a root is its own head
    raw: str = ""

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def tagged(self) -> bool:
        """Whether lemmas, word classes and tags are known."""
        return len(self.lemmas) == len(self.texts)

    @property
    def parsed(self) -> bool:
        """Whether the dependencies are known too."""
        return len(self.heads) == len(self.texts)

    def children(self, head: int) -> list[int]:
        """Return the positions of a token's dependents, left to right."""
        return [at for at, parent in enumerate(self.heads) if parent == head and at != head]

    def with_columns(
        self, lemmas: Column, pos: Column, tags: Column, deps: Column = (), heads: Heads = ()
    ) -> "Tokens":
        """Return the sentence with a parser's columns; equal values share one object."""
        columns = [tuple(map(intern, column)) for column in (lemmas, pos, tags, deps)]
        return Tokens(self.texts, self.lowers, *columns, heads=tuple(heads), raw=self.raw)


def split(text: str) -> Tokens:
    """Split a sentence at white space and look at nothing else."""
    return from_words(text.split())


def from_words(words: Iterable[str], raw: str = "") -> Tokens:
    """Make a sentence of its tokens; ``raw`` is the text that a pipeline's tokeniser split."""
    texts = tuple(map(intern, words))
    return Tokens(texts, tuple([intern(text.lower()) for text in texts]), raw=raw)


class Span(NamedTuple):
    """Source tokens ``start:end`` and the target tokens that replace them."""

    start: int
    end: int
    target_start: int
    target_end: int


@dataclass(frozen=True, slots=True)
class Applied:
    """A sentence, an annotator's edits with their tokens in both texts, and what they make.

    Edits that only detect are not applied: both sides are the same there, but for overlaps.
    """

    source: str
    target: str
    spans: Sequence[tuple[Edit, Span]]

    @classmethod
    def of(cls, source: str, edits: Iterable[Edit], minimise: bool) -> "Applied":
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
            spans = [(e, s if _detects(e) else _minimised(s, before, after)) for e, s in spans]
        return cls(" ".join(before), " ".join(after), spans)

    def edits(self) -> tuple[Edit, ...]:
        """Return all edits with their final offsets and the tokens that the target has there."""
        target = self.target.split()
        return tuple(
            edit
            if _detects(edit)
            else replace(edit, start=start, end=end, correction=" ".join(target[first:last]))
            for edit, (start, end, first, last) in self.spans
        )


def _detects(edit: Edit) -> bool:
    return edit.type in DETECTION_ONLY


def by_span(edit: Edit) -> tuple[int, int]:
    """Sort edits by where they begin and end."""
    return edit.start, edit.end


def _minimised(span: Span, source: Sequence[str], target: Sequence[str]) -> Span:
    start, end, target_start, target_end = span
    while start < end and target_start < target_end and source[start] == target[target_start]:
        start, target_start = start + 1, target_start + 1
    while start < end and target_start < target_end and source[end - 1] == target[target_end - 1]:
        end, target_end = end - 1, target_end - 1
    return Span(start, end, target_start, target_end)
