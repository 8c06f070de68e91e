"""Rules by language: which changes make one edit, and what an edit is called.

English has ERRANT's. Every other language has its way to merge and types by universal parts of
speech, unless a package announces better rules under the entry point group
``grammeter.languages``, by language code::

    [project.entry-points."grammeter.languages"]
    de = "my_package:GERMAN"          # a grammeter.errant.languages.Language
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from itertools import chain
from typing import Literal, cast, get_args

from grammeter.core import UnknownNameError, UsageError
from grammeter.errant.align import Change
from grammeter.errant.classify import TYPED_CLASSES, classify, classify_by_upos
from grammeter.errant.merge import adjacent, is_decided_by_changes, joined, merge, parts
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
