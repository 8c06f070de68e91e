"""Trained models and what was measured: IMPARA from parallel data, SOME from human scores; cards.

Maeda et al. (2022), section 2; Yoshimura et al. (2020), whose split, epochs and learning rate were
not published with the code: the defaults are ours, and the training cards name them.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self, cast

import numpy as np

from grammeter import core, stats
from grammeter.core import Column, FloatArray, Table
from grammeter.formats import RatedOutput, write_object, write_text
from grammeter.models import CARD_FILE, Card, Regression, Request, answer, find_model, read_card
from grammeter.training import pairs
from grammeter.training.fit import HELD_OUT, Checkpoint, Fitted, begun, digest, fit, tell
from grammeter.training.network import PARTS, Settings
from grammeter.version import __version__

RESAMPLES = 1000


def fit_impara(
    measure: Callable[[], pairs.Measured], folder: Path, settings: Settings,
    *, files: Sequence[Path] = (), reading: Mapping[str, object] | None = None, size: int = 4096,
    loss: pairs.LossName = "sigmoid", parallel_only: bool = False, resume: bool = False,
) -> Card:  # fmt: skip
    """Draw pairs, fit a quality estimator to them, and write it with its training card.

    The options and errors are those of :func:`grammeter.verbs.train_impara`; the seed of
    ``settings`` also draws the pairs. ``measure``: returns sentences and the impacts of their
    edits; not called if there are pairs to resume. ``folder``: folder of the model: weights,
    tokenizer, ``pairs.jsonl``, ``card.json``, ``README.md``. ``files``, ``reading``: origin of the
    sentences; a run can be resumed only with the same. ``size``: largest number of pairs.
    """
    if loss not in pairs.LOSSES:
        raise core.UsageError(f"loss={loss}", fix=f"Use {' or '.join(pairs.LOSSES)}.")
    options = {"pairs": size, "loss": loss, "parallel_only": parallel_only}
    run = {**_identity(settings, files), **options, **(reading or {})}
    with begun(folder, "impara", run, resume=resume):
        if (card := read_card(folder)) is None:
            data = pairs.load_or_draw(folder, measure, size, settings.seed, parallel_only)
            sizes = ", ".join(f"{len(data.part(part))} for {part}" for part in PARTS)
            tell(f"pairs: {sizes}; of {data.counts.get('with_edits')} corrections with edits")
            fitted = fit(pairs.Preference(data.pairs, loss), settings, folder, resume=resume)
            figures = _accuracies(data, fitted, settings.seed)
            origin = {"files": [*map(str, files)], **data.to_dict()}
            scoring = "impara(model=FOLDER)"
            card = write_card(folder, "impara", scoring, fitted, origin, figures, options)
        Checkpoint(folder).clear()
    return card


def _identity(settings: Settings, files: Sequence[Path]) -> dict[str, object]:
    encoder = find_model(settings.encoder).hash
    return {**asdict(settings), "encoder": encoder, "files": digest(files)}


def _accuracies(data: pairs.PairData, fitted: Fitted, seed: int) -> dict[str, object]:
    results: dict[str, object] = {}
    for part in HELD_OUT:
        held, outputs = data.part(part), fitted.outputs[part]
        right = (outputs[:, 1] > outputs[:, 0]).astype(np.float64)
        sources = np.array([pair.source for pair in held])
        apart = np.array([not pair.inclusion for pair in held], dtype=np.bool_)
        more = [len(pair.high_edits) > len(pair.low_edits) for pair in held]
        without = right[apart]
        spread = interval(without, sources[apart].tolist(), seed=seed)
        results |= {
            f"{part} accuracy": float(right.mean()),
            f"{part} accuracy interval": list(interval(right, sources.tolist(), seed=seed)),
            f"{part} pairs without inclusion": int(apart.sum()),
            f"{part} accuracy without inclusion": float(without.mean()) if len(without) else np.nan,
            f"{part} interval without inclusion": list(spread),
            f"{part} pairs whose better side has more edits": sum(more),
        }
    return results


def fit_some(
    rated: Sequence[RatedOutput], folder: Path, settings: Settings,
    *, files: Sequence[Path] = (), criteria: Sequence[pairs.Criterion] = pairs.CRITERIA,
    resume: bool = False,
) -> dict[pairs.Criterion, Card]:  # fmt: skip
    """Fit a regressor for each criterion, in ``folder/CRITERION``.

    The options and errors are those of :func:`grammeter.verbs.train_some`. ``rated``: outputs with
    human scores; split 8:1:1 by source sentence. ``files``: files of the scores; a run can be
    resumed only with the same.
    """
    if (unknown := sorted(set(criteria) - set(pairs.CRITERIA))) or not criteria:
        raise core.UsageError(
            f"criteria {unknown}", fix=f"Use some of {', '.join(pairs.CRITERIA)}."
        )
    tasks: dict[pairs.Criterion, pairs.HumanScore] = {
        criterion: pairs.score_task(rated, criterion, settings.seed) for criterion in criteria
    }
    run = _identity(settings, files)
    cards: dict[pairs.Criterion, Card] = {}
    with begun(folder, "some", run, resume=resume):
        for criterion, task in tasks.items():
            inside = folder / criterion
            with begun(inside, f"some {criterion}", run, resume=resume):
                if (card := read_card(inside)) is None:
                    sizes = {part: len(task.examples[part]) for part in PARTS}
                    data = {"files": [*map(str, files)], "examples": sizes}
                    data |= {"training_mean": task.first_bias}
                    fitted = fit(task, settings, inside, resume=resume)
                    scoring = f"some(model=FOLDER), or some({criterion}=FOLDER/{criterion}, ...)"
                    figures = _errors(task, fitted)
                    card = write_card(inside, f"some {criterion}", scoring, fitted, data, figures)
                Checkpoint(inside).clear()
                cards[criterion] = card
    return cards


def _errors(task: pairs.HumanScore, fitted: Fitted) -> dict[str, object]:
    results: dict[str, object] = {}
    for part in HELD_OUT:
        outputs = fitted.outputs[part][:, 0]
        targets = np.array([example.target for example in task.examples[part]])
        base = float(np.mean((task.first_bias - targets) ** 2))
        results |= {
            f"{part} mean squared error": float(np.mean((outputs - targets) ** 2)),
            f"{part} mean squared error of the training mean": base,
            f"{part} Pearson": float(stats.pearson(outputs, targets)),
            f"{part} Spearman": float(stats.spearman(outputs, targets)),
        }
    return results


def write_card(
    folder: Path, metric: str, scoring: str, fitted: Fitted, data: Mapping[str, object],
    results: Mapping[str, object], options: Mapping[str, object] | None = None,
) -> Card:  # fmt: skip
    """Write the training card beside the weights, as JSON and Markdown, and return it.

    ``metric`` is ``impara``, or ``some`` with its criterion; ``scoring`` spells the metric that
    scores with the model; ``data`` has files and counts; ``results`` are figures on held-out
    examples; ``options`` are those of the metric beside the settings. NaN becomes ``None``.
    """
    settings = fitted.settings
    encoder = core.expanded(settings.encoder)
    name = str(encoder.resolve()) if encoder.is_dir() else settings.encoder
    card = {
        **{"kind": "training-card", "grammeter": __version__},
        **{"metric": metric, "scoring": scoring},
        "encoder": {"name": name, "hash": find_model(settings.encoder).hash},
        "settings": {**asdict(settings), "encoder": name, "dtype": fitted.dtype, **(options or {})},
        "data": {**data, "truncated": fitted.truncated},
        **{"figure": fitted.figure, "epochs": fitted.epochs, "best_epoch": fitted.best},
        **{"results": results, "environment": fitted.environment},
        "weights": weights_hash(folder),
        "model": find_model(str(folder)).hash,
    }
    written: Card = json.loads(json.dumps(card), parse_constant=lambda _: None)
    write_text(folder / "README.md", card_page(written))
    write_object(written, folder / CARD_FILE)
    return written


def weights_hash(folder: Path) -> str:
    """Return the hash of all safetensors files of a folder, 16 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(folder.glob("*.safetensors")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def interval(values: FloatArray, groups: Sequence[str], *, seed: int) -> tuple[float, float]:
    """Return the 95 % interval of the mean of ``(examples,)``, bootstrapping groups; NaN: none."""
    if not len(values):
        return math.nan, math.nan
    numbers = {name: n for n, name in enumerate(dict.fromkeys(groups))}
    at = [numbers[name] for name in groups]
    rows = np.zeros((len(numbers), 2))
    np.add.at(rows, at, np.stack([values, np.ones_like(values)], axis=1))
    samples = stats.PairedSamples(rows[None], lambda sums: sums[..., 0] / sums[..., 1])
    (means,) = stats.bootstrap([samples], resamples=RESAMPLES, seed=seed)
    low, high = stats.percentile_interval(means[0], 0.95)
    return float(low), float(high)


def card_page(card: Card) -> str:
    """Return the card as Markdown: a line for each figure, a table for each group of figures."""
    epochs = {f"epoch {number}": row for number, row in enumerate(card["epochs"], start=1)}
    named = {name.replace("_", " "): of for name, of in {**card, "epochs": epochs}.items()}
    groups: dict[str, dict[str, Any]] = {n: of for n, of in named.items() if type(of) is dict}
    page = [f"# {card['metric']}, trained by grammeter {card['grammeter']}\n"]
    page += [f"- {name}: {_shown(of)}" for name, of in named.items() if name not in groups]
    for name, of in groups.items():
        rows = [(key.replace("_", " "), _shown(figure)) for key, figure in of.items()]
        page.append(f"\n## {name}\n\n{Table.of(('', ''), rows).write('markdown')}")
    return "\n".join(page)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return ", ".join(map(_shown, cast("Sequence[object]", value)))
    if isinstance(value, dict):
        items = cast("Mapping[str, object]", value).items()
        return ", ".join(f"{name} {_shown(item)}" for name, item in items)
    return "undefined" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class TypeImpact:
    """The impacts of the edits of one error type (Maeda et al. 2022, Table 6)."""

    type: str
    count: int
    mean: float
    median: float
    deviation: float  # standard deviation of the sample; NaN for a single edit


@dataclass(frozen=True, slots=True)
class EditImpact:
    """One edit and its impact (Maeda et al. 2022, Table 7)."""

    impact: float
    type: str
    original: str
    correction: str
    source: str
    origin: str


@dataclass(frozen=True, repr=False)
class Impacts(core.Result):
    """Impacts of each error type, by mean, and of each edit, the greatest first."""

    types: tuple[TypeImpact, ...]
    edits: tuple[EditImpact, ...]

    @classmethod
    def of(
        cls, sentences: Sequence[pairs.EditedSentence], *, merge: bool = False, least: int = 1
    ) -> Self:
        """Return the impacts of these sentences; the options are those of the verb."""
        edits: list[EditImpact] = []
        by_type: dict[str, list[float]] = {}
        for sentence in sentences:
            for edit, measured in zip(sentence.edits, sentence.impacts, strict=True):
                impact = max(measured, 0.0)  # rounding may push a cosine above 1
                kind = merged(edit.type) if merge else edit.type
                change = " ".join(sentence.words[edit.start : edit.end]), edit.correction
                edits.append(EditImpact(impact, kind, *change, sentence.source, sentence.origin))
                by_type.setdefault(kind, []).append(impact)
        types = [_of_type(kind, row) for kind, row in by_type.items() if len(row) >= least]
        return cls(
            tuple(sorted(types, key=lambda row: (-row.mean, row.type))),
            tuple(sorted(edits, key=lambda row: (-row.impact, row.origin, row.original))),
        )

    def tables(self, *, long: bool = False, show: int = 5) -> Sequence[Table]:
        """Return impacts by type, and ``show`` edits with the highest and the lowest impacts."""
        shares = Column.many("number", "mean impact", "median", "deviation", tsv=4)
        types = [(row.type, row.count, row.mean, row.median, row.deviation) for row in self.types]
        edits, show = self.edits, max(show, 0)
        best, worst = edits[:show], edits[len(edits) - show :]
        tables = [Table.of(("type", Column("edits", "count"), *shares), types)]
        for part in (best, worst):
            rows = [(e.impact, e.type, f"[{e.original} -> {e.correction}]", e.origin) for e in part]
            columns = Column("impact", "number", tsv=4), "type", "edit", "sentence"
            tables.append(Table.of(columns, rows))
        return [table for table in tables if table.rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        alone = {"deviation": None, "deviation_reason": "a single edit"}
        types = [{**asdict(row), **(alone if row.count == 1 else {})} for row in self.types]
        return core.stamped(
            {"kind": "impacts", "types": types, "edits": [*map(asdict, self.edits)]}
        )


def merged(kind: str) -> str:
    """Return ``NOUN`` of ``M:NOUN``, ``U:NOUN`` and ``R:NOUN``; other types as they are."""
    return kind[2:] if kind[:2] in ("M:", "U:", "R:") else kind


def _of_type(kind: str, impacts: Sequence[float]) -> TypeImpact:
    deviation = float(np.std(impacts, ddof=1)) if len(impacts) > 1 else math.nan
    mean, median = float(np.mean(impacts)), float(np.median(impacts))
    return TypeImpact(kind, len(impacts), mean, median, deviation)


@dataclass(frozen=True, slots=True)
class Cell:
    """Accuracies by seed on another corpus; ``apart``: pairs where no edit set holds the other."""

    trained: str
    tested: str
    accuracies: tuple[float, ...]
    apart: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean accuracy over the seeds."""
        return float(np.mean(self.accuracies))

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean over seeds, by Student's t; NaN for one seed."""
        return stats.t_interval(self.accuracies)

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        low, high = self.interval
        alone = {"interval_reason": "a single seed"} if len(self.accuracies) == 1 else {}
        why = "all test pairs of a seed are inclusion pairs"
        lacking = {"without_inclusion_reason": why} if any(map(math.isnan, self.apart)) else {}
        return core.plain({
            "trained": self.trained, "tested": self.tested, "accuracies": self.accuracies,
            "mean": self.mean, "low": low, "high": high, "without_inclusion": self.apart,
            **alone, **lacking,
        })  # fmt: skip


@dataclass(frozen=True, repr=False)
class CrossDomain(core.Result):
    """Accuracies for each corpus trained on and each tested on (Maeda et al. 2022, Table 4)."""

    seeds: tuple[int, ...]
    cells: tuple[Cell, ...]

    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return a row for each corpus trained on and each tested on."""
        rows: list[tuple[str | float, ...]] = []
        for cell in self.cells:
            columns = (" ".join(f"{v:.4f}" for v in of) for of in (cell.accuracies, cell.apart))
            spread = "{:.4f} to {:.4f}".format(*cell.interval)
            rows.append((cell.trained, cell.tested, cell.mean, spread, *columns))
        accuracy = Column("accuracy", "number", tsv=4)
        heads = ("95 % over seeds", "each seed", "no inclusion")
        return [Table.of(("trained on", "tested on", accuracy, *heads), rows)]

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        cells = [cell.to_dict() for cell in self.cells]
        return core.stamped({"kind": "cross-domain", "seeds": [*self.seeds], "cells": cells})


def cross_test(
    models: Mapping[tuple[str, int], Path], tests: Mapping[tuple[str, int], Sequence[pairs.Pair]]
) -> list[Cell]:
    """Test models on each corpus's held-out pairs; both by corpus and seed, paired by seed."""
    both = [(a, b, seed) for a, seed in models for b, other in tests if seed == other]
    requests: list[Request] = []
    for trained, tested, seed in both:
        texts = [text for pair in tests[tested, seed] for text in (pair.low, pair.high)]
        requests.append(Request(str(models[trained, seed]), Regression(), texts))
    cells: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for (trained, tested, seed), rows in zip(both, answer(requests), strict=True):
        low, high = rows[:, 0].reshape(-1, 2).T
        apart = np.array([not pair.inclusion for pair in tests[tested, seed]], dtype=np.bool_)
        accuracies = pairs.accuracy(low, high), pairs.accuracy(low[apart], high[apart])
        cells.setdefault((trained, tested), []).append(accuracies)
    return [Cell(*pair, *zip(*accuracies, strict=True)) for pair, accuracies in cells.items()]
