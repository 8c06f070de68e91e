"""How far judges agree, as values: counts, kappas, alphas, and their public shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core import Layout, Shown, Signature, json_number, records_layout
from grammeter.ranking.judged_units import Judges
from grammeter.ranking.resampled_agreement import Interval
from grammeter.stats import Alpha, Kappa
from grammeter.version import __version__

KIND = "agreement"
TOTAL = "total"

KappaKind = Literal["script", "orientation-free"]
"""How chance agreement is taken: with "better" and "worse" as they fall in alphabetical order of
the outputs' names, as the paper's script does, or equally likely, for that order means nothing."""

KINDS: tuple[KappaKind, ...] = get_args(KappaKind)

LEAST = 50
"""Pairs of judges with fewer comparisons do not count in the mean (the paper's rule)."""


@dataclass(frozen=True, slots=True)
class JudgeCounts:
    """What one judge did (Table 1 of the paper).

    Attributes
    ----------
    items
        All items, skipped ones too.
    unexpanded, unexpanded_ties
        Pairs of outputs that were ranked together, and those that tied.
    expanded, expanded_ties
        The same for systems; systems that wrote the same tie.
    """

    items: int
    unexpanded: int
    unexpanded_ties: int
    expanded: int
    expanded_ties: int


@dataclass(frozen=True, slots=True)
class Kappas:
    """Kappa by one definition.

    Attributes
    ----------
    inter, intra
        The mean over pairs of judges, and over judges with themselves, weighted by comparisons.
    pairs
        By two judges in alphabetical order; twice the same judge is its own consistency.
    pooled_inter, pooled_intra
        Of the summed counts of all of them, pairs with few comparisons, too.
    inter_interval, intra_interval
        Of the means, by resampling sentences.
    """

    inter: Kappa
    intra: Kappa
    pairs: Mapping[Judges, Kappa]
    pooled_inter: Kappa
    pooled_intra: Kappa
    inter_interval: Interval
    intra_interval: Interval


@dataclass(frozen=True)
class Agreement(Shown):
    """How far judges agree.

    Attributes
    ----------
    kind
        The definition of kappa that is asked for.
    kappas
        Kappa by each definition.
    alpha_inter, alpha_intra, alpha_inter_interval, alpha_intra_interval
        Krippendorff's alpha (ordinal) of the ranks, between judges and within.
    counts
        By judge, in alphabetical order.
    total
        The sums of the counts.
    by_file
        The same for each file of several, without intervals.
    unexpanded
        The same with equal outputs as one, where some stand apart; else ``None``.
    """

    kind: KappaKind
    signature: Signature
    kappas: Mapping[KappaKind, Kappas]
    alpha_inter: Alpha
    alpha_intra: Alpha
    alpha_inter_interval: Interval
    alpha_intra_interval: Interval
    counts: Mapping[str, JudgeCounts]
    total: JudgeCounts
    by_file: Mapping[str, Agreement] = field(default_factory=dict["str", "Agreement"])
    unexpanded: Agreement | None = None
    notes: tuple[str, ...] = ()

    __repr__ = Shown.short

    def _layout(self) -> Layout:
        """Lay out a row for all pairs of judges, for all judges with themselves, and for each."""
        found = {"between judges": self.inter, "within judges": self.intra}
        found |= {" and ".join(dict.fromkeys(pair)): kappa for pair, kappa in self.pairs.items()}
        records = {name: _kappa_to_json(kappa) for name, kappa in found.items()}
        return records_layout("judges", records, notes=[*self.notes, str(self.signature)])

    @property
    def inter(self) -> Kappa:
        """Agreement between judges."""
        return self.kappas[self.kind].inter

    @property
    def intra(self) -> Kappa:
        """Agreement of judges with themselves."""
        return self.kappas[self.kind].intra

    @property
    def pairs(self) -> Mapping[tuple[str, str], Kappa]:
        """Agreement of each pair of judges; see :class:`Kappas`."""
        return self.kappas[self.kind].pairs

    @property
    def beside(self) -> KappaKind:
        """The other definition of kappa."""
        return next(kind for kind in self.kappas if kind != self.kind)

    def to_json(self) -> dict[str, Any]:
        """Return the public shape: NaN becomes ``null`` with a reason."""
        other = self.kappas[self.beside]
        chosen = self.kappas[self.kind]
        counts = {**self.counts, TOTAL: self.total}
        data = {
            "kind": KIND,
            "grammeter": __version__,
            "signature": str(self.signature),
            **self._figures(),
            "pairs": {
                "|".join(judges): _kappa_to_json(found) | {"in_mean": in_mean(found)}
                for judges, found in self.pairs.items()
            },
            "counts": {judge: asdict(found) for judge, found in counts.items()},
            "pooled": {
                "inter": _kappa_to_json(chosen.pooled_inter),
                "intra": _kappa_to_json(chosen.pooled_intra),
            },
            "beside": {
                "kappa": self.beside,
                "inter": _kappa_to_json(other.inter, other.inter_interval),
                "intra": _kappa_to_json(other.intra, other.intra_interval),
            },
        }
        if self.by_file:
            data["files"] = {path: part._figures() for path, part in self.by_file.items()}
        if self.unexpanded:
            data["unexpanded"] = self.unexpanded._figures()
        return data | {"notes": [*self.notes]}

    def _figures(self) -> dict[str, Any]:
        chosen = self.kappas[self.kind]
        return {
            "inter": _kappa_to_json(self.inter, chosen.inter_interval),
            "intra": _kappa_to_json(self.intra, chosen.intra_interval),
            "alpha": {
                "level": "ordinal",
                "inter": _alpha_to_json(self.alpha_inter, self.alpha_inter_interval),
                "intra": _alpha_to_json(self.alpha_intra, self.alpha_intra_interval),
            },
        }


def in_mean(found: Kappa) -> bool:
    """Whether the kappa of a pair of judges counts in the mean."""
    return found.n >= LEAST and not np.isnan(found.value)


def _kappa_to_json(found: Kappa, interval: Interval | None = None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "kappa": json_number(found.value),
        "observed": json_number(found.observed),
        "chance": json_number(found.chance),
        "n": found.n,
    }
    return data | _rest(found, interval)


def _alpha_to_json(found: Alpha, interval: Interval | None = None) -> dict[str, Any]:
    data: dict[str, Any] = {"value": json_number(found.value), "n": found.n}
    return data | _rest(found, interval)


def _rest(found: Kappa | Alpha, interval: Interval | None) -> dict[str, Any]:
    """Return the interval, and why it or the value is missing."""
    data: dict[str, Any] = {}
    if interval:
        data = {"low": json_number(interval.low), "high": json_number(interval.high)}
    reason = found.reason or (interval and interval.reason)
    return data | ({"reason": reason} if reason else {})
