"""What is fitted: IMPARA's quality estimator from parallel data, SOME's from human scores.

Maeda et al. (2022), section 2; Yoshimura et al. (2020), whose split, epochs and learning rate were
not published with the code: the defaults are ours, and the training cards name them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core import DataError, FloatArray, UsageError, require
from grammeter.formats import read_object, write_text
from grammeter.models import Card, ModelInput, find_model, read_card
from grammeter.stats import pearson, spearman
from grammeter.training.fit import HELD_OUT, Fitted, fit, tell
from grammeter.training.folder import Checkpoint, begun, digest, write_json
from grammeter.training.network import PARTS, Example, Part, Settings, assign_parts
from grammeter.training.pairs import (
    Measured,
    Pair,
    PairData,
    Tally,
    accuracy,
    damaged,
    draw_pairs,
    pairs_text,
    read_pairs,
)
from grammeter.training.results import interval, write_card

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
    first_bias = 0.0  # the loss knows differences only

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
    ``settings`` also draws the pairs. ``measure``: returns sentences and the impacts of their
    edits; not called if there are pairs to resume. ``folder``: folder of the model: weights,
    tokenizer, ``pairs.jsonl``, ``card.json``, ``README.md``. ``files``, ``reading``: origin of the
    sentences; a run can be resumed only with the same. ``size``: largest number of pairs.
    """
    if loss not in LOSSES:
        raise UsageError(f"loss={loss}", fix=f"Use {' or '.join(LOSSES)}.")
    options = {"pairs": size, "loss": loss, "parallel_only": parallel_only}
    run = {**_identity(settings, files), **options, **(reading or {})}
    with begun(folder, "impara", run, resume=resume):
        if (card := read_card(folder)) is None:
            data = _pairs(folder, measure, size, settings.seed, parallel_only)
            sizes = ", ".join(f"{len(data.part(part))} for {part}" for part in PARTS)
            tell(f"pairs: {sizes}; of {data.tally.with_edits} corrections with edits")
            fitted = fit(Preference(data.pairs, loss), settings, folder, resume=resume)
            figures, data = _accuracies(data, fitted, settings.seed), _described(data, files)
            scoring = "impara(model=FOLDER)"
            card = write_card(folder, "impara", scoring, fitted, data, figures, options)
        Checkpoint(folder).clear()
    return card


def _identity(settings: Settings, files: Sequence[Path]) -> dict[str, object]:
    """Return everything that a run depends on; the encoder is named by its hash."""
    encoder = find_model(settings.encoder).hash
    return {**asdict(settings), "encoder": encoder, "files": digest(files)}


def pairs_of(folder: Path) -> list[Pair]:
    """Return the pairs that a model was trained, validated and tested with."""
    path = folder / PAIRS
    try:
        text = path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise damaged(f"the pairs cannot be read: {error}", str(path)) from error
    return read_pairs(text, str(path))


def _pairs(
    folder: Path, measure: Callable[[], Measured], size: int, seed: int, parallel_only: bool
) -> PairData:
    if (folder / DRAWS).exists():
        known = read_object(folder / DRAWS)
        try:
            return PairData(tuple(pairs_of(folder)), Tally(**known["tally"]), known["edits"])
        except (KeyError, TypeError) as error:
            raise damaged(f"no record of draws: {error}", str(folder / DRAWS)) from error
    measured = measure()
    data = draw_pairs(measured.sentences, size=size, seed=seed, parallel_only=parallel_only)
    data.tally.sentences, data.tally.left_out = measured.total, measured.left_out
    write_text(folder / PAIRS, pairs_text(data.pairs))
    write_json(folder / DRAWS, {"tally": asdict(data.tally), "edits": measured.edits})
    return replace(data, edits=measured.edits)


def _described(data: PairData, files: Sequence[Path]) -> dict[str, object]:
    text = pairs_text(data.pairs).encode("utf-8")
    return {
        "files": [str(path) for path in files],
        "edits_from": data.edits,
        **asdict(data.tally),
        "pairs": {part: len(data.part(part)) for part in PARTS},
        "pairs_hash": hashlib.blake2b(text, digest_size=8).hexdigest(),
    }


def _accuracies(data: PairData, fitted: Fitted, seed: int) -> dict[str, object]:
    """Return the accuracy on validation and test pairs, and on those without inclusion."""
    results: dict[str, object] = {}
    for part in HELD_OUT:
        pairs = data.part(part)
        outputs = fitted.outputs[part]
        right = (outputs[:, 1] > outputs[:, 0]).astype(np.float64)
        sources = np.array([pair.source for pair in pairs])
        apart = np.array([not pair.inclusion for pair in pairs], dtype=np.bool_)
        more = [len(pair.high_edits) > len(pair.low_edits) for pair in pairs]
        without = right[apart]
        results |= {
            f"{part} accuracy": float(right.mean()),
            f"{part} accuracy interval": list(interval(right, sources.tolist(), seed=seed)),
            f"{part} pairs without inclusion": int(apart.sum()),
            f"{part} accuracy without inclusion": float(without.mean()) if len(without) else np.nan,
            f"{part} interval without inclusion": list(
                interval(without, sources[apart].tolist(), seed=seed)
            ),
            f"{part} pairs whose better side has more edits": sum(more),
        }
    return results


Criterion = Literal["grammaticality", "fluency", "meaning"]

CRITERIA: tuple[Criterion, ...] = get_args(Criterion)


@dataclass(frozen=True, slots=True)
class Rated:
    """An output with its human scores, means over judges, 1 to 4 in TMU-GFM."""

    source: str
    output: str
    scores: Mapping[Criterion, float]  # a criterion may be absent


@dataclass(frozen=True)
class HumanScore:
    """The task: the output is the mean human score; squared error."""

    examples: Mapping[Part, Sequence[Example]]
    first_bias: float  # mean score of the training part

    figure_name = "negative mean squared error"

    def loss(self, outputs: Any, targets: Any) -> Any:
        """Return the mean squared error of a batch."""
        return ((outputs[:, 0] - targets) ** 2).mean()

    def figure(self, outputs: FloatArray, targets: FloatArray) -> float:
        """Return the negative mean squared error."""
        return -float(self.loss(outputs, targets))


def fit_some(
    rated: Sequence[Rated],
    folder: Path,
    settings: Settings,
    *,
    files: Sequence[Path] = (),
    criteria: Sequence[Criterion] = CRITERIA,
    resume: bool = False,
) -> dict[Criterion, Card]:
    """Fit a regressor for each criterion, in ``folder/CRITERION``.

    The options and errors are those of :func:`grammeter.verbs.train_some`. ``rated``: outputs with
    human scores; split 8:1:1 by source sentence. ``files``: files of the scores; a run can be
    resumed only with the same.
    """
    unknown = sorted(set(criteria) - set(CRITERIA))
    if unknown or not criteria:
        raise UsageError(f"criteria {unknown}", fix=f"Use some of {', '.join(CRITERIA)}.")
    tasks: dict[Criterion, HumanScore] = {
        criterion: _task(rated, criterion, settings.seed) for criterion in criteria
    }
    run = _identity(settings, files)
    cards: dict[Criterion, Card] = {}
    with begun(folder, "some", run, resume=resume):
        for criterion, task in tasks.items():
            inside = folder / criterion
            with begun(inside, f"some {criterion}", run, resume=resume):
                if (card := read_card(inside)) is None:
                    data = {
                        "files": [str(path) for path in files],
                        "examples": {part: len(task.examples[part]) for part in PARTS},
                        "training_mean": task.first_bias,
                    }
                    fitted = fit(task, settings, inside, resume=resume)
                    scoring = f"some(model=FOLDER), or some({criterion}=FOLDER/{criterion}, ...)"
                    figures = _errors(task, fitted)
                    card = write_card(inside, f"some {criterion}", scoring, fitted, data, figures)
                Checkpoint(inside).clear()
                cards[criterion] = card
    return cards


def _task(rated: Sequence[Rated], criterion: Criterion, seed: int) -> HumanScore:
    scored = [output for output in rated if criterion in output.scores]
    if not scored:
        known = " ".join(dict.fromkeys(name for output in rated for name in output.scores))
        raise DataError(
            f"no scores of {criterion}",
            fix=f"Leave it out: --criteria {known}" if known else "Give scores of it.",
        )
    parts = assign_parts([output.source for output in scored], seed)
    examples: dict[Part, list[Example]] = {part: [] for part in PARTS}
    for output in scored:
        text = output.output
        item: ModelInput = (output.source, text) if criterion == "meaning" else text
        examples[parts[output.source]].append(Example((item,), output.scores[criterion]))
    for part, of_part in examples.items():
        if not of_part:
            raise DataError(
                f"no {part} examples for {criterion}: {len(scored)} scored outputs of"
                f" {len(parts)} sentences",
                fix="Give scores of ten sentences at least.",
            )
    mean = float(np.mean([example.target for example in examples["train"]]))
    return HumanScore(examples, mean)


def _errors(task: HumanScore, fitted: Fitted) -> dict[str, object]:
    """Return error and correlation with human scores on held-out sentences."""
    results: dict[str, object] = {}
    for part in HELD_OUT:
        outputs = fitted.outputs[part][:, 0]
        targets = np.array([example.target for example in task.examples[part]])
        base = float(np.mean((task.first_bias - targets) ** 2))
        results |= {
            f"{part} mean squared error": float(np.mean((outputs - targets) ** 2)),
            f"{part} mean squared error of the training mean": base,
            f"{part} Pearson": float(pearson(outputs, targets)),
            f"{part} Spearman": float(spearman(outputs, targets)),
        }
    return results
