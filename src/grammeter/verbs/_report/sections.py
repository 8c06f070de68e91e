"""The sections: scores with intervals and letters, error types, people, signatures."""

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grammeter import core, formats
from grammeter.meta import SystemMeta
from grammeter.ranking import FEW_SYSTEMS, Agreement
from grammeter.rendering import Dot, Drawing, Section, dot_plot, draw, heat_map
from grammeter.verbs._compare import results
from grammeter.verbs._compare.design import ComparisonDesign
from grammeter.verbs._compare.results import Comparison, best_first
from grammeter.verbs._compare.samples import paired_samples
from grammeter.verbs._compare.verb import compare
from grammeter.verbs._meta_judge import examined, scoring_judges

WORDS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
"""What the page says; ``captions`` of tables are by their first head."""


def compared(
    table: core.ScoreTable, stored: Comparison | None, *, resamples: int, seed: int
) -> Comparison:
    """Return the stored comparison, else compare all systems by the metrics with statistics.

    Without such metrics it is empty. A ``DataError`` if the stored one has other values for a
    metric and system of the table, or none of them.
    """
    if stored is not None:
        _check_comparison(table, stored)
        return stored
    metrics = [name for name, column in table.items() if _obstacle(name, column) is None]
    if not metrics:
        return Comparison(ComparisonDesign(), table.segments, {})
    return compare(table, resamples=resamples, seed=seed, metrics=metrics)


def scores_section(table: core.ScoreTable, comparison: Comparison) -> Section:
    """Show scores with their comparison."""
    notes = dict.fromkeys([*table.notes, *comparison.notes])
    missing = [WORDS["no_sentences"]] if table.corpus is None else []
    words = (*_how_to_read(comparison), *missing, *notes)
    drawings: list[Drawing] = []
    for name, column in table.items():
        dots, caption = [*_dots(column, comparison, name)], _caption(name, column, comparison)
        drawings.append(dot_plot(dots, title=f"Scores by {name}", caption=caption))
    caption = "Systems by metric, best by the first metric on top"
    tables = (_scores_table(table, comparison),)
    return Section("scores", "Scores", words, tables, tuple(drawings), (caption,))


def groups_section(table: core.ScoreTable, comparison: Comparison) -> Iterator[Section]:
    """Show scores by group of sentences, with intervals where there are; nothing without groups."""
    block = table.blocks.get("groups")
    if block is None:
        return
    tables, captions, drawings = [*core.tables_by_group(block, table)], [*table], list[Drawing]()
    for name, by_group in block["metrics"].items():
        if name in comparison and comparison[name].groups:
            tables.append(results.groups_table(comparison.design, name, comparison[name]))
            captions.append(f"{name} with intervals, of units drawn in each group")
        order, title = block["order"], f"{name} by {block['by']}"
        values = [[core.group_value(by_group[g], s) for s in table.systems] for g in order]
        caption = f"Scores by {name}, each group as a corpus of its own."
        drawings.append(heat_map(order, table.systems, values, title=title, caption=caption))
    words = ("Each group of sentences is scored as a corpus of its own; macro is their mean.",)
    yield Section("groups", "Groups", words, tuple(tables), tuple(drawings), tuple(captions))


def signatures_section(
    table: core.ScoreTable, ranked: core.Ranked | None, agreement: Agreement | None,
    correlated: SystemMeta | None,
) -> Section:  # fmt: skip
    """List the signatures of all figures."""
    rows = [(name, column.signature) for name, column in table.items()]
    rows += [("ranking by people", ranked.signature)] if ranked else []
    rows += [("agreement", agreement.signature)] if agreement else []
    for name, of in correlated.items() if correlated else ():
        rows.append((f"{name} and people", of.signature))
    listed = core.Table.of(("figure", "signature"), [(name, str(of)) for name, of in rows])
    words = "Everything that a figure depends on, in one line: quote it with the figure."
    return Section("signatures", "Signatures", (words,), (listed,))


def _check_comparison(table: core.ScoreTable, comparison: Comparison) -> None:
    common = {
        f"{name}, {system}": math.isclose(result.value, column[system].value, rel_tol=1e-9)
        for name, column in table.items()
        for system, result in _results(comparison, name).items()
        if system in column.scores and not math.isnan(result.value)
    }
    if not all(common.values()) or not common:
        where = next((where for where, same in common.items() if not same), "nothing in common")
        fix = "Compare the scores of this report, or leave the comparison out: it is made anew."
        raise core.DataError(f"the comparison is of other scores ({where})", fix=fix)


def _scores_table(table: core.ScoreTable, comparison: Comparison) -> core.Table:
    """Lay out a row for each system: by metric, score, interval, and letters or p-value."""
    first = next(iter(table.values()))
    names = best_first(table.systems, first, higher_is_better=first.higher_is_better)
    columns: list[tuple[core.Column | str, Sequence[core.Cell]]] = [("system", names)]
    for name, column in table.items():
        if name in comparison:
            columns += results.metric_columns(comparison.design, name, comparison[name], names)
        else:
            best = "high" if column.higher_is_better else "low"
            values = [column[s].value if s in column.scores else None for s in names]
            columns.append((core.Column(name, "score", best=best), values))
    return core.Table.side_by_side(columns, _notes(table, comparison))


def _obstacle(name: str, column: core.MetricScores) -> str | None:
    """Return the reason why systems cannot be compared by a metric, if there is one."""
    try:
        paired_samples(name, column)
    except core.GrammeterError as error:
        return error.message
    return None


def _results(comparison: Comparison, name: str) -> Mapping[str, results.SystemResult]:
    return comparison[name].systems if name in comparison else {}


def _how_to_read(comparison: Comparison) -> Iterator[str]:
    if not comparison:
        return
    design = comparison.design
    share = f"{design.confidence * 100:g}%"
    test = "approximate randomisation" if design.test == "randomisation" else "paired bootstrap"
    how = f"{design.resamples} resamples of the {design.unit}s, seed {design.seed}"
    yield f"Intervals: {share} of a bootstrap ({how}); they hold the sentences' difficulty, too."
    level = f"level {design.level:g}, {test}, correction: {design.correction}"
    if design.baseline is None:
        yield f"Systems that share a letter do not differ significantly ({level})."
    else:
        yield f"diff, p: against {design.baseline}, two-sided ({level})."


def _notes(table: core.ScoreTable, comparison: Comparison) -> Iterator[str]:
    for name, column in table.items():
        if not column.higher_is_better:
            yield f"{name}: lower is better"
        if not _results(comparison, name):
            why = _obstacle(name, column) or "the comparison does not have this metric"
            yield f"{name}: no intervals: {why}"
        yield from column.remarks(name)[1:]
        for system, result in _results(comparison, name).items():
            if math.isnan(result.low) and result.reason and system in column.scores:
                yield f"{name}, {system}: no interval: {result.reason}"


def _dots(column: core.MetricScores, comparison: Comparison, name: str) -> Iterator[Dot]:
    compared = _results(comparison, name)
    for system in best_first(column, column, higher_is_better=column.higher_is_better):
        result = compared.get(system)
        low, high = (result.low, result.high) if result else (math.nan, math.nan)
        letters = (result.letters if result else None) or ""
        yield Dot(system, column[system].value, low, high, letters)


def _caption(name: str, column: core.MetricScores, comparison: Comparison) -> str:
    direction = "" if column.higher_is_better else " (lower is better)"
    if not _results(comparison, name):
        return f"Scores by {name}{direction}."
    share = f"{comparison.design.confidence * 100:g}%"
    end = "; the letters are those of the table" if comparison.design.baseline is None else ""
    return f"Scores by {name}{direction} with {share} intervals{end}."


OUTCOMES = ("tp", "fp", "fn")
MOST = 30  # largest number of types in a heat map; the tables have all types


def types_section(table: core.ScoreTable) -> Section:
    """Lay out the scores by error type that are stored, else say how to get them."""
    tables, captions, drawings = list[core.Table](), list[str](), list[Drawing]()
    for name, column in table.items():
        if not column.types:
            continue
        shown = {name: replace(column, gold_types={})}
        for what, parts in (("F", ()), ("Edits that are right, wrong, missing, and F", OUTCOMES)):
            tables += core.types_tables(shown, parts)
            captions.append(f"{what} by error type ({name})")
        drawings.append(_drawn(name, column))
    shown_as = tuple(tables), tuple(drawings), tuple(captions)
    return Section("types", "Error types", () if tables else (WORDS["how"],), *shown_as)


def _drawn(name: str, column: core.MetricScores) -> Drawing:
    types, kinds = column.types, [*core.gold_ranges(column.types)]
    which = f"the {MOST} commonest of {len(kinds)}" if len(kinds) > MOST else "all"
    rows = [[of[kind].value if kind in of else math.nan for of in types.values()]
            for kind in kinds[:MOST]]  # fmt: skip
    look = {"title": f"F by error type ({name})"}
    look["caption"] = f"F by type and system ({name}), {which} types."
    return heat_map(kinds[:MOST], list(types), rows, **look)


# --- people ----------------------------------------------------------------------------------
def judges_section(
    rankings: Sequence[core.Ranking], corpus: formats.Corpus | None, *, resamples: int, seed: int
) -> Iterator[Section]:
    """Yield the section about judges who gave scores, if there are such."""
    if scoring_judges(rankings):
        drawn = {"resamples": resamples, "seed": seed, "confidence": 0.95}
        result = examined(rankings, corpus, drawn=drawn)
        tables, drawings = tuple(result.tables()), tuple(map(draw, result.figures().values()))
        captions = tuple(table.title for table in tables)
        words = (WORDS["how_examined"], *result.notes)
        yield Section("judges", "Judges that gave scores", words, tables, drawings, captions)


def people_sections(
    table: core.ScoreTable, ranked: core.Ranked | None, agreement: Agreement | None,
    correlated: SystemMeta | None, common: Sequence[str],
) -> Iterator[Section]:  # fmt: skip
    """Yield a section for each of these results; ``common``: systems with both kinds of scores."""
    if ranked is not None:
        drawings = tuple(map(draw, ranked.figures().values()))
        title, caption = "core.Ranking by people", f"Systems by {ranked.method}"
        words, tables = (WORDS["how_ranked"],), tuple(ranked.tables())
        yield Section("ranking", title, words, tables, drawings, (caption,))
    if agreement is not None:
        tables, words = tuple(agreement.tables()), (WORDS["how_agreed"],)
        yield Section("agreement", "Agreement", words, tables, captions=_captions(tables))
    words = (*_how_many(correlated), *_left_out(table, ranked, common))
    correlations = "correlations", "Metrics and people", words
    if correlated is not None:
        tables = tuple(correlated.tables())
        complete = correlated.human and all(of.scores for of in correlated.values())
        drawings = (draw(correlated.figures()["scores"]),) if complete else ()
        yield Section(*correlations, tables, drawings, _captions(tables))
    elif ranked is not None:
        yield Section(*correlations)


def _left_out(
    table: core.ScoreTable, ranked: core.Ranked | None, common: Sequence[str]
) -> Iterator[str]:
    if ranked is None:
        return
    if unjudged := [name for name in table.systems if name not in common]:
        yield f"Scored, but without a score by people: {', '.join(unjudged)}."
    if unscored := [name for name in ranked if name not in table.systems]:
        yield f"Judged, not scored: {', '.join(unscored)}."


def _captions(tables: Sequence[core.Table]) -> tuple[str, ...]:
    return tuple(WORDS["captions"][table.columns[0].head] for table in tables)


def _how_many(correlated: SystemMeta | None) -> Iterator[str]:
    if correlated is None:
        yield WORDS["too_few"]
        return
    systems = len(correlated.systems)
    human = re.split(r"[|(]", correlated.design.human)[0]  # of a signature only the method
    yield f"{systems} systems, against people's scores ({human})."
    if systems < FEW_SYSTEMS:
        yield f"{systems} systems are few: correlations vary widely by chance."
