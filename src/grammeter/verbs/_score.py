"""``score``: score the systems of a corpus with several metrics."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite

from grammeter.core import TIERS, ScoreTable, Tier, UnknownNameError, UsageError, checked
from grammeter.formats import Corpus
from grammeter.metrics import Metric
from grammeter.metrics import metric as make_metric
from grammeter.scoring import check_listed, score_table


@checked
def score(
    corpus: Corpus,
    metrics: Sequence[str | Metric],
    *,
    types: bool | Tier = False,
    gold_types: bool = False,
) -> ScoreTable:
    """Score all systems of a corpus with several metrics.

    Raises :class:`UsageError` if there is no system or metric, a name is unknown or stands twice,
    the corpus lacks what a metric needs, or no metric tells the wanted types apart.

    Parameters
    ----------
    corpus
        Sources, references and systems.
    metrics
        Spellings or metrics; each is a key of the result as it is given.
    types
        Also score by error type, for the metrics that know them; one at least must. Which types:
        ``operation`` (R), ``main`` (NOUN:NUM) or ``full`` (R:NOUN:NUM); ``True`` is ``full``, or
        what the metric's own ``categories`` say.
    gold_types
        Also the recall of each type of the gold edits, as their annotators named it.
    """
    if isinstance(types, str):
        UnknownNameError.check("kind of types", types, TIERS)
    check_listed(metrics)
    if not corpus.systems:
        raise UsageError("no system outputs", fix="Give one at least (--hyps).")
    by_spelling = {str(spelled): make_metric(spelled) for spelled in metrics}
    if not by_spelling or len(by_spelling) != len(metrics):
        fix = "Name each metric once; 'grammeter list' shows them."
        raise UsageError("a metric is named twice" if by_spelling else "no metric", fix=fix)
    return score_table(corpus, by_spelling, types=types, gold_types=gold_types)


@checked
def fail_under(scores: ScoreTable, limits: Mapping[str, float]) -> list[str]:
    """Name the systems that miss a limit: a sentence for each system and metric that does.

    ``limits`` are, for some of the metrics of ``scores``, the worst score that is good enough, in
    the metric's own units. Raises :class:`UsageError` if the scores do not have the metric, or no
    score, or every score, reaches a limit.
    """
    check_limits(limits, scores)
    return [
        f"{system} scores {score.value:.6g} in {name}, limit {limit:g}"
        for name, limit in limits.items()
        for system, score in scores[name].items()
        if not (score.value >= limit if scores[name].higher_is_better else score.value <= limit)
    ]


def check_limits(limits: Mapping[str, float], metrics: Iterable[str]) -> None:
    """Refuse limits of other metrics, and those that no score can reach, or every score reaches."""
    names = list(metrics)
    for name, limit in limits.items():
        UnknownNameError.check("metric in --fail-under", name, names)
        low, high = make_metric(name).bounds
        if isfinite(limit) and low <= limit <= high:
            continue
        fix = "Give a number in the metric's own units."
        if isfinite(limit) and low <= limit / 100 <= high:
            fix = f"Did you mean {name}={limit / 100:g}? --percent changes only what is printed."
        fault = f"--fail-under {name}={limit:g}: scores of {name} lie between {low:g} and {high:g}"
        raise UsageError(fault, fix=fix)
