"""Results of training: cards of models, impacts by error type and edit, accuracy across corpora."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self, cast

import numpy as np

from grammeter.core import Column, FloatArray, Result, Table, expanded, plain, stamped
from grammeter.formats import write_object, write_text
from grammeter.models import CARD_FILE, Card, Regression, Request, answer, find_model
from grammeter.stats import PairedSamples, bootstrap, percentile_interval, t_interval
from grammeter.training.fit import Fitted
from grammeter.training.pairs import EditedSentence, Pair, accuracy
from grammeter.version import __version__

RESAMPLES = 1000


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
    encoder = expanded(settings.encoder)
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
    plain: Card = json.loads(json.dumps(card), parse_constant=lambda _: None)
    write_text(folder / "README.md", card_page(plain))
    write_object(plain, folder / CARD_FILE)
    return plain


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
    samples = PairedSamples(rows[None], lambda sums: sums[..., 0] / sums[..., 1])
    (means,) = bootstrap([samples], resamples=RESAMPLES, seed=seed)
    low, high = percentile_interval(means[0], 0.95)
    return float(low), float(high)


def card_page(card: Card) -> str:
    """Return the card as Markdown."""
    best = {card["best_epoch"]: " *"}
    heads = "loss", f"{card['figure']} (validation)", Column("seconds", "number", digits=0)
    epochs = [
        (f"{row['number']}{best.get(row['number'], '')}", f"{row['loss']:.4f}",
         f"{row['figure']:.4f}", row["seconds"])
        for row in card["epochs"]
    ]  # fmt: skip
    titles = {"Data": "data", "Settings": "settings", "Results on held-out examples": "results",
              "Environment": "environment"}  # fmt: skip
    sections = {
        title: Table.of(
            ("", ""), [(name.replace("_", " "), _shown(of)) for name, of in card[key].items()]
        )
        for title, key in titles.items()
    }
    sections["Epochs (* kept)" if epochs else "Epochs: none, the head is untrained"] = Table.of(
        ("epoch", *heads), epochs
    )
    tables = (f"## {title}\n\n{of.write('markdown')}" for title, of in sections.items())
    lines = [
        f"# {card['metric']}, trained by grammeter {card['grammeter']}\n",
        f"Encoder: {card['encoder']['name']} ({card['encoder']['hash']}).",
        f"Weights: {card['weights']} (blake2b, 8 bytes); model, as in signatures: {card['model']}.",
        f"Scores with: {card['scoring']}.\n",
    ]
    return "\n".join([*lines, *tables])


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
class Impacts(Result):
    """Impacts of each error type, by mean, and of each edit, the greatest first."""

    types: tuple[TypeImpact, ...]
    edits: tuple[EditImpact, ...]

    @classmethod
    def of(
        cls, sentences: Sequence[EditedSentence], *, merge: bool = False, least: int = 1
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
        return stamped({"kind": "impacts", "types": types, "edits": [*map(asdict, self.edits)]})


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
        return t_interval(self.accuracies)

    def to_dict(self) -> dict[str, Any]:
        """Return the public shape."""
        low, high = self.interval
        alone = {"interval_reason": "a single seed"} if len(self.accuracies) == 1 else {}
        why = "all test pairs of a seed are inclusion pairs"
        lacking = {"without_inclusion_reason": why} if any(map(math.isnan, self.apart)) else {}
        return plain({
            "trained": self.trained, "tested": self.tested, "accuracies": self.accuracies,
            "mean": self.mean, "low": low, "high": high, "without_inclusion": self.apart,
            **alone, **lacking,
        })  # fmt: skip


@dataclass(frozen=True, repr=False)
class CrossDomain(Result):
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
        return stamped({"kind": "cross-domain", "seeds": [*self.seeds], "cells": cells})


def cross_test(
    models: Mapping[tuple[str, int], Path], tests: Mapping[tuple[str, int], Sequence[Pair]]
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
        accuracies = accuracy(low, high), accuracy(low[apart], high[apart])
        cells.setdefault((trained, tested), []).append(accuracies)
    return [Cell(*pair, *zip(*accuracies, strict=True)) for pair, accuracies in cells.items()]
