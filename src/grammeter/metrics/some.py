"""SOME: grammaticality, fluency and meaning, each by a regressor trained on human scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from grammeter.core import (
    Explanation,
    FloatArray,
    Grid,
    MissingResourceError,
    Segment,
    SegmentScores,
    Statistics,
    expanded,
)
from grammeter.metrics.asking import Asking
from grammeter.metrics.base import Needs, SentenceMean, no_choice, one_slot
from grammeter.models import Regression, Request, Steps

CRITERIA = ("grammaticality", "fluency", "meaning")

SUBFOLDERS: Mapping[str, tuple[str, ...]] = {
    "grammaticality": ("grammaticality", "grammar", "grammer"),
    "fluency": ("fluency",),
    "meaning": ("meaning",),
}
"""What the folder of each criterion's model may be called inside the folder ``model``; the first
one that is there counts. ``grammer`` is the authors' spelling."""

COLUMNS = (*CRITERIA, "truncated")


@dataclass(frozen=True, kw_only=True)
class Some(SentenceMean, Asking):
    """SOME, the weighted sum of three learned sub-scores; about 0 to 1, not clipped.

    Attributes
    ----------
    grammaticality, fluency, meaning
        The regression model of each criterion: a folder, or a name on the hub. The first two read
        the hypothesis, the third source and hypothesis.
    model
        A folder that holds the three, in subfolders as :data:`SUBFOLDERS` has them; a criterion
        that is named by its own field is not looked for there.
    weights
        Of grammaticality, fluency and meaning; the default was tuned by the authors.
    """

    name: ClassVar[str] = "some"
    title: ClassVar[str] = (
        "grammaticality, fluency and meaning as regressors of human scores see them"
        " (Yoshimura et al. 2020)"
    )
    needs: ClassVar[Needs] = "nothing"
    after_counting: ClassVar[tuple[str, ...]] = ("weights",)
    citation: ClassVar[str] = """\
@inproceedings{yoshimura-etal-2020-reference,
    title = "{SOME}: Reference-less Sub-Metrics Optimized for Manual Evaluations of Grammatical \
Error Correction",
    author = "Yoshimura, Ryoma and Kaneko, Masahiro and Kajiwara, Tomoyuki and Komachi, Mamoru",
    booktitle = "Proceedings of the 28th International Conference on Computational Linguistics",
    year = "2020",
    pages = "6516--6522",
    doi = "10.18653/v1/2020.coling-main.573",
}"""

    grammaticality: str | None = None
    fluency: str | None = None
    meaning: str | None = None
    model: str | None = None
    weights: tuple[float, float, float] = (0.55, 0.43, 0.02)

    def check_fields(self) -> None:
        """Refuse weights that are not three numbers of 0 or more, one of them above 0."""
        numbers = [_number(weight) for weight in cast("tuple[object, ...]", self.weights)]
        fit = len(numbers) == 3 and all(0 <= number < math.inf for number in numbers)
        fix = "Give three numbers of 0 or more, weights=(0.55, 0.43, 0.02)."
        self.refuse_unless(fit and any(numbers), "weights", fix=fix)
        object.__setattr__(self, "weights", tuple(numbers))

    def models(self) -> Mapping[str, str]:
        """Return the model of each criterion.

        Raises
        ------
        MissingResourceError
            If one is neither named nor found in the folder ``model``.
        """
        return {name: getattr(self, name) or self._inside(name) for name in CRITERIA}

    def _inside(self, criterion: str) -> str:
        if self.model is None:
            raise MissingResourceError(
                f"some: no model for {criterion} is named",
                fix="The authors publish theirs as pickles (github.com/kokeman/SOME), which can run"
                " code and are not loaded here: if you trust them, load each with transformers in"
                " a script of your own and write it by save_pretrained, with its tokenizer, to"
                f" FOLDER/{', FOLDER/'.join(CRITERIA)}; then say some(model=FOLDER). Or train your"
                " own: grammeter train some -o FOLDER",
            )
        folder = expanded(self.model)
        for name in SUBFOLDERS[criterion]:
            if (folder / name).is_dir():
                return str(folder / name)
        raise MissingResourceError(
            f"some: {self.model!r} has no folder {' or '.join(SUBFOLDERS[criterion])}"
            if folder.is_dir()
            else f"some: there is no folder {self.model!r}",
            fix=f"Name a folder that holds {', '.join(CRITERIA)}, or each model by its own field.",
        )

    def steps(self, segments: Sequence[Segment]) -> Steps[Statistics]:
        """Ask the three models.

        Columns are the sub-scores, scaled so that the human scores 1 to 4 become 0 to 1, and
        ``truncated``: whether a model read only a part of the sentence.
        """
        hypotheses = [segment.hypothesis for segment in segments]
        pairs = [(segment.source, segment.hypothesis) for segment in segments]
        models = self.models()
        figures = yield [
            Request(models["grammaticality"], Regression(), hypotheses),
            Request(models["fluency"], Regression(), hypotheses),
            Request(models["meaning"], Regression(), pairs),
        ]
        scaled = [(rows[:, 0] - 1) / 3 for rows in figures]
        truncated = np.max([rows[:, 1] for rows in figures], axis=0)
        return one_slot(np.column_stack([*scaled, truncated]), COLUMNS)

    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Weigh the sub-scores of each sentence; parts: these, scaled, and ``truncated``."""
        rows: FloatArray = statistics.rows[:, 0]
        parts = {name: rows[:, at] for at, name in enumerate(CRITERIA)}
        return SegmentScores(
            values=(rows[:, :3] * self.weights).sum(axis=1),
            chosen=no_choice(len(rows)),
            parts={**parts, "truncated": rows[:, 3].astype(np.int64)},
            reason="a model gave no number",
        )

    def explain(self, segment: Segment) -> Explanation:
        """Show what each model said, and what it adds to the score."""
        statistics = self.statistics([segment])
        scaled: list[float] = statistics.rows[0, 0, :3].tolist()
        rows = tuple(
            (name, f"{1 + 3 * x:.4f}", f"{x:.4f}", f"{weight:g}", f"{weight * x:.4f}")
            for name, x, weight in zip(CRITERIA, scaled, self.weights, strict=True)
        )
        columns = ("criterion", "output", "scaled", "weight", "adds")
        grid = Grid("sub-scores", columns, rows)
        return self.explained(self.sentences(statistics), grids=[grid])


def _number(value: object) -> float:
    """Return a number as a float, NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan
