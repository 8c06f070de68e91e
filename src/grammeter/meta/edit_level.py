"""Meta-evaluation at the level of edits: do metrics value the edits that people accept.

The unit is the distinct edit: segment, start, end, correction. People's share of an edit is the
mean over judges of each judge's share of ``valid``; an edit is valid from one half on.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from grammeter import core, ranking, stats
from grammeter.core import BoolArray, EditItem, EditKey, FloatArray
from grammeter.meta.sentence_level import Estimate

KIND = "meta-edits"
MissingEdits = Literal["error", "drop"]
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


@dataclass(frozen=True, slots=True)
class EditSystem(core.Plain):
    """The judged edits of one system, an edit as often as it was shown; precision two ways."""

    n: int
    precision_by_people: float
    precision_by_reference: float | None = None
    false_positives: int | None = None
    accepted_false_positives: int | None = None


@dataclass(frozen=True, slots=True)
class Accepted(core.Plain):
    """Distinct edits of one type that match no reference, and how many of them people accept."""

    false_positives: int
    accepted_false_positives: int
    share: float


@dataclass(frozen=True, repr=False)
class EditLevel(core.Result):
    """How well metrics know which edits people accept.

    ``edits`` counts distinct ones, ``valid`` those that people accept, ``ties`` the valid ones on
    which people are even. ``correlations`` are of precision by reference with precision by people,
    over all systems and the sets of SEEDA; ``types`` show where references are poorest.
    """

    signature: core.Signature
    edits: int
    valid: int
    ties: int
    metrics: Mapping[str, EditMetric]
    systems: Mapping[str, EditSystem]
    correlations: Mapping[str, Mapping[str, float]] | None = None
    types: Mapping[str, Accepted] | None = None
    notes: tuple[str, ...] = ()
    notices: tuple[str, ...] = field(default=(), compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape; NaN is ``None``."""
        names = (
            "signature",
            "edits",
            "valid",
            "ties",
            "metrics",
            "systems",
            "correlations",
            "types",
        )
        return core.public_shape(KIND, self, *(n for n in names if getattr(self, n) is not None))

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a row for each metric; then thresholds, systems, and types of edits."""
        scores = core.Column.many("score", "AP", "point-biserial", "Pearson", "Spearman")
        shares = core.Column.many("share", "false positives accepted", "true ones rejected")
        auc = (core.Column("AUC", "score", best="high"), core.Column("interval", "interval"))
        columns = ("metric", core.Column("edits", "count"), *auc, *scores, *shares)
        rows = [
            (name, m.edits, m.auc.value, m.auc.interval, m.average_precision,
             m.point_biserial, m.pearson, m.spearman, m.accepted_false_positives,
             m.rejected_true_positives)
            for name, m in self.metrics.items()
        ]  # fmt: skip
        first = core.Table.of(columns, rows, (str(self.signature),))
        return [first] if long else [first, *self._more()]

    def _more(self) -> Iterable[core.Table]:
        value = core.Column("value from", "count")
        both, count = (
            core.Column.many("score", "precision", "recall"),
            core.Column("edits", "count"),
        )
        steps = [
            (name, *step.values())
            for name, metric in self.metrics.items()
            for step in metric.thresholds
            if len(metric.thresholds) <= _MOST_SHOWN
        ]
        if steps:
            yield core.Table.of(("metric", value, count, *both), steps)
        heads = core.Column.many("score", "precision by people", "by reference")
        counts = core.Column.many("count", "false positives", "accepted")
        rows = [
            (name, of.n, of.precision_by_people, of.precision_by_reference, of.false_positives,
             of.accepted_false_positives)
            for name, of in self.systems.items()
        ]  # fmt: skip
        said = [
            f"the two precisions correlate, {name}: n {of['n']:g}, Pearson {of['pearson']:.4f},"
            f" Spearman {of['spearman']:.4f}"
            for name, of in (self.correlations or {}).items()
        ]
        yield core.Table.of(("system", count, *heads, *counts), rows, said)
        if self.types:
            kinds = [(name, *core.plain(of).values()) for name, of in self.types.items()]
            yield core.Table.of(("type", *counts, core.Column("share", "share")), kinds)


@dataclass(frozen=True)
class PeopleOnEdits:
    """What people said of each distinct edit: arrays over ``keys``, sorted."""

    keys: tuple[EditKey, ...]
    share: FloatArray
    segment: core.IntArray  # numbered from 0

    @classmethod
    def of(cls, items: Sequence[EditItem]) -> "PeopleOnEdits":
        """Gather the verdicts; DataError if there is none."""
        verdicts: dict[EditKey, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
        for item in items:
            for _, edit in item.occurrences():
                if edit.verdict is not None:
                    verdicts[item.key(edit)][item.judge].append(edit.verdict)
        if not verdicts:
            raise core.DataError("no edit has a verdict", fix="Call one valid or invalid at least.")
        keys = tuple(sorted(verdicts))
        shares = [np.mean([np.mean(of) for of in verdicts[key].values()]) for key in keys]
        segments = np.unique([key[0] for key in keys], return_inverse=True)[1]
        return cls(keys, np.array(shares, dtype=float), segments.astype(np.int64))

    @property
    def valid(self) -> BoolArray:
        """Whether people accept each edit; ties count as valid."""
        return self.share >= 0.5

    def among(self, places: BoolArray) -> "PeopleOnEdits":
        """Return some of the edits."""
        keys = tuple(key for key, chosen in zip(self.keys, places.tolist(), strict=True) if chosen)
        segments = np.unique(self.segment[places], return_inverse=True)[1]
        return PeopleOnEdits(keys, self.share[places], segments.astype(np.int64))


def matches(keys: Iterable[EditKey], gold: Sequence[core.GoldEdits]) -> dict[EditKey, float]:
    """Return 1 for each edit that equals one of any annotator, else 0; see :class:`EditMetric`."""
    known = {
        (number, edit.start, edit.end, " ".join(correction.split()))
        for number, annotators in enumerate(gold, start=1)
        for edits in annotators.values()
        for edit in edits
        for correction in edit.corrections
    }
    return {key: float(key in known) for key in keys}


def measure_metric(
    people: PeopleOnEdits, values: Mapping[EditKey, float], *, resamples: int, seed: int,
    confidence: float = 0.95,
) -> EditMetric:  # fmt: skip
    """Compare the values of all of people's edits with what people said; NaN with a reason."""
    x = np.array([values[key] for key in people.keys], dtype=float)
    observed = {n: float(of[0]) for n, of in _figures(np.ones((1, len(x))), x, people).items()}
    units = int(people.segment.max()) + 1
    draws = stats.resample_counts(units, resamples, seed=seed, width=len(x))
    runs = [_figures(counts[:, people.segment], x, people) for counts in draws]
    estimates: dict[str, Estimate] = {}
    for name, value in observed.items():
        of = np.concatenate([run[name] for run in runs]) if runs else np.empty(0)
        low, high = map(float, stats.percentile_interval(of, confidence)) if runs else (None, None)
        lack = "undefined in some resamples" if low is not None and math.isnan(low) else None
        lack = "all edits have one value, or one verdict" if math.isnan(value) else lack
        estimates[name] = Estimate(value=value, low=low, high=high, reason=lack)
    steps = [
        {"value": float(value), "n": int(at.sum()), "precision": float(people.valid[at].mean()),
         "recall": float((at & people.valid).sum() / max(1, people.valid.sum()))}
        for value in np.unique(x) for at in [x >= value]
    ]  # fmt: skip
    auc, *others = _NAMES
    values_of = (estimates.pop(auc), *(observed[name] for name in others))
    return EditMetric(*values_of, intervals=estimates, thresholds=steps, edits=len(x))


def _figures(weights: FloatArray, x: FloatArray, people: PeopleOnEdits) -> dict[str, FloatArray]:
    """Return the statistics of edits with weights ``(runs, edits)``, each ``(runs,)``."""
    valid = people.valid.astype(float)
    positive, _ = _sums(weights * valid, x)
    total, group = _sums(weights, x)
    negative = total - positive
    true, called = (np.cumsum(of[:, ::-1], axis=1)[:, ::-1] for of in (positive, total))
    wins = (positive * (np.cumsum(negative, axis=1) - negative / 2)).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        auc = wins / (positive.sum(axis=1) * negative.sum(axis=1))
        precision = (positive * np.nan_to_num(true / called)).sum(axis=1) / positive.sum(axis=1)
    ranks = (np.cumsum(total, axis=1) - total / 2)[:, group]
    sums, level = _sums(weights, people.share)
    ranks_of_people = (np.cumsum(sums, axis=1) - sums / 2)[:, level]
    correlations = [_pearson(weights, x, of) for of in (valid, people.share)]
    spearman = _pearson(weights, ranks, ranks_of_people)
    return dict(zip(_NAMES, (auc, precision, *correlations, spearman), strict=True))


def _sums(weights: FloatArray, x: FloatArray) -> tuple[FloatArray, core.IntArray]:
    """Sum weights ``(runs, edits)`` by value, ascending; and return the place of each edit's."""
    _, first, group = np.unique(np.sort(x), return_index=True, return_inverse=True)
    order = np.argsort(x, kind="stable")
    sums: FloatArray = np.add.reduceat(weights[:, order], first, axis=1)
    place = np.empty(len(x), dtype=np.int64)
    place[order] = group
    return sums, place


def _pearson(weights: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    total = weights.sum(axis=1, keepdims=True)
    dx, dy = (of - (weights * of).sum(axis=1, keepdims=True) / total for of in (x, y))
    products = [(weights * a * b).sum(axis=1) for a, b in ((dx, dy), (dx, dx), (dy, dy))]
    with np.errstate(invalid="ignore", divide="ignore"):
        values: FloatArray = products[0] / np.sqrt(products[1] * products[2])
    return np.where(np.minimum(products[1], products[2]) > 1e-12, values, np.nan)


def reference_figures(people: PeopleOnEdits, values: Mapping[EditKey, float]) -> dict[str, Any]:
    """Return what is said of a reference alone: the 2x2 table and its two shares."""
    match = np.array([values[key] > 0 for key in people.keys])
    cells = {"match": match, "other": ~match}
    sides = {"valid": people.valid, "invalid": ~people.valid}
    table = {f"{a}_{b}": int((x & y).sum()) for a, x in cells.items() for b, y in sides.items()}
    share = {a: table[f"{a}_valid"] / max(1, int(x.sum())) for a, x in cells.items()}
    return {
        "table": table,
        "accepted_false_positives": share["other"] if (~match).any() else math.nan,
        "rejected_true_positives": 1 - share["match"] if match.any() else math.nan,
    }


def edits_by_system(
    items: Iterable[EditItem], matching: Mapping[EditKey, float] | None
) -> dict[str, EditSystem]:
    """Return the precision of each system by people and, if known, by the reference."""
    rows: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for item in items:
        for group, edit in item.occurrences():
            for name in group if edit.verdict is not None else ():
                match = bool(matching and matching[item.key(edit)])
                rows[name].append((match, edit.verdict is True))
    systems: dict[str, EditSystem] = {}
    for name in sorted(rows):
        match, valid = np.array(rows[name]).T
        known: tuple[Any, ...] = (match.mean(), (~match).sum(), (~match & valid).sum())
        known = tuple(of.item() for of in known) if matching is not None else ()
        systems[name] = EditSystem(len(match), float(valid.mean()), *known)
    return systems


def precision_correlations(systems: Mapping[str, EditSystem]) -> dict[str, Mapping[str, float]]:
    """Correlate precision by reference with precision by people over sets of systems."""
    sets = {"all": (*systems,), **ranking.SYSTEM_SETS}
    sets = {name: of for name, of in sets.items() if len(of) > 2 and systems.keys() >= {*of}}
    result: dict[str, Mapping[str, float]] = {}
    for name, chosen in sets.items():
        rows = [(systems[s].precision_by_reference, systems[s].precision_by_people) for s in chosen]
        x, y = np.array(rows, dtype=float).T
        both = {"pearson": float(stats.pearson(x, y)), "spearman": float(stats.spearman(x, y))}
        result[name] = {"n": len(chosen), **both}
    return result


def accepted_by_type(
    people: PeopleOnEdits, matching: Mapping[EditKey, float], kinds: Mapping[EditKey, str]
) -> dict[str, Accepted]:
    """Return, by type, the edits that match no reference, with most accepted ones first."""
    rows: dict[str, list[bool]] = defaultdict(list)
    for key, valid in zip(people.keys, people.valid.tolist(), strict=True):
        if not matching[key]:
            rows[kinds[key]].append(valid)
    types = {k: Accepted(len(of), sum(of), sum(of) / len(of)) for k, of in rows.items()}
    return dict(sorted(types.items(), key=lambda row: (-row[1].accepted_false_positives, row[0])))


def known_values(
    people: PeopleOnEdits, name: str, values: Mapping[EditKey, float], missing: MissingEdits
) -> tuple[PeopleOnEdits, list[str]]:
    """Return the edits that have a value, and a note on the others, or a DataError."""
    has = np.array([key in values for key in people.keys])
    if has.all():
        return people, []
    key = people.keys[int(np.argmin(has))]
    if missing == "error" or not has.any():
        fault = f"{name} has no value of the edit {key[1]} {key[2]} {key[3]!r} in segment {key[0]}"
        raise core.DataError(fault, fix="Give one of each judged edit, or say --missing drop.")
    left = f"{name}: {int((~has).sum())} of {len(has)} judged edits have no value and are left out"
    return people.among(has), [left]


def notes_on_edits(people: PeopleOnEdits, items: Sequence[EditItem]) -> list[str]:
    """Return what the reader of all figures must know."""
    notes: list[str] = []
    if ties := int((people.share == 0.5).sum()):
        notes.append(f"on {ties} edits people are even; they count as valid")
    unjudged = sum(e.verdict is None for item in items for _, e in item.occurrences())
    if unjudged:
        notes.append(f"{unjudged} edits shown have no verdict and are left out")
    if (segments := int(people.segment.max()) + 1) < ranking.FEW:
        notes.append(f"few judgments: {segments} sentences; intervals are too narrow")
    return notes
