"""How far judges agree, with each other and with themselves.

Kappa and the counts are those of Grundkiewicz, Junczys-Dowmunt and Gillian (2015), section 4.4,
computed as their script does; their unit is two outputs of a sentence. Krippendorff's alpha of the
ranks stands beside; its unit is the rank of an output among others.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from functools import partial
from itertools import combinations_with_replacement
from statistics import fmean

import numpy as np

from grammeter import core, stats
from grammeter.core import FloatArray, IntArray, Ranking, with_sentence_numbers
from grammeter.ranking import agreement_results as results
from grammeter.ranking.agreement_results import Judges
from grammeter.ranking.pairs import extract_pairs, order_of_units, unit_numbers
from grammeter.ranking.selection import FEW, notes_of, numbering_of, of_judges

LEAST_SENTENCES = 10
"""Fewer sentences give no interval: a 95% interval would hold the truth in less than 90%."""

_NOTABLE = 0.01  # figures that differ by this much get a note
_SHOWN_AT_ONCE = 5  # number of outputs that an item shows in campaigns of distinct outputs
BETTER, EQUAL, WORSE = range(3)  # 1 less the outcome of a pair
ALIKE = {"script": (), "orientation-free": (BETTER, WORSE)}
Outputs = Mapping[str, Sequence[str]]  # the systems' outputs by name, one text a sentence
_Unit = tuple[int, frozenset[str], str]  # sentence, outputs shown, output
_Values = tuple[FloatArray, IntArray]
_Ends = tuple[float, float, str | None]
_Resampled = Callable[[FloatArray, Callable[[FloatArray], FloatArray]], _Ends]
"""Rows of sentences, and what maps their sums to values, to the interval of the value; a reason."""

Compared = Mapping[Judges, IntArray]
"""Comparisons by two judges in alphabetical order, sentence by sentence, shape ``(sentences, 5)``.

They are rows of :func:`grammeter.stats.between_rows`, summed over each sentence.
"""


def measure_agreement(
    rankings: Sequence[Ranking],
    *, kappa: results.KappaKind = "script", judges: Sequence[str] | None = None,
    without_judges: Sequence[str] | None = None, resamples: int = 1000, seed: int = 1,
    confidence: float = 0.95, outputs: Outputs | None = None,
) -> results.Agreement:  # fmt: skip
    """Measure the agreement of judges on pairs of outputs; see :func:`grammeter.agree`."""
    core.UnknownNameError.check("kappa", kappa, results.KINDS)
    core.check_drawing(resamples, seed, confidence)
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
    shown |= numbering_of(rankings)
    signature = core.Signature.of(results.AGREEMENT, shown | {"items": len(chosen)})
    agreement, pairs = _measured(chosen, kappa, (resamples, seed, confidence), signature)
    apart = _apart(chosen, outputs)
    joined = _measured(apart, kappa, (0, seed, confidence), signature)[0] if apart else None
    known = outputs or any(len(group) > 1 for ranking in chosen for group in ranking.groups)
    most = 0 if known else max(len(ranking.groups) for ranking in chosen)
    origins = zip(getattr(rankings, "origins", ()), rankings, strict=False)  # of Judgments
    files = [*dict.fromkeys(of.rpartition(":")[0] for of, r in origins if r.judge in names)]
    pooled = [f"judgments of {len(files)} files are pooled: {core.listed(files)}"]
    notes = (*notes_of(rankings), *(pooled if len(files) > 1 else ()))
    return replace(agreement, notes=(*notes, *_notes(agreement, joined, pairs, most)))


def _measured(
    rankings: Sequence[Ranking], kind: results.KappaKind, how: tuple[int, int, float],
    by: core.Signature,
) -> tuple[results.Agreement, Compared]:  # fmt: skip
    interval = partial(_interval, how)
    counts = _count(rankings, sorted({ranking.judge for ranking in rankings}))
    ordered = numbered(with_sentence_numbers(rankings))
    pairs = compared(ordered)
    between, within = (_alpha(*of, interval) for of in values_of(ordered))
    kappas: dict[results.KappaKind, results.Kappas]
    kappas = {name: _kappas(pairs, name, interval) for name in results.KINDS}
    total = results.JudgeCounts(*map(sum, zip(*map(astuple, counts.values()), strict=True)))
    return results.Agreement(kind, by, kappas, between, within, counts, total), pairs


def _kappas(pairs: Compared, kind: results.KappaKind, interval: _Resampled) -> results.Kappas:
    alike = ALIKE[kind]
    kappas = {judges: stats.kappa(rows.sum(0), alike=alike) for judges, rows in pairs.items()}
    inter, intra = [(a, b) for a, b in kappas if a != b], [(a, b) for a, b in kappas if a == b]

    def mean(some: Sequence[Judges]) -> stats.Kappa:
        rows = [pairs[judges] for judges in some if results.in_mean(kappas[judges])]
        value = stats.mean_kappa([kappas[judges] for judges in some], least=results.LEAST)
        low, high, reason = _kappa_interval(rows, alike, interval)
        return replace(value, low=low, high=high, reason=value.reason or reason)

    def pooled(some: Sequence[Judges]) -> stats.Kappa:
        sums = np.sum([pairs[judges].sum(axis=0) for judges in some], axis=0)
        return stats.kappa(sums if some else np.zeros(5, dtype=np.int64), alike=alike)

    summed = {"inter": pooled(inter), "intra": pooled(intra)}
    return results.Kappas(mean(inter), mean(intra), kappas, summed)


def _apart(rankings: Sequence[Ranking], outputs: Outputs | None) -> list[Ranking] | None:
    """Return the rankings with equal outputs as one, or ``None`` if that changes nothing."""
    renumbered = with_sentence_numbers(rankings)
    joined = equal_outputs_joined(renumbered, outputs if renumbered is rankings else None)
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


def _kappa_interval(rows: Sequence[IntArray], alike: Sequence[int], interval: _Resampled) -> _Ends:
    if not rows:
        return np.nan, np.nan, None  # the mean has a reason of its own
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
        return replace(alpha, low=np.nan, high=np.nan)
    pairs = coincidences.pairs.reshape(len(coincidences.pairs), -1)
    table = np.concatenate([coincidences.totals, pairs], axis=1)

    def values_of(sums: FloatArray) -> FloatArray:
        return coincidences.alpha(sums[:, :size], sums[:, size:].reshape(-1, size, size))

    low, high, reason = interval(table, values_of)
    return replace(alpha, low=low, high=high, reason=alpha.reason or reason)


def _interval(
    how: tuple[int, int, float], table: FloatArray, values_of: Callable[[FloatArray], FloatArray]
) -> _Ends:
    runs, seed, confidence = how
    chosen = table[table.any(axis=1)]
    if not runs:
        return np.nan, np.nan, "no resamples were asked for"
    if (size := len(chosen)) < LEAST_SENTENCES:
        return np.nan, np.nan, f"an interval takes {LEAST_SENTENCES} sentences, here are {size}"
    drawn = stats.resample_counts(size, runs, seed=seed, width=4 * chosen.shape[1])
    values = np.concatenate([values_of(counts @ chosen) for counts in drawn])
    return stats.defined_interval(values, confidence)


def _notes(
    agreement: results.Agreement, joined: results.Agreement | None, pairs: Compared, most: int
) -> Iterator[str]:
    """Yield what a reader must know; ``most``: outputs of an item, 0 if equal ones are known.

    ``joined`` is measured with equal outputs as one, where some stand apart.
    """
    yield from _notes_of_few(pairs)
    others = {" and ".join(names): rows for names, rows in pairs.items() if names[0] != names[1]}
    if strangers := [names for names, rows in others.items() if not rows[:, 1].any()]:
        yield (f"{len(strangers)} of {len(others)} pairs of judges never judged the same two"
               f" outputs: {core.listed(strangers)}")  # fmt: skip
    script, free = (agreement.kappas[kind].inter.value for kind in results.KINDS)
    if abs(script - free) >= _NOTABLE:
        yield ("kappa by the script depends on the alphabetical order of the systems' names:"
               f" between judges {script:.4f}, orientation-free {free:.4f}")  # fmt: skip
    if joined:
        yield from _notes_of_expansion(agreement, joined)
    elif most > _SHOWN_AT_ONCE:
        yield (f"items show up to {most} outputs, none of them by several systems: if equal outputs"
               " stand apart, their ties inflate agreement; give the outputs"
               " (--hyps) to see")  # fmt: skip


def _notes_of_few(pairs: Compared) -> Iterator[str]:
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


# --- units ---------------------------------------------------------------------------------
def numbered(rankings: Sequence[Ranking]) -> list[Ranking]:
    """Renumber the sentences from 1 by judgments alone; those without comparisons come last."""
    pairs = extract_pairs(rankings)
    segments = np.unique(pairs.segment)
    order = order_of_units(pairs, unit_numbers(pairs, "sentence"))
    numbers = {segment: number for number, segment in enumerate(segments[order].tolist())}
    for ranking in rankings:
        numbers.setdefault(ranking.segment, len(numbers))
    return [replace(ranking, segment=1 + numbers[ranking.segment]) for ranking in rankings]


def compared(rankings: Sequence[Ranking]) -> Compared:
    """Compare every two judges, and each with itself, in rankings from :func:`numbered`.

    A unit is two outputs of a sentence, in the alphabetical order of their systems' names.
    """
    named = ((r, tuple(("\n".join(sorted(group)),) for group in r.groups)) for r in rankings)
    pairs = extract_pairs([replace(ranking, groups=outputs) for ranking, outputs in named])
    size = len(pairs.systems)
    unit = (pairs.segment * size + pairs.first) * size + pairs.second
    judged: list[tuple[str, IntArray, IntArray]] = []
    for number, judge in enumerate(pairs.judges):
        mine = pairs.judge == number
        known, place = np.unique(unit[mine], return_inverse=True)
        category = 1 - pairs.outcome[mine]
        counts = np.bincount(3 * place + category, minlength=3 * len(known)).reshape(-1, 3)
        judged.append((judge, known, counts))
    sentences = max((ranking.segment for ranking in rankings), default=0) + 1
    rows: dict[Judges, IntArray] = {}
    for (first, units, ours), (second, others, theirs) in combinations_with_replacement(judged, 2):
        both, at, there = np.intersect1d(units, others, return_indices=True)
        same = first == second
        of_unit = stats.within_rows(ours) if same else stats.between_rows(ours[at], theirs[there])
        rows[first, second] = np.zeros((sentences, of_unit.shape[1]), dtype=np.int64)
        np.add.at(rows[first, second], both // size**2, of_unit)
    return rows


def values_of(rankings: Iterable[Ranking]) -> tuple[_Values, _Values]:
    """Return each judge's mean rank of each output, and all ranks of one judge for each output.

    Ranks are mid-ranks among the same outputs shown in whatever order. Shape ``(units,
    observers)``, NaN where there is none; and the units' sentences, ``(units,)``.
    """
    units: dict[_Unit, dict[str, list[float]]] = {}
    for ranking in rankings:
        names = (" ".join(sorted(group)) for group in ranking.groups)
        outputs = dict(zip(names, ranking.ranks, strict=False))  # a skipped one may have no ranks
        if len(outputs) > 1 and not ranking.skipped:
            ranks = stats.average_ranks(np.array(list(outputs.values()), dtype=np.float64))
            for output, rank in zip(outputs, ranks.tolist(), strict=True):
                unit = units.setdefault((ranking.segment, frozenset(outputs), output), {})
                unit.setdefault(ranking.judge, []).append(rank)
    between = ((unit[0], [*map(fmean, of.values())]) for unit, of in units.items())
    within = ((unit[0], ranks) for unit, of in units.items() for ranks in of.values())
    return _padded(between), _padded(within)


def _padded(rows: Iterable[tuple[int, Sequence[float]]]) -> _Values:
    rows = [(segment, row) for segment, row in rows if len(row) > 1]
    values = np.full((len(rows), max((len(row) for _, row in rows), default=0)), np.nan)
    for number, (_, row) in enumerate(rows):
        values[number, : len(row)] = row
    return values, np.array([segment for segment, _ in rows], dtype=np.int64)


def equal_outputs_joined(
    rankings: Sequence[Ranking], outputs: Outputs | None = None
) -> list[Ranking]:
    """Join outputs of a sentence that are known to be equal.

    They are if a ranking says so, or if the texts in ``outputs`` are equal, white space aside. Of
    different ranks in one ranking the best counts.
    """
    classes = _equal(rankings, outputs or {})
    return [_joined(ranking, classes.get(ranking.segment, {})) for ranking in rankings]


def _equal(rankings: Sequence[Ranking], outputs: Outputs) -> dict[int, dict[str, tuple[str, ...]]]:
    """Return for each sentence the systems that wrote the same as a system."""
    groups: dict[int, list[set[str]]] = {}
    for ranking in rankings:
        sentence = groups.setdefault(ranking.segment, [])
        at = ranking.segment
        texts = ((name, outputs.get(name, ())[at - 1 : at]) for name in ranking.systems)
        by_text = core.grouped((" ".join(text[0].split()), name) for name, text in texts if text)
        for group in {*ranking.groups, *map(tuple, by_text.values())}:
            met = [names for names in sentence if names & {*group}]
            sentence[:] = [names for names in sentence if not names & {*group}]
            sentence.append({*group}.union(*met))
    return {segment: {name: tuple(sorted(names)) for names in sentence for name in names}
            for segment, sentence in groups.items()}  # fmt: skip


def _joined(ranking: Ranking, classes: Mapping[str, tuple[str, ...]]) -> Ranking:
    best: dict[tuple[str, ...], int] = {}
    ranks = ranking.ranks or (1,) * len(ranking.groups)
    for group, rank in zip(ranking.groups, ranks, strict=True):
        name = classes[group[0]] if group else group
        best[name] = min(rank, best.get(name, rank))
    ranks = tuple(best.values()) if ranking.ranks else ()
    return replace(ranking, groups=tuple(best), ranks=ranks, scores=None, replies=())
