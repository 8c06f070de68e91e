"""Training data: pairs of partly corrected sentences (IMPARA), outputs with human scores (SOME).

Maeda et al. (2022), sections 2.3 and 2.4. The impact of an edit is how much the meaning of the
corrected sentence changes when this edit alone is undone: ``1 - cos(T, T without e)`` (equation 5),
over mean-pooled last states of an encoder. The impact of a set of edits is the sum (equation 6).
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, Literal, Self, get_args

import numpy as np

from grammeter.alignment import appliable, draw_subset, flip_some, partial_text
from grammeter.core import DataError, Edit, FloatArray, UsageError, require
from grammeter.formats import Correction, RatedOutput, read_object, write_object, write_text
from grammeter.models import MeanSimilarity, Request, answer
from grammeter.training.network import PARTS, Example, Part, allotment, assign_parts

LIMIT = 512  # tokens to which texts are cut, as by the authors, if the encoder takes so many
PAIRS = "pairs.jsonl"
RECORD = "draws.json"
DRAWS = 30  # largest number of pairs from one sentence (section 2.4)
EQUAL = 1e-6  # impacts with a smaller difference count as equal: they are in single precision


@dataclass(frozen=True)
class EditedSentence:
    """A source sentence, the edits that can be applied together, and the impact of each."""

    source: str
    edits: tuple[Edit, ...]
    impacts: tuple[float, ...]
    origin: str

    @cached_property
    def words(self) -> list[str]:
        """The tokens of the source."""
        return self.source.split()

    def text(self, subset: Iterable[int]) -> str:
        """Return the sentence with some of its edits applied."""
        return partial_text(self.words, [self.edits[n] for n in sorted(subset)]).strip()

    def impact(self, subset: Iterable[int]) -> float:
        """Return the summed impact of some edits (equation 6)."""
        return sum(self.impacts[n] for n in sorted(subset))


@dataclass(frozen=True)
class Measured:
    """Parallel data with the impacts of their edits."""

    sentences: tuple[EditedSentence, ...]  # those with edits
    total: int  # number of sentences that were read
    edits: str = "given"  # origin of the edits: ``given``, or what extracted them
    left_out: int = 0  # number of edits that change nothing or overlap an earlier one


def measure_impacts(corrections: Sequence[Correction], encoder: str) -> list[EditedSentence]:
    """Measure the impact of every edit (equation 5); sentences without edits are left out.

    An edit that changes nothing or overlaps an earlier one is left out, too. Impacts lie between 0
    and 2, usually far below 1. Raises :class:`DataError` if the model is not an encoder, or gives
    no similarity; :class:`MissingResourceError` if torch or the encoder is missing.
    """
    bare: list[EditedSentence] = []
    pairs: list[tuple[str, str]] = []  # the whole correction, and the one without an edit
    for row in corrections:
        words, edits = row.source.split(), appliable(row.edits or ())
        kept = tuple(e for e in edits if words[e.start : e.end] != e.correction.split())
        if kept:
            sentence = EditedSentence(" ".join(words), kept, (), row.origin)
            numbers = range(len(kept))
            bare.append(sentence)
            whole = sentence.text(numbers)
            pairs += [(whole, sentence.text({*numbers} - {without})) for without in numbers]
    (figures,) = answer([Request(encoder, MeanSimilarity(limit=LIMIT), pairs)])
    if np.isnan(figures[:, 0]).any():
        fault = f"the encoder {encoder!r} gives texts no similarity"
        raise DataError(fault, fix="Name an encoder like BERT.")
    impacts = iter((1 - figures[:, 0]).tolist())
    return [replace(s, impacts=tuple(next(impacts) for _ in s.edits)) for s in bare]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two versions of one sentence; ``high`` has the greater impact and is the better one."""

    part: Part
    source: str
    low: str
    high: str
    low_edits: tuple[int, ...]  # numbers of the edits that are applied, from 0
    high_edits: tuple[int, ...]
    low_impact: float  # their summed impact
    high_impact: float
    origin: str  # place of the sentence, ``file:line``

    @property
    def inclusion(self) -> bool:
        """Whether one set of edits contains the other: then counting edits would be enough."""
        low, high = set(self.low_edits), set(self.high_edits)
        return low < high or high < low

    def to_dict(self) -> dict[str, Any]:
        """Return one JSON object."""
        return {**asdict(self), "inclusion": self.inclusion}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the object of :meth:`to_dict`."""
        known = {name: data[name] for name in cls.__dataclass_fields__}
        known |= {name: tuple(known[name]) for name in ("low_edits", "high_edits")}
        return cls(**known)


@dataclass(frozen=True)
class PairData:
    """Pairs, and what the card of a model counts of their draws.

    ``sentences`` were read, those ``with_edits`` have these ``edits`` that can be applied, others
    were ``left_out``. Of all ``draws`` those with ``equal_sets``, ``equal_impacts``,
    ``equal_texts`` or ``repeated`` pairs were dropped; of the ``available`` pairs some were
    ``kept``: the share where one set of edits contains the other is the ``inclusion_share``, and
    ``one_edit`` of them come from sentences with a single edit.
    """

    pairs: tuple[Pair, ...]
    counts: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def part(self, part: Part) -> list[Pair]:
        """Return the pairs of one part."""
        return [pair for pair in self.pairs if pair.part == part]

    def to_dict(self) -> dict[str, object]:
        """Return what the card of a model says of its pairs."""
        digest = hashlib.blake2b(pairs_text(self.pairs).encode("utf-8"), digest_size=8)
        sizes = {part: len(self.part(part)) for part in PARTS}
        return {**self.counts, "pairs": sizes, "pairs_hash": digest.hexdigest()}


def draw_pairs(
    sentences: Sequence[EditedSentence],
    *, size: int = 4096, seed: int = 1, parallel_only: bool = False,
) -> PairData:  # fmt: skip
    """Draw at most ``size`` pairs for training, validation and test, 8:1:1.

    Each sentence gives up to 30 draws: a random subset of its edits, and the same with each edit
    flipped with probability ``1 / n`` (section 2.4). Pairs with equal sets, texts or impacts are
    dropped and counted. A source sentence with several annotators has up to 30 draws for each of
    them, but at most 30 sampled pairs. The parts do not share source sentences. ``parallel_only``:
    one pair per sentence, the source and its full correction, the paper's ablation.
    """
    if size < 10:
        raise UsageError(f"{size} pairs", fix="Ask for 10 at least: training needs 8:1:1.")
    dropped = Counter(equal_sets=0, equal_impacts=0, equal_texts=0, repeated=0)
    draws = 1 if parallel_only else DRAWS
    parts = assign_parts([sentence.source for sentence in sentences], seed)
    distinct: dict[frozenset[str], Pair] = {}
    for number, sentence in enumerate(sentences):
        random = Random(f"pairs {seed} {number}")  # noqa: S311 - no secret
        edits = len(sentence.edits)
        for _ in range(draws):
            first = frozenset(range(edits)) if parallel_only else draw_subset(edits, random)
            second = frozenset[int]() if parallel_only else flip_some(first, edits, random)
            pair = _ordered(sentence, parts[sentence.source], first, second)
            if isinstance(pair, str):
                dropped[pair] += 1
            elif (texts := frozenset((pair.low, pair.high))) in distinct:
                dropped["repeated"] += 1
            else:
                distinct[texts] = pair
    pairs = _sample(list(distinct.values()), size, seed)
    one_edit = {(s.source, s.origin) for s in sentences if len(s.edits) == 1}
    inclusion = sum(pair.inclusion for pair in pairs)
    counts = {
        **{"with_edits": len(sentences), "edits": sum(len(s.edits) for s in sentences)},
        **{"draws": draws * len(sentences), **dropped, "available": len(distinct)},
        **{"kept": len(pairs), "inclusion": inclusion, "inclusion_share": inclusion / len(pairs)},
        "one_edit": sum((pair.source, pair.origin) in one_edit for pair in pairs),
    }
    return PairData(tuple(pairs), counts)


Subset = frozenset[int]  # places of edits


def _ordered(sentence: EditedSentence, part: Part, first: Subset, second: Subset) -> Pair | str:
    """Return a pair, or why there is none."""
    if first == second:
        return "equal_sets"
    sides = sorted(((sentence.impact(s), s) for s in (first, second)), key=lambda side: side[0])
    (low_impact, low), (high_impact, high) = sides
    if high_impact - low_impact < EQUAL:
        return "equal_impacts"
    texts = sentence.text(low), sentence.text(high)
    if texts[0] == texts[1]:
        return "equal_texts"
    edits = tuple(sorted(low)), tuple(sorted(high))
    return Pair(part, sentence.source, *texts, *edits, low_impact, high_impact, sentence.origin)


def _sample(pairs: Sequence[Pair], size: int, seed: int) -> list[Pair]:
    sampled: list[Pair] = []
    wanted = allotment(min(size, len(pairs)))
    for part in PARTS:
        here = [pair for pair in pairs if pair.part == part]
        if not (count := min(wanted[part], len(here))):
            fix = "Give more parallel sentences with edits; a few dozen at least."
            raise DataError(f"no pairs for {part}: {len(pairs)} in all", fix=fix)
        random = Random(f"sample {seed} {part}")  # noqa: S311 - no secret
        sampled += _spread(random.sample(here, count), here, random)
    return sampled


def _spread(drawn: Sequence[Pair], pairs: Sequence[Pair], random: Random) -> Sequence[Pair]:
    """Replace pairs of a source sentence with too many, from several annotators."""
    if max(Counter(pair.source for pair in drawn).values()) <= DRAWS:
        return drawn
    chosen: list[Pair] = []
    counts: Counter[str] = Counter()
    for pair in dict.fromkeys([*drawn, *random.sample(pairs, len(pairs))]):
        if counts[pair.source] < DRAWS and len(chosen) < len(drawn):
            counts[pair.source] += 1
            chosen.append(pair)
    return chosen


def pairs_text(pairs: Iterable[Pair]) -> str:
    """Return JSON lines, one pair per line."""
    return "".join(json.dumps(pair.to_dict(), ensure_ascii=False) + "\n" for pair in pairs)


def accuracy(low: FloatArray, high: FloatArray) -> float:
    """Return the share of pairs whose better side has the greater output; NaN without pairs."""
    return float(np.mean(high > low)) if len(low) else float("nan")


def pairs_of(folder: Path) -> list[Pair]:
    """Return the pairs that a model was trained, validated and tested with."""
    try:
        lines = (folder / PAIRS).read_bytes().splitlines()  # a text may hold U+2028
        return [Pair.from_dict(json.loads(line)) for line in lines]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        fault, fix = f"the pairs cannot be read: {error}", "Remove the folder and train anew."
        raise DataError(fault, where=str(folder / PAIRS), fix=fix) from error


def load_or_draw(
    folder: Path, measure: Callable[[], Measured], size: int, seed: int, parallel_only: bool
) -> PairData:
    """Return the pairs in the folder of a model; without any, draw and write them."""
    if (folder / RECORD).exists():
        return PairData(tuple(pairs_of(folder)), read_object(folder / RECORD))
    measured = measure()
    data = draw_pairs(measured.sentences, size=size, seed=seed, parallel_only=parallel_only)
    read = {"sentences": measured.total, "left_out": measured.left_out}
    data = replace(data, counts={"edits_from": measured.edits, **read, **data.counts})
    write_text(folder / PAIRS, pairs_text(data.pairs))
    write_object(data.counts, folder / RECORD)
    return data


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
        both = [(pair.part, Example((pair.low, pair.high))) for pair in self.pairs]
        return {part: [example for of, example in both if of == part] for part in PARTS}

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


Criterion = Literal["grammaticality", "fluency", "meaning"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)


@dataclass(frozen=True)
class HumanScore:
    """The task: the output is the mean human score (Yoshimura et al. 2020); squared error."""

    examples: Mapping[Part, Sequence[Example]]
    first_bias: float  # mean score of the training part
    figure_name = "negative mean squared error"

    def loss(self, outputs: Any, targets: Any) -> Any:
        """Return the mean squared error of a batch."""
        return ((outputs[:, 0] - targets) ** 2).mean()

    def figure(self, outputs: FloatArray, targets: FloatArray) -> float:
        """Return the negative mean squared error."""
        return -float(self.loss(outputs, targets))


def score_task(rated: Sequence[RatedOutput], criterion: Criterion, seed: int) -> HumanScore:
    """Return the task of one criterion, split 8:1:1 by source sentence."""
    if not (scored := [output for output in rated if criterion in output.scores]):
        known = " ".join(dict.fromkeys(name for output in rated for name in output.scores))
        fix = f"Leave it out: --criteria {known}" if known else "Give scores of it."
        raise DataError(f"no scores of {criterion}", fix=fix)
    parts = assign_parts([output.source for output in scored], seed)
    examples: dict[Part, list[Example]] = {part: [] for part in PARTS}
    for output in scored:
        pair = output.source, output.output
        item: str | tuple[str, str] = pair if criterion == "meaning" else output.output
        examples[parts[output.source]].append(Example((item,), output.scores[criterion]))
    for part, of_part in examples.items():
        if not of_part:
            fault = f"no {part} examples for {criterion}: {len(scored)} scored outputs of"
            fix = "Give scores of ten sentences at least."
            raise DataError(f"{fault} {len(parts)} sentences", fix=fix)
    mean = float(np.mean([example.target for example in examples["train"]]))
    return HumanScore(examples, mean)
