"""I-measure: how much of the way from the source to a perfect text a system has gone."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap
from math import inf
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt

from grammeter import alignment, core
from grammeter.metrics import base, edit_f, kinds

COLUMNS = ("tp", "tn", "fp", "fn", "fpn", "source_tn", "source_fn", "candidate")
"""Counts of correction, those of the unchanged source, and the number of the candidate."""

_COUNTS = COLUMNS[:5]
_SUMMED = len(COLUMNS) - 1
_WRONG = "FP FN FPN"
_TIES = ("i", "wacc", "acc")
_DETECTION = ("i", "wacc", "tp", "fp", "fn", "precision", "recall", "f", "acc")
_ABOVE_0 = base.Limit("Use a number above 0.", above=0)
_Triple = tuple[alignment.Words, alignment.Words, alignment.Words]
Figures = dict[str, core.FloatArray]  # counts and measures of one aspect by name


@dataclass(frozen=True, kw_only=True)
class IMeasure(kinds.Choosing, kinds.SumScore):
    """Improvement over the source in weighted accuracy (Felice and Briscoe 2015); -1 to 1.

    - ``weight``: how many true negatives a true positive, or a false positive, is worth in WAcc.
    - ``mix``: let all combinations of the annotators' corrections compete, not only each
      annotator's own text. Needs gold edits to have an effect.
    - ``beta``: recall weighs ``beta`` times as much as precision in F.
    - ``maximise``: the figure by which the reference is chosen; then I, WAcc and Acc, then the
      same of the other aspect decide, then the order of the candidates.
    - ``aspect``: whether the figure is of correction or of detection. The score is that of
      correction.
    - ``optimise``: choose the reference of each sentence for itself, or in turn for the figures
      of the corpus so far.
    - ``treebank``: split gold corrections at commas and the last full stop as the authors'
      converter does.
    - ``limit``: with ``mix``, the greatest number of combinations for a sentence.
    """

    name = "imeasure"
    bounds = (-1.0, 1.0)
    title = "improvement over the source in weighted token accuracy (Felice and Briscoe 2015)"
    needs = "gold or texts"
    citation = base.cited("felice-briscoe-2015-towards")
    judges_edits = True
    after_counting = ("beta",)  # which concerns F alone

    weight: Annotated[float, _ABOVE_0] = 2.0
    mix: bool = False
    beta: Annotated[float, _ABOVE_0] = 1.0
    maximise: Literal["wacc", "i", "acc", "f", "precision", "recall"] = "wacc"
    aspect: Literal["correction", "detection"] = "correction"
    optimise: Literal["sentence", "corpus"] = "sentence"
    treebank: bool = True
    limit: Annotated[int, _ABOVE_0] = 20_000

    def statistics(self, segments: Sequence[core.Segment]) -> core.Statistics:
        """Align each hypothesis with each candidate reference and count; whole numbers.

        A slot belongs to an annotator or reference text, of equal ones to the first. With
        ``mix`` a slot has no meaning of its own: of the candidates with the same counts only the
        first is kept, and the column ``candidate`` has its number.
        """
        candidates: dict[object, dict[int, alignment.Words]] = {}
        triples: dict[_Triple, int] = {}  # equal ones are aligned once
        cells: list[tuple[int, int, int, int]] = []
        for row, segment in enumerate(segments):
            # segments of a line share their gold, and it outlives this loop
            line = segment.source, id(segment.gold) if segment.gold else segment.references
            if line not in candidates:
                candidates[line] = self.candidates(segment)
            source, hypothesis = tuple(segment.source.split()), tuple(segment.hypothesis.split())
            for number, candidate in candidates[line].items():
                pair = (source, hypothesis, candidate), (source, source, candidate)
                aligned, unchanged = (triples.setdefault(x, len(triples)) for x in pair)
                cells.append((row, number, aligned, unchanged))
        counts = {at: _count(columns) for at, columns in alignment.align_all(list(triples))}
        found: list[dict[int, tuple[int, ...]]] = [{} for _ in segments]
        seen: set[object] = set()
        for row, number, aligned, unchanged in cells:
            _, tn, _, fn, _ = counts[unchanged]
            figures = *counts[aligned], tn, fn
            if not self.mix or (row, figures) not in seen:
                found[row][len(found[row]) if self.mix else number] = *figures, number
            seen.add((row, figures))
        if not cells:
            rows = np.zeros((len(segments), 1, len(COLUMNS)), dtype=np.int64)
            return core.Statistics(rows, rows[..., 0] > 0, (0,), COLUMNS)
        return kinds.by_label(found, COLUMNS)

    def parts(self, sums: core.FloatArray) -> dict[str, float]:
        """Return the counts and measures of correction, and as ``detection_...`` of detection."""
        parts = self._parts(sums)
        del parts["i"]
        return {n: int(x) if n.endswith(_COUNTS) else float(x) for n, x in parts.items()}

    @property
    def in_turn(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether candidates are chosen for the figures of the corpus so far."""
        return self.optimise == "corpus"

    def scored(self, statistics: core.Statistics, slots: core.IntArray) -> core.SegmentScores:
        """Score segments by a slot's candidate; part ``chosen``: annotator, text or combination."""
        rows = edit_f.chosen_rows(statistics, slots)
        missing = ~statistics.present.any(axis=1)
        parts = {
            name: np.where(missing, 0 if name.endswith(_COUNTS) else np.nan, column)
            for name, column in self._parts(rows[:, :_SUMMED]).items()
        }
        chosen = np.where(missing, -1, rows[:, _SUMMED])
        return core.SegmentScores(parts.pop("i"), chosen, parts, alignment.gap(statistics.present))

    def summands(self, statistics: core.Statistics) -> core.FloatArray:
        """Return the counts for the chosen candidates, in the order of :data:`COLUMNS`."""
        chosen = edit_f.chosen_rows(statistics, self.chosen(statistics))[:, :_SUMMED]
        return np.where(statistics.present.any(axis=1, keepdims=True), chosen, np.nan)

    def value_of(self, sums: core.FloatArray) -> core.FloatArray:
        """Return I of correction."""
        return _figures(sums, self.weight, self.beta)["i"]

    def explain(self, segment: core.Segment) -> core.Explanation:
        """Show the alignment with the chosen candidate, and the counts of each candidate."""
        statistics = self.statistics([segment])
        scores = self.sentences(statistics)
        if (number := int(scores.chosen[0])) < 0:
            return self.explained(scores)
        texts = segment.source.split(), segment.hypothesis.split(), self.candidates(segment)[number]
        columns = alignment.align(*texts)
        grids = _alignment_grid(columns), *self.tables(segment, statistics, number)
        return self.explained(scores, _judged(columns), grids)

    def candidates(self, segment: core.Segment) -> dict[int, alignment.Words]:
        """Return different references by number; :class:`UsageError` if a ``mix`` has too many."""
        source = segment.source.split()
        if not segment.gold:
            texts = enumerate(segment.references)
            known = {n: tuple(text.split()) for n, text in texts if text is not None}
            return alignment.distinct(known)
        gold, split = segment.gold, self.treebank
        if self.mix:
            return dict(enumerate(alignment.mixed(source, gold, treebank=split, limit=self.limit)))
        return alignment.corrected_by_annotator(source, gold, treebank=split)

    def _parts(self, counts: npt.NDArray[Any]) -> Figures:
        detection = _figures(_detection(counts), self.weight, self.beta)
        named = {f"detection_{name}": detection[name] for name in _DETECTION}
        return _figures(counts, self.weight, self.beta) | named

    def choose(self, statistics: core.Statistics, *, running: bool) -> core.IntArray:
        """Return the slot of the best candidate; ``running``: for the corpus so far."""
        rows, present = statistics.rows[..., :_SUMMED], statistics.present
        if not running:
            return self._best(rows, present)
        chosen = np.zeros(len(rows), dtype=np.int64)
        sums = np.zeros(_SUMMED, dtype=np.int64)
        for n, (slots, here) in enumerate(zip(rows, present, strict=True)):
            chosen[n] = self._best((slots + sums)[None], here[None])[0]
            sums += slots[chosen[n]]
        return chosen

    def _best(self, rows: npt.NDArray[Any], present: core.BoolArray) -> core.IntArray:
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


def _verdict(source: str, hypothesis: str, reference: str) -> str:
    if hypothesis == reference:
        return "TN" if source == hypothesis else "TP"
    if source == hypothesis:
        return "FN"
    return "FP" if source == reference else _WRONG


def _count(columns: Sequence[alignment.Column]) -> tuple[int, int, int, int, int]:
    verdicts = Counter(starmap(_verdict, columns))
    wrong = verdicts[_WRONG]
    return verdicts["TP"], verdicts["TN"], verdicts["FP"] + wrong, verdicts["FN"] + wrong, wrong


def _detection(counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn counts of correction into those of detection: a wrong correction detects."""
    return counts + counts[..., 4:5] * np.array([1, 0, -1, -1, -1, 0, 0])


def _figures(counts: npt.NDArray[Any], weight: float, beta: float) -> Figures:
    tp, tn, fp, fn, fpn, source_tn, source_fn = np.moveaxis(counts, -1, 0)
    below = weight * (tp + fp) + tn + fn - (weight + 1) * fpn / 2
    wacc = kinds.ratio(weight * tp + tn, below, 1.0)
    source = kinds.ratio(source_tn, source_tn + source_fn, 1.0)
    better = kinds.ratio(wacc - source, 1 - source, 0.0)
    changed = np.where(wacc > source, better, kinds.ratio(wacc, source, 1.0) - 1)
    improvement = np.where(wacc == source, np.floor(wacc), changed)
    return {
        **{"i": improvement, "wacc": wacc, "wacc_source": source},
        **dict(zip(_COUNTS, (tp, tn, fp, fn, fpn), strict=True)),
        "precision": kinds.ratio(tp, tp + fp, 1.0),
        "recall": kinds.ratio(tp, tp + fn, 1.0),
        "f": kinds.ratio(*core.f_fraction(tp, tp + fp, tp + fn, beta), 1.0),
        "acc": kinds.ratio(tp + tn, tp + tn + fp + fn - fpn, 1.0),
        "acc_source": source,
    }


def _judged(columns: Sequence[alignment.Column]) -> Iterator[core.JudgedEdit]:
    """Return each column that is no true negative as an edit, or as two where both changed."""
    end = 0
    for source, hypothesis, reference in columns:
        start, end = end, end + (source != alignment.GAP)
        if hypothesis != source:
            verdict = "matched" if hypothesis == reference else "spurious"
            yield core.JudgedEdit(core.Edit(start, end, hypothesis), source, verdict)
        if reference not in (source, hypothesis):
            yield core.JudgedEdit(core.Edit(start, end, reference), source, "missed")


def _alignment_grid(columns: Sequence[alignment.Column]) -> core.Grid:
    both = ((column, _verdict(*column)) for column in columns)
    rows = tuple((*column, "TP" if kind == _WRONG else kind, kind) for column, kind in both)
    header = ("source", "hypothesis", "reference", "detection", "correction")
    return core.Grid("alignment", header, rows)
