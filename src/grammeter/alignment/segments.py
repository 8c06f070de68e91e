"""The edits that segments need: those of the hypothesis, and those of the references."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from grammeter.core import DataError, Edit, GoldEdits, Segment

Extract = Callable[[Sequence[tuple[str, str]]], Sequence[Sequence[Edit]]]
"""Gives the edits of each (source, corrected) pair, as an annotator's ``annotate`` does."""


class SegmentEdits(NamedTuple):
    """The edits of a hypothesis, and those of each annotator or reference, by its number."""

    proposed: Sequence[Edit]
    gold: GoldEdits


def segment_edits(segments: Sequence[Segment], extract: Extract) -> list[SegmentEdits]:
    """Return the edits of each segment.

    Gold edits stand as they are; where a segment has none, edits are extracted from its
    reference texts, numbered from 0. All extraction is done in one call, each distinct pair of
    texts once.

    Raises
    ------
    DataError
        If a segment has neither gold edits nor a reference text; names the sentence.
    """
    pairs = list(dict.fromkeys(pair for segment in segments for pair in _pairs(segment)))
    edits = dict(zip(pairs, map(tuple, extract(pairs)), strict=True))
    return [
        SegmentEdits(
            edits[segment.source, segment.hypothesis],
            segment.gold
            or {
                number: edits[segment.source, text]
                for number, text in enumerate(segment.references)
                if text is not None
            },
        )
        for segment in segments
    ]


def _pairs(segment: Segment) -> Iterator[tuple[str, str]]:
    """Return what must be annotated: the hypothesis, and the texts where there is no gold."""
    yield segment.source, segment.hypothesis
    if segment.gold:
        return
    if not segment.texts:
        raise DataError(
            f"neither gold edits nor a reference for {segment.source[:40]!r}",
            fix="Each sentence needs one reference at least.",
        )
    for text in segment.texts:
        yield segment.source, text
