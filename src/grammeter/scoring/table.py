"""Corpus x metrics -> score table: the only loop over systems and metrics."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from grammeter import core, errant, formats, models
from grammeter.metrics import Asking, Metric

CAUTIONS = {
    "truncated": "texts longer than the model takes were cut",
    "unmoved": "edits that the encoder does not see, as after a cut, have mass 0 and cosine cost 1",
    "unconverged": "the search for the transport plan did not converge, and its last plan counts",
}
"""What a reader must know where a part of a sentence score, by its name, is not 0."""


def score_table(
    corpus: formats.Corpus, metrics: Mapping[str, Metric],
    *, types: bool | core.Tier = False, gold_types: bool = False, aside: Collection[str] = (),
) -> core.ScoreTable:  # fmt: skip
    """Score all systems of a corpus with metrics by name; see :func:`grammeter.verbs.score`.

    Systems ``aside`` are scored, too, but weigh nothing where a metric looks at all systems.
    """
    for metric in metrics.values():
        check_needs(metric, corpus)
    if not corpus.judged:
        fault = f"no sentence can be judged: {corpus.skipped[0]} in the first"
        raise core.DataError(fault, fix="Are these the right references? (see --unjudged)")
    if averaged(corpus) and (types or gold_types):
        fix = "Leave --level document out, or --types and --gold-types."
        raise core.UsageError("error types are counted over all documents, not averaged", fix=fix)
    of_metrics = {name: metric.notice for name, metric in metrics.items()}  # raises without a model
    counted = _counted(corpus, list(metrics.values()), aside)
    columns: dict[str, core.MetricScores] = {}
    for spelled, metric in metrics.items():
        statistics, segments = counted[metric.counting()]
        column = _score_one(metric, corpus, statistics, len(corpus.systems) - len(aside))
        column, of_types = _with_types(column, metric, corpus, types, gold_types)
        foreign = errant.not_english(dict(column.signature).get("pipeline"), corpus.sources)
        gold = [edits for part in corpus.parts for edits in part.gold]
        notes = [of_metrics[spelled], foreign, *metric.gold_notes(gold), *of_types]
        notes += metric.text_notes(segments)
        notes += [*_too_long(spelled, column), *_uncovered(spelled, column)]
        columns[spelled] = replace(column, notes=tuple(dict.fromkeys(filter(None, notes))))
    about = (*corpus.notes, *_unjudged(corpus))
    about += tuple(_without_types(columns)) if types or gold_types else ()
    lines = {str(line + 1): why for line, why in corpus.unjudgeable.items()}
    unjudged = {"rule": corpus.unjudged, "segments": lines}
    blocks: dict[str, Any] = {"references": "own"} if corpus.own else {}
    blocks |= {"unjudged": unjudged} if lines else {}
    if corpus.groups:
        blocks["groups"] = _group_block(corpus, metrics, columns)
    systems, texts = tuple(corpus.systems), corpus.to_dict()
    return core.ScoreTable(systems, len(corpus), columns, texts, about, blocks | {**corpus.report})


def _counted(
    corpus: formats.Corpus, metrics: Sequence[Metric], aside: Collection[str] = ()
) -> dict[object, tuple[dict[str, core.Statistics], list[core.Segment]]]:
    """Count for all metrics; by ``counting()`` the rows by system, and what was counted.

    Systems with references of their own are counted one by one, as if each was alone, unless the
    metric is about their competition, or looks at no reference.
    """
    own, looking = corpus.own, [m for m in metrics if m.needs != "nothing"]
    alone = [m for m in looking if own and not m.pooled]
    blind = [m for m in metrics if own and m not in looking]
    runs = [*((part, alone) for part in corpus.parts), (replace(corpus, own={}), blind)]
    runs.append((corpus, [m for m in metrics if m not in alone and m not in blind]))
    counted: dict[object, tuple[dict[str, core.Statistics], list[core.Segment]]] = {}
    for part, some in ((part, some) for part, some in runs if some):
        batch = _Batch(part, corpus, aside)
        for key, rows in count(some, batch.segments, batch.copies).items():
            by_system, segments = counted.setdefault(key, ({}, []))
            by_system.update(batch.by_system(rows))
            segments += batch.segments
    return counted


def _unjudged(corpus: formats.Corpus) -> Iterator[str]:
    becomes = {"skip": "count for no metric", "keep": "count as if nothing was to be corrected"}
    for reason in dict.fromkeys(corpus.unjudgeable.values()):
        lines = [str(line + 1) for line, why in corpus.unjudgeable.items() if why == reason]
        outcome = f"{becomes[corpus.unjudged]} (--unjudged {corpus.unjudged})"
        share, which = f"{len(lines)} of {len(corpus)}", core.listed(lines, 10)
        yield f"unjudged ({reason}): {share} sentences {outcome}: {which}"


def _too_long(name: str, column: core.MetricScores) -> Iterator[str]:
    parts = {system: scores.parts for system, scores in column.segments.items()}
    odd = [(what, {system: int((of[part] > 0).sum()) for system, of in parts.items() if part in of})
           for part, what in CAUTIONS.items()]  # fmt: skip
    unscored = {s: int(score.parts.get("too_long", 0)) for s, score in column.scores.items()}
    without = "texts are longer than the model takes, and have no score"
    for what, counts in (*odd, (without, unscored)):
        if any(counts.values()):
            shown = ", ".join(f"{system} {count}" for system, count in counts.items() if count)
            yield f"{name}: {what}; sentences: {shown}"


class _Batch:
    """The segments of all systems that can be judged, equal outputs of one sentence taken once."""

    def __init__(
        self, corpus: formats.Corpus, whole: formats.Corpus, aside: Collection[str]
    ) -> None:
        self.segments: list[core.Segment] = []
        self.copies: list[int] = []
        self.rows: dict[str, core.IntArray] = {}
        known: dict[tuple[int, str, int, int], int] = {}
        for system in corpus.systems:
            rows: list[int] = []
            segments = corpus.segments(system)
            for line, segment in ((line, segments[line]) for line in whole.judged):
                key = line, segment.hypothesis, id(segment.references), id(segment.gold)
                position = known.setdefault(key, len(self.segments))
                if position == len(self.segments):
                    self.segments.append(segment)
                    self.copies.append(0)
                self.copies[position] += system not in aside
                rows.append(position)
            self.rows[system] = np.array(rows, dtype=np.int64)
        self.judged = np.isin(np.arange(len(whole)), whole.judged) if whole.skipped else None

    def by_system(self, counted: core.Statistics) -> dict[str, core.Statistics]:
        judged = self.judged
        rows = {system: counted.take(at) for system, at in self.rows.items()}
        return rows if judged is None else {s: of.among(judged) for s, of in rows.items()}


def count(
    metrics: Sequence[Metric], segments: Sequence[core.Segment], copies: Sequence[int]
) -> dict[object, core.Statistics]:
    """Count once for metrics that share rows; ``copies``: how many systems wrote each segment."""
    distinct = {metric.counting(): metric for metric in reversed(metrics)}
    asking = {key: metric for key, metric in distinct.items() if isinstance(metric, Asking)}
    answered = models.run_together([metric.steps(segments) for metric in asking.values()])
    counted: dict[object, core.Statistics] = dict(zip(asking, answered, strict=True))
    for key, metric in distinct.items():
        if key not in counted:
            counted[key] = metric.pooled_statistics(segments, copies)
        rows = cast("object", counted[key])  # of a plug-in, maybe
        if not isinstance(rows, core.Statistics) or len(rows) != len(segments):
            made = f"{len(rows)} rows" if isinstance(rows, core.Statistics) else type(rows).__name__
            fix = "A metric returns Statistics with one row for each segment, in their order."
            fault = f"{metric.name}: statistics() made {made} of {len(segments)} segments"
            raise core.UsageError(fault, fix=fix)
    return counted


def _uncovered(name: str, column: core.MetricScores) -> Iterator[str]:
    shares = {system: score.parts.get("coverage", 1.0) for system, score in column.scores.items()}
    least = min(shares, key=lambda system: shares[system])
    if shares[least] < 1:
        most = f"most of them of {least}: a share of {shares[least]:.4f} has one"
        yield f"{name}: some sentences have no score and are left out, {most}"


def _score_one(
    metric: Metric, corpus: formats.Corpus, statistics: Mapping[str, core.Statistics], pool: int
) -> core.MetricScores:
    signature = metric.signature(_context(metric, corpus, pool))
    documents = corpus.documents if averaged(corpus) else ()
    whole = {s: corpus_score(metric, counts, documents) for s, counts in statistics.items()}
    scores = {system: replace(score, signature=signature) for system, score in whole.items()}
    segments = {system: metric.sentences(counts) for system, counts in statistics.items()}
    about = str(metric), signature, metric.higher_is_better
    return core.MetricScores(*about, scores, segments, statistics)


def _with_types(
    column: core.MetricScores, metric: Metric, corpus: formats.Corpus, types: bool | core.Tier,
    gold_types: bool,
) -> tuple[core.MetricScores, tuple[str, ...]]:  # fmt: skip
    """Add scores by error type as far as they are wanted and the metric has them, with notes."""
    notes: tuple[str, ...] = ()
    tier = types if isinstance(types, str) else None
    if types and (counted := count_types(metric, corpus, tier=tier)) is not None:
        signature, notes = column.signature.extended(counted.settings), counted.notes
        scores = type_scores(metric, counted, signature, len(corpus.judged))
        column = replace(column, signature=signature, types=scores, type_counts=counted.systems)
    if gold_types and (counted := count_types(metric, corpus, by_gold=True)) is not None:
        signature = column.signature.extended(counted.settings)

        def recall(counts: core.Counts) -> core.Score:
            parts = {"recall": counts.recall, "tp": counts.tp, "fn": counts.fn}
            return core.Score(counts.recall, signature, len(corpus.judged), parts)

        column = replace(column, signature=signature, gold_types=_by_type(counted, recall))
    return column, notes


def judged_segments(corpus: formats.Corpus, system: str) -> list[core.Segment]:
    """Return one system's sentences as metrics take them, as far as they can be judged."""
    segments = corpus.segments(system)
    return [segments[line] for line in corpus.judged]


def count_types(
    metric: Metric, corpus: formats.Corpus, *, tier: core.Tier | None = None, by_gold: bool = False
) -> core.CountedTypes | None:
    """Count edits by error type in the sentences that can be judged; see :class:`Metric`."""
    systems = {system: judged_segments(corpus, system) for system in corpus.systems}
    counted = metric.count_types(systems, tier=tier, by_gold=by_gold)
    if counted is None or not corpus.skipped:
        return counted
    moved = {system: counts.among(corpus.judged) for system, counts in counted.systems.items()}
    return replace(counted, systems=moved)


def type_scores(
    metric: Metric, counted: core.CountedTypes, signature: core.Signature, segments: int
) -> dict[str, dict[str, core.Score]]:
    """Score all systems by error type, from what the metric counted."""

    def score(counts: core.Counts) -> core.Score:
        value = metric.type_values(np.array([counts.tp, counts.fp, counts.fn]))
        return core.Score(float(value), signature, segments, counts.parts())

    return _by_type(counted, score)


def _by_type(
    counted: core.CountedTypes, score: Callable[[core.Counts], core.Score]
) -> dict[str, dict[str, core.Score]]:
    return {system: {kind: score(total) for kind, total in counts.totals().items()}
            for system, counts in counted.systems.items()}  # fmt: skip


def _without_types(columns: Mapping[str, core.MetricScores]) -> Iterator[str]:
    without = [name for name, column in columns.items() if not (column.types or column.gold_types)]
    if len(without) == len(columns):
        fault = f"no error types: {', '.join(without)} tell none apart"
        raise core.UsageError(fault, fix="Ask for errant, or leave --types and --gold-types out.")
    if without:
        yield f"no figures by error type of {', '.join(without)}: these tell none apart"


def _context(metric: Metric, corpus: formats.Corpus, pool: int) -> dict[str, object]:
    form = dict(corpus.settings)
    if corpus.normalisation:
        form["unicode"] = corpus.normalisation
    if metric.pooled:
        form["pool"] = pool
    if corpus.unjudgeable:
        form["unjudged"] = f"{corpus.unjudged}({len(corpus.unjudgeable)})"
    if metric.needs == "nothing":
        return form
    if corpus.own:  # a field of this name (of gleu) stays
        form["references"] = ",".join(filter(None, ["own", getattr(metric, "references", "")]))
    if metric.needs == "texts" or (metric.needs == "gold or texts" and not corpus.has_gold):
        refs = max(len(part.references) for part in corpus.parts)
        return {"refs": refs, "reftext": corpus.text_rule} | form
    annotators = max(len({n for gold in part.gold for n in gold}) for part in corpus.parts)
    return {"refs": annotators, "gold": "m2"} | form


def check_needs(metric: Metric, corpus: formats.Corpus) -> None:
    """Refuse a corpus that lacks what the metric holds hypotheses against."""
    has = {"gold": corpus.has_gold, "texts": all(part.references for part in corpus.parts)}
    if metric.needs == "nothing" or any(has[kind] for kind in metric.needs.split(" or ")):
        return
    what, files = "references", "texts or an .m2 file"
    if metric.needs == "gold":
        what, files = "gold edits", "an .m2 file"
    fault = f"{metric.name} needs {what}, and there are none"
    raise core.UsageError(fault, fix=f"Give {files} with -r.")


# --- groups of sentences: each is scored as a corpus of its own --------------------------------
def places_of(labels: Sequence[str]) -> dict[str, list[int]]:
    """Return the places of each label, labels in the order in which they first appear."""
    return core.grouped((label, at) for at, label in enumerate(labels))


def corpus_score(
    metric: Metric, rows: core.Statistics, documents: Sequence[str] = ()
) -> core.Score:
    """Score a corpus from its rows; with ``documents``, as the mean over these."""
    if not _any_judged(rows):
        return core.Score(math.nan, metric.signature(), len(rows), {}, "no sentence can be judged")
    if not documents:
        return metric.score(rows)
    parts = [rows.take(at) for at in places_of(documents).values()]
    scores = [metric.score(part) for part in parts if _any_judged(part)]
    mean = float(np.mean([score.value for score in scores]))
    reason = next((f"a document: {s.reason}" for s in scores if math.isnan(s.value)), None)
    shown = {"documents": len(scores), "pooled": metric.score(rows).value}
    return core.Score(mean, scores[0].signature, len(rows), shown, reason)


def _any_judged(rows: core.Statistics) -> bool:
    return rows.judged is None or bool(rows.judged.any())


def depends_on_corpus(metric: Metric) -> bool:
    """Whether a sentence's rows depend on the other sentences, or systems, of the corpus."""
    return metric.pooled or bool(getattr(metric, "idf", False))


def _group_block(
    corpus: formats.Corpus, metrics: Mapping[str, Metric], columns: Mapping[str, core.MetricScores]
) -> dict[str, Any]:
    """Return the public shape of all scores by group, and of their mean ``macro``.

    What a metric chooses, draws or counts over a corpus starts anew in each group.
    """
    places = places_of(corpus.group_labels)
    if core.MACRO in places:
        fix = f"Rename the group: {core.MACRO} is the mean over groups."
        raise core.DataError(f"a group is called {core.MACRO!r}", fix=fix)
    shown: dict[str, Any] = {}
    for name, metric in metrics.items():
        scores: dict[str, dict[str, core.Score]] = {}
        for group, at in places.items():
            rows = {system: of.take(at) for system, of in columns[name].statistics.items()}
            if depends_on_corpus(metric) and any(map(_any_judged, rows.values())):
                rows = _counted(corpus.take(at), [metric])[metric.counting()][0]
            documents = [corpus.documents[place] for place in at] if averaged(corpus) else ()
            scores[group] = {s: corpus_score(metric, of, documents) for s, of in rows.items()}
        shown[name] = {g: {s: o.to_dict() for s, o in of.items()} for g, of in scores.items()}
        values = {s: {g: of[s].value for g, of in scores.items()} for s in columns[name]}
        shown[name][core.MACRO] = {system: _macro(of) for system, of in values.items()}
    sizes = {group: len(at) for group, at in places.items()}
    by = ",".join(corpus.groups)
    return {"by": by, "order": [*places], "segments": sizes, "metrics": shown}


def averaged(corpus: formats.Corpus) -> bool:
    """Whether the score of this corpus is the mean over its documents."""
    return corpus.settings.get("level") == "document"


def _macro(values: Mapping[str, float]) -> dict[str, Any]:
    without = [group for group, value in values.items() if math.isnan(value)]
    mean = core.json_number(float(np.mean([*values.values()])))
    reason = {"reason": f"no score in {', '.join(without)}"} if without else {}
    return {"value": mean, **reason}
