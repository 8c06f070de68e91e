"""How systems are compared: the test, its resamples, the correction."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, get_args

from grammeter.core import Signature, UnknownNameError, UsageError, check_drawing
from grammeter.stats import CORRECTIONS, Correction

Test = Literal["bootstrap", "randomisation"]
"""Paired bootstrap or approximate randomisation, both two-sided."""

STRICT: tuple[Correction, ...] = ("holm", "bonferroni")
"""Corrections that bound the chance of any false alarm."""

FEW_SEGMENTS = 30  # with fewer than these a bootstrap is overconfident; a note says so
FEW_UNITS = 20  # with fewer documents than these no interval is to be trusted; a note says so
RESAMPLES = 1000  # how many are drawn where nothing is corrected
EACH = 80  # resamples for each comparison under a correction: adjusted p-values can reach 1/80
MOST_VALUES = 200_000_000  # resampled scores that are kept at once: 1.5 GB
WORK = 2_000_000  # systems times resamples that take seconds


def least_pvalue(segments: int) -> float:
    """Return the smallest two-sided p that so many sentences can show: two swaps of all 2^n."""
    return 2.0 ** (1 - segments) if segments else 1.0


def few_units(unit: str, units: int | None) -> Iterator[str]:
    """Say whether there are too few units for an interval; ``units``: ``None`` for sentences."""
    if units is not None and units < FEW_UNITS:
        yield f"an interval from so few units is not to be trusted ({unit}: {units})"


@dataclass(frozen=True, kw_only=True)
class ComparisonDesign:
    """How systems are compared: everything that a comparison's signature adds."""

    baseline: str | None = None
    test: Test = "bootstrap"
    resamples: int = RESAMPLES
    seed: int = 1
    confidence: float = 0.95
    correction: Correction = "none"
    unit: str = "sentence"
    units: int | None = None  # how many; None for sentences

    def __post_init__(self) -> None:
        for name, known in {"test": get_args(Test), "correction": CORRECTIONS}.items():
            UnknownNameError.check(name, getattr(self, name), known)
        check_drawing(self.resamples, self.seed, self.confidence, least=1)

    @property
    def level(self) -> float:
        """The level of significance; rounded, so that 1 - 0.9 is 0.1."""
        return round(1 - self.confidence, 12) or 1e-12

    def comparisons(self, systems: int) -> int:
        """Return how many pairs of so many systems are compared."""
        return systems * (systems - 1) // 2 if self.baseline is None else systems - 1

    def limits(self, segments: int, comparisons: int) -> Iterator[str]:
        """Say what this design cannot show with so many segments and comparisons."""
        if self.units is None and segments < FEW_SEGMENTS and self.test == "bootstrap":
            limit = "intervals and p-values come out too small; take p-values from"
            yield f"segments are few for a bootstrap ({segments}): {limit} --test randomisation"
        yield from few_units(self.unit, self.units)
        drawn = segments if self.units is None else self.units
        if not comparisons:
            yield "there is one system: nothing is compared, the interval is all there is"
        elif (least := least_pvalue(drawn)) > self.level:
            few = f"{self.unit}s are too few ({drawn}) to show a difference"
            yield f"{few}: no p-value can be below {least:.3g}"
        else:
            yield from self.limits_of_resamples(comparisons)
        if comparisons == 1 and self.correction != "none":
            yield f"correction {self.correction} has no effect: there is one comparison"

    def limits_of_resamples(self, comparisons: int) -> Iterator[str]:
        """Say what so many resamples cannot show of so many comparisons."""
        counts = f"{self.resamples:,} resamples, {comparisons:,} comparisons"
        where, strict = f"({counts}, correction {self.correction})", self.correction in STRICT
        smallest = (comparisons if strict else 1) / (self.resamples + 1)
        needed = math.ceil(comparisons / (self.level * (self.resamples + 1)) - 1e-9)
        if smallest > self.level or (strict and self.resamples < self.wanted(comparisons)):
            yield f"no p-value can be below {smallest:.3g} here {where}: take more --resamples"
        elif self.correction == "benjamini-hochberg" and needed > 1:
            clear = f"unless {needed:,} comparisons are as clear as resamples can show {where}"
            yield f"few resamples: nothing is significant here {clear}"

    def check_size(self, values: int) -> None:
        """Refuse more resampled scores (``values`` in each resample) than memory holds."""
        if values * self.resamples > MOST_VALUES:
            fault = f"{self.resamples:,} resamples of {values} scores need"
            fault += f" {values * self.resamples * 8 / 2**30:,.0f} GB"
            fix = f"Take at most {MOST_VALUES // values} resamples, or fewer metrics (-m)."
            raise UsageError(fault, fix=fix)

    def wanted(self, comparisons: int) -> int:
        """How many resamples let a correction tell systems apart at this level."""
        return max(RESAMPLES, comparisons * max(EACH, math.ceil(4 / self.level)))

    def settled(
        self, systems: int, comparisons: int, *, fixed: bool
    ) -> "tuple[ComparisonDesign, list[str]]":
        """Choose the number of resamples, unless it is fixed, and say what that changes.

        Without a correction :data:`RESAMPLES`, else :meth:`wanted`. Where a strict correction
        would take more than seconds, Benjamini-Hochberg is taken.
        """
        if fixed:
            return self, []
        if self.correction == "none":
            return replace(self, resamples=RESAMPLES), []
        wanted = self.wanted(comparisons)
        share = 4 if self.test == "randomisation" else 100  # pairs that cost as much as a system
        possible = max(RESAMPLES, WORK // max(1, systems + comparisons // share))
        resamples = min(wanted, possible)
        if wanted <= possible or self.correction not in STRICT:
            return replace(self, resamples=resamples), []
        note = (
            f"{self.correction} over {comparisons:,} comparisons needs {wanted:,} resamples"
            f" (--resamples {wanted}), which takes more than seconds: Benjamini-Hochberg was taken"
            f" instead, with {resamples:,}. It bounds the share of false alarms among all alarms,"
            " not the chance of any"
        )
        return replace(self, resamples=resamples, correction="benjamini-hochberg"), [note]

    def signature(self, of: Signature, resampling: str) -> Signature:
        """Extend a metric's signature; the prefix keeps apart what metrics also call so."""
        unit = self.unit if self.units is None else f"{self.unit}({self.units})"
        settings = {
            "test": self.test, "test-resamples": self.resamples, "test-seed": self.seed,
            "test-unit": unit, "test-baseline": self.baseline, "confidence": self.confidence,
            "correction": self.correction, "resampling": resampling,
        }  # fmt: skip
        return of.extended(settings)
