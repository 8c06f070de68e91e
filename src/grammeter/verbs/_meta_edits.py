"""The verb ``meta edits``: how well metrics know which edits people accept.

What metrics say of judged edits is what these weigh, or their shares of a sentence score.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, cast

from grammeter import core, formats, meta, ranking, scoring
from grammeter.core import Edit, EditItem, EditKey
from grammeter.formats import Corpus
from grammeter.llm import Question
from grammeter.metrics import Judging, Metric, metric
from grammeter.verbs._explain import Place
from grammeter.verbs._judge import shown_together

PathLike = str | Path
REFERENCE = "reference"
Values = Mapping[str, Mapping[EditKey, float]]
SHARES: core.Method = "shapley"
"""How a metric that knows no edits is asked, if nothing else is said."""

_Output = tuple[int, tuple[Edit, ...]]
_Column = core.MetricScores | None
_Answer = Mapping[Edit, Mapping[str, float]]


@core.checked
def meta_edits(
    judgments: PathLike | Sequence[PathLike] | Sequence[EditItem], *,
    references: Sequence[PathLike] | None = None,
    values: PathLike | Mapping[str, Mapping[EditKey, float]] | None = None,
    source: PathLike | None = None, hyps: Sequence[PathLike] = (),
    metrics: Sequence[str | Metric] = (), attribution: core.Method | None = None,
    limit: int = scoring.LIMIT, judge: Sequence[str] | None = None, types: core.Tier | None = None,
    pipeline: str | None = None, missing: meta.MissingEdits = "error", resamples: int = 1000,
    seed: int = 1, confidence: float = 0.95,
) -> meta.EditLevel:  # fmt: skip
    """Measure how well references and metrics know which edits people accept.

    Raises :class:`DataError` if no edit has a verdict, an edit lies outside its sentence, or has no
    value; :class:`UsageError` if there is nothing to compare people with.

    Parameters
    ----------
    judgments
        Files of judgments of edits, or what :func:`grammeter.read_judgments` made of them.
    references
        M2 files. The metric ``reference`` is 1 for an edit that equals one of any annotator.
    values
        What metrics give the edits: a table (metric, segment, start, end, correction, value), or
        by name the value of each edit ``(segment, start, end, correction)``.
    source, hyps
        The sentences, and the outputs that were judged; judged edits are checked against them.
    metrics
        What these say of each edit, see :func:`values_of_edits`.
    attribution, limit
        Of metrics: share the sentence score out among the edits, ``shapley`` or ``leave-one-out``,
        instead of their own weights; how many tokens may be scored for one output.
    judge
        Whose judgments count; default everybody's.
    types
        Of references: also the share of false positives that people accept, by type of edit.
    pipeline
        A spaCy pipeline, by name or folder, for ERRANT's types.
    missing
        An edit without a value is an error, or left out for this metric.
    resamples, seed, confidence
        For the percentile intervals over segments; 0 resamples: none.
    """
    if references is None and values is None and not metrics:
        fix = "Give gold edits (-r GOLD.m2), metrics (-m), or values (--values VALUES.tsv)."
        raise core.UsageError("no reference and no values of a metric", fix=fix)
    if metrics and not hyps:
        fix = "Add --hyps FILE..., the outputs that were judged, and their source (-s)."
        raise core.UsageError("metrics need the outputs", fix=fix)
    core.check_home(
        bool(metrics), "metrics (-m)", attribution=attribution, limit=limit != scoring.LIMIT
    )
    core.check_home(references is not None, "references (-r)", types=types)
    core.check_home(types is not None, "--types main and full", pipeline=pipeline)
    core.check_drawing(resamples, seed, confidence)
    read = _read(judgments)
    texts: Any = {"source": source, "references": references or (), "systems": hyps}
    corpus = formats.read_corpus(**texts) if source or references or hyps else None
    if corpus is not None:
        if references and not corpus.gold and not metrics:
            raise core.UsageError("references without edits", fix="Give M2 files.")
        read.checked(corpus.sources, corpus.systems or None)
    items = ranking.of_judges(read, judge)
    people = meta.PeopleOnEdits.of(items)
    gold = corpus is not None and corpus.gold
    matching = meta.matches(people.keys, gold) if gold else None
    compared: dict[str, Mapping[EditKey, float]] = {REFERENCE: matching} if matching else {}
    table = formats.read_edit_values(values) if isinstance(values, PathLike) else values or {}
    notes = [*read.notes, *people.notes(items)]
    asked: Any = {"attribution": attribution, "limit": limit, "seed": seed}
    more = (values_of_edits(metric(name), items, corpus, **asked) for name in metrics if corpus)
    for by_name, said in [(table, ()), *more]:
        if twice := compared.keys() & by_name.keys():
            raise core.UsageError(f"two metrics are called {min(twice)!r}", fix="Rename one.")
        compared |= by_name
        notes += said
    measured = dict[str, meta.EditMetric]()
    drawn: Any = {"resamples": resamples, "seed": seed, "confidence": confidence}
    for name, of in compared.items():
        some, said = people.with_values(name, of, missing)
        notes += said
        measured[name] = meta.measure_metric(some, of, **drawn)
    systems, kinds = meta.edits_by_system(items, matching), None
    if matching is not None and corpus is not None:
        measured |= {
            REFERENCE: replace(measured[REFERENCE], **meta.reference_figures(people, matching))
        }
        if types is not None:
            typed, said = ranking.edit_types(people.keys, types, corpus.sources, pipeline)
            kinds, notes = meta.accepted_by_type(people, matching, typed), notes + said
    settings: dict[str, object] = {"unit": "distinct-edit", "resampled": "segment", **drawn}
    settings["judges"] = len({i.judge for i in items}) if judge is None else "+".join(judge)
    chosen = {"attribution": attribution, "types": types, "pipeline": pipeline}
    chosen |= {"missing": missing} if missing != "error" else {}
    settings |= {name: of for name, of in chosen.items() if of}
    return meta.EditLevel(
        core.Signature.of("meta-edits", settings | {"items": len(items)}),
        len(people.keys), int(people.valid.sum()), int((people.share == 0.5).sum()), measured,
        systems, None if matching is None else meta.precision_correlations(systems), kinds,
        tuple(notes), read.notices,
    )  # fmt: skip


def _read(judgments: PathLike | Sequence[PathLike] | Sequence[EditItem]) -> formats.EditJudgments:
    if isinstance(judgments, formats.EditJudgments):
        return judgments
    if not isinstance(judgments, PathLike) and any(isinstance(j, EditItem) for j in judgments):
        return formats.EditJudgments(tuple(cast("Sequence[EditItem]", judgments)))
    read = formats.read_judgments(cast("Sequence[PathLike]", judgments))
    if not isinstance(read, formats.EditJudgments):
        fix = "Give edits called valid or invalid; rankings go into meta sentence and meta system."
        raise core.UsageError("these are no judgments of edits", fix=fix)
    return read


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
    opinions = judge.panel.ask(judge.seen(shown))
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
