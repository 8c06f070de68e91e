"""A Codabench bundle from end to end: ``input/ref``, ``input/res``, ``output/scores.json``."""

import json
import subprocess
import sys

import pytest

import grammeter as gm
from grammeter.adapters.codabench import main, score_submission
from grammeter.core import DataError
from grammeter.resources import sample_corpus

SAMPLE = sample_corpus()


@pytest.fixture
def bundle(tmp_path):
    """A folder as Codabench lays it out, with the sample corpus as reference data."""
    (tmp_path / "ref").mkdir()
    (tmp_path / "res" / "inner").mkdir(parents=True)
    for name, origin in (
        ("ref/source.txt", "source.txt"),
        ("ref/gold.m2", "gold.m2"),
        ("res/inner/Careful.txt", "systems/Careful.txt"),
        ("res/.hidden", "source.txt"),
    ):
        (tmp_path / name).write_bytes((SAMPLE / origin).read_bytes())
    return tmp_path


def expected(metric, references):
    corpus = gm.read_corpus(
        source=SAMPLE / "source.txt",
        references=references,
        systems={"it": SAMPLE / "systems/Careful.txt"},
    )
    return gm.score(corpus, [metric])[metric]["it"].value


def ended(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    return stop.value.code


def test_the_module_runs_as_a_program(bundle):
    done = subprocess.run(
        [sys.executable, "-m", "grammeter.adapters.codabench", bundle, bundle / "out",
         "-m", "m2", "gleu(references=expected)"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads((bundle / "out" / "scores.json").read_text()) == {
        name: expected(name, [SAMPLE / "gold.m2"]) for name in ("m2", "gleu(references=expected)")
    }


def test_references_may_be_texts(bundle):
    (bundle / "ref" / "gold.m2").unlink()
    for number in (0, 1):
        text = (SAMPLE / f"ref{number}.txt").read_bytes()
        (bundle / "ref" / f"reference{number}.txt").write_bytes(text)
    result = score_submission(bundle, bundle / "out", ["gleu"], percent=True)
    both = [SAMPLE / "ref0.txt", SAMPLE / "ref1.txt"]
    assert result == {"gleu": 100 * expected("gleu", both)}


@pytest.mark.parametrize(
    ("take", "put", "said"),
    [
        ("res/inner/Careful.txt", None, "0 files"),
        (None, "res/more.txt", "2 files"),
        ("ref/source.txt", None, "source.txt"),
        ("ref/gold.m2", None, "gold.m2"),
        ("res/inner/Careful.txt", "res/short.txt", "1 line"),
    ],
)
def test_a_bundle_that_is_not_whole_is_told_in_one_line(bundle, capsys, take, put, said):
    if take:
        (bundle / take).unlink()
    if put:
        (bundle / put).write_text("one line\n")
    assert ended(str(bundle), str(bundle / "out")) == 3
    message = capsys.readouterr()
    assert said in message.err
    assert "Traceback" not in message.err
    assert not (bundle / "out").exists()
    with pytest.raises(DataError):
        score_submission(bundle, bundle / "out", ["m2"])


def test_a_wrong_metric_is_wrong_usage(bundle, capsys):
    assert ended(str(bundle), str(bundle / "out"), "-m", "glue") == 2
    assert "gleu" in capsys.readouterr().err


def test_files_that_codabench_and_packers_add_are_no_submission(bundle):
    (bundle / "res" / "metadata").write_text("exitCode: 0\n")
    (bundle / "res" / "__MACOSX").mkdir()
    (bundle / "res" / "__MACOSX" / "._Careful.txt").write_bytes(b"\0")
    result = score_submission(bundle, bundle / "out", ["m2"])
    assert result == {"m2": expected("m2", [SAMPLE / "gold.m2"])}


def test_an_output_that_cannot_be_written_is_told(bundle, capsys):
    (bundle / "out").write_text("a file")
    assert ended(str(bundle), str(bundle / "out")) == 3
    assert "Traceback" not in capsys.readouterr().err
