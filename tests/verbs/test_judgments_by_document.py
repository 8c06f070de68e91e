"""Judgments are drawn by document: ``rank`` and ``meta sentence``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grammeter as gm
from grammeter.cli.main import main
from grammeter.core import DataError, UsageError
from grammeter.formats import in_documents
from grammeter.resources import sample_corpus

FOLDER = sample_corpus()
FILE = FOLDER / "judgments.xml"
LABELS = f"{FOLDER / 'texts.tsv'}:document"


@pytest.fixture(scope="module")
def judgments() -> Any:
    return gm.read_judgments(FILE)


def alone(judgments: Any) -> Any:
    names = [f"d{number}" for number in range(64)]
    return replace(judgments, rankings=in_documents(judgments, names, "labels"))


def test_documents_of_one_sentence_are_sentences(judgments: Any) -> None:
    by_document = gm.rank(alone(judgments), unit="document", resamples=100)
    by_sentence = gm.rank(judgments, unit="sentence", resamples=100)
    assert [*by_document.items()] == [*by_sentence.items()]
    assert "unit:document" in str(by_document.signature)
    assert "judgments are drawn by document (56)" in by_document.notes


def test_ranges_by_document_are_those_of_documents(judgments: Any) -> None:
    """Other numbers of sentences in the same documents change nothing."""
    whole = gm.read_judgments(FILE, documents=LABELS)
    other = replace(whole, rankings=tuple(replace(r, segment=1000 - r.segment) for r in whole))
    first, second = (gm.rank(j, unit="document", resamples=100) for j in (whole, other))
    assert [*first.items()] == [*second.items()]
    assert any("document (8): so few" in note for note in first.notes)


def test_labels_must_fit_the_judgments(judgments: Any, tmp_path: Path) -> None:
    short = tmp_path / "short.tsv"
    short.write_text("document\n" + "d\n" * 10, encoding="utf-8")
    with pytest.raises(DataError, match=r"short.tsv:document: 10 sentences have a document"):
        gm.read_judgments(FILE, documents=f"{short}:document")
    nameless = [replace(ranking, document=None) for ranking in judgments]
    with pytest.raises(UsageError, match="which document each judgment is of"):
        gm.rank(nameless, unit="document")


def test_meta_sentence_by_the_documents_of_the_scores(judgments: Any) -> None:
    outputs = sorted((FOLDER / "systems").iterdir())
    corpus = gm.read_corpus(references=[FOLDER / "gold.m2"], systems=outputs, documents=LABELS)
    judged = gm.read_judgments(FILE, systems=corpus.systems)
    table = gm.score(corpus, ["m2"])
    by_document, by_sentence = (
        gm.meta_sentence(table, judged, unit=unit, resamples=200)
        for unit in ("document", "sentence")
    )
    ours, theirs = by_document.metrics["m2"].tau, by_sentence.metrics["m2"].tau
    assert ours.value == theirs.value
    assert (ours.low, ours.high) != (theirs.low, theirs.high)
    assert any("drawn by document (8)" in note for note in by_document.notes)
    apart = replace(corpus, documents=[str(number) for number in range(64)])
    lone = gm.meta_sentence(gm.score(apart, ["m2"]), judged, unit="document", resamples=200)
    assert np.isclose([lone.metrics["m2"].tau.low], [theirs.low])


def test_in_the_shell(capsys: Any) -> None:
    words = ["rank", str(FILE), "--documents", LABELS, "--resamples", "50", "--quiet"]
    assert main([*words, "--unit", "document"]) == 0
    assert "document (8)" in capsys.readouterr().out
    assert main(words) == 0
    assert "--documents has no effect" in capsys.readouterr().err
