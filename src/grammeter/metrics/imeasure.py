"""I-measure: how much of the way from the source to a perfect text a system has gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from math import inf
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from grammeter.alignment import (
    GAP,
    Column,
    Words,
    align,
    align_all,
    corrected_by_annotator,
    distinct,
    gap,
    mixed,
)
from grammeter.core import (
    BoolArray,
    CorpusChoice,
    Edit,
    Explanation,
    FloatArray,
    Grid,
    IntArray,
    JudgedEdit,
    Segment,
    SegmentScores,
    Statistics,
    f_fraction,
)
from grammeter.metrics.base import Needs, SumScore, ratio

COLUMNS = ("tp", "tn", "fp", "fn", "fpn", "source_tn", "source_fn", "candidate")
"""Counts of correction, those of the unchanged source, and the number of the candidate."""

_COUNTS = COLUMNS[:5]
_SUMMED = len(COLUMNS) - 1
_WRONG = "FP FN FPN"
_TIES = ("i", "wacc", "acc")
_CORRECTION = (
    "i", "wacc", "wacc_source", "tp", "tn", "fp", "fn", "fpn",
    "precision", "recall", "f", "acc", "acc_source",
)  # fmt: skip
_DETECTION = ("i", "wacc", "tp", "fp", "fn", "precision", "recall", "f", "acc")

Figures = dict[str, FloatArray]
"""Counts and measures of one aspect by name."""


@dataclass(frozen=True, kw_only=True)
class IMeasure(SumScore):
    """Improvement over the source in weighted accuracy (Felice and Briscoe 2015); -1 to 1.

    Attributes
    ----------
    weight
        How many true negatives a true positive, or a false positive, is worth in WAcc.
    mix
        Let all combinations of the annotators' corrections compete, not only each annotator's
        own text. Needs gold edits to have an effect.
    beta
        Recall weighs ``beta`` times as much as precision in F.
    maximise
        The figure by which the reference is chosen; then I, WAcc and Acc, then the same of the
        other aspect decide, then the order of the candidates.
    aspect
        Whether the figure is of correction or of detection. The score is that of correction.
    optimise
        Choose the reference of each sentence for itself, or in turn for the figures of the
        corpus so far.
    treebank
        Split gold corrections at commas and the last full stop as the authors' converter does.
    limit
        With ``mix``, the greatest number of combinations for a sentence.
    """

    name: ClassVar[str] = "imeasure"
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    title: ClassVar[str] = (
        "improvement over the source in weighted token accuracy (Felice and Briscoe 2015)"
    )
    needs: ClassVar[Needs] = "gold or texts"
    citation: ClassVar[str] = """\
@inproceedings{felice-briscoe-2015-towards,
    title = "Towards a standard evaluation method for grammatical error detection and correction",
    author = "Felice, Mariano and Briscoe, Ted",
    booktitle = "Proceedings of NAACL-HLT 2015",
    year = "2015",
    pages = "578--587",
    doi = "10.3115/v1/N15-1060",
}"""
    judges_edits: ClassVar[bool] = True
    after_counting: ClassVar[tuple[str, ...]] = ("beta",)  # which concerns F alone

    weight: float = 2.0
    mix: bool = False
    beta: float = 1.0
    maximise: Literal["wacc", "i", "acc", "f", "precision", "recall"] = "wacc"
    aspect: Literal["correction", "detection"] = "correction"
    optimise: Literal["sentence", "corpus"] = "sentence"
    treebank: bool = True
    limit: int = 20_000

    def check_fields(self) -> None:
        """Refuse a weight, beta or limit that is not above 0."""
        for name in ("weight", "beta", "limit"):
            in_range = 0 < getattr(self, name) < inf
            self.refuse_unless(in_range, name, fix="Use a number above 0.")

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """Align each hypothesis with each candidate reference and count; whole numbers.

        Equal outputs of one line are aligned once. A slot belongs to an annotator or reference
        text, of equal ones to the first. With ``mix`` a slot has no meaning of its own: of the
        candidates with the same counts only the first is kept, and the column ``candidate``
        has its number.
        """
        jobs = _Jobs(self)
        job_of = [jobs.add(segment) for segment in segments]
        return jobs.statistics(np.array(job_of, dtype=np.int64))

    def parts(self, sums: FloatArray) -> dict[str, float]:
        """Return the counts and measures of both aspects.

        ``wacc wacc_source tp tn fp fn fpn precision recall f acc acc_source`` of correction, and
        of detection ``detection_i detection_wacc detection_tp`` and so on.
        """
        parts = {name: _plain(name, value) for name, value in self._parts(sums).items()}
        del parts["i"]
        return parts

    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Score each segment by its best candidate; parts as in :meth:`parts`.

        ``chosen`` is the number of the annotator or reference text, or with ``mix`` of the
        combination.
        """
        rows = _picked(statistics, self._best(statistics.rows[..., :_SUMMED], statistics.present))
        missing = ~statistics.present.any(axis=1)
        parts = {
            name: np.where(missing, 0 if name.endswith(_COUNTS) else np.nan, column)
            for name, column in self._parts(rows[:, :_SUMMED]).items()
        }
        chosen = np.where(missing, -1, rows[:, _SUMMED])
        values, reason = parts.pop("i"), gap(statistics.present)
        return SegmentScores(values, chosen, parts, reason, self._in_corpus(statistics))

    @property
    def reads_corpus(self) -> bool:
        """Whether candidates are chosen for the figures of the corpus so far."""
        return self.optimise == "corpus"

    def _in_corpus(self, statistics: Statistics) -> CorpusChoice | None:
        """Return what the corpus score chose, if it does not choose as for a sentence."""
        if not self.reads_corpus or statistics.slots < 2:
            return None
        rows = statistics.rows[..., :_SUMMED]
        rows = _picked(statistics, self._best_in_turn(rows, statistics.present))
        there = statistics.present.any(axis=1)
        values = self.value_of(rows[:, :_SUMMED].astype(np.float64))
        return CorpusChoice(np.where(there, rows[:, _SUMMED], -1), np.where(there, values, np.nan))

    def summands(self, statistics: Statistics) -> FloatArray:
        """Return the counts for the chosen candidates, in the order of :data:`COLUMNS`."""
        rows = statistics.rows[..., :_SUMMED]
        choose = self._best if self.optimise == "sentence" else self._best_in_turn
        chosen = _picked(statistics, choose(rows, statistics.present))[:, :_SUMMED]
        return np.where(statistics.present.any(axis=1, keepdims=True), chosen, np.nan)

    def value_of(self, sums: FloatArray) -> FloatArray:
        """Return I of correction."""
        return _figures(sums, self.weight, self.beta)["i"]

    def explain(self, segment: Segment) -> Explanation:
        """Show the alignment with the chosen candidate, and the figures of each candidate."""
        statistics = self.statistics([segment])
        scores = self.sentences(statistics)
        if scores.reason is not None:
            return Explanation(value=float("nan"))
        number = int(scores.chosen[0])
        candidates = self.candidates(segment)
        columns = align(segment.source.split(), segment.hypothesis.split(), candidates[number])
        grids = _alignment_grid(columns), self._candidate_grid(statistics, candidates)
        return self.explained(scores, _judged(columns), grids)

    def candidates(self, segment: Segment) -> dict[int, Words]:
        """Return the different references that compete, by number.

        Raises
        ------
        UsageError
            If ``mix`` makes more than ``limit`` combinations.
        """
        source = segment.source.split()
        if not segment.gold:
            texts = enumerate(segment.references)
            return distinct({n: tuple(text.split()) for n, text in texts if text is not None})
        if self.mix:
            combined = mixed(source, segment.gold, treebank=self.treebank, limit=self.limit)
            return dict(enumerate(combined))
        return corrected_by_annotator(source, segment.gold, treebank=self.treebank)

    def _parts(self, counts: npt.NDArray[Any]) -> Figures:
        correction = _figures(counts, self.weight, self.beta)
        detection = _figures(_detection(counts), self.weight, self.beta)
        named = {f"detection_{name}": detection[name] for name in _DETECTION}
        return {name: correction[name] for name in _CORRECTION} | named

    def _best(self, rows: npt.NDArray[Any], present: BoolArray) -> IntArray:
        """Return the slot of the best candidate, the first of equal ones: ``(n,)``."""
        aspects = [rows, _detection(rows)]
        if self.aspect == "detection":
            aspects.reverse()
        left = present.copy()
        for counts in aspects:
            figures = _figures(counts, self.weight, self.beta)
            for name in (self.maximise, *_TIES):
                value = np.where(left, figures[name], -inf)
                left[value < value.max(axis=1, keepdims=True)] = False
        return left.argmax(axis=1)

    def _best_in_turn(self, rows: npt.NDArray[Any], present: BoolArray) -> IntArray:
        """Return the slots that are best for the corpus so far, from the first segment on."""
        chosen = np.zeros(len(rows), dtype=np.int64)
        sums = np.zeros(_SUMMED, dtype=np.int64)
        for n, (slots, here) in enumerate(zip(rows, present, strict=True)):
            chosen[n] = self._best((slots + sums)[None], here[None])[0]
            sums += slots[chosen[n]]
        return chosen

    def _candidate_grid(self, statistics: Statistics, candidates: Mapping[int, Words]) -> Grid:
        rows = statistics.rows[0][statistics.present[0]]
        figures = self._parts(rows[:, :_SUMMED])
        shown = ("i", "wacc", "wacc_source", "tp", "tn", "fp", "fn", "fpn")
        cells = [[f"{x:.4f}" if x.dtype.kind == "f" else str(x) for x in figures[k]] for k in shown]
        numbers = rows[:, _SUMMED].tolist()
        texts = [" ".join(candidates[number]) for number in numbers]
        lines = zip(map(str, numbers), *cells, texts, strict=True)
        return Grid("candidate references", ("number", *shown, "text"), tuple(lines))


class _Jobs:
    """The different pairs of a line and a hypothesis; each is counted once.

    The source itself is a hypothesis of each line, for the baseline.
    """

    def __init__(self, metric: IMeasure) -> None:
        self.metric = metric
        self.lines: dict[tuple[object, ...], int] = {}
        self.candidates: list[dict[int, Words]] = []
        self.baselines: list[int] = []
        self.jobs: dict[tuple[int, Words], int] = {}
        self.texts: dict[tuple[int, str], int] = {}

    def add(self, segment: Segment) -> int:
        """Return the number of the segment's job."""
        # segments of a line share their gold, and it outlives this object
        against = id(segment.gold) if segment.gold else segment.references
        key = (segment.source, against)
        if key not in self.lines:
            self.lines[key] = len(self.candidates)
            self.candidates.append(self.metric.candidates(segment))
            self.baselines.append(self._job(self.lines[key], segment.source))
        return self._job(self.lines[key], segment.hypothesis)

    def _job(self, line: int, text: str) -> int:
        if (line, text) not in self.texts:
            job = (line, tuple(text.split()))
            self.texts[line, text] = self.jobs.setdefault(job, len(self.jobs))
        return self.texts[line, text]

    def statistics(self, job_of: IntArray) -> Statistics:
        """Count all jobs, and return a row for each element of ``job_of``."""
        job, table = self._table()
        if self.metric.mix:
            job, table, slot = _first_of_equal(job, table)
            labels = tuple(range(slot.max(initial=0) + 1))
        else:
            labels = tuple(sorted({n for line in self.candidates for n in line})) or (0,)
            slot = np.searchsorted(labels, table[:, _SUMMED])
        rows = np.zeros((len(self.jobs), len(labels), len(COLUMNS)), dtype=np.int64)
        present = np.zeros(rows.shape[:2], dtype=np.bool_)
        rows[job, slot], present[job, slot] = table, True
        return Statistics(rows[job_of], present[job_of], labels, COLUMNS)

    def _table(self) -> tuple[IntArray, IntArray]:
        """Count each job against each of its candidates: job ``(t,)``, counts ``(t, columns)``."""
        lines = np.array([line for line, _ in self.jobs], dtype=np.int64)
        numbers = [number for line, _ in self.jobs for number in self.candidates[line]]
        sources = [hypothesis for _, hypothesis in self.jobs]
        triples = [
            (sources[self.baselines[line]], hypothesis, candidate)
            for line, hypothesis in self.jobs
            for candidate in self.candidates[line].values()
        ]
        counts = np.zeros((len(triples), 5), dtype=np.int64)
        for index, columns in align_all(triples):
            counts[index] = _count(columns)
        size = np.array(list(map(len, self.candidates)), dtype=np.int64)[lines]
        start = np.cumsum(size) - size
        job = np.repeat(np.arange(len(size)), size)
        baseline = np.array(self.baselines, dtype=np.int64)[lines]
        of_source = counts[start[baseline[job]] + np.arange(len(job)) - start[job]]
        return job, np.column_stack(
            [counts, of_source[:, [1, 3]], np.array(numbers, dtype=np.int64)]
        )


def _first_of_equal(job: IntArray, table: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Keep the first candidate of those with the same counts; number a job's candidates anew."""
    _, first = np.unique(np.column_stack([job, table[:, :_SUMMED]]), axis=0, return_index=True)
    first.sort()
    job = job[first]
    return job, table[first], np.arange(len(job)) - np.searchsorted(job, job)


def _verdict(source: str, hypothesis: str, reference: str) -> str:
    if hypothesis == reference:
        return "TN" if source == hypothesis else "TP"
    if source == hypothesis:
        return "FN"
    return "FP" if source == reference else _WRONG


def _count(columns: Sequence[Column]) -> tuple[int, int, int, int, int]:
    """Return tp, tn, fp, fn, fpn of correction."""
    verdicts = Counter(starmap(_verdict, columns))
    wrong = verdicts[_WRONG]
    return verdicts["TP"], verdicts["TN"], verdicts["FP"] + wrong, verdicts["FN"] + wrong, wrong


def _detection(counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn counts of correction into those of detection: a wrong correction detects."""
    wrong = counts[..., 4]
    turned = counts.copy()
    turned[..., 0] += wrong
    turned[..., 2] -= wrong
    turned[..., 3] -= wrong
    turned[..., 4] = 0
    return turned


def _figures(counts: npt.NDArray[Any], weight: float, beta: float) -> Figures:
    """Compute all measures of one aspect, ``(..., 7)`` to ``(...)`` each."""
    tp, tn, fp, fn, fpn, source_tn, source_fn = np.moveaxis(counts, -1, 0)
    below = weight * (tp + fp) + tn + fn - (weight + 1) * fpn / 2
    wacc = ratio(weight * tp + tn, below, 1.0)
    source = ratio(source_tn, source_tn + source_fn, 1.0)
    return {
        "i": _improvement(wacc, source),
        "wacc": wacc,
        "wacc_source": source,
        "tp": tp,
        "tn": tn,
        "fp": fp,
        "fn": fn,
        "fpn": fpn,
        "precision": ratio(tp, tp + fp, 1.0),
        "recall": ratio(tp, tp + fn, 1.0),
        "f": ratio(*f_fraction(tp, tp + fp, tp + fn, beta), 1.0),
        "acc": ratio(tp + tn, tp + tn + fp + fn - fpn, 1.0),
        "acc_source": source,
    }


def _improvement(wacc: FloatArray, source: FloatArray) -> FloatArray:
    better = ratio(wacc - source, 1 - source, 0.0)
    worse = ratio(wacc, source, 1.0) - 1
    changed = np.where(wacc > source, better, worse)
    return np.where(wacc == source, np.floor(wacc), changed)


def _picked(statistics: Statistics, slots: IntArray) -> IntArray:
    return np.take_along_axis(statistics.rows, slots[:, None, None], axis=1)[:, 0]


def _judged(columns: Sequence[Column]) -> Iterator[JudgedEdit]:
    """Return each column that is no true negative as an edit, or as two where both changed."""
    end = 0
    for source, hypothesis, reference in columns:
        start, end = end, end + (source != GAP)
        if hypothesis != source:
            verdict = "matched" if hypothesis == reference else "spurious"
            yield JudgedEdit(Edit(start, end, hypothesis), source, verdict)
        if reference not in (source, hypothesis):
            yield JudgedEdit(Edit(start, end, reference), source, "missed")


def _alignment_grid(columns: Sequence[Column]) -> Grid:
    rows: list[tuple[str, ...]] = []
    for column in columns:
        correction = _verdict(*column)
        rows.append((*column, "TP" if correction == _WRONG else correction, correction))
    header = ("source", "hypothesis", "reference", "detection", "correction")
    return Grid("alignment", header, tuple(rows))


def _plain(name: str, value: FloatArray) -> float:
    return int(value) if name.endswith(_COUNTS) else float(value)
