"""Measure grammatical error correction systems, and measure the measures.

::

    import grammeter as gm

    corpus = gm.read_corpus(source="src.txt", references=["gold.m2"], systems=["out/A", "out/B"])
    table = gm.score(corpus, ["m2", "gleu"])
    table["m2"]["A"].value
"""

from grammeter.version import __version__

TYPE_CHECKING = False  # as of `typing`, which takes longer to load than all of this
if TYPE_CHECKING:
    from grammeter.api import correlate, sample
    from grammeter.comparison.differences import difference
    from grammeter.comparison.systems import compare
    from grammeter.core.edit import Edit
    from grammeter.core.errors import (
        DataError,
        GrammeterError,
        MissingResourceError,
        RemoteError,
        UsageError,
    )
    from grammeter.core.judgment import Ranking
    from grammeter.core.score import Score
    from grammeter.core.segment import Segment
    from grammeter.core.table import ScoreTable
    from grammeter.corpus.corpus import Corpus
    from grammeter.corpus.judged import Judgments
    from grammeter.corpus.judgments import read_judgments, write_judgments
    from grammeter.corpus.read import read_corpus
    from grammeter.corpus.scores import read_scores, write_scores
    from grammeter.explaining import explain
    from grammeter.metrics.base import Metric
    from grammeter.metrics.registry import metric
    from grammeter.neural.runtime import Runtime, using
    from grammeter.ranking.agreement import agree
    from grammeter.ranking.rank import rank
    from grammeter.reporting.make import make_report, write_report
    from grammeter.resources import sample_corpus
    from grammeter.scorer import Scorer
    from grammeter.scoring import score

_HOMES = {
    "agree": "grammeter.ranking.agreement",
    "correlate": "grammeter.api",
    "rank": "grammeter.ranking.rank",
    "read_judgments": "grammeter.corpus.judgments",
    "sample": "grammeter.api",
    "write_judgments": "grammeter.corpus.judgments",
    "Judgments": "grammeter.corpus.judged",
    "Ranking": "grammeter.core.judgment",
    "compare": "grammeter.comparison.systems",
    "difference": "grammeter.comparison.differences",
    "explain": "grammeter.explaining",
    "make_report": "grammeter.reporting.make",
    "metric": "grammeter.metrics.registry",
    "read_corpus": "grammeter.corpus.read",
    "read_scores": "grammeter.corpus.scores",
    "score": "grammeter.scoring",
    "write_report": "grammeter.reporting.make",
    "write_scores": "grammeter.corpus.scores",
    "sample_corpus": "grammeter.resources",
    "using": "grammeter.neural.runtime",
    "Runtime": "grammeter.neural.runtime",
    "Corpus": "grammeter.corpus.corpus",
    "DataError": "grammeter.core.errors",
    "Edit": "grammeter.core.edit",
    "GrammeterError": "grammeter.core.errors",
    "Metric": "grammeter.metrics.base",
    "MissingResourceError": "grammeter.core.errors",
    "RemoteError": "grammeter.core.errors",
    "Score": "grammeter.core.score",
    "Scorer": "grammeter.scorer",
    "ScoreTable": "grammeter.core.table",
    "Segment": "grammeter.core.segment",
    "UsageError": "grammeter.core.errors",
}

__all__ = [
    "Corpus",
    "DataError",
    "Edit",
    "GrammeterError",
    "Judgments",
    "Metric",
    "MissingResourceError",
    "Ranking",
    "RemoteError",
    "Runtime",
    "Score",
    "ScoreTable",
    "Scorer",
    "Segment",
    "UsageError",
    "__version__",
    "agree",
    "compare",
    "correlate",
    "difference",
    "explain",
    "make_report",
    "metric",
    "rank",
    "read_corpus",
    "read_judgments",
    "read_scores",
    "sample",
    "sample_corpus",
    "score",
    "using",
    "write_judgments",
    "write_report",
    "write_scores",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'grammeter' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
