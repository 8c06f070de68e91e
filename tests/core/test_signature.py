"""Signatures: one line of text, read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core.signature import Signature
from grammeter.version import __version__

TEXTS = st.text() | st.text("%|:7Ca\\\n\x85\u2028é")


@given(TEXTS, st.lists(st.tuples(TEXTS, TEXTS)))
def test_signature_is_read_back(name: str, pairs: list[tuple[str, str]]) -> None:
    signature = Signature(name, tuple(pairs))
    assert Signature.parse(str(signature)) == signature


@given(TEXTS, st.lists(st.tuples(TEXTS, TEXTS)))
def test_signature_is_one_line(name: str, pairs: list[tuple[str, str]]) -> None:
    assert len(str(Signature(name, tuple(pairs))).splitlines()) <= 1


def test_letters_of_all_scripts_stay_readable() -> None:
    text = "x|model:/Modelle/größe 模型|rule:gold(um=skip, missing=other)"
    assert str(Signature.parse(text)) == text


def test_names_that_are_no_utf_8_are_kept() -> None:
    """Python gives such names of files as lone surrogates."""
    signature = Signature("x", (("baseline", "\udcff"),))
    assert Signature.parse(str(signature)) == signature


def test_settings_in_their_order_and_the_version_last() -> None:
    given_ = {"beta": 0.5, "case": False, "model": None, "order": 4}
    assert str(Signature.of("x", given_)) == (
        f"x|beta:0.5|case:false|model:none|order:4|version:{__version__}"
    )


def test_extended_keeps_the_version_last_and_replaces() -> None:
    longer = Signature.of("x", {"a": 1, "b": 2}).extended({"b": 3, "c": True})
    assert list(longer) == [("a", "1"), ("b", "3"), ("c", "true"), ("version", __version__)]
    assert longer["c"] == "true"


def test_a_metric_may_have_a_version_of_its_own() -> None:
    """CLEME has; the package's stands last and is the one that is found by name."""
    signature = Signature.of("cleme", {"version": 2, "beta": 0.5})
    assert str(signature) == f"cleme|version:2|beta:0.5|version:{__version__}"
    longer = signature.extended({"refs": 2})
    assert str(longer) == f"cleme|version:2|beta:0.5|refs:2|version:{__version__}"
    assert longer["version"] == __version__


def test_a_signature_without_version_is_extended_too() -> None:
    extended = Signature.parse("m2|beta:0.5").extended({"refs": 2})
    assert list(extended)[:2] == [("beta", "0.5"), ("refs", "2")]


def test_what_is_no_signature() -> None:
    with pytest.raises(ValueError, match="'beta' has no colon"):
        Signature.parse("m2|beta")
