"""Robustness equals the authors' mended script, and a slow twin of its two choices."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grammeter as gm
from fuzz import samples
from grammeter.cli.main import main

PLAIN = "errant(pipeline=plain)"

# Goldens: HillZhang1999/RobustGEC 1c5787b, two lines of its script mended, its own errant


def test_figures_are_those_of_the_mended_script(shared):
    golden = json.loads((shared / "golden/robustness/conll14.json").read_text("utf-8"))
    folder = shared / "data" / "robustness"
    cases = gm.read_robustness(folder / "conll14.first200.para.txt")
    assert (len(cases), cases.variants) == (200, 5)
    outputs = {name: (folder / f"{name}.txt").read_text("utf-8").splitlines()
               for name in golden["systems"]}  # fmt: skip
    pipeline = shared / "data" / "spacy_en_ud_sm" / "base"
    result = gm.robustness(cases, outputs, metric=f"errant(pipeline='{pipeline}')")
    for name, expected in golden["systems"].items():
        ours = result.to_dict()["systems"][name]
        assert ours["crs"] == expected["crs"][1]
        assert ours["p_crs"] == pytest.approx(expected["p_crs"][1], abs=1e-12)
        for kind in ("original", "upper", "lower"):
            counts = [ours[kind][count] for count in ("tp", "fp", "fn")]
            assert counts == [expected[kind][count] for count in ("tp", "fp", "fn")]
            for part, theirs in (("value", "f"), ("precision", "precision"), ("recall", "recall")):
                assert round(ours[kind][part], 4) == pytest.approx(expected[kind][theirs], abs=1e-9)
    intervals = result.systems["even"].intervals
    assert intervals["crs"][0] < 0.61 < intervals["crs"][1]
    assert intervals["p_crs"][0] < 0.866 < intervals["p_crs"][1]
    assert result.systems["identity"].intervals == {"crs": None, "p_crs": None}


def f_of(tp, fp, fn):
    p, r = tp / (tp + fp) if fp else 1.0, tp / (tp + fn) if fn else 1.0
    return round(1.25 * p * r / (0.25 * p + r), 4) if p + r else 0.0


def twin(cases):
    """Measure tables of (tp, fp, fn), the original first, as the specification says it."""
    chosen, sums = [], []
    for sign in (1, -1):
        total, places = (0, 0, 0), []
        for case in cases:
            keys = []
            for row in case:
                added = [a + b for a, b in zip(total, row, strict=True)]
                keys.append([sign * key for key in (f_of(*added), row[0], -row[1], -row[2])])
            places.append(keys.index(max(keys)))
            total = [a + b for a, b in zip(total, case[places[-1]], strict=True)]
        chosen.append(places)
        sums.append(list(total))
    same = [case.count(case[0]) == len(case) for case in cases]
    equal = [[f_of(*row) == f_of(*case[0]) for row in case[1:]] for case in cases]
    shares = [sum(row) / len(row) for row in equal]
    crs = sum(a == b for a, b in zip(*chosen, strict=True)) / len(cases)
    return crs, sum(shares) / len(cases), sum(same) / len(cases), sums


WORDS = ["a", "b", "c", "d"]
outputs = st.lists(st.lists(st.lists(st.sampled_from(WORDS), min_size=4, max_size=4),
                            min_size=3, max_size=3), min_size=1, max_size=5)  # fmt: skip


@settings(max_examples=25)
@given(outputs)
def test_equals_the_slow_twin(texts):
    """Sources are x x x x, corrections a b c d: each word is right, wrong or left."""
    cases = gm.RobustnessCases(((("x y x z", "a b c z"),) * 3,) * len(texts))
    lines = [" ".join(words) for case in texts for words in case]
    result = gm.robustness(cases, {"s": lines}, metric="errant(pipeline=plain)", resamples=0)
    segments = [gm.Segment("x y x z", line, ("a b c z",)) for line in lines]
    rows = gm.metric(PLAIN).statistics(segments).rows[:, 0].tolist()
    counts = [(tp, proposed - tp, gold - tp) for tp, proposed, gold in rows]
    table = [counts[at : at + 3] for at in range(0, len(counts), 3)]
    crs, p_crs, consistent, (upper, lower) = twin(table)
    ours = result.systems["s"]
    assert (ours.crs, ours.consistent) == (crs, consistent)
    assert ours.p_crs == pytest.approx(p_crs)
    assert [ours.upper.tp, ours.upper.fp, ours.upper.fn] == upper
    assert [ours.lower.tp, ours.lower.fp, ours.lower.fn] == lower
    assert ours.intervals is None


def test_by_hand():
    cases = gm.RobustnessCases(
        (
            (("she go", "she goes"), ("he go", "he goes"), ("it go", "it goes")),
            (("a cat", "a cat"), ("a dog", "a dog"), ("a bird", "a bird")),
        )
    )
    lines = ["she goes", "he go", "it goes", "a cat", "a dog", "a bird"]
    ours = gm.robustness(cases, {"s": lines}, metric=PLAIN, resamples=0).systems["s"]
    assert (ours.crs, ours.p_crs, ours.consistent) == (0.5, 0.75, 0.5)
    assert (ours.upper.value, ours.lower.value, ours.original.value) == (1, 0, 1)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, "empty"),
        ("\n\n", None, "no case"),
        ("O-S a\nO-T b\n", 3, "'A1-S' is expected"),
        ("O-S a\nO-T b\nA1-S a\n", 4, "'A1-T' is expected"),
        (samples.PARA + "A2-S c\nA2-T d\n", 10, "'' is expected"),
        (samples.PARA.replace("A1-S A", "A2-S A"), 8, "'A1-S' is expected"),
        (samples.PARA.replace("\n\n", "\n"), 5, "'A2-S' is expected"),
        ("a sentence\n", 1, "'O-S' is expected"),
    ],
)
def test_what_is_no_case_is_refused_with_its_line(tmp_path, text, line, words):
    path = tmp_path / "para.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(gm.DataError, match=words) as error:
        gm.read_robustness(path)
    assert error.value.where == (f"{path}:{line}" if line else str(path))


def test_an_empty_text_and_tabs_are_read(tmp_path):
    path = tmp_path / "para.txt"
    path.write_text("\n\nO-S\ta b\r\nO-T\r\nA1-S  c\nA1-T d \n\n\n", encoding="utf-8")
    assert gm.read_robustness(path).cases == ((("a b", ""), ("c", "d")),)


def test_wrong_calls_are_refused():
    cases = gm.RobustnessCases(((("a", "b"), ("c", "d")),))
    with pytest.raises(gm.DataError, match="s: 3 outputs, and 1 cases of 2 texts need 2"):
        gm.robustness(cases, {"s": ["a", "b", "c"]}, metric=PLAIN)
    for metric in ("gleu", "green", "m2"):
        with pytest.raises(gm.UsageError, match="no"):
            gm.robustness(cases, {"s": ["a", "b"]}, metric=metric)
    with pytest.raises(gm.DataError):
        gm.RobustnessCases(((("a", "b"),),))
    with pytest.raises(gm.UsageError):
        gm.robustness(cases, {"s": ["a", "b"]}, metric=PLAIN, confidence=1)


def test_on_the_command_line(tmp_path, capsys):
    for name, text in (("para.txt", samples.PARA), ("half.txt", samples.VARIANTS)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = ["robustness", str(tmp_path / "para.txt"), "--hyps", str(tmp_path / "half.txt")]
    stored = tmp_path / "r.json"
    assert main([*command, "-m", PLAIN, "--beta", "1", "--format", "json", "-o", str(stored)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(stored.read_text("utf-8"))
    cases, lines = gm.read_robustness(tmp_path / "para.txt"), samples.VARIANTS.splitlines()
    result = gm.robustness(cases, {"half": lines}, metric=PLAIN, beta=1.0)
    assert printed == json.loads(json.dumps(result.to_dict()))
    assert "beta:1.0" in printed["signature"]
    assert any("cases are few" in note for note in printed["notes"])
    assert "half" in str(gm.read(stored))
    (tmp_path / "half.txt").write_text("a\n", encoding="utf-8")
    assert main([*command, "-m", PLAIN]) == 3
