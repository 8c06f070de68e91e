"""ERRANT, SentERRANT, and ChERRANT, of characters."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated, ClassVar, Literal

import numpy as np

from grammeter import alignment, core, errant
from grammeter.metrics import base, edit_f, kinds

_RETYPED = (
    "{metric}: the gold edits have types of another scheme ({examples}); for the figures by type"
    " they are typed by {scheme}, like the outputs; --gold-types shows recall by their own types"
)
_MIXED = (
    "{metric}: the outputs are typed by rules and the gold edits by another scheme ({examples}),"
    " so their types never agree; type the gold first: grammeter edits convert -gold"
)
_AS_GIVEN = (
    "the gold edits stand as their file has them; if another program or other resources made them,"
    " extract them anew: grammeter edits extract --scheme cherrant"
)
_OF_WORDS = "the gold edits are of words; edits of characters come from the texts that they make"


@dataclass(frozen=True, kw_only=True)
class Comparing(kinds.Extracting, edit_f.EditF):
    """Base of F-measures over edits that one program finds in hypothesis and reference alike."""

    needs = "gold or texts"
    extracts = True
    judges_edits = True
    after_counting = ("beta", "rounding")
    chinese: ClassVar[bool] = False  # are edits compared as ChERRANT does?

    mode: errant.Mode = "span-correction"
    categories: core.Tier | None = None
    tokens: Literal["any", "single", "multi"] = "any"
    filter: tuple[str, ...] | str | None = ()
    rounding: Annotated[int | None, base.Limit("Use 1 or more decimals, or none.", least=1)] = 4

    def __post_init__(self) -> None:
        types = (self.filter,) if isinstance(self.filter, str) else self.filter
        object.__setattr__(self, "filter", types or ())
        super().__post_init__()

    def check_fields(self) -> None:
        """Refuse a filter of other things than texts."""
        texts = all(type(kind) is str for kind in self.filter or ())  # parsed: a number, say
        self.refuse_unless(texts, "filter", fix="Name error types: filter=R:NOUN:NUM")

    @property
    def agreement(self) -> errant.Rules:
        """Which edits count, and when two agree."""
        single, multi = self.tokens == "single", self.tokens == "multi"
        flags = {"single": single, "multi": multi, "chinese": self.chinese}
        return errant.Rules(mode=self.mode, dropped=frozenset(self.filter or ()), **flags)

    def readied(self, segment: core.Segment) -> core.Segment:
        """Return a segment whose source has the tokens that edits count, between spaces."""
        return segment

    def statistics(self, segments: Sequence[core.Segment]) -> core.Statistics:
        """Count agreeing (as often as a reference has them), proposed and gold edits by slot."""
        return _Batch(self, self.extractor(), segments).statistics()

    def matches(self, segments: base.Segments) -> list[dict[int, base.Matches]]:
        """Hold the edits of each hypothesis against those of each reference."""
        batch = alignment.segment_edits([*map(self.readied, segments)], self.extractor().annotate)
        return [
            {n: self._matched(of.proposed, gold) for n, gold in of.gold.items()} for of in batch
        ]

    def _matched(self, proposed: Sequence[core.Edit], gold: Sequence[core.Edit]) -> base.Matches:
        rules = self.agreement
        counted = [edit for edit in proposed if rules.counts(edit) and not edit.is_noop]
        keys = {key for edit in counted for key in rules.keys(edit)}
        wanted = {
            (place, number): key
            for place, edit in enumerate(gold)
            if rules.counts(edit) and not edit.is_noop
            for number, key in enumerate(rules.keys(edit, keys))
        }
        matched = frozenset(place for place, key in wanted.items() if key in keys)
        return base.Matches(len(wanted), matched, frozenset(keys.difference(wanted.values())))

    def _best(self, counts: core.Statistics, *, running: bool) -> core.IntArray:
        return edit_f.errant_choice(counts, self.beta, digits=self.rounding, running=running)

    def per_type(self, segments: Sequence[core.Segment]) -> dict[str, core.Counts]:
        """Count by error type, on the tier ``categories``; see :meth:`count_types`."""
        return self.count_types({"": segments}).systems[""].totals()

    def count_types(
        self, systems: base.BySystem, *, tier: core.Tier | None = None, by_gold: bool = False
    ) -> core.CountedTypes:
        """Count edits by error type, all types of one scheme; see :meth:`Metric.count_types`.

        The references are those chosen for the score, so that the counts of all types add up to
        the score's own. Hits and misses have the types of the references, false positives those
        of the hypotheses; gold edits of another scheme (NUCLE's ``ArtOrDet``) are typed by rules.
        Raises :class:`UsageError` if the types do not have this tier, or ``by_gold`` meets
        references without gold edits.
        """
        extractor = self.extractor(types=True)
        segments = list(chain.from_iterable(systems.values()))
        gold = [segment.gold for segment in segments if segment.gold]
        foreign = errant.foreign_types(gold, extractor.rules)
        tier = self._tier(tier, extractor.rules, foreign if by_gold else [])
        if by_gold and len(gold) < len(segments):
            fault = f"{self.name}: the references are texts, so there are no gold types"
            fix = "Give an M2 file with gold edits (-r), or ask for --types."
            raise core.UsageError(fault, fix=fix)
        retypes = bool(foreign) and not by_gold
        typed: errant.GoldTypes = errant.types_by_rules(segments, extractor) if retypes else {}
        counts: dict[str, core.TypeCounts] = {}
        for system, of_system in systems.items():
            batch = _Batch(self, extractor, of_system, typed)
            statistics = batch.statistics()
            chosen = np.array(statistics.labels, dtype=np.int64)[self.chosen(statistics)]
            counts[system] = core.TypeCounts.of(
                (position, _shown_type(kind, tier, by_gold), outcome)
                for position, number in enumerate(chosen.tolist())
                for kind, outcome in errant.outcomes(*batch.groups(position, number))
                if outcome != "fp" or not by_gold
            )
        if by_gold:
            return core.CountedTypes(counts, {"gold-types": "own"})
        origin = "by-rules" if typed else "as-given" if gold else "extracted"
        scheme = extractor.rules.rules
        settings = {"types": tier, "type-scheme": scheme, "gold-typed": origin}
        note = _RETYPED.format(metric=self.name, examples=", ".join(foreign[:3]), scheme=scheme)
        return core.CountedTypes(counts, settings, (note,) if typed else ())

    def gold_notes(self, gold: Sequence[core.GoldEdits]) -> Iterator[str]:
        """Say where error types decide what counts, and the gold edits have other ones."""
        decides = self.mode == "span-type" or set(self.filter or ()) - core.DETECTION_ONLY
        if decides and (foreign := errant.foreign_types(gold, self.extractor().rules)):
            yield _MIXED.format(metric=self, examples=", ".join(foreign[:3]))

    def type_values(self, counts: core.FloatArray | core.IntArray) -> core.FloatArray:
        """Return F of ``tp, fp, fn`` in the last axis."""
        tp, fp, fn = np.moveaxis(np.asarray(counts), -1, 0)
        return self.value_of(np.stack([tp, tp + fp, tp + fn], axis=-1))

    def _tier(
        self, wanted: core.Tier | None, rules: errant.Language, foreign: Sequence[str]
    ) -> core.Tier:
        tier = wanted or self.categories or "full"
        bare = tier == "main" and not rules.has_main_types
        if tier != "full" and (foreign or bare):
            shown = ", ".join(foreign[:3]) or f"M, R and U of {rules.rules}"
            fault = f"{self.name}: the types ({shown}) have no {tier} type"
            raise core.UsageError(fault, fix="Ask for whole types: full.")
        return tier

    def found_edits(
        self, segments: Sequence[core.Segment], *, types: bool = False
    ) -> list[tuple[core.Edit, ...]]:
        """Return the edits of each hypothesis that count under the fields."""
        pairs = [(segment.source, segment.hypothesis) for segment in segments]
        annotated, rules = self.extractor(types=types).annotate(pairs), self.agreement
        return [tuple(filter(rules.counts, edits)) for edits in annotated]

    def explain(self, segment: core.Segment) -> core.Explanation:
        """Return edits and counts; under ``token-detection`` all tokens of an edit must match."""
        batch = _Batch(self, self.extractor(types=True), [segment])
        return self.explained_by(batch.statistics(), batch.judged)

    @property
    def _needs_types(self) -> bool:
        return self.categories is not None or self.agreement.needs_types


@dataclass(frozen=True, kw_only=True)
class Errant(Comparing):
    """F-measure over edits that are extracted by rules from hypothesis and reference alike.

    Gold edits are used as they stand, whatever their types; where there are none, edits are
    extracted from the reference texts.

    - ``beta``: weight of recall in F; 0.5 prefers precision.
    - ``mode``: what must be equal: ``span-correction`` (span and correction), ``span-detection``
      (span), ``token-detection`` (each token that is touched), ``span-type`` (and error type).
    - ``categories``: the tier of types: ``operation`` (R), ``main`` (NOUN:NUM) or ``full``
      (R:NOUN:NUM). ``none`` is ``full``, but scoring then spares the parser where it can.
    - ``tokens``: ``single``: only edits with at most one token on either side; ``multi``: others.
    - ``filter``: error types that do not count.
    - ``pipeline``: a spaCy pipeline by name or folder, or a CoNLL-U file of parses made elsewhere;
      ``plain``: words alone, any language; ``none``: the best English one that is installed.
    - ``rules``: ``errant``: ERRANT's merging, with types by universal parts of speech outside
      English; ``neutral``: without rules of a language; ``none``: the best that are here.
    - ``rounding``: decimals to which F is rounded when references are chosen; the package rounds to
      4, ``none`` compares exactly.
    """

    name = "errant"
    title = "F-measure over edits extracted and typed by rules (Bryant et al. 2017)"
    citation = base.cited("bryant-etal-2017-automatic", "felice-etal-2016-automatic")
    counted_as = "errant"

    pipeline: str | None = None
    rules: errant.RuleSet | None = None

    def extractor(self, *, types: bool = False) -> errant.Annotator:
        """Return what extracts edits; with error types, if wanted or needed."""
        return super().extractor(types=types or self._needs_types)


@dataclass(frozen=True, kw_only=True)
class SentErrant(edit_f.SentenceF, Errant):
    """Mean over sentences of F against each sentence's best reference.

    A sentence without edits on either side scores 1. The fields are those of :class:`Errant`.
    """

    name = "senterrant"
    title = "mean of sentence-level ERRANT F-measures (Gong et al. 2022)"


@dataclass(frozen=True, kw_only=True)
class Cherrant(Comparing):
    """F-measure over edits of characters, for Chinese; white space does not count.

    Gold edits are used as they stand; where there are none, edits are extracted from the reference
    texts. A reference may have several lists of edits, all of which are its annotator's.

    - ``alignments``: ``all`` alignments of least cost give lists of edits, as in published
      figures, or the ``first``.
    - ``resources``: the folder ``data`` of the program ChERRANT, with its tables of characters;
      ``none``: no tables, which moved F of MuCGEC dev by .0002.
    - ``simplify``: convert hypotheses and references to simplified characters, not the source, as
      the program does: ``auto`` if OpenCC is here, ``t2s``, ``none``.
    - ``beta``: weight of recall in F; 0.5 prefers precision.
    - ``mode``, ``categories``, ``tokens``, ``filter``, ``rounding``: as for :class:`Errant`; the
      types are M (missing), R (redundant), S, W (word order).
    """

    name = "cherrant"
    title = "F-measure over edits of Chinese characters (Zhang et al. 2022)"
    citation = base.cited("zhang-etal-2022-mucgec")
    tok = "characters"
    chinese = True

    alignments: errant.Alignments = "all"
    resources: str | None = None
    simplify: errant.Simplification = "auto"

    def extractor(self, *, types: bool = False) -> errant.Characters:
        """Return what extracts edits; they always have types."""
        return errant.chinese_annotator(self.alignments, self.resources, self.simplify)

    def readied(self, segment: core.Segment) -> core.Segment:
        """Put spaces between the characters of the source, and nowhere else.

        So no other text is equal to it but a reference that is the source: that has no edits, even
        where conversion would change it. Gold edits of other tokens give way to the texts.
        """
        source, old = " ".join(errant.characters(segment.source)), segment.source
        texts = (text and (source if text == old else _closed(text)) for text in segment.references)
        gold: core.GoldEdits = segment.gold if source == " ".join(old.split()) else {}
        if segment.gold and not (gold or segment.texts):
            fault = f"gold edits of other tokens than characters, and no text: {old[:40]!r}"
            fix = "Make them anew: grammeter edits extract --scheme cherrant"
            raise core.DataError(fault, fix=fix)
        closed = {"hypothesis": _closed(segment.hypothesis), "references": tuple(texts)}
        return replace(segment, source=source, gold=gold, **closed)

    def text_notes(self, segments: Sequence[core.Segment]) -> Iterable[str]:
        """Say whose edits count, and which texts look traditional or align in too many ways."""
        ready = list(map(self.readied, segments))
        pairs = [(s.source, t) for s in ready for t in (s.hypothesis, *(() if s.gold else s.texts))]
        notes = [*self.extractor().notes(pairs)]
        if any(segment.gold for segment in segments):
            notes.insert(0, _AS_GIVEN if any(s.gold for s in ready) else _OF_WORDS)
        return (f"{self.name}: {note}" for note in notes)


def _closed(text: str) -> str:
    return "".join(text.split())


def _shown_type(kind: str, tier: core.Tier, by_gold: bool) -> str:
    """Return what a tier keeps of a type; ``Um`` is the gold's own word for ``UNK``."""
    if kind in core.DETECTION_ONLY:
        return kind if by_gold else core.UNKNOWN
    return core.tier_of(kind, tier)


class _Batch:
    def __init__(
        self, metric: Comparing, extractor: errant.Annotator, segments: base.Segments,
        typed: errant.GoldTypes | None = None,
    ) -> None:  # fmt: skip
        self._typed = typed or {}
        self._name, self._rules = metric.name, metric.agreement
        self._segments = list(map(metric.readied, segments))
        self._edits = alignment.segment_edits(self._segments, extractor.annotate)

    def statistics(self) -> core.Statistics:
        rows: list[dict[int, tuple[float, ...]]] = []
        for edits in core.track(self._edits, self._name):
            proposed = errant.grouped(edits.proposed, self._rules)
            rows.append({})
            for number, gold in edits.gold.items():
                counts = errant.counted(proposed, errant.grouped(gold, self._rules, proposed))
                rows[-1][number] = counts.tp, counts.tp + counts.fp, counts.tp + counts.fn
        return kinds.by_label(rows, edit_f.COLUMNS)

    def groups(self, position: int, number: int) -> tuple[errant.Groups, errant.Groups]:
        """Return the edits of a hypothesis and of one reference, as they are compared."""
        edits = self._edits[position]
        proposed = errant.grouped(edits.proposed, self._rules)
        types = self._typed.get(id(self._segments[position].gold), {}).get(number)
        return proposed, errant.grouped(edits.gold[number], self._rules, proposed, types)

    def judged(self, number: int) -> list[core.JudgedEdit]:
        """Return the edits of the first segment that count, and those missed."""
        (proposed, gold), rules, edits = self.groups(0, number), self._rules, self._edits[0]
        verdicts: list[tuple[core.Edit, core.EditVerdict]] = []
        for edit in filter(rules.counts, edits.proposed):
            keys = rules.keys(edit)
            if all(key in gold for key in keys):
                verdicts.append((replace(edit, type=gold[keys[0]][0]), "matched"))
            else:
                verdicts.append((edit, "spurious"))
        for edit in filter(rules.counts, edits.gold[number]):
            if not all(key in proposed for key in rules.keys(edit, proposed)):
                verdicts.append((edit, "missed"))
        return edit_f.judged_in_order(self._segments[0].source.split(), verdicts)
