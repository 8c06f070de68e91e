"""A report gathered from scores and what people said, value by value."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

import grammeter as gm
from grammeter.core import Edit, MissingResourceError, Ranked, ScoreTable, Style
from grammeter.meta import SystemMeta
from grammeter.metrics import M2
from grammeter.ranking import Agreement
from grammeter.rendering import Page, Section, page_html
from grammeter.resources import sample_corpus
from grammeter.verbs._compare.results import Comparison
from grammeter.verbs._compare.verb import compare
from grammeter.verbs._report.make import _sorted, restricted

SAMPLE = sample_corpus()
HOSTILE = "<script>alert(1)</script>"
ORDER = ["scores", "types", "ranking", "agreement", "correlations", "signatures"]


@pytest.fixture(scope="module")
def scores() -> ScoreTable:
    corpus = gm.read_corpus(
        source=SAMPLE / "source.txt",
        references=[SAMPLE / "gold.m2"],
        systems=sorted(SAMPLE.glob("systems/*.txt")),
    )
    return gm.score(corpus, ["m2", "gleu"])


@pytest.fixture(scope="module")
def judgments() -> gm.Judgments:
    return gm.read_judgments(SAMPLE / "judgments.xml")


@pytest.fixture(scope="module")
def page(scores: ScoreTable, judgments: gm.Judgments) -> Page:
    return gm.report(scores, [judgments], resamples=100)


def small(**systems: list[str]) -> gm.Corpus:
    return gm.Corpus(
        sources=["he go to home .", "all fine ."],
        references=[["he goes home .", None], ["he went home .", "all fine ."]],
        gold=[{0: (Edit(1, 2, "goes", "SVA"), Edit(2, 3, "", "PREP")), 1: ()}, {0: ()}],
        systems=systems or {"A": ["he goes to home .", "all fine ."]},
    )


def section(page: Page, anchor: str) -> Section:
    (found,) = [each for each in page.sections if each.anchor == anchor]
    return found


def column(table, head: str) -> dict[str, str]:
    at = heads(table).index(head)
    return {row[0]: Style().write(row[at], table.columns[at]) for row in table.rows}


def heads(table) -> tuple[str, ...]:
    return tuple(column.head for column in table.columns)


# --- sections ------------------------------------------------------------------------------


def test_all_sections_in_their_order(page: Page) -> None:
    assert [each.anchor for each in page.sections] == ORDER
    assert page.title == "6 systems on 64 sentences"
    assert dict(page.facts)["Metrics"] == "m2, gleu"
    assert page_html(page).startswith("<!doctype html>")


def test_scores_are_those_of_the_table_and_of_compare(page: Page, scores: ScoreTable) -> None:
    (table,) = section(page, "scores").tables
    found = compare(scores, resamples=100)["m2"]
    values = {system: f"{scores['m2'][system].value:.4f}" for system in scores.systems}
    assert column(table, "m2") == values
    assert column(table, "letters") == {system: found[system].letters for system in found}
    thorough = found["Thorough"]
    assert column(table, "95% interval")["Thorough"] == f"[{thorough.low:.4f}, {thorough.high:.4f}]"
    assert table.rows[0][0] == "Thorough"
    assert (0, 1) in table.best_cells()
    assert len(section(page, "scores").drawings) == 2


def test_people_are_those_of_rank_agree_and_correlate(
    page: Page, scores: ScoreTable, judgments: gm.Judgments
) -> None:
    ranked = gm.rank(judgments, resamples=100)
    (ranking,) = section(page, "ranking").tables
    assert column(ranking, "score") == {s: f"{row.score:.4f}" for s, row in ranked.items()}
    agreement = gm.agree(judgments)
    summary = section(page, "agreement").tables[0]
    assert column(summary, "kappa")["between judges"] == f"{agreement.inter.value:.4f}"
    found = gm.meta_system(scores, ranked)
    correlations, pearson, spearman = section(page, "correlations").tables
    assert column(correlations, "pearson") == {
        m: f"{f['pearson'].value:.3f}" for m, f in found.items()
    }
    cell = found.williams["pearson"]["gleu"]["m2"]
    assert column(pearson, "m2")["gleu"] == f"{cell.pvalue:.4f}"
    assert heads(spearman)[0] == "better (spearman)"
    assert len(section(page, "correlations").drawings) == 1


def test_what_was_made_before_is_taken_as_it_is(scores: ScoreTable, judgments) -> None:
    ranked = gm.rank(judgments, by="bradley-terry", resamples=50)
    meta = gm.meta_system(scores, {s: -scores["m2"][s].value for s in scores.systems})
    comparison = compare(scores, baseline="Echo", resamples=50)
    made = gm.report(scores, [judgments, ranked, meta, comparison])
    assert section(made, "ranking").captions == ("Systems by bradley-terry",)
    correlations = section(made, "correlations").tables[0]
    assert column(correlations, "pearson")["m2"] == "-1.000"
    (table,) = section(made, "scores").tables
    assert heads(table) == (
        "system",
        "m2",
        "95% interval",
        "diff",
        "p",
        "gleu",
        "95% interval",
        "diff",
        "p",
    )
    assert column(table, "p")["Echo"] == ""
    assert any("against Echo" in words for words in section(made, "scores").words)


def test_a_comparison_of_other_scores_is_refused(scores: ScoreTable) -> None:
    other = compare(gm.score(small(), ["m2"]), resamples=20)
    with pytest.raises(gm.DataError, match="of other scores"):
        gm.report(scores, [other])
    shape = json.loads(json.dumps(compare(scores, resamples=20).to_dict()))
    shape["metrics"]["m2"]["systems"]["Echo"]["value"] = 0.5
    with pytest.raises(gm.DataError, match="m2, Echo"):
        gm.report(scores, [Comparison.from_dict(shape)])


def test_unequal_systems_take_part_where_they_can_and_are_named(
    scores: ScoreTable, judgments: gm.Judgments
) -> None:
    some = ["Careful", "Echo", "Fluent", "Speller"]
    made = gm.report(scores, [judgments], systems=some, resamples=20)
    words = " ".join(section(made, "correlations").words)
    assert "Judged, not scored: Thorough, Eager." in words
    assert section(made, "correlations").words[0].startswith("4 systems")
    few = gm.report(scores, [judgments], systems=some[:2], resamples=20)
    assert section(few, "correlations").tables == ()
    assert "Nothing is correlated" in section(few, "correlations").words[0]


def test_scores_without_statistics_have_no_intervals_but_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "foreign.tsv"
    path.write_text("metric\tsystem\tvalue\nx\tA\t0.5\nx\tB\tNone\n", encoding="utf-8")
    from grammeter.formats import read_score_file

    made = gm.report(read_score_file(path))
    (table,) = section(made, "scores").tables
    assert heads(table) == ("system", "x")
    assert column(table, "x") == {"A": "0.5000", "B": "NaN"}
    assert any("without statistics" in note for note in table.notes)
    assert any("B: no score: the file has no score" in note for note in table.notes)
    assert "do not hold their sentences" in section(made, "scores").words[0]
    assert "--types" in section(made, "types").words[0]
    assert made.browser is None
    page_html(made)


def test_lower_is_better_is_said(scores: ScoreTable) -> None:
    columns = {"m2": replace(scores["m2"], higher_is_better=False)}
    made = gm.report(replace(scores, columns=columns), resamples=20)
    (table,) = section(made, "scores").tables
    assert "m2: lower is better" in table.notes
    assert table.rows[0][0] == "Echo"


# --- error types ---------------------------------------------------------------------------


def test_error_types_are_those_that_are_stored(page: Page, scores: ScoreTable) -> None:
    corpus = gm.Corpus.from_dict(dict(scores.corpus or {}))
    stored = gm.score(corpus, ["errant"], types=True)
    types = stored["errant"].types["Thorough"]
    values, counts = section(gm.report(stored, resamples=20), "types").tables
    assert column(values, "Thorough")["R:PREP"] == f"{types['R:PREP'].value:.4f}"
    parts = types["R:PREP"].parts
    for part in ("tp", "fp", "fn"):
        assert column(counts, f"Thorough {part}")["R:PREP"] == str(parts[part])
    without = section(page, "types")
    assert without.tables == ()
    assert "--types" in without.words[0]


def test_error_types_are_of_one_scheme_in_tables_and_in_the_type_filter() -> None:
    made = gm.report(gm.score(small(), ["errant"], types=True), resamples=20)
    kinds = {row[0] for row in section(made, "types").tables[0].rows} - {"all types"}
    assert made.browser is not None
    edits = [e for s in made.browser.sentences for o in s.outputs for e in o.edits]
    assert {edit.verdict for edit in edits} == {"matched", "missed"}
    assert kinds == {edit.type for edit in edits}
    assert all(kind[1] == ":" for kind in kinds)


# --- sentences -----------------------------------------------------------------------------


def test_each_distinct_output_stands_once_with_all_who_wrote_it(
    scores: ScoreTable, page: Page
) -> None:
    browser = page.browser
    assert browser is not None
    assert browser.systems == scores.systems
    corpus = gm.Corpus.from_dict(dict(scores.corpus or {}))
    assert len(browser.sentences) == len(corpus)
    for line, sentence in enumerate(browser.sentences):
        assert sentence.source == corpus.sources[line]
        assert sentence.references == tuple(reference[line] for reference in corpus.references)
        wrote = {at: output.text for output in sentence.outputs for at in output.systems}
        assert wrote == {at: corpus.systems[s][line] for at, s in enumerate(browser.systems)}
        assert len({output.text for output in sentence.outputs}) == len(sentence.outputs)
        sizes = [len(output.systems) for output in sentence.outputs]
        assert sizes == sorted(sizes, reverse=True)


def test_sentence_scores_are_those_of_the_table(scores: ScoreTable, page: Page) -> None:
    assert page.browser is not None
    assert page.browser.metrics == (("m2", True), ("gleu", True))
    for line, sentence in enumerate(page.browser.sentences):
        for output in sentence.outputs:
            system = scores.systems[output.systems[0]]
            expected = [scores[name].segments[system].values[line] for name in scores]
            assert list(output.values) == expected


def test_edits_are_judged_by_the_first_metric_that_can(scores: ScoreTable, page: Page) -> None:
    assert page.browser is not None
    assert page.browser.judged_by == "m2"
    corpus = gm.Corpus.from_dict(dict(scores.corpus or {}))
    segment = corpus.segments("Thorough")[15]
    (output,) = [o for o in page.browser.sentences[15].outputs if o.text == segment.hypothesis]
    explained = M2().explain(segment).edits
    assert [(e.start, e.end, e.correction, e.verdict) for e in output.edits] == [
        (j.edit.start, j.edit.end, j.edit.correction, j.verdict) for j in explained
    ]
    assert {edit.verdict for edit in output.edits} == {"matched", "spurious", "missed"}


def test_without_such_a_metric_edits_are_differences_without_verdicts() -> None:
    made = gm.report(gm.score(small(), ["gleu"]), resamples=20)
    assert made.browser is not None
    assert made.browser.judged_by is None
    (edit,) = made.browser.sentences[0].outputs[0].edits
    assert (edit.start, edit.end, edit.correction, edit.verdict) == (1, 2, "goes", None)
    assert "no metric here judges edits" in dict(made.facts)["Edits"]


def test_a_pipeline_that_is_not_here_leaves_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    table = gm.score(small(), ["errant"])

    def absent(*_: object) -> None:
        raise MissingResourceError("no spaCy", fix="install it")

    monkeypatch.setattr("grammeter.metrics.errant.Errant.explain", absent)
    made = gm.report(table, resamples=20)
    assert made.browser is not None
    assert made.browser.judged_by is None


def test_hostile_texts_become_no_markup(tmp_path: Path) -> None:
    corpus = small(**{HOSTILE: [HOSTILE, "</script><b>"], "B": ["he goes to home .", ""]})
    made = gm.report(gm.score(corpus, ["m2"]), title=HOSTILE, resamples=20)
    size = gm.write_report(made, tmp_path / "r.html")
    data = (tmp_path / "r.html").read_bytes()
    assert size == len(data)
    assert b"<script>alert" not in data
    assert b"</script><b>" not in data


def test_outputs_of_the_same_words_are_one() -> None:
    corpus = small(A=["he goes to home .", "all fine ."], B=["he  goes to home . ", "all fine."])
    made = gm.report(gm.score(corpus, ["m2"]), resamples=10)
    assert made.browser is not None
    first, second = ([o.systems for o in each.outputs] for each in made.browser.sentences)
    assert (first, second) == ([(0, 1)], [(0,), (1,)])
    assert dict(made.facts)["Edits"] == "judged by m2, each sentence alone"


def test_a_plug_in_that_judges_edits_takes_part(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = gm.score(small(), ["gleu", "m2"])
    monkeypatch.setattr(M2, "judges_edits", False)
    found = gm.report(scores, resamples=10).browser
    assert found is not None
    assert found.judged_by is None
    monkeypatch.setattr(type(gm.metric("gleu")), "judges_edits", True)
    found = gm.report(scores, resamples=10).browser
    assert found is not None
    assert found.judged_by == "gleu"


def test_a_metric_that_is_not_here_judges_nothing() -> None:
    scores = gm.score(small(), ["m2"])
    column = replace(scores["m2"], metric="gone(order=2)")
    made = gm.report(replace(scores, columns={"gone": column}), resamples=10)
    assert made.browser is not None
    assert made.browser.judged_by is None


def test_one_sentence_one_system() -> None:
    corpus = gm.Corpus(sources=["a"], references=[["a"]], systems={"A": ["a"]})
    made = gm.report(gm.score(corpus, ["gleu"]), resamples=10)
    assert "segments are few for a bootstrap (1)" in " ".join(section(made, "scores").words)
    assert made.title == "1 system on 1 sentence"
    page_html(made)


# --- files ---------------------------------------------------------------------------------


def test_the_same_page_twice(scores: ScoreTable, judgments: gm.Judgments) -> None:
    one, two = (page_html(gm.report(scores, [judgments], resamples=20)) for _ in range(2))
    assert one == two


def test_nothing_is_left_where_nothing_can_be_written(scores: ScoreTable, tmp_path: Path) -> None:
    made = gm.report(scores, resamples=10)
    with pytest.raises(gm.DataError, match="no such folder"):
        gm.write_report(made, tmp_path / "no" / "r.html")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(gm.DataError, match=r"folder\.html"):
        gm.write_report(made, tmp_path / "folder.html")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.html"]


def test_files_are_told_apart_by_their_content(
    scores: ScoreTable, judgments: gm.Judgments, tmp_path: Path
) -> None:
    ranked = gm.rank(judgments, resamples=20)
    shapes = {
        "a": ranked.to_dict(),
        "b": gm.meta_system(scores, ranked).to_dict(),
        "c": compare(scores, resamples=20).to_dict(),
        "d": gm.agree(judgments).to_dict(),
    }
    for name, shape in shapes.items():
        (tmp_path / name).write_text(json.dumps(shape), encoding="utf-8")
    paths = [tmp_path / name for name in shapes]
    found = _sorted([*paths, SAMPLE / "judgments.jsonl"], scores, None)
    assert found[Ranked] == ranked
    results = [found[kind] for kind in (SystemMeta, Comparison, Agreement)]
    written = [json.loads(json.dumps(result.to_dict())) for result in results]
    assert written == [json.loads(json.dumps(shapes[name])) for name in "bcd"]
    assert len(found[gm.Judgments]) == len(gm.read_judgments(SAMPLE / "judgments.jsonl"))


def test_judgments_of_several_files_and_of_one_line(tmp_path: Path, scores: ScoreTable) -> None:
    lines = (SAMPLE / "judgments.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "a").write_text(lines[0] + "\n", encoding="utf-8")
    (tmp_path / "b").write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")
    found = _sorted([tmp_path / "a", tmp_path / "b"], scores, None)[gm.Judgments]
    assert found.rankings == gm.read_judgments(SAMPLE / "judgments.jsonl").rankings


def test_the_first_segment_is_found_in_the_outputs(scores: ScoreTable) -> None:
    found = _sorted([SAMPLE / "judgments.xml"], scores, None)[gm.Judgments]
    assert "found" in found.numbering
    some = restricted(scores, None, ["Echo", "Eager"])
    lost = _sorted([SAMPLE / "judgments.xml"], some, None)[gm.Judgments]
    assert "default" in lost.numbering


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"kind": "scores"}', "damaged scores"),
        ('{"kind": "meta-window"}', "nothing for a report"),
        ('{"a": 1}', 'says no "kind"'),
        ('{"kind": "ranking"}', "damaged ranking"),
        ('{"kind": "meta-system", "systems": []}', "damaged meta-system"),
        ('{"kind": "comparison", "metrics": {"m2": {}}}', "damaged comparison"),
        ('{"kind": "agreement"}', "damaged agreement"),
        ('{"kind": ', "not JSON"),
        ("nothing at all", "no known format"),
        ("", "empty"),
    ],
)
def test_a_file_that_is_none_of_these(
    text: str, message: str, tmp_path: Path, scores: ScoreTable
) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises((gm.DataError, gm.UsageError), match=message) as caught:
        gm.report(scores, [path])
    assert str(path) in str(caught.value)


def test_two_of_one_kind_or_one_file_twice(
    tmp_path: Path, judgments: gm.Judgments, scores: ScoreTable
) -> None:
    for name in "ab":
        shape = json.dumps(gm.agree(judgments).to_dict())
        (tmp_path / name).write_text(shape, encoding="utf-8")
    for files in ([tmp_path / "a", tmp_path / "b"], [SAMPLE / "judgments.xml"] * 2):
        with pytest.raises(gm.UsageError, match="a second one of its kind"):
            gm.report(scores, files)


def test_restricted_to_metrics_and_systems(scores: ScoreTable) -> None:
    some = restricted(scores, ["gleu"], ["Echo", "Eager"])
    assert (list(some), some.systems) == (["gleu"], ("Echo", "Eager"))
    assert list((some.corpus or {})["systems"]) == ["Echo", "Eager"]
    assert math.isfinite(some["gleu"]["Echo"].value)
    with pytest.raises(gm.UsageError, match="unknown system 'Nobody'"):
        restricted(scores, None, ["Nobody"])
    with pytest.raises(gm.UsageError, match="a report of nothing"):
        restricted(scores, [], None)


# --- notebooks -----------------------------------------------------------------------------


def test_values_show_themselves_in_notebooks_and_names_stay_text(judgments: gm.Judgments) -> None:
    corpus = small(**{HOSTILE: ["he goes to the home .", HOSTILE], "B": ["he go to home .", ""]})
    table = gm.score(corpus, ["m2", "gleu"])
    compared = compare(table, resamples=20)
    ranked = gm.rank(judgments, resamples=20)
    hostile_ranks = replace(ranked, rows=(replace(ranked.rows[0], system=HOSTILE),))
    meta = gm.meta_system(table, {HOSTILE: 0.1, "B": 0.2})
    explained = gm.explain(table, system=HOSTILE, line=1)
    for value in (table, compared, hostile_ranks, meta, explained):
        shown = value._repr_html_()
        assert "<script" not in shown
        assert ("<pre>" if value is explained else "<table>") in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in table._repr_html_()
    assert "<b>" in table._repr_html_()
    drawn = explained._repr_html_()
    assert "[+ go -&gt; goes]" in drawn
    assert "[? to -&gt;]" in drawn
