"""Which systems a meta-evaluation is about: those of scores and judgments, told by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grammeter.core.errors import DataError, UnknownNameError, UsageError


def chosen_systems(
    scored: Iterable[str],
    judged: Iterable[str],
    *,
    systems: Sequence[str] | None = None,
    drop: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the systems to use, in alphabetical order.

    Parameters
    ----------
    scored, judged
        The systems that metrics and people scored.
    systems
        Use these and no others; each must have both.
    drop
        Leave these out.

    Raises
    ------
    UsageError
        If a system is named that does not exist, or fewer than two are left.
    DataError
        If a system is scored or judged only, and neither option says what to do about it.
    """
    by_metric, by_people = set(scored), set(judged)
    for name in drop:
        if name not in by_metric | by_people:
            raise UnknownNameError("system", name, by_metric | by_people)
    for name in systems or ():
        if name not in by_metric & by_people:
            raise UnknownNameError("system with scores and judgments", name, by_metric & by_people)
    wanted = set(systems) if systems is not None else by_metric | by_people
    wanted -= set(drop)
    _refuse("no judgments", wanted - by_people, by_metric & by_people)
    _refuse("no scores", wanted - by_metric, by_metric & by_people)
    if len(wanted) < 2:
        raise UsageError(
            f"{len(wanted)} systems are left", fix="Two at least are needed to compare."
        )
    return tuple(sorted(wanted))


def _refuse(lacking: str, strangers: set[str], both: set[str]) -> None:
    if strangers:
        raise DataError(
            f"{lacking} of {', '.join(sorted(strangers))}",
            fix=f"Leave them out with --drop {' '.join(sorted(strangers))}, or say with --systems"
            f" which to use; in both are: {', '.join(sorted(both)) or 'none'}.",
        )
