"""The names that files of judgments give to their columns and attributes, in all their spellings.

Case, spaces, hyphens, underscores and full stops do not count: ``judgeID``, ``judgeId``,
``judge_id`` and ``Judge ID`` are one name. Nor do ``Input.`` and ``Answer.``, which Mechanical
Turk puts before names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

JUDGE = (
    "judgeid", "judge", "judgename", "user", "userid", "username", "annotator", "annotatorid",
    "worker", "workerid", "rater", "raterid", "assessor", "assessorid", "evaluator", "evaluatorid",
)  # fmt: skip
SENTENCE = (
    "srcindex", "srcid", "srcidx", "sourceindex", "sourceid", "segmentid", "segmentindex",
    "segment", "segid", "sentenceid", "sentenceindex", "sentid", "sentence", "lineid", "line",
)  # fmt: skip
DOCUMENT = ("documentid", "document", "docid", "doc", "documentname", "docname")
SOURCE_LANGUAGE = ("srclang", "srclanguage", "sourcelang", "sourcelanguage")
TARGET_LANGUAGE = ("trglang", "trglanguage", "tgtlang", "tgtlanguage", "targetlang",
                   "targetlanguage")  # fmt: skip
ITEM = ("rankingid", "ranking", "itemid", "item")
SYSTEM = ("system", "systemid", "systemname", "systems", "sys", "sysid", "name")
RANK = ("rank", "ranking")

UNUSED = ("", "-1", "###")
"""What the campaigns wrote where a column had no use."""

_SYSTEM = re.compile(r"(?:system|sys)(?:id|name)?(\d{1,2})(?:id|name)?\Z")
_RANK = re.compile(r"(?:system|sys)?(?:(\d{1,2})rank(?:ing)?|rank(?:ing)?(\d{1,2}))\Z")


@lru_cache(4096)
def plain(name: str) -> str:
    """Return a name without what does not count: case, and all but letters and digits."""
    return re.sub(r"^(input|answer)\.|[\W_]+", "", name.lower())


def find(names: Iterable[str], spellings: Sequence[str]) -> list[str]:
    """Return the names that are spelled in one of these ways, in the order of the spellings."""
    by_spelling = {plain(name): name for name in names}
    return [by_spelling[spelling] for spelling in spellings if spelling in by_spelling]


def has_use(name: str) -> bool:
    """Whether a column is read: by its name, or as one of a numbered system."""
    named = (JUDGE, SENTENCE, DOCUMENT, SOURCE_LANGUAGE, TARGET_LANGUAGE, ITEM)
    numbers = system_number(name), rank_number(name)
    return any(plain(name) in spelled for spelled in named) or numbers != (None, None)


def system_number(name: str) -> int | None:
    """Return the N of a column ``systemNId``, None for any other column."""
    match = _SYSTEM.match(plain(name))
    return int(match[1]) if match else None


def rank_number(name: str) -> int | None:
    """Return the N of a column ``systemNrank``, None for any other column."""
    match = _RANK.match(plain(name))
    return int(match[1] or match[2]) if match else None
