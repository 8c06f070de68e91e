"""``gm.read``: what any verb wrote comes back, prints the same and is written the same."""

from __future__ import annotations

import json

import pytest

import grammeter as gm
from grammeter.cli.main import main
from grammeter.resources import sample_corpus

SAMPLE = sample_corpus()
JUDGMENTS = str(SAMPLE / "judgments.xml")
EDITS = str(SAMPLE / "edits.jsonl")
OUTPUTS = [str(file) for file in sorted((SAMPLE / "systems").iterdir())]
CORPUS = ["-s", str(SAMPLE / "source.txt"), "-r", str(SAMPLE / "gold.m2")]
SCORED = ["score", *CORPUS, "--hyps", *OUTPUTS, "-m", "m2", "green"]
CALLS = {
    "ScoreTable": SCORED,
    "Ranked": ["rank", JUDGMENTS, "--resamples", "20"],
    "Agreement": ["agree", JUDGMENTS, "--resamples", "20"],
    "Comparison": ["compare", "SCORES", "--resamples", "99", "--types"],
    "SystemMeta": ["meta", "system", "SCORES", JUDGMENTS, "--leave-one-out", "--top-k"],
    "meta-window": ["meta", "window", "SCORES", JUDGMENTS],
    "meta-beta": ["meta", "beta", "SCORES", JUDGMENTS, "-m", "m2", "--beta", "0.5,1"],
    "meta-sentence": ["meta", "sentence", "SCORES", JUDGMENTS, "--resamples", "20"],
    "head-to-head": ["rank", JUDGMENTS, "--head-to-head"],
    "prediction": ["rank", JUDGMENTS, "--validate", "2", "--resamples", "20"],
    "learning-curve": ["rank", JUDGMENTS, "--learning-curve", "--resamples", "20"],
    "judge-correlation": ["agree", JUDGMENTS, "--correlate"],
    "difference": ["compare", "SCORES", "--difference", "Eager", "Careful"],
    "accept-rate": ["rank", EDITS, "--by", "accept-rate", "--resamples", "20"],
    "agreement on edits": ["agree", EDITS],
    "meta-edits": ["meta", "edits", EDITS, "-r", str(SAMPLE / "gold.m2"), "--resamples", "20"],
    "explanation": ["explain", "SCORES", "--system", "Eager", "--line", "1"],
}
TYPED = ("ScoreTable", "Ranked", "Agreement", "Comparison", "SystemMeta")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    scores = str(folder / "scores.json")
    assert main([*SCORED, "errant(pipeline=neutral)", "--types", "-o", scores, "--quiet"]) == 0

    def written(name):
        path = folder / f"{name}.json"
        call = [scores if word == "SCORES" else word for word in CALLS[name]]
        assert main([*call, "-o", str(path), "--quiet"]) == 0
        return path

    return written


@pytest.mark.parametrize("name", CALLS)
def test_a_result_is_written_as_it_was_read(stored, name, capsys):
    path = stored(name)
    printed = capsys.readouterr().out
    result = gm.read(path)
    assert type(result).__name__ == (name if name in TYPED else "StoredResult")
    written = result.to_full_dict() if isinstance(result, gm.ScoreTable) else result.to_dict()
    assert written == json.loads(path.read_text(encoding="utf-8"))
    assert result.table().rows
    assert "<table" in result._repr_html_()
    assert len(result.to_pandas())
    if name in TYPED:
        assert result.write() in printed


def test_what_no_verb_wrote_is_refused(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"a": 1}', encoding="utf-8")
    with pytest.raises(gm.DataError, match="no verb wrote it"):
        gm.read(path)
    path.write_text('{"kind": "agreement"}', encoding="utf-8")
    with pytest.raises(gm.DataError, match="damaged agreement"):
        gm.read(path)
