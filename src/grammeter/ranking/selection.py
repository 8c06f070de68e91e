"""The judgments that a ranking is made from, and how its signature describes them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from grammeter import core
from grammeter.core import Ranking
from grammeter.ranking.pairs import EXTRACTIONS, Extraction, Pairs, by_first_listed, extract_pairs

_SEEDA = (
    *("BART", "BERT-fuse", "GECToR-BERT", "GECToR-ens", "LM-Critic", "PIE", "REF-M"),
    *("Riken-Tohoku", "T5", "TemplateGEC", "TransGEC", "UEDIN-MS"),
)
SYSTEM_SETS: Mapping[str, tuple[str, ...]] = {
    "base": _SEEDA, "+input": (*_SEEDA, "INPUT"), "+fluent": (*_SEEDA, "REF-F", "GPT-3.5"),
}  # fmt: skip
"""The sets of SEEDA (Kobayashi et al. 2024); ``all`` is no choice, for SEEDA or any data."""

FEW = 30
"""Sentences, or comparisons of a system, below which a note warns.

A 95% percentile interval of the mean of n normal values holds the truth in 85% of cases for n = 5,
90% for 10, 94% for 30 (Student's t at ``1.96 * sqrt((n - 1) / n)``). With 30 comparisons the
standard error of a share is still .09.
"""

FEW_SYSTEMS = 10  # correlations of fewer systems get a note
_Names = Sequence[str] | None
Judged = TypeVar("Judged", Ranking, core.EditItem, core.Rating)


@dataclass(frozen=True, eq=False)
class Selection:
    """Rankings and their comparisons, with their part of the signature and the notes on them."""

    rankings: Sequence[Ranking]
    pairs: Pairs
    shown: Mapping[str, object]
    notes: tuple[str, ...] = ()


def select(
    rankings: Sequence[Ranking],
    *, judges: Sequence[str] | None = None, without_judges: Sequence[str] | None = None,
    systems: Sequence[str] | None = None, drop: Sequence[str] = (),
    extraction: Extraction = "expanded",
) -> Selection:  # fmt: skip
    """Compare systems two by two in the rankings of some judges.

    The options are those of :func:`grammeter.rank`. A system that none of the judges saw is absent.
    Unknown names are errors, and judgments that decide nothing.
    """
    core.UnknownNameError.check("extraction", extraction, EXTRACTIONS)
    chosen = core.with_sentence_numbers(of_judges(rankings, judges, without_judges))
    chosen = _among(by_first_listed(chosen, extraction), systems, drop)
    pairs = extract_pairs(chosen, extraction=extraction)
    if not pairs.outcome.any():
        fault = f"all {len(pairs)} comparisons are ties" if len(pairs) else "there is no comparison"
        who = f" (judges: {', '.join(pairs.judges)})" if 0 < len(pairs.judges) < 4 else ""
        fix = "Ties, skipped items and items with one output do not tell systems apart."
        raise core.DataError(f"nothing to rank by: {fault}{who}", fix=fix)
    shown: dict[str, object] = {"extraction": extraction}
    shown["judges"] = len(pairs.judges) if judges is None else "+".join(pairs.judges)
    if without_judges:
        shown["without"] = "+".join(sorted(_named(without_judges)))
    if drop:
        shown["dropped"] = "+".join(sorted(_named(drop)))
    if systems is not None:
        shown["chosen"] = "+".join(pairs.systems)
    shown |= numbering_of(rankings)
    shown |= {"systems": len(pairs.systems), "rankings": len(np.unique(pairs.ranking))}
    shown |= {"comparisons": len(pairs), "tied": int((pairs.outcome == 0).sum())}
    notes = [*notes_of(rankings), *notes_of_few(pairs)]
    groups = sum(len(group) > 1 for ranking in chosen for group in ranking.groups)
    if extraction == "unexpanded" and groups:
        notes.append("unexpanded: the first name of the alphabet stands for the systems of"
                     f" {groups} outputs, so scores depend on names")  # fmt: skip
    return Selection(chosen, pairs, shown, tuple(notes))


def of_judges(
    rankings: Sequence[Judged], judges: _Names = None, without: _Names = None
) -> list[Judged]:
    """Keep the judgments of some judges, ``without`` others; an unknown name is an error."""
    known = {ranking.judge for ranking in rankings}
    wanted, dropped = known if judges is None else _named(judges), _named(without or ())
    for name in sorted(wanted | dropped):
        core.UnknownNameError.check("judge", name, known)
    return [ranking for ranking in rankings if ranking.judge in wanted - dropped]


def _among(rankings: Sequence[Ranking], systems: _Names, drop: Sequence[str]) -> Sequence[Ranking]:
    if systems is None and not drop:
        return rankings
    known = {name: None for ranking in rankings for name in ranking.systems}
    remaining = chosen_systems("judged system", known, systems, drop)
    if len(remaining) < 2:
        raise core.DataError(f"systems to rank: {len(remaining)}", fix="Leave two at least.")
    return [ranking.with_systems(remaining) for ranking in rankings]


def chosen_systems(
    what: str, known: Collection[str], systems: _Names, drop: Sequence[str]
) -> set[str]:
    """Return the systems that take part; an unknown one is an error that says ``what`` it is."""
    wanted = set(known if systems is None else named_systems(systems, known))
    for name in sorted(wanted | _named(drop)):
        core.UnknownNameError.check(what, name, known)
    return wanted - _named(drop)


def named_systems(systems: Sequence[str], known: Collection[str]) -> list[str]:
    """Spell out names of systems and of :data:`SYSTEM_SETS`; a system's own name comes first."""
    names = [systems] if isinstance(systems, str) else systems
    if list(names) == ["all"] and "all" not in known:
        return list(known)
    meant = [(name,) if name in known else SYSTEM_SETS.get(name, (name,)) for name in names]
    return [name for spelled in meant for name in spelled]


def numbering_of(rankings: Sequence[Ranking]) -> dict[str, object]:
    """Return for a signature how sentences were counted; what was read from files knows it."""
    counted = getattr(rankings, "numbering", None)
    return {"first-segment": counted} if counted else {}


def notes_of(rankings: Sequence[object]) -> tuple[str, ...]:
    """Return the notes made when the judgments were read."""
    return getattr(rankings, "notes", ())


def notes_of_few(pairs: Pairs) -> Iterator[str]:
    """Yield a note where judgments are too few for reliable ranges and clusters."""
    sentences, rankings = (len(np.unique(ids)) for ids in (pairs.segment, pairs.ranking))
    if sentences < FEW:
        yield (f"few judgments: {len(pairs)} comparisons in {rankings} rankings of {sentences}"
               f" {'sentence' if sentences == 1 else 'sentences'}; below {FEW} sentences ranges of"
               " ranks are too narrow and systems seem to differ by chance")  # fmt: skip
    both, size = np.concatenate([pairs.first, pairs.second]), len(pairs.systems)
    counts = np.bincount(both, minlength=size).tolist()
    few = [f"{name} ({n})" for name, n in zip(pairs.systems, counts, strict=True) if n < FEW]
    if few:
        yield f"systems with fewer than {FEW} comparisons: {core.listed(few)}"


def notes_of_few_systems(number: int) -> Iterator[str]:
    """Yield a note where correlations are of few systems."""
    if number < FEW_SYSTEMS:
        yield f"{number} systems are few: correlations vary widely by chance"


def _named(names: Sequence[str]) -> set[str]:
    return {names} if isinstance(names, str) else set(names)
