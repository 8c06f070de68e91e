"""Why one output of one sentence got the scores that it has in its corpus."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from grammeter import core, errant, scoring
from grammeter.formats import Corpus
from grammeter.metrics import Metric
from grammeter.metrics import metric as make_metric


@core.checked
def explain(
    scores: core.ScoreTable | Corpus,
    *, system: str, line: int, metrics: Sequence[str | Metric] | None = None,
    attribution: core.Method | None = None, seed: int = 1, limit: int = scoring.LIMIT,
    pipeline: str | None = None,
) -> core.SentenceExplanation:  # fmt: skip
    """Say why an output got its scores.

    The values are the segment scores of :func:`score`. A table holds all that they depend on;
    of a corpus, the system is scored first for the metrics whose sentence scores need that. Raises
    :class:`UsageError` if a name or number is impossible, the corpus lacks what a metric needs, or
    ``seed``, ``limit`` or ``pipeline`` come without an attribution; :class:`DataError` if the table
    does not hold its corpus.

    Parameters
    ----------
    scores
        A score table that holds its corpus (from :func:`score` or ``score -o``), or a corpus.
    system
        Whose output.
    line
        Number of the sentence, from 1.
    metrics
        Which metrics; default those of the table.
    attribution
        Also say what each edit contributes: ``shapley`` or ``leave-one-out``.
    seed, limit, pipeline
        For the attribution: where random orders start, how many tokens may be scored, what
        extracts the edits; see :func:`grammeter.scoring.attribution.attribute`.
    """
    corpus = scores if isinstance(scores, Corpus) else corpus_of(scores)
    columns: Mapping[str, core.MetricScores] = {} if isinstance(scores, Corpus) else scores.columns
    names: Sequence[str | Metric] = list(columns) if metrics is None else metrics
    changed = {"seed": seed != 1, "limit": limit != scoring.LIMIT, "pipeline": pipeline}
    core.check_home(attribution is not None, "--attribution", **changed)
    if not names:
        raise core.UsageError("no metric to explain", fix="Name one at least.")
    segments = corpus.segments(system)
    if not 1 <= line <= len(segments):
        fault = f"there is no line {line}"
        raise core.UsageError(fault, fix=f"Lines count from 1 to {len(segments)}.")
    place = Place(corpus, system, line - 1, segments)
    stored = {name: column.metric for name, column in columns.items()}
    chosen = {
        str(name): make_metric(stored.get(name, name) if isinstance(name, str) else name)
        for name in names
    }
    for metric in chosen.values():
        scoring.check_needs(metric, corpus)
    explained: dict[str, core.Explanation] = {}
    notes = [errant.annotator(pipeline).notice] if attribution else []
    why = corpus.skipped.get(line - 1)
    for name, metric in chosen.items():
        if why:
            reason = f"it cannot be judged: {why}"
            explained[name] = core.Explanation(value=math.nan, parts={}, reason=reason)
            continue
        column = columns.get(name) or place.scored(metric)
        bound = metric.within(place.surroundings(column))
        notes.append(bound.notice)
        alone = bound.explain(place.segment)
        explained[name] = _as_scored(alone, column, place)
        cautions = scoring.CAUTIONS.items()
        notes += [f"{name}: {caution}" for part, caution in cautions if alone.parts.get(part)]
        if attribution is not None:
            shares = scoring.attribute(
                bound, place.segment, method=attribution, pipeline=pipeline, seed=seed,
                limit=limit, company=place.company,
            )  # fmt: skip
            explained[name] = replace(explained[name], attribution=shares)
    texts = place.segment.source, place.segment.hypothesis, place.segment.references
    noted = tuple(dict.fromkeys(note for note in notes if note))
    return core.SentenceExplanation(system, line, *texts, explained, noted)


def corpus_of(table: core.ScoreTable) -> Corpus:
    """Return the corpus that a score table was made from; a ``DataError`` if it has none."""
    if table.corpus is None:
        fix = "Score again with 'grammeter score -o FILE', or give the corpus itself."
        raise core.DataError("these scores do not hold the sentences they were made from", fix=fix)
    return Corpus.from_dict(table.corpus)


@dataclass(frozen=True)
class Place:
    """One output: whose, on which line (from 0), and all outputs of the same system."""

    corpus: Corpus
    system: str
    line: int
    segments: Sequence[core.Segment]

    @property
    def segment(self) -> core.Segment:
        return self.segments[self.line]

    @property
    def company(self) -> list[str]:
        """The outputs of the other systems for this line."""
        systems = self.corpus.systems
        return [outputs[self.line] for name, outputs in systems.items() if name != self.system]

    def scored(self, metric: Metric) -> core.MetricScores | None:
        """Score the system, if a sentence's score cannot be known without."""
        if not metric.reads_corpus:
            return None
        corpus = replace(self.corpus, systems={self.system: self.corpus.systems[self.system]})
        return scoring.score_table(corpus, {metric.name: metric})[metric.name]

    def surroundings(self, column: core.MetricScores | None) -> core.Surroundings:
        """Return what a metric may need to know besides the output."""
        return core.Surroundings(
            segments=self.segments, line=self.line, company=self.company,
            statistics=column.statistics.get(self.system) if column else None,
        )  # fmt: skip


def _as_scored(
    alone: core.Explanation, column: core.MetricScores | None, place: Place
) -> core.Explanation:
    """Give an explanation the very score that a table has, and what the corpus chose."""
    scores = column.segments.get(place.system) if column else None
    if scores is None:
        return alone
    line = scores.take([place.line])
    value = float(line.values[0])
    reason = (line.reason or "undefined") if math.isnan(value) else None
    explained = replace(alone, value=value, reason=reason)
    if (of := line.in_corpus) is None:
        return explained
    return replace(explained, corpus_chosen=int(of.chosen[0]), corpus_value=float(of.values[0]))
