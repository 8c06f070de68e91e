"""No verb writes onto a file that it reads, nor two results into one file."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grammeter.cli.main import main
from grammeter.cli.parser import READ, VERBS, WRITTEN, parser_of

TEXT = "what was there\n"
OTHERS = {
    "ACTION", "NAME", "METRIC", "METRIC=VALUE", "PART", "URL", "CODE", "X", "SYSTEM", "FILTER",
    "ADDRESS", "DIFFERENCE", "TYPE", "PAPER", "TABLE", "BETAS", "TEXT", "JUDGE", "DIR", "DEVICE",
    "MODEL", "UNIT", "LO-HI", "NAME=W", "RULE", "none|corpus|chars|spacy:NAME|syntok|whitespace",
}  # fmt: skip
"""Arguments that name neither inputs nor outputs."""


def shown(action):
    return action.metavar if isinstance(action.metavar, str) else action.dest.upper()


def commands():
    for verb in VERBS:
        yield from parser_of(verb).parsers()


def texts(parser):
    """Yield the arguments that take any text."""
    for action in parser._actions:
        if action.nargs != 0 and not action.choices and action.type is None:
            yield action


PAIRS = {
    f"{parser.prog} {other.dest} onto {output.dest}": (parser, other, output)
    for parser in commands()
    for output in texts(parser)
    if output.dest in WRITTEN and shown(output) == "FILE"
    for other in texts(parser)
    if other is not output and (other.dest in WRITTEN or shown(other) in READ)
}


def words(action, value):
    return [action.option_strings[0], value] if action.option_strings else [value]


def command_line(parser, values):
    """Return a command with these values, and with some for all that is required."""
    line = parser.prog.split()[1:]
    for action in parser._actions:
        needed = action.required and not isinstance(action, argparse._SubParsersAction)
        if action in values:
            line += words(action, values[action])
        elif needed and action.nargs != "*":
            line += words(action, "1" if action.type else "other")
    for group in parser._mutually_exclusive_groups:
        if group.required and not set(group._group_actions) & set(values):
            line += group._group_actions[0].option_strings[:1]
    return line


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("victim.xml").write_text(TEXT)
    Path("linked.xml").symlink_to("victim.xml")
    os.link("victim.xml", "second.xml")


@pytest.mark.parametrize("name", ["victim.xml", "./victim.xml", "linked.xml", "second.xml"])
@pytest.mark.parametrize("pair", PAIRS)
def test_every_output_of_every_verb_is_held_against_the_rest(pair, name, capsys):
    parser, other, output = PAIRS[pair]
    code = main(command_line(parser, {other: "victim.xml", output: name}))
    err = capsys.readouterr().err
    assert code == 2, err
    assert "take the place of a file" in err or "would be one file" in err
    assert Path("victim.xml").read_text() == TEXT


def test_two_results_that_are_new_are_not_one_file(capsys):
    line = ["score", "-s", "a", "--hyps", "b", "-m", "m2", "-o", "x", "--segments", "./x"]
    assert main(line) == 2
    assert "would be one file" in capsys.readouterr().err


@pytest.mark.parametrize("spelled", ["a.txt:victim.xml", "news=victim.xml", "n=victim.xml:b.txt"])
def test_files_inside_an_argument_are_seen(spelled, capsys):
    assert main(["train", "cross-domain", "--parallel", spelled, "-o", "victim.xml"]) == 2
    assert "take the place" in capsys.readouterr().err


def test_standard_output_may_be_an_input_or_an_output_too(tmp_path):
    line = [sys.executable, "-m", "grammeter", "rank", "victim.xml"]
    for more, said in (([], "take the place"), (["-o", "new.json"], "one file")):
        with Path(more[-1] if more else "victim.xml").open("a") as out:
            done = subprocess.run([*line, *more], stdout=out, stderr=subprocess.PIPE, text=True)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert Path("victim.xml").read_text() == TEXT


def test_devices_take_any_number(capsys):
    line = ["rank", "victim.xml", "-o", os.devnull, "--figure", os.devnull]
    main(line)
    assert "one file" not in capsys.readouterr().err


def test_it_is_known_of_every_argument_whether_it_names_a_file():
    strange = {
        f"{parser.prog} {shown(action)} {action.dest}"
        for parser in commands()
        for action in texts(parser)
        if action.dest not in WRITTEN and shown(action) not in (*READ, *OTHERS)
    }
    assert strange == set()
