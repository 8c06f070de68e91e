"""Edits compared with edits: ERRANT's counts, by error type, and its choice of references."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import add
from typing import Literal

from grammeter.core import NOOP, UNKNOWN, Counts, Edit, GoldEdits, Tier, f_measure, tier_of

Mode = Literal["span-correction", "span-detection", "token-detection", "span-type"]
"""What must be equal: span and correction; the span; one token; span, correction and type."""

Key = tuple[int | str, ...]  # what agreeing edits share: the span, then what the mode requires
Groups = Mapping[Key, Sequence[str]]  # types of all edits with one key; insertions may share one
Outcome = Literal["tp", "fp", "fn"]
Names = Sequence[str] | None
Rank = Callable[[Sequence[float], Sequence[float]], tuple[float, ...]]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Which edits count, and when two of them agree.

    The detection modes count edits of the type ``UNK``, too; ``single`` counts only edits with at
    most one token on either side, ``multi`` only the others (both leave nothing, as in the
    package); edits of ``dropped`` types do not count. ``chinese``: as ChERRANT, corrections are
    compared without spaces, and to say that nothing can be annotated (``NA``) is an edit.
    """

    mode: Mode = "span-correction"
    single: bool = False
    multi: bool = False
    dropped: frozenset[str] = frozenset()
    chinese: bool = False

    @property
    def needs_types(self) -> bool:
        """Whether error types of extracted edits change what is counted."""
        return self.mode == "span-type" or bool(self.dropped)

    @property
    def detects(self) -> bool:
        """Whether corrections do not matter."""
        return self.mode in ("span-detection", "token-detection")

    def counts(self, edit: Edit) -> bool:
        """Whether an edit counts at all."""
        if edit.type in self.dropped or (edit.is_noop and not self.chinese):
            return False
        if edit.type == UNKNOWN and not self.detects:
            return False
        short = edit.end - edit.start < 2 and (self.chinese or len(edit.correction.split()) < 2)
        return not (self.multi if short else self.single)

    def keys(self, edit: Edit, wanted: Container[Key] = ()) -> list[Key]:
        """Return the keys of an edit: one, or one for each token it touches (inserting, the next).

        Of several right corrections the first whose key is ``wanted`` is taken, else the first.
        """
        if self.mode == "token-detection":
            end = max(edit.end, edit.start + 1)  # nowhere, -1, is one place, too
            return [(token, token + 1) for token in range(edit.start, end)]
        if self.mode == "span-detection":
            return [(edit.start, edit.end)]
        head = (edit.start, edit.end) + ((edit.type,) if self.mode == "span-type" else ())
        corrections = edit.corrections
        if self.chinese:
            corrections = [correction.replace(" ", "") for correction in corrections]
        keys: list[Key] = [(*head, correction) for correction in corrections]
        return [next((key for key in keys if key in wanted), keys[0])]


def grouped(
    edits: Sequence[Edit], rules: Rules, wanted: Container[Key] = (), types: Names = None
) -> Groups:
    """Group the types of the edits that count by key, in the order of the edits.

    ``wanted`` are keys of the hypothesis, by which references choose among alternative
    corrections. ``types`` are other names for the types; the edits' own decide what counts.
    """
    groups: dict[Key, list[str]] = {}
    if rules.chinese and not edits:
        edits, types = [Edit(-1, -1, "", NOOP)], None
    for edit, name in zip(edits, types or [edit.type for edit in edits], strict=True):
        if rules.counts(edit):
            for key in rules.keys(edit, wanted):
                groups.setdefault(key, []).append(name)
    return groups


def outcomes(proposed: Groups, gold: Groups) -> Iterator[tuple[str, Outcome]]:
    """Tell true from false positives and negatives, each with its error type, as the package.

    A key that both have is as many true positives as gold edits have it, under the gold types.
    """
    for key, types in proposed.items():
        if types[0] == NOOP:
            continue
        matched = key in gold
        outcome: Outcome = "tp" if matched else "fp"
        for kind in gold[key] if matched else types:
            yield kind, outcome
    for key, types in gold.items():
        if key not in proposed and types[0] != NOOP:
            for kind in types:
                yield kind, "fn"


def counted(proposed: Groups, gold: Groups) -> Counts:
    """Count true and false positives and false negatives."""
    totals = Counter(outcome for _, outcome in outcomes(proposed, gold))
    return Counts(totals["tp"], totals["fp"], totals["fn"])


def counted_by_type(typed_outcomes: Iterable[tuple[str, Outcome]]) -> dict[str, Counts]:
    """Count outcomes by error type, in the order in which the types come."""
    totals = Counter(typed_outcomes)
    kinds = dict.fromkeys(kind for kind, _ in totals)
    return {k: Counts(totals[k, "tp"], totals[k, "fp"], totals[k, "fn"]) for k in kinds}


def choose(
    rows: Iterable[Sequence[Sequence[float] | None]],
    *, beta: float, digits: int | None, running: bool = True, worst: bool = False,
) -> list[int]:  # fmt: skip
    """Choose among the references of each sentence, as the package does; return their positions.

    In the order of the sentences, the one whose counts give the best F, in which recall weighs
    ``beta``, together with all counts chosen so far (each sentence alone, if not ``running``);
    among equals the one with more true positives, then fewer false positives, then fewer false
    negatives, then the first. ``rows`` have, for each sentence, the counts by reference. F is
    rounded to ``digits`` decimals before it is compared, so that near ties are decided by the
    counts; the package rounds to 4, ``None`` compares exactly. ``worst`` and ``None`` in rows are
    as for :func:`best_in_turn`.
    """

    def rank(sums: Sequence[float], counts: Sequence[float]) -> tuple[float, ...]:
        tp, fp, fn = sums
        f = f_measure(tp, tp + fp, tp + fn, beta)
        if digits is not None:
            f = round(package_f(Counts(tp, fp, fn), beta), digits)
        return f, counts[0], -counts[1], -counts[2]

    return best_in_turn(rows, rank, running=running, worst=worst)


def best_in_turn(
    rows: Iterable[Sequence[Sequence[float] | None]], rank: Rank,
    *, running: bool, worst: bool = False,
) -> list[int]:  # fmt: skip
    """Return where in each row ``rank`` is greatest, or least; the first of equal ones.

    ``rank`` is of a candidate's numbers, added to all chosen before if ``running``, and of these
    numbers alone; ``None`` does not compete, and where none competes, the position is 0.
    """
    totals: Sequence[float] = ()
    chosen: list[int] = []
    for row in rows:
        at, best, before = 0, None, totals
        for number, counts in enumerate(row):
            if counts is not None:
                sums: list[float] = [*map(add, before, counts)] if before else [*counts]
                found = rank(sums, counts)
                if best is None or (found < best if worst else found > best):
                    at, best, totals = number, found, sums if running else before
        chosen.append(at)
    return chosen


def package_f(counts: Counts, beta: float) -> float:
    """Return F as the package ``errant`` computes it, which it rounds: to the very last bit."""
    p, r, b2 = counts.precision, counts.recall, beta * beta
    below = b2 * p + r
    return (1 + b2) * p * r / below if below else 0.0


@dataclass(frozen=True, slots=True)
class Pairing:
    """The edits of one hypothesis annotator compared with those of one reference annotator."""

    hypothesis: int
    reference: int
    proposed: Groups
    gold: Groups
    counts: Counts

    def by_type(self) -> dict[str, Counts]:
        """Count by error type, in the order in which the types come."""
        return counted_by_type(outcomes(self.proposed, self.gold))


@dataclass(frozen=True)
class EditComparison:
    """For each sentence all pairs of annotators, and the position of the one that counts."""

    pairings: Sequence[Sequence[Pairing]]
    chosen: Sequence[int]

    @property
    def best(self) -> list[Pairing]:
        """The chosen pair of each sentence."""
        return [row[at] for row, at in zip(self.pairings, self.chosen, strict=True)]

    @property
    def counts(self) -> Counts:
        """The sums over the chosen pairs."""
        return total_of(pairing.counts for pairing in self.best)

    def by_type(self, tier: Tier) -> dict[str, Counts]:
        """Count the chosen pairs by error type, in alphabetical order."""
        rows = chain.from_iterable(outcomes(pair.proposed, pair.gold) for pair in self.best)
        counts = counted_by_type((tier_of(kind, tier), outcome) for kind, outcome in rows)
        return dict(sorted(counts.items()))


def compare_edits(
    hypotheses: Sequence[GoldEdits], references: Sequence[GoldEdits], rules: Rules,
    *, beta: float = 0.5, digits: int | None = 4,
) -> EditComparison:  # fmt: skip
    """Compare two annotations of the same sentences, as ``errant_compare``.

    If hypotheses have several annotators, the best pair counts; ``beta`` and ``digits`` are those
    of :func:`choose`. Raises :class:`ValueError` if they are not equally many.
    """
    pairings = [
        [_paired(*h, *r, rules) for h in hypothesis.items() for r in reference.items()]
        for hypothesis, reference in zip(hypotheses, references, strict=True)
    ]
    rows = [[(p.counts.tp, p.counts.fp, p.counts.fn) for p in row] for row in pairings]
    return EditComparison(pairings, choose(rows, beta=beta, digits=digits))


def total_of(counts: Iterable[Counts]) -> Counts:
    """Add up counts."""
    triples = [(count.tp, count.fp, count.fn) for count in counts]
    return Counts(*map(sum, zip(*triples, strict=True))) if triples else Counts(0, 0, 0)


def _paired(
    hypothesis: int, proposed: Sequence[Edit], reference: int, gold: Sequence[Edit], rules: Rules
) -> Pairing:
    hypothesis_groups = grouped(proposed, rules)
    gold_groups = grouped(gold, rules, hypothesis_groups)
    counts = counted(hypothesis_groups, gold_groups)
    return Pairing(hypothesis, reference, hypothesis_groups, gold_groups, counts)
