"""MAEGE: does a metric order partial corrections by the number of gold edits applied?

Needs no human judgments (Choshen & Abend 2018, "Automatic Metric Validation for Grammatical Error
Correction"; used by Maeda et al. 2022, section 3). Texts come from
:mod:`grammeter.meta.partial_outputs`; metrics are handed in as objects.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol, get_args

import numpy as np

from grammeter.core.edit import GoldEdits
from grammeter.core.errors import UnknownNameError, UsageError
from grammeter.core.score import Score, json_number
from grammeter.core.segment import Segment
from grammeter.core.signature import Signature
from grammeter.core.statistics import FloatArray, IntArray, SegmentScores, Statistics
from grammeter.edits.partial import appliable, partial_text
from grammeter.meta.partial_outputs import (
    Chain,
    Given,
    Line,
    PartialOutputs,
    Pseudo,
    partial_outputs,
)
from grammeter.stats.correlation import Result, correlate

KIND = "meta-maege"

Ties = Literal["half", "concordant", "drop"]
"""Pairs that the metric ties: half right, half wrong; right (the public program with a stable
sort); left out."""

Target = Literal["nominal", "applied"]
"""What scores of corpora are correlated with: the nominal mean number of edits, or the mean number
that was in fact applied."""

Against = Literal["others", "all", "given"]
"""What a metric holds a text against: the edits of the annotators other than its own; those of
all annotators, its own too; the reference texts that were given."""


class Scorer(Protocol):
    """What is asked of a metric; :class:`grammeter.Metric` has it all."""

    @property
    def needs(self) -> str: ...  # noqa: D102
    @property
    def higher_is_better(self) -> bool: ...  # noqa: D102
    def pooled_statistics(  # noqa: D102
        self, segments: Sequence[Segment], copies: Sequence[int]
    ) -> Statistics: ...
    def score(self, statistics: Statistics) -> Score: ...  # noqa: D102
    def sentences(self, statistics: Statistics) -> SegmentScores: ...  # noqa: D102
    def signature(self, context: Mapping[str, object] | None = None) -> Signature: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True)
class Design:
    """How metrics are measured.

    Attributes
    ----------
    seed
        Of all draws.
    max_orders
        Random orders for each annotator's edits.

    Raises
    ------
    UsageError
        If a number is out of range.
    UnknownNameError
        If a rule does not exist.
    """

    seed: int = 1
    max_orders: int = 1
    pseudo: Pseudo = "released"
    ties: Ties = "half"
    target: Target = "nominal"
    given: Given = "source"
    against: Against = "others"

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**32:
            raise UsageError(f"seed {self.seed}", fix="It lies in 0 to 4294967295.")
        if self.max_orders < 1:
            raise UsageError(f"{self.max_orders} orders", fix="Take 1 at least.")
        rules = {"pseudo": Pseudo, "ties": Ties, "target": Target}
        for name, allowed in (rules | {"given": Given, "against": Against}).items():
            if getattr(self, name) not in get_args(allowed):
                raise UnknownNameError(f"rule for {name}", getattr(self, name), get_args(allowed))


@dataclass(frozen=True)
class ChainResult:
    """Kendall's tau-a over all pairs of texts inside chains.

    ``kendall`` and the two-sided ``pvalue`` are NaN, with a ``reason``, where there is no pair or
    a text has no score; ``ties`` are the pairs that the metric ties. The p-value takes pairs as
    independent, which those of one chain are not: it is too small.
    """

    kendall: float
    pvalue: float
    concordant: int
    discordant: int
    ties: int
    reason: str | None = None


@dataclass(frozen=True)
class MetricResult:
    """What MAEGE says of one metric.

    Attributes
    ----------
    signature
        The metric's own.
    values
        Shape ``(11,)``: its scores of the corpora, in its units.
    corpus, sentence
        ``pearson`` and ``spearman``: over the corpora, and over all texts of all chains.
    sentences, lines
        How many sentences have chains, and how many lines a corpus has: less than there are
        where a text has nothing that it may be held against.
    texts
        How many distinct ones were scored.
    """

    signature: Signature
    values: FloatArray
    corpus: Mapping[str, Result]
    sentence: Mapping[str, Result]
    chain: ChainResult
    sentences: int
    lines: int
    texts: int

    def to_json(self) -> dict[str, Any]:
        """Return the public shape; NaN becomes ``null``, ``reasons`` say why."""
        chain = asdict(self.chain)
        chain.pop("reason")
        results = {"corpus": [*self.corpus.values()], "sentence": [*self.sentence.values()]}
        reasons = {part: found[0].reason for part, found in results.items() if found[0].reason}
        if self.chain.reason:
            reasons["chain"] = self.chain.reason
        return {
            "signature": str(self.signature),
            "corpus": _level(self.corpus) | {"values": [json_number(v) for v in self.values]},
            "sentence": _level(self.sentence) | {"n": self.sentence["pearson"].n},
            "chain": {name: json_number(value) for name, value in chain.items()},
            "sentences": self.sentences,
            "lines": self.lines,
            "texts": self.texts,
            **({"reasons": reasons} if reasons else {}),
        }


@dataclass(frozen=True)
class Maege(Mapping[str, MetricResult]):
    """Results by metric, and what they rest on.

    Attributes
    ----------
    target
        Shape ``(11,)``: what scores of the corpora are correlated with.
    applied
        Shape ``(11,)``: mean number of edits applied in each corpus.
    dropped
        How many sentences have no chains, by reason.
    """

    design: Design
    signature: Signature
    metrics: Mapping[str, MetricResult]
    target: FloatArray
    applied: FloatArray
    dropped: Mapping[str, int] = field(default_factory=dict[str, int])

    def __getitem__(self, spelling: str) -> MetricResult:
        if spelling not in self.metrics:
            raise UnknownNameError("metric in these results", spelling, self.metrics)
        return self.metrics[spelling]

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def to_json(self) -> dict[str, Any]:
        """Return the public shape."""
        return {
            "kind": KIND,
            "signature": str(self.signature),
            **asdict(self.design),
            "target_values": [json_number(value) for value in self.target],
            "applied": [json_number(value) for value in self.applied],
            "dropped": dict(self.dropped),
            "metrics": {name: result.to_json() for name, result in self.metrics.items()},
        }


def maege(
    sources: Sequence[str],
    gold: Sequence[GoldEdits],
    metrics: Mapping[str, Scorer],
    *,
    references: Sequence[Sequence[str | None]] = (),
    design: Design | None = None,
) -> Maege:
    """Measure metrics on partial corrections.

    Parameters
    ----------
    sources, gold
        Texts, and the edits of each sentence by annotator.
    metrics
        By spelling. Of a metric of which less is better the negative is correlated.
    references
        Shape ``[references][sentences]``, for ``against="given"``.

    Raises
    ------
    UsageError
        If there are no gold edits or metrics, or a metric needs what the design does not give it.
    """
    design = design or Design()
    _check(gold, metrics, references, design)
    outputs = partial_outputs(
        sources,
        gold,
        seed=design.seed,
        max_orders=design.max_orders,
        pseudo=design.pseudo,
        given=design.given,
    )
    applied = np.array([np.mean([line.applied for line in c] or [np.nan]) for c in outputs.corpora])
    target = applied if design.target == "applied" else np.arange(len(applied), dtype=np.float64)
    held = _Held(sources, gold, references, design)
    return Maege(
        design,
        _signature(design, outputs),
        {name: _measured(metric, outputs, held, target) for name, metric in metrics.items()},
        target,
        applied,
        outputs.dropped,
    )


def chain_result(chains: Sequence[FloatArray], ties: Ties) -> ChainResult:
    """Count pairs inside chains whose scores should ascend.

    With d discordant pairs of N, tau is 1 - 2 d / N and z = 2 d / sqrt(N) - sqrt(N). A tie adds
    a half to d (``half``), nothing (``concordant``), or is taken from N (``drop``).
    """
    if any(not np.isfinite(scores).all() for scores in chains):
        return ChainResult(math.nan, math.nan, 0, 0, 0, "some texts have no score")
    up, down, equal = (sum(each) for each in zip((0, 0, 0), *map(_pairs, chains), strict=True))
    pairs = up + down + (0 if ties == "drop" else equal)
    if not pairs:
        return ChainResult(math.nan, math.nan, up, down, equal, "no pair of texts to compare")
    wrong = down + (equal / 2 if ties == "half" else 0)
    z = 2 * wrong / math.sqrt(pairs) - math.sqrt(pairs)
    pvalue = math.erfc(abs(z) / math.sqrt(2))
    return ChainResult(1 - 2 * wrong / pairs, pvalue, up, down, equal)


def _pairs(scores: FloatArray) -> tuple[int, int, int]:
    first, second = np.triu_indices(len(scores), k=1)
    order = np.sign(scores[second] - scores[first])
    return int((order > 0).sum()), int((order < 0).sum()), int((order == 0).sum())


def _check(
    gold: Sequence[GoldEdits],
    metrics: Mapping[str, Scorer],
    references: Sequence[Sequence[str | None]],
    design: Design,
) -> None:
    if not gold:
        raise UsageError("no gold edits", fix="Give an .m2 file with -r.")
    if not metrics:
        raise UsageError("no metric", fix="Name one at least; 'grammeter list' shows them.")
    needy = [name for name, metric in metrics.items() if metric.needs == "gold"]
    if needy and design.given != "source":
        raise UsageError(
            f"{needy[0]} needs gold edits, and they are edits of the source sentence",
            fix="Leave given (--given) at source, or leave this metric out.",
        )
    if needy and design.against == "given":
        raise UsageError(
            f"{needy[0]} needs gold edits, not texts", fix="Choose others or all (--against)."
        )
    if design.against == "given" and not references:
        raise UsageError("no reference texts were given", fix="Give them with -r beside the M2.")


class _Held:
    """What a text is held against: references and gold edits, one object for equal ones."""

    def __init__(
        self,
        sources: Sequence[str],
        gold: Sequence[GoldEdits],
        references: Sequence[Sequence[str | None]],
        design: Design,
    ) -> None:
        self._sources = sources
        self._gold = gold
        self._texts = references
        self._design = design
        self._known: dict[tuple[int, int], Segment] = {}

    def segment(self, item: Chain | Line, needs: str) -> Segment | None:
        """Return a segment without hypothesis; None where there is nothing to hold it against."""
        if needs == "nothing":
            return Segment(item.given, "")
        left_out = item.annotator if self._design.against == "others" else -1
        key = (item.sentence, left_out)
        if key not in self._known:
            self._known[key] = self._make(item.sentence, left_out)
        made = self._known[key]
        if not made.texts:
            return None
        return Segment(item.given, "", made.references, made.gold)

    def _make(self, sentence: int, left_out: int) -> Segment:
        source = self._sources[sentence]
        if self._design.against == "given":
            return Segment(source, "", tuple(column[sentence] for column in self._texts))
        kept = [own for annotator, own in self._gold[sentence].items() if annotator != left_out]
        texts = tuple(partial_text(source.split(), appliable(own)).strip() for own in kept)
        # numbered anew: a metric that takes one annotator by number takes one who is there
        gold: GoldEdits = dict(enumerate(kept)) if self._design.given == "source" else {}
        return Segment(source, "", texts, gold)


class _Pool:
    """The distinct segments of all chains and corpora, and how often each is there."""

    def __init__(self, held: _Held, needs: str) -> None:
        self._held = held
        self._needs = needs
        self.segments: list[Segment] = []
        self.copies: list[int] = []
        self._known: dict[tuple[object, ...], int] = {}

    def add(self, item: Chain | Line, texts: Sequence[str]) -> list[int] | None:
        """Return the positions of an item's texts; None where it cannot be scored."""
        shape = self._held.segment(item, self._needs)
        return None if shape is None else [self._position(shape, text) for text in texts]

    def _position(self, shape: Segment, text: str) -> int:
        # the references are known by identity: equal ones are one object
        key = (shape.source, text, id(shape.references) if shape.references else 0)
        position = self._known.setdefault(key, len(self.segments))
        if position == len(self.segments):
            self.segments.append(Segment(shape.source, text, shape.references, shape.gold))
            self.copies.append(0)
        self.copies[position] += 1
        return position


def _measured(
    metric: Scorer, outputs: PartialOutputs, held: _Held, target: FloatArray
) -> MetricResult:
    pool = _Pool(held, metric.needs)
    placed = [(chain, pool.add(chain, chain.texts)) for chain in outputs.chains]
    chains = [(chain, at) for chain, at in placed if at is not None]
    corpora = [[pool.add(line, [line.text]) for line in lines] for lines in outputs.corpora]
    rows = [np.array([at[0] for at in found if at], dtype=np.int64) for found in corpora]
    sign = 1 if metric.higher_is_better else -1
    values, nodes = np.full(len(rows), np.nan), np.zeros(0)
    if pool.segments:
        statistics = metric.pooled_statistics(pool.segments, pool.copies)
        values = np.array([metric.score(statistics.take(own)).value for own in rows])
        nodes = _alone(metric, statistics, [at for _, at in chains])
    worth = np.concatenate([chain.worth for chain, _ in chains] or [np.zeros(0)])
    cuts = np.cumsum([len(at) for _, at in chains])[:-1]
    return MetricResult(
        signature=metric.signature(),
        values=values,
        corpus=_correlated(sign * values, target),
        sentence=_correlated(sign * nodes, worth),
        chain=chain_result(np.split(sign * nodes, cuts) if chains else [], held.ties),
        sentences=len({chain.sentence for chain, _ in chains}),
        lines=len(rows[0]),
        texts=len(pool.segments),
    )
