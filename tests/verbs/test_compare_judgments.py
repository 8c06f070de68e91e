"""Judgments in the place of scores: compared by the means of what judges say of sentences."""

import json
import random

import pytest

import grammeter as gm
from grammeter.cli.main import main

SYSTEMS = ("best", "middle", "worst")


def judgments(scores=False, sentences=40):
    """Draw a judge who mostly ranks in the order of the names; each item shows two outputs."""
    draw = random.Random(1)
    for segment in range(1, sentences + 1):
        shown = sorted(draw.sample(SYSTEMS, 2), key=SYSTEMS.index)
        ranks = (1, 2) if draw.random() < 0.85 else (2, 1)
        yield gm.Ranking(
            judge="j",
            segment=2 * segment,
            groups=tuple((name,) for name in shown),
            ranks=ranks,
            scores=tuple(5.0 - rank + draw.random() for rank in ranks) if scores else None,
        )


@pytest.fixture(params=[False, True], ids=["ranks", "scores"])
def rankings(request):
    return list(judgments(request.param))


def by_hand(rankings, system):
    values = []
    for ranking in rankings:
        for at, group in enumerate(ranking.groups):
            if system in group:
                beaten = float(ranking.ranks[at] == 1)
                values.append(beaten if ranking.scores is None else ranking.scores[at])
    return sum(values) / len(values)


def test_systems_are_compared_by_their_mean(rankings):
    result = gm.compare(rankings)
    column = result["judgments"]
    assert result.segments == 40  # the sentences between them were not judged
    for system in SYSTEMS:
        assert column[system].value == pytest.approx(by_hand(rankings, system))
        assert column[system].low < column[system].value < column[system].high
    assert column["best"].letters == "a"
    assert not set(column["best"].letters) & set(column["worst"].letters)
    assert "40 judged sentences, of each system in those where it was judged" in result.notes[-1]
    assert "scores:judgments" in str(column.signature)


def test_the_shell_takes_the_file_and_numbers_stay(rankings, tmp_path, capsys):
    path = tmp_path / "people.jsonl"
    gm.write_judgments(path, rankings)
    assert main(["compare", str(path), "--format", "json", "--test", "randomisation"]) == 0
    (shell,) = json.loads(capsys.readouterr().out)["metrics"].values()
    (python,) = (
        gm.compare(gm.read_judgments(path), test="randomisation").to_dict()["metrics"].values()
    )
    assert shell["systems"] == python["systems"]
    assert main(["compare", str(path), "--difference", "best", "worst", "--format", "json"]) == 0
    segments = {row["segment"] for row in json.loads(capsys.readouterr().out)["segments"]}
    judged = {r.segment for r in rankings if {("best",), ("worst",)} == set(r.groups)}
    assert judged & segments


def test_a_ranking_is_refused(rankings, tmp_path, capsys):
    gm.write_judgments(tmp_path / "people.jsonl", rankings)
    path = str(tmp_path / "r.json")
    main(["rank", str(tmp_path / "people.jsonl"), "-o", path])
    capsys.readouterr()
    assert main(["compare", path]) == 3
    assert "Give the judgments" in capsys.readouterr().err
    with pytest.raises(gm.DataError, match="nothing of sentences"):
        gm.compare(gm.rank(rankings))
