"""The verb ``report``: a page from scores and judgments, written to a file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

from grammeter import core, formats, rendering, version
from grammeter.meta import SystemMeta
from grammeter.ranking import Agreement
from grammeter.verbs._compare.results import Comparison
from grammeter.verbs._compare.samples import as_table
from grammeter.verbs._explain import corpus_of
from grammeter.verbs._meta_judge import scoring_judges
from grammeter.verbs._rank import agree, rank
from grammeter.verbs._read import read_materials
from grammeter.verbs._report import scores as of_scores
from grammeter.verbs._report.browser import make_browser
from grammeter.verbs._report.people import People, judges_section


@core.checked
def report(
    scores: str | Path | core.ScoreTable | Sequence[core.Ranking],
    files: Sequence[str | Path] = (),
    *, judgments: Sequence[core.Ranking] | None = None,
    edit_judgments: str | Path | Sequence[core.EditItem] | None = None,
    ranking: core.Ranked | None = None, meta: SystemMeta | Mapping[str, Any] | None = None,
    comparison: Comparison | Mapping[str, Any] | None = None,
    agreement: Agreement | Mapping[str, Any] | None = None, benchmark: str | None = None,
    metrics: Sequence[str] | None = None, systems: Sequence[str] | None = None,
    first_segment: formats.FirstSegment | None = None, title: str | None = None,
    no_types: bool = False, pipeline: str | None = None, resamples: int = 1000, seed: int = 1,
) -> rendering.Page:  # fmt: skip
    """Gather scores, error types, judgments and all sentences into one page.

    :func:`grammeter.write_report` writes the page as HTML; its ``notices`` say what a reader should
    know about the files. Raises :class:`UsageError` if there is no such metric, system, or number
    of resamples, or a file is repeated; :class:`DataError` if a file cannot be read, or a result is
    of other scores.

    Parameters
    ----------
    scores
        Scores, or judgments as the scores of a judge, as values or as a file: what ``score -o``
        wrote, scores of other programs (without intervals, error types and sentences), judgments.
    files
        Judgments (Appraise XML, WMT CSV, JSON lines), and what ``rank``, ``meta system``,
        ``compare`` and ``agree`` wrote with ``-o``.
    judgments, ranking, meta, comparison, agreement
        The same as values, results also in their public JSON shapes; they take precedence over
        ``files``. Missing results are computed, if possible: judgments are ranked by expected wins,
        their judges' agreement is measured, and metrics are correlated with the ranking. Judges who
        gave scores are no people; what they said has a section of its own.
    edit_judgments
        People's verdicts on single edits, a file or values: spurious edits say who accepted them.
    benchmark
        Take people's judgments, where none are given, and the texts of a data set: ``gjg15``,
        ``seeda-e``, ``seeda-s``.
    metrics, systems
        Metrics and systems to show, in this order; default: all. Correlations are over the
        systems that have scores and were judged.
    first_segment
        Number of the first sentence in Appraise and WMT files; default: found in the outputs of
        ``scores``, else 0.
    title
        Title of the page.
    no_types
        Leave out error types that the scores do not hold, because finding them parses outputs.
    pipeline
        A spaCy pipeline, by name or folder, or ``neutral``, for error types and for edits that
        no metric judges.
    resamples, seed
        For the intervals of scores and the ranges of ranks.
    """
    if isinstance(scores, str | Path):
        source, name = formats.read_any_scores(scores), formats.metric_name(scores)
        paths = [scores, *files]
    else:
        paths, source, name = files, scores, "judgments"
    table = as_table(source, name)
    materials = read_materials(files, scores=table, first_segment=first_segment)
    table = restricted(table, metrics, systems)
    corpus = corpus_of(table) if table.corpus is not None else None
    stored = _result(Comparison, comparison or materials.comparison)
    compares = of_scores.compared(table, stored, resamples=resamples, seed=seed)
    known = formats.benchmark(benchmark) if benchmark else None
    judgments = materials.judgments if judgments is None else judgments
    judgments = known.read_judgments() if known and judgments is None else judgments
    run = () if isinstance(source, core.ScoreTable | core.Ranked) else source
    everyone = [*run, *(judgments or ())]
    scoring = scoring_judges(everyone)
    people = [ranking for ranking in judgments or () if ranking.judge not in scoring]
    ranking, agreement = ranking or materials.ranking, agreement or materials.agreement
    if judgments is not None:
        numbering = judgments.numbering if isinstance(judgments, formats.Judgments) else None
        ranked = people if scoring and people else judgments
        ranking = ranking or rank(ranked, resamples=resamples, seed=seed, numbering=numbering)
        agreement = agreement or agree(everyone if scoring else judgments, numbering=numbering)
    correlated = _result(SystemMeta, meta or materials.meta)
    people_of = People(table, ranking, _result(Agreement, agreement), correlated).correlated()
    texts = known.read_corpus() if known and corpus is None else corpus
    sections = (
        of_scores.scores_section(table, compares),
        *of_scores.groups_section(table, compares),
        of_scores.types_section(table, corpus, pipeline=pipeline, anew=not no_types),
        *people_of.sections(),
        *judges_section(everyone, texts, resamples=resamples, seed=seed),
        of_scores.signatures_section(table, people_of.signatures),
    )
    browser, browser_facts = None, dict[str, str]()
    judged_edits = materials.edits if edit_judgments is None else _edits(edit_judgments)
    if corpus is not None:
        checked = judged_edits.checked(corpus.sources) if judged_edits else ()
        browser, browser_facts = make_browser(
            table, corpus, pipeline=pipeline, judged_edits=checked
        )
    names = [Path(path).name for path in paths]  # folders are private
    facts = (*_facts(table, corpus, names), *browser_facts.items())
    return rendering.Page(title or _title(table), facts, sections, browser, materials.notices)


def _edits(judged: str | Path | Sequence[core.EditItem]) -> formats.EditJudgments:
    read = formats.read_judgments(judged) if isinstance(judged, str | Path) else judged
    if isinstance(read, formats.EditJudgments):
        return read
    if not all(isinstance(item, core.EditItem) for item in read):
        fix = "Give edits called valid or invalid."
        raise core.UsageError("--edit-judgments: no judgments of edits", fix=fix)
    return formats.EditJudgments(tuple(cast("Sequence[core.EditItem]", read)))


@core.checked
def make_report(
    scores: core.ScoreTable | Sequence[core.Ranking],
    *, types: bool = True, files: Sequence[str] = (), **options: Any,
) -> rendering.Page:  # fmt: skip
    """Make a :func:`report` from values alone; older than that function.

    Parameters
    ----------
    scores, options
        As for :func:`report`.
    types, files
        The opposite of ``no_types``; names of files that the page says it was made from.
    """
    page = report(scores, no_types=not types, **options)
    return replace(page, facts=(*page.facts, *_made_from(files)))


@core.checked
def write_report(page: rendering.Page, path: str | Path) -> int:
    """Write a page as one HTML file, never half, and return its size in bytes.

    Raises :class:`DataError` if it cannot be written.
    """
    text = rendering.page_html(page)
    formats.check_folder(path)
    formats.write_text(path, text)
    return len(text.encode())


def restricted(
    table: core.ScoreTable, metrics: Sequence[str] | None, systems: Sequence[str] | None
) -> core.ScoreTable:
    """Return a table of some metrics and systems, in the order named; UsageError if of none."""
    names = tuple(dict.fromkeys(table.systems if systems is None else systems))
    for name in names:
        core.UnknownNameError.check("system", name, table.systems)
    chosen = {name: table[name] for name in (table if metrics is None else metrics)}
    if not names or not chosen:
        raise core.UsageError("a report of nothing", fix="Keep one metric and one system at least.")
    same = {system: system for system in names}
    columns = {name: column.of_systems(same) for name, column in chosen.items()}
    corpus = table.corpus
    if corpus is not None:
        corpus = {**corpus, "systems": {name: corpus["systems"][name] for name in names}}
    blocks = {**table.blocks}
    if groups := blocks.get("groups"):
        shown = {name: groups["metrics"][name] for name in columns}
        blocks["groups"] = {**groups, "metrics": shown}
    return core.ScoreTable(names, table.segments, columns, corpus, table.about, blocks)


Stored = TypeVar("Stored", SystemMeta, Comparison, Agreement)


def _result(kind: type[Stored], value: Stored | Mapping[str, Any] | None) -> Stored | None:
    """Return a result; what is not one yet is its public JSON shape."""
    return value if value is None or isinstance(value, kind) else kind.from_dict(value)


def _title(table: core.ScoreTable) -> str:
    counts = {"system": len(table.systems), "sentence": table.segments}
    return " on ".join(f"{n:,} {what}{'s' * (n != 1)}" for what, n in counts.items() if n)


def _facts(
    table: core.ScoreTable, corpus: formats.Corpus | None, files: Sequence[str]
) -> Iterator[tuple[str, str]]:
    yield "Systems", str(len(table.systems))
    if table.segments:
        yield "Sentences", f"{table.segments:,}"
    yield "Metrics", ", ".join(table)
    if corpus is not None:
        first = corpus.parts[0]
        annotators = {number for gold in first.gold for number in gold}
        number = str(len(annotators) or len(first.references))
        yield "References", f"{number} of each system's own" if corpus.own else number
    yield from _made_from(files)
    yield "grammeter", version.__version__


def _made_from(files: Sequence[str]) -> Iterator[tuple[str, str]]:
    if files:
        yield "Made from", ", ".join(files)
