"""Train metrics from files: read parallel data or human scores, extract edits, fit models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import cast

from grammeter.core import DataError, UsageError
from grammeter.errant import annotator
from grammeter.formats import Correction, parallel_files, read_parallel, read_ratings
from grammeter.models import Card
from grammeter.training import (
    CRITERIA,
    Cell,
    Criterion,
    LossName,
    Measured,
    Pair,
    Parallel,
    Rated,
    Settings,
    cross_test,
    fit_impara,
    fit_some,
    measure_impacts,
    pairs_of,
)

GIVEN = "given"
"""Origin of edits that the data contain."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How parallel data are read.

    Attributes
    ----------
    source, target
        Columns of tables; by default those of the usual names.
    pipeline
        The spaCy pipeline that extracts edits where corrections are texts; see
        :func:`grammeter.errant.annotate.annotator`.
    lenient
        Pass over faulty edits and lines of M2 files; see
        :func:`grammeter.formats.parallel.read_parallel`.
    """

    source: str | None = None
    target: str | None = None
    pipeline: str | None = None
    lenient: bool = False


def train_impara(
    parallel: Sequence[str | Path],
    output: str | Path,
    *,
    settings: Settings,
    reading: Reading | None = None,
    pairs: int = 4096,
    loss: LossName = "sigmoid",
    parallel_only: bool = False,
    resume: bool = False,
) -> Card:
    """Train IMPARA's quality estimator from parallel data (Maeda et al. 2022).

    Parameters
    ----------
    parallel
        M2 files, ``source.txt:reference.txt``, or tables.
    output
        Folder of the model; then ``impara(model=FOLDER)`` scores with it.
    settings
        Encoder, epochs, learning rate, seed.
    reading
        Columns, and what extracts edits.
    pairs, loss, parallel_only, resume
        See :func:`grammeter.training.impara.fit_impara`.

    Returns
    -------
    dict
        The training card.

    Raises
    ------
    DataError, UsageError, MissingResourceError
        As :func:`grammeter.training.impara.fit_impara` and
        :func:`grammeter.formats.parallel.read_parallel`.
    """
    data = _Data(parallel, settings.encoder, reading or Reading())
    return data.train(Path(output), settings, pairs, loss, parallel_only, resume=resume)


def train_some(
    scores: str | Path,
    output: str | Path,
    *,
    settings: Settings,
    criteria: Sequence[Criterion] = CRITERIA,
    resume: bool = False,
) -> dict[Criterion, Card]:
    """Train SOME's regressors from human scores (Yoshimura et al. 2020).

    Parameters
    ----------
    scores
        A table with sources, outputs and mean scores, such as TMU-GFM's CSV.
    output
        Folder of the models; then ``some(model=FOLDER)`` scores with them.
    settings, criteria, resume
        See :func:`grammeter.training.some.fit_some`.

    Returns
    -------
    dict
        The training card of each criterion.
    """
    path = _present([Path(scores)])[0]
    rated = [
        Rated(one.source, one.output, {cast("Criterion", k): v for k, v in one.scores.items()})
        for one in read_ratings(path)
    ]
    return fit_some(rated, Path(output), settings, files=[path], criteria=criteria, resume=resume)


def train_cross_domain(
    corpora: Mapping[str, Sequence[str | Path]],
    output: str | Path,
    *,
    settings: Settings,
    seeds: Sequence[int] = (1, 2, 3),
    reading: Reading | None = None,
    pairs: int = 4096,
    loss: LossName = "sigmoid",
    parallel_only: bool = False,
) -> list[Cell]:
    """Train IMPARA on each of several corpora, and test each model on each (Table 4's question).

    Parameters
    ----------
    corpora
        Parallel data by the name of the corpus.
    output
        Folder of the models, ``NAME-SEED`` each; finished ones are reused, so that the same call
        goes on after an interruption.
    settings
        How to fit; its seed is replaced by each of ``seeds``.
    seeds
        One model for each corpus and seed.
    reading, pairs, loss, parallel_only
        As for :func:`train_impara`.

    Returns
    -------
    list of Cell
        Accuracies on held-out pairs, for each corpus trained on and each tested on.

    Raises
    ------
    UsageError
        If there is no corpus or no seed, a seed is repeated, a name cannot name a folder, or a
        model in the folder belongs to another run.
    """
    _check_corpora(corpora, seeds)
    models: dict[tuple[str, int], Path] = {}
    tests: dict[tuple[str, int], list[Pair]] = {}
    for name, parallel in corpora.items():
        data = _Data(parallel, settings.encoder, reading or Reading())
        for seed in seeds:
            folder = Path(output) / f"{name}-{seed}"
            seeded = replace(settings, seed=seed)
            data.train(folder, seeded, pairs, loss, parallel_only, resume=True)
            models[name, seed] = folder
            tests[name, seed] = [pair for pair in pairs_of(folder) if pair.part == "test"]
    return cross_test(models, tests)


def _check_corpora(corpora: Mapping[str, Sequence[str | Path]], seeds: Sequence[int]) -> None:
    if not corpora:
        raise UsageError("no corpus to train on", fix="Name one at least.")
    for name in corpora:
        if not name or name != Path(name).name:
            raise UsageError(
                f"the name {name!r} of a corpus is no folder's name", fix="Leave out slashes."
            )
    if not seeds or len(set(seeds)) != len(seeds):
        raise UsageError(
            f"seeds {', '.join(map(str, seeds)) or 'none'}", fix="Give one or more, each once."
        )


def edit_impacts(
    parallel: Sequence[str | Path], encoder: str, *, reading: Reading | None = None
) -> Measured:
    """Measure the impact of every edit of parallel data (equation 5).

    Returns
    -------
    Measured
        For :func:`grammeter.training.analysis.impacts_by_type` and ``impacts_of_edits``.
    """
    return _Data(parallel, encoder, reading or Reading()).measure()


class _Data:
    """Parallel data, read and measured once for any number of models."""

    def __init__(self, parallel: Sequence[str | Path], encoder: str, reading: Reading) -> None:
        self._spelled = [str(data) for data in parallel]
        self._encoder = encoder
        self._reading = reading
        self._files = _present([path for data in self._spelled for path in parallel_files(data)])
        self.measure = cache(self._measure)

    def train(
        self,
        folder: Path,
        settings: Settings,
        size: int,
        loss: LossName,
        parallel_only: bool,
        *,
        resume: bool,
    ) -> Card:
        """Fit a quality estimator; see :func:`grammeter.training.impara.fit_impara`."""
        return fit_impara(
            self.measure,
            folder,
            settings,
            files=self._files,
            reading=vars(self._reading),
            size=size,
            loss=loss,
            parallel_only=parallel_only,
            resume=resume,
        )

    def _measure(self) -> Measured:
        rows, origin = read_all(self._spelled, self._reading)
        sentences = tuple(measure_impacts(rows, self._encoder))
        left = sum(len(row.edits) for row in rows) - sum(len(s.edits) for s in sentences)
        return Measured(sentences, len(rows), origin, left)


def read_all(spelled: Sequence[str], reading: Reading) -> tuple[list[Parallel], str]:
    """Read parallel data, and extract edits where corrections are texts.

    Returns
    -------
    rows
        All sentences of all files, with their edits.
    origin
        ``given``, or the extractor of the edits.

    Raises
    ------
    DataError
        If a file cannot be read, or no sentence of it has an edit.
    MissingResourceError
        If edits must be extracted and the pipeline is not installed.
    """
    rows: list[Parallel] = []
    origin = GIVEN
    for data in spelled:
        corrections = read_parallel(
            data, source=reading.source, target=reading.target, lenient=reading.lenient
        )
        if any(row.edits is None for row in corrections):
            extractor = annotator(reading.pipeline, types=True).signature()
            origin = ", ".join(f"{key} {value}" for key, value in extractor.items())
        parallel = _with_edits(corrections, reading.pipeline)
        if not any(row.edits for row in parallel):
            raise DataError(
                "no sentence has an edit", where=data, fix="Give sources and their corrections."
            )
        rows += parallel
    return rows, origin


def _with_edits(rows: Sequence[Correction], pipeline: str | None) -> list[Parallel]:
    texts = [(row.source, row.text) for row in rows if row.text is not None]
    extracted = iter(annotator(pipeline, types=True).annotate(texts) if texts else ())
    return [
        Parallel(row.source, row.edits if row.edits is not None else next(extracted), row.origin)
        for row in rows
    ]


def _present(files: Sequence[Path]) -> list[Path]:
    if not files:
        raise UsageError("no data to train on", fix="Name parallel files, or a table of scores.")
    for path in files:
        if not path.is_file():
            raise DataError("there is no such file", where=str(path), fix="Check the name.")
    return list(files)
