"""Outputs whose quality is known: sentences with some of an annotator's edits applied.

The chains and corpora of MAEGE (Choshen & Abend 2018), drawn as its public program draws them:
the orders of edits from Python's generator; annotators, permutations, numbers of edits and
sources, in this order, from numpy's legacy one; both seeded once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

import numpy as np

from grammeter.alignment import appliable, chain, orders, partial_text
from grammeter.core import Edit, FloatArray, GoldEdits, IntArray

Given = Literal["source", "random", "reference"]
"""What a metric gets as the source: the sentence itself; a random text of the same chain (one
for the whole chain), or the same line of a random corpus; the text with all edits."""

Pseudo = Literal["released", "intended"]
"""How much a sentence is worth before it is corrected; see :func:`worth_uncorrected`."""

CORPORA = 11
"""Pseudo-systems, with nominally 0 to 10 edits a sentence."""

_LONG = 300
"""Characters beyond which a source of several sentences is left out."""


@dataclass(frozen=True)
class Chain:
    """One annotator's edits, applied one after the other.

    Attributes
    ----------
    sentence, annotator
        Position of the source, and the annotator's number.
    texts
        The sentence with the first 0, 1, ... edits.
    source
        What a metric gets as the source.
    worth
        Shape ``(len(texts),)``: the pseudo-scores, 1 for the last text.
    """

    sentence: int
    annotator: int
    texts: tuple[str, ...]
    source: str
    worth: FloatArray


@dataclass(frozen=True)
class Line:
    """One line of a pseudo-system: a text with ``applied`` of an annotator's edits."""

    sentence: int
    annotator: int
    text: str
    source: str
    applied: int


@dataclass(frozen=True)
class PartialOutputs:
    """All texts that metrics are measured on.

    Attributes
    ----------
    chains
        Of the sentences that have two at least, in the order of the corpus.
    corpora
        Shape ``[11][lines]``; line ``k`` of all corpora is of the same sentence.
    dropped
        How many sentences have no chains, by reason.
    """

    chains: tuple[Chain, ...]
    corpora: tuple[tuple[Line, ...], ...]
    dropped: Mapping[str, int]


def partial_outputs(
    sources: Sequence[str],
    gold: Sequence[GoldEdits],
    *,
    seed: int = 1,
    max_orders: int = 1,
    pseudo: Pseudo = "released",
    given: Given = "source",
) -> PartialOutputs:
    """Make chains and corpora of partial corrections.

    A sentence that an annotator leaves unchanged is in neither; a long one (over 300 characters
    and more than one ``.``), and one with a single chain, is in the corpora alone.

    Parameters
    ----------
    sources, gold
        Texts, and edits by annotator; all types of edits are applied.
    max_orders
        Random orders for each annotator's edits; all orders, where these are fewer.
    """
    edits = [{a: appliable(edits_) for a, edits_ in annotators.items()} for annotators in gold]
    usable = [s for s, annotators in enumerate(edits) if annotators and all(annotators.values())]
    draw = np.random.RandomState(seed)
    drawn, dropped = _drawn_chains(sources, edits, usable, Random(seed), max_orders)  # noqa: S311
    corpora = [_drawn_corpus(sources, edits, usable, mean, draw) for mean in range(CORPORA)]
    chains: list[Chain] = []
    for sentence, annotated in drawn.items():
        shortest = min(len(texts) for _, texts in annotated)
        lowest = worth_uncorrected(sources[sentence], shortest, pseudo)
        for annotator, texts in annotated:
            shown = draw.randint(len(texts)) if given == "random" else -(given == "reference")
            worth = np.linspace(lowest, 1.0, len(texts))
            chains.append(Chain(sentence, annotator, texts, texts[shown], worth))
    lines = _with_sources(sources, edits, corpora, given, draw)
    return PartialOutputs(tuple(chains), lines, dropped)


def worth_uncorrected(source: str, fewest: int, pseudo: Pseudo) -> float:
    """Return the pseudo-score of a sentence without any edit.

    ``released``: 1 - fewest texts in a chain / characters of the source, what the public program
    computes; ``intended``: 1 - fewest edits / words, what its comments say.
    """
    if pseudo == "released":
        return 1 - fewest / max(len(source), 1)
    return 1 - (fewest - 1) / max(len(source.split()), 1)


def binomial_of(mean: int) -> tuple[float, float]:
    """Return n and p of the binomial that draws the numbers of edits of a pseudo-system.

    Its mean is the nominal one and its variance .9, but n is truncated where it is drawn.
    """
    if not mean:
        return 1.0, 0.0
    p = (mean - 0.9) / mean
    return mean / p, p


_Edits = Mapping[int, Sequence[Edit]]
_Annotated = tuple[int, tuple[str, ...]]


def _drawn_chains(
    sources: Sequence[str],
    edits: Sequence[_Edits],
    usable: Sequence[int],
    random: Random,
    max_orders: int,
) -> tuple[dict[int, list[_Annotated]], dict[str, int]]:
    """Return annotator and texts of each chain by sentence; counts of sentences without."""
    dropped = {"uncorrected": len(sources) - len(usable), "long": 0, "one chain": 0}
    chains: dict[int, list[_Annotated]] = {}
    for sentence in usable:
        if len(sources[sentence]) > _LONG and sources[sentence].count(".") > 1:
            dropped["long"] += 1
            continue
        words = sources[sentence].split()
        annotated = [
            (annotator, chain(words, edits_, order))
            for annotator, edits_ in edits[sentence].items()
            for order in orders(len(edits_), max_orders, random)
        ]
        if len(annotated) > 1:
            chains[sentence] = annotated
        else:
            dropped["one chain"] += 1
    return chains, dropped


def _drawn_corpus(
    sources: Sequence[str],
    edits: Sequence[_Edits],
    usable: Sequence[int],
    mean: int,
    draw: np.random.RandomState,
) -> list[Line]:
    n, p = binomial_of(mean)
    lines: list[Line] = []
    for sentence in usable:
        annotators = list(edits[sentence])
        annotator = annotators[draw.randint(len(annotators))]
        available = edits[sentence][annotator]
        order: IntArray = draw.permutation(len(available))
        count = int(draw.binomial(int(n), p))
        chosen = [available[int(number)] for number in order[:count]]
        text = partial_text(sources[sentence].split(), chosen)
        lines.append(Line(sentence, annotator, text, "", len(chosen)))
    return lines


def _with_sources(
    sources: Sequence[str],
    edits: Sequence[_Edits],
    corpora: Sequence[Sequence[Line]],
    given: Given,
    draw: np.random.RandomState,
) -> tuple[tuple[Line, ...], ...]:
    """Add to each line what a metric gets as its source."""

    def source(line: Line, position: int) -> str:
        if given == "random":
            return corpora[draw.randint(len(corpora))][position].text
        applied = edits[line.sentence][line.annotator] if given == "reference" else ()
        return partial_text(sources[line.sentence].split(), applied)

    return tuple(
        tuple(replace(line, source=source(line, at)) for at, line in enumerate(lines))
        for lines in corpora
    )
