"""Models that a paper trained: the user's folders, or trained here where that is asked for.

What is trained stays in the user's cache folder, by the encoder's hash: an interrupted training
goes on where it stopped, and a finished one is taken as it is.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from grammeter import core, formats, models, training, verbs
from grammeter.papers.materials import ChosenModel, Materials

BERT = "bert-base-cased"
CONLL13 = "official_2013-preprocessed.m2"

COMMANDS: Mapping[str, str] = {
    "impara": f"impara --parallel {CONLL13}",
    "impara-parallel-only": f"impara --parallel-only --parallel {CONLL13}",
    "some": "some --scores tmu-gfm-dataset.csv",
}
"""Commands that train them, by the name that the user gives the folder."""


def trained(materials: Materials, name: str) -> ChosenModel:
    """Return the user's folder of a trained model, or train it if models and long work are wanted.

    Raises :class:`MissingResourceError` if there is none, and no encoder or folder for it.
    """
    if path := (materials.settings.models or {}).get(name):
        return ChosenModel(str(path), _stands_in(materials, path))
    if not will_train(materials):
        fix = f"grammeter train {COMMANDS[name]} --encoder {BERT} -o FOLDER, then --models"
        fix += f" {name}=FOLDER; or --models --long, which trains it"
        raise core.MissingResourceError(f"needs {name}, trained from {BERT}", fix=fix)
    encoder, folder = _place(materials, name)
    if name == "some":
        train = partial(verbs.train_some, formats.dataset_path("tmu_gfm", "tmu-gfm-dataset.csv"))
    else:
        data = [formats.dataset_path("conll13_test", CONLL13)]
        train = partial(verbs.train_impara, data, parallel_only=name != "impara")
    train(folder, encoder=encoder.spelling, resume=True)
    return ChosenModel(str(folder), encoder.stands_in)


def will_train(materials: Materials) -> bool:
    """Whether models that nobody trained are trained here."""
    return materials.settings.models is not None and materials.settings.long


def trained_on(materials: Materials, corpus: str, blocks: Sequence[formats.M2Block]) -> ChosenModel:
    """Train IMPARA on sentences with their edits; ``corpus`` names its folder."""
    encoder, folder = _place(materials, f"impara-{corpus}")
    data = folder.with_suffix(".m2")
    formats.write_text(data, formats.format_m2(blocks))
    verbs.train_impara([data], folder, encoder=encoder.spelling, resume=True)
    return ChosenModel(str(folder), encoder.stands_in)


def _place(materials: Materials, name: str) -> tuple[ChosenModel, Path]:
    """Return the encoder to train from, and the folder of the trained model."""
    encoder = materials.model(BERT)
    base = models.current().cache_dir or core.cache_folder()
    if base is None:
        fix = "Name a folder for it: --cache-dir."
        raise core.MissingResourceError("a trained model has no place without a cache", fix=fix)
    folder = Path(base) / "reproduce" / models.find_model(encoder.spelling).hash / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    training.tell(f"{name}, trained from {encoder.spelling}: {folder}")
    return encoder, folder


def _stands_in(materials: Materials, folder: Path) -> str | None:
    """Return the paper's encoder if the training card names another one."""
    card = models.read_card(folder) or models.read_card(folder / "grammaticality")
    encoder = Path(card["encoder"]["name"]) if card else None
    named = (materials.settings.models or {}).get(BERT)
    same = encoder is None or encoder.name == BERT or (named and encoder == named.resolve())
    return None if same else BERT
