"""How far judges of edits agree, with each other and with themselves."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from typing import Any

import numpy as np

from grammeter import core, stats
from grammeter.core import EditItem, EditKey
from grammeter.ranking.agreement_results import AGREEMENT, LEAST
from grammeter.ranking.selection import notes_of, of_judges

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
