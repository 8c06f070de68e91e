"""Combining outputs of several systems: votes over edits, minimum risk, and oracles."""

from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from fractions import Fraction

import numpy as np

from grammeter import core
from grammeter.formats import Corpus
from grammeter.metrics import Metric
from grammeter.scoring.scorer import Scorer
from grammeter.scoring.table import averaged, corpus_score, judged_segments

TINY = np.finfo(float).tiny
COLUMNS = ("correct", "proposed", "gold")  # of rows of metrics that compare single edits


def word_edits(source: str, output: str) -> list[core.Edit]:
    """Return the edits of an output by words: each opcode of ``difflib`` that changes something."""
    old, new = source.split(), output.split()
    codes = SequenceMatcher(None, old, new).get_opcodes()
    return [core.Edit(a, b, " ".join(new[c:d])) for tag, a, b, c, d in codes if tag != "equal"]


def vote(
    proposals: Sequence[Iterable[core.Edit]], weights: Sequence[Fraction],
    wins: Callable[[Fraction], bool],
) -> tuple[list[core.Edit], int]:  # fmt: skip
    """Return the winning edits of one sentence, and how many others clash with these.

    ``proposals`` are the edits of each system, ``weights`` its votes; ``wins`` says whether so many
    votes are enough. In the order of votes, then of systems, then of places, an edit wins that
    clashes with none before it (Omelianchuk et al. 2024).
    """
    votes: dict[core.Edit, Fraction] = {}
    for edits, weight in zip(proposals, weights, strict=True):
        for edit in dict.fromkeys(edits):
            votes[edit] = votes.get(edit, Fraction()) + weight
    candidates = [edit for edit, number in votes.items() if wins(number)]
    winners: list[core.Edit] = []
    for edit in sorted(candidates, key=lambda edit: -votes[edit]):  # stable
        if not any(clash(edit, other) for other in winners):
            winners.append(edit)
    return winners, len(candidates) - len(winners)


def clash(one: core.Edit, other: core.Edit) -> bool:
    """Whether edits share a token, insert at one place, or one inserts strictly inside another."""
    same = (one.start, one.end) == (other.start, other.end)
    return same or (one.start < other.end and other.start < one.end)


def least_risk(corpus: Corpus, metric: Metric, weights: Sequence[float]) -> tuple[list[int], int]:
    """Return the place of the system whose output has the best mean score, for each sentence.

    The other outputs are the references, each as often as ``weights`` say, a system's own once
    less. A comparison without a score is left out; the second result counts these.
    """
    size = len(corpus.systems)
    rows = list(zip(*corpus.systems.values(), strict=True))
    sources = [source for source in corpus.sources for _ in range(size * size)]
    pairs = [(one, other) for row in rows for one in row for other in row]
    (values,) = Scorer([metric])(sources, *zip(*pairs, strict=True)).values()
    scores = np.array(values, dtype=np.float64).reshape(len(corpus), size, size)
    scores *= 1 if metric.higher_is_better else -1
    counts = np.tile(np.array(weights), (size, 1))
    np.fill_diagonal(counts, np.maximum(np.diag(counts) - 1, 0))
    used = np.where(np.isnan(scores), 0, counts)
    sums, total = (np.nan_to_num(scores) * used).sum(axis=2), used.sum(axis=2)
    means = np.where(total > 0, sums / np.maximum(total, TINY), -np.inf)
    # equal outputs may differ in the last digit, by the order of what is added up
    return np.round(means, 12).argmax(axis=1).tolist(), int((np.isnan(scores) & (counts > 0)).sum())


def best_outputs(
    corpus: Corpus, metric: Metric, column: core.MetricScores, *, worst: bool = False
) -> tuple[list[int], core.Score]:
    """Return the place of the system with the best (worst) output of each sentence, and its score.

    Among equal scores more true positives, fewer false positives and fewer false negatives decide,
    where the metric counts them; then the order of systems. The score of the corpus is that of
    these outputs' rows, made as always.
    """
    sign, nothing = (1 if metric.higher_is_better else -1), (np.inf if worst else -np.inf)
    of_systems = [column.segments[system] for system in corpus.systems]
    keys = [
        [
            np.nan_to_num(sign * of.values, nan=nothing),
            *(s * of.parts.get(n, 0 * of.values) for n, s in (("tp", 1), ("fp", -1), ("fn", -1))),
        ]
        for of in of_systems
    ]
    by_line: list[list[list[float]]] = np.array(keys).transpose(2, 0, 1).tolist()
    pick = min if worst else max
    chosen = [pick(range(len(keys)), key=row.__getitem__) for row in by_line]
    rows = [column.statistics[system] for system in corpus.systems]
    at = np.array(chosen), np.arange(len(corpus))
    counts, there = (np.stack([getattr(r, n) for r in rows])[at] for n in ("rows", "present"))
    together = core.Statistics(counts, there, rows[0].labels, rows[0].columns, rows[0].judged)
    documents = corpus.documents if averaged(corpus) else ()
    return chosen, corpus_score(metric, together, documents)


def united_edits(corpus: Corpus, metric: Metric) -> list[core.Score]:
    """Score the right ones among the edits of all systems; then all of them, clashes included.

    Raises :class:`UsageError` for a metric that does not compare edits one by one.
    """
    of_systems = [metric.matches(judged_segments(corpus, system)) for system in corpus.systems]
    if None in of_systems:
        fault = f"{metric.name} does not hold single edits against gold edits"
        fix = "Use errant, cherrant or m2; --oracle sentence takes any metric."
        raise core.UsageError(fault, fix=fix)
    lines = list(zip(*(of for of in of_systems if of is not None), strict=True))
    labels = sorted({number for line in lines for number in line[0]})
    there = np.array([[number in line[0] for number in labels] for line in lines])
    rows = np.zeros((2, *there.shape, len(COLUMNS)), dtype=np.int64)
    for at, line in enumerate(lines):
        for slot, number in enumerate(labels):
            if there[at, slot]:
                right = len(frozenset[object]().union(*(of[number].matched for of in line)))
                wrong = len(frozenset[object]().union(*(of[number].spurious for of in line)))
                gold = line[0][number].gold
                rows[:, at, slot] = (right, right, gold), (right, right + wrong, gold)
    documents = [corpus.documents[at] for at in corpus.judged] if averaged(corpus) else []
    both = (core.Statistics(of, there, tuple(labels), COLUMNS) for of in rows)
    return [corpus_score(metric, of, documents) for of in both]
