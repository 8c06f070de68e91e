"""SOME's three regressors from human scores (Yoshimura et al. 2020).

Split, epochs and learning rate were not published with the code; the defaults here are ours and
stand in the training cards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core import DataError, FloatArray, UsageError
from grammeter.models import Card, Item, ModelFiles, find_model, read_card
from grammeter.stats import pearson, spearman
from grammeter.training.card import make_card, write_card
from grammeter.training.checkpoint import clear
from grammeter.training.examples import PARTS, Example, Part, assign_parts
from grammeter.training.fit import Fitted, fit
from grammeter.training.folder import begin, begun, digest
from grammeter.training.settings import Settings

Criterion = Literal["grammaticality", "fluency", "meaning"]

CRITERIA: tuple[Criterion, ...] = get_args(Criterion)


@dataclass(frozen=True, slots=True)
class Rated:
    """An output with its human scores, means over judges, 1 to 4 in TMU-GFM.

    Attributes
    ----------
    source, output
        The texts.
    scores
        By criterion; a criterion may be absent.
    """

    source: str
    output: str
    scores: Mapping[Criterion, float]


@dataclass(frozen=True)
class HumanScore:
    """The task: the output is the mean human score; squared error.

    Attributes
    ----------
    examples
        Of each part.
    first_bias
        The mean score of the training part.
    """

    examples: Mapping[Part, Sequence[Example]]
    first_bias: float

    @property
    def figure_name(self) -> str:
        """What epochs are compared by."""
        return "negative mean squared error"

    def loss(self, outputs: Any, targets: Any) -> Any:
        """Return the mean squared error of a batch."""
        return ((outputs[:, 0] - targets) ** 2).mean()

    def figure(self, outputs: FloatArray, targets: FloatArray) -> float:
        """Return the negative mean squared error."""
        return -float(np.mean((outputs[:, 0] - targets) ** 2))


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

    Parameters
    ----------
    rated
        Outputs with human scores; split 8:1:1 by source sentence.
    folder
        Where the models go.
    settings
        How to fit.
    files
        Where the scores come from: a resumed run needs the same.
    criteria
        Which regressors.
    resume
        Go on where an interrupted run stopped; what is finished is kept.

    Returns
    -------
    dict
        The training card of each criterion.

    Raises
    ------
    DataError
        If a criterion has no scores, or too few.
    UsageError
        If a criterion does not exist, or the folder holds another run.
    MissingResourceError
        If torch, the encoder or the device is not here.
    """
    unknown = sorted(set(criteria) - set(CRITERIA))
    if unknown or not criteria:
        raise UsageError(f"criteria {unknown}", fix=f"Use some of {', '.join(CRITERIA)}.")
    tasks: dict[Criterion, HumanScore] = {
        criterion: _task(rated, criterion, settings.seed) for criterion in criteria
    }
    encoder = find_model(settings.encoder)
    run = {**settings.identity(encoder.hash), "files": digest(files)}
    cards: dict[Criterion, Card] = {}
    with begun(folder, "some", run, resume=resume):
        for criterion, task in tasks.items():
            inside = folder / criterion
            begin(inside, f"some {criterion}", run, resume=resume)
            if (card := read_card(inside)) is None:
                fitted = fit(task, settings, inside, resume=resume)
                card = _card(criterion, task, settings, fitted, encoder, files)
                write_card(card, inside)
            clear(inside)
            cards[criterion] = card
    return cards


def _card(
    criterion: Criterion,
    task: HumanScore,
    settings: Settings,
    fitted: Fitted,
    encoder: ModelFiles,
    files: Sequence[Path],
) -> Card:
    return make_card(
        f"some {criterion}",
        data={
            "files": [str(path) for path in files],
            "examples": {part: len(task.examples[part]) for part in PARTS},
            "training_mean": task.first_bias,
        },
        settings=settings,
        options={},
        encoder=encoder,
        fitted=fitted,
        figure=task.figure_name,
        results=_results(task, fitted),
        scoring=f"some(model=FOLDER), or some({criterion}=FOLDER/{criterion}, ...)",
    )


def _task(rated: Sequence[Rated], criterion: Criterion, seed: int) -> HumanScore:
    scored = [each for each in rated if criterion in each.scores]
    if not scored:
        known = " ".join(dict.fromkeys(name for each in rated for name in each.scores))
        raise DataError(
            f"no scores of {criterion}",
            fix=f"Leave it out: --criteria {known}" if known else "Give scores of it.",
        )
    parts = assign_parts([each.source for each in scored], seed)
    examples: dict[Part, list[Example]] = {part: [] for part in PARTS}
    for each in scored:
        example = Example((_item(each, criterion),), each.scores[criterion])
        examples[parts[each.source]].append(example)
    for part, found in examples.items():
        if not found:
            raise DataError(
                f"no {part} examples for {criterion}: {len(scored)} scored outputs of"
                f" {len(parts)} sentences",
                fix="Give scores of ten sentences at least.",
            )
    mean = float(np.mean([example.target for example in examples["train"]]))
    return HumanScore(examples, mean)


def _item(rated: Rated, criterion: Criterion) -> Item:
    return (rated.source, rated.output) if criterion == "meaning" else rated.output


def _results(task: HumanScore, fitted: Fitted) -> dict[str, object]:
    """Return error and correlation with human scores on held-out sentences."""
    found: dict[str, object] = {}
    for part in ("validation", "test"):
        outputs = fitted.outputs[part][:, 0]
        targets = np.array([example.target for example in task.examples[part]])
        error = float(np.mean((outputs - targets) ** 2))
        base = float(np.mean((task.first_bias - targets) ** 2))
        found[f"{part} mean squared error"] = error
        found[f"{part} mean squared error of the training mean"] = base
        found[f"{part} Pearson"] = float(pearson(outputs, targets))
        found[f"{part} Spearman"] = float(spearman(outputs, targets))
    return found
