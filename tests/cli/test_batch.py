"""``grammeter batch`` from end to end: files, what is said, exit codes, and a run broken off."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from made_rows import made_rows, read_rows, write_rows


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with one table of 20 rows, and the same as parallel texts."""
    monkeypatch.chdir(tmp_path)
    rows = made_rows(20)
    write_rows(tmp_path / "in", rows)
    for name in ("source", "hypothesis", "reference"):
        text = "".join(row[name] + "\n" for row in rows)
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    return tmp_path


@pytest.fixture
def batch(program):
    return partial(program, "batch")


GLEU = ("-m", "gleu", "--reference", "reference", "-o", "out")


def test_the_counts_go_to_stdout_and_nothing_else(batch):
    code, out, err = batch("in/part-0.jsonl", *GLEU)
    assert (code, out) == (0, "20 rows of 1 file, 0 with an error: out\n")
    assert err.startswith("note: 20 rows in ")
    assert len(err.splitlines()) == 1
    assert len(read_rows(Path("out"))) == 20


def test_json_is_one_object(batch):
    code, out, err = batch(
        "in/part-0.jsonl", *GLEU, "--quiet", "--format", "json", "--keep", "gleu > 0.5"
    )
    message = json.loads(out)
    remaining = len(read_rows(Path("out")))
    assert (code, err) == (0, "")
    assert 0 < remaining < 20
    assert message["kind"] == "batch-summary"
    assert (message["rows"], message["kept"], message["errors"]) == (20, remaining, 0)
    assert message["shards"] == {
        "part-0.jsonl": {"rows": 20, "kept": remaining, "errors": 0, "earlier": False}
    }


def test_faulty_rows_are_told_on_stderr_even_when_quiet(batch):
    with open("in/part-0.jsonl", "ab") as file:
        file.write(b'{"source": "a"}\nrubbish\n' * 5)
    code, out, err = batch("in/part-0.jsonl", *GLEU, "--quiet")
    assert code == 0
    lines = err.splitlines()
    assert lines[0] == "10 of 30 rows have an error:"
    assert lines[1] == "  in/part-0.jsonl:21: no hypothesis"
    assert lines[2].startswith("  in/part-0.jsonl:22: no JSON")
    assert lines[6] == "  and 5 more; all in out/errors"
    assert "10 with an error" in out
    listed = Path("out/errors/part-0.jsonl.tsv").read_text().splitlines()
    assert len(listed) == 11


def test_the_same_command_again_does_nothing_twice(batch):
    batch("in/part-0.jsonl", *GLEU)
    before = Path("out/part-0.jsonl").stat().st_mtime_ns
    code, out, err = batch("in/part-0.jsonl", *GLEU, "--format", "json")
    assert code == 0
    assert "1 of 1 file finished already" in err
    assert json.loads(out)["shards"]["part-0.jsonl"]["earlier"] is True
    assert Path("out/part-0.jsonl").stat().st_mtime_ns == before


def test_parallel_texts_become_a_table(batch):
    code, _, _ = batch("source.txt:hypothesis.txt:reference.txt", "-m", "gleu", "-o", "out")
    assert code == 0
    head, *lines = Path("out/hypothesis.tsv").read_text().splitlines()
    assert head == "source\thypothesis\treference\tgleu\terror"
    batch("in/part-0.jsonl", "-m", "gleu", "--reference", "reference", "-o", "rows")
    assert [float(line.split("\t")[3]) for line in lines] == [
        row["gleu"] for row in read_rows(Path("rows"))
    ]


def test_patterns_packed_files_and_two_processes(batch):
    write_rows(Path("many"), made_rows(30), shards=3)
    for path in Path("many").iterdir():
        Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    code, out, _ = batch("many/*.gz", *GLEU, "--jobs", "2", "--block", "4")
    assert code == 0
    assert out.startswith("30 rows of 3 files,")
    names = [path.name for path in sorted(Path("out").glob("part*"))]
    assert names == ["part-0.jsonl.gz", "part-1.jsonl.gz", "part-2.jsonl.gz"]
    with gzip.open("out/part-1.jsonl.gz", "rt", encoding="utf-8") as file:
        assert [json.loads(line)["id"] for line in file] == list(range(1, 30, 3))


def test_edits_are_counted_without_a_reference_and_that_is_told(batch):
    metrics = ("-m", "m2", "errant(pipeline=neutral)", "-o", "out", "--edits", "m2")
    code, _, err = batch("in/part-0.jsonl", *metrics)
    assert code == 0
    assert "note: m2 needs gold edits" in err
    assert "note: errant(pipeline=neutral): no references" in err
    row = read_rows(Path("out"))[0]
    assert list(row)[4:] == ["m2.edits", "m2.m2", "errant(pipeline=neutral).edits",
                             "errant(pipeline=neutral).m2", "error"]  # fmt: skip


def test_one_run_s_output_is_the_next_one_s_input(batch):
    with open("in/part-0.jsonl", "a", encoding="utf-8") as file:
        file.write('{"source": "a"}\n')
    batch("in/part-0.jsonl", *GLEU)
    more = ("-m", "chrf", "--reference", "reference", "-o", "both")
    code, _, err = batch("out/part-0.jsonl", *more)
    assert code == 0
    assert "out/part-0.jsonl:21: no hypothesis" in err
    *rows, last = read_rows(Path("both"))
    assert list(rows[0])[-3:] == ["gleu", "chrf", "error"]
    assert all(row["gleu"] is not None and row["chrf"] is not None for row in rows)
    assert (last["gleu"], last["chrf"], last["error"]) == (None, None, "no hypothesis")


@pytest.mark.parametrize("form", ["tsv", "csv", "parquet"])
def test_chained_runs_in_all_forms(batch, form):
    if form == "parquet":
        pytest.importorskip("pyarrow")
    texts = "source.txt:hypothesis.txt:reference.txt"
    batch(texts, "-m", "gleu", "-o", "out", "--output-form", form)
    more = ("--reference", "reference", "-m", "chrf", "-o", "both", "--output-form", "tsv")
    code, _, err = batch(f"out/hypothesis.{form}", *more, "--quiet")
    assert (code, err) == (0, "")
    head = Path("both/hypothesis.tsv").read_text().splitlines()[0]
    assert head == "source\thypothesis\treference\tgleu\tchrf\terror"


def test_odd_line_ends_are_told(batch):
    Path("a.tsv").write_bytes(b"\xef\xbb\xbfsource\thypothesis\r\na b\ta c\r\n")
    code, _, err = batch("a.tsv", "-m", "m2", "-o", "out")
    assert code == 0
    assert "a.tsv: begins with a byte order mark" in err
    assert "CR LF" in err
    assert Path("out/a.tsv").read_text().endswith("a b\ta c\t1\t\n")


SOUND = "in/part-0.jsonl"
WRONG = {
    "a missing file": (["no.jsonl", *GLEU], 3, "no.jsonl: there is no such file"),
    "a pattern of nothing": (["no/*.jsonl", *GLEU], 3, "no file fits"),
    "a folder": (["in", *GLEU], 3, "no such file"),
    "standard input": (["-", *GLEU], 2, "standard input"),
    "a name without format": (["source.txt", *GLEU], 2, "does not tell the format"),
    "unequal texts": (["source.txt:short.txt", "-m", "m2", "-o", "out"], 3, "short.txt: ends"),
    "longer texts": (["short.txt:source.txt", "-m", "m2", "-o", "out"], 3, "short.txt: ends"),
    "an empty table": (["empty.tsv", *GLEU], 3, "empty.tsv:1"),
    "no such column": ([SOUND, *GLEU, "--source", "src"], 3, "part-0.jsonl: no column 'src'"),
    "a column of ours": (["taken.jsonl", *GLEU], 3, "taken.jsonl: there is a column 'gleu'"),
    "errors of others": (["errors.jsonl", *GLEU], 3, "there is a column 'error' already"),
    "a filter that ends": ([SOUND, *GLEU, "--keep", "gleu >"], 2, "read the filter"),
    "an unknown column in it": ([SOUND, *GLEU, "--keep", "glue > 1"], 2, "'gleu'"),
    "a deep filter": ([SOUND, *GLEU, "--keep", "(" * 10**5 + "gleu > 1"], 2, "read the filter"),
    "an unknown metric": ([SOUND, "-m", "glue", "-o", "out"], 2, "'gleu'"),
    "a metric twice": ([SOUND, "-m", "m2", "m2", "-o", "out"], 2, "metrics are m2, m2"),
    "no reference": ([SOUND, "-m", "gleu", "-o", "out"], 2, "--reference"),
    "a metric of corpora": ([SOUND, "-m", "gotoscorer", "-o", "out"], 2, "whole corpus"),
    "a missing model": ([SOUND, "-m", "bertscore(model=no/where, layer=1)", "--reference",
                         "reference", "-o", "out"], 4, "no/where"),
    "a wrong baseline": ([SOUND, "-m", "errant(pipeline=no/where)", "-o", "out"], 4, "no/where"),
    "no processes": ([SOUND, *GLEU, "--jobs", "0"], 2, "0 processes"),
    "no tokens": ([SOUND, *GLEU, "--longest", "0"], 2, "0 tokens"),
    "another form": ([SOUND, *GLEU, "--output-form", "tsv"], 2, "columns"),
    "a folder under a file": ([SOUND, "-m", "m2", "-o", "source.txt/out"], 3, "source.txt/out"),
    "its own input": ([SOUND, "-m", "m2", "-o", "in"], 2, "which is taken"),
    "a file of others": ([SOUND, "-m", "m2", "-o", "taken"], 2, "taken/part-0.jsonl is there"),
    "two of one name": (["x.tsv", "x.csv", "-m", "m2", "-o", "out", "--output-form", "jsonl"], 2,
                        "out/x.jsonl, which is taken"),
    "no output": ([SOUND, "-m", "m2"], 2, "-o"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_in_a_few_words(batch, case):
    Path("short.txt").write_text("a\n")
    Path("empty.tsv").write_bytes(b"")
    Path("x.tsv").write_text("source\thypothesis\na\tb\n")
    Path("x.csv").write_text("source,hypothesis\na,b\n")
    Path("taken").mkdir()
    Path("taken/part-0.jsonl").write_text("mine\n")
    for name, more in (("taken", {"gleu": 1}), ("errors", {"error": "R:VERB"})):
        text = "".join(json.dumps(row | more) + "\n" for row in made_rows(3))
        Path(f"{name}.jsonl").write_text(text)
    arguments, expected, said = WRONG[case]
    code, out, err = batch(*arguments)
    assert (code, out) == (expected, "")
    assert said in err
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) <= 3 or expected == 2
    assert not list(Path().glob("out/*.jsonl")) + list(Path().glob("out/*.partial"))
    assert Path("taken/part-0.jsonl").read_text() == "mine\n"


def test_a_damaged_file_stops_the_run_and_leaves_what_is_finished(batch):
    write_rows(Path("many"), made_rows(30), shards=3)
    Path("many/part-1.jsonl").rename("many/part-1.jsonl.gz")
    packed = gzip.compress(Path("many/part-1.jsonl.gz").read_bytes())
    Path("many/part-1.jsonl.gz").write_bytes(packed[:-9])
    for jobs in ("1", "2"):
        code, _, err = batch("many/*", *GLEU[:-1], jobs, "--jobs", jobs)
        assert code == 3
        assert "part-1.jsonl.gz: cannot be read" in err
        done = [path.name for path in Path(jobs).glob("part*")]
        assert done == ["part-0.jsonl"] or (jobs == "2" and not done)


def test_a_disk_that_is_full_is_told(batch, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        code, _, err = batch(SOUND, *GLEU)
    assert code == 3
    assert "cannot be written: No space left on device" in err
    assert "the same command goes on" in err
    code, _, _ = batch(SOUND, *GLEU)
    assert code == 0
    assert len(read_rows(Path("out"))) == 20


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_disk_that_fills_up_while_rows_are_written(batch):
    Path("out").mkdir()
    Path("out/part-0.jsonl.partial").symlink_to("/dev/full")
    code, _, err = batch(SOUND, *GLEU)
    assert code == 3
    assert "part-0.jsonl: cannot be written" in err
    assert not Path("out/part-0.jsonl").exists()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_ends_with_130_and_the_run_goes_on(folder, jobs):
    names = write_rows(folder / "many", made_rows(4000), shards=8)
    command = [sys.executable, "-m", "grammeter", "batch", *names, "-m", "gleu",
               "--reference", "reference", "--quiet"]  # fmt: skip
    subprocess.run([*command, "-o", "whole"], check=True, capture_output=True)
    process = subprocess.Popen(
        [*command, "-o", "out", "--jobs", jobs, "--block", "20"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    end = time.monotonic() + 120
    while not list(Path("out").glob("*.jsonl")) and time.monotonic() < end:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as the shell does: to the workers, too
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")
    assert not list(Path("out").glob("part*.partial"))
    assert 0 < len(list(Path("out").glob("*.jsonl"))) < 8
    subprocess.run([*command, "-o", "out"], check=True, capture_output=True)
    assert read_rows(Path("out")) == read_rows(Path("whole"))


def test_options_of_several_values_may_come_again(batch):
    names = ("-m", "green", "--reference", "source")
    assert batch("in/part-0.jsonl", *GLEU, *names)[0] == 0
    together = ("-m", "gleu", "green", "--reference", "reference", "source", "-o", "other")
    assert batch("in/part-0.jsonl", *together)[0] == 0
    assert {"gleu", "green"} <= read_rows(Path("out"))[0].keys()
    assert read_rows(Path("out")) == read_rows(Path("other"))


def test_a_notice_is_told_once(batch):
    _, _, err = batch("in/part-0.jsonl", *GLEU, "-m", "errant", "cleme")
    notes = [line for line in err.splitlines() if "rows in" not in line]
    assert len(notes) == len(set(notes))


def cut(path):
    path.write_bytes(path.read_bytes()[:-9])


def change(path):
    path.write_bytes(path.read_bytes().replace(b"1", b"2"))


@pytest.mark.parametrize("damage", [cut, change, Path.unlink])
@pytest.mark.parametrize("name", ["part-1.jsonl", "errors/part-1.jsonl.tsv"])
def test_a_finished_output_that_is_not_as_it_was_is_made_again(batch, damage, name):
    write_rows(Path("many"), [*made_rows(30), {"id": 1}, {"id": 11}], shards=2)
    whole = batch("many/*", *GLEU)
    before = {path: path.read_bytes() for path in Path("out").rglob("part*")}
    damage(Path("out") / name)
    code, out, err = batch("many/*", *GLEU, "--quiet", "--format", "json")
    assert code == 0
    assert {path: path.read_bytes() for path in Path("out").rglob("part*")} == before
    (note,) = json.loads(out)["notes"]
    assert note in err
    assert "out/part-1.jsonl" in note
    assert "made again" in note
    assert [shard["earlier"] for shard in json.loads(out)["shards"].values()] == [True, False]
    assert batch("many/*", *GLEU)[1] == whole[1]


def test_an_input_that_has_gone_is_told(batch):
    write_rows(Path("many"), made_rows(30), shards=3)
    batch("many/*", *GLEU)
    Path("many/part-1.jsonl").unlink()
    code, out, err = batch("many/*", *GLEU, "--quiet")
    assert (code, out) == (0, "20 rows of 2 files, 0 with an error: out\n")
    assert "note: part-1.jsonl is of an earlier run" in err
    code, _, err = batch("many/part-0.jsonl", "many/part-1.jsonl", *GLEU)
    assert (code, "many/part-1.jsonl: there is no such file" in err) == (3, True)
