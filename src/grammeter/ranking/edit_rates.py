"""How often people accept the edits of a system, and which kinds of edits."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grammeter import core, errant, stats
from grammeter.core import EditItem, EditJudgment, EditKey, FloatArray
from grammeter.ranking.pairs import Resampling
from grammeter.ranking.rank import (
    cluster_numbers,
    rank_ranges,
    run_ranks,
    score_order,
    shown_design,
)
from grammeter.ranking.selection import FEW, named_systems, notes_of, of_judges

ACCEPT_RATE = "accept-rate"
_LACKING = "some resamples have no verdict on these edits"
_Labelled = Iterable[tuple[str, EditItem, EditJudgment]]


@dataclass(frozen=True, slots=True)
class AcceptCount:
    """Verdicts on edits, and the share of valid ones with its interval; NaN with a ``reason``."""

    valid: int
    invalid: int
    unjudged: int
    rate: float
    low: float
    high: float
    reason: str | None = None


@dataclass(frozen=True, repr=False)
class AcceptRates(core.Ranked, over="rows", what="system"):
    """Systems by the share of their judged edits that people call valid, best first.

    ``counts`` are by system, ``types`` by type of edit, if asked for. An edit counts once for each
    output shown, and for each system that wrote the output.
    """

    counts: Mapping[str, AcceptCount] = field(default_factory=dict[str, AcceptCount])
    types: Mapping[str, AcceptCount] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape of a ranking, with the counts of each system."""
        data = super().to_dict()
        for row in data["systems"]:
            counts = core.plain(self.counts[row["system"]])
            row.update((key, of) for key, of in counts.items() if key != "rate")
        return data | ({} if self.types is None else {"types": core.plain(self.types)})

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a row for each system, best first; then one for each type."""
        (ranked,) = super().tables(long=long)
        counts = [_cells(self.counts[row.system]) for row in self.rows]
        rows = [(*row, *cells[1:]) for row, cells in zip(ranked.rows, counts, strict=True)]
        first = core.Table.of((*ranked.columns, *_COLUMNS[1:]), rows, ranked.notes)
        types = [(name, *_cells(of)) for name, of in (self.types or {}).items()]
        return [first, *([core.Table.of(("type", *_COLUMNS), types)] if types else [])]


_COUNTS = core.Column.many("count", "valid", "invalid", "unjudged")
_COLUMNS = (core.Column("rate", "score"), core.Column("interval", "interval"), *_COUNTS)


def _cells(of: AcceptCount) -> tuple[core.Cell, ...]:
    return of.rate, (of.low, of.high), of.valid, of.invalid, of.unjudged


def accept_rates(
    items: Sequence[EditItem],
    *,
    systems: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    judges: Sequence[str] | None = None,
    without_judges: Sequence[str] | None = None,
    resampling: Resampling,
    confidence: float = 0.95,
    types: core.Tier | None = None,
    source: Sequence[str] | None = None,
    pipeline: str | None = None,
) -> AcceptRates:
    """Rank systems by how often people accept their edits; see :func:`grammeter.rank`."""
    chosen = of_judges(items, judges, without_judges)
    shown = _shown(chosen, systems, drop)
    counting = _Counting.of(chosen, resampling, confidence)
    counts, runs = counting.rates((name, i, e) for group, i, e in shown for name in group)
    scores = np.array([of.rate for of in counts.values()])
    if not np.isfinite(scores).any():
        raise core.DataError("no edit has a verdict", fix="Call one valid or invalid at least.")
    ranges = rank_ranges(*run_ranks(runs), confidence)
    order = score_order(scores, *(-np.array(ends) for ends in zip(*ranges, strict=True)))
    reasons = [None if np.isfinite(score) else "none of its edits was judged" for score in scores]
    clusters = zip(order, cluster_numbers([ranges[at] for at in order]), strict=True)
    rows = [
        core.RankedSystem([*counts][at], float(scores[at]), ranges[at], cluster, reasons[at])
        for at, cluster in clusters
    ]
    by_type, notes = None, [*notes_of(items), *counting.notes(shown)]
    if types is not None:
        kinds, typing = edit_types({i.key(e) for _, i, e in shown}, types, source, pipeline)
        by_type = counting.rates((kinds[i.key(e)], i, e) for _, i, e in shown)[0]
        notes += typing
    settings: dict[str, object] = {
        **shown_design(resampling, confidence),
        "judges": len({item.judge for item in chosen}) if judges is None else "+".join(judges),
        **({"without": "+".join(without_judges)} if without_judges else {}),
        **({"weights": "inverse-probability"} if counting.weighted else {}),
        **{"systems": len(rows), "items": len(chosen), "edits": len(shown)},
    }
    signature = core.Signature.of(ACCEPT_RATE, settings)
    return AcceptRates(ACCEPT_RATE, signature, tuple(rows), tuple(notes), counts, by_type)


def edit_types(
    edits: Collection[EditKey],
    tier: core.Tier,
    source: Sequence[str] | None,
    pipeline: str | None = None,
) -> tuple[dict[EditKey, str], list[str]]:
    """Return the type of each distinct edit as it stands in its sentence, and what to note.

    Operations need no ``source``; ERRANT's types do, a sentence a segment.
    """
    core.UnknownNameError.check("kind of types", tier, core.TIERS)
    if tier == "operation":
        return {key: EditJudgment(*key[1:]).operation for key in edits}, []
    if source is None:
        raise core.UsageError("types of edits need the source", fix="Give it: -s source.txt")
    keys = sorted(edits)
    if (last := keys[-1][0] if keys else 0) > len(source):
        fault = f"edits of segment {last}, but the source has {len(source)} sentences"
        raise core.DataError(fault, fix="Give the whole source.")
    extractor = errant.annotator(pipeline)
    wanted = [(source[key[0] - 1], [core.Edit(*key[1:])]) for key in keys]
    typed = extractor.retype_all(wanted, minimise=False)
    kinds = {
        key: core.tier_of(of[0].type if of else core.UNKNOWN, tier)
        for key, of in zip(keys, typed, strict=True)
    }
    return kinds, [extractor.notice] if extractor.notice else []


_Shown = Sequence[tuple[Collection[str], EditItem, EditJudgment]]


def _shown(items: Iterable[EditItem], systems: Sequence[str] | None, drop: Sequence[str]) -> _Shown:
    """Return the edits of each output with its systems, of those that take part."""
    every = [(group, i, edit) for i in items for group, edit in i.occurrences()]
    known = {name for item in items for group in item.shown for name in group}
    wanted = known if systems is None else set(named_systems(systems, known))
    for name in sorted(wanted | {*drop}):
        core.UnknownNameError.check("judged system", name, known)
    wanted -= {*drop}
    return [([n for n in group if n in wanted], i, e) for group, i, e in every if wanted & {*group}]


@dataclass(frozen=True)
class _Counting:
    """Counts verdicts by sentence, weighted by one over the chance with which items were drawn."""

    places: Mapping[int, int]  # of each segment
    weighted: bool
    resampling: Resampling
    confidence: float

    @classmethod
    def of(
        cls, items: Sequence[EditItem], resampling: Resampling, confidence: float
    ) -> "_Counting":
        lacking = sum(item.probability is None for item in items)
        if lacking not in (0, len(items)):
            fault = f"{lacking} of {len(items)} items have no probability"
            raise core.DataError(fault, fix="Rank items with and without one apart.")
        places = {n: at for at, n in enumerate(sorted({item.segment for item in items}))}
        return cls(places, not lacking and bool(items), resampling, confidence)

    def rates(self, rows: _Labelled) -> tuple[dict[str, AcceptCount], FloatArray]:
        """Return the counts of each label, and the rates of all in each run, ``(runs, labels)``."""
        listed = list(rows)
        names = {name: at for at, name in enumerate(sorted({name for name, *_ in listed}))}
        sums, counts = np.zeros((len(names), len(self.places), 2)), np.zeros((len(names), 3), int)
        for name, item, edit in listed:
            counts[names[name], 2 if edit.verdict is None else int(not edit.verdict)] += 1
            if edit.verdict is not None:
                weight = 1 / (item.probability or 1)
                sums[names[name], self.places[item.segment], int(not edit.verdict)] += weight
        samples = stats.PairedSamples(sums, _share)
        runs, seed = self.resampling.runs, self.resampling.seed
        (drawn,) = stats.bootstrap([samples], resamples=runs, seed=seed)
        figures = (samples.observed, *stats.percentile_interval(drawn, self.confidence))
        values = [*counts.T.tolist(), *(of.tolist() for of in figures)]
        lacks = [None if np.isfinite(low) else _LACKING for low in values[4]]
        rows_of = zip(names, zip(*values, lacks, strict=True), strict=True)
        return {name: AcceptCount(*row) for name, row in rows_of}, drawn.T

    def notes(self, shown: _Shown) -> Iterator[str]:
        """Yield what the reader of a rate must know."""
        judges = sorted({item.judge for _, item, _ in shown})
        if len(judges) > 1:
            yield f"verdicts of {len(judges)} judges are pooled: {core.listed(judges)}"
        if missing := sum(edit.verdict is None for *_, edit in shown):
            yield f"{missing} of {len(shown)} edits have no verdict and are left out"
        if self.weighted:
            yield (
                "each item counts by one over the probability with which it was drawn: the rates"
                " estimate the precision by people in all sentences that could be drawn"
            )
        if len(self.places) < FEW:
            yield (
                f"few judgments: {len(self.places)} sentences; below {FEW} intervals and ranges of"
                " ranks are too narrow"
            )


def _share(sums: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        share: FloatArray = sums[..., 0] / sums.sum(axis=-1)
    return share
