"""Human Evaluation of Grammatical Error Correction Systems (EMNLP 2015): its tables."""

from __future__ import annotations

from grammeter.papers.materials import Materials
from grammeter.papers.recipe import Made, Recipe

DATA = ("human_gjg15",)
COLUMNS = ("items", "unexpanded", "unexpanded_ties", "expanded", "expanded_ties")


def _table1(materials: Materials) -> Made:
    from grammeter.ranking.agreement import agree

    counts = agree(materials.judgments("gjg15")).to_json()["counts"]
    return {
        (judge, column): float(found[column])
        for judge, found in counts.items()
        for column in COLUMNS
    }


RECIPES = (Recipe(table="table1", make=_table1, data=DATA),)
