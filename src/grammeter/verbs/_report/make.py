"""The verb ``report``: a page from scores and judgments, written to a file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from grammeter.core import Ranked, Ranking, ScoreTable, UnknownNameError, UsageError, checked
from grammeter.formats import (
    Corpus,
    FirstSegment,
    Judgments,
    check_folder,
    metric_name,
    read_any_scores,
    system_scores,
    write_text,
)
from grammeter.meta import Design, SystemMeta
from grammeter.ranking import Agreement
from grammeter.rendering import Page, Section
from grammeter.verbs._compare.results import Comparison
from grammeter.verbs._compare.samples import as_table
from grammeter.verbs._explain import corpus_of
from grammeter.verbs._meta import correlate
from grammeter.verbs._rank import agree, rank
from grammeter.verbs._report.browser import make_browser
from grammeter.verbs._report.materials import read_materials
from grammeter.verbs._report.people import agreement_section, correlation_section, ranking_section
from grammeter.verbs._report.scores import (
    check_comparison,
    compared,
    scores_section,
    signatures_section,
)
from grammeter.verbs._report.types import types_section
from grammeter.version import __version__

FEWEST = 3
"""Least number of systems for correlations."""


@checked
def report(
    scores: str | Path | ScoreTable | Sequence[Ranking],
    files: Sequence[str | Path] = (),
    *,
    judgments: Sequence[Ranking] | None = None,
    ranking: Ranked | None = None,
    meta: SystemMeta | Mapping[str, Any] | None = None,
    comparison: Comparison | Mapping[str, Any] | None = None,
    agreement: Agreement | Mapping[str, Any] | None = None,
    metrics: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    first_segment: FirstSegment | None = None,
    title: str | None = None,
    no_types: bool = False,
    pipeline: str | None = None,
    resamples: int = 1000,
    seed: int = 1,
) -> Page:
    """Gather scores, error types, judgments and all sentences into one page.

    :func:`grammeter.write_report` writes the page as HTML.

    Parameters
    ----------
    scores
        Scores, or judgments in their place, as values or as a file: what ``score -o`` wrote,
        scores of other programs, or judgments.
    files
        Judgments (Appraise XML, WMT CSV, JSON lines), and what ``rank``, ``meta system``,
        ``compare`` and ``agree`` wrote with ``-o``.
    judgments, ranking, meta, comparison, agreement
        The same as values; they take precedence over ``files``.
    first_segment
        Number of the first sentence in Appraise and WMT files; default: found in the outputs of
        ``scores``, else 0.
    no_types
        Leave out error types that the scores do not hold, because finding them parses outputs.
    metrics, systems, title, pipeline, resamples, seed
        As for :func:`make_report`.

    Returns
    -------
    Page
        The page; its ``notices`` say what a reader should know about the files.

    Raises
    ------
    UsageError
        If there is no such metric, system, or number of resamples, or a file is repeated.
    DataError
        If a file cannot be read, or a result is of other scores.
    """
    if isinstance(scores, str | Path):
        paths, table = [scores], as_table(read_any_scores(scores), metric_name(scores))
    else:
        paths, table = [], as_table(scores)
    materials = read_materials(files, scores=table, first_segment=first_segment)
    page = make_report(
        table,
        judgments=materials.judgments if judgments is None else judgments,
        ranking=ranking or materials.ranking,
        meta=meta or materials.meta,
        comparison=comparison or materials.comparison,
        agreement=agreement or materials.agreement,
        metrics=metrics,
        systems=systems,
        title=title,
        types=not no_types,
        pipeline=pipeline,
        resamples=resamples,
        seed=seed,
        files=[Path(path).name for path in (*paths, *files)],  # folders are private
    )
    return replace(page, notices=materials.notices)


@checked
def make_report(
    scores: ScoreTable | Sequence[Ranking],
    *,
    judgments: Sequence[Ranking] | None = None,
    ranking: Ranked | None = None,
    meta: SystemMeta | Mapping[str, Any] | None = None,
    comparison: Comparison | Mapping[str, Any] | None = None,
    agreement: Agreement | Mapping[str, Any] | None = None,
    metrics: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    title: str | None = None,
    types: bool = True,
    pipeline: str | None = None,
    resamples: int = 1000,
    seed: int = 1,
    files: Sequence[str] = (),
) -> Page:
    """Gather scores, error types, judgments and all sentences into one page, from values.

    Parameters
    ----------
    scores
        Scores, or judgments as the scores of a judge. Scores of other programs have no intervals,
        error types and sentences.
    judgments
        They are ranked by expected wins, the judges' agreement is measured, and metrics are
        correlated with the ranking.
    ranking, meta, comparison, agreement
        Results, as values or in their public JSON shapes; missing ones are computed from the
        scores and judgments, if possible.
    metrics, systems
        Metrics and systems to show, in this order; default: all. Correlations are over the
        systems that have scores and were judged.
    title
        Title of the page.
    types
        Whether to find error types that the scores do not hold, which parses outputs.
    pipeline
        A spaCy pipeline, by name or folder, or ``neutral``, for error types and for edits that
        no metric judges.
    resamples, seed
        For the intervals of scores and the ranges of ranks.
    files
        Names of the files that the page says it was made from.

    Raises
    ------
    UsageError
        If there is no such metric, system, or number of resamples.
    DataError
        If a result is of other scores.
    """
    table = restricted(as_table(scores), metrics, systems)
    corpus = corpus_of(table) if table.corpus is not None else None
    compares = _result(Comparison, comparison)
    if compares is not None:
        check_comparison(table, compares)
    else:
        compares = compared(table, resamples=resamples, seed=seed)
    sections = [scores_section(table, compares)]
    sections.append(types_section(table, corpus, pipeline=pipeline, anew=types))
    if judgments is not None:
        numbering = judgments.numbering if isinstance(judgments, Judgments) else None
        ranking = ranking or rank(judgments, resamples=resamples, seed=seed)
        agreement = agreement or agree(judgments, numbering=numbering)
    agreed, correlated = _result(Agreement, agreement), _result(SystemMeta, meta)
    people = _People(table, ranking, agreed, correlated).correlated()
    sections += people.sections()
    sections.append(signatures_section(table, people.signatures))
    browser, browser_facts = None, dict[str, str]()
    if corpus is not None:
        browser, browser_facts = make_browser(table, corpus, pipeline=pipeline)
    facts = (*_facts(table, corpus, files), *browser_facts.items())
    return Page(title or _title(table), facts, tuple(sections), browser)


@checked
def write_report(page: Page, path: str | Path) -> int:
    """Write a page as one HTML file and return its size in bytes.

    The file is never half written.

    Raises
    ------
    DataError
        If it cannot be written.
    """
    from grammeter.rendering import page_html

    text = page_html(page)
    check_folder(path)
    write_text(path, text)
    return len(text.encode())


def restricted(
    table: ScoreTable, metrics: Sequence[str] | None, systems: Sequence[str] | None
) -> ScoreTable:
    """Return a table of some metrics and systems, in the order named.

    Raises
    ------
    UsageError
        If there is none, or one is unknown.
    """
    if systems is not None:
        for name in systems:
            if name not in table.systems:
                raise UnknownNameError("system", name, table.systems)
    names = tuple(dict.fromkeys(table.systems if systems is None else systems))
    chosen = {name: table[name] for name in (table if metrics is None else metrics)}
    if not names or not chosen:
        raise UsageError("a report of nothing", fix="Keep one metric and one system at least.")
    columns = {
        name: column.of_systems({system: system for system in names})
        for name, column in chosen.items()
    }
    corpus = table.corpus
    if corpus is not None:
        corpus = {**corpus, "systems": {name: corpus["systems"][name] for name in names}}
    return ScoreTable(names, table.segments, columns, corpus, table.about)


# --- parts ---------------------------------------------------------------------------------


Stored = TypeVar("Stored", SystemMeta, Comparison, Agreement)


def _result(kind: type[Stored], value: Stored | Mapping[str, Any] | None) -> Stored | None:
    """Return a result; what is not one yet is its public JSON shape."""
    return value if value is None or isinstance(value, kind) else kind.from_dict(value)


@dataclass(frozen=True)
class _People:
    """Results from judgments, as far as they are known."""

    table: ScoreTable
    ranking: Ranked | None
    agreement: Agreement | None
    meta: SystemMeta | None

    @property
    def human(self) -> dict[str, float]:
        """People's scores by system."""
        return system_scores(self.ranking) if self.ranking else {}

    @property
    def common(self) -> list[str]:
        """Systems with scores and with a score by people."""
        human = self.human
        return [name for name in self.table.systems if math.isfinite(human.get(name, math.nan))]

    @property
    def signatures(self) -> dict[str, str]:
        """Signatures of the results, by name."""
        signatures = {"ranking by people": str(self.ranking.signature)} if self.ranking else {}
        if self.agreement is not None:
            signatures["agreement"] = str(self.agreement.signature)
        for name, metric in self.meta.items() if self.meta is not None else ():
            signatures[f"{name} and people"] = str(metric.signature)
        return signatures

    def correlated(self) -> _People:
        """Correlate metrics with the ranking, unless it is done or impossible."""
        if self.meta is not None or self.ranking is None or len(self.common) < FEWEST:
            return self
        shown = ", ".join(f"{key}={value}" for key, value in self.ranking.signature)
        meta = correlate(
            self.table,
            {name: self.human[name] for name in self.common},
            systems=self.common,
            design=Design(human=f"{self.ranking.method}({shown})"),
        )
        return replace(self, meta=meta)

    def sections(self) -> Iterator[Section]:
        """Yield the sections of the known results."""
        if self.ranking is not None:
            yield ranking_section(self.ranking)
        if self.agreement is not None:
            yield agreement_section(self.agreement)
        if self.meta is not None:
            yield correlation_section(self.meta, self.table, self.human, self._left_out())
        elif self.ranking is not None:
            few = f"Nothing is correlated: it takes {FEWEST} systems that were scored and judged."
            yield Section("correlations", "Metrics and people", (few, *self._left_out()))

    def _left_out(self) -> tuple[str, ...]:
        if not self.ranking:
            return ()
        unjudged = [name for name in self.table.systems if name not in self.common]
        unscored = [name for name in self.ranking if name not in self.table.systems]
        left_out = {
            "Scored, but without a score by people": unjudged,
            "Judged, not scored": unscored,
        }
        return tuple(f"{what}: {', '.join(names)}." for what, names in left_out.items() if names)


def _title(table: ScoreTable) -> str:
    on = f" on {_counted(table.segments, 'sentence')}" if table.segments else ""
    return _counted(len(table.systems), "system") + on


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _facts(
    table: ScoreTable, corpus: Corpus | None, files: Sequence[str]
) -> Iterator[tuple[str, str]]:
    yield "Systems", str(len(table.systems))
    if table.segments:
        yield "Sentences", f"{table.segments:,}"
    yield "Metrics", ", ".join(table)
    if corpus is not None:
        annotators = {number for gold in corpus.gold for number in gold}
        yield "References", str(len(annotators) or len(corpus.references))
    if files:
        yield "Made from", ", ".join(files)
    yield "grammeter", __version__
