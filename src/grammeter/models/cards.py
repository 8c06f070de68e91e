"""Training cards: how our training made a model, in a file beside the model's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from grammeter.core import MissingResourceError

FILE = "card.json"
CARD_KIND = "training-card"

Card = dict[str, Any]


def read_card(folder: Path) -> Card | None:
    """Return the training card of a model's folder; ``None`` if it has none.

    Raises
    ------
    MissingResourceError
        If the card cannot be read.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        card: Any = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise MissingResourceError(
            f"the training card cannot be read: {error}",
            where=str(path),
            fix="Copy the model again, or train anew.",
        ) from error
    return card if isinstance(card, dict) and card.get("kind") == CARD_KIND else None  # pyright: ignore
