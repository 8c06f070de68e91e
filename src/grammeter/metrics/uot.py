"""UOT-ERRANT: edits are transported to those of a reference, not matched with them."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated, Literal, NamedTuple

import numpy as np

from grammeter import core, errant
from grammeter.alignment import segment_edits
from grammeter.metrics import base, edit_f, kinds
from grammeter.models import ChangeDistance, Request, Steps, run_together
from grammeter.stats import transport_plan

_RULES = errant.Rules()
_COUNTS = ("unmoved", "unconverged", "truncated")
# The original program takes distances in single precision, as the root of |x|^2 + |y|^2 - 2 x y, so
# that equal vectors are up to 5e-4 of their length apart, by chance. Under `src-add`, where each
# edit that both sides have makes equal vectors, this moves its figures: here, its mean in them.
_ROUNDING = 9e-5
Above0 = Annotated[float, base.Limit("Use a number above 0.", least=1e-6)]
Vectorize = Literal["ref-remove", "src-add"]


class _Side(NamedTuple):
    """The edits of a hypothesis or of a reference, and the texts after and before each of them."""

    edits: Sequence[core.Edit]
    changes: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, source: Sequence[str], edits: Sequence[core.Edit], vectorize: Vectorize) -> "_Side":
        """Make the texts; of two edits that overlap, only the first one is applied."""

        def text(applied: Sequence[core.Edit]) -> str:
            return " ".join(core.apply(source, core.without_overlaps(applied)[0]))

        if vectorize == "src-add":
            return cls(edits, [(text([edit]), text([])) for edit in edits])
        without = [text([*edits[:at], *edits[at + 1 :]]) for at in range(len(edits))]
        return cls(edits, [(text(edits), rest) for rest in without])


_Both = tuple[_Side, _Side]  # the edits of a hypothesis and of one reference


def _items(both: _Both) -> list[tuple[str, str, str, str]]:
    """Return pairs of changes to compare; each with itself where one side has none."""
    first, second = (side.changes for side in both)
    if first and second:
        return [(*one, *other) for one in first for other in second]
    return [(*one, *one) for one in (*first, *second)]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What goes from each edit of a hypothesis, a row, to each one of a reference, a column."""

    edits: _Both
    masses: tuple[core.FloatArray, core.FloatArray]  # of the hypothesis, of the reference
    moved: core.FloatArray
    counts: Sequence[float]  # see `_COUNTS`

    def row(self) -> list[float]:
        """Return the mass that is moved, that of the hypothesis, that of the reference; counts."""
        return [*(float(sums.sum()) for sums in (self.moved, *self.masses)), *self.counts]

    def grids(self, source: Sequence[str]) -> Iterator[core.Grid]:
        """Show which share of each edit's mass goes to each edit of the reference."""
        proposed, gold = (
            [f"[{' '.join(source[e.start : e.end])}→{e.correction}]" for e in side.edits]
            for side in self.edits
        )
        masses = self.masses[0]
        shares = kinds.ratio(self.moved, np.broadcast_to(masses[:, None], self.moved.shape))
        table = np.column_stack([shares, 1 - shares.sum(axis=1)])
        columns = {
            "edit": np.repeat(proposed, table.shape[1]),
            "mass": np.repeat(masses, table.shape[1]),
            "goes to": [*gold, "(stays)"] * len(proposed),
            "share of its mass": table.ravel(),
        }
        yield base.grid_of("transport plan", columns)

    def judged(self, source: Sequence[str]) -> list[core.JudgedEdit]:
        """Return all edits with their masses; ``matched`` are those that both sides have."""
        bare = (
            [core.Edit(e.start, e.end, e.correction) for e in side.edits] for side in self.edits
        )
        sides = zip(bare, map(np.ndarray.tolist, self.masses), strict=True)
        proposed, gold = (dict(zip(edits, masses, strict=True)) for edits, masses in sides)
        verdicts: dict[core.Edit, core.EditVerdict] = {
            **{edit: "matched" if edit in gold else "spurious" for edit in proposed},
            **{edit: "missed" for edit in gold if edit not in proposed},
        }
        ordered = edit_f.judged_in_order(source, verdicts.items())
        return [replace(one, weight={**gold, **proposed}[one.edit]) for one in ordered]


@dataclass(frozen=True, kw_only=True)
class UotErrant(kinds.Extracting, edit_f.EditF, kinds.Asking):
    """F-measure over edits whose masses are transported to similar edits of the reference.

    An edit's vector says how it moves the mean state of the sentence in an encoder, its mass is the
    length of that vector. Gold edits are used as they stand, but those of the type ``UNK``; where
    there are none, edits are extracted from the reference texts.

    - ``model``: the encoder, a folder or a name on the hub; ``layer``: whose states, counted from
      1; ``none``: the last ones.
    - ``beta``: weight of recall in F; 0.5 prefers precision.
    - ``reg``: weight of the plan's entropy; ``reg_m``: of the penalty for mass that is not moved.
    - ``cost``: distance of two vectors: ``euclidean``, or ``cosine``, 1 less their cosine.
    - ``mass``: ``norm`` of the vector, or ``uniform``: 1 divided by the number of edits of a side.
    - ``vectorize``: ``ref-remove``: the sentence with all edits, less that without the edit;
      ``src-add``: the source with the edit alone, less the source.
    - ``pipeline``: a spaCy pipeline by name or folder; ``none``: the best one that is installed.
    """

    name = "uot-errant"
    title = "ERRANT with edits that are transported, not matched (Goto et al. 2026)"
    citation = base.cited("goto-etal-2026-grammatical")
    needs = "gold or texts"
    layered = True
    bounds = (-math.inf, math.inf)  # transport may move more than the mass
    lacking = "the model gave no number"
    counted_as = "uot-errant"
    after_counting = ("beta",)

    model: str = "google/electra-base-discriminator"
    layer: int | None = None
    reg: Above0 = 0.1
    reg_m: Above0 = 0.1
    cost: Literal["euclidean", "cosine"] = "euclidean"
    mass: Literal["norm", "uniform"] = "norm"
    vectorize: Vectorize = "ref-remove"
    pipeline: str | None = None

    @property
    def used_layer(self) -> int | None:
        """The layer whose states are compared, from 1; ``None``: the last ones."""
        return None if self.layer is None else super().used_layer

    def steps(self, segments: Sequence[core.Segment]) -> Steps[core.Statistics]:
        """Ask for all distances at once; columns are those of F, and counts.

        ``unmoved``: edits whose vector is zero; ``unconverged``: whether the search for the plan
        ended without one; ``truncated``: whether the encoder read only a part of a text.
        """
        plans = yield from self._plans(segments)
        return _statistics(plans)

    def _plans(self, segments: Sequence[core.Segment]) -> Steps[list[dict[int, _Plan]]]:
        compared = list(self._compared(segments))
        items = [_items(both) for by in compared for both in by.values()]
        measure = ChangeDistance(layer=self.layer)
        (figures,) = yield [Request(self.model, measure, list(chain.from_iterable(items)))]
        parts = iter(np.split(figures, np.cumsum(list(map(len, items)))))
        plans = ({n: self._plan(both, next(parts)) for n, both in by.items()} for by in compared)
        return list(core.track(plans, self.name, len(compared)))

    def _compared(self, segments: Sequence[core.Segment]) -> Iterator[dict[int, _Both]]:
        """Yield a hypothesis' edits with a reference's, by the number of the reference."""
        edits = segment_edits(segments, self.extractor().annotate)
        for segment, (extracted, gold) in zip(segments, edits, strict=True):
            source = segment.source.split()
            sides = {
                number: _Side.of(source, [*filter(_RULES.counts, some)], self.vectorize)
                for number, some in {None: extracted, **gold}.items()
            }
            proposed = sides[None]
            yield {number: (proposed, sides[number]) for number in gold}

    def _plan(self, both: _Both, figures: core.FloatArray) -> _Plan:
        """Transport; ``figures``, shape ``(items, 5)``, are those of :class:`ChangeDistance`."""
        n, m = (len(side.edits) for side in both)
        norms, cost = (figures[:n, 0], figures[n:, 1]), np.zeros((n, m))
        if n and m:
            first, second, distances, cosines, _ = np.moveaxis(figures.reshape(n, m, -1), -1, 0)
            norms, defined = (first[:, 0], second[0]), (first != 0) & (second != 0)
            least = _ROUNDING * np.sqrt(first * second) * (self.vectorize == "src-add")
            cosine = self.cost == "cosine"
            cost = 1 - np.where(defined, cosines, 0.0) if cosine else np.maximum(distances, least)
        uniform = self.mass == "uniform"
        masses, wanted = (np.full(len(x), 1 / max(1, len(x))) if uniform else x for x in norms)
        moved, converged = transport_plan(masses, wanted, cost, reg=self.reg, reg_m=self.reg_m)
        unmoved = sum(int((norm == 0).sum()) for norm in norms)
        counts = unmoved, not converged, (figures[:, -1] > 0).any()
        return _Plan(both, (masses, wanted), moved, list(map(float, counts)))

    def counts(self, statistics: core.Statistics) -> core.Statistics:
        """Return the masses from which F is made."""
        rows = statistics.rows[..., : len(edit_f.COLUMNS)]
        return core.Statistics(rows, statistics.present, statistics.labels, edit_f.COLUMNS)

    def _best(self, counts: core.Statistics, *, running: bool) -> core.IntArray:
        return edit_f.errant_choice(counts, self.beta, digits=None, running=running)

    def further(
        self, statistics: core.Statistics, slots: core.IntArray
    ) -> dict[str, core.IntArray]:
        """Return the counts of what went wrong against the chosen reference."""
        chosen = edit_f.chosen_rows(statistics, slots)[:, len(edit_f.COLUMNS) :]
        return dict(zip(_COUNTS, chosen.astype(np.int64).T, strict=True))

    def explain(self, segment: core.Segment) -> core.Explanation:
        """Return the edits with their masses, and the plan."""
        (plans,) = run_together([self._plans([segment])])
        source, by_number = segment.source.split(), plans[0]
        statistics = _statistics(plans)
        explained = self.explained_by(statistics, lambda number: by_number[number].judged(source))
        grids = by_number[explained.chosen or 0].grids(source)
        return replace(explained, grids=(*explained.grids, *grids))


@dataclass(frozen=True, kw_only=True)
class SentUotErrant(edit_f.SentenceF, UotErrant):
    """Mean over sentences of F against each one's best reference; fields: :class:`UotErrant`.

    A sentence without edits on either side scores 1.
    """

    name = "sent-uot-errant"
    title = "mean of sentence-level UOT-ERRANT F-measures (Goto et al. 2026)"


def _statistics(plans: Iterable[Mapping[int, _Plan]]) -> core.Statistics:
    rows = [{number: plan.row() for number, plan in by.items()} for by in plans]
    return kinds.by_label(rows, (*edit_f.COLUMNS, *_COUNTS), np.float64)
