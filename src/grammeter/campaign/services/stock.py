"""Rows of a new campaign, collected in memory and stored at once."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from grammeter.campaign.models import (
    Assignment,
    Campaign,
    Item,
    ItemOutput,
    Judge,
    Judgment,
    Kind,
    Output,
    Sentence,
)
from grammeter.campaign.services.checks import Check
from grammeter.core import DataError
from grammeter.formats import Corpus

Group = tuple[str, ...]

_BATCH = 500


@dataclass
class Stock:
    """The rows of one campaign; equal sentences and outputs are stored once."""

    campaign: Campaign
    corpus: Corpus
    sentences: dict[int, Sentence] = field(default_factory=dict[int, Sentence])
    outputs: dict[tuple[int, frozenset[str]], Output] = field(
        default_factory=dict[tuple[int, frozenset[str]], Output]
    )
    extra: list[Sentence | Output] = field(default_factory=list[Sentence | Output])
    items: list[Item] = field(default_factory=list[Item])
    places: list[ItemOutput] = field(default_factory=list[ItemOutput])
    assignments: list[Assignment] = field(default_factory=list[Assignment])
    judgments: list[Judgment] = field(default_factory=list[Judgment])
    positions: Counter[str] = field(default_factory=Counter[str])

    def item(
        self,
        segment: int,
        groups: Sequence[Group],
        *,
        name: str | None = None,
        document: str | None = None,
        distinct: int | None = None,
        probability: float | None = None,
    ) -> Item:
        """Add a normal item; ``groups`` are the systems of each output shown."""
        sentence = self._sentence(segment)
        item = Item(
            sentence=sentence,
            name=name,
            document=document,
            distinct=distinct,
            probability=probability,
        )
        return self._add(item, [self._output(segment, group) for group in groups])

    def check(self, check: Check, kind: Kind) -> Item:
        """Add an item with a known answer."""
        sentence = Sentence(
            campaign=self.campaign,
            text=storable(check.source),
            before=storable(check.before),
            after=storable(check.after),
        )
        outputs = [Output(sentence=sentence, text=storable(text)) for text in check.outputs]
        self.extra += [sentence, *outputs]
        item = Item(
            sentence=sentence,
            kind=kind,
            loud=check.loud,
            expected=list(check.ranks),
            explanation=check.explanation,
        )
        return self._add(item, outputs)

    def assign(self, judge: Judge, item: Item, *, turn: int = 0) -> Assignment:
        """Append an item to a judge's list; it takes a slot unless it is a repeat."""
        self.positions[judge.name] += 1
        slot = None
        if item.kind == Kind.NORMAL and not turn:
            item.taken += 1
            item.wanted = max(item.wanted, item.taken)
            slot = item.taken
        assignment = Assignment(
            judge=judge, item=item, position=self.positions[judge.name], turn=turn, slot=slot
        )
        self.assignments.append(assignment)
        return assignment

    def store(self) -> None:
        """Write all rows; call it in a transaction."""
        rows: list[Any] = [*self.sentences.values(), *self.outputs.values(), *self.extra]
        rows += [*self.items, *self.places, *self.assignments, *self.judgments]
        tables: list[Any] = [Sentence, Output, Item, ItemOutput, Assignment, Judgment]
        for table in tables:
            table.objects.bulk_create([row for row in rows if type(row) is table], _BATCH)

    def digest(self) -> str:
        """Return the SHA-256 of all texts."""
        digest = hashlib.sha256()
        for segment in sorted(self.sentences):
            digest.update(f"{segment}\n{self.sentences[segment].text}\n".encode())
        for _, output in sorted(
            self.outputs.items(), key=lambda row: (row[0][0], *sorted(row[0][1]))
        ):
            digest.update(f"{' '.join(sorted(output.systems))}\n{output.text}\n".encode())
        return digest.hexdigest()

    def _add(self, item: Item, outputs: Sequence[Output]) -> Item:
        item.campaign, item.number = self.campaign, len(self.items) + 1
        self.items.append(item)
        self.places += [
            ItemOutput(item=item, output=output, place=place)
            for place, output in enumerate(outputs)
        ]
        return item

    def _sentence(self, segment: int) -> Sentence:
        if segment not in self.sentences:
            texts = self.corpus.sources
            if segment > len(texts):
                raise DataError(
                    f"there is no sentence {segment}: the corpus has {len(texts)}",
                    fix="Give the sources and outputs that the items were made from.",
                )
            at = segment - 1
            self.sentences[segment] = Sentence(
                campaign=self.campaign,
                segment=segment,
                text=storable(texts[at]),
                before=storable(texts[at - 1]) if at else "",
                after=storable(texts[at + 1]) if segment < len(texts) else "",
            )
        return self.sentences[segment]

    def _output(self, segment: int, group: Group) -> Output:
        key = segment, frozenset(group)
        if key not in self.outputs:
            text = self.corpus.systems[group[0]][segment - 1]
            self.outputs[key] = Output(
                sentence=self.sentences[segment],
                text=storable(text),
                systems=list(group),
            )
        return self.outputs[key]


def storable(text: str) -> str:
    """Strip a text, and replace NUL, which PostgreSQL refuses."""
    return text.strip().replace("\0", "\N{REPLACEMENT CHARACTER}")
