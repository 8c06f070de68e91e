"""meta edits with metrics: weights of their own, and shares of sentence scores."""

import json

import pytest

import fake_judge
import grammeter as gm
from grammeter.cli.main import main
from grammeter.core import DataError, Edit, Segment, UsageError
from grammeter.scoring import attribute

SOURCE = ["he go to school every days .", "a b c d", "we was here ."]
GOLD = """\
S he go to school every days .
A 1 2|||R:VERB|||goes|||REQUIRED|||-NONE-|||0
A 5 6|||R:NOUN|||day|||REQUIRED|||-NONE-|||0

S a b c d
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

S we was here .
A 1 2|||R:VERB|||were|||REQUIRED|||-NONE-|||0

"""
OUTPUTS = {
    "X": ["he goes to school every day .", "a b x d", "we were here ."],
    "Y": ["he goes to school all days .", "a b c d", "we were there ."],
}
EDITS = {
    "X": [[(1, 2, "goes", 1), (5, 6, "day", 1)], [(2, 3, "x", 0)], [(1, 2, "were", 1)]],
    "Y": [[(1, 2, "goes", 1), (4, 5, "all", 0)], [], [(1, 2, "were", 1), (2, 3, "there", 0)]],
}
KEYS = ("start", "end", "correction", "verdict")


def lines(edits):
    for segment in (1, 2, 3):
        rows = [
            [dict(zip(KEYS, (*e[:3], ("invalid", "valid")[e[3]]), strict=True)) for e in of]
            for of in (edits["X"][segment - 1], edits["Y"][segment - 1])
        ]
        line = {"judge": "ann", "segment": segment, "shown": [["X"], ["Y"]], "edits": rows}
        yield json.dumps(line)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.m2").write_text(GOLD)
    (tmp_path / "src.txt").write_text("\n".join(SOURCE) + "\n")
    (tmp_path / "edits.jsonl").write_text("\n".join(lines(EDITS)) + "\n")
    for name, texts in OUTPUTS.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(texts) + "\n")
    return tmp_path


def measured(*metrics, **options):
    options = {"references": ["gold.m2"], "hyps": ["X.txt", "Y.txt"], "resamples": 0} | options
    return gm.meta_edits("edits.jsonl", metrics=metrics, **options)


def test_metrics_that_judge_edits(folder):
    result = measured("m2", "errant(pipeline=plain)", "cleme(pipeline=plain)", "pt-m2(scorer=self)")
    assert result.metrics["reference"].auc.value == 1.0
    assert result.metrics["m2"].auc.value == 1.0
    assert [step["value"] for step in result.metrics["m2"].thresholds] == [0, 1]
    signed = result.metrics["pt-m2(scorer=self)"]
    assert [step["value"] for step in signed.thresholds] == [-1, 1]
    assert [s["value"] for s in result.metrics["pt-m2(scorer=self) weight"].thresholds] == [1]
    assert result.metrics["cleme(pipeline=plain)"].auc.value == 1.0
    assert any(note.startswith("m2: m2|") for note in result.notes)


def test_attribution_is_that_of_the_judged_edits(folder):
    seen = measured("gleu", missing="drop").metrics["gleu"]
    assert seen.edits == 6
    corpus = gm.read_corpus(references=["gold.m2"], systems=["X.txt", "Y.txt"])
    values = {}
    for name in "XY":
        for n, segment in enumerate(corpus.segments(name)):
            edits = [Edit(*of[:3]) for of in EDITS[name][n]]
            shares = attribute(gm.metric("gleu"), segment, edits=edits)
            assert sum(shares.values) == pytest.approx(shares.total - shares.baseline)
            for edit, value in zip(edits, shares.values, strict=True):
                values.setdefault((n, edit.start), []).append(value)
    wanted = sorted(sum(of) / len(of) for of in values.values())
    assert [step["value"] for step in seen.thresholds] == pytest.approx(wanted)
    alone = measured("m2", attribution="leave-one-out")
    assert "attribution:leave-one-out" in str(alone.signature)
    assert alone.metrics["m2"].thresholds != measured("m2").metrics["m2"].thresholds


def test_a_language_model_sees_the_output_with_and_without_the_edit(folder, monkeypatch):
    """Each call has the whole output and what it is without each edit: the loss is the value."""
    fake = fake_judge.install(monkeypatch, lambda text: 5 if "goes" in text else 2)
    scored = measured("llm-s(model=m)", values=None)
    assert len(fake.calls) == 5  # one for each output that has edits
    assert {SOURCE[2], OUTPUTS["X"][2]} in map(set, fake.shown)
    steps = scored.metrics["llm-s(model=m)"].thresholds
    assert [(step["value"], step["n"]) for step in steps] == [(0, 6), (3, 1)]
    assert any(note.startswith("llm-s(model=m): llm-s|") for note in scored.notes)


def test_many_edits_take_several_calls_and_lost_replies_are_counted(folder, monkeypatch):
    fake = fake_judge.install(monkeypatch, lambda text: "invalid" if "was" in text else 3)
    small = measured("llm-s(model=m, set_size=2)", missing="drop")
    assert {len(texts) for texts in fake.shown} == {2}
    assert len(fake.calls) == 8
    assert any("2 of 8 calls brought no scores" in note for note in small.notes)


def test_given_edits_stand_in_the_signature():
    segment = Segment(source="a b", hypothesis="x y", references=("x b",))
    whole = attribute(gm.metric("gleu"), segment, edits=[Edit(0, 2, "x y")])
    assert whole.values == (whole.total - whole.baseline,)
    assert "edits:given" in str(whole.signature)


def test_larger_edits_of_the_metric_lend_their_value(folder):
    halves = {"X": [EDITS["X"][0], [(2, 2, "x", 0), (2, 3, "", 0)], EDITS["X"][2]], "Y": EDITS["Y"]}
    (folder / "edits.jsonl").write_text("\n".join(lines(halves)) + "\n")
    result = measured("m2")
    assert any("2 edits have the mean" in note for note in result.notes)
    assert result.metrics["m2"].edits == 7


def test_what_is_refused(folder, capsys):
    with pytest.raises(UsageError, match="metrics need the outputs"):
        measured("m2", hyps=())
    with pytest.raises(UsageError, match="belongs to metrics"):
        gm.meta_edits("edits.jsonl", references=["gold.m2"], attribution="shapley")
    with pytest.raises(UsageError, match="beside itself without one edit"):
        measured("llm-s(model=m)", attribution="shapley")
    with pytest.raises(UsageError, match="two metrics are called 'm2'"):
        measured("m2", values={"m2": {}})
    (folder / "X.txt").write_text("\n".join(SOURCE) + "\n")
    with pytest.raises(DataError, match="do not make the output of X"):
        measured("m2")
    code = main(["meta", "edits", "edits.jsonl", "-s", "src.txt", "--hyps", "X.txt", "Y.txt"])
    assert code == 2
    assert "no reference and no values" in capsys.readouterr().err


def test_as_from_a_shell(folder, capsys):
    arguments = "edits.jsonl -s src.txt -r gold.m2 --hyps X.txt Y.txt -m gleu --resamples 9"
    assert main(["meta", "edits", *arguments.split(), "--format", "json", "--quiet"]) == 0
    shell = json.loads(capsys.readouterr().out)
    python = measured("gleu", source="src.txt", resamples=9).to_dict()
    assert json.loads(json.dumps(python)) == shell
    assert [*shell["metrics"]] == ["reference", "gleu"]
