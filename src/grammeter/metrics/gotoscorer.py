"""GoToScorer: corrections weighed by how many systems get them right."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import numpy as np

from grammeter import core
from grammeter.alignment import ChunkedSentence, Piece, Target, pieces, read_targets
from grammeter.metrics import base, edit_f, kinds

COLUMNS = ("tp", "fp", "fn", "tn", "total")
"""Weights by outcome; a chunk wrongly corrected may be ``fp`` and ``fn``, so total is apart."""

Weigh = Callable[[int, int], float]
"""The weight of a chunk that so many of so many systems have right."""


class ChunkOutcome(NamedTuple):
    """How one system treats one gold chunk."""

    modified: bool
    correct: bool


@dataclass(frozen=True, kw_only=True)
class GoToScorer(kinds.Extracting, kinds.Pooled, kinds.SumScore):
    """F-measure over chunks, each weighing the more the fewer systems have it right; 0 to 1.

    The weights come from all systems that are scored together, so the same output scores
    differently in other company.

    - ``beta``: weight of recall in F.
    - ``annotator``: number of the one annotator or reference that is used. A sentence for which
      it is not listed counts as left unchanged by it.
    - ``weights``: ``difficulty``, or ``none``: every chunk weighs 1.
    - ``a``, ``b``, ``c``: the weight is ``a - (correct + b) / (systems + c)``.
    - ``pipeline``: what extracts edits from texts; see :func:`grammeter.errant.annotate.annotator`.
    """

    name = "gotoscorer"
    bounds = (0.0, 1.0)
    title = "F-measure weighted by correction difficulty (Gotou et al. 2020)"
    needs = "gold or texts"
    citation = base.cited("gotou-etal-2020-taking")
    resampling = "difficulty fixed"
    judges_edits = True
    tok = "whitespace"
    after_counting = ("beta",)

    beta: base.FBeta = 0.5
    annotator: Annotated[int, base.Limit("They count from 0.", least=0)] = 0
    weights: Literal["difficulty", "none"] = "difficulty"
    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    pipeline: str | None = None

    def check_fields(self) -> None:
        """Refuse negative weights."""
        in_range = 1 <= self.a < math.inf and 0 <= self.b <= self.c < math.inf
        self.refuse_unless(in_range, "a", "b", "c", fix="Use a of at least 1 and 0 <= b <= c.")

    def pooled_statistics(self, segments: base.Segments, copies: Sequence[int]) -> core.Statistics:
        """Weigh chunks; :class:`UsageError` without the annotator or a second system."""
        return self.count(read_targets(segments, self.extractor().annotate), copies)

    def count(self, targets: Sequence[Target], copies: Sequence[int]) -> core.Statistics:
        """Do :meth:`pooled_statistics` with edits that are already extracted."""
        lines = core.grouped((sentence, position) for position, (sentence, _) in enumerate(targets))
        self._check_pool(lines, copies)
        rows = np.zeros((len(targets), len(COLUMNS)))
        for positions in core.track(lines.values(), self.name, len(lines)):
            gold, outputs = self._compared([targets[x] for x in positions])
            of_outputs = [outcomes(gold, output) for output in outputs]
            weights = difficulties(of_outputs, [copies[x] for x in positions], self._weigh)
            rows[positions] = [tally(gold, of_output, weights) for of_output in of_outputs]
        return kinds.one_slot(rows, COLUMNS, self.annotator)

    def _compared(self, targets: Sequence[Target]) -> tuple[list[Piece], list[list[Piece]]]:
        sentence = targets[0][0]
        gold = pieces(sentence.source, sentence.references.get(self.annotator, ()))
        return gold, [pieces(sentence.source, changes) for _, changes in targets]

    def parts(self, sums: core.FloatArray) -> dict[str, float]:
        """Return precision, recall, accuracy and the weights by outcome."""
        return {name: float(part) for name, part in _parts(sums).items()}

    def sentences(self, statistics: core.Statistics) -> core.SegmentScores:
        """Return each sentence's own F; 0 where nothing that weighs is right."""
        rows = self.summands(statistics)
        chosen = np.full(len(statistics), self.annotator, dtype=np.int64)
        return core.SegmentScores(self.value_of(rows), chosen, _parts(rows))

    def summands(self, statistics: core.Statistics) -> core.FloatArray:
        """Return the weights by outcome."""
        return statistics.rows[:, 0].astype(np.float64)

    def value_of(self, sums: core.FloatArray) -> core.FloatArray:
        """Return F of summed weights; 0 where it is undefined."""
        tp, fp, fn = np.moveaxis(sums[..., :3], -1, 0)
        return kinds.ratio(*core.f_fraction(tp, tp + fp, tp + fn, self.beta))

    def explain(self, segment: core.Segment) -> core.Explanation:
        """Return edits and chunks not simply kept; NaN without the other systems' outputs."""
        outputs = self.beside(segment)
        targets = read_targets(outputs, self.extractor().annotate)
        source = targets[0][0].source
        gold, systems = self._compared(targets)
        of_outputs = [outcomes(gold, system) for system in systems]
        weights = difficulties(of_outputs, [1] * len(outputs), self._weigh)
        judged = of_outputs[0]
        known = self.weights == "none" or len(outputs) > 1
        sums = np.array(tally(gold, judged, weights))
        kept = [o == (False, True) and not p.edited for p, o in zip(gold, judged, strict=True)]
        columns = {
            "span": [f"{piece.start}:{piece.end}" for piece in gold],
            "source": [" ".join(source[piece.start : piece.end]) for piece in gold],
            "gold": [" ".join(piece.tokens) for piece in gold],
            "modified": [("no", "yes")[outcome.modified] for outcome in judged],
            "correct": [("no", "yes")[outcome.correct] for outcome in judged],
            **({"weight": weights} if known else {}),
        }
        return core.Explanation(
            value=float(self.value_of(sums)) if known else float("nan"),
            reason=None if known else "the weights need the outputs of all systems",
            parts=self.parts(sums) if known else {},
            chosen=self.annotator,
            edits=tuple(edit_f.judged_in_order(source, _verdicts(gold, systems[0], judged))),
            grids=(base.grid_of("Gold chunks", columns, ~np.array(kept)),),
        )

    def _weigh(self, correct: int, systems: int) -> float:
        if self.weights == "none":
            return 1.0
        return self.a - (correct + self.b) / (systems + self.c)

    def _check_pool(self, lines: dict[ChunkedSentence, list[int]], copies: Sequence[int]) -> None:
        known = {number for sentence in lines for number in sentence.references}
        if lines and self.annotator not in known:
            fault = f"{self}: there is no annotator {self.annotator}"
            raise core.UsageError(fault, fix=f"There are {', '.join(map(str, sorted(known)))}.")
        alone = all(sum(copies[x] for x in positions) < 2 for positions in lines.values())
        if lines and alone and self.weights == "difficulty":
            fault = "gotoscorer weighs chunks by how many systems have them right, and there is"
            fault += " only one system with the same gold edits"
            raise core.UsageError(fault, fix="Score several systems together, or use weights=none.")


def outcomes(gold: Sequence[Piece], system: Sequence[Piece]) -> list[ChunkOutcome]:
    """Return what a system makes of each gold chunk (Gotou et al. 2020).

    A chunk with the same span and text is correct. Else it is wrong if any chunk of the system
    overlaps it, modified if one of these is an edit; an insertion overlaps the span it stands
    in or directly before, and an empty gold chunk meets nothing but the same empty span. What
    meets nothing is left alone, which is right unless gold has an edit.
    """
    by_span = core.grouped((piece[:2], piece) for piece in system)
    edits = [piece for piece in system if piece.edited]
    return [_outcome(piece, by_span.get(piece[:2], []), edits) for piece in gold]


def difficulties(
    of_outputs: Sequence[Sequence[ChunkOutcome]], copies: Sequence[int], weigh: Weigh
) -> list[float]:
    """Return weights of a sentence's gold chunks; ``copies``: systems with each distinct output."""
    systems = sum(copies)
    return [
        weigh(sum(n for one, n in zip(column, copies, strict=True) if one.correct), systems)
        for column in zip(*of_outputs, strict=True)
    ]


def tally(
    gold: Sequence[Piece], judged: Sequence[ChunkOutcome], weights: Sequence[float]
) -> tuple[float, float, float, float, float]:
    """Return the weights of true and false positives and negatives, and of all chunks."""
    tp = fp = fn = tn = 0.0
    for piece, (modified, correct), weight in zip(gold, judged, weights, strict=True):
        if correct:
            tp, tn = (tp + weight, tn) if modified else (tp, tn + weight)
        elif modified:
            fp, fn = fp + weight, fn + weight * piece.edited
        else:
            fn += weight
    return tp, fp, fn, tn, sum(weights)


def _outcome(gold: Piece, same_span: Sequence[Piece], edits: Sequence[Piece]) -> ChunkOutcome:
    for piece in same_span:
        if piece.tokens == gold.tokens:
            return ChunkOutcome(piece.edited, correct=True)
    if gold.start == gold.end:
        modified = any(piece.edited for piece in same_span)
        return ChunkOutcome(modified, correct=not same_span and not gold.edited)
    met = (e.start < gold.end and gold.start < max(e.end, e.start + 1) for e in edits)
    return ChunkOutcome(any(met), correct=False)


def _parts(sums: core.FloatArray) -> dict[str, core.FloatArray]:
    tp, fp, fn, tn, total = np.moveaxis(sums, -1, 0)
    shares = kinds.ratio(tp, tp + fp), kinds.ratio(tp, tp + fn), kinds.ratio(tp + tn, total)
    named = dict(zip(("precision", "recall", "accuracy"), shares, strict=True))
    return {**named, "tp": tp, "fp": fp, "fn": fn, "tn": tn}


def _verdicts(
    gold: Sequence[Piece], system: Sequence[Piece], judged: Sequence[ChunkOutcome]
) -> Iterator[tuple[core.Edit, core.EditVerdict]]:
    """Yield the system's edits and the gold edits that it lacks, in the sentence's order."""
    right = {piece for piece, outcome in zip(gold, judged, strict=True) if outcome.correct}
    matched = {piece[:3] for piece in right}
    verdicts: dict[Piece, core.EditVerdict] = {p: "missed" for p in {*gold} - right if p.edited}
    verdicts |= {p: "matched" if p[:3] in matched else "spurious" for p in system if p.edited}
    for piece in sorted(verdicts):
        yield core.Edit(piece.start, piece.end, " ".join(piece.tokens)), verdicts[piece]
