"""CLEME and CLEME 2.0: chunks with the same boundaries for hypothesis and references."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from grammeter.core.edit import Edit
from grammeter.core.errors import MissingResourceError, UsageError
from grammeter.core.explanation import Explanation, Grid, JudgedEdit, Verdict
from grammeter.core.progress import track
from grammeter.core.score import Score
from grammeter.core.segment import Segment
from grammeter.core.statistics import FloatArray, IntArray, SegmentScores, Statistics
from grammeter.edits.annotate import Annotator, annotator
from grammeter.edits.chunks import Changes, Chunk, Sentence, Tokens, partition, read_targets
from grammeter.metrics.base import Metric, Needs, mean_of

KINDS = ("tp", "fp_ne", "fp_un", "fn", "tn")
"""A hit; a wrong correction where one was needed; one where none was; a miss; rightly kept."""

TP, FP_NE, FP_UN, FN, TN = range(len(KINDS))

Row = Sequence[float]
"""Counts or weights of one sentence or corpus, in the order of :data:`KINDS`."""

Similarity = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""How alike the two texts of each pair are, in the units of the model."""

_TOGETHER = -1
"""Label of the one slot in which all references count together."""


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

CURVES: Mapping[tuple[str, str], tuple[Curve, Curve, Curve]] = {
    ("length-corpus", "dependent"): (_MILD, _MILD, _MILD),
    ("length-corpus", "independent"): (_MILD, _MILD, _MILD),
    ("length-sentence", "dependent"): (Curve(10, 1, 10), Curve(10, 0.25, 1), Curve(10, 1, 1)),
    ("length-sentence", "independent"): (Curve(10, 2.5, 10), Curve(10, 0.25, 1), Curve(10, 1, 1)),
}
"""The authors' constants for hits, false positives and misses."""

FACTORS = {"corpus": (0.45, 0.35, 0.15, 0.05), "sentence": (0.35, 0.25, 0.20, 0.20)}
"""CLEME 2.0's trade-off between hit, wrong, under- and over-correction, by level."""


@dataclass(frozen=True, kw_only=True)
class Cleme(Metric):
    """CLEME (F-measure over chunks) and CLEME 2.0 (four rates traded off); 0 to 1.

    Attributes
    ----------
    version
        1: F-measure (Ye et al. 2023). 2: hit-, wrong-, under- and over-correction, weighted
        (Ye et al. 2025).
    assumption
        ``dependent``: the references are alternatives and the best one is chosen for each
        sentence. ``independent``: each chunk may follow any reference.
    level
        ``corpus``: sums over the corpus. ``sentence``: the mean of sentence scores.
    weights
        ``length``: by the length of a chunk, with the authors' constants for the level;
        ``length-corpus`` and ``length-sentence`` name the constants. ``similarity``: by how
        much a chunk moves the sentence towards the reference. ``none``. ``auto``: ``length``
        for version 1; for version 2 ``similarity`` where a model is named, else ``none``.
    beta
        Weight of recall in F; version 1 only.
    factors
        Version 2: weights of hits and of the absence of wrong, under- and over-correction.
        They sum to 1; ``none`` takes the authors' for the level.
    changed_only
        Leave out references equal to the source where a sentence has others.
    detection
        Count a changed chunk as a hit if a reference changes it, too, whatever it becomes.
    pipeline
        What extracts edits from texts; see :func:`grammeter.edits.annotate.annotator`.
    model, layer
        The encoder of similarity weights.
    """

    name: ClassVar[str] = "cleme"
    title: ClassVar[str] = "chunk-level multi-reference evaluation (Ye et al. 2023, 2025)"
    needs: ClassVar[Needs] = "gold or texts"
    citation: ClassVar[str] = """\
@inproceedings{ye-etal-2023-cleme,
    title = "{CLEME}: Debiasing Multi-reference Evaluation for Grammatical Error Correction",
    author = "Ye, Jingheng and Li, Yinghui and Zhou, Qingyu and Li, Yangning and Ma, Shirong
        and Zheng, Hai-Tao and Shen, Ying",
    booktitle = "Proceedings of EMNLP 2023",
    year = "2023",
    pages = "6174--6189",
    doi = "10.18653/v1/2023.emnlp-main.378",
}
@inproceedings{ye-etal-2025-cleme2,
    title = "{CLEME}2.0: Towards Interpretable Evaluation by Disentangling Edits for Grammatical
        Error Correction",
    author = "Ye, Jingheng and Xu, Zishan and Li, Yinghui and Song, Linlin and Zhou, Qingyu
        and Zheng, Hai-Tao and Shen, Ying and Jiang, Wenhao and Kim, Hong-Gee and Liu, Ruitong
        and Su, Xin and Shan, Zifei",
    booktitle = "Proceedings of ACL 2025 (Volume 1: Long Papers)",
    year = "2025",
    pages = "204--222",
    url = "https://aclanthology.org/2025.acl-long.10",
}"""
    resampling: ClassVar[str] = "chosen references and average chunk length fixed"

    version: Literal[1, 2] = 1
    assumption: Literal["dependent", "independent"] = "dependent"
    level: Literal["corpus", "sentence"] = "corpus"
    weights: Literal["auto", "length", "none", "similarity", "length-corpus", "length-sentence"] = (
        "auto"
    )
    beta: float = 0.5
    factors: tuple[float, ...] | None = None
    changed_only: bool = False
    detection: bool = False
    pipeline: str | None = None
    model: str | None = None
    layer: int | None = None

    def check_fields(self) -> None:
        """Refuse a weight of recall, factors, or a model that mean nothing."""
        if self.beta <= 0:
            raise UsageError(f"cleme: beta={self.beta}", fix="beta is greater than 0.")
        if self.factors is not None and not _is_share(self.factors):
            raise UsageError(
                f"cleme: factors={self.factors} is not possible",
                fix="Give four numbers from 0 to 1 that sum to 1.",
            )
        if self.weighting != "similarity" and (self.model is not None or self.layer is not None):
            raise UsageError(
                "cleme: a model is named but not used", fix="Add weights=similarity."
            )

    @property
    def weighting(self) -> str:
        """What weighs the chunks, ``auto`` and ``length`` resolved."""
        if self.weights == "length" or (self.weights == "auto" and self.version == 1):
            return f"length-{self.level}"
        if self.weights == "auto":
            return "none" if self.model is None else "similarity"
        return self.weights

    def annotator(self) -> Annotator:
        """Return what extracts edits from texts."""
        return annotator(self.pipeline, types=False)

    def settings(self) -> dict[str, object]:
        """Return the weights and factors in use, and what the edits depend on."""
        used = {"weights": self.weighting}
        if self.version == 2:
            used["factors"] = " ".join(map(str, self._factors))
        return {**used, **self.annotator().signature()}

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """Count chunks by kind; one slot per reference or, independent, one for all.

        Under length weights the columns are kinds by length, ``tp@2``, since the average length
        on which the weights depend belongs to the system; ``changed`` and ``length`` are the
        number and length of the chunks that references change. Under similarity weights the
        columns are sums of weights.
        """
        targets = read_targets(segments, self.annotator().annotate)
        kept: dict[Sentence, dict[int, Changes]] = {}
        judged: list[_Judged] = []
        for position, (sentence, hypothesis) in enumerate(track(targets, self.name)):
            if sentence not in kept:
                kept[sentence] = _kept(sentence, self.changed_only)
            judged += self._judge(position, sentence.source, hypothesis, kept[sentence])
        labels = tuple(sorted({each.label for each in judged}))
        slots = {label: slot for slot, label in enumerate(labels)}
        at = tuple(np.array([[each.position, slots[each.label]] for each in judged]).T)
        columns, counts = self._count(judged)
        rows = np.zeros((len(segments), len(labels), len(columns)), dtype=counts.dtype)
        present = np.zeros(rows.shape[:2], dtype=np.bool_)
        if judged:
            rows[at], present[at] = counts, True
        return Statistics(rows, present, labels, columns)

    def score(self, statistics: Statistics) -> Score:
        """Score a corpus: F or the trade-off of sums, or the mean of sentence scores."""
        if self.weighting.startswith("length") and not _changed(statistics) and len(statistics):
            warnings.warn(
                "no reference changes anything: length weights take 0 as the average length",
                stacklevel=2,
            )
        if self.level == "sentence":
            scores = self.sentences(statistics)
            mean = mean_of(scores.values, self.signature(), scores.reason)
            parts = _mean_parts(scores.parts)
            return Score(mean.value, mean.signature, mean.n, parts, mean.reason)
        sums = self.summands(statistics).sum(axis=0).tolist()
        value = self._measures(sums)[0]
        return Score(value, self.signature(), len(statistics), self._parts(sums))

    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Return each sentence's score against its chosen reference.

        Of version 1, measures are rounded to four decimals, as in the authors' program.
        """
        slots = self.choose(statistics)
        rows = self.sums(statistics)[np.arange(len(statistics)), slots].tolist()
        parts = [self._parts(row, digits=4) for row in rows]
        names = list(parts[0]) if parts else []
        return SegmentScores(
            values=np.array([self._rounded(row)[0] for row in rows], dtype=np.float64),
            chosen=np.array(statistics.labels, dtype=np.int64)[slots],
            parts={name: np.array([part[name] for part in parts]) for name in names},
        )

    def summands(self, statistics: Statistics) -> FloatArray:
        """Return the chosen sums by kind; at sentence level the score, and 1."""
        if self.level == "sentence":
            values = self.sentences(statistics).values
            return np.stack([values, np.ones_like(values)], axis=-1)
        return self.sums(statistics)[np.arange(len(statistics)), self.choose(statistics)]

    def value_of(self, sums: FloatArray) -> FloatArray:
        """Return F or the trade-off of sums by kind; at sentence level the mean."""
        if self.level == "sentence":
            return sums[..., 0] / sums[..., 1]
        rows = sums.reshape(-1, len(KINDS)).tolist()
        values = np.array([self._measures(row)[0] for row in rows], dtype=np.float64)
        return values.reshape(sums.shape[:-1])

    def sums(self, statistics: Statistics) -> FloatArray:
        """Return weighted counts, shape ``(segments, slots, 5)``, in the order of ``KINDS``.

        The average length that length weights need is that of these statistics.
        """
        if statistics.columns == KINDS:
            return statistics.rows.astype(np.float64)
        sums = np.zeros((*statistics.present.shape, len(KINDS)))
        centre = average_length(statistics)
        for column, counts in zip(statistics.columns, np.moveaxis(statistics.rows, -1, 0)):
            kind, _, length = column.partition("@")
            if kind in KINDS:  # one column after the other: equal counts give equal sums
                weight = self._length_weight(KINDS.index(kind), length, centre)
                sums[..., KINDS.index(kind)] += counts * weight
        return sums

    def choose(self, statistics: Statistics) -> IntArray:
        """Return the slot of each sentence's reference, shape ``(segments,)``.

        Corpus: in the order of the sentences, the one with the best measure together with all
        sums so far, then the most hits, the fewest false positives, the fewest misses. Sentence:
        the one with the best measures of the sentence. The first of equal ones.
        """
        totals = [0.0] * len(KINDS)
        chosen: list[int] = []
        rows = self.sums(statistics).tolist()
        for slots, present in zip(rows, statistics.present.tolist(), strict=True):
            candidates = [slot for slot, there in enumerate(present) if there]
            best = max(candidates, key=lambda slot: self._rank(totals, slots[slot]))
            totals = [total + own for total, own in zip(totals, slots[best], strict=True)]
            chosen.append(best)
        return np.array(chosen, dtype=np.int64)
