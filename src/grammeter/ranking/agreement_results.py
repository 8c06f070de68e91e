"""How far judges agree: the results of ``agree``; and whether they rank the systems alike.

Table 6 of Grundkiewicz, Junczys-Dowmunt and Gillian (2015), section 4.4, holds each judge's ranking
against the others': systems are scored by the Expected Wins of one judge's comparisons, by the
divisor that their script has for it, to four decimals.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import combinations
from typing import Any, Literal, Self, get_args

import numpy as np

from grammeter import core
from grammeter.ranking import selection
from grammeter.ranking.methods import Divisor, expected_wins
from grammeter.ranking.pairs import Pairs, extract_pairs
from grammeter.stats import Alpha, Kappa, pearson, spearman

AGREEMENT = "agreement"
TOTAL = "total"
WIDEST = 20  # judges that a matrix has room for
NONE = "-"
KappaKind = Literal["script", "orientation-free"]
"""How chance agreement is computed: with "better" and "worse" as they fall in alphabetical order of
the outputs' names, as the paper's script does, or equally likely, for that order means nothing."""
KINDS: tuple[KappaKind, ...] = get_args(KappaKind)
Judges = tuple[str, str]
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
    alphabetical order, or twice the same judge. ``pooled`` are of the summed counts of all.
    """

    inter: Kappa
    intra: Kappa
    pairs: Mapping[Judges, Kappa]
    pooled: Mapping[str, Kappa]

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape: NaN becomes ``null`` with a reason."""
        shape = core.plain_fields(self)
        for judges, kappa in self.pairs.items():
            shape["pairs"]["|".join(judges)]["in_mean"] = in_mean(kappa)
        return shape


def in_mean(kappa: Kappa) -> bool:
    """Whether the kappa of a pair of judges counts in the mean."""
    return kappa.n >= LEAST and not np.isnan(kappa.value)


@dataclass(frozen=True, repr=False)
class Agreement(core.Result):
    """How far judges agree: kappa by each definition, that of ``kind`` first.

    ``alpha_inter`` and ``alpha_intra`` are Krippendorff's alpha (ordinal) of the ranks, between
    judges and within; ``counts`` are by judge, in alphabetical order, ``total`` their sums.
    """

    kind: KappaKind
    signature: core.Signature
    kappas: Mapping[KappaKind, Kappas]
    alpha_inter: Alpha
    alpha_intra: Alpha
    counts: Mapping[str, JudgeCounts]
    total: JudgeCounts
    notes: tuple[str, ...] = ()

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return the means, the pairs of judges as a matrix, and what each judge did.

        For programs: one table with a row for each mean and each pair.
        """
        if long:
            return [_long_table(self)]
        matrix = [_kappa_matrix(self)] if len(self.counts) <= WIDEST else []
        return [_summary(self), *matrix, _count_table(self)]

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
        yield "between", self.inter, chosen.pooled["inter"], other.inter, self.alpha_inter
        yield "within", self.intra, chosen.pooled["intra"], other.intra, self.alpha_intra

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape: NaN becomes ``null`` with a reason."""
        alphas = {"level": "ordinal", "inter": self.alpha_inter, "intra": self.alpha_intra}
        beside = {"kappa": self.beside, **self.kappas[self.beside].to_dict()}
        parts = self.kappas[self.kind].to_dict() | {"alpha": alphas, "beside": beside}
        counts = {**self.counts, TOTAL: self.total}
        return core.public_shape(AGREEMENT, self, "signature", **parts, counts=counts)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, where: str | None = None) -> Self:
        """Read what :meth:`to_dict` wrote; DataError, naming ``where``, if it is something else."""
        with core.reading(data, AGREEMENT, verb="agree", where=where):
            beside = data["beside"]["kappa"]
            kind = next(name for name in KINDS if name != beside)
            kappas = {kind: data, beside: data["beside"]}
            counts = {**data["counts"]}
            parts = {"kind": kind, "kappas": kappas, "total": counts.pop(TOTAL), "counts": counts}
            parts |= {f"alpha_{side}": data["alpha"][side] for side in SIDES}
            return core.read_fields(cls, {**data, **parts})


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
    if figure.low is None or figure.high is None or np.isnan(figure.low):
        return NONE
    return figure.low, figure.high


def _missing(agreement: Agreement) -> Iterator[str]:
    for name, kappa, _, _, alpha in agreement.sides():
        for what, figure in (("kappa", kappa), ("alpha", alpha)):
            if figure.reason:
                of = what if np.isnan(figure.value) else f"interval of {what}"
                yield f"no {of} {name} judges: {figure.reason}"


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
        ends = figure.low, figure.high
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


# --- judges against each other -------------------------------------------------------------
CORRELATION = "judge-correlation"
DIVISOR: Divisor = "beaten-opponents"
DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Correlation(core.Plain):
    """How alike two rankings of the ``n`` systems that both have scored are.

    ``spearman`` is of the ranks (equal scores share their mean), ``pearson`` of the scores, from
    -1 to 1; NaN with a ``reason``.
    """

    spearman: float
    pearson: float
    n: int
    reason: str | None = None


@dataclass(frozen=True, repr=False)
class JudgeCorrelations(core.Result):
    """The rankings of judges, compared.

    ``pairs`` are by two judges in alphabetical order, ``rest`` by judge: against all others
    together. ``weights`` are the judges' numbers of expanded pairs; ``mean`` is that of ``rest``,
    weighted, and its ``n`` the number of judges.
    """

    signature: core.Signature
    pairs: Mapping[tuple[str, str], Correlation]
    rest: Mapping[str, Correlation]
    weights: Mapping[str, int]
    mean: Correlation
    notes: tuple[str, ...] = ()

    def tables(self, *, long: bool = False) -> Sequence[core.Table]:
        """Return a matrix, Spearman's rho above the diagonal and Pearson's r below.

        For programs and for many judges: a row for each pair.
        """
        return [_pair_table(self) if long or len(self.weights) > WIDEST else _matrix(self)]

    def each(self) -> Iterator[tuple[tuple[str, str], Correlation]]:
        """Yield the correlation of each two judges, then of each judge with the ``rest``."""
        yield from self.pairs.items()
        yield from (((judge, "rest"), correlation) for judge, correlation in self.rest.items())

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape: NaN becomes ``null`` with a reason."""
        weights = self.weights
        rest = {judge: of.to_dict() | {"weight": weights[judge]} for judge, of in self.rest.items()}
        return core.public_shape(CORRELATION, self, rest=rest, weights=None)


def judge_correlations(
    rankings: Sequence[core.Ranking],
    *, judges: Sequence[str] | None = None, without_judges: Sequence[str] | None = None,
) -> JudgeCorrelations:  # fmt: skip
    """Correlate the rankings of systems by each judge with each other's and the rest's.

    ``judges`` and ``without_judges`` say whose judgments count, as their own and as the rest's.
    Fewer than two judges are an error.
    """
    chosen = selection.of_judges(rankings, judges, without_judges)
    pairs = extract_pairs(chosen)
    names = pairs.judges
    if len(names) < 2:
        fault = f"{len(names)} judges have no rankings to compare"
        raise core.DataError(fault, fix="Give two judges at least.")
    numbers = range(len(names))
    scores = [_scores(pairs.select(pairs.judge == number)) for number in numbers]
    rest = [_correlation(scores[n], _scores(pairs.select(pairs.judge != n))) for n in numbers]
    weights = np.bincount(pairs.judge, minlength=len(names)).tolist()
    settings: dict[str, object] = {"method": "expected-wins", "divisor": DIVISOR}
    settings |= {"ties": "ignored", "decimals": DECIMALS, "extraction": "expanded"}
    settings["judges"] = len(names) if judges is None and not without_judges else "+".join(names)
    settings |= selection.numbering_of(rankings)
    settings |= {"systems": len(pairs.systems), "items": len(chosen)}
    by_two = combinations(names, 2), combinations(scores, 2)
    return JudgeCorrelations(
        core.Signature.of(CORRELATION, settings),
        {pair: _correlation(*both) for pair, both in zip(*by_two, strict=True)},
        dict(zip(names, rest, strict=True)), dict(zip(names, weights, strict=True)),
        _mean(rest, weights), (*selection.notes_of(rankings), *_notes(pairs, weights)),
    )  # fmt: skip


def _notes(pairs: Pairs, weights: Sequence[int]) -> Iterator[str]:
    yield from selection.notes_of_few(pairs)
    counts, least = zip(pairs.judges, weights, strict=True), selection.FEW
    if few := [f"{name} ({n})" for name, n in counts if n < least]:
        yield f"judges with fewer than {least} comparisons: {core.listed(few)}"
    yield from selection.notes_of_few_systems(len(pairs.systems))


def _scores(pairs: Pairs) -> core.FloatArray:
    wins, _ = pairs.counts()
    return np.round(expected_wins(wins, divisor=DIVISOR), DECIMALS)


def _correlation(first: core.FloatArray, second: core.FloatArray) -> Correlation:
    both = np.isfinite(first) & np.isfinite(second)
    ours, theirs = first[both], second[both]
    n = len(ours)
    few, same = "fewer than two systems have a score from both", "all systems have the same score"
    if n < 2 or len(set(ours)) == 1 or len(set(theirs)) == 1:
        return Correlation(np.nan, np.nan, n, few if n < 2 else same)
    return Correlation(float(spearman(ours, theirs)), float(pearson(ours, theirs)), n)


def _mean(rest: Sequence[Correlation], weights: Sequence[int]) -> Correlation:
    known = [(r.spearman, r.pearson, w) for r, w in zip(rest, weights, strict=True) if not r.reason]
    if not known:
        return Correlation(np.nan, np.nan, 0, "no judge has a correlation with the rest")
    columns, shares = [row[:2] for row in known], [row[2] for row in known]
    spearman, pearson = np.average(columns, axis=0, weights=shares).tolist()
    return Correlation(spearman, pearson, len(known))


def _matrix(correlations: JudgeCorrelations) -> core.Table:
    names = (*correlations.rest, "rest")
    cells: dict[tuple[str, str], float] = {}
    for (first, second), correlation in correlations.each():
        cells[first, second] = correlation.spearman
        cells[second, first] = correlation.pearson
    rows = [(name, *(cells.get((name, column), NONE) for column in names)) for name in names]
    rho, r = map(core.format_number, (correlations.mean.spearman, correlations.mean.pearson))
    notes = (
        "above the diagonal: Spearman's rho; below: Pearson's r; rest: all other judges together",
        f"mean with the rest, weighted by pairs: rho {rho}, r {r}",
        str(correlations.signature),
        *(f"no figure: {'|'.join(two)}: {c.reason}" for two, c in correlations.each() if c.reason),
    )
    return core.Table.of(("judge", *core.Column.many("number", *names)), rows, notes)


def _pair_table(correlations: JudgeCorrelations) -> core.Table:
    weights, both = correlations.weights, correlations.each()
    rows = [(*pair, c.spearman, c.pearson, c.n, weights[pair[0]]) for pair, c in both]
    figures = core.Column.many("number", "spearman", "pearson", digits=6)
    counts = core.Column.many("count", "n", "weight of first")
    return core.Table.of(("first", "second", *figures, *counts), rows)
