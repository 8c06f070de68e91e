"""Chunks of a hypothesis judged against references, as CLEME does it.

The five kinds of chunks (Ye et al. 2023, 2025):

======  ===================================================================
tp      a hit: changed, and to what a reference has there
fp_ne   a wrong correction: changed where a reference changes something else
fp_un   an over-correction: changed where no reference does
fn      a miss: left alone where a correction was needed
tn      rightly left alone
======  ===================================================================
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from grammeter import core
from grammeter.alignment.chunks import Changes, Chunk, ChunkedSentence, Tokens, partition
from grammeter.alignment.weights import NOISE

KINDS = ("tp", "fp_ne", "fp_un", "fn", "tn")  # the names of the kinds; a kind is its place here
TP, FP_NE, FP_UN, FN, TN = range(len(KINDS))
_VERDICTS: Mapping[int, core.EditVerdict] = {TP: "matched", FN: "missed"}
Row = Sequence[float]  # counts or weights of one sentence or corpus, in the order of `KINDS`
Similarities = Mapping[tuple[str, str], float]  # similarity of the texts of each pair, in any unit
TOGETHER = -1  # label of a judgment against all references together
WHOLE = -1  # length of a column that does not depend on length


class Curve(NamedTuple):
    """A length weight: ``alpha / (1 + (alpha - 1) exp(distance))``, clipped."""

    alpha: float
    low: float
    high: float

    def weight(self, distance: float) -> float:
        """Return the weight at a distance from the average length, in tokens."""
        weight = self.alpha / (1 + (self.alpha - 1) * math.exp(min(distance, 700)))
        return min(max(weight, self.low), self.high)


_MILD = Curve(2, 0.75, 1.25)
_HITS, _WRONG, _MISSED = Curve(10, 1, 10), Curve(10, 0.25, 1), Curve(10, 1, 1)

CURVES: Mapping[tuple[str, str], tuple[Curve, Curve, Curve]] = {
    ("length-corpus", "dependent"): (_MILD, _MILD, _MILD),
    ("length-corpus", "independent"): (_MILD, _MILD, _MILD),
    ("length-sentence", "dependent"): (_HITS, _WRONG, _MISSED),
    ("length-sentence", "independent"): (_HITS._replace(low=2.5), _WRONG, _MISSED),
}
"""The authors' constants for hits, false positives and misses."""


def length_weight(curves: tuple[Curve, Curve, Curve], kind: int, longer: float) -> float:
    """Return the weight of a chunk that is longer than the average (Ye et al. 2023)."""
    hit, wrong, missed = curves
    if kind in (FP_NE, FP_UN):
        return wrong.weight(longer)
    return (hit if kind == TP else missed).weight(-longer)


class JudgedChunks(NamedTuple):
    """Chunks of a hypothesis and their kinds, against a reference (``label``) or ``TOGETHER``."""

    label: int
    versions: tuple[int, ...]  # places of the references' texts in each chunk; 0: the hypothesis
    chunks: Sequence[Chunk]
    kinds: Sequence[int]


def competing(sentence: ChunkedSentence, *, changed_only: bool) -> dict[int, Changes]:
    """Return the references that count.

    With ``changed_only``, those equal to the source are left out, then those with an empty text;
    where none would be left, the first stays.
    """
    texts = {
        label: tuple(t for chunk in partition(sentence.source, [changes]) for t in chunk.texts[0])
        for label, changes in sentence.references.items()
    }
    labels = list(texts)
    if changed_only:
        labels = [k for k in labels if texts[k] != sentence.source] or labels[:1]
    labels = [k for k in labels if texts[k]] or labels[:1]
    return {k: sentence.references[k] for k in labels}


def judge(
    source: Tokens, hypothesis: Changes, references: Mapping[int, Changes],
    *, detection: bool, together: bool = False,
) -> list[JudgedChunks]:  # fmt: skip
    """Judge against each reference alone, or all ``together`` (independent assumption).

    A hit is a chunk with the text of a reference or, with ``detection``, that one changes, too; a
    miss is one with another text in the reference, or that all of them change.
    """
    chunks = partition(source, [hypothesis, *references.values()])
    versions = {label: (at,) for at, label in enumerate(references, start=1)}
    if together:
        versions = {TOGETHER: tuple(range(1, len(references) + 1))}

    def kind(chunk: Chunk, versions: tuple[int, ...]) -> int:
        touched = [chunk.changed[at] for at in versions]
        equal = any(chunk.texts[at] == chunk.texts[0] for at in versions)
        if not chunk.changed[0]:
            return FN if (all(touched) if together else not equal) else TN
        if any(touched) if detection else equal:
            return TP
        return FP_NE if any(touched) else FP_UN

    return [
        JudgedChunks(label, places, chunks, [kind(chunk, places) for chunk in chunks])
        for label, places in versions.items()
    ]


def each_version(judged: JudgedChunks, labels: Iterable[int]) -> list[JudgedChunks]:
    """Return the same kinds once per reference, so that weights may differ."""
    pairs = zip(labels, judged.versions, strict=True)
    return [judged._replace(label=label, versions=(at,)) for label, at in pairs]


def counts_by_length(judged: JudgedChunks) -> Counter[tuple[str, int]]:
    """Count chunks by kind and length, of the longer side; ``changed``: what references change."""
    counts: Counter[tuple[str, int]] = Counter()
    for chunk, kind in zip(judged.chunks, judged.kinds, strict=True):
        width = chunk.end - chunk.start
        length = WHOLE if kind == TN else max(width, len(chunk.texts[0]))
        counts[KINDS[kind], length] += 1
        for at in judged.versions:
            if chunk.changed[at]:
                counts["changed", WHOLE] += 1
                counts["length", WHOLE] += max(width, len(chunk.texts[at]))
    return counts


def rows_by_length(judged: Sequence[JudgedChunks]) -> tuple[tuple[str, ...], core.IntArray]:
    """Return columns such as ``tp@2``, with ``changed`` and ``length``, and a row for each."""
    counted = list(map(counts_by_length, judged))
    centre = {("changed", WHOLE), ("length", WHOLE)}  # the average length comes from them
    columns = sorted(centre.union(*counted))
    rows = [[row[column] for column in columns] for row in counted]
    names = tuple(name if n == WHOLE else f"{name}@{n}" for name, n in columns)
    return names, np.array(rows, dtype=np.int64).reshape(-1, len(columns))


def average_length(statistics: core.Statistics) -> float:
    """Return the mean length in tokens of the chunks that references change; 0 without any."""
    places = map(statistics.columns.index, ("changed", "length"))
    changed, length = (int(statistics.rows[..., at].sum()) for at in places)
    return length / changed if changed else 0.0


def weighted_sums(
    statistics: core.Statistics, curves: tuple[Curve, Curve, Curve], average: float
) -> core.FloatArray:
    """Weigh chunks by how far their lengths are from an average: ``(segments, slots, 5)``."""
    sums = np.zeros((*statistics.present.shape, len(KINDS)))
    for number, column in enumerate(statistics.columns):
        name, _, length = column.partition("@")
        if name in KINDS:  # one column after the other: equal counts give equal sums
            kind = KINDS.index(name)
            weight = length_weight(curves, kind, int(length) - average) if length else 1.0
            sums[..., kind] += statistics.rows[..., number] * weight
    return sums


def length_weights(
    judged: JudgedChunks, curves: tuple[Curve, Curve, Curve], average: float
) -> list[float]:
    """Return what each chunk counts in :func:`weighted_sums`."""
    lengths = (max(chunk.end - chunk.start, len(chunk.texts[0])) for chunk in judged.chunks)
    pairs = zip(judged.kinds, lengths, strict=True)
    return [1.0 if k == TN else length_weight(curves, k, length - average) for k, length in pairs]


def trials(judged: JudgedChunks) -> list[tuple[str, str]]:
    """Return the pairs of a text and the reference whose similarities weigh the chunks.

    First the source, then for each chunk but ``tn`` the source with the hypothesis' text there
    or, for a miss, the reference's. Where nothing would be left, the source is taken as it was.
    """
    (at,) = judged.versions
    source = [chunk.source for chunk in judged.chunks]
    reference = _join(chunk.texts[at] for chunk in judged.chunks)
    pairs = [(_join(source), reference)]
    for number, (chunk, kind) in enumerate(zip(judged.chunks, judged.kinds, strict=True)):
        if kind != TN:
            text = chunk.texts[at if kind == FN else 0]
            tried = _join([*source[:number], text, *source[number + 1 :]])
            pairs.append((tried or pairs[0][0], reference))
    return pairs


def similarity_sums(
    judged: JudgedChunks, similarities: Similarities, *, unmoved: float
) -> list[float]:
    """Sum the chunks of each kind, weighed by :func:`similarity_weights`."""
    weights = similarity_weights(judged, similarities, unmoved=unmoved)
    return np.bincount(judged.kinds, weights, len(KINDS)).tolist()


def similarity_weights(
    judged: JudgedChunks, similarities: Similarities, *, unmoved: float
) -> list[float]:
    """Weigh chunks by what they do for the sentence (Ye et al. 2025).

    A chunk weighs as much as it alone changes the similarity of the source to the reference, one
    of :func:`trials`; ``tn`` weigh 1, a chunk that changes nothing ``unmoved``.
    """
    untouched, *moved = (similarities[pair] for pair in trials(judged))
    moves = iter(moved)
    weights = [1.0 if kind == TN else abs(untouched - next(moves)) for kind in judged.kinds]
    return [weight if weight >= NOISE else unmoved for weight in weights]


def prf(row: Row, beta: float) -> tuple[float, float, float, float]:
    """Return F, precision, recall and accuracy; precision and recall are 1 where undefined."""
    tp, wrong, over, fn, tn = row
    counts = core.Counts(tp, wrong + over, fn)
    everything = tp + counts.fp + fn + tn
    accuracy = (tp + tn) / everything if everything else 1.0
    return counts.f(beta), counts.precision, counts.recall, accuracy


def rates(row: Row, factors: Sequence[float]) -> tuple[float, float, float, float, float]:
    """Return CLEME 2.0's score and its hit, wrong, under and over; 0 where undefined."""
    tp, wrong, over, fn, _ = row
    needed, made = tp + wrong + fn, tp + wrong + over
    hit, mistaken, under = (part / needed if needed else 0.0 for part in (tp, wrong, fn))
    excess = over / made if made else 0.0
    good = (hit, 1 - mistaken, 1 - under, 1 - excess)
    score = sum(factor * part for factor, part in zip(factors, good, strict=True))
    return score, hit, mistaken, under, excess


def is_share(factors: Sequence[float]) -> bool:
    """Whether four numbers from 0 on sum to 1."""
    numbers = {type(factor) for factor in factors} <= {int, float}
    return numbers and len(factors) == 4 and min(factors) >= 0 and math.isclose(sum(factors), 1)


def chunk_grid(judged: JudgedChunks) -> core.Grid:
    """Show all chunks that somebody changes."""
    columns = ("span", "source", "hypothesis", *("reference",) * len(judged.versions), "kind")
    rows: list[tuple[str, ...]] = []
    for chunk, kind in zip(judged.chunks, judged.kinds, strict=True):
        if any(chunk.changed):
            texts = (chunk.source, *(chunk.texts[at] for at in (0, *judged.versions)))
            rows.append((f"{chunk.start}:{chunk.end}", *map(" ".join, texts), KINDS[kind]))
    return core.Grid("Chunks", columns, tuple(rows))


def reference_grid(
    judged: Sequence[JudgedChunks], rows: Sequence[Sequence[float]], measure: str
) -> core.Grid:
    """Show for each reference the sums by kind and, last in its row, the score."""
    labels = ["all" if one.label == TOGETHER else str(one.label) for one in judged]
    cells = tuple(
        (label, *(f"{n:g}" for n in sums), f"{value:.4f}")
        for label, (*sums, value) in zip(labels, rows, strict=True)
    )
    return core.Grid("References", ("reference", *KINDS, measure), cells)


def judged_edits(judged: JudgedChunks, weights: Sequence[float] = ()) -> Iterator[core.JudgedEdit]:
    """Turn chunks that count into edits with their verdicts and, if known, weights."""
    known = weights or [None] * len(judged.chunks)
    for chunk, kind, weight in zip(judged.chunks, judged.kinds, known, strict=True):
        if kind != TN:
            text = chunk.texts[judged.versions[0] if kind == FN else 0]
            edit = core.Edit(chunk.start, chunk.end, " ".join(text))
            verdict = _VERDICTS.get(kind, "spurious")
            yield core.JudgedEdit(edit, " ".join(chunk.source), verdict, weight)


def _join(texts: Iterable[Tokens]) -> str:
    return " ".join(token for text in texts for token in text)
