"""From stored counts by error type to columns that are compared like metrics, a type each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grammeter.core import (
    TIERS,
    FloatArray,
    IntArray,
    MetricScores,
    Score,
    Tier,
    TypeCounts,
    UnknownNameError,
    UsageError,
)
from grammeter.metrics import metric
from grammeter.stats import PairedSamples
from grammeter.verbs._compare.design import ComparisonDesign

ABSENT = "neither the output nor its references have edits of this type"

MOST_COMPARISONS = 100_000
"""With more comparisons nobody could read the result, and it would take minutes."""


@dataclass(frozen=True, eq=False)
class TypeColumns:
    """The error types of one metric: for each type, scores and the rows to resample."""

    columns: Mapping[str, MetricScores]
    samples: Sequence[PairedSamples]


def type_columns(
    columns: Mapping[str, MetricScores], segments: int, wanted: bool | Tier
) -> dict[str, TypeColumns]:
    """Gather the error types of all metrics that have stored them.

    Parameters
    ----------
    columns
        Of a score table, by metric.
    segments
        How many sentences were scored.
    wanted
        The tier; ``True`` takes the types as they are stored.

    Raises
    ------
    UnknownNameError
        If there is no such tier.
    UsageError
        If no metric has stored counts by type, or they are of another tier.
    """
    if isinstance(wanted, str) and wanted not in TIERS:
        raise UnknownNameError("kind of types", wanted, TIERS)
    counted = {
        name: {system: _of_tier(name, column, counts, wanted) for system, counts in stored.items()}
        for name, column in columns.items()
        if (stored := column.type_counts)
    }
    if not counted:
        raise UsageError(
            f"no counts by error type are stored for {', '.join(columns) or 'no metric'}",
            fix="Score again: grammeter score -m errant --types ... -o FILE",
        )
    return {
        name: _columns(_named(columns[name], wanted), counts, segments)
        for name, counts in counted.items()
    }


def check_number(comparisons: int, systems: int) -> None:
    """Refuse more comparisons than can be read."""
    if comparisons > MOST_COMPARISONS:
        raise UsageError(
            f"{comparisons:,} comparisons: each type of {systems} systems by all pairs",
            fix="Name a baseline, compare fewer systems, or take the types operation or main.",
        )


def bounded_by_sentences(
    pvalues: FloatArray, samples: PairedSamples, pairs: IntArray
) -> FloatArray:
    """Bound p-values by what the few sentences with an error type can show.

    If two systems differ in k sentences, an exact test that swaps them there gives at least
    ``2 ** (1 - k)``. That is also the p-value where every resample gives the same difference, so
    that a bootstrap has none: then each of these sentences speaks for the same system.
    """
    first, second = (samples.rows[at] for at in pairs.T)
    differing = (first != second).any(axis=-1).sum(axis=-1)
    least = np.minimum(1.0, np.exp2(1.0 - differing))
    return np.where(np.isnan(pvalues), least, np.maximum(pvalues, least))


def type_notes(name: str, types: int, comparisons: int, design: ComparisonDesign) -> Iterator[str]:
    """Say how many comparisons by type there are, and what that means."""
    for text in design.limits_of_resamples(comparisons) if comparisons else ():
        yield f"{name}, by error type: {text}"
    family = f"{name}: {comparisons:,} comparisons by error type ({types} types)"
    if design.correction == "none" and comparisons > 1:
        yield (
            f"{family}, not corrected: about {comparisons * design.level:.0f} come out as"
            " significant by chance alone; take --correction"
        )
    elif comparisons > 1:
        yield f"{family} are one family, corrected by {design.correction}, apart from the whole"


def _of_tier(
    name: str, column: MetricScores, counts: TypeCounts, wanted: bool | Tier
) -> TypeCounts:
    stored = dict(column.signature).get("types", "full")
    if wanted is True or wanted == stored:
        return counts
    scheme = dict(column.signature).get("type-scheme", "")
    if stored != "full" or (wanted == "main" and not any(":" in kind for kind in counts.names)):
        raise UsageError(
            f"{name}: types of the kind {wanted} cannot be made of those stored ({stored},"
            f" {scheme})",
            fix=f"Score again with --types {wanted}, or leave the word out.",
        )
    assert isinstance(wanted, str)
    return counts.folded(wanted)


def _named(column: MetricScores, wanted: bool | Tier) -> MetricScores:
    """Let the signature name the tier that is compared."""
    if wanted is True or "types" not in dict(column.signature):
        return column
    return replace(column, signature=column.signature.extended({"types": wanted}))


def _columns(column: MetricScores, counts: Mapping[str, TypeCounts], segments: int) -> TypeColumns:
    scorer = metric(column.metric)
    signature = column.signature
    kinds = sorted({kind for of_system in counts.values() for kind in of_system.names})
    columns: dict[str, MetricScores] = {}
    samples: list[PairedSamples] = []
    for kind in kinds:
        rows = np.stack([of_system.by_sentence(kind, segments) for of_system in counts.values()])
        totals = rows.sum(axis=1)
        values = scorer.type_values(totals)
        scores = {
            system: Score(
                value=float(value) if total.any() else math.nan,
                signature=signature,
                n=segments,
                parts=dict(zip(("tp", "fp", "fn"), total.tolist(), strict=True)),
                reason=None if total.any() else ABSENT,
            )
            for system, value, total in zip(counts, values, totals, strict=True)
        }
        columns[kind] = replace(column, scores=scores, statistics={}, segments={})
        samples.append(PairedSamples(rows.astype(np.float64), scorer.type_values))
    return TypeColumns(columns, samples)
