"""Sentences with some of an annotator's edits applied, and what their texts are held against.

The chains and corpora of MAEGE (Choshen & Abend 2018), drawn as its public program draws them: the
orders of edits from Python's generator; annotators, permutations, numbers of edits and sources, in
this order, from numpy's legacy one; both seeded once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random
from typing import Literal, get_args

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
class Partial:
    """Texts of a sentence with some of an annotator's edits; metrics get ``source`` as the source.

    A chain has the texts with the first 0, 1, ... edits, and ``worth``, their pseudo-scores, 1 for
    the last. A line of a pseudo-system has one text, with so many edits ``applied``.
    """

    sentence: int
    annotator: int
    texts: tuple[str, ...]
    source: str = ""
    worth: core.FloatArray = field(default_factory=lambda: np.zeros(0))
    applied: int = 0

    @property
    def text(self) -> str:
        """The last of the texts."""
        return self.texts[-1]


@dataclass(frozen=True)
class PartialOutputs:
    """All texts that metrics are measured on.

    The chains of the sentences that have two at least, in the order of the corpus; the corpora,
    shape ``[11][lines]``, whose lines ``k`` are of the same sentence; and how many sentences have
    no chains, by reason.
    """

    chains: tuple[Partial, ...]
    corpora: tuple[tuple[Partial, ...], ...]
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
    chains: list[Partial] = []
    for of_sentence in drawn:
        shortest = min(len(one.texts) for one in of_sentence)
        lowest = worth_uncorrected(sources[of_sentence[0].sentence], shortest, design.pseudo)
        for one in of_sentence:
            random = design.given == "random"
            shown = draw.randint(len(one.texts)) if random else -(design.given == "reference")
            worth = np.linspace(lowest, 1.0, len(one.texts))
            chains.append(replace(one, source=one.texts[shown], worth=worth))

    def source(line: Partial, position: int) -> str:
        if design.given == "random":
            return corpora[draw.randint(CORPORA)][position].text
        every = design.given == "reference"
        applied = usable[line.sentence][line.annotator] if every else ()
        return partial_text(sources[line.sentence].split(), applied)

    lines = (tuple(replace(line, source=source(line, at)) for at, line in enumerate(of))
             for of in corpora)  # fmt: skip
    return PartialOutputs(tuple(chains), tuple(lines), dropped)


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


def _drawn_chains(
    sources: Sequence[str], edits: _Edits, random: Random, max_orders: int
) -> tuple[list[list[Partial]], dict[str, int]]:
    """Return the chains of each sentence that has two; counts of sentences without."""
    dropped = {"uncorrected": len(sources) - len(edits), "long": 0, "one chain": 0}
    drawn: list[list[Partial]] = []
    for sentence, by_annotator in edits.items():
        if len(sources[sentence]) > _LONG and sources[sentence].count(".") > 1:
            dropped["long"] += 1
            continue
        words = sources[sentence].split()
        chains = [Partial(sentence, annotator, chain(words, edits_, order))
                  for annotator, edits_ in by_annotator.items()
                  for order in orders(len(edits_), max_orders, random)]  # fmt: skip
        dropped["one chain"] += len(chains) < 2
        drawn += [chains] if len(chains) > 1 else []
    return drawn, dropped


def _drawn_corpus(
    sources: Sequence[str], edits: _Edits, mean: int, draw: np.random.RandomState
) -> list[Partial]:
    n, p = binomial_of(mean)
    lines: list[Partial] = []
    for sentence, by_annotator in edits.items():
        annotator = list(by_annotator)[draw.randint(len(by_annotator))]
        available = by_annotator[annotator]
        order: core.IntArray = draw.permutation(len(available))
        count = int(draw.binomial(int(n), p))
        chosen = [available[int(number)] for number in order[:count]]
        text = partial_text(sources[sentence].split(), chosen)
        lines.append(Partial(sentence, annotator, (text,), applied=len(chosen)))
    return lines


Targets = Callable[[Partial, str], core.Segment | None]
"""A text's segment without hypothesis, by what a metric ``needs``; None if nothing to hold it
against."""


def targets_of(
    sources: Sequence[str], gold: Sequence[core.GoldEdits],
    references: Sequence[Sequence[str | None]], design: MaegeDesign,
) -> Targets:  # fmt: skip
    """Return what texts are held against; references and gold edits are one object if equal."""

    @cache
    def made(sentence: int, left_out: int) -> core.Segment:
        source = sources[sentence]
        if design.against == "given":
            return core.Segment(source, "", tuple(column[sentence] for column in references))
        others = [edits for a, edits in gold[sentence].items() if a != left_out]
        texts = tuple(partial_text(source.split(), appliable(edits)).strip() for edits in others)
        # numbered anew: a metric that takes one annotator by number takes one who is there
        numbered = dict(enumerate(others)) if design.given == "source" else {}
        return core.Segment(source, "", texts, numbered)

    def target(item: Partial, needs: str) -> core.Segment | None:
        if needs == "nothing":
            return core.Segment(item.source, "")
        of = made(item.sentence, item.annotator if design.against == "others" else -1)
        return replace(of, source=item.source) if of.texts else None

    return target
