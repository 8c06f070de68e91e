"""Named benchmarks of metrics: data sets of outputs that people judged.

``gjg15``: Grundkiewicz et al. 2015, ``seeda-e`` and ``seeda-s``: edit-based and sentence-based
judgments of Kobayashi et al. 2024. They tell what the files do not: which number the first sentence
has, whose scores stand in a column without names, how the paper ranked the systems.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grammeter import core
from grammeter.formats import corpus, judged, read, tables, text
from grammeter.formats.datasets import dataset, dataset_path
from grammeter.formats.judgments import read_rankings
from grammeter.formats.scores import parse_value


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One benchmark: files of a data set, and what they do not tell.

    ``texts`` is the data set with the file ``source`` and the folder ``outputs``: what was judged.
    ``scores`` is the file of the paper's own scores by people, one a line in the order of
    ``systems``; ``None`` if they are to be computed from the judgments by ``method``. ``copies``
    are systems whose outputs, in the data of the published figures, were another's by mistake: in
    SEEDA until commit 082e663 of tmu-nlp/SEEDA, of 14 December 2024.
    """

    name: str
    dataset: str
    judgments: str
    texts: str
    source: str
    outputs: str
    first_segment: judged.FirstSegment
    method: str
    scores: str | None = None
    systems: Sequence[str] = ()
    copies: Mapping[str, str] = field(default_factory=dict[str, str])

    def read_judgments(self) -> judged.Judgments:
        """Read the judgments; raise :class:`MissingResourceError` if the set is not here."""
        path = dataset_path(self.dataset, self.judgments)
        return read_rankings(path, first_segment=self.first_segment)

    def read_corpus(self) -> corpus.Corpus:
        """Read sources and outputs; raise :class:`MissingResourceError` if the set is not here."""
        paths = [file.path for file in dataset(self.texts).files]
        outputs = [path for path in paths if path.startswith(f"{self.outputs}/")]
        source, *systems = (dataset_path(self.texts, path) for path in (self.source, *outputs))
        return read.read_corpus(source=source, systems=systems)

    def read_scores(self) -> dict[str, float] | None:
        """Read the stored scores by system, ``None`` if there are none."""
        if self.scores is None:
            return None
        path = dataset_path(self.dataset, self.scores)
        lines = text.read_lines(path)
        if len(lines) != len(self.systems):
            fault = f"{len(lines)} scores of {len(self.systems)} systems"
            fix = f"Get the data set again: grammeter data get {self.dataset}"
            raise core.DataError(fault, where=str(path), fix=fix)
        scores: dict[str, float] = {}
        for number, (system, line) in enumerate(zip(self.systems, lines, strict=True), start=1):
            with tables.placed(f"{path}:{number}"):
                scores[system] = parse_value(line)
        return scores

    def as_published(self, table: core.ScoreTable) -> core.ScoreTable:
        """Score systems as the published figures did: by the outputs that were taken for theirs.

        Raises :class:`UsageError` if the published data are those of today, :class:`DataError` if
        the table lacks the system whose outputs were taken.
        """
        if not self.copies:
            fault = f"the published figures of {self.name} were computed on the data of today"
            raise core.UsageError(fault, fix="Leave --published-data out.")
        columns = {name: self._as_published(column) for name, column in table.items()}
        return replace(table, columns=columns)

    def _as_published(self, column: core.MetricScores) -> core.MetricScores:
        for system, taken in self.copies.items():
            if taken not in column:
                fault = f"{column.metric} has no score of {taken!r}, whose outputs were published"
                fix = f"Score {taken}, too, or leave --published-data out."
                raise core.DataError(f"{fault} as those of {system}", fix=fix)
        settings = {"published-data": ", ".join(f"{a}={b}" for a, b in self.copies.items())}
        copied = column.of_systems({system: self.copies.get(system, system) for system in column})
        return replace(copied, signature=column.signature.extended(settings))


_DATA = tables.shipped("benchmarks.json")
BENCHMARKS: Mapping[str, Benchmark] = {data["name"]: Benchmark(**data) for data in _DATA}


def benchmark(name: str) -> Benchmark:
    """Return a benchmark by its name; raise :class:`UnknownNameError` if there is none."""
    core.UnknownNameError.check("benchmark", name, BENCHMARKS)
    return BENCHMARKS[name]


def read_benchmark(benchmark: str, **options: Any) -> corpus.Corpus:
    """Return :func:`read_corpus` of a benchmark."""
    return read.read_corpus(benchmark=benchmark, **options)
