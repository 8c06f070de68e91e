"""Meta-evaluation at the level of edits: do metrics value the edits that people accept.

The unit is the distinct edit: segment, start, end, correction. People's share of an edit is the
mean over judges of each judge's share of ``valid``; an edit is valid from one half on.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from grammeter import core, ranking, stats
from grammeter.core import BoolArray, Column, EditItem, EditKey, FloatArray, Table
from grammeter.meta.sentence_level import Estimate

MissingEdits = Literal["error", "drop"]
Values = Mapping[EditKey, float]
_Figures = Mapping[str, Mapping[str, Any]]
_NAMES = ("auc", "average_precision", "point_biserial", "pearson", "spearman")
_MOST_SHOWN = 20  # thresholds in a table for people


@dataclass(frozen=True, slots=True)
class EditMetric(core.Plain):
    """How far one metric's values of edits agree with people.

    ``auc`` is the area under the ROC curve, a tie counting half, with its percentile interval over
    segments; ``intervals`` has those of the other four. ``thresholds`` are all values t: number,
    precision and recall of the edits of value t or more. Of a reference also the 2x2 ``table``,
    the share of its false positives that people accept, and of its true positives that they reject.
    """

    auc: Estimate
    average_precision: float
    point_biserial: float
    pearson: float
    spearman: float
    intervals: Mapping[str, Estimate]
    thresholds: Sequence[Mapping[str, float]]
    edits: int
    table: Mapping[str, int] | None = None
    accepted_false_positives: float | None = None
    rejected_true_positives: float | None = None


@dataclass(frozen=True, repr=False)
class EditLevel(core.Result, kind="meta-edits"):
    """How well metrics know which edits people accept.

    ``edits`` counts distinct ones, ``valid`` those that people accept, ``ties`` the valid ones on
    which people are even. ``systems`` have precision by people and by the reference, an edit
    counting as often as it was shown; ``correlations`` are of the two, over all systems and the
    sets of SEEDA. ``types`` show where references are poorest.
    """

    signature: core.Signature
    edits: int
    valid: int
    ties: int
    metrics: Mapping[str, EditMetric]
    systems: _Figures
    correlations: _Figures | None = None
    types: _Figures | None = None
    notes: tuple[str, ...] = ()
    notices: tuple[str, ...] = field(default=(), compare=False)

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return a row for each metric; then thresholds, systems, and types of edits."""
        ends = Column.many("score", "low", "high") if long else (Column("interval", "interval"),)
        auc = (Column("AUC", "score", best="high"), *ends)
        scores = Column.many("score", "AP", "point-biserial", "Pearson", "Spearman")
        shares = Column.many("share", "false positives accepted", "true ones rejected")
        rows = [
            (name, m.edits, m.auc.value, *(m.auc.figures[1:] if long else [m.auc.interval]),
             *(getattr(m, n) for n in _NAMES[1:]), m.accepted_false_positives,
             m.rejected_true_positives)
            for name, m in self.metrics.items()
        ]  # fmt: skip
        columns = ("metric", Column("edits", "count"), *auc, *scores, *shares)
        first = Table.of(columns, rows, (str(self.signature),))
        return [first] if long else [first, *self._more()]

    def _more(self) -> Iterator[Table]:
        shown = {n: m for n, m in self.metrics.items() if len(m.thresholds) <= _MOST_SHOWN}
        steps = [(name, *step.values()) for name, m in shown.items() for step in m.thresholds]
        counts = Column.many("count", "false positives", "accepted")
        heads = (*Column.many("count", "value from", "edits"), *Column.many("score", "P", "R"))
        yield from [Table.of(("metric", *heads), steps)] if steps else []
        heads = (Column("edits", "count"), *Column.many("score", "P by people", "P by reference"))
        width = max((len(of) for of in self.systems.values()), default=0)
        rows = [(name, *of.values()) for name, of in self.systems.items()]
        said = [
            f"the two precisions correlate, {name}: n {of['n']:g}, Pearson {of['pearson']:.4f},"
            f" Spearman {of['spearman']:.4f}"
            for name, of in (self.correlations or {}).items()
        ]
        yield Table.of(("system", *(*heads, *counts)[:width]), rows, said)
        kinds = [(name, *of.values()) for name, of in (self.types or {}).items()]
        yield from [Table.of(("type", *counts, Column("share", "share")), kinds)] if kinds else []


@dataclass(frozen=True)
class PeopleOnEdits:
    """What people said of each distinct edit: arrays over ``keys``, sorted."""

    keys: tuple[EditKey, ...]
    share: FloatArray

    @classmethod
    def of(cls, items: Sequence[EditItem]) -> "PeopleOnEdits":
        """Gather the verdicts; DataError if there is none."""
        verdicts: dict[EditKey, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
        for item, edit in ((i, edit) for i in items for _, edit in i.occurrences()):
            if edit.verdict is not None:
                verdicts[item.key(edit)][item.judge].append(edit.verdict)
        if not verdicts:
            raise core.DataError("no edit has a verdict", fix="Call one valid or invalid at least.")
        shares = [[sum(v) / len(v) for v in verdicts[key].values()] for key in sorted(verdicts)]
        return cls(tuple(sorted(verdicts)), np.array([sum(of) / len(of) for of in shares]))

    @property
    def valid(self) -> BoolArray:
        """Whether people accept each edit; ties count as valid."""
        return self.share >= 0.5

    @property
    def segment(self) -> core.IntArray:
        """The place of each edit's segment, from 0."""
        return np.unique([key[0] for key in self.keys], return_inverse=True)[1].astype(np.int64)

    def with_values(
        self, name: str, values: Values, missing: MissingEdits
    ) -> tuple["PeopleOnEdits", list[str]]:
        """Return the edits that have a value, and a note on the others, or a DataError."""
        has = [at for at, key in enumerate(self.keys) if key in values]
        if len(has) == len(self.keys):
            return self, []
        if missing == "error" or not has:
            key = next(key for key in self.keys if key not in values)
            fault = f"{name} has no value of the edit {key[1]} {key[2]} {key[3]!r} in segment"
            fix = "Give one of each judged edit, or say --missing drop."
            raise core.DataError(f"{fault} {key[0]}", fix=fix)
        left = f"{len(self.keys) - len(has)} of {len(self.keys)} judged edits"
        note = f"{name}: {left} have no value and are left out"
        return PeopleOnEdits(tuple(self.keys[at] for at in has), self.share[has]), [note]

    def notes(self, items: Iterable[EditItem]) -> Iterator[str]:
        """Yield what the reader of all figures must know."""
        if ties := int((self.share == 0.5).sum()):
            yield f"on {ties} edits people are even; they count as valid"
        if lack := sum(e.verdict is None for item in items for _, e in item.occurrences()):
            yield f"{lack} edits shown have no verdict and are left out"
        if (segments := int(self.segment.max()) + 1) < ranking.FEW:
            yield f"few judgments: {segments} sentences; intervals are too narrow"


def matches(keys: Iterable[EditKey], gold: Sequence[core.GoldEdits]) -> dict[EditKey, float]:
    """Return 1 for each edit that equals one of any annotator, else 0."""
    known = {(number, edit.start, edit.end, " ".join(correction.split()))
             for number, annotators in enumerate(gold, start=1)
             for edits in annotators.values()
             for edit in edits
             for correction in edit.corrections}  # fmt: skip
    return {key: float(key in known) for key in keys}


def measure_metric(
    people: PeopleOnEdits, values: Values, *, resamples: int, seed: int, confidence: float = 0.95
) -> EditMetric:
    """Compare the values of all of people's edits with what people said; NaN with a reason."""
    x, segment = np.array([values[key] for key in people.keys], dtype=float), people.segment
    observed = {n: float(of[0]) for n, of in _figures(np.ones((1, len(x))), x, people).items()}
    units = int(segment.max()) + 1
    draws = stats.resample_counts(units, resamples, seed=seed, width=len(x))
    runs = [_figures(counts[:, segment], x, people) for counts in draws]
    drawn = {name: np.concatenate([np.empty(0), *(run[name] for run in runs)]) for name in observed}
    undefined = "all edits have one value, or one verdict"
    estimates = {name: Estimate.of(value, drawn[name], confidence, undefined)
                 for name, value in observed.items()}  # fmt: skip
    steps = [
        {"value": float(value), "n": int(at.sum()), "precision": float(people.valid[at].mean()),
         "recall": float((at & people.valid).sum() / max(1, people.valid.sum()))}
        for value in np.unique(x) for at in [x >= value]
    ]  # fmt: skip
    figures = (estimates.pop("auc"), *(observed[name] for name in _NAMES[1:]))
    return EditMetric(*figures, intervals=estimates, thresholds=steps, edits=len(x))


def _figures(weights: FloatArray, x: FloatArray, people: PeopleOnEdits) -> dict[str, FloatArray]:
    """Return the statistics of edits with weights ``(runs, edits)``, each ``(runs,)``."""
    valid, order = people.valid.astype(float), np.argsort(x, kind="stable")
    starts = np.unique(x[order], return_index=True)[1]
    positive, total = (
        np.add.reduceat(of[:, order], starts, axis=1) for of in (weights * valid, weights)
    )
    negative = total - positive
    true, called = (np.cumsum(of[:, ::-1], axis=1)[:, ::-1] for of in (positive, total))
    wins = (positive * (np.cumsum(negative, axis=1) - negative / 2)).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        auc = wins / (positive.sum(axis=1) * negative.sum(axis=1))
        precision = (positive * np.nan_to_num(true / called)).sum(axis=1) / positive.sum(axis=1)
    ranks = [stats.weighted_ranks(of, weights) for of in (x, people.share)]
    pairs = ((x, valid), (x, people.share), (ranks[0], ranks[1]))
    correlations = [stats.weighted_pearson(one, other, weights) for one, other in pairs]
    return dict(zip(_NAMES, (auc, precision, *correlations), strict=True))


def reference_figures(people: PeopleOnEdits, values: Values) -> dict[str, Any]:
    """Return what is said of a reference alone: the 2x2 table and its two shares."""
    match = np.array([values[key] > 0 for key in people.keys])
    sides = {"valid": people.valid, "invalid": ~people.valid}
    cells = {"match": match, "other": ~match}.items()
    table = {f"{a}_{b}": int((x & y).sum()) for a, x in cells for b, y in sides.items()}
    accepted = float(people.valid[~match].mean()) if not match.all() else math.nan
    rejected = 1 - float(people.valid[match].mean()) if match.any() else math.nan
    shares = {"accepted_false_positives": accepted, "rejected_true_positives": rejected}
    return {"table": table} | shares


def edits_by_system(items: Iterable[EditItem], matching: Values | None) -> _Figures:
    """Return the precision of each system by people and, if known, by the reference."""
    rows: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for item, (group, edit) in ((i, of) for i in items for of in i.occurrences()):
        for name in group if edit.verdict is not None else ():
            match = bool(matching and matching[item.key(edit)])
            rows[name].append((match, edit.verdict is True))
    systems: dict[str, dict[str, Any]] = {}
    for name in sorted(rows):
        match, valid = np.array(rows[name]).T
        known = float(match.mean()), int((~match).sum()), int((~match & valid).sum())
        names = ("precision_by_reference", "false_positives", "accepted_false_positives")
        systems[name] = {"n": len(match), "precision_by_people": float(valid.mean())}
        systems[name] |= zip(names, known, strict=True) if matching is not None else ()
    return systems


def precision_correlations(systems: _Figures) -> _Figures:
    """Correlate precision by reference with precision by people over sets of systems."""
    sets = {"all": (*systems,), **ranking.SYSTEM_SETS}
    result: dict[str, Mapping[str, float]] = {}
    for name, of in sets.items():
        if len(of) > 2 and systems.keys() >= {*of}:
            both = ("precision_by_reference", "precision_by_people")
            x, y = (np.array([systems[system][key] for system in of]) for key in both)
            correlations = {"pearson": stats.pearson(x, y), "spearman": stats.spearman(x, y)}
            result[name] = {"n": len(of)} | {k: float(value) for k, value in correlations.items()}
    return result


def accepted_by_type(
    people: PeopleOnEdits, matching: Values, kinds: Mapping[EditKey, str]
) -> _Figures:
    """Return, by type, the edits that match no reference, the type with most accepted first."""
    rows: dict[str, list[bool]] = defaultdict(list)
    for key, valid in zip(people.keys, people.valid.tolist(), strict=True):
        rows[kinds[key]] += [] if matching[key] else [valid]
    names = sorted((k for k, of in rows.items() if of), key=lambda k: (-sum(rows[k]), k))
    counts = {name: (len(rows[name]), sum(rows[name])) for name in names}
    return {name: {"false_positives": n, "accepted_false_positives": ok, "share": ok / n}
            for name, (n, ok) in counts.items()}  # fmt: skip
