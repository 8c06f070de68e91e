"""Import a finished evaluation as a campaign."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.utils import timezone

from grammeter.campaign.models import Campaign, Item, Judge, Judgment, State
from grammeter.campaign.services import audit, campaigns
from grammeter.campaign.services.stock import Stock
from grammeter.core import DataError, Ranking, UsageError
from grammeter.core import Item as Sampled
from grammeter.formats import Corpus, Judgments


def load(
    plan: campaigns.Plan,
    corpus: Corpus,
    judgments: Judgments,
    *,
    more: Sequence[Sampled] = (),
    who: str = audit.COMMAND_LINE,
) -> Campaign:
    """Create a campaign from the judgments of a file.

    Items are equal if name, document, sentence and outputs are; a judge's second judgment of an
    item is a repeat. Groups of outputs and names of judges stay as in the file.

    Parameters
    ----------
    plan
        A pool, or adaptive: new judges get new items.
    corpus
        Sources and outputs of the judgments.
    judgments
        Read with these outputs.
    more
        Items for new judges.

    Raises
    ------
    DataError
        If a judgment does not fit the corpus.
    UsageError
        If the plan is ``planned``, or a campaign of that name exists.
    """
    if plan.strategy == "planned":
        raise UsageError(
            "an imported campaign with planned judges", fix="Take the strategy pool or adaptive."
        )
    with transaction.atomic():
        campaign = campaigns.begin(plan, more, **_origin(judgments))
        loader = _Loader(Stock(campaign, corpus))
        origins: Sequence[str | None] = judgments.origins or [None] * len(judgments)
        for ranking, where in zip(judgments.rankings, origins, strict=True):
            loader.add(ranking, where)
        campaigns.add_checks(loader.stock, plan)
        if more:
            campaigns.add_items(loader.stock, plan, more)
        campaigns.finish(loader.stock, who, judgments=len(judgments), judges=len(loader.judges))
    return campaign


class _Loader:
    """Converts rankings to items, assignments and judgments."""

    def __init__(self, stock: Stock) -> None:
        self.stock = stock
        self.judges: dict[str, Judge] = {}
        self.items: dict[tuple[object, ...], Item] = {}
        self.places: dict[int, dict[frozenset[str], int]] = {}
        self.turns: Counter[tuple[str, int]] = Counter()
        self.now = timezone.now()

    def add(self, ranking: Ranking, where: str | None) -> None:
        self._check(ranking, where)
        judge, item = self._judge(ranking.judge), self._item(ranking)
        turn = self.turns[judge.name, item.number]
        self.turns[judge.name, item.number] += 1
        assignment = self.stock.assign(judge, item, turn=turn)
        places = self.places[item.number]
        assignment.shown_order = [places[frozenset(group)] for group in ranking.groups]
        assignment.state = State.SKIPPED if ranking.skipped else State.DONE
        assignment.answered = self.now
        self.stock.judgments.append(
            Judgment(
                assignment=assignment,
                version=1,
                key=uuid.uuid4().hex,
                ranks=list(ranking.ranks),
                skipped=ranking.skipped,
                complete=True,
                automatic=len(ranking.groups) == 1 and not ranking.skipped,
                wall_seconds=ranking.seconds,
            )
        )

    def _judge(self, name: str) -> Judge:
        if name not in self.judges:
            self.judges[name] = Judge.objects.create(campaign=self.stock.campaign, name=name)
        return self.judges[name]

    def _item(self, ranking: Ranking) -> Item:
        groups = frozenset(map(frozenset, ranking.groups))
        key = (ranking.item, ranking.document, ranking.segment, groups)
        if key not in self.items:
            item = self.items[key] = self.stock.item(
                ranking.segment, ranking.groups, name=ranking.item, document=ranking.document
            )
            self.places[item.number] = {
                frozenset(group): place for place, group in enumerate(ranking.groups)
            }
        return self.items[key]

    def _check(self, ranking: Ranking, where: str | None) -> None:
        corpus = self.stock.corpus
        unknown = [name for name in ranking.systems if name not in corpus.systems]
        if unknown or ranking.segment > len(corpus):
            fault = f"unknown system {unknown[0]!r}" if unknown else f"no line {ranking.segment}"
            fix = "Give the sources and outputs that were judged."
            raise DataError(fault, where=where, fix=fix)


def _origin(judgments: Judgments) -> dict[str, Any]:
    """Return the format of the file, which exports keep."""
    return {"file": asdict(judgments.files[0])} if len(judgments.files) == 1 else {}
