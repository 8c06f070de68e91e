"""What is fitted: IMPARA's quality estimator from parallel data, SOME's from human scores.

Maeda et al. (2022), section 2; Yoshimura et al. (2020), whose split, epochs and learning rate were
not published with the code: the defaults are ours, and the training cards name them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from grammeter.core import UsageError
from grammeter.formats import RatedOutput
from grammeter.models import Card, find_model, read_card
from grammeter.stats import pearson, spearman
from grammeter.training.fit import HELD_OUT, Fitted, fit, tell
from grammeter.training.folder import Checkpoint, begun, digest
from grammeter.training.network import PARTS, Settings
from grammeter.training.pairs import (
    CRITERIA,
    LOSSES,
    Criterion,
    HumanScore,
    LossName,
    Measured,
    PairData,
    Preference,
    load_or_draw,
    score_task,
)
from grammeter.training.results import interval, write_card


def fit_impara(
    measure: Callable[[], Measured], folder: Path, settings: Settings,
    *, files: Sequence[Path] = (), reading: Mapping[str, object] | None = None, size: int = 4096,
    loss: LossName = "sigmoid", parallel_only: bool = False, resume: bool = False,
) -> Card:  # fmt: skip
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
            data = load_or_draw(folder, measure, size, settings.seed, parallel_only)
            sizes = ", ".join(f"{len(data.part(part))} for {part}" for part in PARTS)
            tell(f"pairs: {sizes}; of {data.tally.with_edits} corrections with edits")
            fitted = fit(Preference(data.pairs, loss), settings, folder, resume=resume)
            figures = _accuracies(data, fitted, settings.seed)
            origin = {"files": [*map(str, files)], **data.to_dict()}
            scoring = "impara(model=FOLDER)"
            card = write_card(folder, "impara", scoring, fitted, origin, figures, options)
        Checkpoint(folder).clear()
    return card


def _identity(settings: Settings, files: Sequence[Path]) -> dict[str, object]:
    encoder = find_model(settings.encoder).hash
    return {**asdict(settings), "encoder": encoder, "files": digest(files)}


def _accuracies(data: PairData, fitted: Fitted, seed: int) -> dict[str, object]:
    results: dict[str, object] = {}
    for part in HELD_OUT:
        pairs, outputs = data.part(part), fitted.outputs[part]
        right = (outputs[:, 1] > outputs[:, 0]).astype(np.float64)
        sources = np.array([pair.source for pair in pairs])
        apart = np.array([not pair.inclusion for pair in pairs], dtype=np.bool_)
        more = [len(pair.high_edits) > len(pair.low_edits) for pair in pairs]
        without = right[apart]
        spread = interval(without, sources[apart].tolist(), seed=seed)
        results |= {
            f"{part} accuracy": float(right.mean()),
            f"{part} accuracy interval": list(interval(right, sources.tolist(), seed=seed)),
            f"{part} pairs without inclusion": int(apart.sum()),
            f"{part} accuracy without inclusion": float(without.mean()) if len(without) else np.nan,
            f"{part} interval without inclusion": list(spread),
            f"{part} pairs whose better side has more edits": sum(more),
        }
    return results


def fit_some(
    rated: Sequence[RatedOutput], folder: Path, settings: Settings,
    *, files: Sequence[Path] = (), criteria: Sequence[Criterion] = CRITERIA, resume: bool = False,
) -> dict[Criterion, Card]:  # fmt: skip
    """Fit a regressor for each criterion, in ``folder/CRITERION``.

    The options and errors are those of :func:`grammeter.verbs.train_some`. ``rated``: outputs with
    human scores; split 8:1:1 by source sentence. ``files``: files of the scores; a run can be
    resumed only with the same.
    """
    if (unknown := sorted(set(criteria) - set(CRITERIA))) or not criteria:
        raise UsageError(f"criteria {unknown}", fix=f"Use some of {', '.join(CRITERIA)}.")
    tasks: dict[Criterion, HumanScore] = {
        criterion: score_task(rated, criterion, settings.seed) for criterion in criteria
    }
    run = _identity(settings, files)
    cards: dict[Criterion, Card] = {}
    with begun(folder, "some", run, resume=resume):
        for criterion, task in tasks.items():
            inside = folder / criterion
            with begun(inside, f"some {criterion}", run, resume=resume):
                if (card := read_card(inside)) is None:
                    sizes = {part: len(task.examples[part]) for part in PARTS}
                    data = {"files": [*map(str, files)], "examples": sizes}
                    data |= {"training_mean": task.first_bias}
                    fitted = fit(task, settings, inside, resume=resume)
                    scoring = f"some(model=FOLDER), or some({criterion}=FOLDER/{criterion}, ...)"
                    figures = _errors(task, fitted)
                    card = write_card(inside, f"some {criterion}", scoring, fitted, data, figures)
                Checkpoint(inside).clear()
                cards[criterion] = card
    return cards


def _errors(task: HumanScore, fitted: Fitted) -> dict[str, object]:
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
