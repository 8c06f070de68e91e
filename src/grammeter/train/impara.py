"""IMPARA's quality estimator from parallel data alone (Maeda et al. 2022, section 2)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core.errors import UsageError
from grammeter.core.lazy import require
from grammeter.core.statistics import FloatArray
from grammeter.neural.files import find_model
from grammeter.train.card import Card, interval, make_card, read_card, write_card
from grammeter.train.checkpoint import clear
from grammeter.train.examples import PARTS, Example, Part
from grammeter.train.fit import Fitted, fit
from grammeter.train.folder import begin, digest, read_text, write_text
from grammeter.train.pairs import (
    Pair,
    PairData,
    Parallel,
    Tally,
    accuracy,
    draw_pairs,
    measure_impacts,
    pairs_text,
    read_pairs,
)
from grammeter.train.settings import Settings

PAIRS = "pairs.jsonl"
TALLY = "draws.json"

LossName = Literal["sigmoid", "logistic"]
"""Equation 4, the mean of ``sigmoid(q(low) - q(high))``; or ``log(1 + exp(...))`` of the same."""

LOSSES: tuple[LossName, ...] = get_args(LossName)


@dataclass(frozen=True)
class Preference:
    """The task: the better side of a pair gets the greater output.

    Attributes
    ----------
    pairs
        Of all parts.
    loss_name
        Which loss.
    """

    pairs: tuple[Pair, ...]
    loss_name: LossName = "sigmoid"
    first_bias: float = 0.0

    @property
    def examples(self) -> Mapping[Part, Sequence[Example]]:
        """Low and high side of each pair."""
        return {
            part: [Example((pair.low, pair.high)) for pair in self.pairs if pair.part == part]
            for part in PARTS
        }

    def loss(self, outputs: Any, targets: Any) -> Any:
        """Return the mean loss of a batch (equation 4, or the logistic one)."""
        del targets
        difference = outputs[:, 0] - outputs[:, 1]
        if self.loss_name == "sigmoid":
            return difference.sigmoid().mean()
        torch: Any = require("torch", extra="neural")
        return torch.nn.functional.softplus(difference).mean()

    def figure(self, outputs: FloatArray, targets: FloatArray) -> float:
        """Return the share of pairs whose better side has the greater output."""
        del targets
        return accuracy(outputs[:, 0], outputs[:, 1])


def train_impara(
    parallel: Callable[[], Sequence[Parallel]],
    folder: Path,
    settings: Settings,
    *,
    files: Sequence[Path] = (),
    size: int = 4096,
    loss: LossName = "sigmoid",
    parallel_only: bool = False,
    resume: bool = False,
) -> Card:
    """Draw pairs, fit a quality estimator to them, and write it with its training card.

    Parameters
    ----------
    parallel
        Returns sentences and their edits; not called where a resumed run has its pairs already.
    folder
        Where the model goes: weights, tokenizer, ``pairs.jsonl``, ``card.json``, ``README.md``.
    settings
        How to fit; its seed draws the pairs, too.
    files
        Where the sentences come from: a resumed run needs the same.
    size
        Pairs at most.
    loss
        Which loss.
    parallel_only
        The ablation: pairs of source and correction only.
    resume
        Go on where an interrupted run stopped; a finished one is returned as it is.

    Returns
    -------
    dict
        The training card.

    Raises
    ------
    UsageError
        If the folder holds another run, or holds something and ``resume`` is not set.
    DataError
        If there are too few sentences with edits.
    MissingResourceError
        If torch, the encoder or the device is not here.
    """
    if loss not in LOSSES:
        raise UsageError(f"loss={loss}", fix=f"Use {' or '.join(LOSSES)}.")
    encoder = find_model(settings.encoder)
    options = {"pairs": size, "loss": loss, "parallel_only": parallel_only}
    identity = f"{digest(files)} {encoder.hash} {options}"
    if begin(folder, "impara", resume=resume) and (card := read_card(folder)):
        return card
    data = _pairs(folder, parallel, settings, identity, size, parallel_only)
    task = Preference(data.pairs, loss)
    fitted = fit(task, settings, folder, identity=identity, resume=resume)
    card = make_card(
        "impara",
        data={
            "files": [str(path) for path in files],
            **asdict(data.tally),
            "pairs": {part: len(data.part(part)) for part in PARTS},
            "pairs_hash": hashlib.blake2b(
                pairs_text(data.pairs).encode("utf-8"), digest_size=8
            ).hexdigest(),
        },
        settings=settings,
        options=options,
        encoder_hash=encoder.hash,
        fitted=fitted,
        figure="accuracy",
        results=_results(data, fitted, settings.seed),
    )
    write_card(card, folder)
    clear(folder)
    return card


def pairs_of(folder: Path) -> list[Pair]:
    """Return the pairs that a model was trained, validated and tested with."""
    path = folder / PAIRS
    return read_pairs(path.read_text("utf-8"), str(path))


def _pairs(
    folder: Path,
    parallel: Callable[[], Sequence[Parallel]],
    settings: Settings,
    identity: str,
    size: int,
    parallel_only: bool,
) -> PairData:
    """Read the pairs of an interrupted run, or draw and write them."""
    known = read_text(folder / TALLY)
    if known is not None and known.get("identity") == identity:
        return PairData(tuple(pairs_of(folder)), Tally(**known["tally"]))
    sentences = parallel()
    measured = measure_impacts(sentences, settings.encoder)
    data = draw_pairs(measured, size=size, seed=settings.seed, parallel_only=parallel_only)
    data.tally.sentences = len(sentences)
    write_text(folder / PAIRS, pairs_text(data.pairs))
    write_text(folder / TALLY, {"identity": identity, "tally": asdict(data.tally)})
    return data


def _results(data: PairData, fitted: Fitted, seed: int) -> dict[str, object]:
    """Return the accuracy on validation and test pairs, and on those without inclusion."""
    found: dict[str, object] = {}
    for part in ("validation", "test"):
        pairs = data.part(part)
        outputs = fitted.outputs[part]
        right = (outputs[:, 1] > outputs[:, 0]).astype(np.float64)
        sources = [pair.source for pair in pairs]
        apart = np.array([not pair.inclusion for pair in pairs], dtype=np.bool_)
        others = [source for source, is_apart in zip(sources, apart, strict=True) if is_apart]
        found[f"{part} accuracy"] = float(right.mean())
        found[f"{part} accuracy interval"] = list(interval(right, sources, seed=seed))
        found[f"{part} pairs without inclusion"] = int(apart.sum())
        without = right[apart]
        found[f"{part} accuracy without inclusion"] = (
            float(without.mean()) if len(without) else float("nan")
        )
        found[f"{part} interval without inclusion"] = list(interval(without, others, seed=seed))
        more = [len(pair.high_edits) > len(pair.low_edits) for pair in pairs]
        found[f"{part} pairs whose better side has more edits"] = sum(more)
    return found
