"""ChERRANT's figures: of the program, of corpora, and what stands in signatures and notes."""

from __future__ import annotations

import csv
import gzip

import pytest

import grammeter as gm
from grammeter.core import DataError, Edit, Segment, UsageError
from grammeter.metrics import Cherrant
from grammeter.verbs import edits_compare, edits_extract

SIMPLE = Cherrant(simplify="none")

# golden/cherrant/compare.tsv: compare_m2_for_evaluation.py of the program, commit 3922193

CASES = {
    "mucgec_dev all": ("mucgec_dev.hyp.all.m2.gz", "mucgec_dev.gold.all.m2.gz"),
    "mucgec_dev first": ("mucgec_dev.hyp.first.m2.gz", "mucgec_dev.gold.first.m2.gz"),
    "adversarial": ("adversarial_hypotheses.all.m2", "adversarial.all.m2"),
}
OPTIONS = {
    "": {},
    "-b 1": {"beta": 1.0},
    "-dt": {"mode": "token-detection"},
    "-ds": {"mode": "span-detection"},
    "-cse -cat 1": {"mode": "span-type", "cat": 1},
    "-cat 3": {"cat": 3},
    "-single": {"single": True},
    "-multi": {"multi": True},
    "-filt S W": {"filt": ["S", "W"]},
}


@pytest.mark.parametrize("case", CASES)
def test_comparison_of_m2_files(shared, case) -> None:
    folder = shared / "golden/cherrant"
    files = [folder / name for name in CASES[case]]
    with (folder / "compare.tsv").open(encoding="utf-8") as table:
        rows = [row for row in csv.DictReader(table, delimiter="\t") if row["case"] == case]
    wanted, made = {}, {}
    for row in rows:
        if row["flags"] in OPTIONS:
            counts = tuple(int(row[name]) for name in ("tp", "fp", "fn"))
            wanted[row["flags"], row["category"]] = counts, float(row["f"])
    for flags in {flags for flags, _ in wanted}:
        compared = edits_compare(*files, **OPTIONS[flags])
        figures = compared.by_type() | {"all": compared.comparison.counts}
        beta = compared.beta
        made |= {(flags, k): ((c.tp, c.fp, c.fn), round(c.f(beta), 4)) for k, c in figures.items()}
        assert compared.scheme == "cherrant"
    assert made == wanted


def test_corpus_scores(shared) -> None:
    """A parallel file has the figures of the program: "mucgec_dev all none nosimp"."""
    para = shared / "data/lang_zh/MuCGEC_dev.txt"
    hyps = {"one": shared / "data/lang_zh/example_pred_dev.txt"}
    score = gm.score(gm.read_corpus(para=para, systems=hyps), [SIMPLE])[str(SIMPLE)]["one"]
    assert [score.parts[name] for name in ("tp", "fp", "fn")] == [1089, 1647, 3019]
    assert round(score.value, 4) == 0.3617


def test_gold_edits_as_references_and_counts_of_sentences(shared, tmp_path) -> None:
    folder = shared / "golden/cherrant"
    name = "mucgec_dev.gold.all.no_resources.not_simplified.m2.gz"
    lines = (shared / "data/lang_zh/example_pred_dev.txt").read_text("utf-8").splitlines()
    out = tmp_path / "out.txt"
    out.write_text("".join(line.split("\t")[2] + "\n" for line in lines), encoding="utf-8")
    corpus = gm.read_corpus(references=[folder / name], systems=[out])
    column = gm.score(corpus, ["cherrant(simplify=none)"], types=True)["cherrant(simplify=none)"]
    parts = column["out"].parts
    assert [parts[key] for key in ("tp", "fp", "fn")] == [1089, 1647, 3019]
    assert sum(score.parts["tp"] for score in column.types["out"].values()) == 1089
    assert any("gold edits stand" in note for note in column.notes)
    assert "resources:none" in str(column.signature)
    assert "unjudged:skip(3)" in str(column.signature)


# Made up

PAIR = Segment("他们去学校。", "他去学校了。", ("他去了学校。", "他们去学校。"))


def test_white_space_does_not_count() -> None:
    spaced = Segment("他们 去 学校 。", "他 去学校 了。", ("他 去了学校。", "他们 去 学校 。"))
    for metric in (SIMPLE, Cherrant(simplify="none", tokens="single", mode="span-type")):
        assert metric.evaluate([PAIR]).parts == metric.evaluate([spaced]).parts
    assert SIMPLE.evaluate([PAIR]).parts["tp"] == 1


def test_a_reference_that_is_the_source_has_no_edits() -> None:
    same = Segment("他们", "他们", ("他们",))
    assert SIMPLE.evaluate([same]).value == 1.0


def test_explanation_counts_characters() -> None:
    explained = SIMPLE.explain(PAIR)
    verdicts = [(j.verdict, j.edit.type, j.original, j.edit.correction) for j in explained.edits]
    assert ("matched", "R", "们", "") in verdicts
    assert explained.chosen == 0


def test_gold_edits_of_words_give_way_to_their_texts() -> None:
    gold = [{0: (Edit(0, 1, "他", "S"),)}]
    with pytest.raises(DataError, match="--scheme cherrant"):
        SIMPLE.evaluate([Segment("他们 去", "他 去", gold=gold[0])])
    texts = {"references": [["他 去"]], "systems": {"one": ["他去"]}}
    column = gm.score(gm.Corpus(sources=["他们 去"], gold=gold, **texts), [SIMPLE])[str(SIMPLE)]
    assert column["one"].parts["tp"] == 1
    assert any("edits are of words" in note for note in column.notes)


def test_traditional_characters_are_noted_where_they_stay() -> None:
    texts = {"one": ["這是"]}
    corpus = gm.Corpus(sources=["是"], references=[["这是"]], systems=texts)
    column = gm.score(corpus, [SIMPLE])[str(SIMPLE)]
    assert any("look traditional (這)" in note for note in column.notes)


def test_a_sentence_with_na_alone_counts_nothing_beside_others_it_is_an_edit(tmp_path) -> None:
    na, edit = (
        "A -1 -1|||NA|||-NONE-|||REQUIRED|||-NONE-|||",
        "A 0 1|||S|||乙|||REQUIRED|||-NONE-|||",
    )
    hyp = tmp_path / "hyp.m2"
    hyp.write_text(f"S 甲\nT0-A0 乙\n{edit}0\n\n", encoding="utf-8")
    counts = []
    for number, lines in enumerate(([f"{na}0"], [f"{na}0", f"{na}1"], [f"{na}0", f"{edit}1"])):
        ref = tmp_path / f"{number}.m2"
        ref.write_text("\n".join(["S 甲", "T0 无法标注", *lines]) + "\n\n", encoding="utf-8")
        found = edits_compare(hyp, ref).comparison.counts
        counts.append((found.tp, found.fp, found.fn))
    assert counts == [(0, 0, 0), (0, 1, 1), (1, 0, 0)]


# The shell


def test_shell(tmp_path, monkeypatch, capsys) -> None:
    from grammeter.cli.main import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "dev.txt").write_text("1\t他们去学校。\t他去了学校。\n", encoding="utf-8")
    (tmp_path / "out.txt").write_text("1\t他们去学校。\t他去学校。\n", encoding="utf-8")
    for name in ("dev", "out"):
        words = ["--scheme", "cherrant", "--simplify", "none", "--para", f"{name}.txt"]
        assert main(["edits", "extract", *words, "-out", f"{name}.m2"]) == 0
    assert (tmp_path / "out.m2").read_text("utf-8") == (
        "S 他 们 去 学 校 。\nT0-A0 他 去 学 校 。\nA 1 2|||R|||-NONE-|||REQUIRED|||-NONE-|||0\n\n"
    )
    assert "resources none" in capsys.readouterr().err
    assert main(["edits", "compare", "-hyp", "out.m2", "-ref", "dev.m2"]) == 0
    done = capsys.readouterr()
    assert "1\t0\t1\t1.0\t0.5\t0.8333" in done.out
    assert "--scheme cherrant" in done.err
    words = ["--para", "dev.txt", "-m", "cherrant(simplify=none)", "--hyps", "out.txt"]
    assert main(["score", *words]) == 0
    assert "0.8333" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options",
    [
        {"orig": ["甲"], "cor": [["乙"]], "simplify": "none"},
        {"orig": ["甲"], "cor": [["乙"]], "scheme": "cherrant", "lev": True},
        {"orig": ["甲"], "scheme": "cherrant"},
        {"orig": ["甲"]},
        {"para": "dev.txt", "orig": ["甲"], "scheme": "cherrant"},
        {"scheme": "chinese"},
    ],
)
def test_options_of_another_scheme_are_refused(options) -> None:
    with pytest.raises(UsageError):
        edits_extract(**options)


def test_texts_apart_and_m2_read_back(tmp_path) -> None:
    made = edits_extract(
        ["他们去", "", "好"], [["他去", "", "好"], ["他们", "", "好的"]], scheme="cherrant"
    )
    assert "1 empty lines" in made.notes[0]
    path = tmp_path / "made.m2.gz"
    path.write_bytes(gzip.compress(made.text().encode()))
    from grammeter.formats import format_m2, read_m2

    assert format_m2(read_m2(path).blocks) == made.text()
