"""BLEU and chrF as sacrebleu counts them, and METEOR of 2005 without its synonyms."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from math import isnan, nan
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from grammeter import core
from grammeter.alignment import gap, reference_slots
from grammeter.core import FloatArray, Segment, SegmentScores, Statistics
from grammeter.metrics import base, kinds

_ABOVE_0 = base.Limit("Use more than 0.", above=0)
_SHARE = base.Limit("Use 0 to 1.", least=0, most=1)


@dataclass(frozen=True, kw_only=True)
class _Sacrebleu(kinds.SumScore):
    """Common base of BLEU and chrF; tests hold sacrebleu's private counts to its public scores."""

    bounds = (0.0, 1.0)
    needs = "texts"

    kind: ClassVar[str]  # sacrebleu's class, whose options have the names of our fields
    always: ClassVar[Mapping[str, Any]] = {}  # its further options
    alone: ClassVar[Mapping[str, Any]] = {}  # those for one sentence's score

    def scorer(self, **options: Any) -> Any:
        """Open sacrebleu with this metric's fields, and further options."""
        import sacrebleu.metrics

        return getattr(sacrebleu.metrics, self.kind)(**asdict(self), **self.always, **options)

    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Name sacrebleu's sums."""

    def settings(self) -> dict[str, object]:
        return {"sacrebleu": version("sacrebleu")}

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        present = np.asarray(reference_slots(segments).any(axis=1, keepdims=True))
        rows = np.zeros((len(segments), 1, len(self.columns())), dtype=np.int64)
        there = np.flatnonzero(present).tolist()
        lines = core.grouped((segments[row].references, row) for row in there)
        for of_line in lines.values():
            scorer = self.scorer(references=[[text] for text in segments[of_line[0]].texts])
            for row in of_line:
                hypothesis = [segments[row].hypothesis]
                (rows[row, 0],) = scorer._extract_corpus_statistics(hypothesis, None)
        return Statistics(rows, present, (0,), self.columns())

    def sentences(self, statistics: Statistics) -> SegmentScores:
        values = self._scored(self.summands(statistics), **self.alone)
        return SegmentScores(values, kinds.no_choice(len(values)), {}, gap(statistics.present))

    def summands(self, statistics: Statistics) -> FloatArray:
        """Return sacrebleu's counts; NaN where a segment has no reference."""
        return np.where(statistics.present, statistics.rows[:, 0], np.nan)

    def value_of(self, sums: FloatArray) -> FloatArray:
        return self._scored(sums)

    def _scored(self, sums: FloatArray, **options: Any) -> FloatArray:
        score = self.scorer(**options)._compute_score_from_stats
        rows = np.reshape(sums, (-1, sums.shape[-1]))
        values = [nan if isnan(row[0]) else score(row.tolist()).score / 100 for row in rows]
        return np.array(values, dtype=np.float64).reshape(sums.shape[:-1])


@dataclass(frozen=True, kw_only=True)
class Bleu(_Sacrebleu):
    """BLEU (Papineni et al. 2002) by sacrebleu; 0 to 1, sacrebleu's figure over 100.

    - ``tokenize``: sacrebleu's tokeniser; ``none`` for text that is tokenised already.
    - ``smooth_method``, ``smooth_value``: what stands for n-gram counts of 0; the value belongs
      to ``floor`` and ``add-k``.
    - ``lowercase``: compare in lower case.
    - ``max_ngram_order``: the longest n-grams.
    """

    name = "bleu"
    title = (
        "n-gram precision with a brevity penalty, by sacrebleu (Papineni et al. 2002, Post 2018)"
    )
    citation = base.cited("papineni-etal-2002-bleu", "post-2018-call")
    resampling = "all references at once"
    kind = "BLEU"
    always = MappingProxyType({"force": True})  # tokenised text without a warning
    alone = MappingProxyType({"effective_order": True})  # a short sentence has fewer orders
    after_counting = ("smooth_method", "smooth_value")

    tokenize: Literal["none", "13a", "intl", "char", "zh"] = "none"
    smooth_method: Literal["exp", "floor", "add-k", "none"] = "exp"
    smooth_value: Annotated[float | None, _ABOVE_0] = None
    lowercase: bool = False
    max_ngram_order: base.Positive = 4

    def settings(self) -> dict[str, object]:
        """Return sacrebleu's version and the rule for sentences."""
        return super().settings() | {"sentences": "effective order"}

    def columns(self) -> tuple[str, ...]:
        """Return lengths, matched n-grams by order, n-grams by order."""
        orders = range(1, self.max_ngram_order + 1)
        matched, total = (tuple(f"{kind}{n}" for n in orders) for kind in ("matched", "total"))
        return ("hypothesis", "reference", *matched, *total)

    def parts(self, sums: FloatArray) -> dict[str, float]:
        """Return the brevity penalty and the (smoothed) precisions by order."""
        bleu = self.scorer()._compute_score_from_stats(sums.tolist())
        precisions = {f"precision{n}": p / 100 for n, p in enumerate(bleu.precisions, 1)}
        return {"brevity": bleu.bp} | precisions


@dataclass(frozen=True, kw_only=True)
class Chrf(_Sacrebleu):
    """chrF and, with ``word_order=2``, chrF++ (Popovic 2015, 2017) by sacrebleu; 0 to 1.

    - ``char_order``, ``word_order``: the longest n-grams of characters and of words.
    - ``beta``: recall weighs ``beta`` times as much as precision.
    - ``lowercase``: compare in lower case.
    - ``whitespace``: keep white space in character n-grams.
    """

    name = "chrf"
    title = "character n-gram F-measure, by sacrebleu (Popovic 2015, 2017)"
    citation = base.cited("popovic-2015-chrf", "popovic-2017-chrf")
    kind = "CHRF"

    char_order: int = 6
    word_order: int = 0
    beta: base.Positive = 2
    lowercase: bool = False
    whitespace: bool = False

    def check_fields(self) -> None:
        """Refuse negative orders, and no order at all."""
        orders = self.char_order, self.word_order
        fix = "Use 0 or more, and at least one of them above 0."
        self.refuse_unless(min(orders) >= 0 and any(orders), "char_order", "word_order", fix=fix)

    def columns(self) -> tuple[str, ...]:
        """Return n-grams of hypothesis and reference and what they share, by order."""
        orders = [f"char{n}" for n in range(1, self.char_order + 1)]
        orders += [f"word{n}" for n in range(1, self.word_order + 1)]
        return tuple(f"{kind} {n}" for n in orders for kind in ("hypothesis", "reference", "match"))


@dataclass(frozen=True, kw_only=True)
class MeteorES(kinds.SentenceMean):
    """METEOR with exact and stem matches only (after Banerjee and Lavie 2005); 0 to 1.

    Not comparable with figures of the Meteor program, which has synonyms and paraphrases too.

    - ``alpha``: the share of precision in the harmonic mean; 0.9 makes recall weigh nine times as
      much.
    - ``beta``: the exponent of the fragmentation penalty.
    - ``gamma``: the greatest fragmentation penalty.
    """

    name = "meteor_es"
    bounds = (0.0, 1.0)
    title = (
        "unigram F-measure with a penalty for scattered matches; exact and stem stages of METEOR"
        " (Banerjee and Lavie 2005)"
    )
    needs = "texts"
    resampling = "chosen references fixed"
    after_counting = ("alpha", "beta", "gamma")
    citation = base.cited("banerjee-lavie-2005-meteor")

    alpha: Annotated[float, _SHARE] = 0.9
    beta: Annotated[float, base.Limit("Use 0 or more.", least=0)] = 3.0
    gamma: Annotated[float, _SHARE] = 0.5

    def settings(self) -> dict[str, object]:
        """Return case, tokenisation and stemmer."""
        return {"case": "lower", "tok": "whitespace", "stemmer": "porter"}

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """Match words with each reference.

        Columns are ``matches chunks hypothesis reference``: matched words, runs of them that
        stand together on both sides, and the lengths in words.
        """
        present = reference_slots(segments)
        rows = np.zeros((*present.shape, 4), dtype=np.int64)
        words, known_stem = cache(_words), cache(_stemmer().stem)
        for row, segment in enumerate(segments):
            hypothesis = words(segment.hypothesis)
            for slot, text in enumerate(segment.references):
                if text is None:
                    continue
                pairs = _match(hypothesis, words(text), known_stem)
                rows[row, slot] = len(pairs), _chunks(pairs), len(hypothesis), len(words(text))
        return kinds.of_references(rows, present, ("matches", "chunks", "hypothesis", "reference"))

    def sentences(self, statistics: Statistics) -> SegmentScores:
        """Score each segment by its best reference; parts ``precision recall penalty``."""
        named = self._parts(statistics.rows)
        precision, recall, penalty = named.values()
        mean = kinds.ratio(precision * recall, self.alpha * precision + (1 - self.alpha) * recall)
        scores, present = mean * (1 - penalty), statistics.present
        chosen = kinds.best_slot(scores, present)
        parts = {name: kinds.pick(values, chosen) for name, values in named.items()}
        return SegmentScores(kinds.pick(scores, chosen), chosen, parts, "no reference")

    def _parts(self, rows: npt.NDArray[np.number]) -> dict[str, FloatArray]:
        """Return precision, recall and penalty; 0 where there is nothing to divide by."""
        matches, chunks, hypothesis, reference = np.moveaxis(rows.astype(np.float64), -1, 0)
        precision, recall = kinds.ratio(matches, hypothesis), kinds.ratio(matches, reference)
        penalty = self.gamma * kinds.ratio(chunks, matches) ** self.beta
        return {"precision": precision, "recall": recall, "penalty": penalty}


def _words(text: str) -> list[str]:
    return text.lower().split()


def _stemmer() -> Any:
    from nltk.stem import porter  # pyright: ignore[reportMissingTypeStubs]

    return porter.PorterStemmer()


def _match(
    hypothesis: Sequence[str], reference: Sequence[str], stem_of: Callable[[str], str]
) -> list[tuple[int, int]]:
    """Pair equal words, then stems, from the end, with the last free one; in hypothesis order."""
    ours, theirs = dict(enumerate(hypothesis)), dict(enumerate(reference))
    pairs = _take(ours, theirs)
    pairs += _take(
        {at: stem_of(word) for at, word in ours.items()},
        {at: stem_of(word) for at, word in theirs.items()},
    )
    return sorted(pairs)


def _take(ours: dict[int, str], theirs: dict[int, str]) -> list[tuple[int, int]]:
    places = core.grouped((word, at) for at, word in theirs.items())
    pairs = [(at, places[word].pop()) for at, word in reversed(ours.items()) if places.get(word)]
    for at, other in pairs:
        del ours[at], theirs[other]
    return pairs


def _chunks(pairs: Sequence[tuple[int, int]]) -> int:
    starts = [pair for before, pair in pairwise(pairs) if pair != (before[0] + 1, before[1] + 1)]
    return len(starts) + bool(pairs)
