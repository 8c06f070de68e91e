"""SOME, IMPARA and Scribendi score: what pretrained models say of a hypothesis."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np

from grammeter import core
from grammeter.metrics import base, kinds
from grammeter.models import (
    CARD_FILE,
    MeanSimilarity,
    Perplexity,
    Regression,
    Request,
    Steps,
    find_model,
    read_card,
)

CRITERIA = ("grammaticality", "fluency", "meaning")

ENCODER = "bert-base-cased"
"""Of IMPARA's similarity, where neither the user nor a training card names one."""

_ODD = "a model gave no number"
_NAME_IT = "Name the encoder: impara(model=..., similarity=ENCODER)."
_COSINE = base.Limit("Similarities are cosines: use -1 to 1.", least=-1, most=1)


@dataclass(frozen=True, kw_only=True)
class Some(kinds.SentenceMean, kinds.Asking):
    """SOME, the weighted sum of three learned sub-scores; about 0 to 1, not clipped.

    - ``grammaticality``, ``fluency``, ``meaning``: the regression model of each criterion: a
      folder, or a name on the hub. The first two read the hypothesis, the third source and
      hypothesis.
    - ``model``: a folder that holds the three in subfolders of their names, unless a criterion is
      named by its own field.
    - ``weights``: of grammaticality, fluency and meaning; the default was tuned by the authors.
    """

    name = "some"
    title = (
        "grammaticality, fluency and meaning as regressors of human scores see them"
        " (Yoshimura et al. 2020)"
    )
    needs = "nothing"
    after_counting = ("weights",)
    citation = base.cited("yoshimura-etal-2020-reference")

    grammaticality: str | None = None
    fluency: str | None = None
    meaning: str | None = None
    model: str | None = None
    weights: tuple[float, float, float] = (0.55, 0.43, 0.02)

    def check_fields(self) -> None:
        """Refuse weights that are not three numbers of 0 or more, one of them above 0."""
        numbers = all(type(each) in (int, float) and 0 <= each < 1e300 for each in self.weights)
        fix = "Give three numbers of 0 or more, weights=(0.55, 0.43, 0.02)."
        fits = numbers and len(self.weights) == 3 and any(self.weights)
        self.refuse_unless(fits, "weights", fix=fix)
        object.__setattr__(self, "weights", tuple(map(float, self.weights)))

    def models(self) -> Mapping[str, str]:
        """Return the model of each criterion; raise if one is neither named nor in ``model``."""
        return {name: getattr(self, name) or self._inside(name) for name in CRITERIA}

    def _inside(self, criterion: str) -> str:
        if self.model is None:
            raise core.MissingResourceError(
                f"some: no model for {criterion} is named",
                fix="The authors publish theirs as pickles (github.com/kokeman/SOME), which can run"
                " code and are not loaded here: if you trust them, load each with transformers in"
                " a script of your own and write it by save_pretrained, with its tokenizer, to"
                f" FOLDER/{', FOLDER/'.join(CRITERIA)}; then say some(model=FOLDER). Or train your"
                " own: grammeter train some -o FOLDER",
            )
        folder = core.expanded(self.model) / criterion
        if not folder.is_dir():
            fix = f"Name a folder that holds {', '.join(CRITERIA)}, or each model by its own field."
            raise core.MissingResourceError(f"some: there is no folder {folder}", fix=fix)
        return str(folder)

    def steps(self, segments: Sequence[core.Segment]) -> Steps[core.Statistics]:
        """Ask the models: sub-scores, human scores 1 to 4 as 0 to 1; whether a text was cut."""
        hypotheses = [segment.hypothesis for segment in segments]
        pairs = [(segment.source, segment.hypothesis) for segment in segments]
        models = self.models()
        figures = yield [
            Request(models[name], Regression(), pairs if name == "meaning" else hypotheses)
            for name in CRITERIA
        ]
        scaled = [(rows[:, 0] - 1) / 3 for rows in figures]
        truncated = np.max([rows[:, 1] for rows in figures], axis=0)
        return kinds.one_slot(np.column_stack([*scaled, truncated]), (*CRITERIA, "truncated"))

    def sentences(self, statistics: core.Statistics) -> core.SegmentScores:
        """Weigh the sub-scores of each sentence; parts: these, scaled, and ``truncated``."""
        rows: core.FloatArray = statistics.rows[:, 0]
        parts = {name: rows[:, at] for at, name in enumerate(CRITERIA)}
        values, cut = (rows[:, :3] * self.weights).sum(axis=1), rows[:, 3].astype(np.int64)
        chosen = kinds.no_choice(len(rows))
        return core.SegmentScores(values, chosen, {**parts, "truncated": cut}, _ODD)


@dataclass(frozen=True, kw_only=True)
class Impara(kinds.SentenceMean, kinds.Asking):
    """IMPARA, the quality of a hypothesis, 0 where it is too far from its source; 0 to 1.

    - ``model``: the quality estimator, a regression model that reads the hypothesis: a folder, or
      a name on the hub.
    - ``similarity``: the encoder whose mean states tell how similar source and hypothesis are. By
      default the one that ``model`` was trained from, as a training card beside it says, else
      ``bert-base-cased``.
    - ``threshold``: the similarity above which the quality counts.
    - ``head``: how the estimator's figure comes about: ``released``, dense layer, tanh, then linear
      with bias, as the public weights have it; ``paper``, linear on the first state, without bias.
    - ``gate``: ``above``: the similarity must be above the threshold; ``at-least``: it may equal
      it.
    """

    name = "impara"
    bounds = (0.0, 1.0)
    title = (
        "learned quality of the hypothesis, if it stays similar to the source (Maeda et al. 2022)"
    )
    needs = "nothing"
    counted = ("gated", "truncated")
    after_counting = ("threshold", "gate")
    citation = base.cited("maeda-etal-2022-impara")

    model: str = "gotutiyan/IMPARA-QE"
    similarity: str | None = None
    threshold: Annotated[float, _COSINE] = 0.9
    head: Literal["released", "paper"] = "released"
    gate: Literal["above", "at-least"] = "above"

    def models(self) -> Mapping[str, str]:
        """Return the quality estimator and the encoder; raise where its training card is wrong."""
        return {"model": self.model, "similarity": self.similarity or self._encoder()}

    def _encoder(self) -> str:
        """Return the encoder that the estimator was trained from, as its card says."""
        try:
            folder = find_model(self.model).folder
        except core.MissingResourceError:  # which is told where the model is used
            return ENCODER
        card = read_card(folder)
        if card is None or card.get("metric") != self.name:
            return ENCODER
        with suppress(KeyError, TypeError):
            name, trained = str(card["encoder"]["name"]), card["encoder"]["hash"]
            if find_model(name).hash == trained:
                return name
        fault = "the encoder that the model was trained from is not named, or is another one now"
        raise core.DataError(fault, where=str(folder / CARD_FILE), fix=_NAME_IT)

    def settings(self) -> dict[str, object]:
        """Return the encoder in use, hashes and number type."""
        return {"similarity": self.models()["similarity"], **super().settings()}

    def steps(self, segments: Sequence[core.Segment]) -> Steps[core.Statistics]:
        """Ask both models: quality, similarity (1 for equal texts), whether a text was cut."""
        pairs = [(segment.source, segment.hypothesis) for segment in segments]
        head = Regression(head="pooler" if self.head == "released" else "linear")
        models = self.models()
        quality, similarity = yield [
            Request(models["model"], head, [hypothesis for _, hypothesis in pairs]),
            Request(models["similarity"], MeanSimilarity(), pairs),
        ]
        equal = [one == other for one, other in pairs]
        figures = [_logistic(quality[:, 0]), np.where(equal, 1.0, similarity[:, 0])]
        figures.append((quality[:, 1] > 0) | (similarity[:, 1] > 0))
        return kinds.one_slot(np.column_stack(figures), ("quality", "similarity", "truncated"))

    def sentences(self, statistics: core.Statistics) -> core.SegmentScores:
        """Return each sentence's quality, or 0 where the gate says so.

        Parts: ``quality`` before the gate, ``similarity``; ``gated`` and ``truncated``, whether the
        gate set it to 0 or a text was cut; of a corpus, how many were.
        """
        quality, similarity, truncated = np.moveaxis(statistics.rows[:, 0], -1, 0)
        unknown = np.isnan(similarity)
        above = self.gate == "above"
        passes = similarity > self.threshold if above else similarity >= self.threshold
        gated = ~passes & ~unknown
        values = np.where(gated, 0.0, np.where(unknown, np.nan, quality))
        counted = {"gated": gated.astype(np.int64), "truncated": truncated.astype(np.int64)}
        parts = {"quality": quality, "similarity": similarity, **counted}
        return core.SegmentScores(values, kinds.no_choice(len(values)), parts, _ODD)


def _logistic(figures: core.FloatArray) -> core.FloatArray:
    small = np.exp(-np.abs(figures))
    return np.where(figures >= 0, 1.0, small) / (1.0 + small)


FIGURES = ("perplexity_source", "perplexity_hypothesis", "token_sort_ratio", "levenshtein_ratio")
COLUMNS = (*FIGURES, "identical", "empty", "too_long")
_RATIO = base.Limit("Ratios lie between 0 and 1: use 0 to 1.", least=0, most=1)
_TOO_LONG = "a text is longer than the model's positions, so it has no perplexity"


@dataclass(frozen=True, kw_only=True)
class Scribendi(kinds.SentenceMean, kinds.Asking):
    """Scribendi score, -1, 0 or 1 for a sentence, their sum for a system.

    - ``model``: a causal language model: a folder, or a name on the hub.
    - ``threshold``: the greater one of both ratios must reach it.
    - ``average``: the mean over sentences in place of their sum.
    """

    name = "scribendi"
    title = "sentences made likelier less those made worse, by perplexity (Islam & Magnani 2021)"
    needs = "nothing"
    resampling = "sum or mean of sentence scores"
    after_counting = ("threshold", "average")
    citation = base.cited("islam-magnani-2021-end")

    model: str = "gpt2"
    threshold: Annotated[float, _RATIO] = 0.8
    average: bool = False

    def steps(self, segments: Sequence[core.Segment]) -> Steps[core.Statistics]:
        """Ask for perplexities; columns :data:`FIGURES`, ``identical``, ``empty``, ``too_long``."""
        pairs = [(segment.source, segment.hypothesis) for segment in segments]
        changed = [at for at, (source, hypothesis) in enumerate(pairs) if source != hypothesis]
        sources, hypotheses = yield [
            Request(self.model, Perplexity(), [pairs[at][side] for at in changed])
            for side in range(2)
        ]
        figures: list[tuple[float, ...]] = []
        for at, one, other in zip(changed, sources, hypotheses, strict=True):
            ratios = token_sort_ratio(*pairs[at]), levenshtein_ratio(*pairs[at])
            figures.append((one[0], other[0], *ratios, 0, not all(pairs[at]), one[1] or other[1]))
        rows = np.tile([np.nan, np.nan, 1.0, 1.0, 1.0, 0.0, 0.0], (len(pairs), 1))
        rows[changed] = np.array(figures, dtype=np.float64).reshape(-1, len(COLUMNS))
        return kinds.one_slot(rows, COLUMNS)

    def score(self, statistics: core.Statistics) -> core.Score:
        """Add up the sentence scores, or take their mean; NaN if one of them is.

        Parts count sentences: ``positive``, ``negative`` and ``zero`` scores; ``nan``, one of
        the perplexities is none; ``too_long``, for the second reason.
        """
        scores = self.sentences(statistics)
        values = scores.values
        mean = kinds.mean_of(values, self.signature(), scores.reason)
        total = mean.value if self.average or not len(values) else float(values.sum())
        identical, _, too_long = statistics.rows[:, 0, len(FIGURES) :].T > 0
        counts = {
            "positive": values > 0,
            "negative": values < 0,
            "zero": values == 0,
            "nan": np.isnan(statistics.rows[:, 0, :2]).any(axis=1) & ~identical,
            "too_long": too_long,
        }
        parts = {name: int(which.sum()) for name, which in counts.items()}
        return replace(mean, value=total, parts=parts)

    def sentences(self, statistics: core.Statistics) -> core.SegmentScores:
        """Score each sentence; parts are :data:`FIGURES`.

        0 where nothing changed; else 1 if the perplexity falls and a ratio reaches the threshold,
        -1 otherwise, with an empty text too; NaN where a text is too long.
        """
        rows: core.FloatArray = statistics.rows[:, 0]
        before, after, *ratios = rows[:, : len(FIGURES)].T
        identical, empty, too_long = rows[:, len(FIGURES) :].T > 0
        better = (before > after) & (np.maximum(*ratios) >= self.threshold)
        values = np.where(better & ~empty, 1.0, -1.0)
        values[np.isnan(before + after) & ~empty] = np.nan
        values[identical] = 0.0
        parts = {name: rows[:, at] for at, name in enumerate(FIGURES)}
        reason = _TOO_LONG if (np.isnan(values) & too_long).any() else "the model gave no number"
        return core.SegmentScores(values, kinds.no_choice(len(values)), parts, reason)

    def value_of(self, sums: core.FloatArray) -> core.FloatArray:
        """Return summed sentence scores, or their means."""
        return super().value_of(sums) if self.average else sums[..., 0]


def levenshtein_ratio(first: str, second: str) -> float:
    """Return 1 less the share of characters to delete and insert; 0 to 1.

    A substitution is a deletion and an insertion, so of ``a`` and ``b`` nothing is the same.
    Two empty strings are equal: 1. Characters are code points; nothing is prepared.
    """
    from rapidfuzz.distance import Indel

    return Indel.normalized_similarity(first, second)


def token_sort_ratio(first: str, second: str) -> float:
    """Return the ratio of two strings whose tokens are sorted, in hundredths; 0 to 1.

    Characters above U+007F are dropped first, then whatever is neither letter, digit nor
    underscore becomes a blank, and letters become small. Strings that are equal after that have
    ratio 1, so ``.`` and ``!`` too.
    """
    ascii_texts = (re.sub(r"[^\x00-\x7f]+", "", text) for text in (first, second))
    one, other = (" ".join(sorted(re.sub(r"\W", " ", t).lower().split())) for t in ascii_texts)
    return round(100 * levenshtein_ratio(one, other)) / 100
