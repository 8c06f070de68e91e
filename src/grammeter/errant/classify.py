"""ERRANT's third step: the type of an edit, for English, and by UPOS for other languages.

Bryant, Felice & Briscoe 2017, "Automatic annotation and evaluation of error types for
grammatical error correction", section 3.3, as errant 3.0.2 applies it. A type is an operation
(``M`` missing, ``U`` unnecessary, ``R`` replacement) and a category, ``R:NOUN:NUM``. The rules
are short functions, tried in order; what they know of words, tags and relations stands in
``data/english.json``.
"""

import gzip
import json
import operator
from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

from grammeter.core import UNKNOWN, UsageError
from grammeter.errant.tokens import Span, Tokens

TYPED_CLASSES = frozenset({
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "NOUN", "PART", "PRON", "PROPN", "PUNCT", "SCONJ",
    "VERB",
})  # fmt: skip
RARE_CLASSES = frozenset({"INTJ", "NUM", "SYM", "X"})
"""All universal parts of speech: those that are types, and those that ERRANT takes as rare."""


def classify(span: Span, source: Tokens, target: Tokens) -> str:
    """Return the type of an edit; a side without tokens may be bare, others must be parsed."""
    return _classified(_Side(source, *span[:2]), _Side(target, *span[2:]), _english)


def classify_by_upos(span: Span, source: Tokens, target: Tokens) -> str:
    """Return the type of an edit in any language: ``ORTH``, ``WO``, or the one UPOS of its tokens.

    Rare classes, and tokens of several, are ``OTHER``, as in English. Spelling and inflection have
    no types: they need a word list and features of the language.
    """
    return _classified(_Side(source, *span[:2]), _Side(target, *span[2:]), _upos)


def _classified(one: "_Side", other: "_Side", category: Callable[..., str]) -> str:
    if one.texts == other.texts:
        return UNKNOWN
    while one.lowers[-1:] == other.lowers[-1:] and (len(one) > 1 or len(other) > 1):
        # [Doctor -> The doctor]: the last token differs in case alone and says nothing
        one, other = (_Side(side.tokens, side.start, side.end - 1) for side in (one, other))
    if not (len(one) and len(other)):
        return f"U:{category(one)}" if len(one) else f"M:{category(other)}"
    if "".join(one.lowers) == "".join(other.lowers):
        return "R:ORTH"
    return f"R:{'WO' if sorted(one.lowers) == sorted(other.lowers) else category(one, other)}"


def _english(one: "_Side", other: "_Side | None" = None) -> str:
    if other is None:
        categories = one.categories
        special = _special_word(one) if len(one) == 1 else None
        verbal = "VERB" if set(categories) == {"PART", "VERB"} else "OTHER"
        return special or _uniform(one.deps, categories) or verbal
    if len(one) == len(other) == 1:
        pair = _Pair(one, other)
        for rule in _WORD_RULES:
            if category := rule(pair):
                return category
    return _phrases(one, other)


def _upos(*sides: "_Side") -> str:
    classes = {pos for side in sides for pos in side.pos}
    return next(iter(classes)) if len(classes) == 1 and classes <= TYPED_CLASSES else "OTHER"


class _Side:
    """The tokens on one side of an edit; each column starts at 0."""

    def __init__(self, tokens: Tokens, start: int, end: int) -> None:
        self.tokens, self.start, self.end = tokens, start, end
        columns = tokens.texts, tokens.lowers, tokens.lemmas, tokens.pos, tokens.tags, tokens.deps
        parts = (column[start:end] for column in columns)
        self.texts, self.lowers, self.lemmas, self.pos, self.tags, self.deps = parts

    def __len__(self) -> int:
        return self.end - self.start

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """ERRANT's word classes, by tag."""
        known = english().categories
        try:
            return tuple([known[tag] for tag in self.tags])
        except KeyError as error:
            fault = f"the pipeline gives the tag {error.args[0]!r}, unknown to ERRANT's rules"
            fix = "Use a pipeline with Penn Treebank tags, or do without types."
            raise UsageError(fault, fix=fix) from None


def _special_word(side: _Side) -> str | None:
    if side.tags[0] == "POS":
        return "NOUN:POSS"
    if side.lowers[0] in english().contractions:
        return "CONTR"
    infinitive = side.lowers[0] == "to" and side.pos[0] == "PART" and side.deps[0] != "prep"
    return "VERB:FORM" if infinitive else None


def _uniform(
    deps: Sequence[str], categories: Sequence[str], *, same_verb: bool = False
) -> str | None:
    known = english()
    if known.auxiliary.issuperset(deps):
        return "VERB:TENSE"
    if len(set(categories)) == 1:
        if categories[0] == "VERB" and same_verb:
            return "VERB:TENSE"  # [eat -> has eaten]
        if categories[0] not in known.rare:
            return categories[0]
    return known.relations.get(deps[0]) if len(set(deps)) == 1 else None


def _phrases(one: _Side, other: _Side) -> str:
    """Return the category where several tokens differ or no other rule applies."""
    categories = one.categories + other.categories
    same_last = one.lemmas[-1] == other.lemmas[-1]
    if uniform := _uniform(one.deps + other.deps, categories, same_verb=same_last):
        return uniform
    if set(categories) == {"PART", "VERB"}:
        return "VERB:FORM" if same_last else "VERB"  # [to eat -> eating], [look at -> see]
    if ("NOUN", "PART") in (one.categories, other.categories) and one.lemmas[0] == other.lemmas[0]:
        return "NOUN:POSS"  # [friends -> friend 's]
    compared = not {"more", "most"}.isdisjoint((one.lowers[0], other.lowers[0]))
    if compared and same_last and len(one) <= 2 and len(other) <= 2:
        return "ADJ:FORM"  # [more free -> freer]
    return "OTHER"


class _Pair:
    def __init__(self, one: _Side, other: _Side) -> None:
        self.words = (one, other)
        self.texts = one.texts + other.texts
        self.lowers = one.lowers + other.lowers
        self.tags = one.tags + other.tags
        self.deps = one.deps + other.deps
        self.category, self.replacement = self.categories = one.categories + other.categories
        self.same_category = self.category == self.replacement
        self.same_lemma = one.lemmas == other.lemmas
        self.both_auxiliary = all(dep.startswith("aux") for dep in self.deps)
        self.both_open = english().open.issuperset(self.categories)

    @property
    def similarity(self) -> float:
        """Levenshtein similarity of the letters, case aside; 0..1."""
        from rapidfuzz.distance import Levenshtein

        return Levenshtein.normalized_similarity(*self.lowers)

    def target(self) -> str | None:
        """Return the category of the replacement, unless it is rare and says nothing."""
        return None if self.replacement in english().rare else self.replacement

    def listed(self, name: str) -> str | None:
        category = english().pairs[name].get((self.lowers[0], self.lowers[1]))
        return self.target() if category == "TARGET" else category


def _contraction(pair: _Pair) -> str | None:
    known, (one, other) = english(), pair.lowers
    if pair.same_category and not known.contractions.isdisjoint(pair.lowers):
        return "CONTR"
    if other == known.stems.get(one) or one == known.stems.get(other):
        return "CONTR"  # [ca -> can]
    return "VERB:TENSE" if one in known.stems or other in known.stems else None


def _misspelling(pair: _Pair) -> str | None:
    text = pair.texts[0]
    if not text.isalpha() or not dictionary().isdisjoint((text, pair.lowers[0])):
        return None
    if pair.same_lemma:
        inflected = pair.same_category and pair.category in ("NOUN", "VERB")
        return f"{pair.category}:INFL" if inflected else "MORPH"
    similarity = pair.similarity
    short = all(len(text) <= 4 for text in pair.texts)
    if similarity > 0.55 or (short and (similarity == 0.5 or round(similarity, 3) == 0.333)):
        return "SPELL"
    return pair.target() or "OTHER"


def _inflection(pair: _Pair) -> str | None:
    if not (pair.same_lemma and pair.both_open):
        return None
    if pair.same_category:
        form = {"ADJ": "ADJ:FORM", "NOUN": "NOUN:NUM"}.get(pair.category)
        if form := form or (_verb_form(pair) if pair.category == "VERB" else None):
            return form
    if {"acomp", "amod"}.issuperset(pair.deps):
        return "ADJ:FORM"
    if pair.category == "ADJ" and pair.tags[1] == "NNS":
        return "NOUN:NUM"  # [musical -> musicals]
    return _FORMS.get(pair.tags[1], "MORPH")


_FORMS = {"VBG": "VERB:FORM", "VBN": "VERB:FORM", "VBD": "VERB:TENSE", "VBZ": "VERB:SVA"}


def _verb_form(pair: _Pair) -> str | None:
    if _follow_auxiliaries(pair):
        return "VERB:FORM"
    for tag, form in _FORMS.items():
        if tag in pair.tags:
            return form
    return "VERB:TENSE" if pair.both_auxiliary else None


def _follow_auxiliaries(pair: _Pair) -> bool:
    if pair.both_auxiliary:
        return all(_is_later_auxiliary(word) for word in pair.words)
    sides = [(word.tokens.deps, word.tokens.children(word.start)) for word in pair.words]
    known = english().auxiliary
    return all(any(deps[child] in known for child in children) for deps, children in sides)


def _is_later_auxiliary(word: _Side) -> bool:
    tokens = word.tokens
    for child in tokens.children(tokens.heads[word.start]):
        if tokens.deps[child].startswith("aux"):
            return tokens.texts[child] != word.texts[0]
    return False


def _same_class(pair: _Pair) -> str | None:
    if pair.same_category and (category := pair.target()):
        return category
    return english().relations.get(pair.deps[0]) if pair.deps[0] == pair.deps[1] else None


def _related_classes(pair: _Pair) -> str | None:
    categories, dep = set(pair.categories), pair.deps[1]
    if categories == {"PART", "PREP"} or set(pair.deps) == {"prt", "prep"}:
        return "PART"
    if categories == {"DET", "PRON"}:
        return "PRON" if dep in english().arguments else "DET" if dep == "poss" else None
    return "DET" if categories == {"DET", "NUM"} else None


def _similar_letters(pair: _Pair) -> str | None:
    (one, other), similarity = pair.texts, pair.similarity
    long = len(one) > 5 and len(other) > 5
    if long and (one.startswith(other) or other.startswith(one)) and similarity >= 0.66:
        return "MORPH"  # [stress -> stressed]
    for lengths, other_lengths, compare, bound, kind in english().similarity:
        fits = lengths[0] <= len(one) <= lengths[1] and compare(similarity, bound)
        fits = fits and other_lengths[0] <= len(other) <= other_lengths[1]
        if fits and (category := pair.target() if kind == "TARGET" else kind):
            return category
    return None


_WORD_RULES: tuple[Callable[[_Pair], str | None], ...] = (
    lambda pair: "NOUN:POSS" if "POS" in pair.tags else None,
    _contraction,
    lambda pair: pair.listed("agreement"),
    _misspelling,
    _inflection,
    lambda pair: "MORPH" if pair.both_open and len(set(map(stem, pair.texts))) == 1 else None,
    lambda pair: "VERB:TENSE" if pair.both_auxiliary else None,
    _same_class,
    _related_classes,
    lambda pair: pair.listed("function"),
    lambda pair: None if all(map(str.isalpha, pair.texts)) else "OTHER",
    lambda pair: pair.listed("confused"),
    _similar_letters,
)
"""Rules for one token that replaces another; the first that returns a category decides."""


# --- what English words are ----------------------------------------------------------------------
@cache
def english() -> Any:
    """Return the tables of ``data/english.json`` as attributes: lists are sets, pairs are keys."""
    data = json.loads((files("grammeter.errant") / "data" / "english.json").read_text("utf-8"))
    sets = ("open", "rare", "arguments", "contractions")
    tables: dict[str, Any] = data | {name: frozenset(data[name]) for name in sets}
    by_name = data["categories"].items()
    tables["categories"] = {tag: name for name, tags in by_name for tag in tags}
    tables["pairs"] = {
        name: {(one, other): kind for one, other, kind in rows}
        for name, rows in data["pairs"].items()
        if name != "about"
    }
    rows = data["similarity"]["rows"]
    tables["similarity"] = [(a, b, getattr(operator, test), *of) for a, b, test, *of in rows]
    return SimpleNamespace(**tables, auxiliary=frozenset(("aux", "auxpass")))


@cache
def dictionary() -> frozenset[str]:
    """Return the British English words that are no spelling errors."""
    packed = (files("grammeter.resources") / "en_gb_large" / "words.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode("utf-8").split())


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of a word, in lower case, by stripping endings until none fits.

    Paice 1990, "Another stemmer", ACM SIGIR Forum 24(3), 56-61.
    """
    return _lancaster().stem(word)


@cache
def _lancaster() -> Any:
    from nltk.stem import lancaster  # pyright: ignore[reportMissingTypeStubs]

    return lancaster.LancasterStemmer()
