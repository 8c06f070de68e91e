"""Training cards: what a model was fitted to, how, and how well; JSON and a page to read."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np

from grammeter.core.errors import DataError
from grammeter.core.score import json_number
from grammeter.core.statistics import FloatArray
from grammeter.train.fit import Fitted
from grammeter.train.settings import Settings
from grammeter.version import __version__

FILE = "card.json"
PAGE = "README.md"

RESAMPLES = 1000

Card = dict[str, Any]


def make_card(
    metric: str,
    *,
    data: Mapping[str, object],
    settings: Settings,
    encoder_hash: str,
    fitted: Fitted,
    figure: str,
    results: Mapping[str, object],
    options: Mapping[str, object],
) -> Card:
    """Gather everything that a reader of the model's scores may ask.

    Parameters
    ----------
    metric
        ``impara``, or ``some`` with its criterion.
    data
        Files and counts.
    settings, options
        How the model was fitted, and what the metric's training adds to that.
    encoder_hash
        Of the encoder it started from.
    fitted
        Epochs and environment.
    figure
        What the figure of an epoch is.
    results
        On held-out examples.
    """
    return {
        "kind": "training-card",
        "grammeter": __version__,
        "metric": metric,
        "encoder": {"name": settings.encoder, "hash": encoder_hash},
        "settings": {**asdict(settings), "precision": fitted.precision, **options},
        "data": dict(data),
        "figure": figure,
        "epochs": [asdict(epoch) for epoch in fitted.epochs],
        "best_epoch": fitted.best,
        "results": dict(results),
        "environment": fitted.environment,
    }


def write_card(card: Card, folder: Path) -> None:
    """Write the card beside the weights, as JSON and as a page; the weights' hash is added."""
    card["weights"] = weights_hash(folder)
    (folder / PAGE).write_text(card_page(card), "utf-8")
    text = json.dumps(_plain(card), ensure_ascii=False, indent=2) + "\n"
    (folder / FILE).write_text(text, "utf-8")


def read_card(folder: Path) -> Card | None:
    """Return a folder's card; ``None`` if it has none, as before its training ends.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        return cast("Card", json.loads(path.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise DataError(f"no training card: {error}", where=str(path), fix="Train anew.") from error


def weights_hash(folder: Path) -> str:
    """Return all safetensors of a folder in 16 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(folder.glob("*.safetensors")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def interval(values: FloatArray, groups: Sequence[str], *, seed: int) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a mean, whole groups drawn.

    Parameters
    ----------
    values
        Shape ``(examples,)``.
    groups
        The source sentence of each: examples of one sentence are not independent.
    """
    if not len(values):
        return math.nan, math.nan
    numbers = {name: n for n, name in enumerate(dict.fromkeys(groups))}
    at = np.array([numbers[name] for name in groups])
    sums = np.bincount(at, weights=values)
    counts = np.bincount(at).astype(np.float64)
    drawn = np.random.default_rng(seed).integers(len(sums), size=(RESAMPLES, len(sums)))
    means = sums[drawn].sum(1) / counts[drawn].sum(1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def card_page(card: Card) -> str:
    """Return the card as Markdown."""
    lines = [
        f"# {card['metric']}, trained by grammeter {card['grammeter']}",
        "",
        f"Encoder: {card['encoder']['name']} ({card['encoder']['hash']}).",
        f"Weights: {card['weights']} (blake2b, 8 bytes).",
        "",
        *_table("Data", card["data"]),
        *_table("Settings", card["settings"]),
        "## Epochs",
        "",
        f"| epoch | loss | {card['figure']} (validation) | seconds |",
        "|---|---|---|---|",
    ]
    for epoch in card["epochs"]:
        best = " *" if epoch["number"] == card["best_epoch"] else ""
        figures = f"{epoch['loss']:.4f} | {epoch['figure']:.4f} | {epoch['seconds']:.0f}"
        lines.append(f"| {epoch['number']}{best} | {figures} |")
    lines += ["", "\\* kept", "", *_table("Results on held-out examples", card["results"])]
    lines += _table("Environment", card["environment"])
    return "\n".join(lines)


def _table(title: str, rows: Mapping[str, object]) -> list[str]:
    lines = [f"## {title}", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {_shown(value)} |" for name, value in rows.items()]
    return [*lines, ""]


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(_shown(each) for each in cast("Sequence[object]", value))
    if isinstance(value, dict):
        items = cast("Mapping[str, object]", value).items()
        return ", ".join(f"{name} {_shown(each)}" for name, each in items)
    return str(value).replace("|", "\\|")


def _plain(value: object) -> object:
    """Replace NaN by null."""
    if isinstance(value, float):
        return json_number(value)
    if isinstance(value, dict):
        items = cast("Mapping[str, object]", value).items()
        return {name: _plain(each) for name, each in items}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in cast("Sequence[object]", value)]
    return value
