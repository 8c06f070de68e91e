"""How far judges agree: counts, kappas and alphas, the result of ``agree``, public shapes."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any, Literal, Self, TypeVar, get_args

import numpy as np

from grammeter import core
from grammeter.ranking.judged_units import Judges
from grammeter.stats import Alpha, Interval, Kappa

AGREEMENT = "agreement"
TOTAL = "total"
WIDEST = 20  # judges that a matrix has room for
NONE = "-"
KappaKind = Literal["script", "orientation-free"]
"""How chance agreement is computed: with "better" and "worse" as they fall in alphabetical order of
the outputs' names, as the paper's script does, or equally likely, for that order means nothing."""
KINDS: tuple[KappaKind, ...] = get_args(KappaKind)
Measured = TypeVar("Measured", Kappa, Alpha)
SIDES = ("inter", "intra")  # between judges, and of judges with themselves
LEAST = 50  # pairs of judges with fewer comparisons do not count in the mean (the paper's rule)


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
    alphabetical order, or twice the same judge. The pooled ones are of the summed counts of all.
    """

    inter: Kappa
    intra: Kappa
    pairs: Mapping[Judges, Kappa]
    pooled_inter: Kappa
    pooled_intra: Kappa

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape: NaN becomes ``null`` with a reason."""
        pairs = {"|".join(judges): figure_shape(kappa) | {"in_mean": in_mean(kappa)}
                 for judges, kappa in self.pairs.items()}  # fmt: skip
        pooled = shapes_by_side(self.pooled_inter, self.pooled_intra)
        return shapes_by_side(self.inter, self.intra) | {"pairs": pairs, "pooled": pooled}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` wrote; raise what is amiss as the error that it causes."""
        names = (text.partition("|") for text in data["pairs"])
        kappas = (read_figure(Kappa, shape) for shape in data["pairs"].values())
        pairs = {(a, b): kappa for (a, _, b), kappa in zip(names, kappas, strict=True)}
        return cls(*read_sides(Kappa, data), pairs, *read_sides(Kappa, data["pooled"]))


def in_mean(kappa: Kappa) -> bool:
    """Whether the kappa of a pair of judges counts in the mean."""
    return kappa.n >= LEAST and not np.isnan(kappa.value)


def shapes_by_side(between: Kappa | Alpha, within: Kappa | Alpha) -> dict[str, Any]:
    """Return the public shapes of the figures between judges and within them."""
    return dict(zip(SIDES, map(figure_shape, (between, within)), strict=True))


def read_sides(cls: type[Measured], shapes: Mapping[str, Any]) -> tuple[Measured, Measured]:
    """Read what :func:`shapes_by_side` returned."""
    between, within = (read_figure(cls, shapes[side]) for side in SIDES)
    return between, within


def figure_shape(figure: Kappa | Alpha) -> dict[str, Any]:
    """Return the public shape of one figure; the reason may be that of its interval."""
    shape = core.plain(replace(figure, interval=None))
    value = {"kappa" if isinstance(figure, Kappa) else "value": shape.pop("value")}
    return value | (core.plain(figure.interval) if figure.interval else {}) | shape


def read_figure(cls: type[Measured], shape: Mapping[str, Any]) -> Measured:
    """Read what :func:`figure_shape` returned."""
    value = {"value": shape["kappa"]} if cls is Kappa else {}
    figure = core.read_fields(cls, {**shape, **value})
    if "low" not in shape:
        return figure
    own, of_interval = (figure.reason, None) if math.isnan(figure.value) else (None, figure.reason)
    interval = core.read_fields(Interval, {**shape, "reason": of_interval})
    return replace(figure, reason=own, interval=interval)


@dataclass(frozen=True, repr=False)
class Agreement(core.Result):
    """How far judges agree: kappa by each definition, that of ``kind`` first.

    ``alpha_inter`` and ``alpha_intra`` are Krippendorff's alpha (ordinal) of the ranks, between
    judges and within; ``counts`` are by judge, in alphabetical order, ``total`` their sums.
    ``by_file`` has the same for each file of several, without intervals; ``unexpanded`` with equal
    outputs as one, where some stand apart, else ``None``.
    """

    kind: KappaKind
    signature: core.Signature
    kappas: Mapping[KappaKind, Kappas]
    alpha_inter: Alpha
    alpha_intra: Alpha
    counts: Mapping[str, JudgeCounts]
    total: JudgeCounts
    by_file: Mapping[str, "Agreement"] = field(default_factory=dict["str", "Agreement"])
    unexpanded: "Agreement | None" = None
    notes: tuple[str, ...] = ()

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return the means, each file's, the pairs of judges as a matrix, and what each judge did.

        For programs: one table with a row for each mean and each pair.
        """
        if long:
            return [_long_table(self)]
        files = [_file_table(self)] if self.by_file else []
        matrix = [_kappa_matrix(self)] if len(self.counts) <= WIDEST else []
        return [_summary(self), *files, *matrix, _count_table(self)]

    def figures(self) -> Mapping[str, core.Figure]:
        """Return the kappa of each two judges as a matrix."""
        judges = tuple(self.counts)
        pairs = [[self.pairs.get((min(a, b), max(a, b))) for b in judges] for a in judges]
        values = np.array([[np.nan if k is None else k.value for k in row] for row in pairs])
        return {"kappas": core.Figure("agreement_matrix", {"judges": judges, "values": values})}

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

    def sides(self) -> Iterator[tuple[str, Kappa, Kappa, Kappa, Alpha]]:
        """Yield kappa, pooled and other kappa and alpha, ``between`` judges and ``within``."""
        chosen, other = self.kappas[self.kind], self.kappas[self.beside]
        yield "between", self.inter, chosen.pooled_inter, other.inter, self.alpha_inter
        yield "within", self.intra, chosen.pooled_intra, other.intra, self.alpha_intra

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape: NaN becomes ``null`` with a reason."""
        files = {path: part._figures() for path, part in self.by_file.items()}
        joined = self.unexpanded and self.unexpanded._figures()
        parts = self._figures() | {"files": files or None, "unexpanded": joined}
        return core.public_shape(AGREEMENT, self, "signature", **parts)

    def _figures(self) -> dict[str, Any]:
        alpha = {"level": "ordinal"} | shapes_by_side(self.alpha_inter, self.alpha_intra)
        beside = {"kappa": self.beside, **self.kappas[self.beside].to_dict()}
        rest = {"alpha": alpha, "counts": {**self.counts, TOTAL: self.total}, "beside": beside}
        return self.kappas[self.kind].to_dict() | core.plain(rest)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, where: str | None = None) -> Self:
        """Read what :meth:`to_dict` wrote; DataError, naming ``where``, if it is something else."""

        def part(shape: Mapping[str, Any]) -> Self:
            beside: KappaKind = shape["beside"]["kappa"]
            kind: KappaKind = next(name for name in KINDS if name != beside)
            kappas: dict[KappaKind, Kappas] = {kind: Kappas.from_dict(shape)}
            kappas[beside] = Kappas.from_dict(shape["beside"])
            alphas = read_sides(Alpha, shape["alpha"])
            counts = {judge: JudgeCounts(**done) for judge, done in shape["counts"].items()}
            return cls(kind, signature, kappas, *alphas, counts, counts.pop(TOTAL))

        with core.reading(data, AGREEMENT, verb="agree", where=where):
            signature = core.Signature.parse(data["signature"])
            return replace(
                part(data),
                by_file={path: part(shape) for path, shape in data.get("files", {}).items()},
                unexpanded=part(data["unexpanded"]) if "unexpanded" in data else None,
                notes=tuple(data["notes"]),
            )


def _summary(agreement: Agreement) -> core.Table:
    level = f"{float(dict(agreement.signature).get('confidence', 0.95)) * 100:g}%"
    figures = core.Column.many("number", "kappa", level, "observed", "chance")
    others = core.Column.many("number", "pooled kappa", f"{agreement.beside} kappa", "alpha", level)
    columns = ("agreement", *figures, core.Column("comparisons", "count"), *others)
    rows = [
        (
            *(f"{name} judges", kappa.value, _bounds(kappa), kappa.observed, kappa.chance),
            *(kappa.n, pooled.value, other.value, alpha.value, _bounds(alpha)),
        )
        for name, kappa, pooled, other, alpha in agreement.sides()
    ]
    return core.Table.of(columns, rows, (str(agreement.signature), *_missing(agreement)))


def _bounds(figure: Kappa | Alpha) -> core.Cell:
    interval = figure.interval
    return NONE if not interval or np.isnan(interval.low) else (interval.low, interval.high)


def _file_table(agreement: Agreement) -> core.Table:
    rows: list[Sequence[core.Cell]] = []
    for path, part in agreement.by_file.items():
        shown = [of.value for _, kappa, pooled, _, alpha in part.sides()
                 for of in (kappa, pooled, alpha)]  # fmt: skip
        rows.append((path, len(part.counts), part.total.items, *shown))
    heads = (name for side in ("between", "within") for name in (side, "pooled", f"alpha {side}"))
    counts, figures = core.Column.many("count", "judges", "items"), core.Column.many
    return core.Table.of(("file", *counts, *figures("number", *heads)), rows)


def _missing(agreement: Agreement) -> Iterator[str]:
    for name, kappa, _, _, alpha in agreement.sides():
        for what, figure in (("kappa", kappa), ("alpha", alpha)):
            if figure.reason:
                yield f"no {what} {name} judges: {figure.reason}"
            if figure.interval and figure.interval.reason:
                yield f"no interval of {what} {name} judges: {figure.interval.reason}"


def _kappa_matrix(agreement: Agreement) -> core.Table:
    judges, pairs = list(agreement.counts), agreement.pairs
    cells = {judges: NONE if kappa.reason else kappa.value for judges, kappa in pairs.items()}
    rows = [(judge, *(cells.get((judge, other)) for other in judges)) for judge in judges]
    few = [pair for pair, kappa in pairs.items() if not kappa.reason and not in_mean(kappa)]
    marks = {(judges.index(a), 1 + judges.index(b)): "*" for a, b in few}
    notes = (f"* fewer than {LEAST} comparisons; not in the mean", f"{NONE} nothing to compare")
    return core.Table.of(("kappa", *core.Column.many("number", *judges)), rows, notes, marks=marks)


def _count_table(agreement: Agreement) -> core.Table:
    heads = core.Column.many("count", "items", "unexpanded", "ties", "expanded", "ties")
    counts = {**agreement.counts, TOTAL: agreement.total}
    rows = [(judge, *astuple(done)) for judge, done in counts.items()]
    outputs, same = "pairs of outputs", "pairs of systems, those that wrote the same tied"
    return core.Table.of(("judge", *heads), rows, (f"unexpanded: {outputs}; expanded: {same}",))


def _long_table(agreement: Agreement) -> core.Table:
    rows: list[Sequence[core.Cell]] = []

    def add(
        of: str, figure: Kappa | Alpha, beside: Kappa | None = None, judges: Judges = ("", "")
    ) -> None:
        kappa = (figure.observed, figure.chance) if isinstance(figure, Kappa) else (None, None)
        ends = (figure.interval.low, figure.interval.high) if figure.interval else (None, None)
        rows.append((of, *judges, figure.value, *kappa, figure.n, beside and beside.value, *ends))

    for side, (_, kappa, pooled, other, alpha) in zip(SIDES, agreement.sides(), strict=True):
        add(side, kappa, other)
        add(f"{side} pooled", pooled)
        add(f"{side} alpha", alpha)
    for judges, kappa in agreement.pairs.items():
        add("pair", kappa, agreement.kappas[agreement.beside].pairs[judges], judges)
    figures = core.Column.many("number", "kappa", "observed", "chance")
    others = core.Column.many("number", f"{agreement.beside} kappa", "low", "high")
    columns = ("of", "first", "second", *figures, core.Column("n", "count"), *others)
    return core.Table.of(columns, rows)
