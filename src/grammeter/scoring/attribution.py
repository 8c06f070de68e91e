"""What each edit of an output contributes to its sentence score, under any metric.

An output is its source with edits; a metric scores the source with any subset of them. Two ways
to share the score out among the edits:

- ``leave-one-out``: the score of the output, less its score without the edit.
- ``shapley``: what the edit adds to those that are there already, in the mean over all orders
  in which edits can be applied (Shapley 1953; Goto et al. 2025 for error correction). The values
  sum to the score with all edits less the score with none.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np

from grammeter import core, errant, metrics

LIMIT = 65_536  # tokens to score for one output: all subsets of ten edits in a sentence of 64
LEAST_PAIRS = 2  # of orders; without them there is no standard error
Order = tuple[int, ...]  # positions of all edits, as they are applied
Subset = int  # edits as bits: edit 0 is the lowest


def attribute(
    metric: metrics.Metric, segment: core.Segment, *, method: core.Method = "shapley",
    pipeline: str | None = None, seed: int = 1, limit: int = LIMIT, company: Sequence[str] = (),
    edits: Sequence[core.Edit] | None = None,
) -> core.Attribution:  # fmt: skip
    """Share a sentence score out among the edits of an output.

    The ``edits`` are by default those that ERRANT's annotator extracts, with its ``pipeline``;
    those that are given must make the output of the source. All texts are
    scored as one batch, each distinct one once, each as if it stood alone; what is shared out is
    the sentence score, in the metric's own units. ``limit``: tokens that may be scored, in all
    texts together. If that does not suffice for all subsets of the edits, random orders are drawn
    from the ``seed``, each with its reverse: as many pairs as fit, and two at least. ``company``:
    what the other systems wrote for this sentence; only a pooled metric looks at it.

    A value is NaN, with a reason, for an edit that needs a score that is not there. Raises
    :class:`UnknownNameError`, :class:`UsageError` if there is no such method, or seed or limit is
    out of range; :class:`MissingResourceError` if the pipeline or a model is not here.
    """
    core.UnknownNameError.check("method of attribution", method, core.METHODS)
    if seed < 0 or limit < 1:
        fault = f"seed={seed}, limit={limit} is not possible"
        raise core.UsageError(fault, fix="Take a seed of at least 0 and a limit of at least 1.")
    settings: Mapping[str, object] = {"edits": "given"}
    if edits is None:
        extract = errant.annotator(pipeline)
        (edits,) = extract.annotate([(segment.source, segment.hypothesis)])
        settings = extract.signature()
    longest = max(len(text.split()) for text in (segment.source, segment.hypothesis))
    most = limit // max(longest, 1)
    orders = draw_orders(len(edits), seed, most) if method == "shapley" else None
    texts_of = {s: _text(segment, edits, s) for s in _subsets(method, len(edits), orders)}
    known, reason = _score_texts(metric, segment, texts_of.values(), company)
    scores = {subset: known[text] for subset, text in texts_of.items()}
    values, errors = _share(method, scores, len(edits), orders)
    chance: dict[str, object] = {"orders": len(orders), "seed": seed} if orders else {}
    return core.Attribution(
        method=method, total=scores[2 ** len(edits) - 1], baseline=scores[0], edits=tuple(edits),
        values=tuple(values.tolist()), errors=None if errors is None else tuple(errors.tolist()),
        orders=len(orders) if orders else None, reason=reason,
        signature=core.Signature.of(method, chance | {**settings}),
    )  # fmt: skip


def draw_orders(size: int, seed: int, texts: int) -> list[Order] | None:
    """Draw random orders of ``size`` edits, each followed by its reverse.

    In a pair each edit stands once early and once late, which makes the mean less variable than
    that of two independent orders (antithetic sampling; Mitchell et al. 2022). At most ``texts``
    subsets are passed, but two pairs are drawn at least; ``None`` if all subsets are no more.
    """
    passed = 2 * (size - 1)  # by a pair, besides the empty and the full subset
    if 2**size <= max(texts, 2 + LEAST_PAIRS * passed):
        return None
    random = Random(seed)  # noqa: S311
    orders: list[Order] = []
    for _ in range(max(LEAST_PAIRS, (texts - 2) // passed)):
        order = tuple(random.sample(range(size), size))
        orders += [order, order[::-1]]
    return orders


def shapley(values: core.FloatArray) -> core.FloatArray:
    """Return the Shapley values of a game, exactly.

    ``values`` has the value of each subset of n players by its bits, shape ``(2**n,)``; the
    result for each player the sum over the subsets S of the others of
    ``|S|! (n - |S| - 1)! / n! * (value(S + player) - value(S))``.
    """
    size = len(values).bit_length() - 1
    subsets = np.arange(len(values))
    members = (subsets[:, None] >> np.arange(size)) & 1
    counts = members.sum(axis=1)
    weights = np.array([1 / (size * math.comb(size - 1, k)) for k in range(size)])
    shares = np.zeros(size)
    for player in range(size):
        without = subsets[members[:, player] == 0]
        gains = values[without | 1 << player] - values[without]
        shares[player] = weights[counts[without]] @ gains
    return shares


def sampled_shapley(
    values: Mapping[Subset, float], orders: Sequence[Order]
) -> tuple[core.FloatArray, core.FloatArray]:
    """Estimate Shapley values from independent pairs of orders; with standard errors."""
    gains = np.zeros((len(orders), len(orders[0])))
    for row, order in enumerate(orders):
        for player, (before, after) in zip(order, pairwise(_prefixes(order)), strict=True):
            gains[row, player] = values[after] - values[before]
    pairs = (gains[::2] + gains[1::2]) / 2
    return pairs.mean(axis=0), pairs.std(axis=0, ddof=1) / math.sqrt(len(pairs))


def _subsets(method: core.Method, size: int, orders: Sequence[Order] | None) -> list[Subset]:
    everything = 2**size - 1
    if method == "leave-one-out":
        return [everything, 0, *(everything ^ 1 << edit for edit in range(size))]
    if orders is None:
        return list(range(2**size))
    return list(dict.fromkeys(subset for order in orders for subset in _prefixes(order)))


def _prefixes(order: Order) -> list[Subset]:
    subsets = [0]
    for edit in order:
        subsets.append(subsets[-1] | 1 << edit)
    return subsets


def _share(
    method: core.Method, scores: Mapping[Subset, float], size: int, orders: Sequence[Order] | None
) -> tuple[core.FloatArray, core.FloatArray | None]:
    """Return values and standard errors; every Shapley value needs every score."""
    if method == "leave-one-out":
        full = 2**size - 1
        return np.array([scores[full] - scores[full ^ 1 << edit] for edit in range(size)]), None
    if any(map(math.isnan, scores.values())):
        return np.full(size, np.nan), None if orders is None else np.full(size, np.nan)
    if orders is not None:
        return sampled_shapley(scores, orders)
    return shapley(np.array([scores[subset] for subset in range(2**size)])), None


def _text(segment: core.Segment, edits: Sequence[core.Edit], subset: Subset) -> str:
    if subset == 2 ** len(edits) - 1:
        return segment.hypothesis
    if not subset:
        return segment.source
    chosen = [edit for number, edit in enumerate(edits) if subset >> number & 1]
    return " ".join(core.apply(segment.source.split(), chosen))


def _score_texts(
    metric: metrics.Metric, segment: core.Segment, texts: Iterable[str], company: Sequence[str]
) -> tuple[dict[str, float], str | None]:
    distinct = list(dict.fromkeys(texts))
    values, why = np.full(len(distinct), np.nan), "it is not finite"
    try:
        statistics, rows = _count(metric, segment, distinct, company)
    except core.UsageError as error:
        if not metric.pooled:
            raise
        why = error.message
    else:
        try:  # one row at a time: M2 chooses annotators by what stands before
            scores = [metric.sentences(statistics.take([row])) for row in rows]
            values = np.array([float(score.values[0]) for score in scores])
            values[~np.isfinite(values)] = np.nan
            reasons = (scores[at].reason for at in np.flatnonzero(np.isnan(values)))
            why = next(filter(None, reasons), why)
        except core.UsageError as error:  # a wanted annotator is not listed for this sentence
            why = error.message
    missing = int(np.isnan(values).sum())
    reason = f"{missing} of {len(distinct)} texts have no score: {why}" if missing else None
    return dict(zip(distinct, values.tolist(), strict=True)), reason


def _count(
    metric: metrics.Metric, segment: core.Segment, texts: Sequence[str], company: Sequence[str]
) -> tuple[core.Statistics, Sequence[int]]:
    if not metric.pooled:
        segments = [replace(segment, hypothesis=text) for text in texts]
        return metric.statistics(segments), range(len(texts))
    segments: list[core.Segment] = []
    copies: list[int] = []
    rows: list[int] = []
    for text in texts:
        # what does not share its references with others is a line, so a pool, of its own
        line = replace(segment, references=(*segment.references,), gold=dict(segment.gold))
        pool = Counter([text]) + Counter(company)
        rows.append(len(segments))
        segments += [replace(line, hypothesis=output) for output in pool]
        copies += pool.values()
    return metric.pooled_statistics(segments, copies), rows
