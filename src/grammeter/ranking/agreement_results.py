"""How far judges agree, as values: counts, kappas, alphas, and their public shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core import Layout, Shown, Signature, json_number, records_layout
from grammeter.ranking.judged_units import Judges
from grammeter.stats import Alpha, Kappa
from grammeter.version import __version__

AGREEMENT = "agreement"
TOTAL = "total"

KappaKind = Literal["script", "orientation-free"]
"""How chance agreement is computed: with "better" and "worse" as they fall in alphabetical order of
the outputs' names, as the paper's script does, or equally likely, for that order means nothing."""

KINDS: tuple[KappaKind, ...] = get_args(KappaKind)

LEAST = 50
"""Pairs of judges with fewer comparisons do not count in the mean (the paper's rule)."""


@dataclass(frozen=True, slots=True)
class JudgeCounts:
    """Amount of work of one judge (Table 1 of the paper).

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
        The mean over pairs of judges, and over judges with themselves, weighted by comparisons,
        with intervals by resampling sentences.
    pairs
        By two judges in alphabetical order; twice the same judge is its own consistency.
    pooled_inter, pooled_intra
        Of the summed counts of all of them, pairs with few comparisons, too.
    """

    inter: Kappa
    intra: Kappa
    pairs: Mapping[Judges, Kappa]
    pooled_inter: Kappa
    pooled_intra: Kappa


@dataclass(frozen=True)
class Agreement(Shown):
    """How far judges agree.

    Attributes
    ----------
    kind
        The definition of kappa that comes first.
    kappas
        Kappa by each definition.
    alpha_inter, alpha_intra
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
    counts: Mapping[str, JudgeCounts]
    total: JudgeCounts
    by_file: Mapping[str, Agreement] = field(default_factory=dict["str", "Agreement"])
    unexpanded: Agreement | None = None
    notes: tuple[str, ...] = ()

    __repr__ = Shown.short

    def _layout(self) -> Layout:
        """Lay out a row for all pairs of judges, for all judges with themselves, and for each."""
        kappas = {"between judges": self.inter, "within judges": self.intra}
        kappas |= {" and ".join(dict.fromkeys(pair)): kappa for pair, kappa in self.pairs.items()}
        records = {name: _to_json(kappa) for name, kappa in kappas.items()}
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

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape: NaN becomes ``null`` with a reason."""
        other = self.kappas[self.beside]
        chosen = self.kappas[self.kind]
        counts = {**self.counts, TOTAL: self.total}
        data = {
            "kind": AGREEMENT,
            "grammeter": __version__,
            "signature": str(self.signature),
            **self._figures(),
            "pairs": {
                "|".join(judges): _to_json(kappa) | {"in_mean": in_mean(kappa)}
                for judges, kappa in self.pairs.items()
            },
            "counts": {judge: asdict(numbers) for judge, numbers in counts.items()},
            "pooled": {
                "inter": _to_json(chosen.pooled_inter),
                "intra": _to_json(chosen.pooled_intra),
            },
            "beside": {
                "kappa": self.beside,
                "inter": _to_json(other.inter),
                "intra": _to_json(other.intra),
            },
        }
        if self.by_file:
            data["files"] = {path: part._figures() for path, part in self.by_file.items()}
        if self.unexpanded:
            data["unexpanded"] = self.unexpanded._figures()
        return data | {"notes": [*self.notes]}

    def _figures(self) -> dict[str, Any]:
        return {
            "inter": _to_json(self.inter),
            "intra": _to_json(self.intra),
            "alpha": {
                "level": "ordinal",
                "inter": _to_json(self.alpha_inter),
                "intra": _to_json(self.alpha_intra),
            },
        }


def in_mean(kappa: Kappa) -> bool:
    """Whether the kappa of a pair of judges counts in the mean."""
    return kappa.n >= LEAST and not np.isnan(kappa.value)


def _to_json(figure: Kappa | Alpha) -> dict[str, Any]:
    value = json_number(figure.value)
    if isinstance(figure, Kappa):
        observed, chance = json_number(figure.observed), json_number(figure.chance)
        data: dict[str, Any] = {"kappa": value, "observed": observed, "chance": chance}
    else:
        data = {"value": value}
    data["n"] = figure.n
    if interval := figure.interval:
        data |= {"low": json_number(interval.low), "high": json_number(interval.high)}
    reason = figure.reason or (interval and interval.reason)
    return data | ({"reason": reason} if reason else {})
