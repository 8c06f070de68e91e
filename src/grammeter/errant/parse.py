"""Parsing with spaCy: in batches, each sentence once, and not at all if a parse is cached.

spaCy is imported when the first sentence must really be parsed. Tokens are what white space
separates, as with errant's ``tokenise=False``; only texts that were tokenised by a pipeline, and
say so by ``Tokens.raw``, are tokenised by it again, because it looks at the spaces, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

from grammeter.core import require
from grammeter.errant.parse_cache import ParseCache
from grammeter.errant.pipelines import Pipeline
from grammeter.errant.tokens import Tokens

BATCH = 128
"""Sentences that spaCy takes at once."""

ZONE = 2048
"""Sentences after which spaCy forgets the words that only they had."""

TOKEN_LIMIT = 300_000
"""So many tokens of parsed sentences are kept in memory, some 40 MB."""

LEMMA_LIMIT = 100_000
"""So many words a lemmatizer may remember."""

_UNUSED = ("ner", "entity_linker", "spancat", "textcat", "textcat_multilabel")
_PLAIN = frozenset(
    {
        "attribute_ruler", "lemmatizer", "morphologizer", "parser", "senter", "sentencizer",
        "tagger", "tok2vec", "trainable_lemmatizer", "transformer",
    }
)  # fmt: skip
"""Kinds of components whose use of the parser's work is known."""


Key = tuple[tuple[str, ...], str]
"""What a parse depends on: the tokens of a sentence, and the text that they were split from."""


class Parser:
    """Parses sentences with one pipeline and remembers them.

    Parameters
    ----------
    pipeline
        Which one.
    cache_folder
        Where parses are kept on disk; ``None``: nowhere.
    token_limit
        How many tokens are kept in memory.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        cache_folder: Path | None = None,
        *,
        token_limit: int = TOKEN_LIMIT,
    ) -> None:
        self.pipeline = pipeline
        self._folder = cache_folder
        self._token_limit = token_limit
        self._known: dict[Key, Tokens] = {}
        self._tokens = 0
        self._loaded: Any = None
        self._disk: ParseCache | None = None

    def parse(self, sentences: Iterable[Tokens], *, dependencies: bool = True) -> list[Tokens]:
        """Parse sentences.

        Parameters
        ----------
        sentences
            Split ones; each distinct one is parsed once.
        dependencies
            Whether heads and relations are needed; without them it takes about half the time.

        Returns
        -------
        parses
            In the order of the sentences.
        """
        wanted = list(sentences)
        parses: dict[Key, Tokens] = {}
        missing: dict[Key, Tokens] = {}
        for bare in wanted:
            known = self._known.get(_key(bare), bare)
            (parses if _suffices(known, dependencies) else missing)[_key(bare)] = known
        for parsed in self._obtain(list(missing.values()), dependencies):
            parses[_key(parsed)] = parsed
            self._remember(parsed)
        return [parses[_key(bare)] for bare in wanted]

    def _obtain(self, sentences: Sequence[Tokens], dependencies: bool) -> Iterator[Tokens]:
        """Read parses from disk and make those that are not there."""
        if not sentences:
            return
        cache = self._cache()
        missing: list[Tokens] = []
        for bare, parsed in zip(sentences, cache.read(sentences), strict=True):
            if parsed is not None and _suffices(parsed, dependencies):
                yield parsed
            else:
                missing.append(bare)
        for start in range(0, len(missing), ZONE):
            made = self._parse_now(missing[start : start + ZONE], dependencies)
            cache.write(made)
            yield from made

    def _parse_now(self, sentences: Sequence[Tokens], dependencies: bool) -> list[Tokens]:
        nlp = self._load()
        idle = [] if dependencies else idle_without_dependencies(nlp)
        with nlp.memory_zone():
            documents = (_document(nlp, bare) for bare in sentences)
            parsed = nlp.pipe(documents, batch_size=BATCH, disable=idle)
            pairs = zip(sentences, parsed, strict=True)
            made = [_tokens(bare, doc, dependencies) for bare, doc in pairs]
        _forget_lemmas(nlp)
        return made

    def _load(self) -> Any:
        if self._loaded is None:
            self._loaded = self.pipeline.load(_UNUSED)
        return self._loaded

    def _cache(self) -> ParseCache:
        if self._disk is None:
            identity = ""
            if self._folder is not None:
                identity = f"{self.pipeline.hash} spacy {_spacy_version()}"
            self._disk = ParseCache(self._folder, identity)
        return self._disk

    def _remember(self, parsed: Tokens) -> None:
        if self._tokens > self._token_limit:
            self._known, self._tokens = {}, 0
        self._known[_key(parsed)] = parsed
        self._tokens += len(parsed)


def _key(tokens: Tokens) -> Key:
    return tokens.texts, tokens.raw


def _document(nlp: Any, tokens: Tokens) -> Any:
    """Return what spaCy shall parse; of a raw text all that its tokeniser says but white space."""
    make = require("spacy.tokens", extra="errant").Doc
    if not tokens.raw:
        return make(nlp.vocab, words=list(tokens.texts))
    whole = nlp.tokenizer(tokens.raw)
    words = [token for token in whole if not token.is_space]
    if len(words) == len(whole):
        return whole
    spaces = [bool(token.whitespace_) for token in words]
    made = make(nlp.vocab, words=[token.text for token in words], spaces=spaces)
    for new, old in zip(made, words, strict=True):
        new.norm_ = old.norm_
    return made


def idle_without_dependencies(nlp: Any) -> list[str]:
    """Return the components that only make or change dependencies.

    None where another component reads them: the attribute ruler of ``en_core_web_sm`` tells
    auxiliaries from verbs by their relations, so its word classes need the parser.
    """
    kinds: Mapping[str, str] = {name: nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}
    if not _PLAIN.issuperset(kinds.values()):
        return []
    idle = [name for name, kind in kinds.items() if kind == "parser"]
    for name, kind in kinds.items():
        if kind == "attribute_ruler":
            rules = nlp.get_pipe(name).patterns
            if all(set(rule["attrs"]) <= {"DEP"} for rule in rules):
                idle.append(name)
            elif any(_reads_dependencies(rule["patterns"]) for rule in rules):
                return []
    return idle


def _reads_dependencies(patterns: Sequence[Sequence[Mapping[str, Any]]]) -> bool:
    keys = {str(key).upper() for pattern in patterns for token in pattern for key in token}
    return not keys.isdisjoint({"DEP", "IS_SENT_START", "SENT_START", "_"})


def _suffices(tokens: Tokens, dependencies: bool) -> bool:
    return tokens.tagged and (tokens.parsed or not dependencies)


def _tokens(bare: Tokens, doc: Any, dependencies: bool) -> Tokens:
    """Copy what is needed from a spaCy Doc."""
    return bare.with_columns(
        [token.lemma_ for token in doc],
        [token.pos_ for token in doc],
        [token.tag_ for token in doc],
        [token.dep_ for token in doc] if dependencies else (),
        [token.head.i for token in doc] if dependencies else (),
    )


def _forget_lemmas(nlp: Any) -> None:
    """Empty a lemmatizer's own memory of words, which would grow without end."""
    for _, component in nlp.pipeline:
        memory = getattr(component, "cache", None)
        if isinstance(memory, dict) and len(cast("dict[Any, Any]", memory)) > LEMMA_LIMIT:
            cast("dict[Any, Any]", memory).clear()


def _spacy_version() -> str:
    try:
        return version("spacy")
    except PackageNotFoundError:
        return "absent"
