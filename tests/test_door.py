"""Public functions take what is meant, and say which argument is of a wrong type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import grammeter as gm
from fuzz import samples

SAMPLE = gm.sample_corpus()
TEXTS = ["a b", "c d", "e f"]
TABLES = "gleu(iterations=2)"
WRONG: dict[str, Any] = {
    "nothing": None,
    "a number": 7,
    "a fraction": 1.5,
    "truth": True,
    "NaN": float("nan"),
    "bytes": b"ab",
    "a text": "no such thing",
    "numbers": [1, 2, 3],
    "nothings": [None] * 3,
    "a dictionary": {"a": 1},
    "an object": object(),
}
LISTS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "array": np.array,
    "array of objects": lambda texts: np.array(texts, dtype=object),
    "generator": lambda texts: (text for text in texts),
    "iterable": lambda texts: SimpleIterable(texts),
}


class SimpleIterable(SimpleNamespace):
    """What is neither list nor array and has neither truth nor order, as a column of a table."""

    def __init__(self, items: Sequence[Any]) -> None:
        super().__init__(items=list(items))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __bool__(self) -> bool:
        raise ValueError("The truth value is ambiguous")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go where files may be written: a text may be a path."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def calls(tmp_path_factory) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Public functions with arguments that are right."""
    folder = tmp_path_factory.mktemp("door")
    corpus = gm.read_corpus(
        source=SAMPLE / "source.txt",
        references=[SAMPLE / "gold.m2", SAMPLE / "ref0.txt"],
        systems=sorted((SAMPLE / "systems").glob("*.txt")),
    )
    table, judged = gm.score(corpus, ["m2"]), gm.read_judgments(SAMPLE / "judgments.xml")
    scored = [replace(r, scores=tuple(6.0 - rank for rank in r.ranks)) for r in judged]
    ranked = gm.rank(judged, resamples=10)
    gm.write_scores(table, folder / "t.json")
    (folder / "para.txt").write_text(samples.PARA, "utf-8")
    (folder / "checked.json").write_text('{"matches": []}', "utf-8")
    scorer = gm.Scorer([TABLES])
    three = {"sources": TEXTS, "hypotheses": TEXTS, "references": TEXTS}
    some = ["Echo", "Eager", "Careful", "Fluent"]
    verdicts = (gm.EditJudgment(0, 1, "a", verdict=True), gm.EditJudgment(1, 1, "b", verdict=False))
    edits = [gm.EditItem(judge="a", segment=1, shown=(("A",),), edits=(verdicts,))]
    page = gm.report(table, resamples=10)
    return {
        "score": (gm.score, {"corpus": corpus, "metrics": [TABLES]}),
        "compare": (gm.compare, {"table": table, "baseline": "Echo", "resamples": 20, "seed": 1,
                                 "confidence": 0.9, "metrics": ["m2"], "correction": "none"}),
        "explain": (gm.explain, {"scores": table, "system": "Echo", "line": 1, "metrics": ["m2"]}),
        "rank": (gm.rank, {"rankings": judged, "by": "expected-wins", "resamples": 5, "seed": 1,
                           "judge": ["judge01"], "systems": some, "drop": []}),
        "agree": (gm.agree, {"rankings": judged, "kappa": "script"}),
        "sample": (gm.sample, {"corpus": corpus, "n": 3, "seed": 1, "judges": ["a"],
                               "select": "paper", "per_item": 3}),
        "combine": (gm.combine, {"corpus": corpus, "metric": TABLES, "by": "minimum-risk",
                                 "weights": {"Echo": 2}}),
        "read_robustness": (gm.read_robustness, {"path": folder / "para.txt"}),
        "robustness": (gm.robustness, {"cases": gm.read_robustness(folder / "para.txt"),
                                       "outputs": {"s": samples.VARIANTS.splitlines()},
                                       "metric": "errant(pipeline=neutral)", "resamples": 5,
                                       "beta": 1.0, "seed": 1, "confidence": 0.9}),
        "read_corpus": (gm.read_corpus, {"source": SAMPLE / "source.txt",
                                         "references": [SAMPLE / "gold.m2"],
                                         "systems": [SAMPLE / "systems" / "Echo.txt"],
                                         "names": ["E"]}),
        "read_scores": (gm.read_scores, {"path": folder / "t.json"}),
        "write_scores": (gm.write_scores, {"table": table, "path": folder / "u.json"}),
        "read": (gm.read, {"path": folder / "t.json"}),
        "write_result": (gm.write_result, {"result": table, "path": folder / "v.json"}),
        "read_judgments": (gm.read_judgments, {"paths": [SAMPLE / "judgments.xml"]}),
        "write_judgments": (gm.write_judgments, {"path": folder / "j.jsonl", "judgments": judged}),
        "report": (gm.report, {"scores": table, "files": [SAMPLE / "judgments.xml"],
                               "metrics": ["m2"], "systems": some, "resamples": 10}),
        "reproduce": (gm.reproduce, {"paper": None, "table": "table4", "models": False}),
        "write_report": (gm.write_report, {"page": page, "path": folder / "p.html"}),
        "meta_system": (gm.meta_system, {"scores": table, "human": ranked, "systems": some,
                                         "metrics": ["m2"], "drop": []}),
        "meta_window": (gm.meta_window, {"scores": table, "human": ranked, "metrics": ["m2"]}),
        "meta_judge": (gm.meta_judge, {"judgments": scored, "examples": 1, "resamples": 5,
                                       "drop": []}),
        "meta_sentence": (gm.meta_sentence, {"scores": table, "judgments": judged,
                                             "resamples": 5, "metrics": ["m2"], "drop": []}),
        "meta_edits": (gm.meta_edits, {"judgments": edits, "values": {"m": {(1, 0, 1, "a"): 1.0}},
                                       "resamples": 5, "missing": "drop"}),
        "meta_attack": (gm.meta_attack, {"corpus": corpus, "metrics": [TABLES], "seed": 1,
                                         "attack": ["copy"]}),
        "fail_under": (gm.fail_under, {"scores": table, "limits": {"m2": 0.5}}),
        "fail_if_worse": (gm.fail_if_worse, {"table": table, "stored": table}),
        "edits_from_suggestions": (gm.edits_from_suggestions, {
            "suggestions": folder / "checked.json", "source": TEXTS, "best": 1,
        }),
        "list_datasets": (gm.list_datasets, {}),
        "metric": (gm.metric, {"spelled": "m2"}),
        "Corpus": (gm.Corpus, {"sources": TEXTS, "references": [TEXTS], "systems": {"A": TEXTS}}),
        "Scorer": (gm.Scorer, {"metrics": [TABLES]}),
        "Scorer()": (scorer, three),
        "Scorer.corpus": (scorer.corpus, three),
        "using": (gm.using, {"runtime": gm.Runtime()}),
    }  # fmt: skip


NAMES = [
    "score", "compare", "explain", "rank", "agree", "sample", "combine",
    "robustness", "read_robustness",
    "read", "read_corpus", "read_scores", "write_scores", "write_result",
    "read_judgments", "write_judgments",
    "report", "reproduce", "meta_system", "meta_window", "meta_judge",
    "meta_sentence", "meta_edits", "meta_attack", "fail_under", "fail_if_worse",
    "edits_from_suggestions", "list_datasets",
    "write_report", "metric", "Corpus", "Scorer", "Scorer()", "Scorer.corpus",
    "using",
]  # fmt: skip


def test_every_public_function_is_tried(calls) -> None:
    assert list(calls) == [*dict.fromkeys([*list(calls), *NAMES])] == [*calls]
    functions = {
        name
        for name in gm.__all__
        if callable(getattr(gm, name)) and not isinstance(getattr(gm, name), type)
    }
    elsewhere = ("train_", "campaign_", "edits_", "meta_beta", "meta_maege", "batch", "judge")
    tried = {name for name in functions if name in calls or name.startswith(elsewhere)}
    assert functions - tried == {"sample_corpus", "dataset_path", "get_dataset", "read_benchmark"}


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_type_is_refused_at_the_door_or_means_something(name: str, calls) -> None:
    function, right = calls[name]
    inside: list[str] = []
    for argument in right:
        for kind, value in WRONG.items():
            try:
                function(**{**right, argument: value})
            except gm.GrammeterError as error:
                assert str(error).strip()  # noqa: PT017
            except Exception as error:
                inside.append(f"{argument} = {kind}: {type(error).__name__}: {error}")
    assert not inside


@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize("name", NAMES)
def test_any_list_is_taken_where_a_list_belongs(name: str, kind: str, calls) -> None:
    function, right = calls[name]
    for argument, value in right.items():
        if isinstance(value, list) and value and isinstance(value[0], str | Path):
            function(**{**right, argument: LISTS[kind](value)})


def test_the_argument_is_named() -> None:
    with pytest.raises(gm.UsageError, match=r"metrics is one text, 'm2', where a list belongs"):
        gm.Scorer("m2")  # pyright: ignore[reportArgumentType]
    with pytest.raises(gm.UsageError, match=r"path is 7, where a text or a path belongs"):
        gm.read_scores(7)  # pyright: ignore[reportArgumentType]


def test_paths_are_paths_and_texts(tmp_path: Path) -> None:
    for as_ in (str, Path):
        corpus = gm.read_corpus(
            source=as_(SAMPLE / "source.txt"), systems=[as_(SAMPLE / "systems" / "Echo.txt")]
        )
        assert len(corpus) == 64


@pytest.mark.parametrize("name", ["score", "compare", "rank", "agree", "meta_system",
                                  "explain"])  # fmt: skip
def test_results_print_as_tables_and_have_a_short_repr(name: str, calls) -> None:
    function, right = calls[name]
    result = function(**right)
    assert len(repr(result)) < 200
    lines = str(result).splitlines()
    assert any(set(line) == {"-", " "} for line in lines)
    assert "array" not in str(result)
    for note in getattr(result, "notes", ()):
        assert note in str(result)
