"""Train metrics from files: read parallel data or human scores, extract edits, fit models."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from grammeter import errant, training
from grammeter.core import DataError, UsageError, checked
from grammeter.formats import Correction, parallel_files, read_parallel, read_ratings
from grammeter.models import Card, current
from grammeter.verbs._using import fields_among

ENCODER = "bert-base-cased"
GIVEN = "given"  # origin of edits that the data contain


@checked
def train_impara(
    parallel: Sequence[str | Path], output: str | Path,
    *, encoder: str = ENCODER, pairs: int = 4096, parallel_only: bool = False,
    loss: training.LossName = "sigmoid", epochs: int = 10, batch_size: int = 32,
    learning_rate: float = 1e-5, decay: training.Decay = "none", warmup: float = 0.0,
    dtype: training.Precision = "auto", seed: int = 1, source_column: str | None = None,
    target_column: str | None = None, pipeline: str | None = None, lenient: bool = False,
    resume: bool = False,
) -> Card:  # fmt: skip
    """Train IMPARA's quality estimator from parallel data (Maeda et al. 2022).

    It runs on the device of :func:`grammeter.using`. Raises :class:`UsageError` if an option is
    impossible, or the folder holds another run, or is not empty and ``resume`` is not set;
    :class:`DataError` if there are too few sentences with edits (or scores), or a file cannot be
    read or written; :class:`MissingResourceError` if torch, the encoder, the device or the pipeline
    is missing.

    Parameters
    ----------
    parallel
        M2 files, ``source.txt:reference.txt``, or tables.
    output
        Folder of the model; then ``impara(model=FOLDER)`` scores with it.
    encoder
        Name or folder of the encoder to start from.
    pairs
        Largest number of pairs for training, validation and test, 8:1:1.
    parallel_only
        Only pairs of source and correction: the paper's ablation.
    loss
        ``sigmoid``, equation 4 of the paper, or ``logistic``, the logistic ranking loss.
    epochs
        Number of epochs; the best on the validation part is written. 0: the untrained head.
    batch_size
        Examples per step.
    learning_rate, decay, warmup
        Learning rate of AdamW; ``none`` or ``linear``; share of all steps in which it rises.
    dtype
        Of the steps: ``auto`` is bfloat16 where the processor has it, else float32.
    seed
        Seed of pairs, head, order and dropout.
    source_column, target_column
        Columns of tables; default: those of the usual names.
    pipeline
        The spaCy pipeline that extracts edits from corrected texts.
    lenient
        Skip M2 edits outside their sentence and unknown lines, and count them.
    resume
        Go on where an interrupted run stopped; the card of a finished run is returned.
    """
    options = locals()
    return _Data(parallel, options).train(Path(output), _settings(options), resume=resume)


@checked
def train_some(
    scores: str | Path, output: str | Path,
    *, criteria: Sequence[training.Criterion] = training.CRITERIA, encoder: str = ENCODER,
    epochs: int = 10, batch_size: int = 32, learning_rate: float = 3e-5,
    decay: training.Decay = "linear", warmup: float = 0.1, dtype: training.Precision = "auto",
    seed: int = 1, resume: bool = False,
) -> dict[training.Criterion, Card]:  # fmt: skip
    """Train SOME's regressors from human scores (Yoshimura et al. 2020).

    Device and errors are those of :func:`train_impara`.

    Parameters
    ----------
    scores
        A table with sources, outputs and mean scores, such as TMU-GFM's CSV.
    output
        Folder of the models; then ``some(model=FOLDER)`` scores with them.
    criteria
        Criteria to fit: ``grammaticality``, ``fluency``, ``meaning``.
    encoder, epochs, batch_size, learning_rate, decay, warmup, dtype, seed
        As for :func:`train_impara`.
    resume
        Go on where an interrupted run stopped; finished models are kept.
    """
    settings = _settings(locals())
    path = _present([Path(scores)])[0]
    options: Any = {"files": [path], "criteria": criteria, "resume": resume}
    return training.fit_some(read_ratings(path), Path(output), settings, **options)


@checked
def train_cross_domain(
    corpora: Mapping[str, Sequence[str | Path]], output: str | Path,
    *, seeds: Sequence[int] = (1, 2, 3), encoder: str = ENCODER, pairs: int = 4096,
    parallel_only: bool = False, loss: training.LossName = "sigmoid", epochs: int = 10,
    batch_size: int = 32, learning_rate: float = 1e-5, decay: training.Decay = "none",
    warmup: float = 0.0, dtype: training.Precision = "auto", source_column: str | None = None,
    target_column: str | None = None, pipeline: str | None = None, lenient: bool = False,
) -> training.CrossDomain:  # fmt: skip
    """Train IMPARA on each of several corpora, and test each model on each (Maeda's Table 4).

    Raises :class:`UsageError` if there is no corpus or no seed, a seed is repeated, or a name
    cannot name a folder.

    Parameters
    ----------
    corpora
        Parallel data by the name of the corpus.
    output
        Folder of the models, ``NAME-SEED`` each; finished ones are reused, so that the same call
        goes on after an interruption.
    seeds
        Seeds; one model for each corpus and seed.
    encoder, pairs, parallel_only, loss, epochs, batch_size, learning_rate, decay
        As for :func:`train_impara`.
    warmup, dtype, source_column, target_column, pipeline, lenient
        As for :func:`train_impara`.
    """
    options = locals()
    if not corpora:
        raise UsageError("no corpus to train on", fix="Name one at least.")
    for name in corpora:
        if not name or name != Path(name).name:
            message = f"the name {name!r} of a corpus is no folder's name"
            raise UsageError(message, fix="Leave out slashes.")
    if not seeds or len(set(seeds)) != len(seeds):
        listed = ", ".join(map(str, seeds)) or "none"
        raise UsageError(f"seeds {listed}", fix="Give one or more, each once.")
    settings = _settings(options)
    models: dict[tuple[str, int], Path] = {}
    tests: dict[tuple[str, int], list[training.Pair]] = {}
    for name, parallel in corpora.items():
        data = _Data(parallel, options)
        for seed in seeds:
            folder = Path(output) / f"{name}-{seed}"
            data.train(folder, replace(settings, seed=seed), resume=True)
            models[name, seed] = folder
            tests[name, seed] = [pair for pair in training.pairs_of(folder) if pair.part == "test"]
    return training.CrossDomain(tuple(seeds), tuple(training.cross_test(models, tests)))


def _settings(options: Mapping[str, Any]) -> training.Settings:
    """Return the arguments of a verb that are settings, for the device in use."""
    chosen = fields_among(options, training.Settings)
    return training.Settings(**chosen, rate=options["learning_rate"], device=current().device)


@checked
def train_impacts(
    parallel: Sequence[str | Path],
    *, encoder: str = ENCODER, extract: bool = False, merge: bool = False, least: int = 1,
    source_column: str | None = None, target_column: str | None = None, pipeline: str | None = None,
    lenient: bool = False,
) -> training.Impacts:  # fmt: skip
    """Measure the impact of every edit of parallel data (Maeda et al. 2022, equation 5).

    Returns impacts of each error type and of each edit, the greatest first (Tables 6 and 7).

    Parameters
    ----------
    parallel, encoder, source_column, target_column, pipeline, lenient
        As for :func:`train_impara`.
    extract
        Extract edits anew from the texts that the edits of an M2 file make, all applied.
    merge
        Count insertions, replacements and deletions as one type: ``NOUN``, not ``M:NOUN``.
    least
        Leave out types of fewer edits.
    """
    sentences = _Data(parallel, locals()).measure().sentences
    return training.Impacts.of(sentences, merge=merge, least=least)


class _Data:
    """Parallel data, read and measured once for any number of models; ``options`` of the verb."""

    def __init__(self, parallel: Sequence[str | Path], options: Mapping[str, Any]) -> None:
        self._places, self._options = [str(data) for data in parallel], options
        columns = {"source": options["source_column"], "target": options["target_column"]}
        self._reading: dict[str, Any] = {**columns, "lenient": options["lenient"]}
        self._files = _present([path for data in self._places for path in parallel_files(data)])
        self.measure = cache(self._measure)

    def train(self, folder: Path, settings: training.Settings, *, resume: bool) -> Card:
        of = self._options
        return training.fit_impara(
            self.measure, folder, settings, files=self._files, size=of["pairs"], loss=of["loss"],
            reading={**self._reading, "pipeline": of["pipeline"]},
            parallel_only=of["parallel_only"], resume=resume,
        )  # fmt: skip

    def _measure(self) -> training.Measured:
        pipeline = self._options["pipeline"]
        rows: list[Correction] = []
        origin = GIVEN
        for data in self._places:
            corrections = read_parallel(data, **self._reading)
            if self._options.get("extract"):
                corrections = [row.as_text() for row in corrections if row.edits != ()]
            if any(row.edits is None for row in corrections):
                extractor = errant.annotator(pipeline, types=True).signature()
                origin = ", ".join(f"{key} {value}" for key, value in extractor.items())
            parallel = _with_edits(corrections, pipeline)
            if not any(row.edits for row in parallel):
                fault = "no sentence has an edit"
                raise DataError(fault, where=data, fix="Give sources and their corrections.")
            rows += parallel
        sentences = tuple(training.measure_impacts(rows, self._options["encoder"]))
        left = sum(len(row.edits or ()) for row in rows) - sum(len(s.edits) for s in sentences)
        return training.Measured(sentences, len(rows), origin, left)


def _with_edits(rows: Sequence[Correction], pipeline: str | None) -> list[Correction]:
    texts = [(row.source, row.text) for row in rows if row.text is not None]
    extracted = iter(errant.annotator(pipeline, types=True).annotate(texts) if texts else ())
    return [row if row.edits is not None else replace(row, edits=next(extracted)) for row in rows]


def _present(files: Sequence[Path]) -> list[Path]:
    if not files:
        raise UsageError("no data to train on", fix="Name parallel files, or a table of scores.")
    for path in files:
        if not path.is_file():
            raise DataError("there is no such file", where=str(path), fix="Check the name.")
    return list(files)
