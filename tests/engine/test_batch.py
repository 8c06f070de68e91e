"""Batch scoring in this process and in several: the same rows, resumed, refused, counted."""

import csv
import json
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import dying
import pytest
from made_rows import made_rows, read_rows, run, write_rows

import grammeter as gm
from grammeter.cli.main import main
from grammeter.core import DataError, UsageError, only_one
from grammeter.engine import job as runs
from grammeter.engine import rows as engine_rows


def test_rows_keep_order_and_columns_and_get_the_score_of_the_sentence(tmp_path):
    rows = made_rows(50)
    names = write_rows(tmp_path / "in", rows, shards=2)
    summary = run(names, tmp_path / "out", block=7)
    made = read_rows(tmp_path / "out")
    inputs = read_rows(tmp_path / "in")
    assert [{k: row[k] for k in inputs[0]} for row in made] == inputs
    assert summary.all.rows == summary.all.kept == 50
    assert summary.all.errors == 0
    for row in made:  # each row scored alone, by the verb for whole corpora
        corpus = gm.Corpus(
            sources=[row["source"]],
            references=[[row["reference"]]],
            systems={"it": [row["hypothesis"]]},
        )
        alone = gm.score(corpus, ["gleu"])["gleu"].segments["it"].values[0]
        assert row["gleu"] == alone
        assert row["error"] is None


def test_the_function_does_what_the_shell_does(tmp_path):
    names = write_rows(tmp_path / "in", made_rows(20), shards=2)
    notes = []
    summary = gm.batch(
        names,
        ["gleu", "m2"],
        output=tmp_path / "out",
        reference=["reference"],
        edits="list",
        keep="gleu >= 0",
        output_form="jsonl",
        on_note=notes.append,
    )
    assert summary.all.rows == 20
    assert notes == list(summary.notes)
    assert "m2 needs gold edits" in notes[0]
    command = [
        "batch",
        *names,
        "-m",
        "gleu",
        "m2",
        "-o",
        str(tmp_path / "shell"),
        "--edits",
        "list",
    ]
    assert (
        main(
            [*command, "--reference", "reference", "--keep", "gleu >= 0", "--output-form", "jsonl"]
        )
        == 0
    )
    for name in ("part-0.jsonl", "part-1.jsonl"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "shell" / name).read_bytes()


@pytest.mark.parametrize(
    "options",
    [{"output_form": "xml"}, {"edits": "m3"}, {"engine": "slurm"}, {"gpus_per_worker": 1.0}],
)
def test_the_function_refuses_what_the_shell_refuses(tmp_path, options):
    names = write_rows(tmp_path / "in", made_rows(2))
    with pytest.raises(UsageError):
        gm.batch(names, ["m2"], output=tmp_path / "out", **options)


def test_neither_blocks_nor_processes_change_a_row(tmp_path):
    names = write_rows(tmp_path / "in", made_rows(60), shards=3)
    run(names, tmp_path / "one", block=1000)
    run(names, tmp_path / "many", block=3, jobs=2)
    assert read_rows(tmp_path / "one") == read_rows(tmp_path / "many")


def test_several_references_are_chosen_for_each_row_alone(tmp_path):
    rows = [row | {"other": row["source"]} for row in made_rows(30)]
    names = write_rows(tmp_path / "in", rows)
    job = {"metrics": ("errant(pipeline=neutral)",), "reference": ("reference", "other")}
    run(names, tmp_path / "one", job, block=1)
    run(names, tmp_path / "all", job, block=30)
    assert read_rows(tmp_path / "one") == read_rows(tmp_path / "all")


def test_without_a_reference_edits_are_counted(tmp_path):
    names = write_rows(tmp_path / "in", [{"source": "a b c", "hypothesis": "a x c d"}])
    job = {"metrics": ("m2", "errant(pipeline=neutral)"), "edits": "list"}
    run(names, tmp_path / "out", job)
    (row,) = read_rows(tmp_path / "out")
    assert row["errant(pipeline=neutral).edits"] == 2
    assert (
        row["m2.edits"] == 1
    )  # without gold edits neighbours are one edit, unchanged words inside
    assert "m2" not in row
    assert [edit["correction"] for edit in row["errant(pipeline=neutral).list"]] == ["x", "d"]


def test_edits_as_m2_can_be_read_again(tmp_path):
    names = write_rows(tmp_path / "in", made_rows(40))
    job = {"metrics": ("errant(pipeline=neutral)",), "edits": "m2"}
    run(names, tmp_path / "out", job)
    rows = read_rows(tmp_path / "out")
    blocks = [f"S {row['source']}\n{row['errant(pipeline=neutral).m2']}\n" for row in rows]
    (tmp_path / "all.m2").write_text("\n".join(blocks).replace("\n\n\n", "\n\n"))
    corpus = gm.read_corpus(source=tmp_path / "all.m2", references=[tmp_path / "all.m2"])
    assert [len(gold.get(0, ())) for gold in corpus.gold] == [
        row["errant(pipeline=neutral).edits"] for row in rows
    ]


def test_a_filter_writes_what_passes_and_counts_the_rest(tmp_path):
    rows = [*made_rows(40), {"id": 99, "source": "a"}]
    names = write_rows(tmp_path / "in", rows)
    job = {"metrics": ("gleu",), "reference": ("reference",), "keep": "gleu >= 0.5"}
    summary = run(names, tmp_path / "out", job, block=8)
    run(names, tmp_path / "all", block=8)
    wanted = [row for row in read_rows(tmp_path / "all") if (row["gleu"] or 0) >= 0.5]
    assert read_rows(tmp_path / "out") == wanted
    assert 0 < len(wanted) < 40
    assert (summary.all.rows, summary.all.kept, summary.all.errors) == (41, len(wanted), 1)
    assert "no hypothesis" in (tmp_path / "out" / "errors" / "part-0.jsonl.tsv").read_text()


def test_damaged_rows_are_counted_and_the_rest_unharmed(tmp_path):
    rows = made_rows(30)
    (name,) = write_rows(tmp_path / "in", rows)
    run([name], tmp_path / "sound")
    lines = Path(name).read_bytes().splitlines()
    lines[3] = b'{"source": "\xff"}'
    lines[5] = json.dumps({k: v for k, v in rows[5].items() if k != "reference"}).encode()
    lines[7] = json.dumps(rows[7] | {"hypothesis": 3}).encode()
    lines[9] = json.dumps(rows[9] | {"source": "a " * 5000}).encode()
    lines[11] = json.dumps(rows[11] | {"source": "\ud800"}).encode()
    Path(name).write_bytes(b"\n".join(lines) + b"\n")
    summary = run([name], tmp_path / "out", block=4)
    made, sound = read_rows(tmp_path / "out"), read_rows(tmp_path / "sound")
    faulty = [at for at, row in enumerate(made) if row["error"]]
    assert faulty == [3, 5, 7, 9, 11]
    assert [row for at, row in enumerate(made) if at not in faulty] == [
        row for at, row in enumerate(sound) if at not in faulty
    ]
    assert summary.all.errors == 5
    assert summary.faults[0].startswith(f"{name}:4: not UTF-8")
    assert "5000 tokens" in summary.faults[3]
    listed = (tmp_path / "out" / "errors" / "part-0.jsonl.tsv").read_text().splitlines()
    assert [line.split("\t")[0] for line in listed] == ["row", "4", "6", "8", "10", "12"]


def test_a_metric_that_fails_on_one_row_spares_the_others(tmp_path, monkeypatch):
    from grammeter.metrics import Gleu

    count = Gleu.statistics

    def failing(self, segments):
        if any("cat" in segment.source for segment in segments):
            raise ZeroDivisionError("a cat")
        return count(self, segments)

    monkeypatch.setattr(Gleu, "statistics", failing)
    names = write_rows(tmp_path / "in", made_rows(30))
    run(names, tmp_path / "out")
    for row in read_rows(tmp_path / "out"):
        assert (row["gleu"] is None) == ("cat" in row["source"])
        assert (row["error"] == "gleu: ZeroDivisionError: a cat") == ("cat" in row["source"])


def test_a_metric_that_fails_on_every_row_ends_the_run(tmp_path, monkeypatch):
    from grammeter.metrics import Gleu

    def failing(self, segments):
        raise ZeroDivisionError("always")

    monkeypatch.setattr(Gleu, "statistics", failing)
    names = write_rows(tmp_path / "in", made_rows(3))
    job = {"metrics": ("gleu(order=3)",), "reference": ("reference",)}
    with pytest.raises(gm.GrammeterError, match="fails on every row: ZeroDivisionError: always"):
        run(names, tmp_path / "out", job)


def test_a_row_may_lack_some_of_several_references(tmp_path):
    rows = [row | {"other": row["source"]} for row in made_rows(6)]
    rows[1]["other"] = None
    del rows[2]["reference"]
    rows[3]["reference"] = rows[3]["other"] = None
    names = write_rows(tmp_path / "in", rows)
    run(names, tmp_path / "out", {"metrics": ("gleu",), "reference": ("reference", "other")})
    run(names, tmp_path / "first")
    made, first = read_rows(tmp_path / "out"), read_rows(tmp_path / "first")
    assert [row["error"] for row in made] == [None] * 3 + ["no reference and no other"] + [None] * 2
    assert made[1]["gleu"] == first[1]["gleu"]
    assert first[2]["error"] == "no reference"
    assert made[2]["gleu"] is not None


def test_texts_that_are_no_sentences_are_faults(tmp_path):
    rows = made_rows(3)
    rows[1]["hypothesis"] = "x" * 60_000
    names = write_rows(tmp_path / "in", rows)
    summary = run(names, tmp_path / "out")
    assert summary.faults == [f"{names[0]}:2: hypothesis has 60000 characters, 50000 at most"]


@pytest.mark.parametrize("block", [1, 3])
def test_a_column_of_ours_deep_in_a_file_is_a_fault_and_stays(tmp_path, block):
    rows = made_rows(12)
    rows[11]["gleu"] = "mine"
    names = write_rows(tmp_path / "in", rows)
    run(names, tmp_path / "out", block=block)
    made = read_rows(tmp_path / "out")
    assert made[11] == rows[11] | {"error": "there is a column 'gleu' already"}
    assert [at for at, row in enumerate(made) if row["error"]] == [11]


def test_first_rows_that_lack_a_column_are_only_faults(tmp_path):
    rows = [{"source": "a"}, {}, *made_rows(5)]
    names = write_rows(tmp_path / "in", rows)
    summary = run(names, tmp_path / "out")
    assert (summary.all.rows, summary.all.errors) == (7, 2)


def test_tables_without_rows_keep_their_columns(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    names = [str(tmp_path / name) for name in ("a.parquet", "b.tsv", "c.csv")]
    texts = dict.fromkeys(("source", "hypothesis", "reference"), pyarrow.array([], "string"))
    parquet.write_table(pyarrow.table(texts), names[0])
    (tmp_path / "b.tsv").write_text("source\thypothesis\treference\n")
    (tmp_path / "c.csv").write_text("source,hypothesis,reference\n")
    run(names, tmp_path / "out")
    assert parquet.read_table(tmp_path / "out" / "a.parquet").schema.names[-2:] == ["gleu", "error"]
    assert (
        tmp_path / "out" / "b.tsv"
    ).read_text() == "source\thypothesis\treference\tgleu\terror\n"
    assert (tmp_path / "out" / "c.csv").read_text() == "source,hypothesis,reference,gleu,error\n"


def test_an_input_that_changes_while_it_is_read_is_noticed_later(tmp_path, monkeypatch):
    names = write_rows(tmp_path / "in", made_rows(9))
    score = engine_rows.process

    def appending(job, block, form):
        if block.first == 1:
            with open(names[0], "a", encoding="utf-8") as file:
                file.write(json.dumps(made_rows(1)[0]) + "\n")
        return score(job, block, form)

    monkeypatch.setattr(engine_rows, "process", appending)
    run(names, tmp_path / "out", block=9)
    monkeypatch.undo()
    with pytest.raises(UsageError, match="changed"):
        run(names, tmp_path / "out")


def test_finished_shards_are_not_touched_again(tmp_path, monkeypatch):
    names = write_rows(tmp_path / "in", made_rows(30), shards=3)
    run(names[:2], tmp_path / "out")
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.jsonl")}
    summary = run(names, tmp_path / "out")
    assert summary.earlier == ["part-0.jsonl", "part-1.jsonl"]
    assert summary.fresh == 10
    assert summary.all.rows == 30
    for name, time_ns in before.items():
        assert (tmp_path / "out" / name).stat().st_mtime_ns == time_ns


def test_other_settings_and_changed_inputs_are_refused(tmp_path):
    names = write_rows(tmp_path / "in", made_rows(5))
    run(names, tmp_path / "out")
    with pytest.raises(UsageError, match="metrics"):
        run(names, tmp_path / "out", {"metrics": ("gleu(order=2)",), "reference": ("reference",)})
    write_rows(tmp_path / "in", made_rows(6))
    with pytest.raises(UsageError, match="changed"):
        run(names, tmp_path / "out")


def test_a_run_that_fails_before_any_output_binds_nobody(tmp_path):
    names = write_rows(tmp_path / "in", made_rows(5))
    wrong = {"metrics": ("gleu",), "reference": ("nope",)}
    with pytest.raises(DataError, match="nope"):
        run(names, tmp_path / "out", wrong)
    assert run(names, tmp_path / "out").all.rows == 5


def test_a_run_that_fails_later_is_gone_on_with(tmp_path):
    names = write_rows(tmp_path / "in", made_rows(6), shards=2)
    (tmp_path / "in" / "part-1.jsonl").write_text('{"source": "a"}\n')
    with pytest.raises(DataError, match="hypothesis"):
        run(names, tmp_path / "out")
    with pytest.raises(UsageError, match="other settings"):
        run(names, tmp_path / "out", {"metrics": ("green",), "reference": ("reference",)})
    assert run(names[:1], tmp_path / "out").earlier == ["part-0.jsonl"]


def test_a_cell_may_hold_a_list_of_references(tmp_path):
    rows = made_rows(20)
    several = {"metrics": ("gleu", "errant(pipeline=neutral)"), "reference": ("reference", "other")}
    names = write_rows(tmp_path / "a", [row | {"other": row["source"]} for row in rows])
    run(names, tmp_path / "apart", several)
    for row in rows:
        row["reference"] = [row["reference"], None, row["source"]]
    rows[3]["reference"] = [None]
    rows[4]["reference"] = ["x", 5]
    names = write_rows(tmp_path / "b", rows)
    listed = {"metrics": several["metrics"], "reference": ("reference",)}
    run(names, tmp_path / "together", listed)
    apart, together = read_rows(tmp_path / "apart"), read_rows(tmp_path / "together")
    for metric in several["metrics"]:
        one, other = ([row[metric] for row in made] for made in (apart, together))
        assert one[:3] + one[5:] == other[:3] + other[5:]
    assert [row["error"] for row in together][2:6] == [
        None,
        "no reference",
        "reference is no text",
        None,
    ]
    assert together[0]["reference"] == rows[0]["reference"]


@pytest.mark.parametrize(
    "keep", ["errant.edits <= 1", "errant > 0.5 and gleu(order=2) > gleu(order=3)"]
)
def test_a_filter_may_leave_out_the_fields_of_a_metric(tmp_path, keep):
    names = write_rows(tmp_path / "in", made_rows(30))
    metrics = ("errant(pipeline=neutral)", "gleu(order=2)", "gleu(order=3)")
    long = keep.replace("errant", "errant(pipeline=neutral)")
    for folder, text in (("short", keep), ("long", long)):
        gm.batch(names, metrics, output=tmp_path / folder, reference=["reference"], keep=text)
    rows = read_rows(tmp_path / "short")
    assert 0 < len(rows) < 30
    assert rows == read_rows(tmp_path / "long")


@pytest.mark.parametrize("keep", ["", " ", "gleu > 0", "errant.m2 > 0", "errant.m2.edits > 0"])
def test_filters_that_would_keep_nothing_or_all_are_refused(tmp_path, keep):
    names = write_rows(tmp_path / "in", made_rows(3))
    metrics = ("errant(pipeline=neutral)", "gleu(order=2)", "gleu(order=3)")
    job = {"metrics": metrics, "reference": ("reference",), "keep": keep, "edits": "m2"}
    with pytest.raises(UsageError, match="filter"):
        run(names, tmp_path / "out", job)


def test_a_damaged_manifest_is_named(tmp_path):
    names = write_rows(tmp_path / "in", made_rows(5))
    run(names, tmp_path / "out")
    (tmp_path / "out" / runs.NAME).write_text("{")
    with pytest.raises(DataError, match=r"manifest\.json"):
        run(names, tmp_path / "out")


@pytest.mark.parametrize("shards", ["[]", '{"part-0.jsonl": {}}', '{"part-0.jsonl": 3}'])
def test_a_manifest_with_odd_entries_is_named(tmp_path, shards):
    names = write_rows(tmp_path / "in", made_rows(5))
    run(names, tmp_path / "out")
    path = tmp_path / "out" / runs.NAME
    data = json.loads(path.read_text()) | {"shards": json.loads(shards)}
    path.write_text(json.dumps(data))
    with pytest.raises(DataError, match=r"manifest\.json"):
        run(names, tmp_path / "out")


def test_another_version_is_refused(tmp_path):
    names = write_rows(tmp_path / "in", made_rows(5))
    run(names, tmp_path / "out")
    path = tmp_path / "out" / runs.NAME
    path.write_text(path.read_text().replace(gm.__version__, "0.0.1", 1))
    with pytest.raises(UsageError, match=r"version: 0\.0\.1"):
        run(names, tmp_path / "out")


def test_two_runs_cannot_write_into_one_folder(tmp_path):
    names = write_rows(tmp_path / "in", made_rows(5))
    with only_one(tmp_path / "out"), pytest.raises(UsageError, match="another run"):
        run(names, tmp_path / "out")


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ({"metrics": ("gleu",)}, "references"),
        ({"metrics": ("gotoscorer",), "reference": ("reference",)}, "corpus"),
        ({"metrics": ("gleu",), "reference": ("ref",)}, "no column 'ref'"),
        (
            {"metrics": ("gleu",), "reference": ("reference",), "hypothesis": "hyp"},
            "no column 'hyp'",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused_at_once(tmp_path, job, said):
    names = write_rows(tmp_path / "in", made_rows(5))
    with pytest.raises((UsageError, DataError), match=said):
        run(names, tmp_path / "out", job)
    assert not list((tmp_path / "out").glob("*.jsonl*"))


def test_a_column_that_is_there_already_is_not_overwritten(tmp_path):
    names = write_rows(tmp_path / "in", [row | {"gleu": 1} for row in made_rows(5)])
    with pytest.raises(DataError, match="'gleu' already"):
        run(names, tmp_path / "out")


def test_an_empty_shard_gives_an_empty_one(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"")
    summary = run([str(tmp_path / "a.jsonl")], tmp_path / "out")
    assert (tmp_path / "out" / "a.jsonl").read_bytes() == b""
    assert summary.all.rows == 0


def test_other_formats(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "a.tsv").write_text("source\thypothesis\treference\na b\ta c\ta c\nb\tb\n", "utf-8")
    for form in ("tsv", "csv", "jsonl", "parquet"):
        job = {"metrics": ("gleu",), "reference": ("reference",), "output_form": form}
        run([str(tmp_path / "a.tsv")], tmp_path / form, job)
    with open(tmp_path / "csv" / "a.csv", newline="", encoding="utf-8") as file:
        from_csv = list(csv.DictReader(file))
    assert [row["gleu"] for row in from_csv] == ["1.0", ""]
    assert from_csv[1]["error"] == "2 cells in 3 columns"
    from_parquet = parquet.read_table(tmp_path / "parquet" / "a.parquet").to_pylist()
    assert from_parquet[0] == {
        "source": "a b", "hypothesis": "a c", "reference": "a c", "gleu": 1.0, "error": None,
    }  # fmt: skip
    assert read_rows(tmp_path / "jsonl") == from_parquet
    head, *lines = (tmp_path / "tsv" / "a.tsv").read_text("utf-8").splitlines()
    assert head == "source\thypothesis\treference\tgleu\terror"
    assert lines == ["a b\ta c\ta c\t1.0\t", "b\tb\t\t\t2 cells in 3 columns"]


def test_parquet_stays_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = made_rows(20)
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    job = {"metrics": ("gleu",), "reference": ("reference",), "keep": "gleu > 0.4"}
    run([str(tmp_path / "a.parquet")], tmp_path / "out", job, block=6)
    made = parquet.read_table(tmp_path / "out" / "a.parquet").to_pylist()
    assert made
    assert all(row["gleu"] > 0.4 for row in made)
    assert [{k: row[k] for k in rows[0]} for row in made] == [
        row for row in rows if row["id"] in {made_row["id"] for made_row in made}
    ]


def test_a_killed_worker_takes_nothing_along(tmp_path, monkeypatch):
    names = write_rows(tmp_path / "in", made_rows(40), shards=2)
    run(names, tmp_path / "whole")
    monkeypatch.setenv(dying.FLAG, str(tmp_path / "flag"))
    monkeypatch.setattr(engine_rows, "process", dying.once)
    with pytest.raises(gm.GrammeterError, match="ended without a word"):
        run(names, tmp_path / "out", block=4, jobs=2)
    assert (tmp_path / "flag").exists()
    assert not list((tmp_path / "out").glob("*.partial"))
    run(names, tmp_path / "out", block=4, jobs=2)
    assert read_rows(tmp_path / "out") == read_rows(tmp_path / "whole")


def test_a_killed_run_goes_on_and_leaves_no_process(tmp_path):
    names = write_rows(tmp_path / "in", made_rows(4000), shards=8)
    run(names, tmp_path / "whole")
    command = [sys.executable, "-m", "grammeter", "batch", *names, "-m", "gleu",
               "--reference", "reference", "-o", str(tmp_path / "out"), "--quiet"]  # fmt: skip
    process = subprocess.Popen([*command, "--jobs", "2", "--block", "50"])
    while process.poll() is None and not list((tmp_path / "out").glob("*.jsonl")):
        time.sleep(0.01)
    children = workers_of(process.pid)
    process.kill()
    process.wait()
    assert children
    end = time.monotonic() + 30
    while time.monotonic() < end and any(alive(child) for child in children):
        time.sleep(0.1)
    assert not any(alive(child) for child in children)
    done = len(list((tmp_path / "out").glob("*.jsonl")))
    assert done < 8
    subprocess.run(command, check=True, capture_output=True)
    assert read_rows(tmp_path / "out") == read_rows(tmp_path / "whole")


def test_errors_of_workers_arrive_as_they_are():
    from grammeter.core import errors

    made = [
        errors.UsageError("no", where="a:1", fix="do"),
        errors.UnknownNameError("metric", "glue", ["gleu"]),
        errors.LengthMismatchError("a", 1, "b", 2),
    ]
    for error in made:
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))
        assert vars(again) == vars(error)


def workers_of(parent):
    """Return the processes whose parent this is."""
    numbers = (int(entry) for entry in os.listdir("/proc") if entry.isdigit())
    return [number for number in numbers if stat(number)[1:2] == [str(parent)]]


def alive(number):
    return stat(number)[:1] not in ([], ["Z"])


def stat(number):
    """Return state, parent and so on of a process; nothing if there is none."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
