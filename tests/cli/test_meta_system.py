"""``meta system`` and the human side that it shares with ``meta beta``, called as from a shell."""

import json
import math
from functools import partial

import pytest

import grammeter as gm
from fake_metric import scored, systems
from grammeter.cli.parser import parser_of
from grammeter.core import DataError, Ranked, RankedSystem, Signature, UnknownNameError, UsageError
from grammeter.formats import benchmarks
from grammeter.meta import correlate_systems, sides, system_values
from grammeter.ranking import METHODS

HUMAN = {"A": 0.9, "B": 0.7, "C": 0.6, "D": 0.5, "E": 0.2}
QUALITIES = {"A": 0.8, "B": 0.7, "C": 0.72, "D": 0.5, "E": 0.4}

pytestmark = pytest.mark.usefixtures("fake_metrics")


@pytest.fixture
def table():
    return scored(systems(QUALITIES), ("share", "errors"))


@pytest.fixture
def scores(table, tmp_path):
    path = tmp_path / "scores.json"
    path.write_text(json.dumps(table.to_full_dict()), encoding="utf-8")
    return str(path)


@pytest.fixture
def human(put):
    return put("ew.tsv", "system\tvalue\n" + "".join(f"{s}\t{v}\n" for s, v in HUMAN.items()))


@pytest.fixture
def run(called):
    return partial(called, "meta system")


def test_the_choices_are_those_of_the_library():
    """The shell names them, too, so that --help imports nothing heavy."""
    actions = {action.dest: action for action in next(parser_of("meta").parsers())._actions}
    assert actions["drop_outliers"].const == sides.OUTLIER_CUTOFF
    assert [*METHODS, "mean", "z-score"] == actions["by"].choices
    assert [*benchmarks.BENCHMARKS] == actions["benchmark"].choices


def test_defaults_are_those_of_the_library(parse):
    args, design = parse("meta system", "x", "y"), system_values.Design()
    names = ("interval", "confidence", "resamples", "seed", "ties")
    assert [getattr(args, name) for name in names] == [getattr(design, name) for name in names]


def test_json_equals_the_library_and_the_file(run, table, scores, human, tmp_path):
    out = tmp_path / "m.json"
    code, text, err = run(scores, human, "--format", "json", "-o", str(out))
    design = system_values.Design(human="ew")
    assert code == 0
    assert json.loads(text) == correlate_systems(table, HUMAN, design=design).to_dict()
    assert out.read_text("utf-8") == text
    assert "5 systems are few" in json.loads(text)["notes"][0]
    assert err == ""


def test_every_option_reaches_the_library(run, scores, human):
    _, text, err = run(
        *(scores, human, "-m", "share", "--drop", "E", "--interval", "sentences"),
        *("--resamples", "50", "--seed", "7", "--confidence", "0.9", "--ties", "tau-a"),
        *("--leave-one-out", "--top-k", "--drop-outliers", "9", "--format", "json", "--quiet"),
    )
    data = json.loads(text)
    assert err == ""
    assert data["systems"] == list("ABCD")
    metric = data["metrics"]["share"]
    assert list(metric["leave_one_out"]) == list("ABCD")
    assert [row["k"] for row in metric["top"]] == [4]
    for part in ("interval:sentences", "resamples:50", "seed:7", "confidence:0.9", "kendall:tau-a"):
        assert f"meta-{part}" in metric["signature"]
    assert metric["pearson"]["low"] <= metric["pearson"]["value"] <= metric["pearson"]["high"]


def test_tables_for_people(run, scores, human):
    _, text, _ = run(scores, human, "--leave-one-out", "--top-k")
    for part in ("pearson", "better (spearman)", "without", "best K", "5 systems against ew"):
        assert part in text
    for form in ("latex", "markdown"):
        assert "share" in run(scores, human, "--format", form)[1]


def test_tsv_has_a_line_for_each_metric_and_kind(run, scores, human):
    lines = run(scores, human, "--format", "tsv")[1].splitlines()
    assert lines[0].split("\t") == ["metric", "correlation", "value", "low", "high", "pvalue", "n"]
    assert len(lines) == 1 + 2 * 4
    assert len({len(line.split("\t")) for line in lines}) == 1


def test_one_metric_has_no_williams_table(run, scores, human):
    assert "better" not in run(scores, human, "-m", "share")[1]


def test_a_constant_metric_is_null_with_a_reason(run, put, human):
    flat = put("f.tsv", "metric\tsystem\tvalue\n" + "".join(f"flat\t{s}\t1\n" for s in HUMAN))
    code, text, _ = run(flat, human, "--format", "json")
    result = json.loads(text)["metrics"]["flat"]["pearson"]
    assert code == 0
    assert result["value"] is None
    assert result["reason"] == "the metric gives all systems the same score"
    assert "NaN: the metric gives" in run(flat, human)[1]


def test_a_stranger_is_named(run, put, human):
    rows = "".join(f"x\t{s}\t{at}\n" for at, s in enumerate(["A", "B", "nobody"]))
    strange = put("s.tsv", "metric\tsystem\tvalue\n" + rows)
    with pytest.raises(DataError, match="nobody"):
        run(strange, human)
    assert run(strange, human, "--systems", "A", "B")[0] == 0


def test_a_word_for_a_number_has_its_line(run, put, human):
    with pytest.raises(DataError) as error:
        run(put("w.tsv", "metric\tsystem\tvalue\nx\tA\tgood\n"), human)
    assert error.value.where.endswith("w.tsv:2")


def test_aggregates_stand_side_by_side(run, put, human):
    rows = "".join(
        f"x\t{s}\t{n}\t{q * (n + 1)}\n" for s, q in QUALITIES.items() for n in range(1, 9)
    )
    segments = put("seg.tsv", "metric\tsystem\tsegment\tvalue\n" + rows)
    _, text, _ = run(segments, human, "--aggregate", "expected-wins", "mean", "--format", "json")
    result = json.loads(text)["metrics"]
    assert list(result) == ["x", "x by expected-wins", "x by mean"]
    assert result["x"]["pearson"]["value"] == result["x by mean"]["pearson"]["value"]
    assert result["x by expected-wins"]["spearman"]["value"] == pytest.approx(0.9)


# --- people --------------------------------------------------------------------------------


def test_a_ranking(run, scores, put):
    rows = tuple(RankedSystem(s, v, (1, 5), 1) for s, v in HUMAN.items())
    ranked = Ranked("expected-wins", Signature.of("expected-wins", {"unit": "pair"}), rows)
    path = put("r.json", json.dumps(ranked.to_dict()))
    data = json.loads(run(scores, path, "--format", "json")[1])
    assert data["human"].startswith("expected-wins(unit=pair, version=")
    assert data["systems"] == list("ABCDE")


def judgments(*rankings):
    return "".join(
        json.dumps(
            {"judge": "a", "segment": n, "groups": [[s] for s in order], "ranks": [*range(1, 6)]}
        )
        + "\n"
        for n, order in enumerate(rankings, start=1)
    )


def test_judgments_are_ranked(run, scores, put):
    path = put("j.jsonl", judgments("ABCDE", "BACDE", "ABDCE", "EABCD"))
    for by in ("expected-wins", "trueskill"):
        data = json.loads(run(scores, path, "--by", by, "--format", "json")[1])
        assert data["human"].startswith(by)
        assert data["systems"] == list("ABCDE")
    assert json.loads(run(scores, path, "--format", "json")[1])["human"].startswith("expected")


def test_by_is_for_judgments(run, scores, human):
    with pytest.raises(UsageError, match="nothing to do"):
        run(scores, human, "--by", "trueskill")


def test_one_human_side_is_needed(run, scores, human):
    with pytest.raises(UsageError, match="from one place"):
        run(scores)
    with pytest.raises(DataError, match="human scores of systems, not those of metrics"):
        run(scores, human, "--benchmark", "gjg15")


def test_an_unknown_metric_is_refused(run, scores, human):
    with pytest.raises(UnknownNameError):
        run(scores, human, "-m", "m2")


def test_benchmarks(run, put, shared, monkeypatch):
    monkeypatch.setenv("GRAMMETER_DATA", str(shared / "data"))
    names = [*benchmarks.BENCHMARKS["seeda-e"].systems]
    path = put("x.tsv", "".join(f"{s}\t{len(s)}\n" for s in names))
    data = json.loads(
        run(path, "--benchmark", "seeda-e", "--systems", "base", "--format", "json")[1]
    )
    assert len(data["systems"]) == 12
    assert data["systems"][0] == "TransGEC"
    assert data["human"] == "seeda-e, trueskill as published"
    data = json.loads(
        run(path, "--benchmark", "seeda-s", "--by", "expected-wins", "--format", "json")[1]
    )
    assert data["systems"][:2] == ["REF-F", "GPT-3.5"]
    gjg15 = benchmarks.benchmark("gjg15").read_judgments()
    systems15 = sorted({s for ranking in gjg15 for s in ranking.systems})
    path = put("y.tsv", "".join(f"{s}\t{len(s)}\n" for s in systems15))
    data = json.loads(run(path, "--benchmark", "gjg15", "--format", "json")[1])
    assert data["systems"][:3] == ["AMU", "RAC", "CAMB"]
    assert not any(math.isnan(v["pearson"]["value"]) for v in data["metrics"].values())


PRINTED = {  # Kobayashi et al. 2024, Table 1: r, rho of base, of +fluent; by both judgments
    "m2": (0.791, 0.764, -0.239, 0.161, 0.658, 0.487, -0.336, -0.013),
    "gleu": (0.911, 0.897, 0.053, 0.482, 0.847, 0.886, -0.039, 0.475),
}


def test_published_data(run, put, shared, monkeypatch):
    monkeypatch.setenv("GRAMMETER_DATA", str(shared / "data"))
    lines = (shared / "golden/seeda/m2_gleu_system_scores.tsv").read_text("utf-8").splitlines()
    heads, *rows = (line.split("\t") for line in lines)
    columns = {"m2": "M2_subset_F0.5", "gleu": "GLEU_subset_official"}
    path = put(
        "seeda.tsv",
        "metric\tsystem\tvalue\n"
        + "".join(
            f"{name}\t{row[0]}\t{row[heads.index(head)]}\n"
            for name, head in columns.items()
            for row in rows
        ),
    )
    result = dict.fromkeys(columns, ())
    for judged in ("seeda-e", "seeda-s"):
        for chosen in ("base", "+fluent"):
            options = ("--benchmark", judged, "--systems", chosen, "--published-data")
            data = json.loads(run(path, *options, "--format", "json")[1])["metrics"]
            for name, column in data.items():
                both = (round(column[kind]["value"], 3) for kind in ("pearson", "spearman"))
                result[name] += tuple(both)
                assert "|published-data:LM-Critic=PIE|" in column["signature"]
    assert result == PRINTED
    with pytest.raises(UsageError, match="--published-data belongs to --benchmark"):
        run(path, put("people.tsv", "PIE\t1\n"), "--published-data")


def test_figures(run, scores, human, tmp_path):
    points, tests = tmp_path / "points.svg", tmp_path / "tests.svg"
    plain = run(scores, human)
    assert run(scores, human, "--figure", str(points), "--figure-williams", str(tests)) == plain
    text = points.read_text("utf-8")
    assert [text.count(f">{system}<") for system in HUMAN] == [2] * len(HUMAN)
    assert text.count(", sign turned<") == 1  # of errors, which are better when few
    text = tests.read_text("utf-8")
    assert text.count(">share<") == 4  # row and column, for both coefficients
    assert text.count("one-sided p") == 2


def test_figures_of_one_metric(run, scores, human, tmp_path):
    points, tests = tmp_path / "points.png", tmp_path / "tests.png"
    options = ("-m", "share", "--figure", str(points), "--figure-williams", str(tests))
    assert run(scores, human, *options)[0] == 0
    assert points.is_file()
    assert tests.is_file()


def by_document(labels):
    """Scores of three systems on sentences of documents, with statistics."""
    source = [f"a b c {n}" for n in range(len(labels))]
    wrong = {"X": 2, "Y": 3, "Z": 5}
    outputs = {
        s: [t if n % k else t.replace("b", "x") for n, t in enumerate(source)]
        for s, k in wrong.items()
    }
    references = [[text.replace("b", "x") for text in source]]
    corpus = gm.Corpus(sources=source, references=references, systems=outputs, documents=labels)
    return gm.score(corpus, ["gleu"])


def test_documents_are_drawn_as_a_whole(run, put):
    people = {"X": 1.0, "Y": 0.6, "Z": 0.5}
    alone, pairs = (by_document([str(n // k) for n in range(60)]) for k in (1, 2))
    drawn = {"interval": "sentences", "resamples": 100}

    def bounds(table, unit=None):
        (of,) = gm.meta_system(table, people, unit=unit, **drawn).values()
        return of.correlations["pearson"].low, of.correlations["pearson"].high

    sentences = bounds(alone, "sentence")
    assert bounds(alone) == sentences  # a document a sentence
    assert bounds(pairs) != sentences
    path = put("scores.json", json.dumps(pairs.to_full_dict()))
    human = put("h.tsv", "system\tvalue\n" + "".join(f"{s}\t{v}\n" for s, v in people.items()))
    code, text, _ = run(path, human, "--interval", "sentences", "--format", "json")
    assert code == 0
    assert "|meta-unit:document(30)|" in json.loads(text)["metrics"]["gleu"]["signature"]
    assert "30 documents are drawn, not sentences (--unit sentence)" in json.loads(text)["notes"]
    with pytest.raises(UsageError, match="--unit belongs to the interval 'sentences'"):
        gm.meta_system(path, human, unit="document")
