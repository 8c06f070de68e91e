"""Which judgments a ranking is made from, and what its signature says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from grammeter.core.errors import DataError, UnknownNameError
from grammeter.core.judgment import Ranking, with_sentence_numbers
from grammeter.ranking.pairs import Extraction, Pairs, extract_pairs

EXTRACTIONS: tuple[Extraction, ...] = get_args(Extraction)


@dataclass(frozen=True, eq=False)
class Selection:
    """Comparisons, and what a signature shows of them."""

    pairs: Pairs
    shown: Mapping[str, object]


def select(
    rankings: Sequence[Ranking],
    *,
    judges: Sequence[str] | None = None,
    without_judges: Sequence[str] | None = None,
    extraction: Extraction = "expanded",
    numbering: str | None = None,
) -> Selection:
    """Compare systems two by two in the rankings of some judges.

    Parameters
    ----------
    judges
        Who is kept; default all. A system that none of them saw is absent.
    without_judges
        Who is left out.
    extraction
        See :data:`~grammeter.ranking.pairs.Extraction`.
    numbering
        How the file counted sentences, for the signature; what was read from files knows it.

    Raises
    ------
    UnknownNameError
        If a judge or the extraction is unknown.
    DataError
        If nothing is decided: every comparison is a tie, or there is none.
    """
    if extraction not in EXTRACTIONS:
        raise UnknownNameError("extraction", extraction, EXTRACTIONS)
    kept = with_sentence_numbers(of_judges(rankings, judges, without_judges))
    pairs = extract_pairs(kept, extraction=extraction)
    _check_decided(pairs)
    shown: dict[str, object] = {"extraction": extraction}
    shown["judges"] = len(pairs.judges) if judges is None else "+".join(pairs.judges)
    if without_judges:
        shown["without"] = "+".join(sorted(_named(without_judges)))
    counted = numbering or getattr(rankings, "numbering", None)  # Judgments have one
    if counted:
        shown["first-segment"] = counted
    shown |= {"systems": len(pairs.systems), "rankings": len(np.unique(pairs.ranking))}
    shown |= {"comparisons": len(pairs), "tied": int((pairs.outcome == 0).sum())}
    return Selection(pairs, shown)


def of_judges(
    rankings: Sequence[Ranking],
    judges: Sequence[str] | None = None,
    without_judges: Sequence[str] | None = None,
) -> list[Ranking]:
    """Keep the rankings of some judges.

    Raises
    ------
    UnknownNameError
        If a name is no judge's.
    """
    known = {ranking.judge for ranking in rankings}
    kept = known if judges is None else _named(judges)
    dropped = _named(without_judges or ())
    for name in sorted(kept | dropped):
        if name not in known:
            raise UnknownNameError("judge", name, known)
    return [ranking for ranking in rankings if ranking.judge in kept - dropped]


def _named(names: Sequence[str]) -> set[str]:
    return {names} if isinstance(names, str) else set(names)


def _check_decided(pairs: Pairs) -> None:
    if pairs.outcome.any():
        return
    told = f"all {len(pairs)} comparisons are ties" if len(pairs) else "there is no comparison"
    who = f" (judges: {', '.join(pairs.judges)})" if 0 < len(pairs.judges) < 4 else ""
    raise DataError(
        f"nothing to rank by: {told}{who}",
        fix="Ties, skipped items and items with one output do not tell systems apart.",
    )
