"""All sentences with their distinct outputs, sentence scores and edits."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from grammeter import core, formats, metrics
from grammeter.errant import PLAIN, annotator, one_scheme
from grammeter.rendering import Browser, DrawnEdit, Output, PageSentence


@dataclass(frozen=True, slots=True)
class _Written:
    """A distinct output: its sentence, from 0, its systems, and its segment for metrics."""

    line: int
    systems: tuple[int, ...]
    segment: core.Segment


def make_browser(
    table: core.ScoreTable, corpus: formats.Corpus, judged_edits: Iterable[core.EditItem] = ()
) -> tuple[Browser, dict[str, str]]:  # fmt: skip
    """Gather all sentences.

    The edits come from the first metric of the table that judges edits, once for each distinct
    output of a sentence. If there is none, they are differences of words, without verdicts.
    Spurious edits that people accepted (``judged_edits``), or other references or systems have, get
    remarks. Returns the sentences, and a fact about their edits, by name.
    """
    columns = {name: column for name, column in table.items() if column.segments}
    written = list(_written(table.systems, corpus))
    judged_by, judged = _judged(table, written)
    drawn = [*zip(written, judged or _differences(written), strict=True)]
    remarks = _Remarks.of(judged_edits, corpus.gold, drawn)
    outputs: list[list[Output]] = [[] for _ in corpus.sources]
    for output, edits in drawn:
        first = table.systems[output.systems[0]]
        values = tuple(_value(column, first, output.line) for column in columns.values())
        own = output.segment.references if corpus.own else ()
        noted = tuple(remarks.on(output, edit) for edit in edits)
        shown = Output(output.segment.hypothesis, output.systems, noted, values, own)
        outputs[output.line].append(shown)
    references = list(zip(*corpus.references, strict=True)) or [()] * len(corpus)
    for row in outputs:
        row.sort(key=lambda output: (-len(output.systems), output.systems))
    rows = zip(corpus.sources, references, map(tuple, outputs), strict=True)
    directions = tuple((name, column.higher_is_better) for name, column in columns.items())
    sentences = tuple(PageSentence(*row) for row in rows)
    browser = Browser(table.systems, directions, sentences, judged_by)
    what = "differences of words; no metric here judges edits"
    return browser, {"Edits": f"judged by {judged_by}, each sentence alone" if judged_by else what}


def _written(systems: Sequence[str], corpus: formats.Corpus) -> Iterator[_Written]:
    """Yield the distinct outputs, sentence by sentence; white space does not count.

    Equal outputs with other references of their own are distinct.
    """
    segments = [corpus.segments(system) for system in systems]
    for line, row in enumerate(zip(*segments, strict=True)):
        wrote: dict[tuple[Any, ...], list[int]] = {}
        for at, segment in enumerate(row):
            own = id(segment.references) if corpus.own else 0  # equal ones are the same object
            wrote.setdefault((own, *segment.hypothesis.split()), []).append(at)
        for places in wrote.values():
            yield _Written(line, tuple(places), row[places[0]])


def _value(column: core.MetricScores, system: str, line: int) -> float:
    scores = column.segments.get(system)
    return math.nan if scores is None else float(scores.values[line])


def _judged(
    table: core.ScoreTable, written: Sequence[_Written]
) -> tuple[str | None, list[tuple[DrawnEdit, ...]]]:
    """Judge the edits of each output by the first metric that does, if there is one."""
    for name, column in table.items():
        try:
            scorer = metrics.metric(column.metric)
            asks = isinstance(scorer, metrics.Asking) and scorer.models()
            if not column.segments or not scorer.judges_edits or asks:
                continue
            segments = _typed_alike(scorer, [output.segment for output in written])
            explained = [scorer.explain(one) for one in core.track(segments, f"edits ({name})")]
            return name, [tuple(_drawn(of.edit, of.verdict) for of in e.edits) for e in explained]
        except (core.MissingResourceError, core.UsageError):
            continue  # of another program or a plug-in, or scored with what is not here
    return None, []


def _typed_alike(scorer: metrics.Metric, segments: Sequence[core.Segment]) -> list[core.Segment]:
    """Type gold edits by the same rules as the outputs' edits, if these are typed."""
    decisive = isinstance(scorer, metrics.Errant) and scorer.agreement.needs_types
    if isinstance(scorer, metrics.Errant | metrics.PTErrant) and not decisive:
        return one_scheme(segments, scorer.extractor(types=True))
    return list(segments)


def _differences(written: Sequence[_Written]) -> list[tuple[DrawnEdit, ...]]:
    pairs = [(output.segment.source, output.segment.hypothesis) for output in written]
    return [tuple(map(_drawn, edits)) for edits in annotator(PLAIN).annotate(pairs)]


def _drawn(edit: core.Edit, verdict: core.EditVerdict | None = None) -> DrawnEdit:
    return DrawnEdit(edit.start, edit.end, edit.correction, edit.type, verdict)


@dataclass(frozen=True)
class _Remarks:
    """Who has the edits of each sentence, beside the system in question."""

    judges: dict[core.EditKey, dict[str, bool]]  # whether each judge accepted an edit once
    gold: set[core.EditKey]
    makers: Counter[core.EditKey]  # systems

    @classmethod
    def of(
        cls, judged: Iterable[core.EditItem], gold: Sequence[core.GoldEdits],
        outputs: Iterable[tuple[_Written, Iterable[DrawnEdit]]],
    ) -> "_Remarks":  # fmt: skip
        """Gather what judges, annotators and systems have."""
        judges: dict[core.EditKey, dict[str, bool]] = defaultdict(dict)
        for item, edit in ((i, edit) for i in judged for _, edit in i.occurrences()):
            if edit.verdict is not None:
                verdicts = judges[item.key(edit)]
                verdicts[item.judge] = verdicts.get(item.judge, False) or edit.verdict
        known = {
            (line, edit.start, edit.end, text)
            for line, annotators in enumerate(gold, start=1)
            for edit in chain(*annotators.values())
            for text in edit.corrections
        }
        makers = Counter[core.EditKey]()
        for output, edits in outputs:
            made = {_key(output, edit) for edit in edits if edit.verdict != "missed"}
            makers.update(dict.fromkeys(made, len(output.systems)))
        return cls(dict(judges), known, makers)

    def on(self, output: _Written, edit: DrawnEdit) -> DrawnEdit:
        """Return an edit with a remark, if it is spurious."""
        key, says = _key(output, edit), list[str]()
        if edit.verdict != "spurious":
            return edit
        if judged := self.judges.get(key):
            says.append(f"accepted by {sum(judged.values())} of {len(judged)} judges")
        says += ["in another reference"] * (key in self.gold)
        if (systems := self.makers[key]) > 1:
            says.append(f"made by {systems} systems")
        return replace(edit, remark=", ".join(says))


def _key(output: _Written, edit: DrawnEdit) -> core.EditKey:
    return output.line + 1, edit.start, edit.end, edit.correction
