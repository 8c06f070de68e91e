"""Which systems take part: those that both sides know, by choice or without outliers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from grammeter.core import BoolArray, DataError, FloatArray, UnknownNameError
from grammeter.ranking import named_systems

OUTLIER_CUTOFF = 2.5
"""Scaled deviations from the median beyond which a system is an outlier (Mathur et al. 2020)."""

_MAD_SCALE = 1.483
"""Makes the median absolute deviation of a normal variable its standard deviation."""


def select_systems(
    scored: Sequence[str],
    judged: Iterable[str],
    *,
    systems: Sequence[str] | None = None,
    drop: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the systems that take part, in the order in which they were scored or chosen.

    Parameters
    ----------
    scored, judged
        Who has scores by metrics, and by people.
    systems
        Names, or names of sets (:data:`grammeter.ranking.selection.SYSTEM_SETS`), or ``all``;
        default: all.
    drop
        Names to leave out.

    Raises
    ------
    DataError
        If a system stands on one side only and nothing says what to do with it, or a chosen
        one lacks a score; or if fewer than two are left.
    UnknownNameError
        If a name to drop stands on neither side.
    """
    known = dict.fromkeys([*scored, *(judged := list(judged))])
    for name in drop:
        if name not in known:
            raise UnknownNameError("system", name, known)
    wanted = known if systems is None else named_systems(systems, known)
    chosen = tuple(name for name in dict.fromkeys(wanted) if name not in drop)
    _check_scored(chosen, scored, judged)
    if len(chosen) < 2:
        raise DataError(
            f"systems to correlate: {len(chosen)}", fix="Leave two at least, better ten."
        )
    return chosen


def best_first(systems: Sequence[str], human: Mapping[str, float]) -> tuple[str, ...]:
    """Return systems in the order of people's scores; equal ones stay in the given order.

    Raises
    ------
    DataError
        If people gave one of them no score.
    """
    for name in systems:
        if not math.isfinite(human[name]):
            raise DataError(f"people gave {name!r} no score", fix=f"Leave it out: --drop {name}")
    return tuple(sorted(systems, key=lambda name: -human[name]))


def outliers(human: FloatArray, *, cutoff: float = OUTLIER_CUTOFF) -> BoolArray:
    """Find values far from the median, in units of the scaled median absolute deviation.

    Parameters
    ----------
    human
        Shape ``(systems,)``.
    cutoff
        ``|x - median| / (1.483 * MAD) > cutoff`` makes an outlier (Mathur et al. 2020, section
        4.1).

    Returns
    -------
    BoolArray
        Shape ``(systems,)``; none where half of the values or more are equal, for then the
        deviation has no scale.
    """
    away = np.abs(human - np.median(human))
    scale = _MAD_SCALE * np.median(away)
    return away > cutoff * scale if scale > 0 else np.zeros(len(human), dtype=np.bool_)


def _check_scored(chosen: Sequence[str], scored: Iterable[str], judged: Iterable[str]) -> None:
    without_score = [name for name in chosen if name not in scored]
    without_judgment = [name for name in chosen if name not in judged]
    if without_score or without_judgment:
        faults = [
            f"{what}: {', '.join(names)}"
            for what, names in (
                ("without a score by metrics", without_score),
                ("without a score by people", without_judgment),
            )
            if names
        ]
        raise DataError(
            f"systems {'; '.join(faults)}",
            fix="Say which systems to use: --systems NAME ..., or --drop NAME ...",
        )
