"""Options that several verbs take, and whose two names every one of them understands."""

import pytest

from grammeter.cli.parser import parser_of

FILES = {
    "rank": ["j"],
    "compare": ["s"],
    "meta": ["sentence", "s", "j"],
    "report": ["s", "-o", "r"],
}


@pytest.mark.parametrize("verb", FILES)
@pytest.mark.parametrize("name", ["--resamples", "--bootstrap"])
def test_every_verb_understands_both_names_of_the_resamples(verb, name):
    assert parser_of(verb).parse_args([*FILES[verb], name, "7"]).resamples == 7


@pytest.mark.parametrize("verb", ["rank", "meta"])
@pytest.mark.parametrize("name", ["--extraction", "--pairs"])
def test_both_names_of_the_extraction(verb, name):
    assert parser_of(verb).parse_args([*FILES[verb], name, "unexpanded"]).extraction == "unexpanded"
