"""PT-M2 and PT-ERRANT: M2 and ERRANT with edits that a pretrained model weighs."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from grammeter import core, errant
from grammeter.alignment import Proposal, segment_edits, weights
from grammeter.metrics import base, edit_f, kinds, m2
from grammeter.models import Likelihood, Request, Steps, TokenSimilarity, run_together

MODELS = {"bertscore": "bert-base-uncased", "bartscore": "facebook/bart-base"}
"""The default models by scorer."""

_COUNTS = slice(len(weights.WEIGHTS), len(weights.WEIGHTS) + len(weights.COUNTS))
Compared = Mapping[int, tuple[Mapping[Proposal, str], Iterable[core.Edit]]]
"""A hypothesis' edits with their types, and the annotator's, by annotator."""

_WEIGHTLESS, _CUT = -2, -1
_M2 = m2.M2()
_RULES = errant.Rules()


@dataclass(frozen=True, kw_only=True)
class Weighted(edit_f.EditF, kinds.Asking):
    """Base of F-measures in which each edit counts as much as it moves the sentence.

    - ``scorer``: what tells how close a sentence is to the reference: ``bertscore`` (F),
      ``bartscore`` (the sentence, given the reference), or ``self``: each edit weighs 1.
    - ``model``: a folder, or a name on the hub; ``none`` is ``bert-base-uncased`` for
      ``bertscore``, ``facebook/bart-base`` for ``bartscore``.
    - ``layer``, ``idf``: of ``bertscore``, as for that metric.
    - ``beta``: weight of recall in F; 0.5 prefers precision.
    - ``inverse``: whether weights are inverted, so that edits count more the less they move.
    """

    citation = base.cited("gong-etal-2022-revisiting")
    resampling = "annotators fixed"
    reference = "annotator"
    layered = True
    after_counting = ("beta", "aggregation")
    lacking = "the model gave no number"
    _idf_of_corpus: ClassVar[tuple[str, ...] | None] = None  # texts, where a sentence is of one

    beta: m2.M2Beta = 0.5
    scorer: Literal["bertscore", "bartscore", "self"] = "bertscore"
    model: str | None = None
    layer: int | None = None
    idf: bool = False
    inverse: bool = False

    def check_fields(self) -> None:
        """Refuse options that the scorer has no use for."""
        options = {"model": self.model, "layer": self.layer, "idf": self.idf or None}
        used = {"bertscore": {*options}, "bartscore": {"model"}, "self": set[str]()}[self.scorer]
        for option, value in options.items():
            if value is not None and option not in used:
                fault = f"{self.name}: scorer={self.scorer} has no use for {option}"
                raise core.UsageError(fault, fix=f"Leave {option} out, or use scorer=bertscore.")

    def models(self) -> Mapping[str, str]:
        """Return the model that weighs the edits, if any."""
        return {} if self.scorer == "self" else {"model": self.model or MODELS[self.scorer]}

    @property
    def used_layer(self) -> int | None:
        """The layer whose states are compared, from 1; ``None`` if none are."""
        return super().used_layer if self.scorer == "bertscore" else None

    def settings(self) -> dict[str, object]:
        """Return the tokenisation; model and layer in use, hash and number type."""
        shown = super().settings()
        return {"tok": shown["tok"], **self.models(), **shown}

    @abstractmethod
    def compared(self, segments: Sequence[core.Segment], *, types: bool) -> Iterator[Compared]:
        """Yield each segment's proposed edits, with their types, and an annotator's, by number."""

    def unions(
        self, segments: Sequence[core.Segment], *, types: bool
    ) -> list[dict[int, weights.Union]]:
        """Return the edits of each segment and annotator; with error types, if wanted."""
        compared = core.track(self.compared(segments, types=types), self.name, len(segments))
        return [
            {n: weights.united(segment.source.split(), *edits) for n, edits in by_number.items()}
            for segment, by_number in zip(segments, compared, strict=True)
        ]

    def steps(self, segments: Sequence[core.Segment]) -> Steps[core.Statistics]:
        """Ask for all weights at once; columns are :data:`~grammeter.alignment.weights.COLUMNS`."""
        return _statistics((yield from self.weigh(segments)))

    def weigh(
        self, segments: Sequence[core.Segment], *, types: bool = False
    ) -> Steps[list[dict[int, weights.Weighed]]]:
        """Ask for all weights at once; return those of each segment, by annotator."""
        weights.check_references(segments)
        unions = self.unions(segments, types=types)
        if self.scorer == "self":
            alike = weights.Weighed
            return [{n: alike(u, [1.0] * len(u.members)) for n, u in by.items()} for by in unions]
        pairs = [pair for by in unions for union in by.values() for pair in union.pairs()]
        if self.scorer == "bartscore":
            measure, pairs = Likelihood(), [(reference, text) for text, reference in pairs]
        else:
            measure = TokenSimilarity(layer=self.used_layer, idf=self._idf_texts(segments, unions))
        (figures,) = yield [Request(self.models()["model"], measure, pairs)]
        rest = iter(figures[:, -2:].tolist())  # the last columns are the score and "truncated"

        def weighed(union: weights.Union) -> weights.Weighed:
            answers = [next(rest) for _ in union.pairs()]
            return weights.Weighed.of(union, answers, inverse=self.inverse)

        return [{number: weighed(union) for number, union in by.items()} for by in unions]

    def _idf_texts(
        self, segments: Sequence[core.Segment], unions: Sequence[Mapping[int, weights.Union]]
    ) -> tuple[str, ...] | None:
        if not self.idf or self._idf_of_corpus:
            return self._idf_of_corpus
        of_lines = {id(segment.gold): by for segment, by in zip(segments, unions, strict=True)}
        return core.reference_texts(segments) or tuple(
            sorted(union.reference for by in of_lines.values() for union in by.values())
        )

    def within(self, surroundings: core.Surroundings) -> base.Metric:
        """Take the token frequencies from all lines."""
        if not self.idf:
            return self
        segments = surroundings.segments
        texts = core.reference_texts(segments)
        unions = [] if texts else self.unions(segments, types=False)
        return self.bound(_idf_of_corpus=texts or self._idf_texts(segments, unions))

    def counts(self, statistics: core.Statistics) -> core.Statistics:
        """Return the weights; equal ones where, alone, no edit of a sentence weighs anything."""
        rows = statistics.rows[..., : len(weights.WEIGHTS)]
        if self._falls_back:
            *numbers, edits, weightless = np.moveaxis(statistics.rows[..., _COUNTS], -1, 0)
            shares = np.stack(numbers, axis=-1) / np.maximum(edits, 1)[..., None]
            alike = (weightless == edits) & ~np.isnan(rows[..., 0])
            rows = np.where(alike[..., None], shares, rows)
        return core.Statistics(rows, statistics.present, statistics.labels, weights.WEIGHTS)

    @property
    def _falls_back(self) -> bool:
        return not self.in_turn

    def further(
        self, statistics: core.Statistics, slots: core.IntArray
    ) -> dict[str, core.IntArray]:
        """Return ``truncated`` and, of inverse weights, how many edits have none: they weigh 0."""
        cut = np.asarray((statistics.rows[..., _CUT] > 0).any(axis=1), dtype=np.int64)
        if not self.inverse:
            return {"truncated": cut}
        weightless = edit_f.chosen_rows(statistics, slots)[:, _WEIGHTLESS]
        return {"truncated": cut, "uninverted": weightless.astype(np.int64)}

    def explain(self, segment: core.Segment) -> core.Explanation:
        """Return the edits with what they weigh against the chosen annotator, and all sums."""
        (weighed,) = run_together([self.weigh([segment], types=True)])
        return self.explained_by(
            _statistics(weighed),
            lambda number: weighed[0][number].judged(alike=self._falls_back),
        )


def _statistics(weighed: Iterable[Mapping[int, weights.Weighed]]) -> core.Statistics:
    """Return the rows of :data:`weights.COLUMNS`; a segment's weights are all NaN if one is."""
    rows = [{number: one.row() for number, one in by.items()} for by in weighed]
    counted = kinds.by_label(rows, weights.COLUMNS, np.float64)
    sums = counted.rows[..., : len(weights.WEIGHTS)]
    odd = np.isnan(sums).any(axis=(1, 2), keepdims=True)
    np.copyto(sums, np.nan, where=odd & counted.present[..., None])
    return counted


@dataclass(frozen=True, kw_only=True)
class PTM2(Weighted):
    """M2 with weighed edits, those of M2's defaults by annotator; fields: :class:`Weighted`."""

    name = "pt-m2"
    title = "M2 with edits weighed by a pretrained model (Gong et al. 2022)"
    counted_as = name
    needs = "gold"

    def settings(self) -> dict[str, object]:
        """Return the tokenisation, the options of M2, and what weighs the edits."""
        return {**super().settings(), "max-unchanged": _M2.max_unchanged, "row0": _M2.row0}

    def compared(self, segments: Sequence[core.Segment], *, types: bool) -> Iterator[Compared]:
        """Yield the edits that agree best with each annotator's, and the annotator's edits."""
        for segment in segments:
            if not segment.gold:
                fix = "Write {0: ()} for an annotator who found nothing to correct."
                raise core.DataError(f"no gold edits for {segment.source[:40]!r}", fix=fix)
            proposed = _M2.edits(segment).items()
            yield {n: (dict.fromkeys(edits, ""), segment.gold[n]) for n, edits in proposed}


@dataclass(frozen=True, kw_only=True)
class SentPTM2(edit_f.SentenceF, PTM2):
    """Mean over sentences of F against each one's best annotator; fields: :class:`Weighted`."""

    name = "sent-pt-m2"
    title = "mean of sentence-level PT-M2 F-measures (Gong et al. 2022)"


@dataclass(frozen=True, kw_only=True)
class PTErrant(kinds.Extracting, Weighted):
    """ERRANT with weighed edits.

    Gold edits are used as they stand, but those of the type ``UNK``; where there are none, edits
    are extracted from the reference texts. The fields are those of :class:`Weighted` and:

    - ``pipeline``: a spaCy pipeline by name or folder; ``none`` takes the best one that is
      installed.
    - ``aggregation``: how a reference is chosen: ``released``, as for PT-M2; ``gec-metrics``, as
      that package does: ties are decided by true positives, false positives, false negatives, and a
      sentence whose edits all weigh nothing has no edits.
    """

    name = "pt-errant"
    title = "ERRANT with edits weighed by a pretrained model (Gong et al. 2022)"
    counted_as = name
    needs = "gold or texts"

    pipeline: str | None = None
    aggregation: Literal["released", "gec-metrics"] = "released"

    def compared(self, segments: Sequence[core.Segment], *, types: bool) -> Iterator[Compared]:
        """Yield the extracted edits, and those of each annotator or reference."""
        edits = segment_edits(segments, self.extractor(types=types).annotate)
        for segment, (extracted, gold) in zip(segments, edits, strict=True):
            counted = filter(_RULES.counts, extracted)
            proposed = weights.as_proposals(segment.source.split(), counted)
            yield {n: (proposed, filter(_RULES.counts, of_one)) for n, of_one in gold.items()}

    @property
    def _falls_back(self) -> bool:
        return super()._falls_back and self.aggregation == "released"

    def _best(self, counts: core.Statistics, *, running: bool) -> core.IntArray:
        if self.aggregation == "released":
            return super()._best(counts, running=running)
        return edit_f.errant_choice(counts, self.beta, digits=None, running=running)


@dataclass(frozen=True, kw_only=True)
class SentPTErrant(edit_f.SentenceF, PTErrant):
    """Mean over sentences of F against each one's best reference; fields: :class:`PTErrant`."""

    name = "sent-pt-errant"
    title = "mean of sentence-level PT-ERRANT F-measures (Gong et al. 2022)"
