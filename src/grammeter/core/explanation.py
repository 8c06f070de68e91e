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

    ``total`` and ``baseline`` are the sentence score with all edits and with none, ``values`` has
    one for each of the system's ``edits``, in the order of the sentence; all are in the metric's
    units. A value is NaN, for a ``reason``, where a score that it needs is missing. ``errors``, the
    standard error of each value, are there if random ``orders`` of the edits were drawn: so many.
    ``signature`` is what the values depend on besides the metric.
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

    ``value`` is in the metric's units, NaN for a ``reason``; ``parts`` are further figures by name;
    ``chosen`` numbers the reference or annotator that the score belongs to, if to one; ``edits``
    are the system's and the missed ones, in the order of the sentence; ``grids`` are whatever else
    shows how the score came about. For a metric that chooses by running totals, ``corpus_chosen``
    numbers the reference that the corpus score chose; ``corpus_value`` is the score against it.
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
