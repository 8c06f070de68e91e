"""All sentences with their distinct outputs, sentence scores and edits."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grammeter import core, formats, metrics
from grammeter.errant import PLAIN, annotator, one_scheme
from grammeter.rendering import Browser, DrawnEdit, Output, PageSentence
from grammeter.verbs._report.remarks import Remarks


@dataclass(frozen=True, slots=True)
class _Written:
    """A distinct output: its sentence, from 0, its systems, and its segment for metrics."""

    line: int
    systems: tuple[int, ...]
    segment: core.Segment


def make_browser(
    table: core.ScoreTable, corpus: formats.Corpus, *, pipeline: str | None = None,
    judged_edits: Iterable[core.EditItem] = (),
) -> tuple[Browser, dict[str, str]]:  # fmt: skip
    """Gather all sentences.

    The edits come from the first metric of the table that judges edits, once for each distinct
    output of a sentence. If there is none, they are differences of words, without verdicts, which
    ``pipeline`` extracts, by default from the words alone. Spurious edits that people accepted
    (``judged_edits``), or other references or systems have, get remarks. Returns the
    sentences, and facts about their edits and scores, by name.
    """
    columns = {name: column for name, column in table.items() if column.segments}
    written = list(_written(table.systems, corpus))
    judged_by, explanations = _explained(table, written)
    judged = [tuple(_drawn(of.edit, of.verdict) for of in output.edits) for output in explanations]
    edits = judged or _differences(written, pipeline)
    edits = Remarks.of(judged_edits, corpus.gold).on(written, edits)
    outputs: list[list[Output]] = [[] for _ in corpus.sources]
    for output, drawn in zip(written, edits, strict=True):
        first = table.systems[output.systems[0]]
        values = tuple(_value(column, first, output.line) for column in columns.values())
        own = output.segment.references if corpus.own else ()
        shown = Output(output.segment.hypothesis, output.systems, drawn, values, own)
        outputs[output.line].append(shown)
    references = list(zip(*corpus.references, strict=True)) or [()] * len(corpus)
    for row in outputs:
        row.sort(key=lambda output: (-len(output.systems), output.systems))
    rows = zip(corpus.sources, references, map(tuple, outputs), strict=True)
    directions = tuple((name, column.higher_is_better) for name, column in columns.items())
    sentences = tuple(PageSentence(*row) for row in rows)
    browser = Browser(table.systems, directions, sentences, judged_by)
    facts = {"Edits": _of_edits(table, written, judged_by, explanations)}
    return browser, facts | _of_equal_outputs(columns, table.systems, written)


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


def _explained(
    table: core.ScoreTable, written: Sequence[_Written]
) -> tuple[str | None, list[core.Explanation]]:
    """Explain each output by the first metric that judges edits, if there is one."""
    for name, scorer in _judging(table):
        try:
            segments = _typed_alike(scorer, [output.segment for output in written])
            return name, [scorer.explain(one) for one in core.track(segments, f"edits ({name})")]
        except core.MissingResourceError:  # scored elsewhere, with a pipeline that is not here
            continue
    return None, []


def _typed_alike(scorer: metrics.Metric, segments: Sequence[core.Segment]) -> list[core.Segment]:
    """Type gold edits by the same rules as the outputs' edits, if these are typed."""
    decisive = isinstance(scorer, metrics.Errant) and scorer.agreement.needs_types
    if isinstance(scorer, metrics.Errant | metrics.PTErrant) and not decisive:
        return one_scheme(segments, scorer.extractor(types=True))
    return list(segments)


def _differences(written: Sequence[_Written], pipeline: str | None) -> list[tuple[DrawnEdit, ...]]:
    pairs = [(output.segment.source, output.segment.hypothesis) for output in written]
    return [tuple(map(_drawn, edits)) for edits in annotator(pipeline or PLAIN).annotate(pairs)]


def _judging(table: core.ScoreTable) -> Iterator[tuple[str, metrics.Metric]]:
    for name, column in table.items():
        if not column.segments:
            continue
        try:
            scorer = metrics.metric(column.metric)
        except core.GrammeterError:  # of another program, or of a plug-in that is not here
            continue
        if scorer.judges_edits and not (isinstance(scorer, metrics.Asking) and scorer.models()):
            yield name, scorer


def _drawn(edit: core.Edit, verdict: core.EditVerdict | None = None) -> DrawnEdit:
    return DrawnEdit(edit.start, edit.end, edit.correction, edit.type, verdict)


def _of_edits(
    table: core.ScoreTable, written: Sequence[_Written], judged_by: str | None,
    explained: Sequence[core.Explanation],
) -> str:  # fmt: skip
    """Say which metric judged the edits, and how often its sentence score differs."""
    if judged_by is None:
        return "differences of words; no metric here judges edits"
    column, names = table[judged_by], table.systems
    scores = (_value(column, names[output.systems[0]], output.line) for output in written)
    pairs = [(one.value, score) for one, score in zip(explained, scores, strict=True)]
    known = [(a, b) for a, b in pairs if math.isfinite(a + b)]
    other = sum(not math.isclose(a, b, abs_tol=1e-9) for a, b in known)
    differ = f"; {other:,} of {len(written):,} outputs have another score in the whole corpus"
    return f"judged by {judged_by}, each sentence alone{differ if other else ''}"


def _of_equal_outputs(
    columns: Mapping[str, core.MetricScores], systems: Sequence[str], written: Sequence[_Written]
) -> dict[str, str]:
    """Say how often a metric scores equal outputs of a sentence differently.

    A metric that chooses references by running totals may; the browser has the first score.
    """
    shared = [output for output in written if len(output.systems) > 1]
    facts: dict[str, str] = {}
    for name, column in columns.items():
        scores = ({repr(_value(column, systems[at], o.line)) for at in o.systems} for o in shared)
        if n := sum(len(of) > 1 for of in scores):
            label = f"Equal outputs, other scores ({name})"
            facts[label] = f"{n}; that of the first system is shown"
    return facts
