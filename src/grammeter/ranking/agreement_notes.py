"""What a reader needs to know before believing figures of agreement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from grammeter.core import Ranking
from grammeter.ranking.agreement_results import Agreement
from grammeter.ranking.judged_units import Compared, Outputs
from grammeter.ranking.kappas import KINDS
from grammeter.ranking.selection import FEW, listed

_NOTABLE = 0.01
"""Figures that differ by this much get a note."""

_SHOWN_AT_ONCE = 5
"""Number of outputs that an item shows in campaigns of distinct outputs."""


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
