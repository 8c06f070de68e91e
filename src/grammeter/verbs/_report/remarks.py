"""What stands beside a spurious edit: people, other references, other systems that have it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from grammeter import core
from grammeter.rendering import DrawnEdit


@dataclass(frozen=True)
class Remarks:
    """Who has the edits of each sentence, beside the system in question."""

    judges: dict[core.EditKey, dict[str, bool]]  # whether each judge accepted an edit once
    gold: set[core.EditKey]
    makers: Counter[core.EditKey] = field(default_factory=Counter[core.EditKey])  # systems

    @classmethod
    def of(cls, items: Iterable[core.EditItem], gold: Sequence[core.GoldEdits]) -> "Remarks":
        """Gather what judges and annotators have."""
        judges: dict[core.EditKey, dict[str, bool]] = defaultdict(dict)
        for item, edit in ((i, edit) for i in items for _, edit in i.occurrences()):
            if edit.verdict is not None:
                judged = judges[item.key(edit)]
                judged[item.judge] = judged.get(item.judge, False) or edit.verdict
        known = {
            (line, edit.start, edit.end, text)
            for line, annotators in enumerate(gold, start=1)
            for edit in chain(*annotators.values())
            for text in edit.corrections
        }
        return cls(dict(judges), known)

    def on(self, written: Sequence[Any], edits: Iterable[tuple[DrawnEdit, ...]]) -> Iterator[Any]:
        """Yield the edits of each output with remarks on the spurious ones."""
        rows = [
            (output, [(e, (output.line + 1, e.start, e.end, e.correction)) for e in of])
            for output, of in zip(written, edits, strict=True)
        ]
        for output, of in rows:
            made = {key for e, key in of if e.verdict != "missed"}
            self.makers.update(dict.fromkeys(made, len(output.systems)))
        for _, of in rows:
            says = ((e, ", ".join(self._says(k)) if e.verdict == "spurious" else "") for e, k in of)
            yield tuple(replace(edit, remark=text) for edit, text in says)

    def _says(self, key: core.EditKey) -> Iterator[str]:
        if judged := self.judges.get(key):
            yield f"accepted by {sum(judged.values())} of {len(judged)} judges"
        if key in self.gold:
            yield "in another reference"
        if (systems := self.makers[key]) > 1:
            yield f"made by {systems} systems"
