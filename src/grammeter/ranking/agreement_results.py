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
    names = ("kappa", "observed", "chance") if cls is Kappa else ("value",)
    numbers = [core.read_number(shape[name]) for name in names]
    reason, unknown = shape.get("reason"), math.isnan(numbers[0])
    low, high = (core.read_number(shape.get(end)) for end in ("low", "high"))
    interval = Interval(low, high, None if unknown else reason) if "low" in shape else None
    values: list[Any] = [*numbers, shape["n"], reason if unknown else None, interval]
    return cls(*values)


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
    chosen, beside = agreement.kappas[agreement.kind], agreement.kappas[agreement.beside]
    level = f"{float(dict(agreement.signature).get('confidence', 0.95)) * 100:g}%"
    figures = core.Column.many("number", "kappa", level, "observed", "chance")
    others = core.Column.many("number", "pooled kappa", f"{agreement.beside} kappa", "alpha", level)
    columns = ("agreement", *figures, core.Column("comparisons", "count"), *others)
    rows = [
        (
            *(f"{name} judges", kappa.value, _bounds(kappa), kappa.observed, kappa.chance),
            *(kappa.n, pooled.value, other.value, alpha.value, _bounds(alpha)),
        )
        for name, kappa, pooled, other, alpha in (
            ("between", agreement.inter, chosen.pooled_inter, beside.inter, agreement.alpha_inter),
            ("within", agreement.intra, chosen.pooled_intra, beside.intra, agreement.alpha_intra),
        )
    ]
    return core.Table.of(columns, rows, (str(agreement.signature), *_missing(agreement)))


def _bounds(figure: Kappa | Alpha) -> core.Cell:
    interval = figure.interval
    return NONE if not interval or np.isnan(interval.low) else (interval.low, interval.high)


def _file_table(agreement: Agreement) -> core.Table:
    rows = [
        (
            *(path, len(part.counts), part.total.items, part.inter.value),
            *(kappas.pooled_inter.value, part.intra.value, kappas.pooled_intra.value),
            *(part.alpha_inter.value, part.alpha_intra.value),
        )
        for path, part in agreement.by_file.items()
        for kappas in [part.kappas[part.kind]]
    ]
    sides = ("between", "pooled", "within", "pooled", "alpha between", "alpha within")
    heads = core.Column.many("number", *sides)
    return core.Table.of(("file", *core.Column.many("count", "judges", "items"), *heads), rows)


def _missing(agreement: Agreement) -> Iterator[str]:
    figures: dict[str, Kappa | Alpha] = {
        "kappa between judges": agreement.inter, "kappa within judges": agreement.intra,
        "alpha between judges": agreement.alpha_inter, "alpha within judges": agreement.alpha_intra,
    }  # fmt: skip
    for name, figure in figures.items():
        if figure.reason:
            yield f"no {name}: {figure.reason}"
    for name, figure in figures.items():
        if figure.interval and figure.interval.reason:
            yield f"no interval of {name}: {figure.interval.reason}"


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
    chosen, other = agreement.kappas[agreement.kind], agreement.kappas[agreement.beside]

    def row(
        of: str, figure: Kappa | Alpha, beside: Kappa | None = None, judges: Judges = ("", "")
    ) -> tuple[core.Cell, ...]:
        kappa = (figure.observed, figure.chance) if isinstance(figure, Kappa) else (None, None)
        ends = (figure.interval.low, figure.interval.high) if figure.interval else (None, None)
        return (of, *judges, figure.value, *kappa, figure.n, beside and beside.value, *ends)

    rows = [
        row("inter", agreement.inter, other.inter),
        row("intra", agreement.intra, other.intra),
        row("inter pooled", chosen.pooled_inter),
        row("intra pooled", chosen.pooled_intra),
        row("inter alpha", agreement.alpha_inter),
        row("intra alpha", agreement.alpha_intra),
        *(row("pair", k, other.pairs[judges], judges) for judges, k in agreement.pairs.items()),
    ]
    figures = core.Column.many("number", "kappa", "observed", "chance")
    others = core.Column.many("number", f"{agreement.beside} kappa", "low", "high")
    columns = ("of", "first", "second", *figures, core.Column("n", "count"), *others)
    return core.Table.of(columns, rows)
