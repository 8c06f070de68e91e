"""The papers by name, with the recipes of their tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grammeter.papers import (
    chollampatt2018,
    gong2022,
    grundkiewicz2015,
    kobayashi2024,
    maeda2022,
    programs,
)
from grammeter.papers.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper: title, reference, and the recipes in the order of its tables."""

    title: str
    reference: str
    recipes: tuple[Recipe, ...]


PAPERS: Mapping[str, Paper] = {
    "grundkiewicz2015": Paper(
        "Human Evaluation of Grammatical Error Correction Systems",
        "Grundkiewicz, Junczys-Dowmunt and Gillian, EMNLP 2015",
        grundkiewicz2015.RECIPES,
    ),
    "chollampatt2018": Paper(
        "A Reassessment of Reference-Based Grammatical Error Correction Metrics",
        "Chollampatt and Ng, COLING 2018",
        chollampatt2018.RECIPES,
    ),
    "gong2022": Paper(
        "Revisiting Grammatical Error Correction Evaluation and Beyond",
        "Gong, Liu, Huang and Zhang, EMNLP 2022",
        gong2022.RECIPES,
    ),
    "maeda2022": Paper(
        "IMPARA: Impact-Based Metric for GEC Using Parallel Data",
        "Maeda, Kaneko and Okazaki, COLING 2022",
        maeda2022.RECIPES,
    ),
    "kobayashi2024": Paper(
        "Large Language Models Are State-of-the-Art Evaluator for Grammatical Error Correction",
        "Kobayashi, Mita and Komachi, BEA 2024",
        kobayashi2024.RECIPES,
    ),
    "programs": Paper(
        "Public programs whose figures come out otherwise by their own rules",
        "gec-metrics 0.1.1; CLEME 1.1",
        programs.RECIPES,
    ),
}
