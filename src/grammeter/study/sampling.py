"""Draw items for judges to see, and assign them: equal loads, planned overlap, repeats."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grammeter.core import FloatArray, IntArray, Item, UsageError
from grammeter.study.selectors import Distribution

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
            groups=tuple(shown),
            item=str(number),
            distinct=len(groups),
            probability=float(expected[place]),
            signature=signature,
        )
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
    items: Sequence[Item],
    judges: Sequence[str],
    *,
    overlap: int = 0,
    sharers: int | None = None,
    repeats: int = 0,
    seed: int = 1,
) -> tuple[Item, ...]:
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
    _check(items, judges, overlap, together)
    shared = set(shuffled(len(items), random)[:overlap])
    load = dict.fromkeys(judges, 0)
    plan = {"judges": len(judges), "overlap": overlap, "sharers": together, "repeats": repeats}
    dealt: list[Item] = []
    for place, item in enumerate(items):
        chosen = _least_loaded(load, together if place in shared else 1, random)
        signature = item.signature and item.signature.extended(plan)
        dealt.append(replace(item, judges=chosen, signature=signature))
    return _with_repeats(dealt, judges, repeats, random)


def _check(items: Sequence[Item], judges: Sequence[str], overlap: int, sharers: int) -> None:
    if not judges or not all(judges) or len(set(judges)) != len(judges):
        fault = f"judges {', '.join(map(repr, judges)) or 'without names'}"
        raise UsageError(fault, fix="Give each judge one name of its own, and one judge at least.")
    if not 0 <= overlap <= len(items):
        raise UsageError(f"overlap of {overlap} among {len(items)} items", fix="Give 0 or more.")
    if overlap and not 2 <= sharers <= len(judges):
        fix = "It takes two judges to share an item, and no more than there are."
        raise UsageError(f"items shared by {sharers} of {len(judges)} judges", fix=fix)


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
            after.setdefault(later, []).append(_again(dealt[places[first]], judge, random))
    lines = [[item, *after.get(place, ())] for place, item in enumerate(dealt)]
    return tuple(item for line in lines for item in line)


def _again(item: Item, judge: str, random: Random) -> Item:
    order = shuffled(len(item.systems), random)
    systems, groups = (tuple(of[at] for at in order) for of in (item.systems, item.groups))
    return replace(item, systems=systems, groups=groups, judges=(judge,), repeat=True)
