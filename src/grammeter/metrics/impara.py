"""IMPARA: a learned quality, of sentences that stay similar to their source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from grammeter.core import (
    BoolArray,
    DataError,
    FloatArray,
    MissingResourceError,
    Segment,
    SegmentScores,
    Statistics,
)
from grammeter.metrics.asking import Asking
from grammeter.metrics.base import Needs, SentenceMean, no_choice, one_slot
from grammeter.models import FILE, MeanSimilarity, Regression, Request, Steps, find_model, read_card

COLUMNS = ("quality", "similarity", "truncated")

ENCODER = "bert-base-cased"
"""Of the similarity, where neither the user nor a training card names one."""

_ODD = "a model gave no number"
_NAME_IT = "Name the encoder: impara(model=..., similarity=ENCODER)."


@dataclass(frozen=True, kw_only=True)
class Impara(SentenceMean, Asking):
    """IMPARA, the quality of a hypothesis, 0 where it is too far from its source; 0 to 1.

    Attributes
    ----------
    model
        The quality estimator, a regression model that reads the hypothesis: a folder, or a name
        on the hub.
    similarity
        The encoder whose mean states tell how similar source and hypothesis are; not tuned. By
        default the one that ``model`` was trained from, where a training card beside it says
        so, else ``bert-base-cased``.
    threshold
        The similarity above which the quality counts.
    head
        How the estimator's figure comes about: ``released``, dense layer, tanh, then linear with
        bias, as the public weights have it; ``paper``, linear on the first state, without bias.
    gate
        ``above``: the similarity must be above the threshold; ``at-least``: it may equal it.
    """

    name: ClassVar[str] = "impara"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    title: ClassVar[str] = (
        "learned quality of the hypothesis, if it stays similar to the source (Maeda et al. 2022)"
    )
    needs: ClassVar[Needs] = "nothing"
    counted: ClassVar[tuple[str, ...]] = ("gated", "truncated")
    after_counting: ClassVar[tuple[str, ...]] = ("threshold", "gate")
    citation: ClassVar[str] = """\
@inproceedings{maeda-etal-2022-impara,
    title = "{IMPARA}: Impact-Based Metric for {GEC} Using Parallel Data",
    author = "Maeda, Koki and Kaneko, Masahiro and Okazaki, Naoaki",
    booktitle = "Proceedings of the 29th International Conference on Computational Linguistics",
    year = "2022",
    pages = "3578--3588",
}"""

    model: str = "gotutiyan/IMPARA-QE"
    similarity: str | None = None
    threshold: float = 0.9
    head: Literal["released", "paper"] = "released"
    gate: Literal["above", "at-least"] = "above"

    def check_fields(self) -> None:
        """Refuse a threshold that is no cosine."""
        fix = "Similarities are cosines: use -1 to 1."
        self.refuse_unless(-1 <= self.threshold <= 1, "threshold", fix=fix)

    def models(self) -> Mapping[str, str]:
        """Return the quality estimator and the encoder of the similarity.

        Raises
        ------
        DataError
            If the training card cannot be read, or names an encoder that has changed.
        MissingResourceError
            If the encoder that the card names is not here.
        """
        return {"model": self.model, "similarity": self.similarity or self._encoder()}

    def _encoder(self) -> str:
        """Return the encoder that the estimator was trained from, as its card says."""
        try:
            folder = find_model(self.model).folder
        except MissingResourceError:  # which is told where the model is used
            return ENCODER
        card = read_card(folder)
        if card is None or card.get("metric") != self.name:
            return ENCODER
        where = str(folder / FILE)
        try:
            name, trained = str(card["encoder"]["name"]), card["encoder"]["hash"]
        except (KeyError, TypeError):
            raise DataError("no encoder is named", where=where, fix=_NAME_IT) from None
        try:
            present = find_model(name).hash
        except MissingResourceError as error:
            raise MissingResourceError(
                f"the encoder {name!r}, which the model was trained from, is not here",
                where=where,
                fix=f"{_NAME_IT} {error.fix}",
            ) from error
        if present != trained:
            raise DataError(
                f"the encoder {name!r} is not the one that the model was trained from:"
                f" its hash was {trained}, is {present}",
                where=where,
                fix=_NAME_IT,
            )
        return name

    def settings(self) -> dict[str, object]:
        """Return the encoder in use, hashes and number type."""
        return {"similarity": self.models()["similarity"], **super().settings()}

    def steps(self, segments: Sequence[Segment]) -> Steps[Statistics]:
        """Ask both models.

        Columns are ``quality``, the logistic function of the estimator's figure; ``similarity``,
        1 where hypothesis and source are the same text; ``truncated``, whether a model read only
        a part of either.
        """
        pairs = [(segment.source, segment.hypothesis) for segment in segments]
        head = Regression(head="pooler" if self.head == "released" else "linear")
        models = self.models()
        quality, similarity = yield [
            Request(models["model"], head, [hypothesis for _, hypothesis in pairs]),
            Request(models["similarity"], MeanSimilarity(), pairs),
        ]
        same = np.array([source == hypothesis for source, hypothesis in pairs], dtype=np.bool_)
        figures = [
            _logistic(quality[:, 0]),
            np.where(same, 1.0, similarity[:, 0]),
            (quality[:, 1] > 0) | (similarity[:, 1] > 0),
        ]
        return one_slot(np.column_stack(figures), COLUMNS)

    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Return each sentence's quality, or 0 where the gate says so.

        Parts: ``quality`` before the gate, ``similarity``; ``gated``, whether the gate set it
        to 0, and ``truncated``, whether a text was cut; of a corpus, how many were.
        """
        quality, similarity, truncated = np.moveaxis(statistics.rows[:, 0], -1, 0)
        unknown = np.isnan(similarity)
        gated = ~self._passes(similarity) & ~unknown
        values = np.where(gated, 0.0, np.where(unknown, np.nan, quality))
        parts = {
            "quality": quality,
            "similarity": similarity,
            "gated": gated.astype(np.int64),
            "truncated": truncated.astype(np.int64),
        }
        return SegmentScores(values, no_choice(len(values)), parts, _ODD)

    def _passes(self, similarity: FloatArray) -> BoolArray:
        if self.gate == "above":
            return similarity > self.threshold
        return similarity >= self.threshold


def _logistic(figures: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(-x)), without overflow."""
    small = np.exp(-np.abs(figures))
    return np.where(figures >= 0, 1.0, small) / (1.0 + small)
