"""The sections about people: their ranking, their agreement, and metrics against them."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from grammeter.core import Ranked, Ranking, ScoreTable, Table
from grammeter.formats import Corpus
from grammeter.meta import Design, SystemMeta
from grammeter.ranking import FEW_SYSTEMS, Agreement
from grammeter.rendering import Section, draw
from grammeter.verbs._meta import correlate
from grammeter.verbs._meta_judge import examined, scoring_judges
from grammeter.verbs._report.scores import WORDS

FEWEST = 3  # least number of systems for correlations


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


@dataclass(frozen=True)
class People:
    """Results from judgments, as far as they are known."""

    table: ScoreTable
    ranking: Ranked | None
    agreement: Agreement | None
    meta: SystemMeta | None

    @property
    def human(self) -> dict[str, float]:
        """People's scores by system."""
        return {name: row.score for name, row in self.ranking.items()} if self.ranking else {}

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

    def correlated(self) -> "People":
        """Correlate metrics with the ranking, unless it is done or impossible."""
        if self.meta is not None or self.ranking is None or len(self.common) < FEWEST:
            return self
        shown = ", ".join(f"{key}={value}" for key, value in self.ranking.signature)
        human = {name: self.human[name] for name in self.common}
        design = Design(human=f"{self.ranking.method}({shown})")
        return replace(self, meta=correlate(self.table, human, systems=self.common, design=design))

    def sections(self) -> Iterator[Section]:
        """Yield the sections of the known results."""
        if (ranked := self.ranking) is not None:
            drawings = tuple(map(draw, ranked.figures().values()))
            title, caption = "Ranking by people", f"Systems by {ranked.method}"
            tables = tuple(ranked.tables())
            yield Section("ranking", title, (WORDS["how_ranked"],), tables, drawings, (caption,))
        if self.agreement is not None:
            tables = tuple(self.agreement.tables())
            captions, words = _captions(tables), (WORDS["how_agreed"],)
            yield Section("agreement", "Agreement", words, tables, captions=captions)
        correlations = "correlations", "Metrics and people"
        if self.meta is not None:
            tables = tuple(self.meta.tables())
            figures = self.meta.figures()
            complete = self.meta.human and all(of.scores for of in self.meta.values())
            drawings = (draw(figures["scores"]),) if complete else ()
            words = _on_systems(self.meta, self._left_out())
            yield Section(*correlations, words, tables, drawings, _captions(tables))
        elif self.ranking is not None:
            few = f"Nothing is correlated: it takes {FEWEST} systems that were scored and judged."
            yield Section(*correlations, (few, *self._left_out()))

    def _left_out(self) -> Iterator[str]:
        if not self.ranking:
            return
        unjudged = [name for name in self.table.systems if name not in self.common]
        unscored = [name for name in self.ranking if name not in self.table.systems]
        if unjudged:
            yield f"Scored, but without a score by people: {', '.join(unjudged)}."
        if unscored:
            yield f"Judged, not scored: {', '.join(unscored)}."


def _captions(tables: Sequence[Table]) -> tuple[str, ...]:
    return tuple(WORDS["captions"][table.columns[0].head] for table in tables)


def _on_systems(meta: SystemMeta, left_out: Iterable[str]) -> tuple[str, ...]:
    systems = len(meta.systems)
    human = re.split(r"[|(]", meta.design.human)[0]  # of a signature only the method
    against = f"{systems} systems, against people's scores ({human})."
    few = f"{systems} systems are few: correlations vary widely by chance."
    return (against, *left_out, *([few] if systems < FEW_SYSTEMS else []))
