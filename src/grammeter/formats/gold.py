"""Gold edits to reference texts, by a named rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from grammeter.core import DETECTION_ONLY, Edit, GoldEdits, apply, without_overlaps


@dataclass(frozen=True, kw_only=True)
class TextRule:
    """How gold edits become reference texts.

    GLEU moves by up to a point between the rules, so they are named in signatures.

    Attributes
    ----------
    um
        ``skip``: edits of the types ``Um`` and ``UNK``, which only mark an error, are not
        applied; ``apply``: they are.
    missing
        The text of an annotator who is not listed for a sentence. ``other``: that of the first
        annotator who is (the combined CoNLL-14 file leaves out an annotator who agreed with
        another); ``source``: the unchanged sentence; ``none``: there is no such text.
    """

    um: Literal["skip", "apply"] = "skip"
    missing: Literal["other", "source", "none"] = "other"

    def __str__(self) -> str:
        return f"gold(um={self.um}, missing={self.missing})"


def reference_texts(
    sources: Sequence[str], gold: Sequence[GoldEdits], rule: TextRule
) -> tuple[list[list[str | None]], int]:
    """Apply gold edits.

    Returns
    -------
    texts, left_out
        The texts, shape ``[annotators][sentences]``, annotators ascending; and how many edits
        were not applied because they overlap an earlier one of the same annotator.
    """
    annotators = sorted({number for edits in gold for number in edits})
    left_out = 0
    columns: list[list[str | None]] = [[] for _ in annotators]
    for source, by_annotator in zip(sources, gold, strict=True):
        texts: dict[int, str] = {}
        for number, edits in by_annotator.items():
            texts[number], overlaps = corrected(source, edits, rule)
            left_out += overlaps
        for column, number in zip(columns, annotators, strict=True):
            column.append(texts[number] if number in texts else _stand_in(source, texts, rule))
    return columns, left_out


def corrected(source: str, edits: Sequence[Edit], rule: TextRule) -> tuple[str, int]:
    """Return the corrected sentence and how many overlapping edits were left out."""
    wanted = [e for e in edits if rule.um == "apply" or e.type not in DETECTION_ONLY]
    if not wanted:
        return " ".join(source.split()), 0
    edits, left_out = without_overlaps(wanted)
    return " ".join(apply(source.split(), edits)), len(left_out)


def _stand_in(source: str, texts: dict[int, str], rule: TextRule) -> str | None:
    if rule.missing == "other" and texts:
        return texts[min(texts)]
    return None if rule.missing == "none" else " ".join(source.split())
