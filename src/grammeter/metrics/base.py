"""What a metric is: a frozen value whose fields are its whole configuration."""

import math
import re
import types
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cache, wraps
from importlib.resources import files
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, Union, cast

import numpy as np

from grammeter import core

Needs = Literal["gold", "texts", "gold or texts", "nothing"]
"""What a metric compares a hypothesis with: gold edits, reference texts, either, or nothing."""


class Limit(NamedTuple):
    """Which numbers a field may have, all of them finite: ``Annotated[int, Limit(...)]``."""

    fix: str
    """What a message tells the user to do."""
    least: float = -math.inf
    most: float = math.inf
    above: float = -math.inf

    def fits(self, value: object) -> bool:
        """Whether a value is in range; what is no number always is."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return True
        return math.isfinite(value) and self.above < value and self.least <= value <= self.most


class Matches(NamedTuple):
    """How many gold edits there are, which of them a hypothesis has, and its other edits."""

    gold: int
    matched: frozenset[object]
    spurious: frozenset[object]


Grids = Iterable[core.Grid]  # tables of an explanation
Segments = Sequence[core.Segment]
BySystem = Mapping[str, Segments]
Positive = Annotated[int, Limit("Use 1 or more.", least=1)]
FBeta = Annotated[float, Limit("beta is greater than 0.", least=1e-150, most=1e150)]
"""Weight of recall in F, whose square is a number, too."""


@cache
def _papers() -> dict[str, str]:
    text = files("grammeter.metrics").joinpath("citations.bib").read_text(encoding="utf-8")
    return {re.split("[{,]", entry)[1]: entry for entry in text.strip().split("\n\n")}


def cited(*keys: str) -> str:
    """Return entries of ``citations.bib``."""
    return "\n".join(_papers()[key] for key in keys)


@dataclass(frozen=True, kw_only=True)
class Metric(ABC):
    """Base of all metrics.

    A subclass is a frozen, keyword-only dataclass with the class attributes below and the
    abstract methods. :meth:`statistics` does the work, on a whole batch; everything else reduces
    its rows and is cheap. ``str(metric)`` is its spelling, ``gleu(order=3)``;
    :func:`grammeter.metric` reads it back.
    """

    name: ClassVar[str]  # the spelling without fields
    title: ClassVar[str]  # one sentence: what it measures and whose it is
    needs: ClassVar[Needs]
    citation: ClassVar[str]  # BibTeX of the papers to cite
    higher_is_better: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (-math.inf, math.inf)  # of the score of a corpus
    resampling: ClassVar[str] = "chosen references fixed"
    """How resampled scores treat the choice among references; stands in the signature."""
    pooled: ClassVar[bool] = False  # does a score depend on the other systems of the run?
    extracts: ClassVar[bool] = False  # is there :meth:`found_edits`?
    judges_edits: ClassVar[bool] = False
    """Whether :meth:`explain` says of each edit if it is right, without asking a model."""
    asks_language_model: ClassVar[bool] = False  # on a server
    by_row: ClassVar[bool] = True
    """Whether the sentence score of rows with one reference depends on no other row."""
    tok: ClassVar[str | None] = None  # how texts are tokenised, for the signature
    after_counting: ClassVar[tuple[str, ...]] = ()  # fields that :meth:`statistics` does not read
    counted_as: ClassVar[str | None] = None  # what only metrics share that count alike

    def __init_subclass__(cls, **options: Any) -> None:
        """Let scores be made of the sentences that can be judged, whoever wrote the metric."""
        super().__init_subclass__(**options)
        for name in {"score", "sentences", "summands"} & vars(cls).keys():
            setattr(cls, name, _of_judged(vars(cls)[name]))

    def __post_init__(self) -> None:
        for name, (allowed, limits) in _allowed(type(self)).items():
            value = getattr(self, name)
            try:
                fitted = core.spelling.coerce(value, allowed)
            except ValueError:
                fault = f"{self.name}: {name}={core.spelling.spell_value(value)} is not possible"
                raise core.UsageError(fault, fix=f"{name} takes {_describe(allowed)}.") from None
            object.__setattr__(self, name, fitted)
            for limit in limits:
                self.refuse_unless(limit.fits(fitted), name, fix=limit.fix)
        self.check_fields()

    def check_fields(self) -> None:  # noqa: B027 - most metrics have nothing to add
        """Raise :class:`UsageError` where values are out of range or do not go together."""

    def refuse_unless(self, fits: bool, *names: str, fix: str) -> None:
        """Raise :class:`UsageError`, naming these fields, unless their values fit."""
        if not fits:
            shown = ", ".join(f"{name}={getattr(self, name)}" for name in names)
            raise core.UsageError(f"{self.name}: {shown} is not possible", fix=fix)

    @abstractmethod
    def statistics(self, segments: Sequence[core.Segment]) -> core.Statistics:
        """Count once: one row per segment, one slot per competing reference."""

    def pooled_statistics(self, segments: Segments, copies: Sequence[int]) -> core.Statistics:
        """Count all systems' outputs (pooled metrics only); ``copies``: systems that wrote each."""
        return self.statistics(segments)

    @abstractmethod
    def score(self, statistics: core.Statistics) -> core.Score:
        """Score a corpus from its rows, the choice among references included."""

    @abstractmethod
    def sentences(self, statistics: core.Statistics) -> core.SegmentScores:
        """Score each segment by itself; ``in_corpus`` says what running totals chose."""

    @abstractmethod
    def summands(self, statistics: core.Statistics) -> core.FloatArray:
        """Return rows that add up, shape ``(segments, k)``, references chosen as in the score.

        ``value_of(summands(s).sum(0))`` is the corpus score, but see :attr:`resampling`.
        """

    @abstractmethod
    def value_of(self, sums: core.FloatArray) -> core.FloatArray:
        """Score sums of :meth:`summands`: shape ``(..., k)`` to ``(...)``."""

    def counting(self) -> object:
        """Return what :meth:`statistics` depends on: metrics with equal values share rows."""
        read = (f.name for f in fields(self) if f.name not in self.after_counting)
        return self.counted_as or type(self), *(getattr(self, name) for name in read)

    def gold_notes(self, gold: Sequence[core.GoldEdits]) -> Iterable[str]:
        """Say what a reader must know of scores against these gold edits."""
        return ()

    def text_notes(self, segments: Sequence[core.Segment]) -> Iterable[str]:
        """Say what a reader must know of scores of these texts."""
        return ()

    def count_types(
        self, systems: BySystem, *, tier: core.Tier | None = None, by_gold: bool = False
    ) -> core.CountedTypes | None:
        """Count edits by error type, by system; ``None`` if the metric counts none.

        ``tier`` is ``operation``, ``main`` or ``full``; ``by_gold`` counts hits and misses alone,
        by the gold edits' own types.
        """
        return None

    def type_values(self, counts: core.FloatArray | core.IntArray) -> core.FloatArray:
        """Score counts of :meth:`count_types`: tp, fp and fn, shape ``(..., 3)``, to ``(...)``."""
        raise TypeError(f"{self.name} counts no types")

    def found_edits(
        self, segments: Sequence[core.Segment], *, types: bool = False
    ) -> list[tuple[core.Edit, ...]]:
        """Return the edits of each hypothesis, references apart, if the metric :attr:`extracts`.

        ``types``: also their error types, if the metric knows any, whatever that costs.
        """
        raise TypeError(f"{self.name} extracts no edits by itself")

    def matches(self, segments: Segments) -> Sequence[Mapping[int, Matches]] | None:
        """Hold each hypothesis's edits against each annotator's; ``None`` if no edit counts as one.

        Counts of tp, proposed and gold edits are then the rows of :meth:`statistics`.
        """
        return None

    @property
    def reads_corpus(self) -> bool:
        """Whether explaining a sentence needs the rows of all sentences of its system."""
        return False

    def within(self, surroundings: core.Surroundings) -> "Metric":
        """Return a metric that scores one sentence as part of a corpus, with its frequencies."""
        return self

    def bound(self, **of_corpus: object) -> Self:
        """Return a copy that remembers what it took from a corpus, for :meth:`within`."""
        bound = copy(self)
        for name, value in of_corpus.items():
            object.__setattr__(bound, name, value)
        return bound

    def explain(self, segment: core.Segment) -> core.Explanation:
        """Say why one segment gets its score."""
        statistics = self.statistics([segment])
        scores = self.sentences(statistics)
        return self.explained(scores, grids=self.tables(segment, statistics, int(scores.chosen[0])))

    def tables(self, segment: core.Segment, statistics: core.Statistics, chosen: int) -> Grids:
        """Show how one segment's score came about; ``chosen``: its reference, or -1.

        By default what was counted against each reference.
        """
        if self.needs != "nothing" and statistics.present.any():
            slots = np.flatnonzero(statistics.present[0]).tolist()
            columns = {f"reference {statistics.labels[x]}": statistics.rows[0, x] for x in slots}
            yield grid_of("counts by reference", {"count": statistics.columns, **columns})

    def explained(
        self, scores: core.SegmentScores, edits: Iterable[core.JudgedEdit] = (), grids: Grids = ()
    ) -> core.Explanation:
        """Return the first of these scores with its parts, edits and tables."""
        value, chosen = float(scores.values[0]), int(scores.chosen[0])
        reason = scores.reason if math.isnan(value) else None
        parts = {name: column[0].item() for name, column in scores.parts.items()}
        number = chosen if chosen >= 0 else None
        return core.Explanation(value, parts, number, tuple(edits), tuple(grids), reason=reason)

    def evaluate(self, segments: Sequence[core.Segment]) -> core.Score:
        """Count and score in one step."""
        return self.score(self.statistics(segments))

    @property
    def notice(self) -> str | None:
        """What a reader of the scores must know, such as a stand-in for a missing model."""
        return None

    def models(self) -> Mapping[str, str]:
        """Return the pretrained models in use: what each is for, and its name or folder."""
        return {}

    def settings(self) -> dict[str, object]:
        """Return what the signature shows besides the fields; subclasses add theirs."""
        return {} if self.tok is None else {"tok": self.tok}

    def signature(self, context: Mapping[str, object] | None = None) -> core.Signature:
        """Return name, all fields, :meth:`settings`, another package's name, context of the run."""
        shown: dict[str, object] = {f.name: _shown(getattr(self, f.name)) for f in fields(self)}
        package = core.distribution_of(type(self))
        origin: dict[str, object] = {} if package is None else {"package": package}
        run, alone = dict(context or {}), shown | self.settings() | origin
        usual = {key: value for key, value in alone.items() if key not in run}
        return core.Signature.of(self.name, usual | run)

    def __str__(self) -> str:
        changed = {f.name: now for f in fields(self) if (now := getattr(self, f.name)) != f.default}
        return core.spelling.spell(self.name, changed)


def grid_of(title: str, columns: Mapping[str, Iterable[Any]], where: Any = ...) -> core.Grid:
    """Return a table of named columns, fractions with four decimals; ``where`` picks rows."""
    cells = [
        [f"{x:.4f}" if isinstance(x, float) else str(x) for x in np.array(column)[where].tolist()]
        for column in columns.values()
    ]
    return core.Grid(title, tuple(columns), tuple(zip(*cells, strict=True)))


def _of_judged(method: Callable[[Any, core.Statistics], Any]) -> Callable[..., Any]:
    """Make a method see the judged rows alone; the others get NaN, or summands that are zero."""

    @wraps(method)
    def of_judged(self: Metric, statistics: core.Statistics) -> Any:
        result, judged = method(self, statistics.counted), statistics.judged
        if judged is None:
            return result
        if isinstance(result, core.Score):
            why = "no sentence can be judged"
            return result if judged.any() else replace(result, value=math.nan, parts={}, reason=why)
        if isinstance(result, core.SegmentScores):
            return result.among(judged)
        return core.spread(result, judged)

    return of_judged


@cache
def _allowed(cls: type[Metric]) -> dict[str, tuple[tuple[object, ...], tuple[Limit, ...]]]:
    hints = typing.get_type_hints(cls, include_extras=True)
    return {
        f.name: (tuple(_options(hints[f.name])), getattr(hints[f.name], "__metadata__", ()))
        for f in fields(cls)
    }


def _options(hint: Any) -> list[object]:
    origin = typing.get_origin(hint)
    if origin is Annotated:
        return _options(hint.__origin__)
    if origin is Literal:
        return list(typing.get_args(hint))
    if origin in (Union, types.UnionType):
        return [option for part in typing.get_args(hint) for option in _options(part)]
    return [None] if hint is type(None) else [origin or hint]


def _describe(allowed: Sequence[object]) -> str:
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    shown = [
        words.get(option, option.__name__)
        if isinstance(option, type)
        else core.spelling.spell_value(cast("core.spelling.Value", option))
        for option in allowed
    ]
    return ", ".join(shown[:-1]) + " or " + shown[-1] if len(shown) > 1 else shown[0]


def _shown(value: object) -> object:
    return core.spelling.spell_value(value) if isinstance(value, tuple) else value  # pyright: ignore
