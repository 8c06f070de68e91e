"""BLEU and chrF as sacrebleu counts them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, ClassVar, Literal, cast

import numpy as np
import numpy.typing as npt

from grammeter.alignment import gap, reference_slots
from grammeter.core import (
    BoolArray,
    Explanation,
    FloatArray,
    Grid,
    Segment,
    SegmentScores,
    Statistics,
)
from grammeter.metrics.base import Needs, SumScore, no_choice

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF


@dataclass(frozen=True, kw_only=True)
class _Sacrebleu(SumScore):
    """What BLEU and chrF have in common.

    Rows come from sacrebleu's ``_extract_corpus_statistics`` and are scored by its
    ``_compute_score_from_stats``: there is no public way to a segment's counts. The tests hold
    both against sacrebleu's public corpus and sentence scores.
    """

    needs: ClassVar[Needs] = "texts"

    @abstractmethod
    def scorer(
        self, references: Sequence[Sequence[str]] | None = None, *, alone: bool = False
    ) -> BLEU | CHRF:
        """Open sacrebleu with this metric's fields; ``alone`` for one sentence's score."""

    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Name sacrebleu's sums."""

    def settings(self) -> dict[str, object]:
        """Return sacrebleu's version."""
        return {"sacrebleu": version("sacrebleu")}

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """Count with sacrebleu against all references of a segment at once: one slot."""
        known: BoolArray = np.any(reference_slots(segments), axis=1)
        rows = np.zeros((len(segments), 1, len(self.columns())), dtype=np.int64)
        lines: dict[tuple[str | None, ...], list[int]] = {}
        for row in np.flatnonzero(known).tolist():
            lines.setdefault(segments[row].references, []).append(row)
        for of_line in lines.values():
            scorer = self.scorer([[text] for text in segments[of_line[0]].texts])
            for row in of_line:
                (rows[row, 0],) = scorer._extract_corpus_statistics(  # pyright: ignore[reportPrivateUsage]
                    [segments[row].hypothesis], None
                )
        return Statistics(rows, known[:, None], (0,), self.columns())

    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Score each segment alone."""
        values = self._scored(self.summands(statistics), self.scorer(alone=True))
        return SegmentScores(values, no_choice(len(values)), {}, gap(statistics.present))

    def summands(self, statistics: Statistics) -> FloatArray:
        """Return sacrebleu's counts; NaN where a segment has no reference."""
        return np.where(statistics.present, statistics.rows[:, 0], np.nan)

    def value_of(self, sums: FloatArray) -> FloatArray:
        """Score sums of sacrebleu's counts."""
        return self._scored(sums, self.scorer())

    def _scored(self, sums: npt.NDArray[np.number], scorer: BLEU | CHRF) -> FloatArray:
        rows = cast("list[list[int]]", np.reshape(sums, (-1, sums.shape[-1])).tolist())
        values = [
            scorer._compute_score_from_stats(row).score / 100  # pyright: ignore[reportPrivateUsage]
            if row[0] == row[0]
            else float("nan")
            for row in rows
        ]
        return np.array(values, dtype=np.float64).reshape(sums.shape[:-1])


@dataclass(frozen=True, kw_only=True)
class Bleu(_Sacrebleu):
    """BLEU (Papineni et al. 2002) by sacrebleu; 0 to 1, sacrebleu's figure over 100.

    Attributes
    ----------
    tokenize
        sacrebleu's tokeniser; ``none`` for text that is tokenised already.
    smooth_method, smooth_value
        What stands for n-gram counts of 0; the value belongs to ``floor`` and ``add-k``.
    lowercase
        Compare in lower case.
    max_ngram_order
        The longest n-grams.
    """

    name: ClassVar[str] = "bleu"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    title: ClassVar[str] = (
        "n-gram precision with a brevity penalty, by sacrebleu (Papineni et al. 2002, Post 2018)"
    )
    citation: ClassVar[str] = """\
@inproceedings{papineni-etal-2002-bleu,
    title = "{B}leu: a Method for Automatic Evaluation of Machine Translation",
    author = "Papineni, Kishore and Roukos, Salim and Ward, Todd and Zhu, Wei-Jing",
    booktitle = "Proceedings of ACL 2002",
    year = "2002",
    pages = "311--318",
    doi = "10.3115/1073083.1073135",
}
@inproceedings{post-2018-call,
    title = "A Call for Clarity in Reporting {BLEU} Scores",
    author = "Post, Matt",
    booktitle = "Proceedings of the Third Conference on Machine Translation: Research Papers",
    year = "2018",
    pages = "186--191",
    doi = "10.18653/v1/W18-6319",
}"""
    resampling: ClassVar[str] = "all references at once"
    after_counting: ClassVar[tuple[str, ...]] = ("smooth_method", "smooth_value")

    tokenize: Literal["none", "13a", "intl", "char", "zh"] = "none"
    smooth_method: Literal["exp", "floor", "add-k", "none"] = "exp"
    smooth_value: float | None = None
    lowercase: bool = False
    max_ngram_order: int = 4

    def check_fields(self) -> None:
        """Refuse an order below 1 and a smoothing value that is not above 0."""
        self.refuse_unless(self.max_ngram_order >= 1, "max_ngram_order", fix="Use 1 or more.")
        value = self.smooth_value
        fits = value is None or 0 < value < float("inf")
        self.refuse_unless(fits, "smooth_value", fix="Use more than 0.")

    def settings(self) -> dict[str, object]:
        """Return sacrebleu's version and the rule for sentences."""
        return super().settings() | {"sentences": "effective order"}

    def scorer(
        self, references: Sequence[Sequence[str]] | None = None, *, alone: bool = False
    ) -> BLEU:
        """Open sacrebleu's BLEU; alone, a short sentence is scored by the orders it has."""
        from sacrebleu.metrics.bleu import BLEU

        return BLEU(
            lowercase=self.lowercase,
            force=True,  # tokenised text is what we mean, no need to warn
            tokenize=self.tokenize,
            smooth_method=self.smooth_method,
            smooth_value=self.smooth_value,
            max_ngram_order=self.max_ngram_order,
            effective_order=alone,
            references=references,
        )

    def columns(self) -> tuple[str, ...]:
        """Return lengths, matched n-grams by order, n-grams by order."""
        orders = range(1, self.max_ngram_order + 1)
        matched, total = (tuple(f"{kind}{n}" for n in orders) for kind in ("matched", "total"))
        return ("hypothesis", "reference", *matched, *total)

    def parts(self, sums: FloatArray) -> dict[str, float]:
        """Return the brevity penalty and the (smoothed) precisions by order."""
        bleu = self.scorer()._compute_score_from_stats(cast("list[int]", sums.tolist()))  # pyright: ignore[reportPrivateUsage]
        precisions = {f"precision{n}": p / 100 for n, p in enumerate(bleu.precisions, 1)}
        return {"brevity": bleu.bp} | precisions

    def explain(self, segment: Segment) -> Explanation:
        """Show matches and precisions by order, and the lengths."""
        statistics = self.statistics([segment])
        scores = self.sentences(statistics)
        if not statistics.present[0, 0]:
            return self.explained(scores)
        counts = cast("list[int]", statistics.rows[0, 0].tolist())
        bleu = self.scorer(alone=True)._compute_score_from_stats(list(counts))  # pyright: ignore[reportPrivateUsage]
        order = self.max_ngram_order
        by_order = zip(counts[2 : 2 + order], counts[2 + order :], bleu.precisions, strict=True)
        rows = tuple(
            (str(n), str(matched), str(number), f"{precision / 100:.4f}")
            for n, (matched, number, precision) in enumerate(by_order, 1)
        )
        grid = Grid("n-grams by order", ("n", "matched", "n-grams", "precision"), rows)
        parts = {"brevity": bleu.bp, "hypothesis": counts[0], "reference": counts[1]}
        return replace(self.explained(scores, grids=[grid]), parts=parts)


@dataclass(frozen=True, kw_only=True)
class Chrf(_Sacrebleu):
    """chrF and, with ``word_order=2``, chrF++ (Popovic 2015, 2017) by sacrebleu; 0 to 1.

    Attributes
    ----------
    char_order, word_order
        The longest n-grams of characters and of words.
    beta
        Recall weighs ``beta`` times as much as precision.
    lowercase
        Compare in lower case.
    whitespace
        Keep white space in character n-grams.
    """

    name: ClassVar[str] = "chrf"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    title: ClassVar[str] = "character n-gram F-measure, by sacrebleu (Popovic 2015, 2017)"
    citation: ClassVar[str] = """\
@inproceedings{popovic-2015-chrf,
    title = "chr{F}: character n-gram {F}-score for automatic {MT} evaluation",
    author = "Popovi{\\'c}, Maja",
    booktitle = "Proceedings of the Tenth Workshop on Statistical Machine Translation",
    year = "2015",
    pages = "392--395",
    doi = "10.18653/v1/W15-3049",
}
@inproceedings{popovic-2017-chrf,
    title = "chr{F}++: words helping character n-grams",
    author = "Popovi{\\'c}, Maja",
    booktitle = "Proceedings of the Second Conference on Machine Translation",
    year = "2017",
    pages = "612--618",
    doi = "10.18653/v1/W17-4770",
}"""
    resampling: ClassVar[str] = "chosen references fixed"

    char_order: int = 6
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    whitespace: bool = False

    def check_fields(self) -> None:
        """Refuse negative orders, no order at all, and a beta below 1."""
        orders = self.char_order, self.word_order
        fix = "Use 0 or more, and at least one of them above 0."
        self.refuse_unless(min(orders) >= 0 and any(orders), "char_order", "word_order", fix=fix)
        self.refuse_unless(self.beta >= 1, "beta", fix="Use 1 or more.")

    def scorer(
        self, references: Sequence[Sequence[str]] | None = None, *, alone: bool = False
    ) -> CHRF:
        """Open sacrebleu's chrF; one sentence is scored like a corpus of one."""
        from sacrebleu.metrics.chrf import CHRF

        return CHRF(
            char_order=self.char_order,
            word_order=self.word_order,
            beta=self.beta,
            lowercase=self.lowercase,
            whitespace=self.whitespace,
            references=references,
        )

    def columns(self) -> tuple[str, ...]:
        """Return n-grams of hypothesis and reference and what they share, by order."""
        orders = [f"char{n}" for n in range(1, self.char_order + 1)]
        orders += [f"word{n}" for n in range(1, self.word_order + 1)]
        return tuple(f"{kind} {n}" for n in orders for kind in ("hypothesis", "reference", "match"))

    def explain(self, segment: Segment) -> Explanation:
        """Show what the hypothesis shares with the best reference, by order."""
        statistics = self.statistics([segment])
        scores = self.sentences(statistics)
        if not statistics.present[0, 0]:
            return self.explained(scores)
        counts = [str(count) for count in statistics.rows[0, 0].tolist()]
        rows = tuple(
            (self.columns()[at].split()[1], *counts[at : at + 3]) for at in range(0, len(counts), 3)
        )
        columns = ("n", "hypothesis", "reference", "matched")
        return self.explained(scores, grids=[Grid("n-grams by order", columns, rows)])
