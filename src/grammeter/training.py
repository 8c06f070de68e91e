"""Files to trained metrics: parallel data and human scores read, edits extracted, models fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from grammeter.core.errors import DataError, UsageError
from grammeter.corpus.parallel import Correction, parallel_files, read_parallel
from grammeter.corpus.ratings import read_ratings
from grammeter.edits.annotate import annotator
from grammeter.train.analysis import Cell, cross_test
from grammeter.train.card import Card
from grammeter.train.impara import LossName, pairs_of
from grammeter.train.impara import train_impara as fit_impara
from grammeter.train.pairs import Pair, Parallel, Sentence, measure_impacts
from grammeter.train.settings import Settings
from grammeter.train.some import CRITERIA, Criterion, Rated
from grammeter.train.some import train_some as fit_some


def train_impara(
    parallel: Sequence[str | Path],
    output: str | Path,
    *,
    settings: Settings,
    pairs: int = 4096,
    loss: LossName = "sigmoid",
    parallel_only: bool = False,
    pipeline: str | None = None,
    source: str | None = None,
    target: str | None = None,
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
    pairs, loss, parallel_only, resume
        See :func:`grammeter.train.impara.train_impara`.
    pipeline
        The spaCy pipeline that extracts edits where the data have texts.
    source, target
        Columns of tables.

    Returns
    -------
    dict
        The training card.
    """
    spelled = [str(each) for each in parallel]
    files = _present([path for each in spelled for path in parallel_files(each)])
    return fit_impara(
        lambda: read_all(spelled, pipeline=pipeline, source=source, target=target),
        Path(output),
        settings,
        files=files,
        size=pairs,
        loss=loss,
        parallel_only=parallel_only,
        resume=resume,
    )


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
        See :func:`grammeter.train.some.train_some`.

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
    pairs: int = 4096,
    loss: LossName = "sigmoid",
    parallel_only: bool = False,
    pipeline: str | None = None,
    source: str | None = None,
    target: str | None = None,
) -> list[Cell]:
    """Train IMPARA on each of several corpora, and test each model on each (Table 4's question).

    Parameters
    ----------
    corpora
        Parallel data by the name of the corpus.
    output
        Folder of the models, ``NAME-SEED`` each; finished ones are taken as they are, so that
        the same call goes on after an interruption.
    settings
        How to fit; its seed is replaced by each of ``seeds``.
    seeds
        One model for each corpus and seed.
    pairs, loss, parallel_only, pipeline, source, target
        As for :func:`train_impara`.

    Returns
    -------
    list of Cell
        Accuracies on held-out pairs, for each corpus trained on and each tested on.
    """
    if len(corpora) < 1 or len(set(seeds)) != len(seeds) or not seeds:
        raise UsageError("no corpus, or a seed twice", fix="Name corpora as NAME=DATA.")
    models: dict[tuple[str, int], Path] = {}
    tests: dict[tuple[str, int], list[Pair]] = {}
    for name, parallel in corpora.items():
        for seed in seeds:
            folder = Path(output) / f"{name}-{seed}"
            train_impara(
                parallel,
                folder,
                settings=replace(settings, seed=seed),
                pairs=pairs,
                loss=loss,
                parallel_only=parallel_only,
                pipeline=pipeline,
                source=source,
                target=target,
                resume=True,
            )
            models[name, seed] = folder
            tests[name, seed] = [pair for pair in pairs_of(folder) if pair.part == "test"]
    return cross_test(models, tests)


def edit_impacts(
    parallel: Sequence[str | Path],
    encoder: str,
    *,
    pipeline: str | None = None,
    source: str | None = None,
    target: str | None = None,
) -> list[Sentence]:
    """Measure the impact of every edit of parallel data (equation 5).

    Returns
    -------
    list of Sentence
        See :func:`grammeter.train.analysis.impacts_by_type` and ``impacts_of_edits``.
    """
    spelled = [str(each) for each in parallel]
    _present([path for each in spelled for path in parallel_files(each)])
    return measure_impacts(
        read_all(spelled, pipeline=pipeline, source=source, target=target), encoder
    )


def read_all(
    spelled: Sequence[str],
    *,
    pipeline: str | None = None,
    source: str | None = None,
    target: str | None = None,
) -> list[Parallel]:
    """Read parallel data and extract edits where corrections are texts.

    Raises
    ------
    DataError
        If no sentence of a file has an edit.
    """
    found: list[Parallel] = []
    for each in spelled:
        rows = _with_edits(read_parallel(each, source=source, target=target), pipeline)
        if not any(row.edits for row in rows):
            raise DataError(
                "no sentence has an edit", where=each, fix="Give sources and their corrections."
            )
        found += rows
    return found


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
