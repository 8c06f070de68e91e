"""How systems are compared: the test, its resamples, the correction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from grammeter.core.errors import UnknownNameError, UsageError
from grammeter.core.signature import Signature
from grammeter.stats.multiple import CORRECTIONS, Correction

Test = Literal["bootstrap", "randomisation"]
"""Paired bootstrap or approximate randomisation, both two-sided."""

TESTS: tuple[Test, ...] = get_args(Test)

FEW_SEGMENTS = 30
"""With fewer than these a bootstrap is overconfident; a note says so."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """How systems are compared: everything that a comparison's signature adds.

    Raises
    ------
    UsageError
        If a value is out of range or unknown.
    """

    baseline: str | None = None
    test: Test = "bootstrap"
    resamples: int = 1000
    seed: int = 1
    confidence: float = 0.95
    correction: Correction = "none"

    def __post_init__(self) -> None:
        if self.test not in TESTS:
            raise UnknownNameError("test", self.test, TESTS)
        if self.correction not in CORRECTIONS:
            raise UnknownNameError("correction", self.correction, CORRECTIONS)
        if self.resamples < 1 or self.seed < 0:
            raise UsageError(
                f"resamples={self.resamples}, seed={self.seed} is not possible",
                fix="Take at least one resample and a seed of at least 0.",
            )
        if not 0 < self.confidence < 1:
            raise UsageError(
                f"confidence={self.confidence} is not possible",
                fix="Give a number between 0 and 1, such as 0.95.",
            )

    @property
    def level(self) -> float:
        """The level of significance; rounded, so that 1 - 0.9 is 0.1."""
        return round(1 - self.confidence, 12)

    def limits(self, segments: int, comparisons: int) -> Iterator[str]:
        """Say what this design cannot show with so many segments and comparisons."""
        if segments < FEW_SEGMENTS and self.test == "bootstrap":
            yield (
                f"{segments} segments are few for a bootstrap: intervals and p-values come out too"
                " small; take p-values from --test randomisation"
            )
        strict = self.correction in ("holm", "bonferroni")
        smallest = (comparisons if strict else 1) / (self.resamples + 1)
        if comparisons and smallest > self.level:
            yield (
                f"no p-value can be below {smallest:.3g} here ({self.resamples} resamples,"
                f" {comparisons} comparisons, correction {self.correction}): take more --resamples"
            )

    def signature(self, of: Signature, resampling: str) -> Signature:
        """Extend a metric's signature; the prefix keeps apart what metrics also call so."""
        return of.extended(
            {
                "test": self.test,
                "test-resamples": self.resamples,
                "test-seed": self.seed,
                "test-unit": "sentence",
                "test-baseline": self.baseline,
                "confidence": self.confidence,
                "correction": self.correction,
                "resampling": resampling,
            }
        )
