"""ChERRANT's edits of characters, and what is known of these: alignment with all ties, types.

Zhang et al. 2022, "MuCGEC: a multi-reference multi-source evaluation dataset for Chinese
grammatical error correction", as the program of its repository does at commit 3922193.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from operator import eq
from pathlib import Path
from string import punctuation
from typing import Any, Literal, cast

from grammeter import core
from grammeter.errant import annotate, languages
from grammeter.errant.align import Change, Costs, Steps, region
from grammeter.errant.tokens import Span, Tokens

Simplification = Literal["auto", "t2s", "none"]
"""Convert corrected texts to simplified characters: if OpenCC is here, always, never."""

FILES = ("cilin.txt", "confusion_dict.txt")
_FIX = "Name the folder 'data' of the program ChERRANT, with its cilin.txt and confusion_dict.txt."


@dataclass(frozen=True, eq=False)
class Resources:
    """Tables from the user's copy of the original program; empty ones know nothing."""

    meanings: Mapping[str, tuple[str, str, str]]
    confusions: Mapping[str, frozenset[str]]
    readings: Callable[[str], frozenset[str]]
    signature: Mapping[str, str]

    def alike(self, one: str, other: str) -> bool:
        """Whether two characters share a reading, or one is taken for the other."""
        confused = self.confusions.get(one, frozenset()), self.confusions.get(other, frozenset())
        same = self.readings(one) & self.readings(other)
        return other in confused[0] or one in confused[1] or bool(same)


@cache
def resources_of(folder: str | None) -> Resources:
    """Read resources from a folder; MissingResourceError if a file or pypinyin is missing."""
    if folder is None:
        return Resources({}, {}, lambda _character: frozenset(), {"resources": "none"})
    readings = core.require("pypinyin", extra="zh")
    contents: list[bytes] = []
    for path in (Path(folder, name) for name in FILES):
        with core.disk_faults(path, _FIX, "cannot be read", kind=core.MissingResourceError):
            contents.append(path.read_bytes())
    cilin, confusion = map(_table, FILES, contents, ("gbk", "utf-8"))

    @cache
    def read(character: str) -> frozenset[str]:
        plain: Any = readings.Style.NORMAL
        return frozenset(readings.pinyin(character, style=plain, heteronym=True)[0])

    meanings = {word: (code[:1], code[1:2], code[2:4]) for code, *words in cilin for word in words}
    digest = hashlib.blake2b(b"".join(contents), digest_size=8).hexdigest()
    names = {"resources": "cilin+confusion+pinyin", "resources-hash": digest}
    confusions = {first: frozenset(others) for first, *others in confusion}
    return Resources(meanings, confusions, read, names | {"pypinyin": version("pypinyin")})


def _table(name: str, data: bytes, encoding: str) -> list[list[str]]:
    try:
        return [line.split(" ") for line in data.decode(encoding).replace("\r", "").split("\n")]
    except UnicodeDecodeError as error:
        raise core.DataError(f"this is not {encoding}: {error}", where=name, fix=_FIX) from None


@cache
def simplifier(wanted: Simplification) -> Callable[[str], str] | None:
    """Return what makes characters simplified, phrase by phrase; ``None`` if nothing does.

    MissingResourceError if ``t2s`` is wanted and OpenCC is not installed.
    """
    core.UnknownNameError.check("conversion", wanted, ("auto", "t2s", "none"))
    if wanted == "none" or (wanted == "auto" and find_spec("opencc") is None):
        return None
    return core.require("opencc", extra="zh").OpenCC("t2s").convert


def traditional(text: str) -> Iterator[str]:
    """Yield characters that Taiwan's common set has and the simplified one lacks."""
    for character in text:
        if "\u4e00" <= character <= "\u9fff" and not character.encode("gb2312", "ignore"):
            yield from character.encode("big5", "ignore").decode("big5")


Alignments = Literal["all", "first"]
"""Which alignments of least cost give edits: all of them, or the first one."""

MOST, MOST_CHANGES = 10_000, 200_000
"""Alignments of one pair that are looked at, and changes in all of them; MuCGEC dev has 2,400."""

FAR = 10  # beyond this difference of lengths only the first alignment counts
NO_ERROR, CANNOT = "没有错误", "无法标注"
"""What annotators write in place of a text: there is no error; it cannot be annotated."""

_TOKEN = re.compile(r"\[缺失成分\]|.", re.DOTALL)  # "missing constituent" is one token
_MARKS = (
    "！？｡＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣､、〃》「」『』【】〔〕"
    "〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘'‛“”„‟…‧﹏"
)
_PUNCTUATION = frozenset(punctuation + _MARKS)
_UNMOVED = punctuation + re.sub("[〰〾〿﹏]", "", _MARKS) + "."  # what stands in it never moves
_TYPES = {"T": "W", "D": "R", "I": "M"}  # and S, which is found anew
_NA = core.Edit(-1, -1, "", core.UNANNOTATABLE)


def characters(text: str) -> tuple[str, ...]:
    """Return the tokens of a Chinese text: its characters, white space left out."""
    return tuple(_TOKEN.findall("".join(text.split())))


class Characters(annotate.Annotator):
    """Extracts the edits of Chinese texts; make one with :func:`chinese_annotator`."""

    def __init__(
        self, alignments: Alignments, resources: Resources, simplify: Simplification
    ) -> None:
        super().__init__(CHERRANT_RULES, None)
        self._first, self._resources = alignments == "first", resources
        self._simplify = simplifier(simplify)
        self._costs = Costs(partial(_cost, resources), lambda tokens, part: tokens.texts[part])
        self._cut: set[annotate.Texts] = set()

    def signature(self) -> dict[str, str]:
        """Return all that edits depend on: alignments, resources, conversion of the target."""
        shown = {"alignments": "first" if self._first else "all", **self._resources.signature}
        shown["simplify"] = "t2s" if self._simplify else "none"
        return shown | ({"opencc": version("opencc")} if self._simplify else {})

    def target(self, text: str) -> tuple[str, ...]:
        """Return the tokens of a corrected text, simplified if that is done here."""
        joined_up = "".join(text.split())
        return characters(self._simplify(joined_up) if self._simplify else joined_up)

    def lists(self, source: str, target: str) -> list[tuple[core.Edit, ...]]:
        """Return the distinct lists of edits that lead from source to target; none if equal."""
        if target.strip() in (NO_ERROR, CANNOT):
            return [] if target.strip() == NO_ERROR else [(_NA,)]
        before, after = characters(source), self.target(target)
        if before == after:
            return []
        seen: dict[tuple[Change, ...], None] = {}
        work = 0
        for number, changes in enumerate(_alignments(self._costs, before, after, self._first)):
            if number and (number == MOST or work + len(changes) > MOST_CHANGES):
                self._cut.add((source, target))
                break
            work += len(changes)
            seen.setdefault(tuple(_merged(changes, before, after)))
        return [tuple(_edits(changes, before, after)) for changes in seen]

    def notes(self, pairs: Iterable[annotate.Texts]) -> Iterator[str]:
        """Say what a reader must know of the edits of these pairs."""
        pairs = list(dict.fromkeys(pairs))
        if cut := len(self._cut.intersection(pairs)):
            more = f"the first {MOST} of least cost are taken, or as many as make {MOST_CHANGES}"
            yield f"alignments of {cut} corrected texts: {more} changes; there are more"
        looks = map(traditional, (t for _, t in pairs if self._simplify is None))
        if some := "".join(dict.fromkeys(chain.from_iterable(looks))):
            some = f"characters that look traditional ({core.listed(some, 5)}) are not simplified;"
            yield f"{some} simplify=t2s does that ({core.how_to_install('zh')})"

    def _extract(
        self, pairs: Sequence[annotate.Texts], tokens: Mapping[str, Tokens] | None
    ) -> Iterator[tuple[core.Edit, ...]]:
        for source, target in pairs:
            yield tuple(chain.from_iterable(self.lists(source, target)))


@cache
def chinese_annotator(
    alignments: Alignments = "all", resources: str | None = None, simplify: Simplification = "auto",
) -> Characters:  # fmt: skip
    """Return the annotator of characters; MissingResourceError if a file or package is missing."""
    return Characters(alignments, resources_of(resources), simplify)


# --- alignment ------------------------------------------------------------------------------
def _cost(resources: Resources, one: str, other: str) -> float:
    """Return the cost of a character for another: meaning, reading or looks, punctuation."""
    meanings = resources.meanings.get(one), resources.meanings.get(other)
    apart = 4 if None in meanings else 2 * sum(map(str.__ne__, *cast("Any", meanings)))
    han = all("\u4e00" <= letter <= "\u9fff" for letter in one + other)
    letters = 0.0 if han and resources.alike(one, other) else 0.5
    marks = (one in _PUNCTUATION) + (other in _PUNCTUATION)
    return apart / 6.0 + letters + (0.25, 0.499, 0.0)[marks]


_Path = tuple[Change, "_Path"] | None  # changes from here to the end; paths share what is behind


def _alignments(
    costs: Costs, source: tuple[str, ...], target: tuple[str, ...], only_first: bool
) -> Iterator[list[Change]]:
    """Yield the alignments of least cost, depth first, without their matches."""
    part = region(source, target)
    steps = Steps(costs, Tokens(source, source), Tokens(target, target), part)

    @cache
    def steps_to(i: int, j: int) -> list[Change]:
        return list(steps.to(i, j))

    only_first = only_first or abs(len(source) - len(target)) > FAR
    pending: list[tuple[int, int, _Path]] = [(part.source_end, part.target_end, None)]
    while pending:
        i, j, path = pending.pop()
        while i or j:
            first, *others = steps_to(i, j)
            for step in reversed(() if only_first else tuple(others)):
                pending.append((step.start, step.target_start, (step, path)))
            i, j = first.start, first.target_start
            path = path if first.kind == "M" else (first, path)
        changes: list[Change] = []
        while path is not None:
            changes.append(path[0])
            path = path[1]
        yield changes


# --- merging --------------------------------------------------------------------------------
def _merged(
    changes: Iterable[Change], source: Sequence[str], target: Sequence[str]
) -> Iterator[Change]:
    """Merge adjacent changes, then what moved over a match or a transposition."""
    elements: list[Change] = []
    for group in languages.adjacent(changes):
        if elements:
            last, first = elements[-1], group[0]
            elements.append(Change("M", last.end, first.start, last.target_end, first.target_start))
        for part in languages.parts(group, lambda one, next_: "T" not in (one.kind, next_.kind)):
            kinds = {change.kind for change in part}
            alone = kinds == {"D", "I"}
            kind = part[0].kind if len(kinds) == 1 else "S"
            elements += part if alone else [Change(kind, *languages.joined(part))]
    at = 0
    while at < len(elements):
        window = elements[at : at + 3]
        if len(window) == 3 and _moves(window, source, target):
            yield Change("T", *languages.joined(window))
            at += 3
        else:
            yield from (one for one in window[:1] if one.kind != "M")
            at += 1


def _moves(window: Sequence[Change], source: Sequence[str], target: Sequence[str]) -> bool:
    """Whether the outer two of three elements are one text that stands elsewhere, or two."""
    first, middle, last = window
    old, new, old_last, new_last = (
        "".join(tokens[start:end])
        for change in (first, last)
        for tokens, start, end in ((source, *change[1:3]), (target, *change[3:5]))
    )
    kinds = first.kind + middle.kind + last.kind
    if kinds == "SMS":
        crossed = (old, new_last), (new, old_last)
        alike = eq if min(map(len, (old, new, old_last, new_last))) == 1 else _near
        return all(alike(*pair) for pair in crossed)
    if kinds not in ("DMI", "DTI", "IMD", "ITD"):
        return False
    short, long = sorted((old or new, old_last or new_last), key=len)
    if short in _UNMOVED or long in _UNMOVED or len(long) - len(short) > 1:
        return False
    if len(short) == 1:
        return short == long
    return _near(short, long) or (len(short) == len(long) and long in short * 2)


def _near(one: str, other: str) -> bool:
    """Whether one insertion, deletion or substitution of a character at most is between texts."""
    return max(region(one, other).shape) <= 1


def _edits(
    changes: Iterable[Change], source: Sequence[str], target: Sequence[str]
) -> Iterator[core.Edit]:
    """Make edits of changes; substitutions lose equal tokens at their ends."""
    for change in changes:
        old, new = source[change.start : change.end], target[slice(*change[3:5])]
        if "".join(old) == "".join(new):
            continue
        edit = core.Edit(change.start, change.end, " ".join(new), _TYPES.get(change.kind, ""))
        if not edit.type:
            edit = core.minimise(edit, source)
            edit = replace(edit, type=_operation(edit.end - edit.start, len(edit.correction)))
        yield edit


def _operation(old: int, new: int) -> str:
    return "S" if old and new else "R" if old else "M"


def _classify(span: Span, *_: Tokens) -> str:
    return _operation(span.end - span.start, span.target_end - span.target_start)


_TYPED = {"classify": _classify, "types": "[MRSW]|NA|UNK"}
CHERRANT_RULES = replace(languages.NEUTRAL_RULES, rules="cherrant", **_TYPED)
"""What types there are: missing, redundant, substituted, word order; edits as given get a type."""
