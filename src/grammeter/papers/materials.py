"""What the recipes share: data sets read once, rankings and scores made once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from grammeter.core.table import ScoreTable
from grammeter.corpus.benchmarks import benchmark
from grammeter.corpus.corpus import Corpus
from grammeter.corpus.datasets import dataset_path
from grammeter.corpus.judged import Judgments
from grammeter.corpus.read import read_corpus
from grammeter.metrics.base import Metric
from grammeter.scoring import score


class Materials:
    """Everything that several recipes need; each is read or made when it is first asked for."""

    def __init__(self) -> None:
        self._judgments: dict[str, Judgments] = {}
        self._scored: dict[tuple[str, str], ScoreTable] = {}

    def judgments(self, name: str) -> Judgments:
        """Return the judgments of a benchmark: ``gjg15``, ``seeda-e`` or ``seeda-s``."""
        if name not in self._judgments:
            self._judgments[name] = benchmark(name).read_judgments()
        return self._judgments[name]

    @cached_property
    def conll14(self) -> Corpus:
        """The CoNLL-2014 test set, its 12 systems and the input, gold of two annotators."""
        folder = dataset_path("conll14_test")
        return read_corpus(
            source=folder / "source.txt",
            references=[folder / "noalt" / "official-2014.combined.m2"],
            systems=sorted((folder / "official_systems").iterdir()),
        )

    def scored(self, name: str, metrics: Sequence[str | Metric]) -> ScoreTable:
        """Score a corpus of this object, named by its attribute; each metric once."""
        corpus: Corpus = getattr(self, name)
        new = [metric for metric in metrics if (name, str(metric)) not in self._scored]
        if new:
            made = score(corpus, new)
            self._scored |= {(name, spelled): made for spelled in made}
        columns = {str(m): self._scored[name, str(m)][str(m)] for m in metrics}
        return ScoreTable(tuple(corpus.systems), len(corpus), columns)

    def path(self, data: str, file: str) -> Path:
        """Return where a file of a data set stands."""
        return dataset_path(data, file)
