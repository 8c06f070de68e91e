"""The flags of a verb are the parameters of its function: same names, same defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import grammeter as gm
from grammeter.cli.parser import parser_of

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "score": gm.score,
    "compare": gm.compare,
    "explain": gm.explain,
    "rank": gm.rank,
    "agree": gm.agree,
    "sample": gm.sample,
    "combine": gm.combine,
    "robustness": gm.robustness,
    "batch": gm.batch,
    "meta system": gm.meta_system,
    "meta sentence": gm.meta_sentence,
    "meta window": gm.meta_window,
    "meta edits": gm.meta_edits,
    "meta beta": gm.meta_beta,
    "meta attack": gm.meta_attack,
    "meta maege": gm.meta_maege,
    "meta judge": gm.meta_judge,
    "judge": gm.judge,
    "report": gm.report,
    "reproduce": gm.reproduce,
    "train cross-domain": gm.train_cross_domain,
    "train impacts": gm.train_impacts,
    "train impara": gm.train_impara,
    "train some": gm.train_some,
}


def flags(verb: str) -> dict[str, Any]:
    parsers = parser_of(verb.partition(" ")[0]).parsers()
    (parser,) = (parser for parser in parsers if parser.prog == f"grammeter {verb}")
    return {action.dest: action for action in parser._actions}


@pytest.mark.parametrize("verb", FUNCTIONS)
def test_a_flag_and_a_parameter_of_one_name_have_one_default(verb: str) -> None:
    declared = inspect.signature(FUNCTIONS[verb]).parameters
    both = {name: action for name, action in flags(verb).items() if name in declared}
    assert both
    for name, action in both.items():
        ours, theirs = declared[name].default, action.default
        if inspect.Parameter.empty in (ours, type(None)) or action.required:
            continue
        same = theirs == ours or (not theirs and not ours) or theirs is None
        assert same, f"{verb} --{name}: {theirs!r} in the shell, {ours!r} in Python"


PRINTED = {
    "help", "debug", "format", "output", "quiet", "digits", "percent", "figure", "parts", "show",
    "segments", "differing",
}  # fmt: skip
"""How a result is printed and which files it goes into: Python has the result itself."""

READ = {
    "source", "references", "hyps", "names", "corpus", "para", "um", "missing_annotator",
    "normalise", "unjudged", "lenient", "first_segment", "scores", "judgments", "files", "more",
    "documents", "group_by", "level", "missing_essay", "missing_reference", "tokenize", "raw",
    "benchmark", "data", "layout", "missing_score", "scale",
}  # fmt: skip
"""What is read and how: Python has read_corpus, read_scores and read_judgments for that."""

MODELS = {
    "device", "dtype", "batch_tokens", "cache_dir", "download", "base_url", "key_variable",
    "concurrency", "requests_per_minute", "tokens_per_minute", "timeout", "patience", "attempts",
    "max_output", "offline", "prices", "max_cost", "max_requests", "max_tokens", "temperature",
    "top_p", "system_message", "structured", "body", "backend", "read",
}  # fmt: skip
"""How models run and are asked: Python has ``using``."""

OTHER_WORDS = {
    "train cross-domain": {"parallel": "corpora, by name"},
    "score": {"fail_under": "gm.fail_under"},
    "compare": {"fail_if_worse": "gm.fail_if_worse"},
}
"""Flags that ask for another function, and where it is."""


@pytest.mark.parametrize("verb", FUNCTIONS)
def test_every_flag_is_a_parameter(verb: str) -> None:
    declared = set(inspect.signature(FUNCTIONS[verb]).parameters)
    elsewhere = PRINTED | READ | MODELS | OTHER_WORDS.get(verb, {}).keys()
    assert set(flags(verb)) - declared - elsewhere == set()


def test_how_models_run_and_are_asked_is_said_in_one_place() -> None:
    assert set(inspect.signature(gm.using).parameters) >= MODELS
    fields = {
        name for kind in (gm.Runtime, gm.Endpoint) for name in inspect.signature(kind).parameters
    }
    assert fields - set(inspect.signature(gm.using).parameters) == {"tally", "backoff"}


@pytest.mark.parametrize("verb", FUNCTIONS)
def test_what_is_drawn_again_is_resamples_and_seed_everywhere(verb: str) -> None:
    for names in (set(flags(verb)), set(inspect.signature(FUNCTIONS[verb]).parameters)):
        assert not names & {"n_resamples", "iterations", "random_state"}
        assert "bootstrap" not in names or "resamples" in names
