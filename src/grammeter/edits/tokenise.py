"""Raw text to tokens, with the tokeniser of a spaCy pipeline."""

from __future__ import annotations

from collections.abc import Iterable

from grammeter.edits.pipelines import find_pipeline


def tokenised(texts: Iterable[str], pipeline: str | None = None) -> list[str]:
    """Separate the tokens of texts by one space.

    Parameters
    ----------
    texts
        As people write them.
    pipeline
        As for :func:`~grammeter.edits.annotate.annotator`; only its tokeniser is used.

    Raises
    ------
    MissingResourceError
        If spaCy or the pipeline is not installed.
    """
    found = find_pipeline(pipeline)
    spacy, folder = found.spacy(), found.folder
    parts = spacy.util.load_config(folder / "config.cfg")["nlp"]["pipeline"]
    tokenizer = spacy.load(folder, exclude=parts).tokenizer
    return [" ".join(token.text for token in tokenizer(t) if not token.is_space) for t in texts]
