"""Scores by error type: one scheme, sums, tables, JSON, gold types, and metrics without types."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grammeter as gm
from grammeter.cli.main import main
from grammeter.core import Edit

NEUTRAL = "errant(pipeline=neutral)"
GOLD = """S he go home
A 1 2|||SVA|||goes|||REQUIRED|||-NONE-|||0

S a cat sleep
A 0 1|||ArtOrDet|||The|||REQUIRED|||-NONE-|||0
A 2 3|||SVA|||sleeps|||REQUIRED|||-NONE-|||0
A 3 3|||Um|||.|||REQUIRED|||-NONE-|||0

"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "gold.m2").write_text(GOLD)
    (tmp_path / "X.txt").write_text("he goes home\nthe cat sleep\n")
    (tmp_path / "Y.txt").write_text("he goes home to\na cat sleeps\n")
    return tmp_path


def call(files, *more, hyps=("X",), metrics=(NEUTRAL,)):
    paths = [str(files / f"{name}.txt") for name in hyps]
    gold = ["-r", str(files / "gold.m2")]
    return main(["score", *gold, "-m", *metrics, "--hyps", *paths, *more])


def result(capsys, files, *more, **how):
    assert call(files, "--format", "json", *more, **how) == 0
    return json.loads(capsys.readouterr().out)


def parts(scores):
    return {kind: [own["parts"][key] for key in ("tp", "fp", "fn")] for kind, own in scores.items()}


def rows(text, *starts):
    return [line.split() for line in text.splitlines() if line.startswith(starts)]


# --- one scheme ----------------------------------------------------------------------------


def test_gold_of_another_scheme_is_typed_like_the_outputs(files, capsys):
    data = result(capsys, files, "--types")
    metric = data["metrics"][NEUTRAL]
    assert parts(metric["types"]["X"]) == {"R": [1, 1, 2], "UNK": [0, 0, 1]}
    assert metric["types"]["X"]["R"]["parts"]["precision"] == 0.5
    assert "|types:full|type-scheme:neutral-1|gold-typed:by-rules|" in metric["signature"]
    assert "another scheme (ArtOrDet, SVA)" in " ".join(data["notes"])


def test_gold_of_the_same_scheme_stands_as_it_is(files, capsys):
    text = GOLD.replace("ArtOrDet", "U").replace("SVA", "M")  # not what rules would say
    (files / "gold.m2").write_text(text)
    data = result(capsys, files, "--types")
    metric = data["metrics"][NEUTRAL]
    assert parts(metric["types"]["X"]) == {
        "M": [1, 0, 1], "R": [0, 1, 0], "U": [0, 0, 1], "UNK": [0, 0, 1]
    }  # fmt: skip
    assert "gold-typed:as-given" in metric["signature"]
    assert data["notes"] == []


def test_errant_types_of_the_gold_are_another_scheme_for_the_neutral_rules(files, capsys):
    (files / "gold.m2").write_text(GOLD.replace("SVA", "R:VERB:SVA").replace("ArtOrDet", "R:DET"))
    types = result(capsys, files, "--types")["metrics"][NEUTRAL]["types"]
    assert set(types["X"]) == {"R", "UNK"}


WORDS = st.sampled_from("abcd")
SENTENCES = st.lists(WORDS, min_size=1, max_size=6)
NAMES = st.sampled_from(["Nn", "Vt", "Um", "UNK", "R:NOUN", "M", ""])


@st.composite
def corpora(draw):
    sources = draw(st.lists(SENTENCES, min_size=1, max_size=4))
    gold = []
    for words in sources:
        annotators = {}
        for number in range(draw(st.integers(1, 2))):
            cuts = sorted(draw(st.lists(st.integers(0, len(words)), max_size=4, unique=True)))
            annotators[number] = tuple(
                Edit(start, end, " ".join(draw(st.lists(WORDS, max_size=2))), draw(NAMES))
                for start, end in zip(cuts[::2], cuts[1::2], strict=False)
            )
        gold.append(annotators)
    outputs = [draw(SENTENCES) for _ in sources]
    return gm.Corpus(
        sources=[" ".join(words) for words in sources],
        gold=gold,
        systems={"A": [" ".join(words) for words in outputs]},
    )


@settings(max_examples=60)
@given(
    corpora(),
    st.sampled_from(["operation", "full"]),
    st.sampled_from(["errant", "senterrant"]),
    st.sampled_from(["span-correction", "span-detection", "token-detection", "span-type"]),
    st.sampled_from(["Um", "Nn", "R"]),
)
def test_counts_by_type_add_up_to_the_whole(corpus, tier, name, mode, dropped):
    spelled = f"{name}(pipeline=neutral, mode={mode}, filter={dropped})"
    column = gm.score(corpus, [spelled], types=tier, gold_types=True)[spelled]
    whole = column["A"].parts
    for key in ("tp", "fp", "fn"):
        assert sum(own.parts[key] for own in column.types["A"].values()) == whole[key]
    for key in ("tp", "fn"):
        assert sum(own.parts[key] for own in column.gold_types["A"].values()) == whole[key]
    assert set(column.types["A"]) <= {"M", "U", "R", "UNK"}


@pytest.mark.parametrize("mode", ["span-correction", "token-detection"])
def test_tiers_of_errants_types_add_up_and_fold_into_each_other(shared, mode, monkeypatch):
    pytest.importorskip("spacy")
    monkeypatch.setenv("GRAMMETER_CACHE", "off")
    folder = shared / "data" / "conll14_test"
    lines = slice(0, 60)
    read = gm.read_corpus(
        references=[folder / "noalt" / "official-2014.combined.m2"],
        systems=[folder / "official_systems" / "AMU"],
    )
    corpus = gm.Corpus(
        sources=read.sources[lines], gold=read.gold[lines],
        systems={"AMU": read.systems["AMU"][lines]},
    )  # fmt: skip
    spelled = f"errant(pipeline='{shared / 'data' / 'spacy_en_ud_sm' / 'base'}', mode={mode})"
    sums = {}
    for tier in ("operation", "main", "full"):
        column = gm.score(corpus, [spelled], types=tier)[spelled]
        whole = [column["AMU"].parts[key] for key in ("tp", "fp", "fn")]
        types = column.types["AMU"]
        counts = {kind: [own.parts[k] for k in ("tp", "fp", "fn")] for kind, own in types.items()}
        assert [sum(row) for row in zip(*counts.values(), strict=True)] == whole
        sums[tier] = counts
    assert any(tp and fp for tp, fp, _ in sums["full"].values())
    for tier, fold in (("operation", slice(0, 1)), ("main", slice(2, None))):
        folded = {}
        for kind, row in sums["full"].items():
            short = kind if kind == "UNK" else kind[fold]
            folded[short] = [a + b for a, b in zip(folded.get(short, [0] * 3), row, strict=True)]
        assert folded == sums[tier]


def test_shell_and_python_say_the_same(files, capsys):
    data = result(capsys, files, "--types", "operation", "--gold-types")
    corpus = gm.read_corpus(references=[files / "gold.m2"], systems=[files / "X.txt"])
    table = gm.score(corpus, [NEUTRAL], types="operation", gold_types=True)
    assert json.loads(json.dumps(table.to_dict())) == data


def test_what_is_stored_reads_back(files):
    corpus = gm.read_corpus(references=[files / "gold.m2"], systems=[files / "X.txt"])
    table = gm.score(corpus, [NEUTRAL], types=True, gold_types=True)
    gm.write_scores(table, files / "s.json")
    again = gm.read_scores(files / "s.json")
    assert again.to_full_dict() == table.to_full_dict()
    (counts,) = again[NEUTRAL].type_counts.values()
    assert {kind: own.parts() for kind, own in counts.totals().items()} == {
        kind: dict(own.parts) for kind, own in table[NEUTRAL].types["X"].items()
    }


def test_damaged_counts_are_refused(files):
    corpus = gm.read_corpus(references=[files / "gold.m2"], systems=[files / "X.txt"])
    gm.write_scores(gm.score(corpus, [NEUTRAL], types=True), files / "s.json")
    data = json.loads((files / "s.json").read_text())
    for row in ([99, 0, 1, 0, 0], [0, 9, 1, 0, 0], [0, 0, -1, 0, 0], [0, 0, 1]):
        data["details"][NEUTRAL]["types"]["X"]["rows"] = [row]
        (files / "s.json").write_text(json.dumps(data))
        with pytest.raises(gm.DataError, match="damaged"):
            gm.read_scores(files / "s.json")


# --- the gold's own types ------------------------------------------------------------------


def test_gold_types_give_recall_alone(files, capsys):
    data = result(capsys, files, "--gold-types")
    metric = data["metrics"][NEUTRAL]
    assert "types" not in metric
    assert metric["gold_types"]["X"]["SVA"] == {
        "value": 0.5, "parts": {"recall": 0.5, "tp": 1, "fn": 1}
    }  # fmt: skip
    assert {kind: own["value"] for kind, own in metric["gold_types"]["X"].items()} == {
        "ArtOrDet": 0, "SVA": 0.5, "Um": 0
    }  # fmt: skip


def test_gold_types_need_gold_edits(files, capsys):
    refs = str(files / "Y.txt")
    words = ["-s", str(files / "X.txt"), "-r", refs, "--hyps", refs, "-m", NEUTRAL]
    assert main(["score", *words, "--gold-types"]) == 2
    assert "no gold types" in capsys.readouterr().err


# --- what cannot be --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "metrics", "told"),
    [
        (["--types"], ["m2"], "no error types"),
        (["--gold-types"], ["m2"], "no error types"),
        (["--types", "main"], [NEUTRAL], "have no main type"),
        (["--gold-types"], ["errant(pipeline=neutral, categories=operation)"], "no operation type"),
    ],
)
def test_refusals(files, capsys, more, metrics, told):
    assert call(files, *more, metrics=metrics) == 2
    assert told in capsys.readouterr().err


def test_an_unknown_word_in_python(files):
    corpus = gm.read_corpus(references=[files / "gold.m2"], systems=[files / "X.txt"])
    with pytest.raises(gm.UsageError, match="fulll"):
        gm.score(corpus, [NEUTRAL], types="fulll")


def test_metrics_without_types_are_named(files, capsys):
    data = result(capsys, files, "--types", metrics=("m2", NEUTRAL))
    assert "types" not in data["metrics"]["m2"]
    assert "no figures by error type of m2" in " ".join(data["notes"])


@pytest.mark.parametrize(("field", "said"), [("mode=span-type", 1), ("filter=R", 1), ("beta=1", 0),
                                             ("filter=Um", 0)])  # fmt: skip
def test_types_that_decide_what_counts_and_never_agree_are_said(files, capsys, field, said):
    data = result(capsys, files, metrics=(f"errant(pipeline=neutral, {field})",))
    assert sum("never agree" in note for note in data["notes"]) == said


# --- tables --------------------------------------------------------------------------------


def test_several_systems_stand_beside_each_other(files, capsys):
    assert call(files, "--types", "--quiet", hyps=("X", "Y")) == 0
    text = capsys.readouterr().out
    assert rows(text, "errant(pipeline=neutral) by type", "R ", "M ", "UNK", "all types") == [
        ["errant(pipeline=neutral)", "by", "type", "gold", "X", "Y"],
        ["R", "3", "0.4545", "0.9091"],
        ["UNK", "1", "0.0000", "0.0000"],
        ["M", "0", "0.0000"],
        ["all", "types", "4", "0.4167", "0.6250"],
    ]
    assert "3 of 3 types have fewer than 10" in text


def test_parts_and_a_system_alone(files, capsys):
    assert call(files, "--types", "--parts", "tp", "--quiet", hyps=("X", "Y")) == 0
    assert rows(capsys.readouterr().out, "R ") == [["R", "3", "1", "0.4545", "2", "0.9091"]]
    assert call(files, "--types", "--quiet") == 0
    line = ["R", "3", "1", "1", "2", "0.5000", "0.3333", "0.4545"]
    assert rows(capsys.readouterr().out, "R ") == [line]


def test_tsv_has_a_row_for_each_system_and_type(files, capsys):
    assert call(files, "--types", "--gold-types", "--format", "tsv", hyps=("X", "Y")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "system\tmetric\ttype\ttp\tfp\tfn\tprecision\trecall\tf" in lines
    assert f"Y\t{NEUTRAL}\tR\t2\t0\t1\t1.0000\t0.6667\t0.9091" in lines
    assert "system\tmetric\tgold_type\ttp\tfn\trecall" in lines
    assert f"Y\t{NEUTRAL}\tSVA\t2\t0\t1.0000" in lines
