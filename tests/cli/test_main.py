"""The command as such: verbs, exit codes, errors, streams."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from grammeter.cli.main import main
from grammeter.cli.output import Progress
from grammeter.cli.parser import VERBS, parser_of
from grammeter.core import (
    DataError,
    MissingResourceError,
    RemoteError,
    UnknownNameError,
    UsageError,
)
from grammeter.resources import sample_corpus
from grammeter.version import __version__

COMMAND = [sys.executable, "-m", "grammeter"]


def shell(*arguments: str, **options) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, check=False, **options)


@pytest.fixture
def verb(monkeypatch: pytest.MonkeyPatch):
    """Put a verb of our own in the place of ``cite``."""

    def put(run) -> None:
        module = SimpleNamespace(run_cite=run)
        monkeypatch.setitem(sys.modules, "grammeter.cli.results", module)

    return put


def fail(error: BaseException):
    def run(args):
        raise error

    return run


def test_without_arguments_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    out = capsys.readouterr().out
    for name, meaning in VERBS.items():
        assert f"  {name}" in out
        assert meaning in out


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])
    assert caught.value.code == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(f"usage: grammeter {name} ")
    assert "--debug" in printed.out
    assert printed.err == ""
    assert all(parser.get_default("run") for parser in parser_of(name).parsers())


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"grammeter {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["scor"], ["score", "--no-such"], ["rank"], ["list", "--form", "json"]]
)
def test_wrong_usage_is_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "error:" in printed.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("wrong", fix="Do it so."), 2),
        (UnknownNameError("metric", "gleo", ["gleu"]), 2),
        (DataError("wrong", where="a.m2:3", fix="Mend it."), 3),
        (MissingResourceError("no model", fix="Run: get it"), 4),
        (RemoteError("no answer"), 5),
    ],
)
def test_errors_are_a_short_block_and_a_code(
    verb, error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    verb(fail(error))
    assert main(["cite"]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    first, *others = printed.err.splitlines()
    assert first == "grammeter: " + str(error).splitlines()[0]
    assert others == str(error).splitlines()[1:]


def test_a_traceback_only_with_debug(verb, capsys: pytest.CaptureFixture[str]) -> None:
    verb(fail(DataError("wrong", where="a.m2:3")))
    assert main(["cite", "--debug"]) == 3
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "a.m2:3: wrong" in err


def test_messages_cannot_forge_the_terminal(verb, capsys: pytest.CaptureFixture[str]) -> None:
    verb(fail(DataError("\x1b[31mred\u202e", where="a\x07")))
    assert main(["cite"]) == 3
    assert capsys.readouterr().err == "grammeter: a: [31mred\n"


def test_interrupted_is_130(verb, capsys: pytest.CaptureFixture[str]) -> None:
    verb(fail(KeyboardInterrupt()))
    assert main(["cite"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_the_code_of_the_verb_is_returned(verb) -> None:
    verb(lambda args: 1)
    assert main(["cite"]) == 1


def test_standard_output_may_be_any_file() -> None:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["cite"]) == 0
    assert out.getvalue().startswith("@software{grammeter")


def test_as_a_module_and_as_a_script() -> None:
    done = shell("--version")
    assert (done.returncode, done.stdout.decode()) == (0, f"grammeter {__version__}\n")
    script = Path(sys.executable).with_name("grammeter")
    if script.exists():
        assert subprocess.run([script, "--version"], capture_output=True).stdout == done.stdout


def test_exit_codes_reach_the_shell(tmp_path: Path) -> None:
    done = shell("explain", "nowhere.json", "--system", "A", "--line", "1", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr == b"grammeter: nowhere.json: there is no such file\n  Check the path.\n"
    assert shell("list", "gleo").returncode == 2


def test_output_is_utf_8_whatever_the_locale(tmp_path: Path) -> None:
    (tmp_path / "größe.txt").write_text("a\n", encoding="utf-8")
    arguments = ["score", "-s", "größe.txt", "-r", "größe.txt", "-m", "green(order=1)"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = shell(
        *arguments, "--hyps", "größe.txt", "--format", "tsv", cwd=tmp_path, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode("utf-8").splitlines()[1].startswith("größe\t1.0")


@pytest.mark.parametrize("lines", [0, 1])
def test_a_reader_that_goes_away_is_no_error(lines: int) -> None:
    sample = sample_corpus()
    systems = [str(path) for path in sample.glob("systems/*.txt")] * 4
    names = [f"system{number}" for number in range(len(systems))]
    arguments = ["score", "-r", str(sample / "gold.m2"), "-m", "m2", "--segments", "-"]
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--hyps", *systems, "--names", *names],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    assert process.stderr
    for _ in range(lines):
        process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), err) == (0, b"")


def test_progress_draws_only_long_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 0.0, 0.5, 2.0, 2.1, 2.15, 2.3, 9.0])
    monkeypatch.setattr("grammeter.cli.output.time.monotonic", lambda: next(clock))
    progress = Progress()
    for done in range(6):
        progress("m2", done, 0)  # the total is not known
    err = capsys.readouterr().err
    assert err.count("\r") == 2
    assert "m2: 2 (1/s)" in err
    progress("m2", 90, 90)
    progress.clear()
    progress.clear()
    assert capsys.readouterr().err.endswith("m2: 90 of 90 (10/s, 0 s left)\r\x1b[K")


def test_an_option_of_several_values_given_twice_has_them_all():
    args = parser_of("score").parse_args(
        ["-r", "a", "-m", "m2", "gleu", "--hyps", "x", "-m", "green", "--hyps", "y", "z"]
    )
    assert (args.metrics, args.hyps) == (["m2", "gleu", "green"], ["x", "y", "z"])


def test_what_is_given_takes_the_place_of_a_default():
    parse = parser_of("train").parse_args
    given = ["some", "--scores", "t.csv", "-o", "out", "--criteria", "fluency"]
    assert parse(given).criteria == ["fluency"]
    assert parse([*given, "--criteria", "meaning"]).criteria == ["fluency", "meaning"]
    assert list(parse(given[:-2]).criteria) == ["grammaticality", "fluency", "meaning"]
