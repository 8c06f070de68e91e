"""Parsing with spaCy: in batches, each sentence once, and not at all if a parse is cached.

Tokens are what white space separates, as with errant's ``tokenise=False``; only texts that a
pipeline tokenised (``Tokens.raw``) are tokenised by it again: it looks at the spaces, too.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any, cast

from grammeter.core import Cache, require
from grammeter.errant.pipelines import Pipeline
from grammeter.errant.tokens import Tokens

BATCH = 128  # sentences in one batch of spaCy
ZONE = 2048  # sentences after which spaCy forgets the words that only they had
TOKEN_LIMIT = 300_000  # tokens of parsed sentences kept in memory, some 40 MB
LEMMA_LIMIT = 100_000  # words that a lemmatizer may keep in memory
FILE = "parses-2.sqlite"  # the number is that of the file's format
SIZE_LIMIT = 1 << 30  # bytes; a larger file is begun anew
_UNUSED = ("ner", "entity_linker", "spancat", "textcat", "textcat_multilabel")
_PLAIN = {
    *("attribute_ruler", "lemmatizer", "morphologizer", "parser", "senter", "sentencizer"),
    *("tagger", "tok2vec", "trainable_lemmatizer", "transformer"),
}
"""Kinds of components whose use of the parser's work is known."""


Key = tuple[tuple[str, ...], str]  # tokens of a sentence, and the text that they were split from


class Parser:
    """Parses with a pipeline, loaded late; keeps ``token_limit`` tokens, all in a folder if any."""

    def __init__(
        self, pipeline: Pipeline, folder: Path | None = None, *, token_limit: int = TOKEN_LIMIT
    ) -> None:
        self.pipeline, self._folder, self._token_limit = pipeline, folder, token_limit
        self._known: dict[Key, Tokens] = {}
        self._tokens = 0
        self.notice = pipeline.notice

    def signature(self) -> dict[str, str]:
        """Return the pipeline's name, version and hash."""
        name = f"{self.pipeline.name}-{self.pipeline.version}"
        return {"pipeline": name, "pipeline-hash": self.pipeline.hash}

    def parse(self, sentences: Iterable[Tokens], *, dependencies: bool = True) -> list[Tokens]:
        """Parse split sentences, each once; without ``dependencies`` in half the time."""
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
        if not sentences:
            return
        missing: list[Tokens] = []
        for bare, parsed in zip(sentences, self._disk.read(sentences), strict=True):
            if parsed is not None and _suffices(parsed, dependencies):
                yield parsed
            else:
                missing.append(bare)
        for start in range(0, len(missing), ZONE):
            parses = self._parse_now(missing[start : start + ZONE], dependencies)
            self._disk.write(parses)
            yield from parses

    def _parse_now(self, sentences: Sequence[Tokens], dependencies: bool) -> list[Tokens]:
        nlp = self._nlp
        idle = [] if dependencies else idle_without_dependencies(nlp)
        with nlp.memory_zone():
            documents = (_document(nlp, bare) for bare in sentences)
            pairs = zip(sentences, nlp.pipe(documents, batch_size=BATCH, disable=idle), strict=True)
            tokens = [_tokens(bare, doc, dependencies) for bare, doc in pairs]
        for _, component in nlp.pipeline:  # a lemmatizer's own cache would grow without end
            memory = getattr(component, "cache", None)
            if isinstance(memory, dict) and len(cast("dict[Any, Any]", memory)) > LEMMA_LIMIT:
                cast("dict[Any, Any]", memory).clear()
        return tokens

    @cached_property
    def _nlp(self) -> Any:
        return self.pipeline.load(_UNUSED)

    @cached_property
    def _disk(self) -> "ParseCache":
        if not self._folder:
            return ParseCache(None, "")
        try:
            spacy = version("spacy")
        except PackageNotFoundError:
            spacy = "absent"
        return ParseCache(self._folder, f"{self.pipeline.hash} spacy {spacy}")

    def _remember(self, parsed: Tokens) -> None:
        if self._tokens > self._token_limit:
            self._known, self._tokens = {}, 0
        self._known[_key(parsed)] = parsed
        self._tokens += len(parsed)


def _key(tokens: Tokens) -> Key:
    return tokens.texts, tokens.raw


def _document(nlp: Any, tokens: Tokens) -> Any:
    """Return the Doc to parse; of a raw text, the tokeniser's tokens other than white space."""
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
    """Return the components that only make or change dependencies, if no other one reads them.

    The attribute ruler of ``en_core_web_sm`` does: it tells auxiliaries from verbs by relations.
    """
    kinds: Mapping[str, str] = {name: nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}
    if not _PLAIN.issuperset(kinds.values()):
        return []
    idle = [name for name, kind in kinds.items() if kind == "parser"]
    for name, kind in kinds.items():
        if kind == "attribute_ruler":
            rules = nlp.get_pipe(name).patterns
            patterns = chain.from_iterable(rule["patterns"] for rule in rules)
            keys = {str(key).upper() for token in chain.from_iterable(patterns) for key in token}
            if all(set(rule["attrs"]) <= {"DEP"} for rule in rules):
                idle.append(name)
            elif not keys.isdisjoint({"DEP", "IS_SENT_START", "SENT_START", "_"}):
                return []
    return idle


def _suffices(tokens: Tokens, dependencies: bool) -> bool:
    return tokens.tagged and (tokens.parsed or not dependencies)


def _tokens(bare: Tokens, doc: Any, dependencies: bool) -> Tokens:
    columns = ([getattr(token, name) for token in doc] for name in ("lemma_", "pos_", "tag_"))
    relations = [[token.dep_ for token in doc], [token.head.i for token in doc]]
    return bare.with_columns(*columns, *(relations if dependencies else ()))


class ParseCache:
    """The parses of one pipeline, in an SQLite file in ``folder``; ``None`` stores nothing.

    ``identity`` is all that a parse depends on besides the sentence. A parse is text, not a
    pickle. Sentences that cannot be read or written are parsed again.
    """

    def __init__(self, folder: Path | None, identity: str) -> None:
        self._identity = identity.encode("utf-8")
        path = folder and folder / FILE
        self._cache = Cache(path, "parses", "parse TEXT NOT NULL", limit=SIZE_LIMIT)

    def read(self, sentences: Sequence[Tokens]) -> list[Tokens | None]:
        """Return the parses of sentences, ``None`` for those that are not known."""
        keys = list(map(self._key, sentences))
        values = self._cache.read(keys)
        pairs = zip(sentences, keys, strict=True)
        return [_decode(bare, values[key]) if key in values else None for bare, key in pairs]

    def write(self, parses: Iterable[Tokens]) -> None:
        """Add parses, or replace those of the same sentences."""
        if self._cache:
            rows = ((one, json.dumps(_columns(one), separators=(",", ":"))) for one in parses)
            self._cache.write([(self._key(one), text) for one, text in rows if len(one)])

    def _key(self, tokens: Tokens) -> bytes:
        written = f"\0{tokens.raw}" if tokens.raw else " ".join(tokens.texts)
        sentence = written.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(self._identity + b"\0" + sentence, digest_size=16).digest()


def _columns(parse: Tokens) -> tuple[Sequence[str] | Sequence[int], ...]:
    return parse.lemmas, parse.pos, parse.tags, parse.deps, parse.heads


def _decode(bare: Tokens, value: str) -> Tokens | None:
    try:
        parse = bare.with_columns(*json.loads(value))
    except (ValueError, TypeError, RecursionError):
        return None
    lengths, size = list(map(len, _columns(parse))), len(bare)
    whole = lengths in ([size] * 5, [size, size, size, 0, 0])
    return parse if whole and {int}.issuperset(map(type, parse.heads)) else None
