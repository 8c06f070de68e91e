"""Named benchmarks: what they know of their data sets."""

import pytest

from grammeter.core import (
    DataError,
    MetricScores,
    MissingResourceError,
    Score,
    ScoreTable,
    Signature,
    UnknownNameError,
    UsageError,
)
from grammeter.formats.benchmarks import BENCHMARKS, benchmark
from grammeter.formats.datasets import dataset


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_its_files_belong_to_its_data_set(name):
    seeda = benchmark(name)
    files = [file.path for file in dataset(seeda.dataset).files]
    assert seeda.judgments in files
    assert seeda.scores is None or seeda.scores in files
    assert len(seeda.systems) == (15 if seeda.scores else 0)
    texts = [file.path for file in dataset(seeda.texts).files]
    assert seeda.source in texts


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_its_texts_are_those_that_were_judged(name, monkeypatch, shared):
    monkeypatch.setenv("GRAMMETER_DATA", str(shared / "data"))
    corpus, judgments = benchmark(name).read_corpus(), benchmark(name).read_judgments()
    assert len(corpus) == 1312
    assert set(corpus.systems) == {name for ranking in judgments for name in ranking.systems}
    for ranking in judgments:
        for group in ranking.groups:
            lines = [corpus.systems[system][ranking.segment - 1] for system in group]
            assert len({" ".join(line.split()) for line in lines}) == 1, ranking


def test_unknown():
    with pytest.raises(UnknownNameError, match="unknown benchmark 'seeda'"):
        benchmark("seeda")


def test_a_missing_data_set_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path))
    with pytest.raises(MissingResourceError):
        benchmark("seeda-e").read_scores()
    with pytest.raises(MissingResourceError):
        benchmark("gjg15").read_judgments()
    assert benchmark("gjg15").read_scores() is None


@pytest.mark.parametrize(
    ("text", "message"),
    [("0.5\n" * 14, "14 scores of 15"), ("x\n" * 15, "the score is 'x', no number")],
)
def test_other_contents_are_refused(monkeypatch, tmp_path, text, message):
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path))
    path = tmp_path / "seeda/scores/human/TS_edit.txt"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        benchmark("seeda-e").read_scores()


def test_seeda(monkeypatch, shared):
    monkeypatch.setenv("GRAMMETER_DATA", str(shared / "data"))
    edit, sentence = (benchmark(name).read_scores() for name in ("seeda-e", "seeda-s"))
    assert (edit["INPUT"], edit["TransGEC"]) == (-0.797, 0.173)
    assert (sentence["REF-F"], sentence["PIE"]) == (0.992, -0.034)
    judgments = benchmark("seeda-e").read_judgments()
    assert len(judgments) == 600
    assert set(edit) == {name for ranking in judgments for name in ranking.systems}


def scored(values):
    signature = Signature.of("m", {})
    scores = {name: Score(value, signature, 1) for name, value in values.items()}
    return ScoreTable(tuple(values), 1, {"m": MetricScores("m", signature, True, scores)})


def test_scores_as_published():
    table = scored({"LM-Critic": 0.4, "PIE": 0.5, "T5": 0.6})
    seeda = benchmark("seeda-s").as_published(table)["m"]
    assert [score.value for score in seeda.values()] == [0.5, 0.5, 0.6]
    assert seeda.signature["published-data"] == "LM-Critic=PIE"
    assert table["m"]["LM-Critic"].value == 0.4
    alone = benchmark("seeda-s").as_published(scored({"PIE": 0.5}))
    assert list(alone["m"]) == ["PIE"]
    with pytest.raises(DataError, match="no score of 'PIE'"):
        benchmark("seeda-e").as_published(scored({"LM-Critic": 0.4}))
    with pytest.raises(UsageError, match="on the data of today"):
        benchmark("gjg15").as_published(table)
