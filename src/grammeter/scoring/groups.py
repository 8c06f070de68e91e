"""Scores by group of sentences: each group is scored as a corpus of its own."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from grammeter import core, formats
from grammeter.metrics import Metric

UNJUDGED = "no sentence can be judged"


def places_of(labels: Sequence[str]) -> dict[str, list[int]]:
    """Return the places of each label, labels in the order in which they first appear."""
    places: dict[str, list[int]] = {}
    for at, label in enumerate(labels):
        places.setdefault(label, []).append(at)
    return places


def corpus_score(
    metric: Metric, rows: core.Statistics, documents: Sequence[str] = ()
) -> core.Score:
    """Score a corpus from its rows; with ``documents``, as the mean over these."""
    if not _any_judged(rows):
        return core.Score(math.nan, metric.signature(), len(rows), {}, UNJUDGED)
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


def group_block(
    corpus: formats.Corpus, metrics: Mapping[str, Metric], columns: Mapping[str, core.MetricScores],
    count: Callable[[formats.Corpus, Metric], Mapping[str, core.Statistics]],
) -> dict[str, Any]:  # fmt: skip
    """Return the public shape of all scores by group, and of their mean ``macro``.

    What a metric chooses, draws or counts over a corpus starts anew in each group; ``count``
    returns, of a corpus and a metric that needs it for that, the rows by system.
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
                rows = count(corpus.take(at), metric)
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
