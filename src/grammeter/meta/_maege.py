"""MAEGE: whether a metric orders partial corrections by the number of gold edits applied.

Needs no human judgments (Choshen & Abend 2018, "Automatic Metric Validation for Grammatical Error
Correction"; used by Maeda et al. 2022, section 3). Texts come from
:mod:`grammeter.meta.partial`; metrics are handed in as objects, and score each distinct text once.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from grammeter import core, stats
from grammeter.meta import partial
from grammeter.metrics import Metric
from grammeter.stats import Result as Coefficient

KIND = "meta-maege"


@dataclass(frozen=True)
class ChainResult:
    """Kendall's tau-a over all pairs of texts inside chains; ``ties`` are those of the metric.

    ``kendall`` and the two-sided ``pvalue`` are NaN, with a ``reason``, where there is no pair or a
    text has no score. The p-value takes the pairs of a chain as independent: it is too small.
    """

    kendall: float
    pvalue: float
    concordant: int
    discordant: int
    ties: int
    reason: str | None = None

    @property
    def tie_share(self) -> float:
        """The share of pairs that the metric ties; NaN without a pair."""
        pairs = self.concordant + self.discordant + self.ties
        return self.ties / pairs if pairs else math.nan


@dataclass(frozen=True)
class MetricResult:
    """What MAEGE says of one metric; ``values``, shape ``(11,)``, are its scores of the corpora.

    ``corpus`` and ``sentence`` have ``pearson`` and ``spearman`` over the corpora, and over all
    texts of all chains. ``sentences`` have chains, a corpus has so many ``lines``: less than there
    are where a text has nothing that it may be held against; ``texts`` are the distinct ones
    scored.
    """

    signature: core.Signature
    values: core.FloatArray
    corpus: Mapping[str, Coefficient]
    sentence: Mapping[str, Coefficient]
    chain: ChainResult
    sentences: int
    lines: int
    texts: int

    @property
    def reasons(self) -> dict[str, str]:
        """Why a level has no value, by level."""
        levels = {level: getattr(self, level)["pearson"].reason for level in ("corpus", "sentence")}
        return {level: why for level, why in (levels | {"chain": self.chain.reason}).items() if why}

    def rows(self) -> list[tuple[str, str, float, float]]:
        """Return level, name of the statistic, value and p-value of all five."""
        rows = [(level, kind, result.statistic, result.pvalue)
                for level, results in (("corpus", self.corpus), ("sentence", self.sentence))
                for kind, result in results.items()]  # fmt: skip
        return [*rows, ("chain", "kendall", self.chain.kendall, self.chain.pvalue)]

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape; NaN becomes ``null``, ``reasons`` say why."""
        shape: dict[str, Any] = {
            "signature": self.signature,
            "corpus": _level(self.corpus) | {"values": self.values},
            "sentence": _level(self.sentence) | {"n": self.sentence["pearson"].n},
            "chain": core.plain(replace(self.chain, reason=None))
            | {"tie_share": self.chain.tie_share},
            **{name: getattr(self, name) for name in ("sentences", "lines", "texts")},
        }
        return core.plain(shape | ({"reasons": self.reasons} if self.reasons else {}))


@dataclass(frozen=True, repr=False)
class Maege(core.Result, core.Named[MetricResult], over="metrics", what="metric in these results"):
    """Results by metric, and what they rest on.

    ``target`` is what scores of the corpora are correlated with, ``applied`` the mean number of
    edits applied in each: shape ``(11,)``. ``dropped`` sentences, by reason, have no chains.
    """

    design: partial.MaegeDesign
    signature: core.Signature
    metrics: Mapping[str, MetricResult]
    target: core.FloatArray
    applied: core.FloatArray
    dropped: Mapping[str, int] = field(default_factory=dict[str, int])
    notes: tuple[str, ...] = ()

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a row for each metric; for programs, for each of its figures."""
        if long:
            rows = [(name, *row) for name, metric in self.items() for row in metric.rows()]
            figures = (core.Column("value", "number"), core.Column("pvalue", "pvalue"))
            return [core.Table.of(("metric", "level", "statistic", *figures), rows)]
        heads = ("corpus r", "corpus rho", "sentence r", "sentence rho", "chain tau")
        columns = core.Column.many("number", *heads, best="high")
        rows = [(name, *(value for _, _, value, _ in metric.rows()), metric.chain.tie_share)
                for name, metric in self.items()]  # fmt: skip
        ties = core.Column("ties", "share")
        return [core.Table.of(("metric", *columns, ties), rows, self._remarks())]

    def _remarks(self) -> Iterator[str]:
        yield str(self.signature)
        yield f"mean edits applied in the corpora: {' '.join(f'{x:.2f}' for x in self.applied)}"
        dropped = [f"{count} {reason}" for reason, count in self.dropped.items() if count]
        if dropped:
            yield f"sentences without chains: {', '.join(dropped)}"
        whole = (int(self.signature["sentences"]), int(self.signature["lines"]))
        for name, metric in self.items():
            yield f"{name}: {metric.signature}"
            yield from (f"{name}: NaN: {why}" for why in dict.fromkeys(metric.reasons.values()))
            counts = f"{metric.sentences} sentences with chains and {metric.lines} lines a corpus"
            if (metric.sentences, metric.lines) != whole:
                yield f"{name}: only {counts} have something to be held against"

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        parts = asdict(self.design) | {"target_values": self.target}
        return core.public_shape(KIND, self, "signature", "applied", "dropped", "metrics", **parts)


def maege(
    sources: Sequence[str], gold: Sequence[core.GoldEdits],
    metrics: Mapping[str, Metric],
    *, references: Sequence[Sequence[str | None]] = (), design: partial.MaegeDesign | None = None,
) -> Maege:  # fmt: skip
    """Measure metrics, by spelling, on partial corrections.

    ``gold`` has the edits of each sentence by annotator; ``references``, shape
    ``[references][sentences]``, are for ``against="given"``. UsageError if there are no gold edits
    or metrics, or a metric needs what the design does not give it.
    """
    design = design or partial.MaegeDesign()
    _check(gold, metrics, references, design)
    outputs = partial.partial_outputs(sources, gold, design)
    counts = [[line.applied for line in lines] for lines in outputs.corpora]
    applied = np.array([np.mean(row) if row else np.nan for row in counts])
    target = applied if design.target == "applied" else np.arange(len(applied), dtype=np.float64)
    targets = partial.targets_of(sources, gold, references, design)
    results = {name: _measured(metric, outputs, targets, design, target)
               for name, metric in metrics.items()}  # fmt: skip
    chains, lines = outputs.chains, len(outputs.corpora[0])
    sizes = {"sentences": len({chain.sentence for chain in chains}), "chains": len(chains)}
    sizes |= {"texts": sum(len(chain.texts) for chain in chains), "corpora": len(applied)}
    signature = core.Signature.of("maege", asdict(design) | sizes | {"lines": lines})
    return Maege(design, signature, results, target, applied, outputs.dropped)


def chain_result(chains: Sequence[core.FloatArray], ties: partial.ChainTies) -> ChainResult:
    """Count pairs inside chains whose scores should ascend.

    With d discordant pairs of N, tau is 1 - 2 d / N and z = 2 d / sqrt(N) - sqrt(N). A tie adds
    a half to d (``half``), nothing (``concordant``), or is taken from N (``drop``).
    """
    if any(not np.isfinite(scores).all() for scores in chains):
        return ChainResult(math.nan, math.nan, 0, 0, 0, "some texts have no score")
    orders = [np.sign(s[b] - s[a]) for s in chains for a, b in combinations(range(len(s)), 2)]
    up, down, equal = (orders.count(sign) for sign in (1, -1, 0))
    pairs = up + down + (0 if ties == "drop" else equal)
    if not pairs:
        return ChainResult(math.nan, math.nan, up, down, equal, "no pair of texts to compare")
    wrong = down + (equal / 2 if ties == "half" else 0)
    z = 2 * wrong / math.sqrt(pairs) - math.sqrt(pairs)
    pvalue = max(math.erfc(abs(z) / math.sqrt(2)), stats.SMALLEST)
    return ChainResult(1 - 2 * wrong / pairs, pvalue, up, down, equal)


def _check(
    gold: Sequence[core.GoldEdits], metrics: Mapping[str, Metric],
    references: Sequence[Sequence[str | None]], design: partial.MaegeDesign,
) -> None:  # fmt: skip
    if not gold or not metrics:
        fix = "Give an .m2 file with -r, and name a metric; 'grammeter list' shows them."
        raise core.UsageError("no gold edits" if metrics else "no metric", fix=fix)
    needy = [name for name, metric in metrics.items() if metric.needs == "gold"]
    if needy and (design.given != "source" or design.against == "given"):
        fault = f"{needy[0]} needs gold edits, not texts, and they are edits of the source sentence"
        fix = "Leave given (--given) at source, choose others or all (--against), or leave it out."
        raise core.UsageError(fault, fix=fix)
    if design.against == "given" and not references:
        fix = "Give them with -r beside the M2."
        raise core.UsageError("no reference texts were given", fix=fix)


@dataclass
class _Batch:
    """The distinct texts that one metric scores, and how often each is there."""

    targets: partial.Targets
    needs: str
    segments: list[core.Segment] = field(default_factory=list[core.Segment])
    copies: list[int] = field(default_factory=list[int])
    known: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])

    def rows(self, item: partial.Partial) -> list[int]:
        """Return the rows of an item's texts; none where there is nothing to hold it against."""
        if (shape := self.targets(item, self.needs)) is None:
            return []
        rows: list[int] = []
        for text in item.texts:
            # the references are known by identity: equal ones are one object
            key = (shape.source, text, id(shape.references) if shape.references else 0)
            row = self.known.setdefault(key, len(self.segments))
            if row == len(self.segments):
                self.segments.append(replace(shape, hypothesis=text))
                self.copies.append(0)
            self.copies[row] += 1
            rows.append(row)
        return rows


def _measured(
    metric: Metric, outputs: partial.PartialOutputs, targets: partial.Targets,
    design: partial.MaegeDesign, target: core.FloatArray,
) -> MetricResult:  # fmt: skip
    batch = _Batch(targets, metric.needs)
    placed = [(chain, batch.rows(chain)) for chain in outputs.chains]
    chains = [(chain, rows) for chain, rows in placed if rows]
    corpora = [[row for line in lines for row in batch.rows(line)] for lines in outputs.corpora]
    alone, values = np.full(len(batch.segments), np.nan), np.full(len(corpora), np.nan)
    if batch.segments:
        statistics = metric.pooled_statistics(batch.segments, batch.copies)
        for row in sorted({row for _, rows in chains for row in rows}):
            # as if it stood alone: M2 chooses annotators by what stands before
            alone[row] = metric.sentences(statistics.take([row])).values[0]
        values = np.array([metric.score(statistics.take(rows)).value for rows in corpora])
    sign = 1.0 if metric.higher_is_better else -1.0
    texts = [sign * alone[rows] for _, rows in chains]
    worth = np.concatenate([np.zeros(0), *(chain.worth for chain, _ in chains)])
    sentence = _correlated(np.concatenate([np.zeros(0), *texts]), worth)
    levels = (_correlated(sign * values, target), sentence, chain_result(texts, design.ties))
    sizes = (len({chain.sentence for chain, _ in chains}), len(corpora[0]), len(batch.segments))
    context = {} if metric.needs == "nothing" else {"refs": design.against}
    return MetricResult(metric.signature(context), values, *levels, *sizes)


def _correlated(x: core.FloatArray, y: core.FloatArray) -> dict[str, Coefficient]:
    ranks = [stats.weighted_ranks(of, np.ones((1, len(of))))[0] for of in (x, y)]
    by_rank = stats.correlate(*ranks) if np.isfinite(x).all() else stats.correlate(x, y)
    return {"pearson": stats.correlate(x, y), "spearman": by_rank}


def _level(results: Mapping[str, Coefficient]) -> dict[str, Any]:
    pvalues = {kind: result.pvalue for kind, result in results.items()}
    return {kind: of.statistic for kind, of in results.items()} | {"pvalues": pvalues}
