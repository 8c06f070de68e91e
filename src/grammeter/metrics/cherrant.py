"""ChERRANT, characters."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from grammeter import core, errant
from grammeter.metrics.base import cited
from grammeter.metrics.errant import Comparing

_AS_GIVEN = (
    "the gold edits stand as their file has them; if another program or other resources made them,"
    " extract them anew: grammeter edits extract --scheme cherrant"
)
_OF_WORDS = "the gold edits are of words; edits of characters come from the texts that they make"


@dataclass(frozen=True, kw_only=True)
class Cherrant(Comparing):
    """F-measure over edits of characters, for Chinese; white space does not count.

    Gold edits are used as they stand; where there are none, edits are extracted from the reference
    texts. A reference may have several lists of edits, all of which are its annotator's.

    - ``alignments``: ``all`` alignments of least cost give lists of edits, as in published
      figures, or the ``first``.
    - ``resources``: the folder ``data`` of the program ChERRANT, with its tables of characters;
      ``none``: no tables, which moved F of MuCGEC dev by .0002.
    - ``simplify``: convert hypotheses and references to simplified characters, not the source, as
      the program does: ``auto`` if OpenCC is here, ``t2s``, ``none``.
    - ``beta``: weight of recall in F; 0.5 prefers precision.
    - ``mode``, ``categories``, ``tokens``, ``filter``, ``rounding``: as for :class:`Errant`; the
      types are M (missing), R (redundant), S, W (word order).
    """

    name = "cherrant"
    title = "F-measure over edits of Chinese characters (Zhang et al. 2022)"
    citation = cited("zhang-etal-2022-mucgec")
    tok = "characters"
    chinese = True

    alignments: errant.Alignments = "all"
    resources: str | None = None
    simplify: errant.Simplification = "auto"

    @property
    def notice(self) -> str | None:
        """Raise at once if a package or a table is missing."""
        return super().notice or self.extractor().notice

    def settings(self) -> dict[str, object]:
        """Return tokens, resources and conversion in use."""
        return {**super().settings(), **self.extractor().signature()}

    def extractor(self, *, types: bool = False) -> errant.Characters:
        """Return what extracts edits; they always have types."""
        return errant.chinese_annotator(self.alignments, self.resources, self.simplify)

    def counting(self) -> object:
        """Return what the counts depend on: neither F nor the choice of a reference matters."""
        return "cherrant", self.agreement, self.alignments, self.resources, self.simplify

    def readied(self, segment: core.Segment) -> core.Segment:
        """Put spaces between the characters of the source, and nowhere else.

        So no other text is equal to it but a reference that is the source: that has no edits, even
        where conversion would change it. Gold edits of other tokens give way to the texts.
        """
        source, old = " ".join(errant.characters(segment.source)), segment.source
        texts = (text and (source if text == old else _closed(text)) for text in segment.references)
        gold: core.GoldEdits = segment.gold if source == " ".join(old.split()) else {}
        if segment.gold and not (gold or segment.texts):
            fault = f"gold edits of other tokens than characters, and no text: {old[:40]!r}"
            fix = "Make them anew: grammeter edits extract --scheme cherrant"
            raise core.DataError(fault, fix=fix)
        closed = {"hypothesis": _closed(segment.hypothesis), "references": tuple(texts)}
        return replace(segment, source=source, gold=gold, **closed)

    def text_notes(self, segments: Sequence[core.Segment]) -> Iterable[str]:
        """Say whose edits count, and which texts look traditional or align in too many ways."""
        ready = list(map(self.readied, segments))
        pairs = [(s.source, t) for s in ready for t in (s.hypothesis, *(() if s.gold else s.texts))]
        notes = [*self.extractor().notes(pairs)]
        if any(segment.gold for segment in segments):
            notes.insert(0, _AS_GIVEN if any(s.gold for s in ready) else _OF_WORDS)
        return (f"{self.name}: {note}" for note in notes)


def _closed(text: str) -> str:
    return "".join(text.split())
