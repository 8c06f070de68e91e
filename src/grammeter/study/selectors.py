"""Items for judges: how likely each sentence is shown, drawing, and who sees what.

All selectors are distributions over sentences. ``paper`` is Grundkiewicz et al. 2015, section
4.1: a sentence is the less likely, the more pairs of systems one item of it compares, and so
the more of its pairs are ties between equal outputs. ``diversity`` and ``spread`` prefer
sentences that tell systems apart, as Zouhar et al. 2025 do for translation; each item keeps
its probability, so that a ranking can be weighted back to all sentences.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from grammeter import core
from grammeter.core import FloatArray, IntArray, Item, UsageError

Groups = tuple[tuple[str, ...], ...]  # the systems behind each distinct output of one sentence
_Outputs = Mapping[str, Sequence[str]]  # by system
Select = Literal["paper", "uniform", "diversity", "spread"]
"""By the number of system pairs compared, uniformly, by the outputs' distances, by a metric."""
SELECTORS: tuple[Select, ...] = get_args(Select)
UNIFORM_SHARE = 0.1
"""How much of ``diversity`` and ``spread`` is the uniform distribution: every sentence can be
drawn, and no weight exceeds ten times that of a uniform draw (Hesterberg 1995)."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """How likely each sentence is to be drawn; arrays have shape ``(sentences,)``."""

    per_item: int  # most outputs that an item shows
    groups: tuple[Groups, ...]  # the systems behind each output of a sentence
    expected_systems: core.FloatArray  # C of the paper: systems that an item is expected to cover
    values: core.FloatArray  # p' of the paper, the diversity, the spread, or 1
    probabilities: core.FloatArray  # in one draw, 1 in all
    signature: core.Signature


def distribution(
    systems: Mapping[str, Sequence[str]], *, select: Select = "paper", per_item: int = 5,
    scores: core.ScoreTable | None = None, metric: str | None = None,
) -> Distribution:  # fmt: skip
    """Compute how likely each sentence is to be drawn.

    ``systems`` has the outputs by system name, parallel; their order does not matter. An item shows
    ``per_item`` distinct outputs at most, 2 or more. ``spread`` takes a table with sentence scores
    of all systems, and which of its metrics; default: the only one.

    It is a UsageError or DataError if there are fewer than 2 systems or outputs an item, outputs
    are not parallel, scores do not fit, or no sentence has any diversity or spread.
    """
    outputs = _checked(systems, per_item)
    core.UnknownNameError.check("selector", select, SELECTORS)
    if (select == "spread") != (scores is not None):
        fault = f"select={select} with{'out' if scores is None else ''} scores"
        fix = "Scores go with spread: score -o s.json; sample --select spread --scores s.json"
        raise core.UsageError(fault, fix=fix)
    rows = zip(*outputs.values(), strict=True)
    sentences = [dict(zip(outputs, row, strict=True)) for row in rows]
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
    if not (total := values.sum()) > 0:
        fix = "Take --select uniform, or look whether all outputs are the same file."
        fault = f"no sentence has any {select}: the systems cannot be told apart"
        raise core.DataError(fault, fix=fix)
    probabilities = (1 - uniform_share) * (values / total) + uniform_share / len(values)
    signature = core.Signature.of("sample", settings)
    return Distribution(per_item, groups, coverage, values, probabilities, signature)


def _checked(systems: _Outputs, per_item: int) -> dict[str, Sequence[str]]:
    if per_item < 2 or len(systems) < 2:
        fault = f"{per_item} of {len(systems)} systems side by side"
        raise core.UsageError(fault, fix="To compare takes two outputs at least.")
    first, *others = sorted(systems)
    for name in others:
        if len(systems[name]) != len(systems[first]):
            raise core.LengthMismatchError(name, len(systems[name]), first, len(systems[first]))
    return {name: systems[name] for name in (first, *others)}


def _digest(outputs: _Outputs) -> str:
    digest = hashlib.sha256()
    for name, lines in outputs.items():
        digest.update("\n".join([name, *(line.strip() for line in lines), "\0"]).encode())
    return digest.hexdigest()[:12]


def _column(scores: core.ScoreTable, metric: str | None, outputs: _Outputs) -> core.MetricScores:
    if metric is None and len(scores) != 1:
        fault = f"the scores are of {len(scores)} metrics: {', '.join(scores)}"
        raise core.UsageError(fault, fix="Say which one is to tell systems apart.")
    column = scores[metric if metric is not None else next(iter(scores))]
    for name, lines in outputs.items():
        core.UnknownNameError.check("system among the sentence scores", name, column.segments)
        if (size := len(column.segments[name])) != len(lines):
            raise core.LengthMismatchError(name, len(lines), "its scores", size)
        scored = (scores.corpus or {}).get("systems", {}).get(name, lines)
        if [line.strip() for line in scored] != [line.strip() for line in lines]:
            fault = f"the scores of {name} are of another output"
            raise core.DataError(fault, fix="Score the same files that you sample from.")
    return column


def group_outputs(texts: Mapping[str, str]) -> Groups:
    """Group the systems that wrote the same, white space at both ends aside, in their order."""
    by_text = core.grouped((text.strip(), name) for name, text in texts.items())
    return tuple(tuple(names) for names in by_text.values())


def multiplicities(groups: Groups) -> tuple[int, ...]:
    """Return how many systems stand behind each output, ascending."""
    return tuple(sorted(map(len, groups)))


@cache
def expected_systems(counts: tuple[int, ...], per_item: int) -> float:
    """Return C: how many systems an item of a sentence is expected to cover.

    Grundkiewicz et al. 2015, section 4.1: the mean of ``j`` over ``min(M, N)..N`` weighted by
    ``c(j)``, the number of ways to choose at most M outputs that ``j`` systems made, M being
    ``per_item``; ``counts`` says how many of the N systems made each distinct output.
    """
    total = sum(counts)
    by_size = np.zeros((per_item + 1, total + 1), dtype=np.object_)  # and by sum: whole numbers
    by_size[0, 0] = 1
    for count in counts:
        by_size[1:, count:] += by_size[:-1, : total + 1 - count].copy()
    sums, ways = range(min(per_item, total), total + 1), by_size.sum(axis=0).tolist()
    return sum(ways[j] * j for j in sums) / sum(ways[j] for j in sums)


def diversity(texts: Mapping[str, str]) -> float:
    """Return how far outputs differ: the mean distance over all pairs of systems, 0 to 1.

    The distance of two outputs is ``1 - 2 * common / (length + length)``, ``common`` being the
    length of the longest common subsequence of their tokens; 0 for equal outputs.
    """
    from rapidfuzz.distance import LCSseq

    groups = group_outputs(texts)
    tokens = [texts[group[0]].split() for group in groups]
    total = 0.0
    for (group, first), (other, second) in combinations(zip(groups, tokens, strict=True), 2):
        both = len(first) + len(second)
        distance = 1 - 2 * LCSseq.similarity(first, second) / both if both else 0.0
        total += len(group) * len(other) * distance
    return total / (len(texts) * (len(texts) - 1) / 2)


def spread(column: core.MetricScores, systems: Sequence[str]) -> core.FloatArray:
    """Return the standard deviation of a metric's sentence scores over the systems.

    Shape ``(sentences,)``. Systems without a score for a sentence are left out there; where one
    system at most has a score, the spread is 0.
    """
    values = np.stack([column.segments[name].values for name in systems])
    known = np.isfinite(values)
    times = np.maximum(known.sum(axis=0), 1)
    means = np.where(known, values, 0).sum(axis=0) / times
    squares = np.where(known, (values - means) ** 2, 0).sum(axis=0)
    return np.sqrt(squares / times)


Random = np.random.Generator
STREAMS = ("sentences", "outputs", "judges")  # each with random numbers of its own


def stream(seed: int, name: str) -> Random:
    """Return the random numbers that one of :data:`STREAMS` gets from a seed, 0 or more."""
    if seed < 0:
        raise UsageError(f"seed {seed}", fix="A seed is 0 or more.")
    return Random(np.random.PCG64([seed, STREAMS.index(name)]))


def shuffled(size: int, random: Random) -> list[int]:
    """Return the places ``0..size-1`` in random order."""
    return random.permutation(size).tolist()


def judge_names(count: int) -> list[str]:
    """Return the names of so many judges: ``judge01``, ``judge02`` and on."""
    width = max(2, len(str(count)))
    return [f"judge{number:0{width}}" for number in range(1, count + 1)]


def sample(
    source: Distribution, *, n: int, distinct: bool = False, seed: int = 1
) -> tuple[Item, ...]:
    """Draw items: sentences by their probabilities, outputs among the distinct ones uniformly.

    An item shows ``min(per_item, distinct outputs)`` outputs, in random order; the system named
    for an output is drawn from those behind it. Without ``distinct``, the first items of a
    longer sample are those of a shorter one with the same seed, 0 or more.

    ``n`` items are drawn. With ``distinct`` no sentence comes twice (systematic sampling in random
    order; Madow 1949); the paper draws with replacement. UsageError if a number is too low, or
    there are fewer sentences than ``distinct`` items.
    """
    drawing, random = stream(seed, "sentences"), stream(seed, "outputs")
    expected = source.probabilities
    possible = int(np.count_nonzero(expected))
    if n < 1 or (distinct and n > possible):
        fix = "Ask for fewer, or let sentences come twice."
        raise UsageError(f"{n} items of {possible} sentences", fix=fix)
    if distinct:
        drawn, expected = _without_replacement(expected, n, drawing), inclusion(expected, n) / n
    else:
        steps = np.cumsum(expected)
        drawn = np.searchsorted(steps / steps[-1], drawing.random(n), side="right")
    places: list[int] = drawn.tolist()
    settings = {"draws": "distinct" if distinct else "with-replacement", "n": n, "seed": seed}
    signature = source.signature.extended(settings)
    items: list[Item] = []
    for number, place in enumerate(places, start=1):
        groups = source.groups[place]
        shown = [groups[at] for at in shuffled(len(groups), random)[: source.per_item]]
        item = Item(
            segment=place + 1,
            systems=tuple(group[int(random.integers(len(group)))] for group in shown),
            groups=tuple(shown), item=str(number), distinct=len(groups),
            probability=float(expected[place]), signature=signature,
        )  # fmt: skip
        items.append(item)
    return tuple(items)


def inclusion(probabilities: FloatArray, n: int) -> FloatArray:
    """Return how likely each sentence is to be among ``n`` distinct ones.

    ``n`` times the probability; what exceeds 1 is certain, and the others share the rest in
    proportion, as often as needed.
    """
    chances, certain = n * probabilities, np.zeros(len(probabilities), dtype=bool)
    while (more := (chances >= 1) & ~certain).any():
        certain |= more
        rest = np.where(certain, 0, probabilities)
        share = (n - np.count_nonzero(certain)) / rest.sum() if rest.any() else 0.0
        chances = np.where(certain, 1, rest * share)
    return chances


def _without_replacement(probabilities: FloatArray, n: int, random: Random) -> IntArray:
    chances = inclusion(probabilities, n)
    certain = np.flatnonzero(chances == 1)
    order = random.permutation(np.flatnonzero((chances > 0) & (chances < 1)))
    wanted = n - len(certain)
    if not wanted:
        return random.permutation(certain)
    steps, points = np.cumsum(chances[order]), random.random() + np.arange(wanted)
    drawn = order[np.searchsorted(steps / steps[-1] * wanted, points, side="right")]
    return random.permutation(np.concatenate([certain, drawn]))


def assign(
    items: Sequence[Item], judges: Sequence[str],
    *, overlap: int = 0, sharers: int | None = None, repeats: int = 0, seed: int = 1,
) -> tuple[Item, ...]:  # fmt: skip
    """Deal items, as sampled, out to judges.

    Judges see items in the order of the result. A repeat is a line of its own: an item from the
    first half of a judge's list comes again, its outputs in another order, half a list later.

    Of the items, ``overlap``, anywhere, are seen by ``sharers`` judges each (default all); loads
    differ by one item at most. Each judge sees ``repeats`` items twice; the seed may be that of the
    sample. UsageError if a judge has no name or comes twice, there are fewer judges than sharers,
    fewer items than overlap, or too few items to repeat.
    """
    random = stream(seed, "judges")
    together = len(judges) if sharers is None else sharers
    named = judges and all(judges) and len(set(judges)) == len(judges)
    if (
        not named
        or not 0 <= overlap <= len(items)
        or (overlap and not 2 <= together <= len(judges))
    ):
        fault = (
            f"judges {', '.join(map(repr, judges)) or 'without names'}, of whom {together} share"
        )
        fix = "Give each judge one name of its own; two or more of them share items there are."
        raise UsageError(f"{fault} {overlap} of {len(items)} items", fix=fix)
    shared = set(shuffled(len(items), random)[:overlap])
    load = dict.fromkeys(judges, 0)
    plan = {"judges": len(judges), "overlap": overlap, "sharers": together, "repeats": repeats}
    dealt: list[Item] = []
    for place, item in enumerate(items):
        chosen = _least_loaded(load, together if place in shared else 1, random)
        signature = item.signature and item.signature.extended(plan)
        dealt.append(replace(item, judges=chosen, signature=signature))
    return _with_repeats(dealt, judges, repeats, random)


def _least_loaded(load: dict[str, int], wanted: int, random: Random) -> tuple[str, ...]:
    """Choose the judges with the fewest items so far, at random among equals; add to their load."""
    judges = list(load)
    mixed = [judges[at] for at in shuffled(len(judges), random)]
    chosen = set(sorted(mixed, key=load.__getitem__)[:wanted])
    for judge in chosen:
        load[judge] += 1
    return tuple(judge for judge in judges if judge in chosen)


def _with_repeats(
    dealt: Sequence[Item], judges: Sequence[str], repeats: int, random: Random
) -> tuple[Item, ...]:
    after: dict[int, list[Item]] = {}
    for judge in judges:
        places = [place for place, item in enumerate(dealt) if judge in item.judges]
        half = len(places) // 2
        if not 0 <= repeats <= half:
            fault = f"{repeats} repeats for {judge!r}, who sees {len(places)} items"
            raise UsageError(fault, fix=f"At most {half} can come again half a list later.")
        for first in shuffled(half, random)[:repeats]:
            later = places[int(random.integers(first + half, len(places)))]
            item = dealt[places[first]]
            order = shuffled(len(item.systems), random)
            systems, groups = (tuple(of[at] for at in order) for of in (item.systems, item.groups))
            again = replace(item, systems=systems, groups=groups, judges=(judge,), repeat=True)
            after.setdefault(later, []).append(again)
    lines = [[item, *after.get(place, ())] for place, item in enumerate(dealt)]
    return tuple(item for line in lines for item in line)
