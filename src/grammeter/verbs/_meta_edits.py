"""The verb ``meta edits``: how well metrics know which edits people accept."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from grammeter import core, formats, meta, ranking, scoring
from grammeter.core import EditItem, EditKey
from grammeter.metrics import Metric, metric
from grammeter.verbs._edit_values import values_of_edits

PathLike = str | Path
REFERENCE = "reference"


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
        What these say of each edit, see :func:`~grammeter.verbs._edit_values.values_of_edits`.
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
    if not 0 < confidence < 1 or min(resamples, seed) < 0:
        fault = f"{resamples} resamples, seed {seed}, confidence {confidence}"
        raise core.UsageError(fault, fix="Counts are 0 or more, the confidence lies in 0 to 1.")
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
