"""Candidate references of the I-measure, made from gold edits.

A sentence with several annotators has several right answers. The authors' program reads the
annotators' edits and makes the answers that compete: each annotator's own text, or (mixing)
every combination of what the annotators did to the separate errors of the sentence.

Source: Felice and Briscoe (2015); the details are those of their program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from math import prod

from grammeter.core import Edit, GoldEdits, UsageError

Words = tuple[str, ...]
"""Tokens."""

_GLUED_COMMA = re.compile(r",(?!\d)")
_LAST_STOP = re.compile(r"(?<=[^.])\.$")


def corrected_by_annotator(
    source: Sequence[str], gold: GoldEdits, *, treebank: bool = True
) -> dict[int, Words]:
    """Apply all edits of each annotator.

    Parameters
    ----------
    source
        Tokens.
    gold
        Edits by annotator; only the first correction of an edit is used.
    treebank
        Split corrections as :func:`split_punctuation` does.

    Returns
    -------
    dict
        Annotator to text, in the order of ``gold``. An annotator without edits has the source;
        a text that an earlier annotator has too is left out.
    """
    edits_of = _readied(gold, treebank)
    return distinct({number: apply_backwards(source, edits) for number, edits in edits_of.items()})


def distinct(texts: dict[int, Words]) -> dict[int, Words]:
    """Drop texts that an earlier number has."""
    first = {text: number for number, text in reversed(texts.items())}
    return {number: text for number, text in texts.items() if first[text] == number}


def mixed(
    source: Sequence[str], gold: GoldEdits, *, treebank: bool = True, limit: int = 20_000
) -> list[Words]:
    """Combine the annotators' ways to correct each error.

    Overlapping edits, of whichever annotator, are one error; the ways to correct it are what
    each annotator did there, and to leave it if some annotator did. Combinations with two
    edits of the same span are left out.

    Returns
    -------
    list
        The different texts, those with the ways of the first annotators first.

    Raises
    ------
    UsageError
        If there are more than ``limit`` combinations; they are counted before they are made.
    """
    choices = [_choices(cluster, len(gold)) for cluster in _clusters(_readied(gold, treebank))]
    count = prod(map(len, choices))
    if count > limit:
        raise UsageError(
            f"{count} combinations of corrections, more than {limit}, for the sentence"
            f" {' '.join(source)[:60]!r}",
            fix="Use mix=false, or raise limit.",
        )
    return list(dict.fromkeys(apply_backwards(source, edits) for edits in _combined(choices)))


def split_punctuation(correction: str) -> str:
    """Split a comma off what follows, unless that is a digit, and a full stop off the end.

    This much of the Penn Treebank rules, which the authors' converter applies to corrections,
    changes a text of the CoNLL-2014 test set.
    """
    spaced = _GLUED_COMMA.sub(" , ", correction.rstrip())
    return " ".join(_LAST_STOP.sub(" .", spaced).split())


def apply_backwards(source: Sequence[str], edits: Iterable[Edit]) -> Words:
    """Apply edits from right to left, as the authors' program does.

    An edit that would leave nothing of the sentence is not applied. Overlapping edits are
    applied to what those to the right of them left.
    """
    tokens = list(source)
    for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
        changed = [*tokens[: edit.start], *edit.correction.split(), *tokens[edit.end :]]
        tokens = changed or tokens
    return tuple(tokens)


def _readied(gold: GoldEdits, treebank: bool) -> dict[int, list[Edit]]:
    """Tokenise corrections, and join an annotator's edits of the same span in their order."""
    readied: dict[int, list[Edit]] = {}
    for number, edits in gold.items():
        by_span: dict[tuple[int, int], Edit] = {}
        for edit in edits:
            new = split_punctuation(edit.correction) if treebank else edit.correction
            span = edit.start, edit.end
            if span in by_span:
                new = f"{by_span[span].correction} {new}".strip()
            by_span[span] = Edit(edit.start, edit.end, new)
        readied[number] = list(by_span.values())
    return readied


def _clusters(edits_of: Mapping[int, Sequence[Edit]]) -> list[dict[int, list[Edit]]]:
    """Group overlapping edits, long ones first; each group is kept by annotator."""
    listed = [(number, edit) for number, edits in edits_of.items() for edit in edits]
    clusters: list[dict[int, list[Edit]]] = []
    for number, edit in sorted(listed, key=lambda item: item[1].start - item[1].end):
        near = (c for c in clusters if any(_overlap(edit, m) for m in chain(*c.values())))
        cluster = next(near, None)
        if cluster is None:
            clusters.append(cluster := dict[int, list[Edit]]())
        cluster.setdefault(number, []).append(edit)
    return clusters


def _overlap(a: Edit, b: Edit) -> bool:
    """Whether two edits share a token, or one inserts strictly inside the other, or are equal."""
    return (a.start, a.end) == (b.start, b.end) or (a.start < b.end and b.start < a.end)


def _choices(cluster: Mapping[int, Sequence[Edit]], annotators: int) -> list[tuple[Edit, ...]]:
    """Return the different ways to deal with an error; leaving it is last."""
    ways = dict.fromkeys(tuple(cluster[number]) for number in sorted(cluster))
    return list(ways) if len(cluster) == annotators else [*ways, ()]


def _combined(choices: Sequence[Sequence[tuple[Edit, ...]]]) -> Iterator[list[Edit]]:
    for ways in product(*choices):
        edits = list(chain(*ways))
        if len({(edit.start, edit.end) for edit in edits}) == len(edits):
            yield edits
