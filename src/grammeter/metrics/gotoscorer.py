"""GoToScorer: corrections weighed by how many systems get them right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from grammeter.alignment import ChunkedSentence, Piece, Target, pieces, read_targets
from grammeter.core import (
    Edit,
    EditVerdict,
    Explanation,
    FloatArray,
    Grid,
    JudgedEdit,
    Score,
    Segment,
    SegmentScores,
    Statistics,
    Surroundings,
    UsageError,
    f_fraction,
    track,
)
from grammeter.errant import Annotator, annotator
from grammeter.metrics.base import Metric, Needs, one_slot, ratio

COLUMNS = ("tp", "fp", "fn", "tn", "total")
"""Weights by outcome; a chunk wrongly corrected may be ``fp`` and ``fn``, so total is apart."""

Weigh = Callable[[int, int], float]
"""The weight of a chunk that so many of so many systems have right."""


class Outcome(NamedTuple):
    """How one system treats one gold chunk."""

    modified: bool
    correct: bool


@dataclass(frozen=True, kw_only=True)
class GoToScorer(Metric):
    """F-measure over chunks, each weighing the more the fewer systems have it right; 0 to 1.

    The weights come from all systems that are scored together, so the same output scores
    differently in other company.

    Attributes
    ----------
    beta
        Weight of recall in F.
    annotator
        Number of the one annotator or reference that is used. A sentence for which it is not
        listed counts as left unchanged by it.
    weights
        ``difficulty``, or ``none``: every chunk weighs 1.
    a, b, c
        The weight is ``a - (correct + b) / (systems + c)``.
    pipeline
        What extracts edits from texts; see :func:`grammeter.errant.annotate.annotator`.
    """

    name: ClassVar[str] = "gotoscorer"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    title: ClassVar[str] = "F-measure weighted by correction difficulty (Gotou et al. 2020)"
    needs: ClassVar[Needs] = "gold or texts"
    citation: ClassVar[str] = """\
@inproceedings{gotou-etal-2020-taking,
    title = "Taking the Correction Difficulty into Account in Grammatical Error Correction
        Evaluation",
    author = "Gotou, Takumi and Nagata, Ryo and Mita, Masato and Hanawa, Kazuaki",
    booktitle = "Proceedings of COLING 2020",
    year = "2020",
    pages = "2085--2095",
    doi = "10.18653/v1/2020.coling-main.188",
}"""
    resampling: ClassVar[str] = "difficulty fixed"
    judges_edits: ClassVar[bool] = True
    pooled: ClassVar[bool] = True
    after_counting: ClassVar[tuple[str, ...]] = ("beta",)

    _company: ClassVar[tuple[str, ...]] = ()
    """The outputs of the other systems, where a single sentence is explained."""

    beta: float = 0.5
    annotator: int = 0
    weights: Literal["difficulty", "none"] = "difficulty"
    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    pipeline: str | None = None

    def check_fields(self) -> None:
        """Refuse a weight of recall or an annotator out of range, and negative weights."""
        in_range = 0 < self.beta * self.beta < math.inf
        self.refuse_unless(in_range, "beta", fix="beta is greater than 0.")
        self.refuse_unless(self.annotator >= 0, "annotator", fix="They count from 0.")
        in_range = 1 <= self.a < math.inf and 0 <= self.b <= self.c < math.inf
        fix = "Use a of at least 1 and 0 <= b <= c."
        self.refuse_unless(in_range, "a", "b", "c", fix=fix)

    @property
    def notice(self) -> str | None:
        """What users should know of the pipeline, once."""
        return self._annotator().notice

    def settings(self) -> dict[str, object]:
        """Return the tokenisation, and what the edits depend on."""
        return {"tok": "whitespace", **self._annotator().signature()}

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """Weigh chunks as if each segment were the output of one system."""
        return self.pooled_statistics(segments, [1] * len(segments))

    def pooled_statistics(self, segments: Sequence[Segment], copies: Sequence[int]) -> Statistics:
        """Weigh chunks within the pool of all outputs of each sentence.

        Parameters
        ----------
        segments
            Distinct outputs of all systems; those of one line share their ``references`` and
            ``gold`` objects.
        copies
            How many systems gave each output.

        Raises
        ------
        UsageError
            If no sentence has the annotator, or there is only one system to compare with.
        """
        return self.count(read_targets(segments, self._annotator().annotate), copies)

    def count(self, targets: Sequence[Target], copies: Sequence[int]) -> Statistics:
        """Do :meth:`pooled_statistics` with edits that are already extracted."""
        lines: dict[ChunkedSentence, list[int]] = {}
        for position, (sentence, _) in enumerate(targets):
            lines.setdefault(sentence, []).append(position)
        self._check_pool(lines, copies)
        rows = np.zeros((len(targets), len(COLUMNS)))
        for sentence, positions in track(lines.items(), self.name, len(lines)):
            gold = pieces(sentence.source, sentence.references.get(self.annotator, ()))
            of_outputs = [
                outcomes(gold, pieces(sentence.source, targets[position][1]))
                for position in positions
            ]
            weights = difficulties(of_outputs, [copies[x] for x in positions], self._weigh)
            for position, of_output in zip(positions, of_outputs, strict=True):
                rows[position] = tally(gold, of_output, weights)
        return one_slot(rows, COLUMNS, self.annotator)

    def score(self, statistics: Statistics) -> Score:
        """Score a corpus by the sums of its weights."""
        sums = self.summands(statistics).sum(axis=0)
        return Score(
            value=float(self.value_of(sums)),
            signature=self.signature(),
            n=len(statistics),
            parts={name: float(part) for name, part in _parts(sums).items()},
        )

    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Return each sentence's own F; 0 where nothing that weighs is right."""
        rows = self.summands(statistics)
        chosen = np.full(len(statistics), self.annotator, dtype=np.int64)
        return SegmentScores(self.value_of(rows), chosen, _parts(rows))

    def summands(self, statistics: Statistics) -> FloatArray:
        """Return the weights by outcome."""
        return statistics.rows[:, 0].astype(np.float64)

    def value_of(self, sums: FloatArray) -> FloatArray:
        """Return F of summed weights; 0 where it is undefined."""
        tp, fp, fn = np.moveaxis(sums[..., :3], -1, 0)
        return ratio(*f_fraction(tp, tp + fp, tp + fn, self.beta))

    def within(self, surroundings: Surroundings) -> Metric:
        """Take the outputs of the other systems, whose weights depend on them."""
        return self.bound(_company=tuple(surroundings.company))

    def explain(self, segment: Segment) -> Explanation:
        """Return the edits with verdicts, and the chunks that are not simply kept.

        The difficulty of a chunk depends on the other systems: where these are unknown, the
        value is NaN unless nothing is weighed.
        """
        outputs = [segment, *(replace(segment, hypothesis=text) for text in self._company)]
        targets = read_targets(outputs, self._annotator().annotate)
        sentence = targets[0][0]
        gold = pieces(sentence.source, sentence.references.get(self.annotator, ()))
        systems = [pieces(sentence.source, changes) for _, changes in targets]
        of_outputs = [outcomes(gold, system) for system in systems]
        weights = difficulties(of_outputs, [1] * len(outputs), self._weigh)
        judged = of_outputs[0]
        plain = np.array(tally(gold, judged, [1.0] * len(gold)))
        parts = {f"unweighted_{name}": float(part) for name, part in _parts(plain).items()}
        known = self.weights == "none" or len(outputs) > 1
        sums = np.array(tally(gold, judged, weights))
        if known:
            parts = {name: float(part) for name, part in _parts(sums).items()} | parts
        return Explanation(
            value=float(self.value_of(sums)) if known else float("nan"),
            reason=None if known else "the weights need the outputs of all systems",
            parts=parts,
            chosen=self.annotator,
            edits=tuple(_judged(sentence.source, gold, systems[0], judged)),
            grids=(_grid(sentence.source, gold, judged, weights if known else None),),
        )

    def _annotator(self) -> Annotator:
        return annotator(self.pipeline, types=False)

    def _weigh(self, correct: int, systems: int) -> float:
        if self.weights == "none":
            return 1.0
        return self.a - (correct + self.b) / (systems + self.c)

    def _check_pool(self, lines: dict[ChunkedSentence, list[int]], copies: Sequence[int]) -> None:
        known = {number for sentence in lines for number in sentence.references}
        if lines and self.annotator not in known:
            raise UsageError(
                f"{self}: there is no annotator {self.annotator}",
                fix=f"There are {', '.join(map(str, sorted(known)))}.",
            )
        alone = all(sum(copies[x] for x in positions) < 2 for positions in lines.values())
        if lines and alone and self.weights == "difficulty":
            raise UsageError(
                "gotoscorer weighs chunks by how many systems have them right, and there is"
                " only one system",
                fix="Score several systems together, or use weights=none.",
            )


def outcomes(gold: Sequence[Piece], system: Sequence[Piece]) -> list[Outcome]:
    """Return what a system makes of each gold chunk (Gotou et al. 2020).

    A chunk with the same span and text is correct. Else it is wrong if any chunk of the system
    overlaps it, modified if one of these is an edit; an insertion overlaps the span it stands
    in or directly before, and an empty gold chunk meets nothing but the same empty span. What
    meets nothing is left alone, which is right unless gold has an edit.
    """
    by_span: dict[tuple[int, int], list[Piece]] = {}
    for piece in system:
        by_span.setdefault(piece[:2], []).append(piece)
    edits = [piece for piece in system if piece.edited]
    return [_outcome(piece, by_span.get(piece[:2], []), edits) for piece in gold]


def difficulties(
    of_outputs: Sequence[Sequence[Outcome]], copies: Sequence[int], weigh: Weigh
) -> list[float]:
    """Return the weight of each gold chunk of a sentence.

    Parameters
    ----------
    of_outputs
        For each distinct output, what it makes of each gold chunk.
    copies
        How many systems gave that output.
    weigh
        From the number of systems that are right and the number of all.
    """
    systems = sum(copies)
    columns = zip(*of_outputs, strict=True)
    return [
        weigh(sum(n for one, n in zip(column, copies, strict=True) if one.correct), systems)
        for column in columns
    ]


def tally(
    gold: Sequence[Piece], judged: Sequence[Outcome], weights: Sequence[float]
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


def _outcome(gold: Piece, same_span: Sequence[Piece], edits: Sequence[Piece]) -> Outcome:
    for piece in same_span:
        if piece.tokens == gold.tokens:
            return Outcome(piece.edited, correct=True)
    if gold.start == gold.end:
        modified = any(piece.edited for piece in same_span)
        return Outcome(modified, correct=not same_span and not gold.edited)
    return Outcome(any(_overlaps(edit, gold) for edit in edits), correct=False)


def _overlaps(edit: Piece, gold: Piece) -> bool:
    """Whether an edit overlaps a gold chunk that holds at least one token."""
    if edit.start == edit.end:
        return gold.start <= edit.start < gold.end
    return edit.start < gold.end and gold.start < edit.end


def _parts(sums: FloatArray) -> dict[str, FloatArray]:
    tp, fp, fn, tn, total = np.moveaxis(sums, -1, 0)
    return {
        "precision": ratio(tp, tp + fp),
        "recall": ratio(tp, tp + fn),
        "accuracy": ratio(tp + tn, total),
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "tn": tn,
    }


def _judged(
    source: Sequence[str],
    gold: Sequence[Piece],
    system: Sequence[Piece],
    judged: Sequence[Outcome],
) -> Iterator[JudgedEdit]:
    """Return the system's edits and the gold edits that it lacks, in the sentence's order."""
    right = {piece for piece, outcome in zip(gold, judged, strict=True) if outcome.correct}
    matched = {piece[:3] for piece in right}
    verdicts: dict[Piece, EditVerdict] = {p: "missed" for p in gold if p.edited and p not in right}
    for piece in system:
        if piece.edited:
            verdicts[piece] = "matched" if piece[:3] in matched else "spurious"
    for piece in sorted(verdicts):
        edit = Edit(piece.start, piece.end, " ".join(piece.tokens))
        yield JudgedEdit(edit, " ".join(source[piece.start : piece.end]), verdicts[piece])


def _grid(
    source: Sequence[str],
    gold: Sequence[Piece],
    judged: Sequence[Outcome],
    weights: Sequence[float] | None,
) -> Grid:
    """Show the chunks that are not simply kept; with their weights, where these are known."""
    shown = [("",)] * len(gold) if weights is None else [(f"{weight:.4f}",) for weight in weights]
    rows = tuple(
        (
            f"{piece.start}:{piece.end}",
            " ".join(source[piece.start : piece.end]),
            " ".join(piece.tokens),
            "yes" if modified else "no",
            "yes" if correct else "no",
            *(weight if weights else ()),
        )
        for piece, (modified, correct), weight in zip(gold, judged, shown, strict=True)
        if piece.edited or modified or not correct
    )
    columns = ("span", "source", "gold", "modified", "correct", *(("weight",) if weights else ()))
    return Grid("Gold chunks", columns, rows)
