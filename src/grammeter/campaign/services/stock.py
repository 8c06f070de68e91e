"""Rows of a new campaign, collected in memory and stored at once."""

import hashlib
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.utils import timezone

from grammeter import core, formats, study
from grammeter.campaign import models
from grammeter.campaign.criteria import Check
from grammeter.campaign.models import Assignment, Item, Judge, Output, Sentence
from grammeter.campaign.services.assign import jittered, shuffle
from grammeter.campaign.tasks import Kind, State, Task
from grammeter.core import Item as Sampled

Group = tuple[str, ...]
_BATCH = 500


class Stock:
    """The rows of one campaign; equal sentences and outputs are stored once."""

    def __init__(self, campaign: models.Campaign, corpus: formats.Corpus) -> None:
        self.campaign, self.corpus = campaign, corpus
        self._lines = ["", *corpus.sources, ""]
        self.items: list[Item] = []
        self.judges: dict[str, Judge] = {}  # judges of imported judgments
        self._sentences: dict[int, Sentence] = {}
        self._outputs: dict[tuple[int, frozenset[str]], Output] = {}
        self._rows: list[Any] = []  # all other rows, without the items
        self._groups: dict[int, tuple[Group, ...]] = {}
        self._known: dict[tuple[object, ...], Item] = {}
        self._places: dict[int, dict[frozenset[str], int]] = {}
        self._positions: Counter[str] = Counter()
        self._turns: Counter[tuple[str, int]] = Counter()
        self._now = timezone.now()

    def add_sampled(self, items: Iterable[Sampled]) -> dict[str, list[tuple[Item, int]]]:
        """Add sampled items; return the items of each judge, with the turn of each."""
        lists: dict[str, list[tuple[Item, int]]] = defaultdict(list)
        for sampled in items:
            shown, distinct = self._shown(sampled)
            task = sampled.task or self.campaign.task
            key = (sampled.item, sampled.segment, frozenset(shown), task)
            item = self._known.get(key) if sampled.repeat or sampled.item is not None else None
            if item is None:
                fields = {"name": sampled.item, "probability": sampled.probability}
                fields |= {"distinct": sampled.distinct or distinct, "task": task}
                item = self._known[key] = self._item(sampled.segment, shown, **fields)
            for judge in sampled.judges:
                lists[judge].append((item, self._turn(judge, item)))
        return lists

    def add_check(self, check: Check, kind: Kind) -> None:
        """Add an item with a known answer."""
        texts = {name: storable(getattr(check, name)) for name in ("before", "after")}
        sentence = Sentence(campaign=self.campaign, text=storable(check.source), **texts)
        outputs = [Output(sentence=sentence, text=storable(text)) for text in check.outputs]
        self._rows += [sentence, *outputs]
        fields: dict[str, Any] = {"loud": check.loud, "explanation": check.explanation}
        fields["task"] = check.task or self.campaign.task
        self._add(Item(sentence=sentence, kind=kind, expected=list(check.ranks), **fields), outputs)

    def add_list(self, judge: Judge, turns: Sequence[tuple[Item, int]]) -> None:
        """Give a planned judge the tutorial, then their items with attention items in between."""
        seed = self.campaign.seed, judge.name
        checks = [item for item in self.items if item.kind == Kind.ATTENTION]
        stride = len(turns) / len(checks) if checks else 0
        before: dict[int, list[Item]] = defaultdict(list)
        for turn, at in enumerate(shuffle(range(len(checks)), *seed, "attention")):
            before[jittered(stride, turn, *seed)].append(checks[at])
        for item in self.items:
            if item.kind == Kind.TUTORIAL:
                self._assign(judge, item)
        for place, (item, turn) in enumerate(turns):
            for check in before[place]:
                self._assign(judge, check)
            self._assign(judge, item, turn=turn)

    def add_judged(self, ranking: core.Ranking, where: str | None) -> None:
        """Add an imported judgment; a judge's second one of an item is a repeat."""
        unknown = [name for name in ranking.systems if name not in self.corpus.systems]
        if unknown or ranking.segment > len(self.corpus):
            fault = f"unknown system {unknown[0]!r}" if unknown else f"no line {ranking.segment}"
            raise core.DataError(fault, where=where, fix="Give the judged sources and outputs.")
        if ranking.judge not in self.judges:
            self.judges[ranking.judge] = self.campaign.judges.create(name=ranking.judge)
        judge, item = self.judges[ranking.judge], self._judged(ranking)
        assignment = self._assign(judge, item, turn=self._turn(judge.name, item))
        places = self._places[item.number]
        assignment.shown_order = [places[frozenset(group)] for group in ranking.groups]
        assignment.state = State.SKIPPED if ranking.skipped else State.DONE
        assignment.answered = self._now
        alone = len(ranking.groups) == 1 and not ranking.skipped
        made = {"version": 1, "key": uuid.uuid4().hex, "complete": True, "automatic": alone}
        answer = {"ranks": list(ranking.ranks), "skipped": ranking.skipped, **made}
        judgment = models.Judgment(assignment=assignment, wall_seconds=ranking.seconds, **answer)
        self._rows.append(judgment)

    def store(self) -> str:
        """Write all rows, in a transaction; return the SHA-256 of all texts."""
        rows = [*self._sentences.values(), *self._outputs.values(), *self.items, *self._rows]
        tables: list[Any] = [Sentence, Output, Item, models.ItemOutput, Assignment, models.Judgment]
        for table in tables:
            table.objects.bulk_create([row for row in rows if type(row) is table], _BATCH)
        digest = hashlib.sha256()
        for segment in sorted(self._sentences):
            digest.update(f"{segment}\n{self._sentences[segment].text}\n".encode())
        for key in sorted(self._outputs, key=lambda key: (key[0], *sorted(key[1]))):
            output = self._outputs[key]
            digest.update(f"{' '.join(sorted(output.systems))}\n{output.text}\n".encode())
        return digest.hexdigest()

    def _shown(self, item: Sampled) -> tuple[list[Group], int]:
        """Return the systems behind each output shown, and how many outputs there are."""
        if item.segment > len(self.corpus):
            raise _misfit(item, f"there are {len(self.corpus)} sentences")
        if item.segment not in self._groups:
            texts = {name: of[item.segment - 1] for name, of in self.corpus.systems.items()}
            self._groups[item.segment] = study.group_outputs(texts)
        all_groups = self._groups[item.segment]
        place = {name: group for group in all_groups for name in group}
        for names in item.groups:
            for name in names:
                if name not in place:
                    kind = f"system in an item of segment {item.segment}"
                    raise core.UnknownNameError(kind, name, self.corpus.systems)
            if len({place[name] for name in names}) > 1:
                raise _misfit(item, f"{', '.join(names)} did not write the same")
        return list(dict.fromkeys(place[names[0]] for names in item.groups)), len(all_groups)

    def _judged(self, ranking: core.Ranking) -> Item:
        """Items are equal if name, document, sentence and outputs are."""
        groups = [*map(frozenset[str], ranking.groups)]
        key = (ranking.item, ranking.document, ranking.segment, frozenset(groups))
        if key not in self._known:
            # other tasks have other answers than ranks
            task = Task.EDITS if self.campaign.task == Task.EDITS else Task.RANKING
            names = {"name": ranking.item, "document": ranking.document, "task": task}
            item = self._known[key] = self._item(ranking.segment, ranking.groups, **names)
            self._places[item.number] = {group: place for place, group in enumerate(groups)}
        return self._known[key]

    def _item(self, segment: int, groups: Sequence[Group], **fields: Any) -> Item:
        """Add a normal item; ``groups`` are the systems of each output shown."""
        if segment not in self._sentences:
            before, text, after = map(storable, self._lines[segment - 1 : segment + 2])
            texts = {"before": before, "text": text, "after": after}
            self._sentences[segment] = Sentence(campaign=self.campaign, segment=segment, **texts)
        sentence = self._sentences[segment]
        for group in groups:
            if (key := (segment, frozenset(group))) not in self._outputs:
                text = storable(self.corpus.systems[group[0]][segment - 1])
                self._outputs[key] = Output(sentence=sentence, text=text, systems=list(group))
        outputs = [self._outputs[segment, frozenset(group)] for group in groups]
        return self._add(Item(sentence=sentence, **fields), outputs)

    def _add(self, item: Item, outputs: Sequence[Output]) -> Item:
        item.campaign, item.number = self.campaign, len(self.items) + 1
        self.items.append(item)
        for place, output in enumerate(outputs):
            self._rows.append(models.ItemOutput(item=item, output=output, place=place))
        return item

    def _turn(self, judge: str, item: Item) -> int:
        """Return how often a judge has the item already, and count it."""
        self._turns[judge, item.number] += 1
        return self._turns[judge, item.number] - 1

    def _assign(self, judge: Judge, item: Item, *, turn: int = 0) -> Assignment:
        """Append an item to a judge's list; it takes a slot unless it is a repeat."""
        self._positions[judge.name] += 1
        position, slot = self._positions[judge.name], None
        if item.kind == Kind.NORMAL and not turn:
            item.taken = slot = item.taken + 1
            item.wanted = max(item.wanted, slot)
        assignment = Assignment(judge=judge, item=item, position=position, turn=turn, slot=slot)
        self._rows.append(assignment)
        return assignment


def storable(text: str) -> str:
    """Strip a text, and replace NUL, which PostgreSQL refuses."""
    return text.strip().replace("\0", "\N{REPLACEMENT CHARACTER}")


def _misfit(item: Sampled, reason: str) -> core.DataError:
    fault = f"item of segment {item.segment} does not fit the outputs: {reason}"
    fix = "Give the sources and outputs that the items were made from, all their sentences."
    return core.DataError(fault, fix=fix)
