"""The papers by name: which they are, and the recipes of their tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grammeter.papers import grundkiewicz2015
from grammeter.papers.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper: its title, a line that names it, and the recipes in the order of its tables."""

    title: str
    reference: str
    recipes: tuple[Recipe, ...]


PAPERS: Mapping[str, Paper] = {
    "grundkiewicz2015": Paper(
        "Human Evaluation of Grammatical Error Correction Systems",
        "Grundkiewicz, Junczys-Dowmunt and Gillian, EMNLP 2015",
        grundkiewicz2015.RECIPES,
    ),
}
