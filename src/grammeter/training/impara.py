"""IMPARA's quality estimator from parallel data alone (Maeda et al. 2022, section 2)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core import DataError, FloatArray, UsageError, require
from grammeter.models import Card, find_model, read_card
from grammeter.training.card import interval, make_card, write_card
from grammeter.training.fit import Fitted, fit, tell
from grammeter.training.folder import begun, clear, digest, read_object, write_text, writing
from grammeter.training.impacts import Measured
from grammeter.training.pairs import (
    Pair,
    PairData,
    Tally,
    accuracy,
    draw_pairs,
    pairs_text,
    read_pairs,
)
from grammeter.training.settings import PARTS, Example, Part, Settings

PAIRS = "pairs.jsonl"
DRAWS = "draws.json"

LossName = Literal["sigmoid", "logistic"]
"""Equation 4, the mean of ``sigmoid(q(low) - q(high))``; or ``log(1 + exp(...))`` of the same."""

LOSSES: tuple[LossName, ...] = get_args(LossName)


@dataclass(frozen=True)
class Preference:
    """The task: the better side of a pair gets the greater output."""

    pairs: tuple[Pair, ...]
    loss_name: LossName = "sigmoid"

    figure_name = "accuracy"
    first_bias = 0.0
    """The loss knows differences only."""

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


def fit_impara(
    measure: Callable[[], Measured],
    folder: Path,
    settings: Settings,
    *,
    files: Sequence[Path] = (),
    reading: Mapping[str, object] | None = None,
    size: int = 4096,
    loss: LossName = "sigmoid",
    parallel_only: bool = False,
    resume: bool = False,
) -> Card:
    """Draw pairs, fit a quality estimator to them, and write it with its training card.

    The options and errors are those of :func:`grammeter.verbs.train_impara`; the seed of
    ``settings`` also draws the pairs.

    Parameters
    ----------
    measure
        Returns sentences and the impacts of their edits; not called if a resumed run already has
        its pairs.
    folder
        Folder of the model: weights, tokenizer, ``pairs.jsonl``, ``card.json``, ``README.md``.
    files, reading
        Origin of the sentences; a run can be resumed only with the same.
    size
        Largest number of pairs.

    Returns
    -------
    dict
        The training card.
    """
    if loss not in LOSSES:
        raise UsageError(f"loss={loss}", fix=f"Use {' or '.join(LOSSES)}.")
    encoder = find_model(settings.encoder)
    options = {"pairs": size, "loss": loss, "parallel_only": parallel_only}
    run = {
        **settings.identity(encoder.hash),
        **options,
        **(reading or {}),
        "files": digest(files),
    }
    with begun(folder, "impara", run, resume=resume):
        if (card := read_card(folder)) is None:
            data = _pairs(folder, measure, size, settings.seed, parallel_only)
            task = Preference(data.pairs, loss)
            sizes = ", ".join(f"{len(data.part(part))} for {part}" for part in PARTS)
            tell(f"pairs: {sizes}; of {data.tally.with_edits} corrections with edits")
            fitted = fit(task, settings, folder, resume=resume)
            card = make_card(
                "impara",
                data=_described(data, files),
                settings=settings,
                encoder=encoder,
                fitted=fitted,
                figure=task.figure_name,
                results=_results(data, fitted, settings.seed),
                options=options,
                scoring="impara(model=FOLDER)",
            )
            write_card(card, folder)
        clear(folder)
    return card


def pairs_of(folder: Path) -> list[Pair]:
    """Return the pairs that a model was trained, validated and tested with.

    Raises
    ------
    DataError
        If they are missing or damaged.
    """
    path = folder / PAIRS
    try:
        text = path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise DataError(
            f"the pairs cannot be read: {error}",
            where=str(path),
            fix="Remove the folder and train anew.",
        ) from error
    return read_pairs(text, str(path))


def _pairs(
    folder: Path, measure: Callable[[], Measured], size: int, seed: int, parallel_only: bool
) -> PairData:
    """Read the pairs of an interrupted run, or draw and write them."""
    known = read_object(folder / DRAWS)
    if known is not None:
        try:
            return PairData(tuple(pairs_of(folder)), Tally(**known["tally"]), known["edits"])
        except (KeyError, TypeError) as error:
            raise DataError(
                f"no record of draws: {error}",
                where=str(folder / DRAWS),
                fix="Remove the folder and train anew.",
            ) from error
    measured = measure()
    data = draw_pairs(measured.sentences, size=size, seed=seed, parallel_only=parallel_only)
    data.tally.sentences, data.tally.left_out = measured.total, measured.left_out
    with writing(folder):
        write_text(folder / PAIRS, pairs_text(data.pairs))
        write_text(folder / DRAWS, {"tally": asdict(data.tally), "edits": measured.edits})
    return replace(data, edits=measured.edits)


def _described(data: PairData, files: Sequence[Path]) -> dict[str, object]:
    """Return the data section of the card."""
    text = pairs_text(data.pairs).encode("utf-8")
    return {
        "files": [str(path) for path in files],
        "edits_from": data.edits,
        **asdict(data.tally),
        "pairs": {part: len(data.part(part)) for part in PARTS},
        "pairs_hash": hashlib.blake2b(text, digest_size=8).hexdigest(),
    }


def _results(data: PairData, fitted: Fitted, seed: int) -> dict[str, object]:
    """Return the accuracy on validation and test pairs, and on those without inclusion."""
    results: dict[str, object] = {}
    for part in ("validation", "test"):
        pairs = data.part(part)
        outputs = fitted.outputs[part]
        right = (outputs[:, 1] > outputs[:, 0]).astype(np.float64)
        sources = [pair.source for pair in pairs]
        apart = np.array([not pair.inclusion for pair in pairs], dtype=np.bool_)
        others = [source for source, is_apart in zip(sources, apart, strict=True) if is_apart]
        results[f"{part} accuracy"] = float(right.mean())
        results[f"{part} accuracy interval"] = list(interval(right, sources, seed=seed))
        results[f"{part} pairs without inclusion"] = int(apart.sum())
        without = right[apart]
        results[f"{part} accuracy without inclusion"] = (
            float(without.mean()) if len(without) else float("nan")
        )
        results[f"{part} interval without inclusion"] = list(interval(without, others, seed=seed))
        more = [len(pair.high_edits) > len(pair.low_edits) for pair in pairs]
        results[f"{part} pairs whose better side has more edits"] = sum(more)
    return results
