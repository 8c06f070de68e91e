"""The sections about people: their ranking, their agreement, and metrics against them."""

import re
from collections.abc import Iterator, Sequence

from grammeter.core import Ranked, Ranking, ScoreTable, Table
from grammeter.formats import Corpus
from grammeter.meta import SystemMeta
from grammeter.ranking import FEW_SYSTEMS, Agreement
from grammeter.rendering import Section, draw
from grammeter.verbs._meta_judge import examined, scoring_judges
from grammeter.verbs._report.scores import WORDS


def judges_section(
    rankings: Sequence[Ranking], corpus: Corpus | None, *, resamples: int, seed: int
) -> Iterator[Section]:
    """Yield the section about judges who gave scores, if there are such."""
    if scoring_judges(rankings):
        drawn = {"resamples": resamples, "seed": seed, "confidence": 0.95}
        result = examined(rankings, corpus, drawn=drawn)
        tables, drawings = tuple(result.tables()), tuple(map(draw, result.figures().values()))
        captions = tuple(table.title for table in tables)
        words = (WORDS["how_examined"], *result.notes)
        yield Section("judges", "Judges that gave scores", words, tables, drawings, captions)


def sections(
    table: ScoreTable, ranked: Ranked | None, agreement: Agreement | None,
    correlated: SystemMeta | None, common: Sequence[str],
) -> Iterator[Section]:  # fmt: skip
    """Yield a section for each of these results; ``common``: systems with both kinds of scores."""
    if ranked is not None:
        drawings = tuple(map(draw, ranked.figures().values()))
        title, caption = "Ranking by people", f"Systems by {ranked.method}"
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


def _left_out(table: ScoreTable, ranked: Ranked | None, common: Sequence[str]) -> Iterator[str]:
    if ranked is None:
        return
    if unjudged := [name for name in table.systems if name not in common]:
        yield f"Scored, but without a score by people: {', '.join(unjudged)}."
    if unscored := [name for name in ranked if name not in table.systems]:
        yield f"Judged, not scored: {', '.join(unscored)}."


def _captions(tables: Sequence[Table]) -> tuple[str, ...]:
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
