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
    from grammeter.core import (
        DataError,
        Edit,
        GrammeterError,
        MissingResourceError,
        Ranking,
        RemoteError,
        Score,
        ScoreTable,
        Segment,
        UsageError,
    )
    from grammeter.formats import (
        Corpus,
        Judgments,
        read_corpus,
        read_judgments,
        read_scores,
        write_judgments,
        write_scores,
    )
    from grammeter.metrics import Metric, metric
    from grammeter.models import Runtime, using
    from grammeter.ranking import agree, rank
    from grammeter.resources import sample_corpus
    from grammeter.scoring import Scorer, score
    from grammeter.verbs import (
        compare,
        correlate,
        difference,
        explain,
        make_report,
        sample,
        write_report,
    )

_HOMES = {
    "agree": "grammeter.ranking.agreement",
    "correlate": "grammeter.verbs._api",
    "rank": "grammeter.ranking._rank",
    "read_judgments": "grammeter.formats.judgments",
    "sample": "grammeter.verbs._api",
    "write_judgments": "grammeter.formats.judgments",
    "Judgments": "grammeter.formats.judged",
    "Ranking": "grammeter.core.judgment",
    "compare": "grammeter.verbs._compare.systems",
    "difference": "grammeter.verbs._compare.differences",
    "explain": "grammeter.verbs._explain",
    "make_report": "grammeter.verbs._report.make",
    "metric": "grammeter.metrics.registry",
    "read_corpus": "grammeter.formats.read",
    "read_scores": "grammeter.formats.scores",
    "score": "grammeter.scoring.table",
    "write_report": "grammeter.verbs._report.make",
    "write_scores": "grammeter.formats.scores",
    "sample_corpus": "grammeter.resources",
    "using": "grammeter.models.runtime",
    "Runtime": "grammeter.models.runtime",
    "Corpus": "grammeter.formats.corpus",
    "DataError": "grammeter.core.errors",
    "Edit": "grammeter.core.edit",
    "GrammeterError": "grammeter.core.errors",
    "Metric": "grammeter.metrics.base",
    "MissingResourceError": "grammeter.core.errors",
    "RemoteError": "grammeter.core.errors",
    "Score": "grammeter.core.score",
    "Scorer": "grammeter.scoring.scorer",
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
