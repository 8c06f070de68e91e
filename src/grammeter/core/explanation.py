"""Explanations: why one output of one sentence got its score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from grammeter.core.edit import Edit, JudgedEdit, minimise
from grammeter.core.signature import Signature

Method = Literal["shapley", "leave-one-out"]
"""How a sentence score is shared out among edits; see :mod:`grammeter.scoring.attribution`."""

METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True, slots=True)
class Grid:
    """A small table of an explanation: counts by order, an alignment, sums by reference."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """How much each edit of an output contributes to its sentence score.

    Attributes
    ----------
    method
        How the score is shared out.
    total, baseline
        The sentence score with all edits and with none, in the metric's units.
    edits
        Those of the system, in the order of the sentence.
    values
        One for each edit, in the metric's units; NaN where a score that it needs is missing.
    errors
        The standard error of each value, where orders are drawn.
    orders
        How many random orders of the edits were drawn; ``None``: nothing was drawn.
    signature
        What the values depend on besides the metric.
    reason
        Why a value is NaN.
    """

    method: Method
    total: float
    baseline: float
    edits: tuple[Edit, ...]
    values: tuple[float, ...]
    errors: tuple[float, ...] | None = None
    orders: int | None = None
    signature: Signature
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a sentence got its score.

    Attributes
    ----------
    value
        The sentence score, in the metric's units.
    parts
        Further figures by name.
    chosen
        Number of the reference or annotator that the score belongs to, if to one.
    edits
        The system's edits and the missed ones, in the order of the sentence.
    grids
        Whatever else shows how the score came about.
    reason
        Why the value is NaN.
    attribution
        What each edit contributes to the value, if that was asked for.
    corpus_chosen, corpus_value
        Number of the reference that the corpus score chose, and the sentence's score against it,
        for a metric that chooses by running totals.
    """

    value: float
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    chosen: int | None = None
    edits: tuple[JudgedEdit, ...] = ()
    grids: tuple[Grid, ...] = ()
    reason: str | None = None
    attribution: Attribution | None = None
    corpus_chosen: int | None = None
    corpus_value: float | None = None

    def judged(self, edit: Edit, source: Sequence[str]) -> JudgedEdit | None:
        """Return what the metric says of an edit of the system, if it knows the same one.

        Edits are the same if they are, less the tokens that they leave as they are.
        ``source`` are the tokens of the sentence.
        """
        wanted = _changed(edit, source)
        made = (judged for judged in self.edits if judged.verdict != "missed")
        return next((each for each in made if _changed(each.edit, source) == wanted), None)


def _changed(edit: Edit, source: Sequence[str]) -> tuple[int, int, str]:
    bare = minimise(edit, source)
    return bare.start, bare.end, bare.correction
