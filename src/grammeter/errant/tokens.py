"""Parsed sentences as plain values: all that alignment, merging and typing of edits need."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from sys import intern


@dataclass(frozen=True, slots=True)
class Tokens:
    """One sentence, an entry for each token in every column.

    Columns that nothing has computed are empty: a sentence that was only split at white space
    has ``texts`` and ``lowers``; without a dependency parser ``deps`` and ``heads`` are
    missing.

    Attributes
    ----------
    texts, lowers
        The tokens, and the same in lower case.
    lemmas
        Dictionary forms; an empty text where the pipeline gives none.
    pos
        Word classes of Universal Dependencies: ``NOUN``, ``AUX`` ...
    tags
        The treebank's own finer tags: ``NNS``, ``VBZ`` ...
    deps
        Names of the relations to the heads: ``nsubj``, ``aux`` ...
    heads
        Positions of the heads; a root is its own head.
    raw
        The text as it was written, if a pipeline's tokeniser split it: the pipeline parses this
        text, for it may look at where no space stands between two tokens.
    """

    texts: tuple[str, ...]
    lowers: tuple[str, ...]
    lemmas: tuple[str, ...] = ()
    pos: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    deps: tuple[str, ...] = ()
    heads: tuple[int, ...] = ()
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
        self,
        lemmas: Iterable[str],
        pos: Iterable[str],
        tags: Iterable[str],
        deps: Iterable[str] = (),
        heads: Iterable[int] = (),
    ) -> Tokens:
        """Return the sentence with a parser's columns; equal values share one object."""
        return Tokens(
            self.texts,
            self.lowers,
            tuple(map(intern, lemmas)),
            tuple(map(intern, pos)),
            tuple(map(intern, tags)),
            tuple(map(intern, deps)),
            tuple(heads),
            self.raw,
        )


def split(text: str) -> Tokens:
    """Split a sentence at white space and look at nothing else."""
    return from_words(text.split())


def from_words(words: Iterable[str], raw: str = "") -> Tokens:
    """Make a sentence of its tokens; ``raw`` is the text that a pipeline's tokeniser split."""
    texts = tuple(map(intern, words))
    return Tokens(texts, tuple([intern(text.lower()) for text in texts]), raw=raw)
