"""The ERRANT annotator: pairs of sentences to typed edits, in batches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from grammeter.core.edit import Edit

Merge = Literal["rules", "all-split", "all-merge", "all-equal"]
"""How adjacent changes become edits; the words of ``errant_parallel -merge``."""


class Annotator:
    """Extracts and types edits. Make one with :func:`annotator`.

    Attributes
    ----------
    notice
        One line that users should see once, or ``None``: the pipeline was not chosen by the
        user and its scores are not comparable with published ones.
    """

    notice: str | None

    def annotate(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[Edit, ...]]:
        """Return the edits of each (source, corrected) pair.

        Texts are tokens separated by white space. Equal tokens give no edits, ``()``.
        """
        raise NotImplementedError

    def retype(
        self,
        source: str,
        edits: Sequence[Edit],
        *,
        minimise: bool = True,
        keep_types: bool = False,
    ) -> tuple[Edit, ...]:
        """Type given edits of one sentence by one annotator, as ``errant_m2 -gold``.

        Edits come back sorted by span. Those that only detect (``Um``, ``UNK``) keep span and
        text and get the type ``UNK``.
        """
        return self.retype_all([(source, edits)], minimise=minimise, keep_types=keep_types)[0]

    def retype_all(
        self,
        sentences: Sequence[tuple[str, Sequence[Edit]]],
        *,
        minimise: bool = True,
        keep_types: bool = False,
    ) -> list[tuple[Edit, ...]]:
        """Do :meth:`retype` for many (source, edits), parsing them together."""
        raise NotImplementedError

    def reextract_all(
        self, sentences: Sequence[tuple[str, Sequence[Edit]]]
    ) -> list[tuple[Edit, ...]]:
        """Extract anew from the text that given edits make, as ``errant_m2 -auto``.

        Edits that only detect (``Um``, ``UNK``) are not applied; they stay, typed ``UNK``.
        """
        raise NotImplementedError

    def signature(self) -> dict[str, str]:
        """Return what the edits depend on: pipeline, version, hash, merge, lev."""
        raise NotImplementedError


def annotator(
    pipeline: str | None = None,
    *,
    types: bool = True,
    merge: Merge = "rules",
    lev: bool = False,
    cache_dir: str | Path | None = None,
) -> Annotator:
    """Make an annotator; equal arguments give the same object."""
    raise NotImplementedError
