"""Training cards: what our training says of a model, beside the model's files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from grammeter.core import MissingResourceError

FILE = "card.json"
CARD_KIND = "training-card"

Card = dict[str, Any]


def read_card(folder: Path) -> Card | None:
    """Return the training card of a model's folder; ``None`` if it has none.

    Raises
    ------
    MissingResourceError
        If it cannot be read.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        card: object = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise MissingResourceError(
            f"the training card cannot be read: {error}",
            where=str(path),
            fix="Copy the model again, or train anew.",
        ) from error
    found = cast("Card", card) if isinstance(card, dict) else {}
    return found if found.get("kind") == CARD_KIND else None
