"""Law 4: what is asked for changes the result, or is refused, or a note says that it did nothing.

Each option of each verb that prints a result is tried beside a plain command, alone.
"""

from __future__ import annotations

import re
from argparse import SUPPRESS

import pytest

import page_examples
from grammeter.cli.parser import parser_of

BASES = {
    "score": "score -s source.txt -r gold.m2 -m m2 gleu --hyps out/Careful.txt out/Eager.txt",
    "compare": "compare scores.json -m m2",
    "explain": "explain scores.json --system Careful --line 1",
    "rank": "rank people.jsonl",
    "agree": "agree people.jsonl",
    "sample": "sample -s source.txt --hyps out/Careful.txt out/Eager.txt out/Fluent.txt -n 8",
    "meta system": "meta system scores.json people.jsonl",
    "meta sentence": "meta sentence scores.json people.jsonl",
    "meta edits": "meta edits edits.jsonl -r gold.m2",
    "meta window": "meta window scores.json people.jsonl",
    "meta beta": "meta beta scores.json people.jsonl -m m2 --beta 0.5,1",
    "meta attack": "meta attack -s source.txt -r gold.m2 -m gleu --hyps out/Careful.txt",
    "meta maege": "meta maege -r gold.m2 -m gleu",
    "combine": "combine -s source.txt --hyps out/Careful.txt out/Eager.txt out/Fluent.txt",
    "robustness": "robustness para.txt --hyps variants.txt -m errant(pipeline=neutral)",
    "edits extract": "edits extract -orig source.txt -cor out/Fluent.txt -out - --pipeline neutral",
    "edits compare": "edits compare -hyp Careful.m2 -ref Fluent.m2",
}

VALUES = {
    "--source": ["ref0.txt"],
    "--references": ["ref0.txt"],
    "--hyps": ["out/Echo.txt", "out/Fluent.txt"],
    "--names": ["one two", "a b c"],
    "--corpus": ["corpus.jsonl"],
    "--metrics": ["gleu"],
    "--metric": ["gleu", "m2"],
    "--normalise": ["NFD"],
    "--tokenize": ["corpus", "spacy:en", "whitespace"],
    "--raw": ["ref0.txt"],
    "--para": ["texts.tsv"],
    "--resources": ["."],
    "--documents": ["texts.tsv:document"],
    "--unit": ["document", "ranking", "pair"],
    "--group-by": ["texts.tsv:kind", "texts.tsv:none"],
    "--fail-under": ["m2=0.9"],
    "--fail-if-worse": ["scores.json"],
    "--parts": ["precision"],
    "--types": ["", "operation"],
    "--baseline": ["Eager"],
    "--difference": ["Careful Eager"],
    "--systems": ["Careful Eager Echo Fluent Speller", "Careful Eager Echo Thorough"],
    "--drop": ["Eager"],
    "--attack": ["copy empty", "shuffle", "constant=Fine", "none"],
    "--attacked": ["out/Eager.txt"],
    "--weights": ["Eager=2", "Nobody=2"],
    "--least": ["1"],
    "--share": ["0"],
    "--judge": ["judge01"],
    "--without-judge": ["judge01"],
    "--confidence": ["0.6"],
    "--first-segment": ["0"],
    "--criterion": ["fluency"],
    "--missing-score": ["0"],
    "--scale": ["0-100"],
    "--validate": ["5"],
    "--permutations": ["20"],
    "--learning-curve": [""],
    "--drop-outliers": ["1"],
    "--aggregate": ["mean"],
    "--resamples": ["50"],
    "--prior": ["0.5"],
    "--benchmark": [],
    "--data": ["."],
    "--judges": ["a b", "3"],
    "--per-item": ["2"],
    "--scores": ["scores.json"],
    "--overlap": ["3"],
    "--sharers": ["2"],
    "--repeats": ["2"],
    "--beta": ["0.2", "0.1:0.3:0.1"],
    "--values": ["values.tsv"],
    "--size": ["3"],
    "--cutoff": ["2"],
    "--pipeline": ["plain"],
    "--parse": ["parse.conllu"],
    "--limit": ["10"],
    "--system": ["Eager"],
    "--line": ["2"],
    "--merge": ["all-split"],
    "-orig": ["ref0.txt"],
    "-cor": ["ref0.txt"],
    "-hyp": ["Fluent.m2"],
    "-ref": ["Careful.m2"],
    "-n": ["3"],
    "-b": ["1.0"],
    "-filt": ["R:PREP"],
    "--resample": ["50"],
    "--device": ["cuda:1"],
    "--batch-tokens": ["50"],
    "--cache-dir": ["cache"],
    "--base-url": ["http://127.0.0.1:9/v1"],
    "--key-variable": ["KEY"],
    "--prices": ["prices.json"],
    "--system-message": ["Be kind."],
    "--body": ["seed=1"],
}

FILES = {"--output", "--segments", "--figure", "--figure-williams", "--probabilities", "-out"}
"""Options that write a file beside the result: tests of their verbs look into it."""

SILENT = {"--help", "--debug", "--quiet", "--format"}
"""How it is printed: test_notes and the tests of tables look at that."""

SAME_RESULT = {"--processes", "--jobs"}
"""Work in parallel, which must change nothing."""

DEFAULTS = {
    "rank --by expected-wins",
    "rank --unit sentence",
    "rank --divisor all-opponents",
    "meta system --by expected-wins",
    "meta window --by expected-wins",
    "meta beta --by expected-wins",
    "meta beta --metric m2",
    "meta beta --choice anew",
    "meta maege --metrics gleu",
    "edits extract --rules neutral",
    "score --tokenize whitespace",
    "sample --tokenize whitespace",
    "meta maege --tokenize whitespace",
    "combine --tokenize whitespace",
    "meta attack --tokenize whitespace",
    "meta attack --metrics gleu",
    "edits compare --scheme errant",
}
"""What says in words what holds anyway."""

CHANCE = {
    "sample --source ref0.txt": "items are drawn by the outputs; sources are those of the corpus",
    "edits extract -lev": "a pipeline without types aligns so anyway",
    "edits compare -cs": "that scores nothing otherwise here",
    "edits compare -filt R:PREP": "the edits of a pipeline without types have none of this type",
}
"""What would change other data."""


def options():
    for verb in BASES:
        first, *action = verb.split()
        for parser in parser_of(first).parsers():
            if action and not parser.prog.endswith(f" {action[0]}"):
                continue
            for option in parser._actions:
                yield from tried(verb, option)


def tried(verb, option):
    name = next((s for s in option.option_strings if s.startswith("--")), None)
    name = name or next(iter(option.option_strings), None)
    if name is None or option.help is SUPPRESS or name in FILES | SILENT | SAME_RESULT:
        return
    for value in values(name, option):
        if f"{verb} {name} {value}".strip() in DEFAULTS | CHANCE.keys():
            continue
        yield pytest.param(verb, f"{name} {value}".strip(), id=f"{verb} {name} {value}".strip())


def values(name, option):
    if option.nargs == 0:
        return [""]
    if option.choices and option.type is None:
        chosen = VALUES.get(name, option.choices)
        return [each for each in chosen if each != option.default] or list(option.choices)
    if name in VALUES:
        return VALUES[name]
    if option.type is int:
        return [str((option.default if isinstance(option.default, int) else 1) + 1)]
    if option.type is float:
        return ["0.7"]
    raise AssertionError(f"say in VALUES what to try for {name}")


@pytest.fixture(scope="module")
def more(folder):
    """What some options need besides."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        made = BASES["edits extract"].replace("-out -", "-out Fluent.m2")
        assert page_examples.run(f"grammeter {made}")[0] == 0
    return folder


@pytest.fixture(scope="module")
def plain():
    return {}


@pytest.mark.parametrize(("verb", "option"), list(options()))
def test_an_option_does_something_or_is_refused(verb, option, more, plain, monkeypatch):
    monkeypatch.chdir(more)
    forms = ["", " --format json"] if "--format" in page_help(verb) else [""]
    if verb not in plain:
        plain[verb] = [page_examples.run(f"grammeter {BASES[verb]}{form}") for form in forms]
        assert all(code == 0 for code, _ in plain[verb])
    asked = [
        page_examples.run(f"grammeter {replaced(BASES[verb], option)}{form}") for form in forms
    ]
    if any(code in (1, 2, 3, 4) for code, _ in asked):
        assert all("Traceback" not in text for _, text in asked)
        return
    assert [code for code, _ in asked] == [0] * len(forms), asked[0][1]
    words = option.split()[0]
    noted = any(words in line for line in asked[0][1].splitlines() if line.startswith("note: "))
    assert noted or asked != plain[verb], "neither another result nor a note"


def page_help(verb):
    return page_examples.run(f"grammeter {verb} --help")[1]


def replaced(command, option):
    """Return a command with an option, which takes the place of the same one there."""
    name = option.split()[0]
    short = {"--metrics": "-m", "--metric": "-m", "--source": "-s", "--references": "-r"}.get(
        name, name
    )
    words, keep = [], True
    for word in command.split():
        if word.startswith("-") and not re.fullmatch(r"-\d.*", word):
            keep = word not in (name, short)
        if keep:
            words.append(word)
    return " ".join([*words, option])
