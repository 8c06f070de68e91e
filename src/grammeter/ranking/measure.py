"""How far judges agree, with each other and with themselves.

Kappa and the counts are those of Grundkiewicz, Junczys-Dowmunt and Gillian (2015), section 4.4,
computed as their script does. Krippendorff's alpha of the ranks stands beside.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, replace
from functools import partial

import numpy as np

from grammeter import core, stats
from grammeter.core import FloatArray, IntArray, Ranking, with_sentence_numbers
from grammeter.ranking import agreement_results as results
from grammeter.ranking import judged_units as units
from grammeter.ranking.pairs import extract_pairs
from grammeter.ranking.selection import FEW, notes_of, numbering_of, of_judges

LEAST_SENTENCES = 10
"""Fewer sentences give no interval: a 95% interval would hold the truth in less than 90%."""

_MOST_UNDEFINED = 0.05  # the share of resamples in which a figure may not exist
_NOTABLE = 0.01  # figures that differ by this much get a note
_SHOWN_AT_ONCE = 5  # number of outputs that an item shows in campaigns of distinct outputs
ALIKE = {"script": (), "orientation-free": (units.BETTER, units.WORSE)}
_Resampled = Callable[[FloatArray, Callable[[FloatArray], FloatArray]], stats.Interval]
"""Rows of sentences, and what maps their sums to values, to the interval of the value."""


def measure_agreement(
    rankings: Sequence[Ranking],
    *, kappa: results.KappaKind = "script", judges: Sequence[str] | None = None,
    without_judges: Sequence[str] | None = None, resamples: int = 1000, seed: int = 1,
    confidence: float = 0.95, outputs: units.Outputs | None = None, numbering: str | None = None,
) -> results.Agreement:  # fmt: skip
    """Measure the agreement of judges on pairs of outputs; see :func:`grammeter.agree`."""
    core.UnknownNameError.check("kappa", kappa, results.KINDS)
    if min(resamples, seed) < 0 or not 0 < confidence < 1:
        fault = f"{resamples} resamples, seed {seed}, confidence {confidence}"
        fix = "Counts and seed are 0 or more, the confidence lies between 0 and 1."
        raise core.UsageError(fault, fix=fix)
    chosen = of_judges(rankings, judges, without_judges)
    names = sorted({ranking.judge for ranking in chosen})
    if not names or results.TOTAL in names:
        fault = "a judge is called 'total', like the sum of all judges" if names else "no judgment"
        raise core.DataError(fault, fix="Rename the judge." if names else "Give one at least.")
    shown: dict[str, object] = {"kappa": kappa, "least": results.LEAST}
    shown |= {"alpha": "ordinal", "alpha-ranks": "mid", "unit": "sentence", "resamples": resamples}
    if resamples:
        shown |= {"seed": seed, "confidence": f"{confidence:.10g}"}
    shown["judges"] = len(names) if judges is None and not without_judges else "+".join(names)
    shown |= numbering_of(rankings, numbering)
    signature = core.Signature.of(results.AGREEMENT, shown | {"items": len(chosen)})
    interval = partial(_interval, (resamples, seed, confidence))
    none = partial(_interval, (0, seed, confidence))
    agreement, pairs = _measured(chosen, kappa, interval, signature)
    apart, origins = _apart(chosen, outputs), getattr(rankings, "origins", ())  # of Judgments
    both = zip(origins, rankings, strict=False)
    parts = core.grouped((of.rpartition(":")[0], r) for of, r in both if r.judge in names)
    some = parts.items() if len(parts) > 1 else ()
    by_file = {path: _measured(part, kappa, none, signature)[0] for path, part in some}
    joined = _measured(apart, kappa, none, signature)[0] if apart else None
    agreement = replace(agreement, by_file=by_file, unexpanded=joined)
    known = outputs or any(len(group) > 1 for ranking in chosen for group in ranking.groups)
    most = 0 if known else max(len(ranking.groups) for ranking in chosen)
    return replace(agreement, notes=(*notes_of(rankings), *_notes(agreement, pairs, most)))


def _measured(
    rankings: Sequence[Ranking], kind: results.KappaKind, interval: _Resampled, by: core.Signature
) -> tuple[results.Agreement, units.Compared]:
    counts = _count(rankings, sorted({ranking.judge for ranking in rankings}))
    ordered = units.numbered(with_sentence_numbers(rankings))
    pairs = units.compared(ordered)
    between, within = (_alpha(*of, interval) for of in units.values_of(ordered))
    kappas: dict[results.KappaKind, results.Kappas]
    kappas = {name: _kappas(pairs, name, interval) for name in results.KINDS}
    total = results.JudgeCounts(*map(sum, zip(*map(astuple, counts.values()), strict=True)))
    return results.Agreement(kind, by, kappas, between, within, counts, total), pairs


def _kappas(pairs: units.Compared, kind: results.KappaKind, interval: _Resampled) -> results.Kappas:
    alike = ALIKE[kind]
    kappas = {judges: stats.kappa(rows.sum(0), alike=alike) for judges, rows in pairs.items()}
    inter, intra = [(a, b) for a, b in kappas if a != b], [(a, b) for a, b in kappas if a == b]

    def mean(some: Sequence[units.Judges]) -> stats.Kappa:
        rows = [pairs[judges] for judges in some if results.in_mean(kappas[judges])]
        value = stats.mean_kappa([kappas[judges] for judges in some], least=results.LEAST)
        return replace(value, interval=_kappa_interval(rows, alike, interval))

    def pooled(some: Sequence[units.Judges]) -> stats.Kappa:
        sums = np.sum([pairs[judges].sum(axis=0) for judges in some], axis=0)
        return stats.kappa(sums if some else np.zeros(5, dtype=np.int64), alike=alike)

    return results.Kappas(mean(inter), mean(intra), kappas, pooled(inter), pooled(intra))


def _apart(rankings: Sequence[Ranking], outputs: units.Outputs | None) -> list[Ranking] | None:
    """Return the rankings with equal outputs as one, or ``None`` if that changes nothing."""
    renumbered = with_sentence_numbers(rankings)
    joined = units.equal_outputs_joined(renumbered, outputs if renumbered is rankings else None)
    now, before = ([set(map(frozenset, r.groups)) for r in some] for some in (joined, rankings))
    return joined if now != before else None


def _count(rankings: Sequence[Ranking], judges: Sequence[str]) -> dict[str, results.JudgeCounts]:
    items = Counter(ranking.judge for ranking in rankings)
    columns: list[list[int]] = [[items[judge] for judge in judges]]
    for extraction in ("unexpanded", "expanded"):
        pairs = extract_pairs(rankings, extraction=extraction)
        for chosen in (pairs.judge, pairs.judge[pairs.outcome == 0]):
            columns.append(np.bincount(chosen, minlength=len(judges)).tolist())
    rows = zip(*columns, strict=True)
    return {judge: results.JudgeCounts(*row) for judge, row in zip(judges, rows, strict=True)}


def _kappa_interval(
    rows: Sequence[IntArray], alike: Sequence[int], interval: _Resampled
) -> stats.Interval:
    if not rows:
        return stats.Interval(np.nan, np.nan)  # the mean has a reason of its own
    table = np.stack(rows, axis=1).astype(np.float64)

    def mean(sums: FloatArray) -> FloatArray:
        sums = sums.reshape(len(sums), *table.shape[1:])
        kappas = stats.kappa_values(sums, alike=alike)
        weights = np.where(np.isnan(kappas), 0, sums[..., 1])
        with np.errstate(invalid="ignore"):
            values: FloatArray = (np.nan_to_num(kappas) * weights).sum(axis=1) / weights.sum(axis=1)
        return values

    return interval(table.reshape(len(table), -1), mean)


def _alpha(values: FloatArray, segments: IntArray, interval: _Resampled) -> stats.Alpha:
    alpha = stats.krippendorff_alpha(values)
    coincidences = stats.Coincidences.of(values, segments)
    size = len(coincidences.known)
    if size < 2:  # alpha has a reason of its own
        return replace(alpha, interval=stats.Interval(np.nan, np.nan))
    pairs = coincidences.pairs.reshape(len(coincidences.pairs), -1)
    table = np.concatenate([coincidences.totals, pairs], axis=1)

    def values_of(sums: FloatArray) -> FloatArray:
        return coincidences.alpha(sums[:, :size], sums[:, size:].reshape(-1, size, size))

    return replace(alpha, interval=interval(table, values_of))


def _interval(
    how: tuple[int, int, float], table: FloatArray, values_of: Callable[[FloatArray], FloatArray]
) -> stats.Interval:
    runs, seed, confidence = how
    chosen, no_interval = table[table.any(axis=1)], partial(stats.Interval, np.nan, np.nan)
    if not runs:
        return no_interval("no resamples were asked for")
    if len(chosen) < LEAST_SENTENCES:
        return no_interval(f"an interval takes {LEAST_SENTENCES} sentences, here are {len(chosen)}")
    drawn = stats.resample_counts(len(chosen), runs, seed=seed, width=4 * chosen.shape[1])
    values = np.concatenate([values_of(counts @ chosen) for counts in drawn])
    values = values[~np.isnan(values)]
    if len(values) < (1 - _MOST_UNDEFINED) * runs:
        return no_interval("not defined in many of the resamples")
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail]).tolist()
    if np.isclose(low, high, rtol=0, atol=1e-12):
        return no_interval("all resamples are equal, which gives no interval")
    return stats.Interval(low, high)


def _notes(agreement: results.Agreement, pairs: units.Compared, most: int) -> Iterator[str]:
    """Yield what a reader must know; ``most``: outputs of an item, 0 if equal ones are known."""
    if files := agreement.by_file:
        yield f"judgments of {len(files)} files are pooled: {core.listed([*files])}"
    yield from _notes_of_few(pairs)
    others = {" and ".join(names): rows for names, rows in pairs.items() if names[0] != names[1]}
    if strangers := [names for names, rows in others.items() if not rows[:, 1].any()]:
        yield (f"{len(strangers)} of {len(others)} pairs of judges never judged the same two"
               f" outputs: {core.listed(strangers)}")  # fmt: skip
    script, free = (agreement.kappas[kind].inter.value for kind in results.KINDS)
    if abs(script - free) >= _NOTABLE:
        yield ("kappa by the script depends on the alphabetical order of the systems' names:"
               f" between judges {script:.4f}, orientation-free {free:.4f}")  # fmt: skip
    if agreement.unexpanded:
        yield from _notes_of_expansion(agreement, agreement.unexpanded)
    elif most > _SHOWN_AT_ONCE:
        yield (f"items show up to {most} outputs, none of them by several systems: if equal outputs"
               " stand apart, their ties inflate agreement; give the outputs"
               " (--hyps) to see")  # fmt: skip


def _notes_of_few(pairs: units.Compared) -> Iterator[str]:
    for same, judged in ((False, "by two judges"), (True, "twice by one judge")):
        some = [rows[:, 1] for (a, b), rows in pairs.items() if (a == b) is same]
        compared_in = np.sum(some or [[0]], axis=0, dtype=np.int64)
        sentences, total = int(np.count_nonzero(compared_in)), int(compared_in.sum())
        if 0 < sentences < FEW:
            were = "sentence was" if sentences == 1 else "sentences were"
            yield (f"few judgments: {sentences} {were} judged {judged} ({total} comparisons); below"
                   f" {FEW} sentences agreement is uncertain, also where"
                   " it looks perfect")  # fmt: skip


def _notes_of_expansion(apart: results.Agreement, joined: results.Agreement) -> Iterator[str]:
    for (side, _, pooled, _, alpha), (*_, other, _, other_alpha) in zip(
        apart.sides(), joined.sides(), strict=True
    ):
        for figure, separate, joint in (
            ("pooled kappa", pooled, other), ("alpha", alpha, other_alpha)
        ):  # fmt: skip
            if separate.n != joint.n or abs(separate.value - joint.value) >= _NOTABLE:
                yield ("equal outputs stand apart in some rankings, and tie there by themselves:"
                       f" {figure} {side} judges {separate.value:.4f} (n {separate.n}), with equal"
                       f" outputs as one {joint.value:.4f} (n {joint.n})")  # fmt: skip
