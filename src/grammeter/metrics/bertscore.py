"""BERTScore and BARTScore: texts compared by the states or the likelihoods of a model."""

import hashlib
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from grammeter import core
from grammeter.alignment import gap, reference_slots
from grammeter.metrics.base import Grids, Metric, cited, grid_of
from grammeter.metrics.kinds import Asking, SentenceMean, best_slot, of_references
from grammeter.models import Likelihood, Request, Steps, TokenSimilarity

FIGURES = ("precision", "recall", "f1")
Direction = Literal[
    "source-to-hypothesis", "reference-to-hypothesis", "hypothesis-to-reference", "f"
]
_UNWEIGHED = "all tokens of a text weigh 0"


@dataclass(frozen=True, kw_only=True)
class BertScore(SentenceMean, Asking):
    """BERTScore; -1 to 1, in practice above 0; 1 for equal texts.

    - ``model``: the encoder: a folder, or a name on the hub.
    - ``layer``: whose states are compared, from 1; ``none``: the published one, for models
      without one three quarters of the depth.
    - ``idf``: whether rare tokens weigh more, by the inverse of their frequency in the reference
      texts of the run; else each weighs 1.
    - ``rescale``: whether figures are rescaled so that 0 is what the baseline has.
    - ``baseline``: a file ``LAYER,P,R,F`` with the mean figures of unrelated sentences; needed to
      rescale.
    - ``report``: which figure is the score.
    """

    name = "bertscore"
    bounds = (-math.inf, 1.0)
    title = "similarity of the tokens of hypothesis and reference in context (Zhang et al. 2020)"
    needs = "texts"
    after_counting = ("rescale", "baseline", "report")
    layered = True
    citation = cited("zhang-etal-2020-bertscore")

    _idf_of_corpus: ClassVar[tuple[str, ...] | None] = None  # texts, where a sentence is of one

    model: str = "bert-base-uncased"
    layer: int | None = None
    idf: bool = False
    rescale: bool = False
    baseline: str | None = None
    report: Literal["f1", "precision", "recall"] = "f1"

    def check_fields(self) -> None:
        """Refuse rescaling without a baseline, and a baseline without rescaling."""
        fix = "Use both: rescale=true, baseline=FILE; its lines LAYER,P,R,F are those measured for"
        fix += " the model, as the package bert-score has them."
        both = self.rescale == (self.baseline is not None)
        self.refuse_unless(both, "rescale", "baseline", fix=fix)

    @property
    def notice(self) -> str | None:
        """Raise at once if model, layer or baseline is missing."""
        if self.baseline is not None:
            self._base()
        return super().notice

    def settings(self) -> dict[str, object]:
        """Return layer, hash and number type of the model, and the baseline's hash."""
        used = super().settings()
        if self.baseline is not None:
            digest = hashlib.blake2b(_bytes(self.baseline), digest_size=8)
            used["baseline-hash"] = digest.hexdigest()
        return used

    def steps(self, segments: Sequence[core.Segment]) -> Steps[core.Statistics]:
        """Ask the encoder for each hypothesis and reference.

        Columns are ``precision recall f1``, not rescaled, NaN where all tokens of a text weigh 0,
        and ``truncated``: how many of the two texts were longer than the encoder takes.
        """
        present = reference_slots(segments)
        pairs = [(segment.hypothesis, text) for segment in segments for text in segment.texts]
        (figures,) = yield [Request(self.model, self._measure(segments), pairs)]
        rows = np.zeros((*present.shape, len(TokenSimilarity.columns)))
        rows[present] = figures  # both in the order of segments, then references
        return of_references(rows, present, TokenSimilarity.columns)

    def _measure(self, segments: Sequence[core.Segment]) -> TokenSimilarity:
        texts = (self._idf_of_corpus or core.reference_texts(segments)) if self.idf else None
        return TokenSimilarity(layer=self.used_layer, idf=texts)

    def within(self, surroundings: core.Surroundings) -> Metric:
        """Take the token frequencies from all lines."""
        texts = core.reference_texts(surroundings.segments) if self.idf else None
        return self.bound(_idf_of_corpus=texts)

    def sentences(self, statistics: core.Statistics) -> core.SegmentScores:
        """Take the maximum over references, of precision, recall and f1 separately.

        The chosen reference is the first of those with the best value; ``truncated`` counts the
        texts that were cut, against the reference where they are most.
        """
        figures = self._figures(statistics)
        reported = figures[..., FIGURES.index(self.report)]
        best = np.fmax.reduce(figures, axis=1, initial=-np.inf)
        best[np.isinf(best)] = np.nan
        parts = {name: best[:, at] for at, name in enumerate(FIGURES)}
        cut = statistics.rows[..., -1].max(axis=1, initial=0).astype(np.int64)
        chosen = best_slot(reported, ~np.isnan(reported))
        reason = gap(statistics.present) or (_UNWEIGHED if np.isnan(best).any() else None)
        return core.SegmentScores(parts[self.report], chosen, {**parts, "truncated": cut}, reason)

    def tables(self, segment: core.Segment, statistics: core.Statistics, chosen: int) -> Grids:
        """Show figures, as counted, and matches; ``idf`` is of this sentence unless in a corpus."""
        yield from super().tables(segment, statistics, chosen)
        if chosen >= 0:
            yield from self._match_grids(segment, chosen)

    def _match_grids(self, segment: core.Segment, chosen: int) -> Grids:
        """Show each token's most similar one of the other text; special tokens weigh nothing."""
        from grammeter.models import current, find_model, token_cosines

        pair = segment.hypothesis, segment.references[chosen] or ""
        tokens = token_cosines(find_model(self.model), self._measure([segment]), pair, current())
        names = "output", f"reference {chosen}"
        for side, cosines in enumerate((tokens.cosines, tokens.cosines.T)):
            one, other = names[side], names[1 - side]
            best, weights = cosines.argmax(axis=1), np.array(tokens.weights[side])
            columns: dict[str, Any] = {
                one: tokens.tokens[side],
                f"most similar in {other}": [tokens.tokens[1 - side][at] for at in best],
                "cosine": cosines.max(axis=1),
                "weight": weights,
            }
            yield grid_of(f"Tokens of {one}", columns, weights != 0)

    def _figures(self, statistics: core.Statistics) -> core.FloatArray:
        figures = np.where(statistics.present[..., None], statistics.rows[..., :3], np.nan)
        if self.baseline is None:
            return figures
        base = np.array(self._base())
        return (figures - base) / (1 - base)

    def _base(self) -> tuple[float, ...]:
        # stored scores may be read where the model is not, which only a default layer needs
        return read_baseline(self.baseline or "", self.layer or self.used_layer or 0)


def read_baseline(path: str, layer: int) -> tuple[float, float, float]:
    """Read what unrelated sentences have of precision, recall and f1 at a layer."""
    lines = _bytes(path).decode("utf-8-sig", "replace").splitlines()
    rows = [[cell.strip() for cell in line.split(",")] for line in lines]
    at = next((n for n, row in enumerate(rows) if row[0] == str(layer) and len(row) == 4), 0)
    with suppress(ValueError):
        p, r, f = map(float, rows[at][1:] if at else ())
        if rows[0] == ["LAYER", "P", "R", "F"] and all(-1 <= value < 1 for value in (p, r, f)):
            return p, r, f
    fault = f"no baseline for layer {layer}: a line LAYER,P,R,F, and one of three numbers below 1"
    fix = "Name the file that was made for this model, as the package bert-score has it."
    raise core.DataError(fault, where=f"{path}:{at + 1}", fix=fix)


def _bytes(path: str) -> bytes:
    file = core.expanded(path)
    with core.disk_faults(file, "Check the path of the baseline.", "cannot be read"):
        return file.read_bytes()


@dataclass(frozen=True, kw_only=True)
class BartScore(SentenceMean, Asking):
    """BARTScore, the mean log-likelihood of a text's tokens given another text; 0 at most.

    - ``model``: an encoder and decoder: a folder, or a name on the hub.
    - ``direction``: which text is given, and which one is measured: ``source-to-hypothesis``
      (faithfulness), ``reference-to-hypothesis`` (precision), ``hypothesis-to-reference`` (recall),
      or ``f``, the mean of the last two.
    - ``references``: of several references, the ``mean`` or the ``max``; of ``f`` the greatest F.
    """

    name = "bartscore"
    bounds = (-math.inf, 0.0)
    title = (
        "log-likelihood of the hypothesis given the source, or with references (Yuan et al. 2021)"
    )
    needs = "nothing"
    after_counting = ("references",)
    citation = cited("yuan-etal-2021-bartscore")

    model: str = "facebook/bart-base"
    direction: Direction = "source-to-hypothesis"
    references: Literal["mean", "max"] = "mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._by_source:  # the class speaks of the default
            object.__setattr__(self, "needs", "texts")

    @property
    def _by_source(self) -> bool:
        return self.direction == "source-to-hypothesis"

    def settings(self) -> dict[str, object]:
        """Return the model's hash and how many tokens of a text are read."""
        return {**super().settings(), "max-tokens": Likelihood().limit}

    @property
    def figures(self) -> tuple[str, ...]:
        """The log-likelihoods whose mean is the score against one text."""
        return ("precision", "recall") if self.direction == "f" else ("likelihood",)

    def steps(self, segments: Sequence[core.Segment]) -> Steps[core.Statistics]:
        """Ask the model, each direction against each reference.

        Columns are ``likelihood``, with ``f`` ``precision`` and ``recall``; and ``truncated``,
        whether only a part of a text was read. Against the source there is one slot.
        """
        if self._by_source:
            present = np.ones((len(segments), 1), dtype=np.bool_)
            pairs = [(segment.source, segment.hypothesis) for segment in segments]
        else:
            present = reference_slots(segments)
            pairs = [(text, segment.hypothesis) for segment in segments for text in segment.texts]
        back = [(hypothesis, text) for text, hypothesis in pairs]
        asked = {"f": [pairs, back], "hypothesis-to-reference": [back]}.get(self.direction, [pairs])
        figures = yield [Request(self.model, Likelihood(), of_figure) for of_figure in asked]
        columns = (*self.figures, "truncated")
        rows = np.zeros((*present.shape, len(columns)))
        for column, answers in enumerate(figures):
            rows[present, column] = answers[:, 0]  # both in the order of segments, then slots
            rows[present, -1] = answers[:, 1] > 0
        return of_references(rows, present, columns)

    def sentences(self, statistics: core.Statistics) -> core.SegmentScores:
        """Score by the mean or best reference; parts ``truncated``, and P and R of ``f``."""
        present, chosen = statistics.present, self._chosen(statistics)[:, None]
        taken = np.where(chosen < 0, present, np.arange(statistics.slots) == chosen)
        weights = taken / np.maximum(taken.sum(axis=1, keepdims=True), 1)
        figures = (statistics.rows[..., :-1] * weights[..., None]).sum(axis=1)
        there = present.any(axis=1)
        figures[~there] = np.nan
        shown = self.figures if self.direction == "f" else ()
        truncated = np.asarray((statistics.rows[..., -1] > 0).any(axis=1), dtype=np.int64)
        parts = {name: figures[:, at] for at, name in enumerate(shown)} | {"truncated": truncated}
        reason = "the model gave no number" if there.all() else "no reference"
        return core.SegmentScores(figures.mean(axis=1), chosen[:, 0], parts, reason)

    def _chosen(self, statistics: core.Statistics) -> core.IntArray:
        if self._by_source or self.references == "mean":
            return np.full(len(statistics), -1, dtype=np.int64)
        return best_slot(statistics.rows[..., :-1].mean(axis=-1), statistics.present)
