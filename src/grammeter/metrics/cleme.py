"""CLEME and CLEME 2.0: chunks with the same boundaries for hypothesis and references."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from grammeter import core, errant
from grammeter.alignment import Changes, ChunkedSentence, Target, read_targets, verdicts
from grammeter.metrics import base, kinds
from grammeter.models import Request, Steps, TokenSimilarity, run_together

KINDS = verdicts.KINDS
FACTORS = {"corpus": (0.45, 0.35, 0.15, 0.05), "sentence": (0.35, 0.25, 0.20, 0.20)}
"""CLEME 2.0's trade-off between hit, wrong, under- and over-correction, by level."""

MODEL = "bert-base-uncased"  # the encoder of similarity weights in the authors' program
Weights = Literal["auto", "length", "none", "similarity", "length-corpus", "length-sentence"]
_DIGITS = 4  # of the measures of version 1 by which the program chooses and averages


@dataclass(frozen=True, kw_only=True)
class Cleme(kinds.Extracting, kinds.Choosing, kinds.SentenceMean, kinds.Asking):
    """CLEME (F-measure over chunks) and CLEME 2.0 (four rates traded off); 0 to 1.

    - ``version``: 1: F-measure (Ye et al. 2023). 2: hit-, wrong-, under- and over-correction,
      weighted (Ye et al. 2025).
    - ``assumption``: ``dependent``: the references are alternatives and the best one is chosen
      for each sentence. ``independent``: each chunk may follow any reference.
    - ``level``: ``corpus``: sums over the corpus. ``sentence``: the mean of sentence scores.
    - ``weights``: ``length``: by the length of a chunk, with the authors' constants for the level;
      ``length-corpus`` and ``length-sentence`` name the constants. ``similarity``: by how much a
      chunk moves the sentence to or from the reference, in F1 of BERTScore. ``none``. ``auto``:
      ``length`` for version 1; for version 2 ``similarity`` where a model is named, else ``none``.
    - ``beta``: weight of recall in F; version 1 only.
    - ``factors``: version 2: weights of hits and of the absence of wrong, under- and
      over-correction. They sum to 1; ``none`` takes the authors' for the level.
    - ``changed_only``: leave out references equal to the source where a sentence has others.
    - ``detection``: count a changed chunk as a hit if a reference changes it, too, whatever it
      becomes.
    - ``pipeline``: what extracts edits from texts; see :func:`grammeter.errant.annotate.annotator`.
    - ``model``: the encoder of similarity weights: a folder, or a name on the hub; ``none``:
      ``bert-base-uncased``.
    - ``layer``: its layer, from 1; ``none``: the published one, for models without one three
      quarters of the depth.
    """

    name = "cleme"
    bounds = (0.0, 1.0)
    title = "chunk-level multi-reference evaluation (Ye et al. 2023, 2025)"
    needs = "gold or texts"
    citation = base.cited("ye-etal-2023-cleme", "ye-etal-2025-cleme2")
    resampling = "chosen references and average chunk length fixed"
    counted = (*KINDS, "fp", "truncated")
    by_row = False
    judges_edits = True
    layered = True

    _average: ClassVar[float | None] = None  # in the corpus that a single sentence belongs to

    version: Literal[1, 2] = 1
    assumption: Literal["dependent", "independent"] = "dependent"
    level: Literal["corpus", "sentence"] = "corpus"
    weights: Weights = "auto"
    beta: base.FBeta = 0.5
    factors: tuple[float, ...] | None = None
    changed_only: bool = False
    detection: bool = False
    pipeline: str | None = None
    model: str | None = None
    layer: int | None = None

    def check_fields(self) -> None:
        """Refuse factors or a model that mean nothing."""
        fits = self.factors is None or verdicts.is_share(self.factors)
        self.refuse_unless(fits, "factors", fix="Give four numbers from 0 to 1 that sum to 1.")
        used = self.weighting == "similarity" or self.model is self.layer is None
        self.refuse_unless(used, "model", "layer", fix="Add weights=similarity.")

    @property
    def weighting(self) -> str:
        """What weighs the chunks, ``auto`` and ``length`` resolved."""
        if self.weights == "length" or (self.weights == "auto" and self.version == 1):
            return f"length-{self.level}"
        if self.weights == "auto":
            return "none" if self.model is None else "similarity"
        return self.weights

    def models(self) -> Mapping[str, str]:
        """Return the encoder of similarity weights; nothing for other weights."""
        return {"model": self.model or MODEL} if self.weighting == "similarity" else {}

    def settings(self) -> dict[str, object]:
        """Return weights, factors, encoder and layer in use, and what the edits depend on."""
        used: dict[str, object] = {"weights": self.weighting, "tok": "whitespace"}
        if self.version == 2:
            used["factors"] = " ".join(map(str, self._factors))
        return {**used, **self.models(), **super().settings()}

    def counting(self) -> object:
        """Return what the counts depend on: of length weights, not the constants."""
        edits = (self.assumption, self.changed_only, self.detection, self.pipeline)
        if self.weighting == "similarity":
            return "cleme", *edits, self.version, self.model, self.layer
        return "cleme", *edits, self.weighting == "none"

    def steps(self, segments: Sequence[core.Segment]) -> Steps[core.Statistics]:
        """Extract edits and count, as :meth:`count` says."""
        return (yield from self._count(read_targets(segments, self.extractor().annotate)))

    def count(self, targets: Sequence[Target]) -> core.Statistics:
        """Count chunks by kind; one slot per reference or, independent, one for all.

        Under length weights the columns are kinds by length, ``tp@2``, with ``changed`` and
        ``length``, the number and length of the chunks that references change; under similarity
        weights sums of weights.
        """
        return run_together([self._count(targets)])[0]

    def _count(self, targets: Sequence[Target]) -> Steps[core.Statistics]:
        judged = self._judged(targets)
        flat = [version for versions in judged for version in versions]
        if self.weighting == "similarity":
            columns, counts = (*KINDS, "truncated"), (yield from self._weighed(flat))
        elif self.weighting == "none":
            rows = [[version.kinds.count(kind) for kind in range(len(KINDS))] for version in flat]
            columns, counts = KINDS, np.array(rows, dtype=np.int64)
        else:
            columns, counts = verdicts.rows_by_length(flat)
        rest = iter(counts)
        by_number = [{version.label: next(rest) for version in versions} for versions in judged]
        return kinds.by_label(by_number, columns, counts.dtype)

    def score(self, statistics: core.Statistics) -> core.Score:
        """Score a corpus: F or the trade-off of sums, or the mean of sentence scores."""
        columns, rows = statistics.columns, statistics.rows
        if "changed" in columns and not rows[..., columns.index("changed")].any():
            fault = "no reference changes anything: length weights take 0 as the average length"
            warnings.warn(fault, stacklevel=2)
        if self.level == "sentence":
            return super().score(statistics)
        sums = self.summands(statistics).sum(axis=0).tolist()
        value = self._measures(sums)[0]
        return core.Score(value, self.signature(), len(statistics), self._parts(sums))

    @property
    def in_turn(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the corpus score chooses by running totals."""
        return self.level == "corpus"

    @property
    def reads_corpus(self) -> bool:
        """Whether the corpus score chooses by running totals, or weights need all lengths."""
        return self.in_turn or self.weighting.startswith("length")

    def scored(self, statistics: core.Statistics, slots: core.IntArray) -> core.SegmentScores:
        """Score each sentence by the sums of a slot.

        The average length of length weights is that of all these sentences. Of version 1,
        measures are rounded to four decimals, as in the authors' program.
        """
        rows = self.sums(statistics)[np.arange(len(statistics)), slots].tolist()
        parts = [self._parts(row, _DIGITS) for row in rows]
        names = list(parts[0]) if parts else []
        columns = {name: np.array([part[name] for part in parts]) for name in names}
        if "truncated" in statistics.columns:
            columns["truncated"] = statistics.rows[..., -1].max(axis=1).astype(np.int64)
        values = np.array([self._measures(row, _DIGITS)[0] for row in rows], dtype=np.float64)
        chosen = np.array(statistics.labels, dtype=np.int64)[slots]
        return core.SegmentScores(values, chosen, columns)

    def summands(self, statistics: core.Statistics) -> core.FloatArray:
        """Return the chosen sums by kind; at sentence level the score, and 1."""
        if self.level == "sentence":
            return super().summands(statistics)
        return self.sums(statistics)[np.arange(len(statistics)), self.chosen(statistics)]

    def value_of(self, sums: core.FloatArray) -> core.FloatArray:
        """Return F or the trade-off of sums by kind; at sentence level the mean."""
        if self.level == "sentence":
            return super().value_of(sums)
        values = [self._measures(row)[0] for row in sums.reshape(-1, len(KINDS)).tolist()]
        return np.array(values, dtype=np.float64).reshape(sums.shape[:-1])

    def sums(self, statistics: core.Statistics) -> core.FloatArray:
        """Return weighted counts, shape ``(segments, slots, 5)``, in the order of ``KINDS``."""
        if statistics.columns[: len(KINDS)] == KINDS:
            return statistics.rows[..., : len(KINDS)].astype(np.float64)
        average = verdicts.average_length(statistics) if self._average is None else self._average
        curves = verdicts.CURVES[self.weighting, self.assumption]
        return verdicts.weighted_sums(statistics, curves, average)

    def choose(self, statistics: core.Statistics, *, running: bool) -> core.IntArray:
        """Return the slot of each sentence's reference, shape ``(segments,)``.

        Corpus: the one with the best measure (``running``: in the order of the sentences,
        together with all sums so far), then the most hits, the fewest false positives, the fewest
        misses. Sentence: the one with the best measures of the sentence. The first of equal ones.
        """
        rows = kinds.candidates(self.sums(statistics), statistics.present)
        return np.array(errant.best_in_turn(rows, self._rank, running=running), dtype=np.int64)

    def within(self, surroundings: core.Surroundings) -> base.Metric:
        """Take the average length of length weights from all sentences of the system."""
        rows = surroundings.statistics
        if rows is None or not self.weighting.startswith("length"):
            return self
        return self.bound(_average=verdicts.average_length(rows))

    def explain(self, segment: core.Segment) -> core.Explanation:
        """Return chunks and counts; the average length is this sentence's unless in a corpus."""
        targets = read_targets([segment], self.extractor().annotate)
        statistics, (judged,) = self.count(targets), self._judged(targets)
        scores = self.sentences(statistics)
        slot = int(self.choose(statistics, running=False)[0])
        sums = self.sums(statistics)[0].tolist()
        scored = [(*row, self._measures(row, _DIGITS)[0]) for row in sums]
        measure = f"F{self.beta:g}" if self.version == 1 else "score"
        grids = verdicts.chunk_grid(judged[slot]), verdicts.reference_grid(judged, scored, measure)
        weights = self._weights(judged[slot], statistics)
        return self.explained(scores, verdicts.judged_edits(judged[slot], weights), grids)

    def _weights(self, judged: verdicts.JudgedChunks, counted: core.Statistics) -> Sequence[float]:
        """Return the weight of each chunk of a sentence; nothing where none is weighed."""
        if self.weighting == "none":
            return ()
        if self.weighting == "similarity":
            ((similarities, _),) = run_together([self._similarities([judged])])
            return verdicts.similarity_weights(judged, similarities, unmoved=self._unmoved)
        average = verdicts.average_length(counted) if self._average is None else self._average
        curves = verdicts.CURVES[self.weighting, self.assumption]
        return verdicts.length_weights(judged, curves, average)

    @property
    def _factors(self) -> tuple[float, ...]:
        return FACTORS[self.level] if self.factors is None else self.factors

    def _measures(self, row: verdicts.Row, digits: int | None = None) -> tuple[float, ...]:
        if self.version == 2:
            return verdicts.rates(row, self._factors)
        measures = verdicts.prf(row, self.beta)
        return measures if digits is None else tuple(round(x, digits) for x in measures)

    def _rank(self, sums: verdicts.Row, row: verdicts.Row) -> tuple[float, ...]:
        if self.level == "sentence":
            value, first, *others = self._measures(row, _DIGITS)
            return (value, first, *(x if self.version == 1 else -x for x in others))
        tp, fp_ne, fp_un, fn, tn = row
        return self._measures(sums, _DIGITS)[0], tp, -fp_ne - fp_un, -fn, tn

    def _parts(self, row: verdicts.Row, digits: int | None = None) -> dict[str, float]:
        figures = self._measures(row, digits)
        _, *shares = figures if self.version == 1 else verdicts.prf(row, self.beta)
        counts = [int(n) for n in row] if self.weighting == "none" else row
        parts: dict[str, float] = {}
        parts.update(zip(("precision", "recall", "accuracy"), shares, strict=True))
        parts.update(zip(KINDS, counts, strict=True))
        parts["fp"] = parts["fp_ne"] + parts["fp_un"]
        if self.version == 2:
            parts.update(zip(("hit", "wrong", "under", "over"), figures[1:], strict=True))
        return parts

    def _judged(self, targets: Sequence[Target]) -> list[list[verdicts.JudgedChunks]]:
        """Judge each hypothesis against each reference, or against all of them at once."""
        by_target: list[list[verdicts.JudgedChunks]] = []
        known: dict[ChunkedSentence, dict[int, Changes]] = {}
        for sentence, hypothesis in core.track(targets, self.name):
            if sentence not in known:
                known[sentence] = verdicts.competing(sentence, changed_only=self.changed_only)
            texts = sentence.source, hypothesis, known[sentence]
            together = self.assumption == "independent"
            versions = verdicts.judge(*texts, detection=self.detection, together=together)
            if together and self.weighting == "similarity":
                versions = verdicts.each_version(versions[0], known[sentence])
            by_target.append(versions)
        return by_target

    def _weighed(self, judged: Sequence[verdicts.JudgedChunks]) -> Steps[core.FloatArray]:
        """Ask for the similarities that weigh chunks; return the sums by kind, and what was cut."""
        similarities, long = yield from self._similarities(judged)
        unmoved, trials = self._unmoved, map(verdicts.trials, judged)
        sums = [verdicts.similarity_sums(x, similarities, unmoved=unmoved) for x in judged]
        rows = [[*row, not long.isdisjoint(x)] for row, x in zip(sums, trials, strict=True)]
        return np.array(rows, dtype=np.float64).reshape(-1, len(KINDS) + 1)

    @property
    def _unmoved(self) -> float:
        """The weight of a chunk that changes nothing, as in the authors' program."""
        return 1.0 if self.version == 1 else 0.0

    def _similarities(
        self, judged: Sequence[verdicts.JudgedChunks]
    ) -> Steps[tuple[verdicts.Similarities, set[tuple[str, str]]]]:
        """Ask how similar all texts are that weigh chunks; return also those that were cut."""
        pairs = list(dict.fromkeys(pair for version in judged for pair in verdicts.trials(version)))
        measure = TokenSimilarity(layer=self.used_layer)
        (figures,) = yield [Request(self.models()["model"], measure, pairs)]
        *_, f1, cut = figures.T.tolist()
        similarities = dict(zip(pairs, f1, strict=True))
        return similarities, {pair for pair, count in zip(pairs, cut, strict=True) if count}
