"""``score``: score the systems of a corpus with several metrics."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path

from grammeter import core, formats, scoring
from grammeter.metrics import Metric
from grammeter.metrics import metric as make_metric
from grammeter.verbs._extract import either


@core.checked
def score(
    corpus: formats.Corpus | formats.Frame | formats.Dataset | None = None,
    metrics: Sequence[str | Metric] = (),
    *, source: Sequence[str] = (), references: Sequence[Sequence[str | None]] = (),
    hypotheses: Mapping[str, Sequence[str]] | None = None,
    types: bool | core.Tier = False, gold_types: bool = False, parse: str | Path | None = None,
) -> core.ScoreTable:  # fmt: skip
    """Score all systems of a corpus with several metrics.

    Raises :class:`UsageError` if there is no system or metric, a name is unknown or stands twice,
    the corpus lacks what a metric needs, or no metric tells the wanted types apart.

    Parameters
    ----------
    corpus
        Sources, references and systems; or a table of pandas, polars, ``datasets`` or pyarrow with
        the columns ``source``, ``reference.0``, ``reference.1`` ..., ``system.NAME``.
    source, references, hypotheses
        In place of a corpus its texts: a list of sentences, one such list for each reference, and
        one for each system by name.
    metrics
        Spellings or metrics; each is a key of the result as it is given. Of a benchmark, see
        :func:`grammeter.read_corpus`, those of its paper if none is named.
    types
        Also score by error type, for the metrics that know them; one at least must. Which types:
        ``operation`` (R), ``main`` (NOUN:NUM) or ``full`` (R:NOUN:NUM); ``True`` is ``full``, or
        what the metric's own ``categories`` say.
    gold_types
        Also the recall of each type of the gold edits, as their annotators named it.
    parse
        A CoNLL-U file with sources, reference texts and outputs, parsed elsewhere token by token:
        the ``pipeline`` of all metrics that extract edits and name none; one at least must.
    """
    if corpus is None:
        systems = hypotheses or {}
        corpus = formats.Corpus(sources=source, references=references, systems=systems)
    elif source or references or hypotheses:
        fix = "Give a corpus, or source and the rest."
        raise core.UsageError("texts are given twice", fix=fix)
    if not isinstance(corpus, formats.Corpus):
        corpus = formats.corpus_of(corpus)
    if isinstance(types, str):
        core.UnknownNameError.check("kind of types", types, core.TIERS)
    if not metrics and "benchmark" in corpus.settings:
        metrics = formats.recipe(str(corpus.settings["benchmark"])).metrics
    if not corpus.systems:
        raise core.UsageError("no system outputs", fix="Give one at least (--hyps).")
    by_spelling = {str(spelled): make_metric(spelled) for spelled in metrics}
    if not by_spelling or len(by_spelling) != len(metrics):
        fix = "Name each metric once; 'grammeter list' shows them."
        raise core.UsageError("a metric is named twice" if by_spelling else "no metric", fix=fix)
    if parse is not None:
        free = {n: of for n, of in by_spelling.items() if getattr(of, "pipeline", "") is None}
        if not free:
            fix = "Ask for errant without a pipeline, or leave the parse out."
            raise core.UsageError("no metric looks at a parse", fix=fix)
        parsed = either(None, parse)
        by_spelling |= {name: replace(one, pipeline=parsed) for name, one in free.items()}
    return scoring.score_table(corpus, by_spelling, types=types, gold_types=gold_types)


@core.checked
def fail_under(scores: core.ScoreTable, limits: Mapping[str, float]) -> list[str]:
    """Name the systems that miss a limit: a sentence for each system and metric that does.

    ``limits`` are, for some of the metrics of ``scores``, the worst score that is good enough, in
    the metric's own units; ``m2@NWI`` is the score in a group, ``m2@macro`` the mean over groups.
    Raises :class:`UsageError` if the scores do not have the metric or group, or no score, or every
    score, reaches a limit.
    """
    check_limits(limits, scores, scores.blocks.get("groups", {}).get("order", ()))
    return [
        f"{system} scores {value:.6g} in {name}, limit {limit:g}"
        for name, limit in limits.items()
        for metric, group in [_metric_and_group(name, scores)]
        for system, value in _values(scores, metric, group).items()
        if not (value >= limit if scores[metric].higher_is_better else value <= limit)
    ]


@core.checked
def fail_if_worse(
    table: core.ScoreTable | str | Path, stored: core.ScoreTable | str | Path,
    *, metrics: Sequence[str] | None = None,
) -> list[str]:  # fmt: skip
    """Name the systems that score worse than they did: a sentence for each system and metric.

    Raises :class:`DataError` if the tables cannot be compared, :class:`UsageError` if they have no
    system or metric in common.

    Parameters
    ----------
    table
        Scores, or their file.
    stored
        Earlier scores, or their file, on as many sentences by the same signatures, of any version.
    metrics
        Some of them; default: all that both tables have.
    """
    now, then = (
        formats.read_scores(one) if isinstance(one, str | Path) else one for one in (table, stored)
    )
    lines: list[str] = []
    pairs = 0
    for name in [name for name in now if name in then] if metrics is None else metrics:
        ours, theirs = now[name], then[name]
        settings = [column.signature.pairs[:-1] for column in (ours, theirs)]  # no versions
        if settings[0] != settings[1] or now.segments != then.segments:
            fault = f"{name}: {then.segments} sentences by {theirs.signature} are stored, not"
            fix = "Score both in the same way, on the same sentences."
            raise core.DataError(f"{fault} {now.segments} by {ours.signature}", fix=fix)
        sign = 1 if ours.higher_is_better else -1
        for system in ours:
            if system in theirs:
                value, before, pairs = ours[system].value, theirs[system].value, pairs + 1
                if not sign * value >= sign * before - 1e-12 and isfinite(before):
                    lines.append(f"{system} scores {value:.6g} in {name}, {before:.6g} before")
    if not pairs:
        fix = "Give the systems the same names: --names."
        raise core.UsageError("no system and metric in both tables", fix=fix)
    return lines


def check_limits(
    limits: Mapping[str, float], metrics: Iterable[str], groups: Iterable[str] | None = None
) -> None:
    """Refuse limits of other metrics, and those that no score can reach, or every score reaches.

    Also those of other ``groups``, unless that is ``None``.
    """
    names = list(metrics)
    known = None if groups is None else [*dict.fromkeys(groups)]
    for name, limit in limits.items():
        metric, group = _metric_and_group(name, names)
        core.UnknownNameError.check("metric in --fail-under", metric, names)
        if group and known is not None:
            parts = known and [*known, core.MACRO]
            core.UnknownNameError.check("group in --fail-under", group, parts)
        low, high = make_metric(metric).bounds
        if isfinite(limit) and low <= limit <= high:
            continue
        fix = "Give a number in the metric's own units."
        if isfinite(limit) and low <= limit / 100 <= high:
            fix = f"Did you mean {name}={limit / 100:g}? --percent changes only what is printed."
        lie = f"scores of {metric} lie between {low:g} and {high:g}"
        raise core.UsageError(f"--fail-under {name}={limit:g}: {lie}", fix=fix)


def _metric_and_group(name: str, metrics: Collection[str]) -> tuple[str, str]:
    """Split ``m2@NWI``; the group is empty where ``name`` is a metric itself."""
    metric = next((known for known in metrics if name.startswith(f"{known}@")), name)
    return (name, "") if name in metrics else (metric, name[len(metric) + 1 :])


def _values(scores: core.ScoreTable, metric: str, group: str) -> Mapping[str, float]:
    if group:
        return scores.values_in(metric, group)
    return {system: score.value for system, score in scores[metric].items()}
