"""Texts that annotators' edits make: all of them, combinations, subsets, or drawn in brackets."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from random import Random

from grammeter.core import Edit, GoldEdits, UsageError, apply, without_overlaps

Words = tuple[str, ...]  # tokens
_GLUED_COMMA = re.compile(r",(?!\d)")
_LAST_STOP = re.compile(r"(?<=[^.])\.$")


def corrected_by_annotator(
    source: Sequence[str], gold: GoldEdits, *, treebank: bool = True
) -> dict[int, Words]:
    """Return the :func:`distinct` texts with all edits of each annotator, in the order of ``gold``.

    As the authors' program of the I-measure (Felice & Briscoe 2015): only the first correction of
    an edit is used; ``treebank`` splits punctuation off corrections as the Penn Treebank does.
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
    """Combine the annotators' ways to correct each error; see :func:`corrected_by_annotator`.

    Overlapping edits, of whichever annotator, are one error; the ways to correct it are what each
    annotator did there, and to leave it if some annotator did. Combinations with two edits of the
    same span are left out. Returns the different texts, those with the ways of the first annotators
    first; UsageError, before any is made, if there are more than ``limit`` combinations.
    """
    choices: list[list[Sequence[Edit]]] = []
    for cluster in _clusters(_readied(gold, treebank)):
        ways = dict.fromkeys(tuple(cluster[number]) for number in sorted(cluster))
        choices.append(list(ways) if len(cluster) == len(gold) else [*ways, ()])
    count = math.prod(map(len, choices))
    if count > limit:
        fault = f"{count} combinations of corrections, more than {limit}, for the sentence"
        fault += f" {' '.join(source)[:60]!r}"
        raise UsageError(fault, fix="Use mix=false, or raise limit.")
    combined = (list(itertools.chain(*ways)) for ways in itertools.product(*choices))
    apart = (edits for edits in combined if len({(e.start, e.end) for e in edits}) == len(edits))
    return list(dict.fromkeys(apply_backwards(source, edits) for edits in apart))


def split_punctuation(correction: str) -> str:
    """Split off a comma, unless a digit follows, and a final full stop, as the Penn Treebank."""
    spaced = _GLUED_COMMA.sub(" , ", correction.rstrip())
    return " ".join(_LAST_STOP.sub(" .", spaced).split())


def apply_backwards(source: Sequence[str], edits: Iterable[Edit]) -> Words:
    """Apply edits from right to left to what is left, unless nothing would be."""
    tokens = list(source)
    for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
        tokens = [*tokens[: edit.start], *edit.correction.split(), *tokens[edit.end :]] or tokens
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


def _clusters(edits_of: Mapping[int, Sequence[Edit]]) -> Iterator[dict[int, list[Edit]]]:
    """Group overlapping edits, long ones first; each group is kept by annotator."""
    listed = [(number, edit) for number, edits in edits_of.items() for edit in edits]
    clusters: list[list[tuple[int, Edit]]] = []
    for number, edit in sorted(listed, key=lambda item: item[1].start - item[1].end):
        near = (c for c in clusters if any(_overlap(edit, member) for _, member in c))
        if (cluster := next(near, None)) is None:
            clusters.append(cluster := [])
        cluster.append((number, edit))
    for cluster in clusters:
        yield {n: [edit for other, edit in cluster if other == n] for n, _ in cluster}


def _overlap(a: Edit, b: Edit) -> bool:
    return (a.start, a.end) == (b.start, b.end) or (a.start < b.end and b.start < a.end)


def marked(source: Sequence[str], edits: Iterable[Edit]) -> str:
    """Write a sentence with its edits in brackets: ``She [go→went] to [the→] school [→.]``.

    As Kobayashi et al. 2024. Of two edits at one place the insertion stands first. ValueError if
    edits, which are in any order, overlap or reach outside the sentence.
    """
    sequence, overlapping = without_overlaps(edits)
    if overlapping or any(not 0 <= e.start <= e.end <= len(source) for e in sequence):
        raise ValueError(f"edits overlap or lie outside {len(source)} tokens: {sequence}")
    words: list[str] = []
    done = 0
    for edit in sequence:
        words += source[done : edit.start]
        words.append(f"[{' '.join(source[edit.start : edit.end])}→{edit.correction}]")
        done = edit.end
    return " ".join([*words, *source[done:]])


def partial_text(source: Sequence[str], edits: Sequence[Edit]) -> str:
    """Return the text that :func:`~grammeter.core.apply` makes.

    Where the first or the last word is deleted, one blank stays in its place, as in the published
    program of MAEGE (Choshen & Abend 2018); metrics on words ignore it.
    """
    words = apply(source, edits)
    ordered = sorted((e for e in edits if not e.is_noop), key=lambda e: (e.start, e.end))
    if not words or not ordered:
        return " ".join(words)
    first, last = ordered[0], ordered[-1]
    before = " " if first.start == 0 and not first.correction.split() else ""
    after = " " if last.end == len(source) and not last.correction.split() else ""
    return before + " ".join(words) + after


def appliable(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Return edits in their order, but of two that overlap only the first one of the sentence."""
    left = Counter(without_overlaps(edits)[0])
    chosen: list[Edit] = []
    for edit in edits:
        if left[edit]:
            left[edit] -= 1
            chosen.append(edit)
    return tuple(chosen)


def orders(size: int, limit: int, random: Random) -> list[tuple[int, ...]]:
    """Return all orders of ``size`` edits if fewer than ``limit``, else ``limit`` random ones."""
    if math.factorial(size) < limit:
        return list(itertools.permutations(range(size)))
    return [tuple(random.sample(range(size), size)) for _ in range(limit)]


def chain(source: Sequence[str], edits: Sequence[Edit], order: Sequence[int]) -> tuple[str, ...]:
    """Return the texts with the first 0, 1, ... ``len(order)`` of the edits applied, in order."""
    chosen = [edits[number] for number in order]
    return tuple(partial_text(source, chosen[:size]) for size in range(len(chosen) + 1))


def draw_subset(size: int, random: Random) -> frozenset[int]:
    """Draw how many of ``size`` edits, 1 to all, then which (IMPARA, Maeda et al. 2022, 2.3)."""
    return frozenset(random.sample(range(size), random.randint(1, size)))


def flip_some(subset: Collection[int], size: int, random: Random) -> frozenset[int]:
    """Take each of ``size`` edits out of a subset, or into it, with probability ``1 / size``.

    The neighbour of Maeda et al. 2022 (IMPARA), section 2.3; it may be empty or the same.
    """
    return frozenset(subset) ^ {number for number in range(size) if random.random() < 1 / size}
