"""Assign items to judges: equal loads, planned overlap, repeats within a judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grammeter.core import Item, UsageError
from grammeter.study.sampling import check_seed, shuffled, stream


def assign(
    items: Sequence[Item],
    judges: Sequence[str],
    *,
    overlap: int = 0,
    sharers: int | None = None,
    repeats: int = 0,
    seed: int = 1,
) -> tuple[Item, ...]:
    """Deal items out to judges.

    Judges see items in the order of the result. A repeat is a line of its own: an item from the
    first half of a judge's list comes again, its outputs in another order, after at least half
    a list of other items.

    Parameters
    ----------
    items
        As sampled, without judges.
    judges
        Their names.
    overlap
        How many items several judges see; they lie anywhere. Loads differ by one item at most.
    sharers
        How many judges see each of these; default all.
    repeats
        How many items each judge sees twice.
    seed
        Where the random numbers start, 0 or more; items may have been sampled by the same.

    Raises
    ------
    UsageError
        If a judge has no name or comes twice, there are fewer judges than sharers, fewer items
        than overlap, or too few items to repeat.
    """
    check_seed(seed)
    together = len(judges) if sharers is None else sharers
    _check(items, judges, overlap, together)
    random = stream(seed, "judges")
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
        raise UsageError(
            f"judges {', '.join(map(repr, judges)) or 'without names'}",
            fix="Give each judge one name of its own, and one judge at least.",
        )
    if not 0 <= overlap <= len(items):
        raise UsageError(f"overlap of {overlap} among {len(items)} items", fix="Give 0 or more.")
    if overlap and not 2 <= sharers <= len(judges):
        raise UsageError(
            f"items shared by {sharers} of {len(judges)} judges",
            fix="It takes two judges to share an item, and no more than there are.",
        )


def _least_loaded(
    load: dict[str, int], wanted: int, random: np.random.Generator
) -> tuple[str, ...]:
    """Choose the judges with the fewest items so far, at random among equals; add to their load."""
    judges = list(load)
    mixed = [judges[at] for at in shuffled(len(judges), random)]
    chosen = set(sorted(mixed, key=load.__getitem__)[:wanted])
    for judge in chosen:
        load[judge] += 1
    return tuple(judge for judge in judges if judge in chosen)


def _with_repeats(
    dealt: Sequence[Item], judges: Sequence[str], repeats: int, random: np.random.Generator
) -> tuple[Item, ...]:
    after: dict[int, list[Item]] = {}
    for judge in judges:
        places = [place for place, item in enumerate(dealt) if judge in item.judges]
        half = len(places) // 2
        if not 0 <= repeats <= half:
            raise UsageError(
                f"{repeats} repeats for {judge!r}, who sees {len(places)} items",
                fix=f"At most {half} can come again half a list later.",
            )
        for first in shuffled(half, random)[:repeats]:
            later = places[int(random.integers(first + half, len(places)))]
            after.setdefault(later, []).append(_again(dealt[places[first]], judge, random))
    lines = [[item, *after.get(place, ())] for place, item in enumerate(dealt)]
    return tuple(item for line in lines for item in line)


def _again(item: Item, judge: str, random: np.random.Generator) -> Item:
    order = shuffled(len(item.systems), random)
    return replace(
        item,
        systems=tuple(item.systems[at] for at in order),
        groups=tuple(item.groups[at] for at in order),
        judges=(judge,),
        repeat=True,
    )
