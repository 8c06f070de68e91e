"""The verbs: what a user types, in Python and, through the command line, on the shell."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from grammeter.comparison import compare_systems
from grammeter.core.errors import DataError, UsageError
from grammeter.core.explanation import SentenceExplanation
from grammeter.core.item import Item
from grammeter.core.table import ScoreTable
from grammeter.corpus.corpus import Corpus
from grammeter.corpus.judgments import read_judgments, write_judgments
from grammeter.corpus.read import read_corpus
from grammeter.corpus.records import read_records
from grammeter.corpus.text import read_text, write_text
from grammeter.metrics.base import Metric
from grammeter.metrics.registry import metric
from grammeter.ranking.agreement import agree
from grammeter.ranking.assignment import assign
from grammeter.ranking.rank import rank
from grammeter.ranking.sampling import Select, distribution
from grammeter.ranking.sampling import sample as draw
from grammeter.scoring import check_listed, check_needs, score

__all__ = [
    "agree",
    "compare",
    "explain",
    "metric",
    "rank",
    "read_corpus",
    "read_judgments",
    "read_scores",
    "sample",
    "score",
    "write_judgments",
    "write_scores",
]

compare = compare_systems


def read_records_corpus(path: str | Path) -> Corpus:
    """Read a corpus that stands in one table: JSON lines, TSV, CSV or parquet.

    See :mod:`grammeter.corpus.records` for the shapes.
    """
    records = read_records(path)
    origins = {part: str(path) for part in ("source", "references[0]")}
    return Corpus(
        sources=records.sources,
        references=records.references,
        systems=records.systems,
        origins=origins,
    )


def sample(
    corpus: Corpus,
    *,
    n: int,
    select: Select = "paper",
    per_item: int = 5,
    seed: int = 1,
    distinct: bool = False,
    scores: ScoreTable | None = None,
    judges: Sequence[str] = (),
    overlap: int = 0,
    repeats: int = 0,
) -> tuple[Item, ...]:
    """Draw items for human judgment: sentences, and which of their outputs are shown.

    Parameters
    ----------
    corpus
        Whose systems are to be judged.
    n
        How many items.
    select, per_item, scores
        What makes a sentence likely, how many outputs an item shows at most, and for ``spread``
        the scores that must differ; see :func:`grammeter.ranking.sampling.distribution`.
    seed, distinct
        Where the random numbers start; draw no sentence twice.
    judges, overlap, repeats
        Names; items that all of them see; items that each sees twice. See
        :func:`grammeter.ranking.assignment.assign`.

    Raises
    ------
    UsageError
        If the numbers do not fit each other or the corpus.
    """
    source = distribution(corpus.systems, select=select, per_item=per_item, scores=scores)
    items = draw(source, n=n, distinct=distinct, seed=seed)
    if judges:
        items = assign(items, judges, overlap=overlap, repeats=repeats, seed=seed)
    return tuple(items)


def explain(
    scores: ScoreTable | Corpus,
    *,
    system: str,
    line: int,
    metrics: Sequence[str | Metric] | None = None,
) -> SentenceExplanation:
    """Say why an output got its scores.

    Parameters
    ----------
    scores
        A score table that holds its corpus (from :func:`score`, or stored by
        ``score -o``), or a corpus.
    system
        Whose output.
    line
        Number of the sentence, from 1.
    metrics
        Which metrics; default those of the table.

    Raises
    ------
    UsageError
        If there is no such system, line or metric, no metric is named for a corpus, or the
        corpus lacks what a metric needs.
    DataError
        If the table does not hold its corpus.
    """
    corpus = scores if isinstance(scores, Corpus) else corpus_of(scores)
    asked = metrics if metrics is not None else [] if isinstance(scores, Corpus) else list(scores)
    check_listed(asked)
    if not asked:
        raise UsageError("no metric to explain", fix="Name one at least.")
    segments = corpus.segments(system)
    if not 1 <= line <= len(segments):
        raise UsageError(f"there is no line {line}", fix=f"Lines count from 1 to {len(segments)}.")
    segment = segments[line - 1]
    chosen = {str(name): _metric_of(scores, name) for name in asked}
    for each in chosen.values():
        check_needs(each, corpus)
    explained = {name: each.explain(segment) for name, each in chosen.items()}
    return SentenceExplanation(
        system, line, segment.source, segment.hypothesis, segment.references, explained
    )


def corpus_of(table: ScoreTable) -> Corpus:
    """Return the corpus that a score table was made from.

    Raises
    ------
    DataError
        If the table does not hold it.
    """
    if table.corpus is None:
        raise DataError(
            "these scores do not hold the sentences they were made from",
            fix="Score again with 'grammeter score -o FILE', or give the corpus itself.",
        )
    return Corpus.from_json(table.corpus)


def read_scores(path: str | Path) -> ScoreTable:
    """Read a score table that :func:`write_scores` or ``grammeter score -o`` wrote.

    Raises
    ------
    DataError
        If the file is absent or holds something else.
    """
    return ScoreTable.from_json(read_json(path), where=str(path))


def write_scores(table: ScoreTable, path: str | Path) -> None:
    """Write a score table with all that ``compare`` and ``explain`` need."""
    write_json(table.to_full_json(), path)


def read_json(path: str | Path) -> dict[str, Any]:
    """Read one JSON object from a file, plain or gzip."""
    try:
        data: object = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise DataError(
            f"no JSON: {error.msg}",
            where=f"{path}:{error.lineno}",
            fix="Give a file that grammeter wrote with -o.",
        ) from None
    except (ValueError, RecursionError) as error:  # a number too long, brackets too deep
        raise DataError(
            f"no JSON that can be read: {error}",
            where=str(path),
            fix="Give a file that grammeter wrote with -o.",
        ) from None
    if not isinstance(data, dict):
        raise DataError("no JSON object", where=str(path), fix="Give a file written with -o.")
    return cast("dict[str, Any]", data)


def write_json(data: Mapping[str, Any], path: str | Path) -> None:
    """Write one JSON object, UTF-8, gzip by the name's suffix."""
    write_text(path, json_text(data) + "\n")


def json_text(data: Mapping[str, Any]) -> str:
    """Return JSON text; a NaN that was not turned into ``null`` is an error, never written."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False)


def _metric_of(scores: ScoreTable | Corpus, name: str | Metric) -> Metric:
    known = isinstance(scores, ScoreTable) and isinstance(name, str) and name in scores
    return metric(cast("ScoreTable", scores)[cast("str", name)].metric if known else name)
