"""The JSON that docs/interface.md shows of verbs about people is what the program prints."""

from __future__ import annotations

import io
import json
import shutil
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from fuzz import samples
from grammeter.cli.main import main
from grammeter.formats import read_judgments, write_judgments
from grammeter.resources import sample_corpus

PAGE = Path(__file__).parents[2] / "docs" / "interface.md"

OUT = ["out/Careful.txt", "out/Eager.txt", "out/Fluent.txt"]
COMMANDS = {
    "ranking": ["rank", "judgments.xml"],
    "head-to-head": ["rank", "judgments.xml", "--head-to-head"],
    "agreement": ["agree", "judgments.xml"],
    "ranking of ratings": ["rank", "ratings.csv"],
    "agreement of ratings": ["agree", "ratings.csv"],
    "judge-correlation": ["agree", "judgments.xml", "--correlate"],
    "meta-system": ["meta", "system", "scores.json", "people.json"],
    "meta-sentence": ["meta", "sentence", "scores.json", "judgments.xml"],
    "meta-edits": ["meta", "edits", "edits.jsonl", "-r", "gold.m2"],
    "meta-window": ["meta", "window", "scores.json", "people.json", "-m", "gleu"],
    "meta-judge": ["meta", "judge", "run.jsonl", "judgments.xml"],
    "meta-beta": ["meta", "beta", "scores.json", "people.json", "-m", "m2", "--beta", "0.5,1"],
    "meta-attack": ["meta", "attack", "-r", "gold.m2", "--hyps", *OUT, "-m", "gleu"],
    "meta-maege": ["meta", "maege", "-s", "source.txt", "-r", "gold.m2", "-m", "gleu"],
    "combination": ["combine", "-s", "source.txt", "--hyps", *OUT],
    "oracle": ["combine", "-r", "gold.m2", "--hyps", *OUT, "-m", "m2", "--oracle", "sentence"],
    "robustness": [
        "robustness",
        "para.txt",
        "--hyps",
        "variants.txt",
        "-m",
        "errant(pipeline=plain)",
    ],
    "reproduction": ["reproduce", "kobayashi2024", "table2"],
}
"""The ``kind`` of an object on the page -> what prints it, on the sample corpus."""

RATINGS = """\
judge,segment,system,criterion,score,scale
ann,1,Fluent,fluency,4,1-4
ann,1,Eager,fluency,2,1-4
ann,2,Fluent,fluency,3,1-4
ann,2,Eager,fluency,1,1-4
bob,1,Fluent,fluency,4,1-4
bob,1,Eager,fluency,3,1-4
bob,2,Fluent,fluency,2,1-4
bob,2,Eager,fluency,1,1-4
"""

ROUNDED = 6e-5
"""Figures on the page have four decimals."""


def shown():
    tokens = MarkdownIt("commonmark").parse(PAGE.read_text(encoding="utf-8"))
    objects = [json.loads(t.content) for t in tokens if t.type == "fence" and t.info == "json"]
    named = [
        (found.get("kind", "") + " of ratings" * ("criteria" in found), found) for found in objects
    ]
    return {name: found for name, found in named if name in COMMANDS}


def test_the_page_shows_every_kind():
    assert shown().keys() == COMMANDS.keys()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The sample corpus, scored and ranked."""
    folder = tmp_path_factory.mktemp("interface")
    sample = sample_corpus()
    for name in ("judgments.xml", "source.txt", "gold.m2", "edits.jsonl"):
        (folder / name).write_bytes((sample / name).read_bytes())
    shutil.copytree(sample / "systems", folder / "out")
    (folder / "para.txt").write_text(samples.PARA, "utf-8")
    (folder / "variants.txt").write_text(samples.VARIANTS, "utf-8")
    (folder / "ratings.csv").write_text(RATINGS, encoding="utf-8")
    systems = [str(path) for path in sorted(sample.glob("systems/*.txt"))]
    stored = str(folder / "scores.json")
    printed(
        [
            "score",
            "-r",
            str(sample / "gold.m2"),
            "-m",
            "m2",
            "gleu",
            "-o",
            stored,
            "--hyps",
            *systems,
        ]
    )
    printed(["rank", str(sample / "judgments.xml"), "-o", str(folder / "people.json")])
    write_judgments(folder / "run.jsonl", [*made_run(sample / "judgments.xml")])
    return folder


def made_run(path):
    """The first judge's ranks as the scores of a language model."""
    people = read_judgments([path])
    for ranking in people:
        if ranking.judge == people[0].judge and not ranking.skipped:
            scores = tuple(6.0 - rank for rank in ranking.ranks)
            reply = {"order": [*range(len(scores))], "scores": [*scores], "tokens": [300, 30]}
            reply |= {"finish": "stop", "seconds": 0.5}
            yield replace(ranking, judge="my-model", scores=scores, replies=(reply,))


def printed(arguments):
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with redirect_stdout(out):
        assert main([*arguments, "--quiet", "--format", "json"]) == 0
    out.seek(0)
    return json.loads(out.read())


@pytest.mark.parametrize("kind", COMMANDS)
def test_the_page_shows_what_is_printed(kind, folder, monkeypatch):
    monkeypatch.chdir(folder)
    differences = list(differing(shown()[kind], printed(COMMANDS[kind]), kind))
    assert not differences, "\n".join(differences)


def differing(page, program, where):
    """Yield where the page is no part of what the program prints; ``...`` stands for any text."""
    if isinstance(page, dict) and isinstance(program, dict):
        for key, value in page.items():
            if key in program:
                yield from differing(value, program[key], f"{where}.{key}")
            else:
                yield f"{where}.{key} is not printed"
    elif isinstance(page, list) and isinstance(program, list) and len(page) <= len(program):
        for at, value in enumerate(page):
            yield from differing(value, program[at], f"{where}[{at}]")
    elif page == "..." and isinstance(program, str):
        return
    elif isinstance(page, float) and isinstance(program, float):
        if abs(page - program) > ROUNDED:
            yield f"{where}: {page}, printed {program}"
    elif page != program or type(page) is not type(program):
        yield f"{where}: {page!r}, printed {program!r}"


def test_a_wrong_page_is_noticed():
    found = {"a": 0.12345, "b": [1, 2], "c": None}
    assert not list(differing({"a": 0.1235, "b": [1]}, found, "x"))
    for wrong in ({"a": 0.1236}, {"b": [2]}, {"b": [1, 2, 3]}, {"c": 0.0}, {"d": 1}):
        assert list(differing(wrong, found, "x")), wrong
