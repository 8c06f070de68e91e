"""How far judges agree, with each other and with themselves.

Kappa and the counts are those of Grundkiewicz, Junczys-Dowmunt and Gillian (2015), section 4.4,
computed as their script does. Krippendorff's alpha of the ranks stands beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, replace

import numpy as np

from grammeter.core import (
    DataError,
    Ranking,
    Signature,
    UnknownNameError,
    with_sentence_numbers,
)
from grammeter.ranking.agreement_notes import agreement_notes
from grammeter.ranking.agreement_results import (
    AGREEMENT,
    KINDS,
    LEAST,
    TOTAL,
    Agreement,
    JudgeCounts,
    KappaKind,
    Kappas,
    in_mean,
)
from grammeter.ranking.judged_units import (
    BETTER,
    WORSE,
    Compared,
    Judges,
    Outputs,
    compared,
    equal_outputs_joined,
    numbered,
    values_between,
    values_within,
)
from grammeter.ranking.pairs import extract_pairs
from grammeter.ranking.resampled_agreement import (
    Resamples,
    alpha_interval,
    kappa_interval,
)
from grammeter.ranking.selection import notes_of, of_judges
from grammeter.stats import Kappa, krippendorff_alpha, mean_kappa
from grammeter.stats import kappa as kappa_of

ALIKE: Mapping[KappaKind, tuple[int, ...]] = {"script": (), "orientation-free": (BETTER, WORSE)}


def measure_agreement(
    rankings: Sequence[Ranking],
    *,
    kappa: KappaKind = "script",
    judges: Sequence[str] | None = None,
    without_judges: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 1,
    confidence: float = 0.95,
    outputs: Outputs | None = None,
    numbering: str | None = None,
) -> Agreement:
    """Measure the agreement of judges on pairs of outputs; see :func:`grammeter.agree`."""
    if kappa not in KINDS:
        raise UnknownNameError("kappa", kappa, KINDS)
    drawn = Resamples(runs=resamples, seed=seed, confidence=confidence)
    chosen = of_judges(rankings, judges, without_judges)
    names = sorted({ranking.judge for ranking in chosen})
    if not names or TOTAL in names:
        fault = "a judge is called 'total', like the sum of all judges" if names else "no judgment"
        raise DataError(fault, fix="Rename the judge." if names else "Give one at least.")
    shown: dict[str, object] = {"kappa": kappa, "least": LEAST}
    shown |= {"alpha": "ordinal", "alpha-ranks": "mid", "unit": "sentence", **drawn.shown()}
    shown["judges"] = len(names) if judges is None and not without_judges else "+".join(names)
    counted = numbering or getattr(rankings, "numbering", None)  # Judgments have one
    if counted:
        shown["first-segment"] = counted
    signature = Signature.of(AGREEMENT, shown | {"items": len(chosen)})
    files = {
        path: _measured(part, kappa, Resamples(runs=0), signature)
        for path, part in _by_file(rankings, names).items()
    }
    apart = _apart(chosen, outputs)
    unexpanded = _measured(apart, kappa, Resamples(runs=0), signature) if apart else None
    agreement = _measured(chosen, kappa, drawn, signature)
    agreement = replace(agreement, by_file=files, unexpanded=unexpanded)
    pairs = compared(numbered(with_sentence_numbers(chosen)))
    notes = (*notes_of(rankings), *agreement_notes(agreement, pairs, chosen, outputs))
    return replace(agreement, notes=notes)


def _measured(
    rankings: Sequence[Ranking], kind: KappaKind, drawn: Resamples, signature: Signature
) -> Agreement:
    counts = _count(rankings, sorted({ranking.judge for ranking in rankings}))
    ordered = numbered(with_sentence_numbers(rankings))
    pairs = compared(ordered)
    between, within = values_between(ordered), values_within(ordered)
    return Agreement(
        kind,
        signature,
        {definition: _kappas(pairs, definition, drawn) for definition in KINDS},
        replace(krippendorff_alpha(between[0]), interval=alpha_interval(*between, drawn)),
        replace(krippendorff_alpha(within[0]), interval=alpha_interval(*within, drawn)),
        counts,
        _sum(counts.values()),
    )


def _kappas(pairs: Compared, kind: KappaKind, drawn: Resamples) -> Kappas:
    alike = ALIKE[kind]
    kappas = {
        judges: kappa_of(rows.sum(axis=0), alike=alike) for judges, rows in pairs.rows.items()
    }
    inter, intra = (
        [judges for judges in kappas if (judges[0] == judges[1]) is same] for same in (False, True)
    )

    def mean(some: Sequence[Judges]) -> Kappa:
        rows = [pairs.rows[judges] for judges in some if in_mean(kappas[judges])]
        value = mean_kappa([kappas[judges] for judges in some], least=LEAST)
        return replace(value, interval=kappa_interval(rows, alike, drawn))

    def pooled(some: Sequence[Judges]) -> Kappa:
        sums = np.sum([pairs.rows[judges].sum(axis=0) for judges in some], axis=0)
        return kappa_of(sums if some else np.zeros(5, dtype=np.int64), alike=alike)

    return Kappas(mean(inter), mean(intra), kappas, pooled(inter), pooled(intra))


def _by_file(rankings: Sequence[Ranking], judges: Sequence[str]) -> dict[str, list[Ranking]]:
    """Return the rankings of some judges by file, if they are of several."""
    origins: Sequence[str] = getattr(rankings, "origins", ())  # Judgments have them
    parts: dict[str, list[Ranking]] = {}
    for ranking, origin in zip(rankings, origins, strict=False):
        if ranking.judge in judges:
            parts.setdefault(origin.rpartition(":")[0], []).append(ranking)
    return parts if len(parts) > 1 else {}


def _apart(rankings: Sequence[Ranking], outputs: Outputs | None) -> list[Ranking] | None:
    """Return the rankings with equal outputs as one, or ``None`` if that changes nothing."""
    renumbered = with_sentence_numbers(rankings)
    joined = equal_outputs_joined(renumbered, outputs if renumbered is rankings else None)

    def shown(some: Sequence[Ranking]) -> list[set[frozenset[str]]]:
        return [{frozenset(group) for group in ranking.groups} for ranking in some]

    return joined if shown(joined) != shown(rankings) else None


def _count(rankings: Sequence[Ranking], judges: Sequence[str]) -> dict[str, JudgeCounts]:
    items = Counter(ranking.judge for ranking in rankings)
    columns: list[list[int]] = [[items[judge] for judge in judges]]
    for extraction in ("unexpanded", "expanded"):
        pairs = extract_pairs(rankings, extraction=extraction)
        for chosen in (pairs.judge, pairs.judge[pairs.outcome == 0]):
            columns.append(np.bincount(chosen, minlength=len(judges)).tolist())
    rows = zip(*columns, strict=True)
    return {judge: JudgeCounts(*row) for judge, row in zip(judges, rows, strict=True)}


def _sum(counts: Iterable[JudgeCounts]) -> JudgeCounts:
    return JudgeCounts(*map(sum, zip(*map(astuple, counts), strict=True)))
