"""Sentences with some of an annotator's edits applied: their texts, and how a metric scores them.

The chains and corpora of MAEGE (Choshen & Abend 2018), drawn as its public program draws them: the
orders of edits from Python's generator; annotators, permutations, numbers of edits and sources, in
this order, from numpy's legacy one; both seeded once. Each distinct text is scored once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, ClassVar, Literal, Protocol, get_args

import numpy as np

from grammeter import core
from grammeter.alignment import appliable, chain, orders, partial_text

Given = Literal["source", "random", "reference"]
"""What a metric gets as the source: the sentence itself; a random text of the same chain (one
for the whole chain), or the same line of a random corpus; the text with all edits."""

Pseudo = Literal["released", "intended"]
"""How much a sentence is worth before it is corrected; see :func:`worth_uncorrected`."""

Against = Literal["others", "all", "given"]
"""What a metric holds a text against: the edits of the annotators other than its own; those of
all annotators, its own too; the reference texts that were given."""

ChainTies = Literal["half", "concordant", "drop"]
"""Pairs that the metric ties: half right, half wrong; right (the public program with a stable
sort); left out."""

Target = Literal["nominal", "applied"]
"""What scores of corpora are correlated with: the nominal mean number of edits, or the mean number
that was in fact applied."""

CORPORA = 11  # pseudo-systems, with nominally 0 to 10 edits a sentence
_LONG = 300  # characters beyond which a source of several sentences is left out


@dataclass(frozen=True, kw_only=True)
class MaegeDesign:
    """How metrics are measured: the seed of all draws, random orders for each annotator's edits.

    A number that is out of range or a rule that does not exist raises UsageError.
    """

    seed: int = 1
    max_orders: int = 1
    pseudo: Pseudo = "released"
    ties: ChainTies = "half"
    target: Target = "nominal"
    given: Given = "source"
    against: Against = "others"

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**32:
            raise core.UsageError(f"seed {self.seed}", fix="It lies in 0 to 4294967295.")
        if self.max_orders < 1:
            raise core.UsageError(f"{self.max_orders} orders", fix="Take 1 at least.")
        rules = {"pseudo": Pseudo, "ties": ChainTies, "target": Target}
        for name, allowed in (rules | {"given": Given, "against": Against}).items():
            core.UnknownNameError.check(f"rule for {name}", getattr(self, name), get_args(allowed))


@dataclass(frozen=True)
class Chain:
    """One annotator's edits, applied one after the other.

    ``texts`` are the sentence with the first 0, 1, ... edits, ``worth`` their pseudo-scores, 1 for
    the last; ``source`` is what a metric gets as the source.
    """

    sentence: int
    annotator: int
    texts: tuple[str, ...]
    source: str
    worth: core.FloatArray


@dataclass(frozen=True)
class Line:
    """One line of a pseudo-system: a text with ``applied`` of an annotator's edits."""

    sentence: int
    annotator: int
    text: str
    source: str
    applied: int


@dataclass(frozen=True)
class PartialOutputs:
    """All texts that metrics are measured on.

    The chains of the sentences that have two at least, in the order of the corpus; the corpora,
    shape ``[11][lines]``, whose lines ``k`` are of the same sentence; and how many sentences have
    no chains, by reason.
    """

    chains: tuple[Chain, ...]
    corpora: tuple[tuple[Line, ...], ...]
    dropped: Mapping[str, int]


def partial_outputs(
    sources: Sequence[str], gold: Sequence[core.GoldEdits], design: MaegeDesign
) -> PartialOutputs:
    """Make chains and corpora of partial corrections; all types of edits are applied.

    A sentence that an annotator leaves unchanged is in neither; a long one (over 300 characters
    and more than one ``.``), and one with a single chain, is in the corpora alone.
    """
    edits = [{a: appliable(edits_) for a, edits_ in annotators.items()} for annotators in gold]
    usable = {s: of for s, of in enumerate(edits) if of and all(of.values())}
    draw = np.random.RandomState(design.seed)
    drawn, dropped = _drawn_chains(sources, usable, Random(design.seed), design.max_orders)  # noqa: S311
    corpora = [_drawn_corpus(sources, usable, mean, draw) for mean in range(CORPORA)]
    chains: list[Chain] = []
    for sentence, annotated in drawn.items():
        shortest = min(len(texts) for _, texts in annotated)
        lowest = worth_uncorrected(sources[sentence], shortest, design.pseudo)
        for annotator, texts in annotated:
            shown = -(design.given == "reference")
            shown = draw.randint(len(texts)) if design.given == "random" else shown
            worth = np.linspace(lowest, 1.0, len(texts))
            chains.append(Chain(sentence, annotator, texts, texts[shown], worth))
    lines = _with_sources(sources, usable, corpora, design.given, draw)
    return PartialOutputs(tuple(chains), lines, dropped)


def worth_uncorrected(source: str, fewest: int, pseudo: Pseudo) -> float:
    """Return the pseudo-score of a sentence without any edit.

    ``released``, as the public program: 1 - fewest texts in a chain / characters of the source;
    ``intended``, as its comments: 1 - fewest edits / words.
    """
    if pseudo == "released":
        return 1 - fewest / max(len(source), 1)
    return 1 - (fewest - 1) / max(len(source.split()), 1)


def binomial_of(mean: int) -> tuple[float, float]:
    """Return n, truncated when drawn, and p of a binomial with the nominal mean and variance .9."""
    if not mean:
        return 1.0, 0.0
    p = (mean - 0.9) / mean
    return mean / p, p


_Edits = Mapping[int, Mapping[int, Sequence[core.Edit]]]
"""By sentence and annotator."""

_Annotated = tuple[int, tuple[str, ...]]


def _drawn_chains(
    sources: Sequence[str], edits: _Edits, random: Random, max_orders: int
) -> tuple[dict[int, list[_Annotated]], dict[str, int]]:
    """Return annotator and texts of each chain by sentence; counts of sentences without."""
    dropped = {"uncorrected": len(sources) - len(edits), "long": 0, "one chain": 0}
    chains: dict[int, list[_Annotated]] = {}
    for sentence, by_annotator in edits.items():
        if len(sources[sentence]) > _LONG and sources[sentence].count(".") > 1:
            dropped["long"] += 1
            continue
        words = sources[sentence].split()
        annotated = [(annotator, chain(words, edits_, order))
                     for annotator, edits_ in by_annotator.items()
                     for order in orders(len(edits_), max_orders, random)]  # fmt: skip
        if len(annotated) > 1:
            chains[sentence] = annotated
        else:
            dropped["one chain"] += 1
    return chains, dropped


def _drawn_corpus(
    sources: Sequence[str], edits: _Edits, mean: int, draw: np.random.RandomState
) -> list[Line]:
    n, p = binomial_of(mean)
    lines: list[Line] = []
    for sentence, by_annotator in edits.items():
        annotator = list(by_annotator)[draw.randint(len(by_annotator))]
        available = by_annotator[annotator]
        order: core.IntArray = draw.permutation(len(available))
        count = int(draw.binomial(int(n), p))
        chosen = [available[int(number)] for number in order[:count]]
        text = partial_text(sources[sentence].split(), chosen)
        lines.append(Line(sentence, annotator, text, "", len(chosen)))
    return lines


def _with_sources(
    sources: Sequence[str], edits: _Edits, corpora: Sequence[Sequence[Line]], given: Given,
    draw: np.random.RandomState,
) -> tuple[tuple[Line, ...], ...]:  # fmt: skip
    def source(line: Line, position: int) -> str:
        if given == "random":
            return corpora[draw.randint(len(corpora))][position].text
        applied = edits[line.sentence][line.annotator] if given == "reference" else ()
        return partial_text(sources[line.sentence].split(), applied)

    return tuple(
        tuple(replace(line, source=source(line, at)) for at, line in enumerate(lines))
        for lines in corpora
    )


class PartialScorer(Protocol):
    """What is asked of a metric; :class:`grammeter.Metric` has it all."""

    needs: ClassVar[Any]
    higher_is_better: ClassVar[bool]

    def pooled_statistics(  # noqa: D102
        self, segments: Sequence[core.Segment], copies: Sequence[int]
    ) -> core.Statistics: ...
    def score(self, statistics: core.Statistics) -> core.Score: ...  # noqa: D102
    def sentences(self, statistics: core.Statistics) -> core.SegmentScores: ...  # noqa: D102
    def signature(self, context: Mapping[str, object] | None = None) -> core.Signature: ...  # noqa: D102


@dataclass(frozen=True)
class PartialScores:
    """What one metric says of all texts, larger being better.

    The chains whose texts have something to be held against, and the scores of their texts, each
    scored alone; the scores of the corpora, shape ``(11,)``; how many lines of each corpus count,
    and how many distinct texts were scored.
    """

    chains: tuple[Chain, ...]
    texts: tuple[core.FloatArray, ...]
    corpora: core.FloatArray
    lines: int
    distinct: int


def score_outputs(
    metric: PartialScorer, outputs: PartialOutputs, targets: "Targets"
) -> PartialScores:
    """Score all chains and corpora with one metric, in one batch."""
    segments: list[core.Segment] = []
    copies: list[int] = []
    known: dict[tuple[object, ...], int] = {}

    def places(item: Chain | Line, texts: Sequence[str]) -> list[int]:
        """Return the positions of an item's texts in the batch; none where it has no target."""
        shape = targets.segment(item, metric.needs)
        if shape is None:
            return []
        rows: list[int] = []
        for text in texts:
            # the references are known by identity: equal ones are one object
            key = (shape.source, text, id(shape.references) if shape.references else 0)
            row = known.setdefault(key, len(segments))
            if row == len(segments):
                segments.append(core.Segment(shape.source, text, shape.references, shape.gold))
                copies.append(0)
            copies[row] += 1
            rows.append(row)
        return rows

    placed = [(chain, places(chain, chain.texts)) for chain in outputs.chains]
    corpora = [[at for line in of for at in places(line, [line.text])] for of in outputs.corpora]
    if not segments:
        return PartialScores((), (), np.full(len(corpora), np.nan), 0, 0)
    chains = [(chain, rows) for chain, rows in placed if rows]
    statistics = metric.pooled_statistics(segments, copies)
    sign = 1.0 if metric.higher_is_better else -1.0
    alone = np.full(len(statistics), np.nan)
    for row in sorted({row for _, rows in chains for row in rows}):
        # as if it stood alone: M2 chooses annotators by what stands before
        alone[row] = metric.sentences(statistics.take([row])).values[0]
    texts = tuple(sign * alone[rows] for _, rows in chains)
    whole = sign * np.array([metric.score(statistics.take(rows)).value for rows in corpora])
    sizes = (len(corpora[0]), len(segments))
    return PartialScores(tuple(chain for chain, _ in chains), texts, whole, *sizes)


@dataclass(frozen=True)
class Targets:
    """References and gold edits, one object if equal; ``with_edits``: these fit the source."""

    sources: Sequence[str]
    gold: Sequence[core.GoldEdits]
    references: Sequence[Sequence[str | None]]
    against: Against
    with_edits: bool
    known: dict[tuple[int, int], core.Segment] = field(
        default_factory=dict[tuple[int, int], core.Segment]
    )

    def segment(self, item: Chain | Line, needs: str) -> core.Segment | None:
        """Return a segment without hypothesis; None where there is nothing to hold it against."""
        if needs == "nothing":
            return core.Segment(item.source, "")
        key = (item.sentence, item.annotator if self.against == "others" else -1)
        made = self.known.get(key) or self.known.setdefault(key, self._make(*key))
        return core.Segment(item.source, "", made.references, made.gold) if made.texts else None

    def _make(self, sentence: int, left_out: int) -> core.Segment:
        source = self.sources[sentence]
        if self.against == "given":
            return core.Segment(source, "", tuple(column[sentence] for column in self.references))
        others = [edits for a, edits in self.gold[sentence].items() if a != left_out]
        texts = tuple(partial_text(source.split(), appliable(edits)).strip() for edits in others)
        # numbered anew: a metric that takes one annotator by number takes one who is there
        return core.Segment(source, "", texts, dict(enumerate(others)) if self.with_edits else {})
