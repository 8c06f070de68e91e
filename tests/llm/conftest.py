"""What the tests of the client share."""

from __future__ import annotations

from functools import partial

import pytest

import llm_calls


@pytest.fixture
def endpoint(tmp_path):
    """A maker of endpoints that keep their replies in one folder: ``endpoint(server, ...)``."""
    return partial(llm_calls.patient, folder=tmp_path)
