"""Package errant as an oracle, without a pipeline: it is given made-up tokens.

Its three steps read a few attributes of spaCy's tokens only, so any values can be tried,
not just those that a tagger happens to give.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from grammeter.errant.tokens import Tokens

spacy_symbols = pytest.importorskip("spacy.symbols", reason="spaCy is not installed")
errant_alignment = pytest.importorskip("errant.alignment", reason="package errant is missing")
errant_merger = pytest.importorskip("errant.en.merger")
errant_classifier = pytest.importorskip("errant.en.classifier")
errant_edit = pytest.importorskip("errant.edit")
errant_annotator = pytest.importorskip("errant.annotator")

Seen = tuple[int, int, int, int]


class Document(list[Any]):
    """What the package takes for a spaCy Doc or Span."""

    def __getitem__(self, at: Any) -> Any:
        result = super().__getitem__(at)
        return Document(result) if isinstance(at, slice) else result

    @property
    def text(self) -> str:
        return " ".join(token.text for token in self)


def document(tokens: Tokens) -> Document:
    """Dress a sentence up as a spaCy Doc."""
    made = Document(
        SimpleNamespace(
            text=tokens.texts[at],
            orth=tokens.texts[at],
            lower=tokens.lowers[at],
            lower_=tokens.lowers[at],
            lemma=tokens.lemmas[at],
            pos=getattr(spacy_symbols, tokens.pos[at]),
            tag_=tokens.tags[at],
            dep_=tokens.deps[at] if tokens.deps else "",
        )
        for at in range(len(tokens))
    )
    for at, token in enumerate(made):
        head = tokens.heads[at] if tokens.heads else at
        token.head = made[head]
        token.children = [made[k] for k in tokens.children(at)]
    return made


def changes(source: Tokens, target: Tokens, *, lev: bool = False) -> list[tuple[Any, ...]]:
    """Return the package's alignment without matches and without the sizes of its T steps."""
    steps = alignment(source, target, lev=lev).align_seq
    return [(kind[0], *span) for kind, *span in steps if kind != "M"]


def alignment(source: Tokens, target: Tokens, *, lev: bool = False) -> Any:
    return errant_alignment.Alignment(document(source), document(target), lev)


def edits(source: Tokens, target: Tokens, merge: str = "rules", *, lev: bool = False) -> list[Any]:
    """Return the package's edits, untyped."""
    merger = errant_annotator.Annotator("en", None, errant_merger, errant_classifier)
    return merger.merge(alignment(source, target, lev=lev), merge)


def spans(result: Sequence[Any]) -> list[Seen]:
    return [(edit.o_start, edit.o_end, edit.c_start, edit.c_end) for edit in result]


def classified(edit: Any) -> str:
    return errant_classifier.classify(edit).type


def edit(source: Tokens, target: Tokens, span: Seen) -> Any:
    return errant_edit.Edit(document(source), document(target), list(span))
