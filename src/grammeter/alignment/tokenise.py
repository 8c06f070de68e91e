"""Raw text to tokens, with the tokeniser of a spaCy pipeline."""

from __future__ import annotations

from collections.abc import Iterable

from grammeter.errant import Tokens, find_pipeline, from_words


def tokenised(texts: Iterable[str], pipeline: str | None = None) -> list[Tokens]:
    """Split texts into tokens; runs of white space are none.

    Parameters
    ----------
    texts
        As people write them.
    pipeline
        As for :func:`~grammeter.errant.annotate.annotator`; only its tokeniser is used.

    Returns
    -------
    tokens
        With the texts as they were written, which the pipeline parses.

    Raises
    ------
    MissingResourceError
        If spaCy or the pipeline is not installed.
    """
    tokenizer = find_pipeline(pipeline).load().tokenizer
    return [
        from_words((token.text for token in tokenizer(text) if not token.is_space), text)
        for text in map(str.strip, texts)
    ]
