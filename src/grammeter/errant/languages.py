"""Rules by language: which changes make one edit, and what an edit is called.

English has ERRANT's. Every other language has its way to merge and types by universal parts of
speech, unless a package announces better rules under the entry point group
``grammeter.languages``, by language code::

    [project.entry-points."grammeter.languages"]
    de = "my_package:GERMAN"          # a grammeter.errant.languages.Language

ERRANT's merging is that of Bryant, Felice & Briscoe 2017, "Automatic annotation and evaluation of
error types for grammatical error correction", section 3.2, as errant 3.0.2 applies it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from itertools import accumulate, chain
from string import punctuation
from typing import Literal, NamedTuple, cast, get_args

from grammeter.core import UnknownNameError, UsageError
from grammeter.errant.align import Change, indel_distance
from grammeter.errant.classify import TYPED_CLASSES, classify, classify_by_upos
from grammeter.errant.tokens import Span, Tokens

GROUP = "grammeter.languages"  # the entry point group in which other packages announce rules
OPERATIONS = "[MRU]|UNK"  # types that say what an edit does and no more
RuleSet = Literal["errant", "neutral"]


@dataclass(frozen=True, kw_only=True)
class Language:
    """A language: its ``rules``, name and version, are for signatures; ``classify`` types an edit.

    ``merge`` makes changes of an alignment, with source and target, the spans of edits, left to
    right; ``merges_by_changes`` if it needs only the words for these changes, and no parse.
    ``types_need`` says what ``classify`` looks at, the whole ``parse``, its ``classes`` without
    dependencies, or just the ``words``; ``types`` is a regular expression of the types that it
    gives, by default ERRANT's operation and main type.
    """

    rules: str
    merge: Callable[[Sequence[Change], Tokens, Tokens], list[Span]]
    merges_by_changes: Callable[[Sequence[Change]], bool]
    classify: Callable[[Span, Tokens, Tokens], str]
    types_need: str = "parse"
    types: str = r"[MRU]:\S+|UNK"

    def gives(self, name: str) -> bool:
        """Whether these rules may give this error type."""
        return re.fullmatch(self.types, name) is not None

    @property
    def has_main_types(self) -> bool:
        """Whether types say more than the operation (``M``, ``R``, ``U``)."""
        return ":" in self.types


def merge_neutral(changes: Sequence[Change], source: Tokens, target: Tokens) -> list[Span]:
    """Merge adjacent changes, except that substitutions among themselves stay apart.

    Single characters are merged all the same, for tokens of Chinese text. The figures behind
    this choice stand in docs/concepts/errant-edits.md.
    """

    def together(*pair: Change) -> bool:
        texts = [(source.texts[one.start], target.texts[one.target_start]) for one in pair]
        return all(len(old) == 1 == len(new) for old, new in texts)

    spans: list[Span] = []
    for group in adjacent(changes):
        substitutes = all(change.kind == "S" for change in group)
        spans += map(joined, parts(group, together) if substitutes else [group])
    return spans


def operation(span: Span, source: Tokens, target: Tokens) -> str:
    """Return ``M``, ``U`` or ``R``; ``UNK`` for an edit that changes nothing."""
    old = source.texts[span.start : span.end]
    new = target.texts[span.target_start : span.target_end]
    if old == new:
        return "UNK"
    return "R" if old and new else "U" if old else "M"


Strategy = Literal["rules", "all-split", "all-merge", "all-equal"]
"""``rules``: those of English; ``all-split``: each change alone; ``all-merge``: all adjacent
changes together; ``all-equal``: adjacent changes of one kind together."""

CONTENT_CLASSES = frozenset({"ADJ", "ADV", "AUX", "NOUN", "VERB"})
VERBAL_CLASSES = frozenset({"AUX", "PART", "VERB"})
SIMILAR = 0.75  # above this similarity of letters a substitution stands alone


def merge(
    changes: Iterable[Change], source: Tokens, target: Tokens, strategy: Strategy = "rules"
) -> list[Span]:
    """Merge changes into edits; ``rules`` need tags unless :func:`is_decided_by_changes`."""
    spans: list[Span] = []
    for part in chain.from_iterable(parts(x, _TOGETHER[strategy]) for x in adjacent(changes)):
        alone = strategy != "rules" or len(part) == 1
        spans += [joined(part)] if alone else _Sequence(part, source, target).spans()
    return spans


def is_decided_by_changes(changes: Iterable[Change], strategy: Strategy = "rules") -> bool:
    """Whether :func:`merge` needs only the changes themselves."""
    return strategy != "rules" or not any(
        len(part) > 1 and any(change.kind == "S" for change in part)
        for group in adjacent(changes)
        for part in parts(group, _TOGETHER["rules"])
    )


def adjacent(changes: Iterable[Change]) -> Iterator[list[Change]]:
    """Group changes that have no match between them."""
    return parts(changes, lambda a, b: a.end == b.start and a.target_end == b.target_start)


def parts(
    changes: Iterable[Change], together: Callable[[Change, Change], bool]
) -> Iterator[list[Change]]:
    """Split a sequence wherever two neighbours do not belong together."""
    part: list[Change] = []
    for change in changes:
        if part and not together(part[-1], change):
            yield part
            part = []
        part.append(change)
    if part:
        yield part


def joined(changes: Sequence[Change]) -> Span:
    """Return the span from the first change to the last."""
    first, last = changes[0], changes[-1]
    return Span(first.start, last.end, first.target_start, last.target_end)


_TOGETHER: Mapping[Strategy, Callable[[Change, Change], bool]] = {
    "rules": lambda one, next_: "T" not in (one.kind, next_.kind),
    "all-split": lambda one, next_: False,
    "all-merge": lambda one, next_: True,
    # transpositions are alike if they are equally long
    "all-equal": lambda a, b: (a.kind, a.end - a.start) == (b.kind, b.end - b.start),
}
"""Whether two adjacent changes may be in one edit."""

_Cut = tuple[int, int]  # merge the changes `left:right`, or split there if these are equal


class _Part(NamedTuple):
    """Changes ``low:high`` of a sequence that are still to be treated."""

    low: int
    high: int
    ceiling: int  # on wider windows no rule fires but those for the first change, as was seen


class _Sequence:
    """Adjacent changes: the first rule that fires decides, widest window first, then leftmost."""

    def __init__(self, changes: Sequence[Change], source: Tokens, target: Tokens) -> None:
        self._changes = changes
        spans = [c[1:3] for c in changes], [c[3:5] for c in changes]
        self._sides = _Side(source, spans[0]), _Side(target, spans[1])
        self._substitutions = list(accumulate((c.kind == "S" for c in changes), initial=0))

    def spans(self) -> Iterator[Span]:
        pending: list[_Part | Span] = [_Part(0, len(self._changes), len(self._changes))]
        while pending:
            part = pending.pop()
            if isinstance(part, Span):
                yield part
            elif part.high > part.low:
                pending.extend(reversed(self._treat(part)))

    def _treat(self, part: _Part) -> list[_Part | Span]:
        low, high, _ = part
        changes = self._changes[low:high]
        kinds = {change.kind for change in changes}
        if len(changes) == 1 or kinds in ({"D"}, {"I"}):
            return [joined(changes)]
        if "S" in kinds:
            for width in range(high - low - 1, 0, -1):
                last_start = high - width if width <= part.ceiling else low + 1
                for start in range(low, last_start):
                    if cut := self._rules(start, start + width, part):
                        left, right = cut
                        middle = [joined(self._changes[left:right])] if left < right else []
                        return [_Part(low, left, width), *middle, _Part(right, high, width)]
            if any(side.classes(low, high - 1) & CONTENT_CLASSES for side in self._sides):
                return [joined(changes)]
        return [joined([change]) for change in changes]

    def _rules(self, first: int, last: int, part: _Part) -> _Cut | None:
        if self._substitutions[first] == self._substitutions[last + 1]:
            return None
        cut = self._possessive(first, last, part) or self._case(first, last, part)
        cut = cut or self._alike(first, last)
        return cut or (self._smallest(first, last, part) if last - first == 1 else None)

    def _possessive(self, first: int, last: int, part: _Part) -> _Cut | None:
        """Keep a suffix with its noun: [friends -> friend 's]."""
        begins = any(side.tags[side.starts[first]] == "POS" for side in self._sides)
        if first == part.low and begins:
            return (first + 1, first + 1)
        ends = any(side.tags[side.lasts[last]] == "POS" for side in self._sides)
        return (last - 1, last + 1) if ends else None

    def _case(self, first: int, last: int, part: _Part) -> _Cut | None:
        """Merge what only the case of the last token shows to belong together."""
        source, target = self._sides
        if source.lowers[source.lasts[last]] != target.lowers[target.lasts[last]]:
            return None
        lengths = source.length(first, last), target.length(first, last)
        if first == part.low and (
            (lengths[0] == 1 and target.texts[target.starts[first]][0].isupper())
            or (lengths[1] == 1 and source.texts[source.starts[first]][0].isupper())
        ):
            return (first, last + 1)  # [Cat -> The big cat]
        sides = zip(self._sides, lengths, strict=True)
        stop = any(length > 1 and side.is_punctuation(last) for side, length in sides)
        return (last - 1, last + 1) if stop else None  # [, we -> . We]

    def _alike(self, first: int, last: int) -> _Cut | None:
        """Merge the same letters [sub - way -> subway], one word class or verbs [to eat -> eating].

        Letters but for hyphens and apostrophes; of a class or of verbs and what helps them are all
        tokens, of which one side has more.
        """
        source, target = self._sides
        same = source.letters(first, last) == target.letters(first, last)
        if not same and source.length(first, last) != target.length(first, last):
            classes = source.classes(first, last) | target.classes(first, last)
            same = len(classes) == 1 or classes <= VERBAL_CLASSES
        return (first, last + 1) if same else None

    def _smallest(self, first: int, last: int, part: _Part) -> _Cut | None:
        source, target = self._sides
        one, other = self._changes[first].kind, self._changes[last].kind
        if (
            source.length(first, last) == target.length(first, last) == 2
            or (one == "S" and self._similar(source.starts[first], target.starts[first]))
            or (other == "S" and self._similar(source.lasts[last], target.lasts[last]))
        ):
            return (last, last)
        sides = (source,) * (other in "DS") + (target,) * (other in "IS")
        final_determiner = any(side.pos[side.lasts[last]] == "DET" for side in sides)
        return (last, last) if last == part.high - 1 and final_determiner else None

    def _similar(self, at: int, target_at: int) -> bool:
        source, target = self._sides
        return 1 - indel_distance()(source.texts[at], target.texts[target_at]) > SIMILAR


class _Side:
    """The source's or the target's tokens under changes; ``first`` to ``last`` is a window."""

    def __init__(self, tokens: Tokens, spans: Sequence[tuple[int, int]]) -> None:
        self.texts, self.lowers = tokens.texts, tokens.lowers
        self.pos, self.tags = tokens.pos, tokens.tags
        self.starts = [start for start, _ in spans]
        self.lasts = [end - 1 for _, end in spans]

    def length(self, first: int, last: int) -> int:
        return self.lasts[last] + 1 - self.starts[first]

    def is_punctuation(self, last: int) -> bool:
        at = self.lasts[last] - 1
        return self.pos[at] == "PUNCT" or self.texts[at] in punctuation

    def letters(self, first: int, last: int) -> str:
        """Return all tokens as one word in lower case, without hyphens and apostrophes."""
        word = "".join(self.lowers[self.starts[first] : self.lasts[last] + 1])
        return word.replace("-", "").replace("'", "")

    def classes(self, first: int, last: int) -> set[str]:
        return {*self.pos[self.starts[first] : self.lasts[last] + 1]}


NEUTRAL_RULES = Language(
    rules="neutral-1", merge=merge_neutral, merges_by_changes=lambda _changes: True,
    classify=operation, types_need="words", types=OPERATIONS,
)  # fmt: skip
ENGLISH = Language(
    rules="errant-3.0.2", merge=merge, merges_by_changes=is_decided_by_changes, classify=classify
)
UPOS_RULES = replace(
    ENGLISH, rules="errant-upos-1", classify=classify_by_upos, types_need="classes",
    types=f"[MRU]:({'|'.join(sorted(TYPED_CLASSES))}|OTHER)|R:(ORTH|WO)|UNK",
)  # fmt: skip
PLAIN_RULES = replace(
    ENGLISH, rules="plain-1", classify=operation, types_need="words", types=OPERATIONS
)


def language(code: str, rules: RuleSet | None = None) -> Language:
    """Return rules for a language by its code: those named, by default the best that are here."""
    if rules is not None:
        UnknownNameError.check("rules", rules, get_args(RuleSet))
    if rules == "neutral":
        return NEUTRAL_RULES
    return ENGLISH if code == "en" else (None if rules else _plugin(code)) or UPOS_RULES


@cache
def _plugin(code: str) -> Language | None:
    for point in chain(entry_points(group=GROUP, name=code)):
        try:
            return cast("Language", point.load())
        except (ImportError, AttributeError) as error:
            fault = f"the rules for language {code!r} cannot be loaded from {point.value}: {error}"
            fix = "Reinstall the package that brings them, or take it off."
            raise UsageError(fault, fix=fix) from error
    return None
