"""What metrics say of judged edits: what these weigh, or their shares of a sentence score."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from grammeter import core, scoring
from grammeter.core import Edit, EditItem, EditKey
from grammeter.formats import Corpus
from grammeter.llm import Question
from grammeter.metrics import Judging, Metric
from grammeter.verbs._explain import Place
from grammeter.verbs._judge import shown_together

Values = Mapping[str, Mapping[EditKey, float]]
SHARES: core.Method = "shapley"
"""How a metric that knows no edits is asked, if nothing else is said."""

_Output = tuple[int, tuple[Edit, ...]]
_Column = core.MetricScores | None
_Answer = Mapping[Edit, Mapping[str, float]]


def values_of_edits(
    metric: Metric, items: Sequence[EditItem], corpus: Corpus, *,
    attribution: core.Method | None = None, limit: int = scoring.LIMIT, seed: int = 1,
) -> tuple[Values, tuple[str, ...]]:  # fmt: skip
    """Return the values that one metric gives the edits of all shown outputs, and notes.

    A metric that judges edits gives ``NAME``: what an edit weighs, less than 0 where it matches no
    reference, 1 and 0 where edits have no weights; and ``NAME weight``, the weight alone. The edit
    is the one that changes the same tokens, else the mean of those that overlap it. Others, and all
    with an ``attribution``, give the edit's share of the sentence score, turned where less is
    better. An edit that stands in several outputs has the mean, a missing value no entry.
    ``items`` and ``corpus`` are of the same outputs.

    A language model sees the output beside itself without the edit, and as many edits in a call as
    it sees outputs; the value is what the score loses.
    """
    if isinstance(metric, Judging):
        if attribution == "shapley":
            fault = f"{metric} sees an output beside itself without one edit"
            raise core.UsageError(fault, fix="Take --attribution leave-one-out, or none.")
        return _by_judge(metric, items, corpus)
    scoring.check_needs(metric, corpus)
    asked = _Asked(metric, corpus, attribution, {"limit": limit, "seed": seed})
    values: dict[str, dict[EditKey, list[float]]] = defaultdict(lambda: defaultdict(list))
    for item in core.track(items, str(metric), len(items)):
        for group, edits in zip(item.shown, item.edits, strict=True):
            bare = [Edit(edit.start, edit.end, edit.correction) for edit in edits]
            answer = asked.answer(group, item.segment, tuple(bare))
            for edit, judged in zip(bare, edits, strict=True):
                for part, value in answer.get(edit, {}).items():
                    values[f"{metric}{part}"][item.key(judged)].append(value)
    means = {name: {key: fmean(of) for key, of in by.items()} for name, by in values.items()}
    return means or {str(metric): {}}, tuple(asked.notes())


def _by_judge(
    judge: Judging, items: Sequence[EditItem], corpus: Corpus
) -> tuple[Values, tuple[str, ...]]:
    outputs = [
        (item.segment, tuple(Edit(e.start, e.end, e.correction) for e in edits))
        for item in items for edits in item.edits
    ]  # fmt: skip
    parts = [(segment, edits, edits[at : at + judge.set_size - 1])
             for segment, edits in dict.fromkeys(outputs)
             for at in range(0, len(edits), judge.set_size - 1)]  # fmt: skip
    shown: list[Question] = []
    for segment, edits, some in parts:
        source = corpus.sources[segment - 1].split()
        sets = (edits, *([e for e in edits if e != edit] for edit in some))
        texts = [" ".join(core.apply(source, of)) for of in sets]
        shown.append(shown_together(corpus, segment - 1, texts))
    opinions = judge.judge(shown)
    values: dict[EditKey, list[float]] = defaultdict(list)
    for (segment, _, some), opinion in zip(parts, opinions, strict=True):
        scores = [*(opinion.scores or ())] if opinion.due else [0.0] * (len(some) + 1)
        for edit, score in zip(some, scores[1:], strict=False):
            values[segment, edit.start, edit.end, edit.correction].append(scores[0] - score)
    missing = sum(opinion.due and opinion.scores is None for opinion in opinions)
    notes = (f"{judge}: {missing} of {len(parts)} calls brought no scores",) if missing else ()
    means = {key: fmean(of) for key, of in values.items()}
    return {str(judge): means}, (f"{judge}: {judge.signature()}", *notes)


@dataclass
class _Asked:
    """One metric, asked about each output once."""

    metric: Metric
    corpus: Corpus
    attribution: core.Method | None
    options: Mapping[str, Any]
    answers: dict[_Output, _Answer] = field(default_factory=dict[_Output, _Answer])
    columns: dict[str, _Column] = field(default_factory=dict[str, _Column])
    counts: Counter[str] = field(default_factory=Counter[str])
    said: dict[str, None] = field(default_factory=dict[str, None])

    def answer(self, group: Sequence[str], segment: int, edits: tuple[Edit, ...]) -> _Answer:
        """Return the values of the edits of an output, by the part of the name."""
        key = segment, edits
        if edits and key not in self.answers:
            self.answers[key] = self._of_output(group, segment, edits)
        return self.answers.get(key, {})

    def _of_output(self, group: Sequence[str], segment: int, edits: Sequence[Edit]) -> _Answer:
        system = next(name for name in group if name in self.corpus.systems)
        place = Place(self.corpus, system, segment - 1, self.corpus.segments(system))
        if system not in self.columns:
            self.columns[system] = place.scored(self.metric)
        bound = self.metric.within(place.surroundings(self.columns[system]))
        self.said[bound.notice or ""] = None
        if self.attribution is None:
            explained = bound.explain(place.segment)
            if explained.edits:
                return dict(self._weighed(explained, place.segment.source.split(), edits))
        shares = scoring.attribute(
            bound, place.segment, method=self.attribution or SHARES, edits=edits,
            company=place.company, **self.options,
        )  # fmt: skip
        self.counts["outputs of many edits share the score by random orders"] += bool(shares.orders)
        self.said[shares.reason or ""] = None
        sign = 1 if bound.higher_is_better else -1
        pairs = zip(edits, shares.values, strict=True)
        return {edit: {"": sign * value} for edit, value in pairs if not math.isnan(value)}

    def _weighed(
        self, explained: core.Explanation, source: Sequence[str], edits: Sequence[Edit]
    ) -> Iterator[tuple[Edit, Mapping[str, float]]]:
        made = [judged for judged in explained.edits if judged.verdict != "missed"]
        for edit in edits:
            same = explained.judged(edit, source)
            near = [same] if same else [judged for judged in made if _overlap(judged.edit, edit)]
            self.counts["edits have the mean of those of the metric that overlap them"] += (
                same is None and bool(near)
            )
            parts = [_value(judged) for judged in near]
            if parts and not any(math.isnan(value) for part in parts for value in part.values()):
                yield edit, {name: fmean(part[name] for part in parts) for name in parts[0]}

    def notes(self) -> Iterator[str]:
        """Yield what the values depend on, and what must be known to read them."""
        yield f"{self.metric}: {self.metric.signature()}"
        counted = (f"{count} {what}" for what, count in self.counts.items() if count)
        yield from (f"{self.metric}: {text}" for text in (*counted, *filter(None, self.said)))


def _value(judged: core.JudgedEdit) -> dict[str, float]:
    matched = judged.verdict == "matched"
    if judged.weight is None:
        return {"": float(matched)}
    return {"": judged.weight if matched else -judged.weight, " weight": judged.weight}


def _overlap(one: Edit, other: Edit) -> bool:
    """Whether spans share a token, or an insertion stands in or beside the other span."""
    if one.start == one.end or other.start == other.end:
        return one.start <= other.end and other.start <= one.end
    return one.start < other.end and other.start < one.end
