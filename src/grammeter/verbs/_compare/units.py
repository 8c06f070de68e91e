"""What is drawn as a whole: sentences, documents, or groups; and scores by group to compare."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grammeter import core, formats, metrics, scoring, stats
from grammeter.verbs._compare.design import FEW_SEGMENTS, FEW_UNITS, ComparisonDesign, few_units
from grammeter.verbs._compare.samples import TypeColumns, mean_of_rows, paired_samples

SENTENCE, DOCUMENT = "sentence", "document"


@dataclass(frozen=True)
class Units:
    """The unit of each sentence, from 0, -1 if it cannot be judged; ``None``: each its own."""

    name: str
    numbers: core.IntArray | None = None

    @classmethod
    def of(cls, table: core.ScoreTable, wanted: str | None) -> "Units":
        """Find the units: a column of groups; by default documents if known, else sentences."""
        corpus = table.corpus or {}
        labels = {**corpus.get("groups", {}), DOCUMENT: corpus.get("documents", ())}
        known = {name: of for name, of in labels.items() if of}
        name = wanted or (DOCUMENT if DOCUMENT in known else SENTENCE)
        judged = [at not in table.skipped for at in range(1, table.segments + 1)]
        if name == SENTENCE:
            return cls(name, _numbers(range(table.segments), judged) if table.skipped else None)
        if name not in known:
            fix = f"There are: {', '.join([SENTENCE, *known])}."
            if name == DOCUMENT:
                fix = "Score again: grammeter score --documents FILE:COLUMN ... -o FILE"
            raise core.UsageError(f"no units called {name!r} are stored", fix=fix)
        return cls(name, _numbers(known[name], judged))

    @property
    def count(self) -> int | None:
        """How many there are; ``None`` for sentences."""
        at = self.numbers
        return None if at is None or self.name == SENTENCE else int(at.max()) + 1

    @property
    def drawn(self) -> tuple[str, ...]:
        """A note on what is drawn, unless that is sentences."""
        said = f"{self.count} {self.name}s are drawn, not sentences (--unit sentence)"
        return () if self.count is None else (said,)

    def limits(self) -> Iterator[str]:
        """Say what is drawn, unless that is sentences, and whether there are too few."""
        yield from self.drawn
        yield from few_units(self.name, self.count)

    def samples(self, name: str, column: core.MetricScores) -> stats.PairedSamples:
        """Gather the rows of all systems, those of a unit added up."""
        if self.name == SENTENCE and _averaged(column):
            fix = "Leave --unit out: the score is a mean over documents, which are drawn."
            raise core.UsageError(f"{name}: no sentences are drawn from documents", fix=fix)
        if self.numbers is None:
            return paired_samples(name, column)
        return _by_unit(name, column, self.numbers)

    def summed(self, samples: stats.PairedSamples) -> stats.PairedSamples:
        """Add up the rows of each unit, where there is one for each sentence."""
        if self.numbers is None:
            return samples
        return stats.PairedSamples(_summed(samples.rows, self.numbers), samples.value_of)


@dataclass(frozen=True)
class Groups:
    """Scores by group and their mean; ``strata``: the units' groups; ``notes``: metrics without."""

    by: str
    columns: Mapping[str, TypeColumns]
    strata: core.IntArray
    units: Mapping[str, int]
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls, table: core.ScoreTable, columns: Mapping[str, core.MetricScores], units: Units
    ) -> "Groups | None":
        """Gather the rows of each group as a corpus of its own; ``None`` without groups."""
        block, corpus = table.blocks.get("groups"), table.corpus
        if block is None or corpus is None or not corpus.get("groups"):
            return None
        labels = formats.crossed(corpus["groups"])
        places = {group: np.array(at) for group, at in scoring.places_of(labels).items()}
        within = np.arange(len(labels)) if units.numbers is None else units.numbers
        inside = _numbers([*zip(labels, within.tolist(), strict=True)], within >= 0)
        first = np.unique(inside[inside >= 0], return_index=True)[1]
        strata = _numbers(labels)[inside >= 0][first]
        counts = dict(zip(places, np.bincount(strata, minlength=len(places)).tolist(), strict=True))
        made: dict[str, TypeColumns] = {}
        without: list[str] = []
        for name, column in columns.items():
            if not column.statistics or scoring.depends_on_corpus(metrics.metric(column.metric)):
                without.append(name)
            else:
                made[name] = _by_group(block, name, column, places, inside)
        said = [f"no intervals by group of {', '.join(without)}: a group has rows of its own"]
        return cls(block["by"], made, strata, counts, tuple(said if without else ()))

    def limits(self, design: ComparisonDesign) -> Iterator[str]:
        """Name the groups of which no interval is to be trusted."""
        least = FEW_SEGMENTS if design.units is None else FEW_UNITS
        if few := [f"{group} {count}" for group, count in self.units.items() if count < least]:
            yield f"by {self.by}: intervals from so few {design.unit}s say little: {', '.join(few)}"
        yield from self.notes


def _averaged(column: core.MetricScores) -> bool:
    return dict(column.signature).get("level") == DOCUMENT


def _by_unit(
    name: str, column: core.MetricScores, numbers: core.IntArray, at: core.IntArray | None = None
) -> stats.PairedSamples:
    """Add up the rows of the sentences of each unit; of those ``at`` some places alone."""
    size, systems = int(numbers.max()) + 1, [*column]
    if at is not None:
        statistics = {system: rows.take(at) for system, rows in column.statistics.items()}
        column, numbers = replace(column, statistics=statistics), numbers[at]
    if not _averaged(column):
        samples = paired_samples(name, column)
        return stats.PairedSamples(_summed(samples.rows, numbers, size), samples.value_of)
    rows, scorer = np.zeros((len(systems), size, 2)), metrics.metric(column.metric)
    for unit in np.unique(numbers[numbers >= 0]):
        of_unit = np.flatnonzero(numbers == unit)
        for number, system in enumerate(systems):
            value = scorer.score(column.statistics[system].take(of_unit)).value
            rows[number, unit] = (0, 0) if math.isnan(value) else (value, 1)
    return stats.PairedSamples(rows, mean_of_rows)


def _by_group(
    block: Mapping[str, Any], name: str, column: core.MetricScores,
    places: Mapping[str, core.IntArray], inside: core.IntArray,
) -> TypeColumns:  # fmt: skip
    """Return scores and rows of each group, rows of other groups' units being 0; then the mean."""
    signature = column.signature.extended({"group-by": block["by"]})
    bare = replace(column, signature=signature, segments={}, type_counts={})
    made: dict[str, tuple[core.MetricScores, stats.PairedSamples]] = {}
    for group, scores in block["metrics"][name].items():
        of_group: dict[str, core.Score] = {}
        for system in column:
            value, why = core.group_value(scores, system), scores.get(system, {}).get("reason")
            of_group[system] = core.Score(value, signature, len(inside), reason=why)
        if group == core.MACRO:
            parts = [samples for _, samples in made.values()]
            together = np.concatenate([part.rows for part in parts], axis=-1)
            samples = stats.PairedSamples(together, _mean_of(len(parts), parts[0].value_of))
        else:
            samples = _by_unit(name, bare, inside, places[group])
        made[group] = replace(bare, scores=of_group), samples
    return made


def _mean_of(
    groups: int, value_of: Callable[[core.FloatArray], core.FloatArray]
) -> Callable[[core.FloatArray], core.FloatArray]:
    return lambda sums: value_of(sums.reshape(*sums.shape[:-1], groups, -1)).mean(axis=-1)


def _numbers(labels: Sequence[Any], judged: Iterable[bool] | None = None) -> core.IntArray:
    """Return the number of each label by first appearance; -1 where it is not ``judged``."""
    known: dict[Any, int] = {}
    pairs = zip(labels, [True] * len(labels) if judged is None else judged, strict=True)
    numbers = [known.setdefault(label, len(known)) if there else -1 for label, there in pairs]
    return np.array(numbers, dtype=np.int64)


def _summed(rows: core.FloatArray, numbers: core.IntArray, size: int = 0) -> core.FloatArray:
    """Add rows ``(samples, sentences, k)`` up by unit: ``(samples, units, k)``."""
    by_sentence, numbers = rows.transpose(1, 0, 2)[numbers >= 0], numbers[numbers >= 0]
    sums = np.zeros((size or int(numbers.max()) + 1, *by_sentence.shape[1:]))
    np.add.at(sums, numbers, by_sentence)
    return sums.transpose(1, 0, 2)
