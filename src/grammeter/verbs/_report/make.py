"""The verb ``report``: a page from scores and judgments, written to a file."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from grammeter import core, formats, rendering, version
from grammeter.meta import SystemMeta
from grammeter.ranking import Agreement
from grammeter.verbs._compare.results import Comparison
from grammeter.verbs._compare.samples import as_table
from grammeter.verbs._explain import corpus_of
from grammeter.verbs._meta import meta_system
from grammeter.verbs._meta_judge import scoring_judges
from grammeter.verbs._rank import agree, rank
from grammeter.verbs._read import parsed
from grammeter.verbs._report import sections as show
from grammeter.verbs._report.browser import make_browser

Material = core.Result | formats.Judgments | formats.EditJudgments
KINDS = Comparison, core.Ranked, Agreement, SystemMeta, formats.Judgments, formats.EditJudgments
FEWEST = 3  # least number of systems for correlations


@core.checked
def report(
    scores: str | Path | core.ScoreTable | Sequence[core.Ranking],
    files: Sequence[str | Path | Material] = (),
    *, benchmark: str | None = None, metrics: Sequence[str] | None = None,
    systems: Sequence[str] | None = None, first_segment: formats.FirstSegment | None = None,
    title: str | None = None, resamples: int = 1000, seed: int = 1,
) -> rendering.Page:  # fmt: skip
    """Gather scores, error types, judgments and all sentences into one page.

    :func:`grammeter.write_report` writes the page as HTML; its ``notices`` say what a reader should
    know about the files. Raises :class:`UsageError` if there is no such metric, system, or number
    of resamples, or there are two results of one kind; :class:`DataError` if a file cannot be read,
    or a result is of other scores.

    Parameters
    ----------
    scores
        Scores, or judgments as the scores of a judge, as values or as a file: what ``score -o``
        wrote, scores of other programs (without intervals, error types and sentences), judgments.
    files
        Judgments (Appraise XML, WMT CSV, JSON lines), also of edits, which say who accepted
        spurious ones; and what ``rank``, ``meta system``, ``compare`` and ``agree`` wrote with
        ``-o``: files, or values. Missing results are computed, if possible: judgments are ranked by
        expected wins, their judges' agreement is measured, and metrics are correlated with the
        ranking. Judges who gave scores are no people; what they said has a section of its own.
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
    resamples, seed
        For the intervals of scores and the ranges of ranks.
    """
    is_file = isinstance(scores, str | Path)
    source = formats.read_any_scores(scores) if is_file else scores
    table = as_table(source, formats.metric_name(scores) if is_file else "judgments")
    found = _sorted(files, table, first_segment)
    table = restricted(table, metrics, systems)
    corpus = corpus_of(table) if table.corpus is not None else None
    drawn: Any = {"resamples": resamples, "seed": seed}
    comparison = show.compared(table, found.get(Comparison), **drawn)
    known = formats.benchmark(benchmark) if benchmark else None
    judgments: formats.Judgments | None = found.get(formats.Judgments)
    if known and judgments is None:
        judgments = known.read_judgments()
    run = () if isinstance(source, core.ScoreTable | core.Ranked) else source
    everyone = [*run, *(judgments or ())]
    scoring = scoring_judges(everyone)
    ranked: core.Ranked | None = found.get(core.Ranked)
    agreement: Agreement | None = found.get(Agreement)
    if judgments is not None:
        persons = [one for one in judgments if one.judge not in scoring] if scoring else ()
        if ranked is None:
            judged = persons or judgments
            ranked = rank(judged, resamples=resamples, seed=seed)
        agreement = agreement or agree(everyone if scoring else judgments)
    correlated: SystemMeta | None = found.get(SystemMeta)
    scored = {name for name, row in ranked.items() if math.isfinite(row.score)} if ranked else ()
    common = [name for name in table.systems if name in scored]
    if correlated is None and ranked is not None and len(common) >= FEWEST:
        correlated = meta_system(table, ranked, systems=common)
    texts = known.read_corpus() if known and corpus is None else corpus
    sections = (
        show.scores_section(table, comparison),
        *show.groups_section(table, comparison),
        show.types_section(table),
        *show.people_sections(table, ranked, agreement, correlated, common),
        *show.judges_section(everyone, texts, **drawn),
        show.signatures_section(table, ranked, agreement, correlated),
    )
    edits: formats.EditJudgments | None = found.get(formats.EditJudgments)
    browser, browser_facts = None, dict[str, str]()
    if corpus is not None:
        judged_edits = edits.checked(corpus.sources) if edits else ()
        browser, browser_facts = make_browser(table, corpus, judged_edits=judged_edits)
    places = [scores, *files] if is_file else files
    names = [Path(place).name for place in places if isinstance(place, str | Path)]
    facts = (*_facts(table, corpus, names), *browser_facts.items())
    notices = [text for of in (judgments, edits) if of for text in of.notices]
    return rendering.Page(title or _title(table), facts, sections, browser, tuple(notices))


def _sorted(
    files: Sequence[str | Path | Material], table: core.ScoreTable,
    first_segment: formats.FirstSegment | None,
) -> dict[type, Any]:  # fmt: skip
    """Read files whose content tells what they are; judgments of several files are one.

    Where the sentences of all judged systems are known, judgments are checked against them, and the
    number of the first sentence is found, unless it is ``first_segment``.
    """
    outputs = formats.Corpus.from_dict(table.corpus).systems if table.corpus else None
    options: Any = {"systems": outputs, "segments": table.segments, "first_segment": first_segment}
    found: dict[type, list[Any]] = defaultdict(list)
    paths = [str(file) for file in files if isinstance(file, str | Path)]
    for file in files:
        is_file = isinstance(file, str | Path)
        one = parsed(formats.read_text(file), str(file), **options) if is_file else file
        kind = next((kind for kind in KINDS if isinstance(one, kind)), type(one))
        again = kind in found if issubclass(kind, core.Result) else paths.count(str(file)) > 1
        if again or kind not in KINDS:
            fault = f"{file}: " if is_file else ""
            fault += "a second one of its kind" if kind in KINDS else "nothing for a report"
            fix = "Give, once each, judgments and what 'grammeter rank', 'meta system', 'compare'"
            raise core.UsageError(fault, fix=f"{fix} and 'agree' write with -o, after the scores.")
        found[kind].append(one)
    joined = {formats.Judgments: formats.join, formats.EditJudgments: formats.EditJudgments.joined}
    return {kind: joined[kind](of) if kind in joined else of[0] for kind, of in found.items()}


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
    if files:  # without folders, which are private
        yield "Made from", ", ".join(files)
    yield "grammeter", version.__version__
