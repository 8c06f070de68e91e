"""Models that a paper trained: the user's folders, or trained here where that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from grammeter.core import MissingResourceError
from grammeter.models import read_card
from grammeter.papers.materials import ChosenModel, Materials

BERT = "bert-base-cased"

COMMANDS: Mapping[str, str] = {
    "impara": "grammeter train impara --parallel official_2013-preprocessed.m2",
    "impara-parallel-only": "grammeter train impara --parallel-only"
    " --parallel official_2013-preprocessed.m2",
    "some": "grammeter train some --scores tmu-gfm-dataset.csv",
}


def trained(materials: Materials, name: str) -> ChosenModel:
    """Return the user's folder of a trained model.

    Raises :class:`MissingResourceError` if there is none.
    """
    if path := (materials.settings.models or {}).get(name):
        return ChosenModel(str(path), _stands_in(materials, path))
    raise MissingResourceError(
        f"needs {name}, trained from {BERT}",
        fix=f"{COMMANDS[name]} --encoder {BERT} -o FOLDER, then --models {name}=FOLDER",
    )


def _stands_in(materials: Materials, folder: Path) -> str | None:
    """Return the paper's encoder if the training card names another one."""
    card = read_card(folder) or read_card(folder / "grammaticality")
    encoder = Path(card["encoder"]["name"]) if card else None
    named = (materials.settings.models or {}).get(BERT)
    same = encoder is None or encoder.name == BERT or (named and encoder == named.resolve())
    return None if same else BERT
