"""How far judges agree, as values: counts, kappas, alphas, their public shape, and notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core import Layout, Ranking, Shown, Signature, records_layout
from grammeter.ranking.judged_units import Compared, Judges, Outputs
from grammeter.ranking.selection import FEW, figures_of, listed
from grammeter.stats import Alpha, Kappa
from grammeter.version import __version__

_NOTABLE = 0.01
"""Figures that differ by this much get a note."""

_SHOWN_AT_ONCE = 5
"""Number of outputs that an item shows in campaigns of distinct outputs."""

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

    All ``items``, skipped ones too; ``unexpanded`` pairs of outputs that were ranked together, and
    those that tied; the same for systems: those that wrote the same tie.
    """

    items: int
    unexpanded: int
    unexpanded_ties: int
    expanded: int
    expanded_ties: int


@dataclass(frozen=True, slots=True)
class Kappas:
    """Kappa by one definition.

    ``inter`` and ``intra`` are means over pairs of judges, and over judges with themselves,
    weighted by comparisons, with intervals by resampling sentences. ``pairs`` are by two judges in
    alphabetical order; twice the same judge is its own consistency. The pooled ones are of the
    summed counts of all of them, pairs with few comparisons, too.
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
    kind, kappas
        The definition of kappa that comes first; kappa by each definition.
    alpha_inter, alpha_intra
        Krippendorff's alpha (ordinal) of the ranks, between judges and within.
    counts, total
        By judge, in alphabetical order; and their sums.
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
        records = {name: _public(kappa) for name, kappa in kappas.items()}
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
        """Agreement of each pair of judges."""
        return self.kappas[self.kind].pairs

    @property
    def beside(self) -> KappaKind:
        """The other definition of kappa."""
        return next(kind for kind in self.kappas if kind != self.kind)

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape: NaN becomes ``null`` with a reason."""
        chosen, other = self.kappas[self.kind], self.kappas[self.beside]
        data = {
            "kind": AGREEMENT,
            "grammeter": __version__,
            "signature": str(self.signature),
            **self._figures(),
            "pairs": {
                "|".join(judges): _public(kappa) | {"in_mean": in_mean(kappa)}
                for judges, kappa in self.pairs.items()
            },
            "counts": {
                judge: asdict(of) for judge, of in [*self.counts.items(), (TOTAL, self.total)]
            },
            "pooled": _both(chosen.pooled_inter, chosen.pooled_intra),
            "beside": {"kappa": self.beside, **_both(other.inter, other.intra)},
        }
        if self.by_file:
            data["files"] = {path: part._figures() for path, part in self.by_file.items()}
        if self.unexpanded:
            data["unexpanded"] = self.unexpanded._figures()
        return data | {"notes": [*self.notes]}

    def _figures(self) -> dict[str, Any]:
        alphas = {"level": "ordinal", **_both(self.alpha_inter, self.alpha_intra)}
        return {**_both(self.inter, self.intra), "alpha": alphas}


def in_mean(kappa: Kappa) -> bool:
    """Whether the kappa of a pair of judges counts in the mean."""
    return kappa.n >= LEAST and not np.isnan(kappa.value)


def _both(inter: Kappa | Alpha, intra: Kappa | Alpha) -> dict[str, Any]:
    return {"inter": _public(inter), "intra": _public(intra)}


def _public(figure: Kappa | Alpha) -> dict[str, Any]:
    data = asdict(figure)
    interval = data.pop("interval") or {"reason": None}
    reason = data.pop("reason") or interval.pop("reason")
    name = "kappa" if isinstance(figure, Kappa) else "value"
    return figures_of({name: data.pop("value"), **data, **interval, "reason": reason})


def agreement_notes(
    agreement: Agreement, pairs: Compared, rankings: Sequence[Ranking], outputs: Outputs | None
) -> Iterator[str]:
    """Yield what a reader needs before believing the figures of these comparisons."""
    if files := agreement.by_file:
        yield f"judgments of {len(files)} files are pooled: {listed([*files])}"
    yield from _notes_of_few(pairs)
    yield from _notes_of_strangers(pairs)
    script, free = (agreement.kappas[kind].inter.value for kind in KINDS)
    if abs(script - free) >= _NOTABLE:
        yield (
            f"kappa by the script depends on the alphabetical order of the systems' names: between"
            f" judges {script:.4f}, orientation-free {free:.4f}"
        )
    if agreement.unexpanded:
        yield from _notes_of_expansion(agreement, agreement.unexpanded)
    elif not outputs and all(len(group) == 1 for r in rankings for group in r.groups):
        most = max((len(ranking.groups) for ranking in rankings), default=0)
        if most > _SHOWN_AT_ONCE:
            yield (
                f"items show up to {most} outputs, none of them by several systems: if equal"
                " outputs stand apart, their ties inflate agreement; give the outputs (--hyps) to"
                " see"
            )


def _notes_of_few(pairs: Compared) -> Iterator[str]:
    for same, judged in ((False, "by two judges"), (True, "twice by one judge")):
        some = [rows[:, 1] for (a, b), rows in pairs.rows.items() if (a == b) is same]
        compared_in = np.sum(some, axis=0) if some else np.zeros(0, dtype=np.int64)
        sentences, total = int(np.count_nonzero(compared_in)), int(compared_in.sum())
        if 0 < sentences < FEW:
            were = "sentence was" if sentences == 1 else "sentences were"
            yield (
                f"few judgments: {sentences} {were} judged {judged} ({total} comparisons); below"
                f" {FEW} sentences agreement is uncertain, also where it looks perfect"
            )


def _notes_of_strangers(pairs: Compared) -> Iterator[str]:
    """Yield which judges cannot be compared."""
    others = {judges: rows for judges, rows in pairs.rows.items() if judges[0] != judges[1]}
    nothing = [judges for judges, rows in others.items() if not rows[:, 1].any()]
    for shared, fault in (
        (False, "judged no sentence both"),
        (True, "judged the same sentences, but no two outputs both"),
    ):
        names = [" and ".join(judges) for judges in nothing if bool(pairs.shared[judges]) is shared]
        if names:
            yield f"{len(names)} of {len(others)} pairs of judges {fault}: {listed(names)}"


def _notes_of_expansion(apart: Agreement, joined: Agreement) -> Iterator[str]:
    chosen, other = apart.kappas[apart.kind], joined.kappas[joined.kind]
    for figure, separate, joint in (
        ("pooled kappa between judges", chosen.pooled_inter, other.pooled_inter),
        ("pooled kappa within judges", chosen.pooled_intra, other.pooled_intra),
        ("alpha between judges", apart.alpha_inter, joined.alpha_inter),
    ):
        if separate.n != joint.n or abs(separate.value - joint.value) >= _NOTABLE:
            yield (
                f"equal outputs stand apart in some rankings, and tie there by themselves: {figure}"
                f" {separate.value:.4f} (n {separate.n}), with equal outputs as one"
                f" {joint.value:.4f} (n {joint.n})"
            )
