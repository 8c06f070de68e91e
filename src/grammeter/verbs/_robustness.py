"""The verb ``robustness``: whether corrections survive changes beside the errors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grammeter import core, errant, stats
from grammeter.formats import RobustnessCases
from grammeter.metrics import Metric
from grammeter.metrics import metric as make_metric

COUNTED = ("correct", "proposed", "gold")
FEW = 30  # with fewer cases a bootstrap is overconfident
ORDER = "crs goes through the cases in their order; with another order it may differ"


@dataclass(frozen=True)
class CorpusF:
    """``value`` is F; counts of edits, and what follows from them."""

    value: float
    precision: float
    recall: float
    tp: float
    fp: float
    fn: float


@dataclass(frozen=True)
class SystemRobustness:
    """How a system bears changes beside the errors; shares, 0 to 1.

    ``crs``: cases whose best and worst output are of the same variant; ``p_crs``: mean share of the
    variants with the F of their original; ``consistent``: cases whose outputs all have equal
    counts. ``original``, ``upper`` and ``lower``: corpus F of the originals, of the best and of the
    worst outputs. ``intervals`` of ``crs`` and ``p_crs`` are percentiles over resampled cases;
    ``None`` where all resamples give one value, and without resamples.
    """

    crs: float
    p_crs: float
    consistent: float
    original: CorpusF
    upper: CorpusF
    lower: CorpusF
    intervals: Mapping[str, tuple[float, float] | None] | None = None


@dataclass(frozen=True, repr=False)
class Robustness(core.Result, kind="robustness"):
    """Robustness of systems over ``cases`` with so many ``variants`` each."""

    cases: int
    variants: int
    metric: str
    systems: Mapping[str, SystemRobustness]
    signature: core.Signature
    notes: tuple[str, ...] = ()

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a row for each system: shares with intervals, then F, and P and R if ``long``."""
        interval = core.Column("interval", "interval")
        first = (core.Column(name, "score", best="high") for name in ("crs", "p_crs"))
        kinds = ("original", "upper", "lower")
        parts = ("precision", "recall", "tp", "fp", "fn") if long else ()
        columns = ["system", *(column for of in first for column in (of, interval))]
        columns += core.Column.many("score", "consistent", *kinds)
        columns += [core.Column(f"{kind} {part}", "score" if len(part) > 2 else "count")
                    for kind in kinds for part in parts]  # fmt: skip
        rows: list[Sequence[core.Cell]] = []
        for name, one in self.systems.items():
            ends, sums = one.intervals or {}, [getattr(one, kind) for kind in kinds]
            shares = (one.crs, ends.get("crs"), one.p_crs, ends.get("p_crs"), one.consistent)
            cells = (*(of.value for of in sums), *(getattr(of, p) for of in sums for p in parts))
            rows.append((name, *shares, *cells))
        return [core.Table.of(columns, rows, () if long else (str(self.signature),))]


@core.checked
def robustness(
    cases: RobustnessCases, outputs: Mapping[str, Sequence[str]], *,
    metric: str | Metric = "errant", beta: float | None = None, resamples: int = 1000,
    seed: int = 1, confidence: float = 0.95,
) -> Robustness:  # fmt: skip
    """Measure whether corrections survive changes beside the errors (RobustGEC).

    Each output is held against the correction of its own variant; F of a sentence is rounded to
    four decimals before it is compared. Best and worst outputs are chosen case by case, with the
    sums of those chosen before (Zhang et al. 2023). Raises :class:`DataError` if a system has not
    one output for each text, :class:`UsageError` if the metric counts no edits.

    Parameters
    ----------
    cases
        From :func:`read_robustness`.
    outputs
        By system: an output for the original and each variant of the first case, then of the
        second, and so on.
    metric
        What extracts edits from texts and counts them: ``errant`` or its kin.
    beta
        Weight of recall in F; ``None``: that of the metric.
    resamples, seed, confidence
        Of the cases, for intervals of ``crs`` and ``p_crs``; 0: none.
    """
    of = make_metric(metric)
    if not hasattr(of, "beta") or of.needs == "gold":
        fault = f"{of.name} extracts no edits from texts to make an F of them"
        raise core.UsageError(fault, fix="Use errant, for example.")
    of = of if beta is None else replace(of, **{"beta": beta})
    core.check_drawing(resamples, seed, confidence)
    pairs = [pair for case in cases.cases for pair in case]
    for name, texts in outputs.items():
        if len(texts) != len(pairs):
            fault = f"{name}: {len(texts)} outputs, and {len(cases)} cases"
            fault += f" of {cases.variants + 1} texts need {len(pairs)}"
            fix = "Give one output for the original and each variant of each case, in their order."
            raise core.DataError(fault, fix=fix)
    segments = [core.Segment(source, text, (correction,))
                for texts in outputs.values()
                for (source, correction), text in zip(pairs, texts, strict=True)]  # fmt: skip
    statistics = of.statistics(segments)
    if statistics.columns[: len(COUNTED)] != COUNTED:
        raise core.UsageError(f"{of.name} counts no edits", fix="Use errant, for example.")
    correct, proposed, gold = np.moveaxis(statistics.rows[:, 0, : len(COUNTED)], -1, 0)
    counts = np.stack([correct, proposed - correct, gold - correct], axis=-1)
    shape = (len(outputs), len(cases), cases.variants + 1, len(COUNTED))
    drawn: Any = {"resamples": resamples, "seed": seed, "confidence": confidence}
    number = getattr(of, "beta")  # noqa: B009 - not every metric has it
    tables = zip(outputs, counts.reshape(shape), strict=True)
    measured = {name: _measured(table, number, **drawn) for name, table in tables}
    settings = {"cases": len(cases), "variants": cases.variants, **drawn}
    notes = tuple(filter(None, [*_notes(len(cases), measured, resamples), of.notice]))
    signature = of.signature(settings)
    return Robustness(len(cases), cases.variants, str(of), measured, signature, notes)


def _notes(cases: int, measured: Mapping[str, SystemRobustness], resamples: int) -> Iterator[str]:
    yield ORDER
    if resamples and cases < FEW:
        yield f"cases are few for a bootstrap ({cases}): intervals are too narrow"
    for name in ("crs", "p_crs"):
        ends = {system: (one.intervals or {}).get(name, 0) for system, one in measured.items()}
        if without := [system for system, interval in ends.items() if interval is None]:
            yield f"no interval of {name} for {', '.join(without)}: {stats.SAME}"


def _measured(
    counts: core.FloatArray, beta: float, *, resamples: int, seed: int, confidence: float
) -> SystemRobustness:
    """Measure a system by its counts, shape ``(cases, 1 + variants, 3)``: tp, fp, fn."""
    rows = counts.tolist()
    best, worst = (
        np.array(errant.choose(rows, beta=beta, digits=4, worst=worst)) for worst in (False, True)
    )
    f = np.array([[round(_corpus(row, beta).value, 4) for row in case] for case in rows])
    values = np.stack([best == worst, (f[:, 1:] == f[:, :1]).mean(axis=1)]).astype(np.float64)
    same = (counts == counts[:, :1]).all(axis=(1, 2))
    intervals: dict[str, tuple[float, float] | None] | None = None
    if resamples:
        samples = stats.PairedSamples(values[..., None], lambda sums: sums[..., 0] / len(counts))
        resampled = stats.bootstrap([samples], resamples=resamples, seed=seed)[0]
        ends = (stats.defined_interval(row, confidence) for row in resampled)
        pairs = (None if why else (low, high) for low, high, why in ends)
        intervals = dict(zip(("crs", "p_crs"), pairs, strict=True))
    crs, p_crs = values.mean(axis=1).tolist()
    places = np.arange(len(counts))
    chosen = (counts[places, at].sum(axis=0).tolist() for at in (0 * best, best, worst))
    original, upper, lower = (_corpus(row, beta) for row in chosen)
    return SystemRobustness(crs, p_crs, float(same.mean()), original, upper, lower, intervals)


def _corpus(row: Sequence[float], beta: float) -> CorpusF:
    counts = core.Counts(*row)
    f = errant.package_f(counts, beta)
    return CorpusF(f, counts.precision, counts.recall, counts.tp, counts.fp, counts.fn)
