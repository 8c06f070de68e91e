"""The impact of edits (Maeda et al. 2022, section 2.3).

The impact of an edit is how much the meaning of the corrected sentence changes when this edit
alone is undone: ``1 - cos(T, T without e)`` (equation 5), over mean-pooled last states of a
pretrained encoder. The impact of a set of edits is the sum (equation 6).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from grammeter.alignment import appliable, partial_text
from grammeter.core import DataError, Edit
from grammeter.models import MeanSimilarity, Request, answer

LIMIT = 512
"""Tokens to which texts are cut, as in the authors' program, if the encoder takes so many."""


@dataclass(frozen=True, slots=True)
class Parallel:
    """A source sentence and the edits that correct it.

    Attributes
    ----------
    source
        Tokens separated by blanks.
    edits
        Edits of one annotator, or extracted from a corrected sentence.
    origin
        Its place, ``file:line``.
    """

    source: str
    edits: tuple[Edit, ...]
    origin: str = ""


@dataclass(frozen=True)
class EditedSentence:
    """A source sentence, the edits that can be applied together, and the impact of each."""

    source: str
    edits: tuple[Edit, ...]
    impacts: tuple[float, ...]
    origin: str

    @cached_property
    def words(self) -> list[str]:
        """The tokens of the source."""
        return self.source.split()

    def text(self, subset: Iterable[int]) -> str:
        """Return the sentence with some of its edits applied."""
        return partial_text(self.words, [self.edits[n] for n in sorted(subset)]).strip()

    def impact(self, subset: Iterable[int]) -> float:
        """Return the summed impact of some edits (equation 6)."""
        return sum(self.impacts[n] for n in sorted(subset))


@dataclass(frozen=True)
class Measured:
    """Parallel data with the impacts of their edits.

    Attributes
    ----------
    sentences
        Sentences with edits.
    total
        Number of sentences that were read.
    edits
        Origin of the edits: ``given``, or what extracted them.
    left_out
        Number of edits that change nothing or overlap an earlier one.
    """

    sentences: tuple[EditedSentence, ...]
    total: int
    edits: str = "given"
    left_out: int = 0


def measure_impacts(parallel: Sequence[Parallel], encoder: str) -> list[EditedSentence]:
    """Measure the impact of every edit (equation 5); sentences without edits are left out.

    Parameters
    ----------
    parallel
        Sentences and edits; an edit that changes nothing or overlaps an earlier one is left out.
    encoder
        Name or folder of the pretrained encoder.

    Returns
    -------
    list of EditedSentence
        In the order of ``parallel``; impacts lie between 0 and 2, usually far below 1.

    Raises
    ------
    DataError
        If the model is not an encoder, or gives no similarity.
    MissingResourceError
        If torch or the encoder is missing.
    """
    bare = [
        EditedSentence(" ".join(row.source.split()), _changing(row), (), row.origin)
        for row in parallel
    ]
    bare = [sentence for sentence in bare if sentence.edits]
    comparisons = [list(_taken_back(sentence)) for sentence in bare]
    flat = [pair for pairs in comparisons for pair in pairs]
    (figures,) = answer([Request(encoder, MeanSimilarity(limit=LIMIT), flat)])
    if np.isnan(figures[:, 0]).any():
        raise DataError(
            f"the encoder {encoder!r} gives texts no similarity", fix="Name an encoder like BERT."
        )
    impacts = iter((1 - figures[:, 0]).tolist())
    return [
        EditedSentence(s.source, s.edits, tuple(next(impacts) for _ in pairs), s.origin)
        for s, pairs in zip(bare, comparisons, strict=True)
    ]


def _changing(parallel: Parallel) -> tuple[Edit, ...]:
    words = parallel.source.split()
    return tuple(
        edit
        for edit in appliable(parallel.edits)
        if words[edit.start : edit.end] != edit.correction.split()
    )


def _taken_back(sentence: EditedSentence) -> Iterator[tuple[str, str]]:
    everything = range(len(sentence.edits))
    whole = sentence.text(everything)
    for without in everything:
        yield whole, sentence.text(set(everything) - {without})
