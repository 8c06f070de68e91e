"""Flags that are parameters of functions which are not imported."""

from __future__ import annotations

import argparse
import inspect
from importlib import import_module
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from grammeter.cli import flags


def imported(function):
    room, _, name = function.rpartition(".")
    return getattr(import_module(f"grammeter.{room}"), name)


@pytest.mark.parametrize("function", sorted(flags._known()))
def test_names_and_defaults_are_those_of_the_function(function):
    signature = inspect.signature(imported(function)).parameters
    for name, known in flags._known()[function].items():
        default = signature[name].default
        if "action" in known:
            assert default is (known["action"] == "store_false")
            continue
        assert known["required"] == (default is inspect.Parameter.empty)
        if not known["required"]:
            usual = known["default"]
            assert (tuple(usual) if isinstance(usual, list) else usual) == default


@pytest.mark.parametrize(
    ("function", "name"),
    [("verbs.agree", "kappa"), ("engine.batch", "engine"), ("llm.Endpoint", "offline"),
     ("formats.read_corpus", "um"), ("verbs.compare", "correction")],
)  # fmt: skip
def test_choices_are_those_of_the_annotation(function, name):
    hint = get_type_hints(imported(function)).get(name)
    parser = argparse.ArgumentParser()
    flags.add_options(parser, function, name)
    action = parser._actions[-1]
    assert (action.choices or ()) == (get_args(hint) if get_origin(hint) is Literal else ())


def test_a_parameter_becomes_an_option(capsys):
    parser = argparse.ArgumentParser(prog="try")
    flags.add_options(parser, "verbs.rank", "head_to_head validate resamples drop")
    flags.add_options(parser, "verbs.compare", {"types": "by type", "confidence": "how wide"})
    flags.add_options(parser, "campaign.campaign_create", "background overlap n")
    usual = vars(parser.parse_args([]))
    assert usual == {
        "head_to_head": False, "validate": None, "resamples": None, "drop": (), "types": False,
        "confidence": 0.95, "background": True, "overlap": 0, "n": None,
    }  # fmt: skip
    written = "--head-to-head --validate 9 --bootstrap 7 --drop a b --types --no-background -n 3"
    args = parser.parse_args([*written.split(), "--overlap", "20%", "--confidence", ".9"])
    assert vars(args) == {
        "head_to_head": True, "validate": 9, "resamples": 7, "drop": ["a", "b"], "types": True,
        "confidence": 0.9, "background": False, "overlap": 0.2, "n": 3,
    }  # fmt: skip
    with pytest.raises(SystemExit):
        parser.parse_args(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "--types [operation|main|full]" in shown
    assert "--confidence C how wide; default: 0.95" in shown
    assert "--validate FOLDS instead of a ranking: measure by cross-validation" in shown


def test_a_docstring_that_points_at_another_function_has_its_sentence():
    text = flags._known()["verbs.train_some"]["batch_size"]["help"]
    assert text == flags._known()["verbs.train_impara"]["batch_size"]["help"]
    assert text.startswith("examples")


def test_the_options_of_a_function_are_passed_on():
    args = argparse.Namespace(seed=2, resamples=5, quiet=True)

    def draw(corpus, *, seed, resamples=1, times=3):
        return corpus, seed, resamples, times

    assert flags.call(args, draw, corpus="texts") == ("texts", 2, 5, 3)
    assert flags.options(args, draw, seed=7) == {"seed": 7, "resamples": 5}
