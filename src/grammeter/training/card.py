"""Training cards: data, settings and results of a fitted model, as JSON and Markdown."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import cast

import numpy as np

from grammeter.core import FloatArray, expanded, json_number
from grammeter.models import CARD_KIND, FILE, Card, ModelFiles, find_model
from grammeter.stats import PairedSamples, bootstrap, percentile_interval
from grammeter.training.fit import Fitted
from grammeter.training.folder import write_text, writing
from grammeter.training.settings import Settings
from grammeter.version import __version__

PAGE = "README.md"

RESAMPLES = 1000


def make_card(
    metric: str,
    *,
    data: Mapping[str, object],
    settings: Settings,
    encoder: ModelFiles,
    fitted: Fitted,
    figure: str,
    results: Mapping[str, object],
    options: Mapping[str, object],
    scoring: str,
) -> Card:
    """Return the training card of a fitted model.

    Parameters
    ----------
    metric
        ``impara``, or ``some`` with its criterion.
    data
        Files and counts.
    settings, options
        How the model was fitted, and what the metric's training adds to that.
    encoder
        The encoder that was fitted; a folder is written with its absolute path.
    fitted
        Epochs and environment.
    figure
        Name of the figure by which epochs are compared.
    results
        Figures on held-out examples.
    scoring
        Spelling of the metric that scores with the model.

    Returns
    -------
    dict
        Texts, numbers, lists and dicts; NaN is ``None``.
    """
    folder = expanded(settings.encoder)
    name = str(folder.resolve()) if folder.is_dir() else settings.encoder
    card = {
        "kind": CARD_KIND,
        "grammeter": __version__,
        "metric": metric,
        "scoring": scoring,
        "encoder": {"name": name, "hash": encoder.hash},
        "settings": {**asdict(settings), "encoder": name, "dtype": fitted.dtype, **options},
        "data": {**data, "truncated": fitted.truncated},
        "figure": figure,
        "epochs": [asdict(epoch) for epoch in fitted.epochs],
        "best_epoch": fitted.best,
        "results": results,
        "environment": fitted.environment,
    }
    return cast("Card", _plain(card))


def write_card(card: Card, folder: Path) -> None:
    """Write the card beside the weights, as JSON and Markdown, with the hashes of the weights.

    Raises
    ------
    DataError
        If it cannot be written.
    """
    card["weights"] = weights_hash(folder)
    card["model"] = find_model(str(folder)).hash
    with writing(folder):
        write_text(folder / PAGE, card_page(card))
        write_text(folder / FILE, card)


def weights_hash(folder: Path) -> str:
    """Return the hash of all safetensors files of a folder, 16 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(folder.glob("*.safetensors")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def interval(values: FloatArray, groups: Sequence[str], *, seed: int) -> tuple[float, float]:
    """Return the 95 % interval of a mean, by a bootstrap that draws whole groups.

    Parameters
    ----------
    values
        Shape ``(examples,)``.
    groups
        The source sentence of each: examples of one sentence are not independent.

    Returns
    -------
    tuple of float
        Low and high end; NaN without values.
    """
    if not len(values):
        return math.nan, math.nan
    numbers = {name: n for n, name in enumerate(dict.fromkeys(groups))}
    at = np.array([numbers[name] for name in groups])
    rows = np.zeros((len(numbers), 2))
    np.add.at(rows, at, np.stack([values, np.ones_like(values)], axis=1))
    samples = PairedSamples(rows[None], lambda sums: sums[..., 0] / sums[..., 1])
    (means,) = bootstrap([samples], resamples=RESAMPLES, seed=seed)
    low, high = percentile_interval(means[0], 0.95)
    return float(low), float(high)


def card_page(card: Card) -> str:
    """Return the card as Markdown."""
    lines = [
        f"# {card['metric']}, trained by grammeter {card['grammeter']}",
        "",
        f"Encoder: {card['encoder']['name']} ({card['encoder']['hash']}).",
        f"Weights: {card['weights']} (blake2b, 8 bytes); model, as signatures have it:"
        f" {card['model']}.",
        f"Scores with: {card['scoring']}.",
        "",
        *_table("Data", card["data"]),
        *_table("Settings", card["settings"]),
        *_epochs(card),
        *_table("Results on held-out examples", card["results"]),
        *_table("Environment", card["environment"]),
    ]
    return "\n".join(lines)


def _epochs(card: Card) -> list[str]:
    if not card["epochs"]:
        return ["## Epochs", "", "None: the head is untrained.", ""]
    lines = [
        "## Epochs",
        "",
        f"| epoch | loss | {card['figure']} (validation) | seconds |",
        "|---|---|---|---|",
    ]
    for epoch in card["epochs"]:
        best = " \\*" if epoch["number"] == card["best_epoch"] else ""
        figures = f"{epoch['loss']:.4f} | {epoch['figure']:.4f} | {epoch['seconds']:.0f}"
        lines.append(f"| {epoch['number']}{best} | {figures} |")
    return [*lines, "", "\\* kept", ""]


def _table(title: str, rows: Mapping[str, object]) -> list[str]:
    lines = [f"## {title}", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {_shown(value)} |" for name, value in rows.items()]
    return [*lines, ""]


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return ", ".join(_shown(item) for item in cast("Sequence[object]", value))
    if isinstance(value, dict):
        items = cast("Mapping[str, object]", value).items()
        return ", ".join(f"{name} {_shown(item)}" for name, item in items)
    return "undefined" if value is None else str(value).replace("|", "\\|")


def _plain(value: object) -> object:
    """Replace NaN by null."""
    if isinstance(value, float):
        return json_number(value)
    if isinstance(value, dict):
        items = cast("Mapping[str, object]", value).items()
        return {name: _plain(item) for name, item in items}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[object]", value)]
    return value
