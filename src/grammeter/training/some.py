"""SOME's three regressors from human scores (Yoshimura et al. 2020).

Split, epochs and learning rate were not published with the code; the defaults are ours, and the
training cards name them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from grammeter.core import DataError, FloatArray, UsageError
from grammeter.models import Card, ModelFiles, ModelInput, find_model, read_card
from grammeter.stats import pearson, spearman
from grammeter.training.card import make_card, write_card
from grammeter.training.fit import Fitted, fit
from grammeter.training.folder import begin, begun, clear, digest
from grammeter.training.settings import PARTS, Example, Part, Settings, assign_parts

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
        Score by criterion; a criterion may be absent.
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
        Examples of each part.
    first_bias
        Mean score of the training part.
    """

    examples: Mapping[Part, Sequence[Example]]
    first_bias: float

    figure_name = "negative mean squared error"

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

    The options and errors are those of :func:`grammeter.verbs.train_some`.

    Parameters
    ----------
    rated
        Outputs with human scores; split 8:1:1 by source sentence.
    folder
        Folder of the models.
    files
        Files of the scores; a run can be resumed only with the same.

    Returns
    -------
    dict
        The training card of each criterion.
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


def _results(task: HumanScore, fitted: Fitted) -> dict[str, object]:
    """Return error and correlation with human scores on held-out sentences."""
    results: dict[str, object] = {}
    for part in ("validation", "test"):
        outputs = fitted.outputs[part][:, 0]
        targets = np.array([example.target for example in task.examples[part]])
        error = float(np.mean((outputs - targets) ** 2))
        base = float(np.mean((task.first_bias - targets) ** 2))
        results[f"{part} mean squared error"] = error
        results[f"{part} mean squared error of the training mean"] = base
        results[f"{part} Pearson"] = float(pearson(outputs, targets))
        results[f"{part} Spearman"] = float(spearman(outputs, targets))
    return results
