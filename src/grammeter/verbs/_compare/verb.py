"""The verb ``compare``: systems on the same sentences, all of them or two sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import overload

from grammeter.core import Tier, UsageError, checked
from grammeter.formats import metric_name, read_any_scores
from grammeter.stats import Correction
from grammeter.verbs._compare.design import RESAMPLES, ComparisonDesign, Test
from grammeter.verbs._compare.differences import Difference
from grammeter.verbs._compare.differences import difference as subtract
from grammeter.verbs._compare.results import Comparison
from grammeter.verbs._compare.samples import Comparable, as_table
from grammeter.verbs._compare.systems import compare_systems

SHOWN = 10


@overload
def compare(
    table: Comparable | str | Path,
    *,
    baseline: str | None = None,
    test: Test = "bootstrap",
    resamples: int | None = None,
    seed: int = 1,
    confidence: float = 0.95,
    correction: Correction = "none",
    metrics: Sequence[str] | None = None,
    types: bool | Tier = False,
    difference: None = None,
) -> Comparison: ...
@overload
def compare(
    table: Comparable | str | Path,
    *,
    difference: Sequence[str],
    show: int = SHOWN,
    metrics: Sequence[str] | None = None,
    types: bool | Tier = False,
) -> Difference: ...
@checked
def compare(
    table: Comparable | str | Path,
    *,
    baseline: str | None = None,
    test: Test = "bootstrap",
    resamples: int | None = None,
    seed: int = 1,
    confidence: float = 0.95,
    correction: Correction = "none",
    metrics: Sequence[str] | None = None,
    types: bool | Tier = False,
    difference: Sequence[str] | None = None,
    show: int = SHOWN,
) -> Comparison | Difference:
    """Compare systems on the same sentences, against a baseline or every pair.

    Parameters
    ----------
    table
        Scores with statistics, or with sentence values whose mean is the score; or judgments,
        whose sentence means are compared; or a file of these.
    baseline
        Name of a system; ``None`` compares every pair and gives letters.
    test
        Where p-values come from; intervals always come from the bootstrap.
    resamples
        How often the sentences are drawn. ``None`` chooses 1,000 or, with a correction, at least
        80 for each comparison; where these take more than seconds, as with hundreds of systems,
        ``benjamini-hochberg`` takes the place of ``holm`` and ``bonferroni``, and a note says so.
    seed
        Where chance starts; the draws are shared by all systems and metrics.
    confidence
        Of the intervals; ``1 - confidence`` is the level at which letters tell systems apart.
    correction
        For the family of all comparisons under one metric.
    metrics
        Spellings to compare, all in the table by default.
    types
        Also compare by error type: ``operation``, ``main`` or ``full``, or ``True`` for the types
        as they are stored. Under one metric all types and pairs are one family of comparisons.
    difference
        Two systems: list sentences, or types, sorted by the first one's score minus the second's,
        and test nothing; see :func:`grammeter.difference`.
    show
        With ``difference``: how many from either end, 0: all.

    Raises
    ------
    UnknownNameError
        If there is no such system, metric, test or correction.
    UsageError
        If a number is out of range, types are wanted that are not stored, or an option has no
        effect.
    DataError
        If the table has no statistics, or systems have different segments.
    """
    source = read_any_scores(table) if isinstance(table, str | Path) else table
    name = metric_name(table) if isinstance(table, str | Path) else "judgments"
    scores = as_table(source, name, judged_only=difference is None)
    notices: tuple[str, ...] = getattr(source, "notices", ())
    design = ComparisonDesign(
        baseline=baseline, test=test, resamples=RESAMPLES if resamples is None else resamples,
        seed=seed, confidence=confidence, correction=correction,
    )  # fmt: skip
    if difference is not None:
        _check_untested(design, resamples)
        if len(difference) != 2:
            raise UsageError(f"a difference of {len(difference)} systems", fix="Name two.")
        listed = subtract(scores, *difference, metrics=metrics, types=types, show=show)
        return replace(listed, notices=notices)
    if show != SHOWN:
        raise UsageError("--show has no effect without --difference", fix="Leave it out.")
    fixed = resamples is not None
    compared = compare_systems(scores, design, fixed=fixed, metrics=metrics, types=types)
    return replace(compared, notices=notices)


def _check_untested(design: ComparisonDesign, resamples: int | None) -> None:
    """Refuse options of the tests, which do not concern single sentences."""
    usual = asdict(ComparisonDesign())
    unused = [f"--{n}" for n, value in asdict(design).items() if value != usual[n]]
    unused += ["--resamples"] if resamples == RESAMPLES else []
    if unused:
        raise UsageError(
            f"--difference tests nothing: no effect of {', '.join(unused)}",
            fix=f"Leave out {' and '.join(unused)}.",
        )
