"""Single edits: how often people accept those of a system, or of a kind; how far judges agree."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, combinations
from typing import Any

import numpy as np

from grammeter import core, errant, stats
from grammeter.core import Column, EditItem, EditJudgment, EditKey, FloatArray, Table
from grammeter.ranking import rank
from grammeter.ranking.agreement_results import AGREEMENT, LEAST
from grammeter.ranking.pairs import Resampling
from grammeter.ranking.selection import FEW, chosen_systems, notes_of, of_judges

ACCEPT_RATE = "accept-rate"
_LACKING = "none, or none in some resamples, of its edits has a verdict"
_Labelled = Iterable[tuple[str, EditItem, EditJudgment]]
_Shown = Sequence[tuple[Collection[str], EditItem, EditJudgment]]


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

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return a row for each system, best first; then one for each type."""
        (ranked,) = super().tables(long=long)
        counts = Column.many("count", "valid", "invalid", "unjudged")
        ends = Column.many("score", "low", "high") if long else (Column("interval", "interval"),)
        columns = (Column("rate", "score"), *ends, *counts)

        def cells(of: AcceptCount) -> tuple[core.Cell, ...]:
            interval = (of.low, of.high) if long else ((of.low, of.high),)
            return of.rate, *interval, of.valid, of.invalid, of.unjudged

        both = zip(ranked.rows, self.rows, strict=True)
        rows = [(*row, *cells(self.counts[of.system])[1:]) for row, of in both]
        first = Table.of((*ranked.columns, *columns[1:]), rows, ranked.notes)
        types = [(name, *cells(of)) for name, of in (self.types or {}).items()]
        return [first, *([Table.of(("type", *columns), types)] if types else [])]


def accept_rates(
    items: Sequence[EditItem], *, systems: Sequence[str] | None = None, drop: Sequence[str] = (),
    judges: Sequence[str] | None = None, without_judges: Sequence[str] | None = None,
    resampling: Resampling, confidence: float = 0.95, types: core.Tier | None = None,
    source: Sequence[str] | None = None, pipeline: str | None = None,
) -> AcceptRates:  # fmt: skip
    """Rank systems by how often people accept their edits; see :func:`grammeter.rank`."""
    chosen = of_judges(items, judges, without_judges)
    lacking = sum(item.probability is None for item in chosen)
    if lacking not in (0, len(chosen)):
        fault = f"{lacking} of {len(chosen)} items have no probability"
        raise core.DataError(fault, fix="Rank items with and without one apart.")
    shown = _shown(chosen, systems, drop)
    rates = partial(_rates, {i.segment for i in chosen}, resampling, confidence)
    counts, runs = rates((name, i, e) for group, i, e in shown for name in group)
    scores = np.array([of.rate for of in counts.values()])
    if not np.isfinite(scores).any():
        raise core.DataError("no edit has a verdict", fix="Call one valid or invalid at least.")
    reasons = [of.reason for of in counts.values()]
    rows = [*rank.rows_of_runs([*counts], scores, runs, reasons, confidence)]
    by_type, notes = None, [*notes_of(items), *_notes(shown, weighted=not lacking)]
    if types is not None:
        kinds, typing = edit_types({i.key(e) for _, i, e in shown}, types, source, pipeline)
        by_type = rates((kinds[i.key(e)], i, e) for _, i, e in shown)[0]
        notes += typing
    settings: dict[str, object] = {**rank.shown_design(resampling, confidence)}
    settings["judges"] = len({i.judge for i in chosen}) if judges is None else "+".join(judges)
    settings |= {"without": "+".join(without_judges)} if without_judges else {}
    settings |= {} if lacking else {"weights": "inverse-probability"}
    settings |= {k: of for k, of in {"types": types, "pipeline": pipeline}.items() if of}
    settings |= {"systems": len(rows), "items": len(chosen), "edits": len(shown)}
    signature = core.Signature.of(ACCEPT_RATE, settings)
    return AcceptRates(ACCEPT_RATE, signature, tuple(rows), tuple(notes), counts, by_type)


def edit_types(
    edits: Collection[EditKey], tier: core.Tier, source: Sequence[str] | None, pipeline: str | None
) -> tuple[dict[EditKey, str], list[str]]:
    """Return the type of each distinct edit as it stands in its sentence, and what to note.

    Operations need no ``source``; ERRANT's types do, a sentence a segment.
    """
    core.UnknownNameError.check("kind of types", tier, core.TIERS)
    core.check_home(tier != "operation", "--types main and full", pipeline=pipeline)
    if tier == "operation":
        return {key: EditJudgment(*key[1:]).operation for key in edits}, []
    if source is None:
        raise core.UsageError("types of edits need the source", fix="Give it: -s source.txt")
    extractor, keys = errant.annotator(pipeline), sorted(edits)
    wanted = [(source[key[0] - 1], [core.Edit(*key[1:])]) for key in keys]
    typed = extractor.retype_all(wanted, minimise=False)
    names = (of[0].type if of else core.UNKNOWN for of in typed)
    kinds = {key: core.tier_of(name, tier) for key, name in zip(keys, names, strict=True)}
    return kinds, [extractor.notice] if extractor.notice else []


def _shown(items: Iterable[EditItem], systems: Sequence[str] | None, drop: Sequence[str]) -> _Shown:
    """Return the edits of each output with its systems, of those that take part."""
    every = [(group, i, edit) for i in items for group, edit in i.occurrences()]
    known = {name for group, *_ in every for name in group}
    wanted = chosen_systems("judged system", known, systems, drop)
    return [([n for n in group if n in wanted], i, e) for group, i, e in every if wanted & {*group}]


def _rates(
    segments: Collection[int], resampling: Resampling, confidence: float, rows: _Labelled
) -> tuple[dict[str, AcceptCount], FloatArray]:
    """Return the counts of each label, and the rates of all in each run, ``(runs, labels)``.

    A verdict weighs one over the probability of its item.
    """
    listed, places = list(rows), {n: at for at, n in enumerate(sorted(segments))}
    names = {name: at for at, name in enumerate(sorted({name for name, *_ in listed}))}
    sums, counts = np.zeros((len(names), len(places), 2)), np.zeros((len(names), 3), int)
    for name, item, edit in listed:
        verdict = 2 if edit.verdict is None else int(not edit.verdict)
        counts[names[name], verdict] += 1
        if verdict < 2:
            sums[names[name], places[item.segment], verdict] += 1 / (item.probability or 1)
    samples = stats.PairedSamples(sums, _share)
    (drawn,) = stats.bootstrap([samples], resamples=resampling.runs, seed=resampling.seed)
    low, high = stats.percentile_interval(drawn, confidence)
    figures = (of.tolist() for of in (*counts.T, samples.observed, low, high))
    lacks = [None if np.isfinite(end) else _LACKING for end in low]
    cells = zip(names, zip(*figures, lacks, strict=True), strict=True)
    return {name: AcceptCount(*row) for name, row in cells}, drawn.T


def _share(sums: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        share: FloatArray = sums[..., 0] / sums.sum(axis=-1)
    return share


def _notes(shown: _Shown, *, weighted: bool) -> Iterator[str]:
    judges, segments = ({getattr(i, n) for _, i, _ in shown} for n in ("judge", "segment"))
    if len(judges) > 1:
        yield f"verdicts of {len(judges)} judges are pooled: {core.listed(sorted(judges))}"
    if missing := sum(edit.verdict is None for *_, edit in shown):
        yield f"{missing} of {len(shown)} edits have no verdict and are left out"
    if weighted:
        yield ("each item counts by one over the probability with which it was drawn: the rates"
               " estimate the precision by people in all sentences that"
               " could be drawn")  # fmt: skip
    if len(segments) < FEW:
        yield (f"few judgments: {len(segments)} sentences; below {FEW} intervals and ranges of"
               " ranks are too narrow")  # fmt: skip


# --- agreement -----------------------------------------------------------------------------
_Verdicts = Mapping[EditKey, bool | None]
_WORDS = {True: "valid", False: "invalid"}
_SHOWN = ("n", "undecided", "observed", "kappa", "ac1", "alpha")
_PREVALENT = 0.8  # a larger share of one verdict pulls kappa down


@dataclass(frozen=True, slots=True)
class VerdictAgreement(core.Plain):
    """Agreement on ``n`` distinct edits that have a verdict on both sides.

    ``undecided`` are edits on which half of a judge's own verdicts fall on each side. ``kappa`` is
    Cohen's, ``ac1`` Gwet's (2008), ``alpha`` Krippendorff's, nominal; NaN where undefined.
    ``table`` counts by the two verdicts.
    """

    n: int
    undecided: int
    observed: float
    kappa: float
    ac1: float
    alpha: float
    table: Mapping[str, int]
    reason: str | None = None

    @classmethod
    def of(cls, one: _Verdicts, other: _Verdicts) -> "VerdictAgreement":
        """Compare two sides on the edits of both."""
        both = [(one[key], other[key]) for key in one.keys() & other.keys()]
        pairs = [pair for pair in both if None not in pair]
        counts = [[pairs.count((a, b)) for b in _WORDS] for a in _WORDS]
        words = [f"{a}|{b}" for a in _WORDS.values() for b in _WORDS.values()]
        table = dict(zip(words, chain(*counts), strict=True))
        n, shares = len(pairs), np.array(counts, dtype=float) / max(len(pairs), 1)
        observed, valid = float(np.trace(shares)), float(shares[0].sum() + shares[:, 0].sum()) / 2
        by_chance = float(shares.sum(0) @ shares.sum(1)), 2 * valid * (1 - valid)
        kappa, ac1 = ((observed - p) / (1 - p) if n and p < 1 else math.nan for p in by_chance)
        values = np.array(pairs, dtype=float).reshape(-1, 2)
        alpha = stats.krippendorff_alpha(values, level="nominal")
        observed = observed if n else math.nan
        return cls(n, len(both) - n, observed, kappa, ac1, alpha.value, table, alpha.reason)


@dataclass(frozen=True, slots=True)
class JudgeConsistency:
    """A judge against itself: the same edit twice in an item, and in two items of a sentence.

    ``same_item`` has the number ``n`` of edits seen in several outputs of an item, and how many of
    them got ``unanimous`` verdicts.
    """

    same_item: Mapping[str, int]
    repeated: VerdictAgreement


@dataclass(frozen=True, repr=False)
class EditAgreement(core.Result):
    """Agreement of judges on single edits, of each two of them and within each."""

    signature: core.Signature
    pairs: Mapping[tuple[str, str], VerdictAgreement]
    within: Mapping[str, JudgeConsistency]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape: the figures stand under ``edits``."""
        edits = {"pairs": self.pairs, "within": self.within}
        return core.public_shape(AGREEMENT, self, "signature", edits=edits)

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a row for each two judges, and for the repeated items of each; then same edits."""
        columns = core.Column.many("count", "edits", "undecided")
        scores = core.Column.many("score", "observed", "kappa", "AC1", "alpha")
        rows = {" | ".join(judges): of for judges, of in self.pairs.items()}
        rows |= {f"{judge}, repeated items": of.repeated for judge, of in self.within.items()}
        cells = [(name, *map(partial(getattr, of), _SHOWN)) for name, of in rows.items()]
        first = core.Table.of(("judges", *columns, *scores), cells, (str(self.signature),))
        counts = core.Column.many("count", "edits in several outputs of an item", "unanimous")
        same = [(judge, *of.same_item.values()) for judge, of in self.within.items()]
        return [first, core.Table.of(("judge", *counts), same)]


def edit_agreement(
    items: Sequence[EditItem], *, judges: Sequence[str] | None = None,
    without_judges: Sequence[str] | None = None,
) -> EditAgreement:  # fmt: skip
    """Measure the agreement of judges on single edits; see :func:`grammeter.agree`."""
    chosen = of_judges(items, judges, without_judges)
    names = sorted({item.judge for item in chosen})
    by_judge = {name: [item for item in chosen if item.judge == name] for name in names}
    verdicts = {name: _majority(_all(of)) for name, of in by_judge.items()}
    pairs = {
        (a, b): VerdictAgreement.of(verdicts[a], verdicts[b]) for a, b in combinations(names, 2)
    }
    within = {name: _consistency(of) for name, of in by_judge.items()}
    said = [edit.verdict for item in chosen for _, edit in item.occurrences()]
    share = said.count(True) / max(1, len(said) - said.count(None))
    notes = [*notes_of(items)]
    few = [f"{a}, {b}" for (a, b), of in pairs.items() if of.n < LEAST]
    if few:
        notes.append(f"fewer than {LEAST} edits judged by both: {core.listed(few, 5)}")
    if max(share, 1 - share) > _PREVALENT:
        notes.append(f"{share:.0%} of the verdicts are valid: kappa is low where one verdict is so"
                     " common, AC1 less so")  # fmt: skip
    settings = {"unit": "distinct-edit", "judges": len(names), "items": len(chosen)}
    signature = core.Signature.of(AGREEMENT, settings | {"edits": len(said)})
    return EditAgreement(signature, pairs, within, tuple(notes))


def _all(items: Iterable[EditItem]) -> dict[EditKey, list[bool]]:
    said = ((item.key(edit), edit.verdict) for item in items for _, edit in item.occurrences())
    return core.grouped((key, verdict) for key, verdict in said if verdict is not None)


def _majority(verdicts: Mapping[EditKey, Sequence[bool]]) -> dict[EditKey, bool | None]:
    """Return the more frequent verdict on each edit; ``None`` if both are as frequent."""
    sums = {key: 2 * sum(of) - len(of) for key, of in verdicts.items()}
    return {key: value > 0 if value else None for key, value in sums.items()}


def _consistency(items: Sequence[EditItem]) -> JudgeConsistency:
    several = [of for item in items for of in _all([item]).values() if len(of) > 1]
    same = {"n": len(several), "unanimous": sum(len({*of}) == 1 for of in several)}
    numbered = all((item.item or "").isdecimal() for item in items)
    ordered = sorted(items, key=lambda item: int(item.item or 0)) if numbered else items
    sides: tuple[dict[EditKey, bool | None], ...] = ({}, {})
    seen = Counter[int]()
    for item in ordered:
        if seen[item.segment] < 2:
            sides[seen[item.segment]].update(_majority(_all([item])))
        seen[item.segment] += 1
    return JudgeConsistency(same, VerdictAgreement.of(*sides))
