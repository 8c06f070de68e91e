"""Which sentences to show to judges, and which of their outputs.

All selectors are distributions over sentences. ``paper`` is Grundkiewicz et al. 2015, section
4.1: a sentence is the less likely, the more pairs of systems one item of it compares, and so
the more of its pairs are ties between equal outputs. ``diversity`` and ``spread`` prefer
sentences that tell systems apart, as Zouhar et al. 2025 do for translation; each item keeps
its probability, so that a ranking can be weighted back to all sentences.

How items are dealt out to judges stands in :mod:`grammeter.study.assignment`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from grammeter.core import (
    DataError,
    FloatArray,
    IntArray,
    Item,
    LengthMismatchError,
    MetricScores,
    ScoreTable,
    Signature,
    UnknownNameError,
    UsageError,
)
from grammeter.study.selectors import (
    Groups,
    diversity,
    expected_systems,
    group_outputs,
    multiplicities,
    spread,
)

Select = Literal["paper", "uniform", "diversity", "spread"]
"""By the number of system pairs compared, uniformly, by the outputs' distances, by a metric."""

SELECTORS: tuple[Select, ...] = get_args(Select)

UNIFORM_SHARE = 0.1
"""How much of ``diversity`` and ``spread`` is the uniform distribution: every sentence can be
drawn, and no weight exceeds ten times that of a uniform draw (Hesterberg 1995)."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """How likely each sentence is to be drawn.

    Attributes
    ----------
    per_item
        How many outputs an item shows at most.
    groups
        For each sentence, the systems behind each distinct output.
    expected_systems
        Shape ``(sentences,)``: C of the paper, how many systems an item is expected to cover.
    values
        Shape ``(sentences,)``: what the probabilities were made from: p' of the paper, the
        diversity, the spread, or 1.
    probabilities
        Shape ``(sentences,)``: of each sentence in one draw; they add up to 1.
    signature
        The selector, its settings, and a digest of the outputs.
    """

    per_item: int
    groups: tuple[Groups, ...]
    expected_systems: FloatArray
    values: FloatArray
    probabilities: FloatArray
    signature: Signature

    def __len__(self) -> int:
        return len(self.groups)


def distribution(
    systems: Mapping[str, Sequence[str]],
    *,
    select: Select = "paper",
    per_item: int = 5,
    scores: ScoreTable | None = None,
    metric: str | None = None,
) -> Distribution:
    """Compute how likely each sentence is to be drawn.

    Parameters
    ----------
    systems
        The outputs by system name, parallel. Their order does not matter.
    select
        The selector.
    per_item
        How many distinct outputs an item shows at most, 2 or more.
    scores, metric
        For ``spread``: a table with sentence scores of all systems, and which of its metrics;
        default: the only one.

    Raises
    ------
    UsageError
        If ``per_item`` or the number of systems is below 2, or scores and selector do not fit.
    DataError
        If outputs are not parallel, the scores are of other outputs, or no sentence has any
        diversity or spread.
    """
    outputs = _checked(systems, per_item)
    if select not in SELECTORS:
        raise UnknownNameError("selector", select, SELECTORS)
    if (select == "spread") != (scores is not None):
        raise UsageError(
            f"select={select} with{'out' if scores is None else ''} scores",
            fix="Scores go with spread: grammeter score -o s.json; sample --select spread"
            " --scores s.json",
        )
    sentences = _by_sentence(outputs)
    groups = tuple(group_outputs(texts) for texts in sentences)
    coverage = np.array([expected_systems(multiplicities(g), per_item) for g in groups])
    settings: dict[str, object] = {"select": select, "per_item": per_item}
    uniform_share = 0.0
    if select == "paper":
        values = per_item * (per_item - 1) / (coverage * (coverage - 1))
    elif select == "uniform":
        values = np.ones(len(groups))
    else:
        settings["uniform_share"] = uniform_share = UNIFORM_SHARE
        if scores is None:
            values = np.array([diversity(texts) for texts in sentences])
        else:
            column = _column(scores, metric, outputs)
            values, settings["scores"] = spread(column, list(outputs)), column.signature
    settings |= {"systems": len(outputs), "segments": len(groups), "outputs": _digest(outputs)}
    return Distribution(
        per_item=per_item,
        groups=groups,
        expected_systems=coverage,
        values=values,
        probabilities=_normalised(values, select, uniform_share),
        signature=Signature.of("sample", settings),
    )


def sample(
    source: Distribution, *, n: int, distinct: bool = False, seed: int = 1
) -> tuple[Item, ...]:
    """Draw items: sentences by their probabilities, outputs among the distinct ones uniformly.

    An item shows ``min(per_item, distinct outputs)`` outputs, in random order; the system named
    for an output is drawn from those behind it. Without ``distinct``, the first items of a
    longer sample are those of a shorter one with the same seed.

    Parameters
    ----------
    n
        How many items.
    distinct
        Draw no sentence twice (systematic sampling in random order; Madow 1949). The paper
        draws with replacement.
    seed
        Where the random numbers start, 0 or more.

    Raises
    ------
    UsageError
        If ``n`` is below 1, the seed negative, or there are fewer sentences than ``distinct``
        items.
    """
    check_seed(seed)
    possible = int(np.count_nonzero(source.probabilities))
    if n < 1 or (distinct and n > possible):
        raise UsageError(
            f"{n} items of {possible} sentences", fix="Ask for fewer, or let sentences come twice."
        )
    expected, draw = source.probabilities, _with_replacement
    if distinct:
        expected, draw = inclusion(expected, n) / n, _without_replacement
    drawn = draw(source.probabilities, n, stream(seed, "sentences"))
    signature = source.signature.extended(
        {"draws": "distinct" if distinct else "with-replacement", "n": n, "seed": seed}
    )
    random = stream(seed, "outputs")
    return tuple(
        _item(number, place, source, float(expected[place]), signature, random)
        for number, place in enumerate(drawn.tolist(), start=1)
    )


def _checked(systems: Mapping[str, Sequence[str]], per_item: int) -> dict[str, Sequence[str]]:
    if per_item < 2 or len(systems) < 2:
        raise UsageError(
            f"{per_item} of {len(systems)} systems side by side",
            fix="To compare takes two outputs at least.",
        )
    first, *others = sorted(systems)
    for name in others:
        if len(systems[name]) != len(systems[first]):
            raise LengthMismatchError(name, len(systems[name]), first, len(systems[first]))
    return {name: systems[name] for name in (first, *others)}


def _by_sentence(outputs: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    rows = zip(*outputs.values(), strict=True)
    return [dict(zip(outputs, row, strict=True)) for row in rows]


def _digest(outputs: Mapping[str, Sequence[str]]) -> str:
    """Return a fingerprint of these outputs."""
    digest = hashlib.sha256()
    for name, lines in outputs.items():
        digest.update("\n".join([name, *(line.strip() for line in lines), "\0"]).encode())
    return digest.hexdigest()[:12]


def _column(
    scores: ScoreTable, metric: str | None, outputs: Mapping[str, Sequence[str]]
) -> MetricScores:
    if metric is None and len(scores) != 1:
        raise UsageError(
            f"the scores are of {len(scores)} metrics: {', '.join(scores)}",
            fix="Say which one is to tell systems apart.",
        )
    column = scores[metric if metric is not None else next(iter(scores))]
    for name, lines in outputs.items():
        if name not in column.segments:
            raise UnknownNameError("system among the sentence scores", name, column.segments)
        if len(column.segments[name]) != len(lines):
            raise LengthMismatchError(name, len(lines), "its scores", len(column.segments[name]))
    scored = (scores.corpus or {}).get("systems", {})
    for name, lines in outputs.items():
        if [line.strip() for line in scored.get(name, lines)] != [line.strip() for line in lines]:
            raise DataError(
                f"the scores of {name} are of another output",
                fix="Score the same files that you sample from.",
            )
    return column


def _normalised(values: FloatArray, select: Select, uniform_share: float) -> FloatArray:
    total = values.sum()
    if not total > 0:
        raise DataError(
            f"no sentence has any {select}: the systems cannot be told apart",
            fix="Take --select uniform, or look whether all outputs are the same file.",
        )
    shares: FloatArray = values / total
    return (1 - uniform_share) * shares + uniform_share / len(values)


STREAMS = ("sentences", "outputs", "judges")
"""Each has its own random numbers, so that one choice does not change another."""


def stream(seed: int, name: str) -> np.random.Generator:
    """Return the random numbers that one of :data:`STREAMS` gets from a seed."""
    return np.random.Generator(np.random.PCG64([seed, STREAMS.index(name)]))


def shuffled(size: int, random: np.random.Generator) -> list[int]:
    """Return the places ``0..size-1`` in random order."""
    return random.permutation(size).tolist()


def check_seed(seed: int) -> None:
    """Raise :class:`UsageError` if a seed is negative."""
    if seed < 0:
        raise UsageError(f"seed {seed}", fix="A seed is 0 or more.")


def inclusion(probabilities: FloatArray, n: int) -> FloatArray:
    """Return how likely each sentence is to be among ``n`` distinct ones.

    ``n`` times the probability; what exceeds 1 is certain, and the others share the rest in
    proportion, as often as needed.
    """
    chances = n * probabilities
    certain = np.zeros(len(probabilities), dtype=bool)
    while (more := (chances >= 1) & ~certain).any():
        certain |= more
        rest = np.where(certain, 0, probabilities)
        total = rest.sum()
        share = (n - np.count_nonzero(certain)) / total if total else 0.0
        chances = np.where(certain, 1, rest * share)
    return chances


def _with_replacement(probabilities: FloatArray, n: int, random: np.random.Generator) -> IntArray:
    steps = np.cumsum(probabilities)
    return np.searchsorted(steps / steps[-1], random.random(n), side="right")


def _without_replacement(
    probabilities: FloatArray, n: int, random: np.random.Generator
) -> IntArray:
    chances = inclusion(probabilities, n)
    certain = np.flatnonzero(chances == 1)
    order = random.permutation(np.flatnonzero((chances > 0) & (chances < 1)))
    wanted = n - len(certain)
    if not wanted:
        return random.permutation(certain)
    steps = np.cumsum(chances[order])
    points = random.random() + np.arange(wanted)
    drawn = order[np.searchsorted(steps / steps[-1] * wanted, points, side="right")]
    return random.permutation(np.concatenate([certain, drawn]))


def _item(
    number: int,
    place: int,
    source: Distribution,
    probability: float,
    signature: Signature,
    random: np.random.Generator,
) -> Item:
    groups = source.groups[place]
    shown = [groups[at] for at in shuffled(len(groups), random)[: source.per_item]]
    return Item(
        segment=place + 1,
        systems=tuple(group[int(random.integers(len(group)))] for group in shown),
        groups=tuple(shown),
        item=str(number),
        distinct=len(groups),
        probability=probability,
        signature=signature,
    )
