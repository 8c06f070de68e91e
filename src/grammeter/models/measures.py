"""Measures: values that say what a model computes, with all that its figures depend on.

A measure gives one row of figures for each item, a text or a pair of texts.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar, Literal

Text = str
Pair = tuple[str, str]
ModelInput = Text | Pair


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Base of the measures; ``str`` identifies a measure and is part of the cache's key.

    Attributes
    ----------
    columns
        The names of an item's figures. The last one, ``truncated``, counts the texts of the
        item that were longer than the model's limit.
    room
        The module whose ``answer`` computes them: see :mod:`grammeter.models.service`.
    """

    columns: ClassVar[tuple[str, ...]]
    room: ClassVar[str]

    def __str__(self) -> str:
        return repr(self)


@dataclass(frozen=True, kw_only=True)
class TokenSimilarity(Measure):
    """BERTScore of (candidate, reference) pairs, not rescaled.

    Attributes
    ----------
    layer
        Output of this block, counted from 1; ``None``: the published one, else three quarters
        of the depth.
    idf
        Texts whose document frequencies weight the tokens; ``None``: all weights are 1.
    """

    columns: ClassVar[tuple[str, ...]] = ("precision", "recall", "f1", "truncated")
    room: ClassVar[str] = "grammeter.models.encoder"

    layer: int | None = None
    idf: tuple[str, ...] | None = None

    def __str__(self) -> str:
        if self.idf is None:
            return f"TokenSimilarity(layer={self.layer})"
        texts = "".join(f"{len(text)} {text}" for text in sorted(self.idf))
        digest = hashlib.blake2b(texts.encode("utf-8", "surrogatepass"), digest_size=16)
        return f"TokenSimilarity(layer={self.layer}, idf={digest.hexdigest()})"


@dataclass(frozen=True, kw_only=True)
class MeanSimilarity(Measure):
    """Cosine of the mean last states of two texts, special tokens included (IMPARA).

    Attributes
    ----------
    limit
        Maximum tokens of a text, including special tokens; ``None``: the model's own limit.
    """

    columns: ClassVar[tuple[str, ...]] = ("cosine", "truncated")
    room: ClassVar[str] = "grammeter.models.encoder"

    limit: int | None = 128


@dataclass(frozen=True, kw_only=True)
class Regression(Measure):
    """The one output of a regression head, for texts or pairs of texts (SOME, IMPARA).

    Attributes
    ----------
    head
        ``pooler``: dense layer and tanh over the first state, then linear with bias, as
        in BERT's sequence classifiers. ``linear``: the weights of the last layer on the first
        state itself, no bias, as in IMPARA's paper.
    limit
        Maximum tokens of a text or pair; the longer side is cut first.
    """

    columns: ClassVar[tuple[str, ...]] = ("output", "truncated")
    room: ClassVar[str] = "grammeter.models.regressor"

    head: Literal["pooler", "linear"] = "pooler"
    limit: int | None = 128


@dataclass(frozen=True, kw_only=True)
class Perplexity(Measure):
    """Perplexity of texts under a causal language model (Scribendi).

    NaN for an empty text, and for one with more tokens than the model has positions, which
    ``truncated`` marks although nothing is cut.
    """

    columns: ClassVar[tuple[str, ...]] = ("perplexity", "truncated")
    room: ClassVar[str] = "grammeter.models.likelihood"


@dataclass(frozen=True, kw_only=True)
class Likelihood(Measure):
    """Mean log-likelihood of a text given another, for (condition, text) pairs (BARTScore).

    Attributes
    ----------
    limit
        Maximum tokens of either text, including special tokens.
    """

    columns: ClassVar[tuple[str, ...]] = ("likelihood", "truncated")
    room: ClassVar[str] = "grammeter.models.likelihood"

    limit: int | None = 1024
