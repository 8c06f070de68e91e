"""What the tests of the client share."""

from __future__ import annotations

from functools import partial

import pytest

import asked


@pytest.fixture
def endpoint(tmp_path):
    """A maker of endpoints that keep their replies in one folder: ``endpoint(server, ...)``."""
    return partial(asked.patient, folder=tmp_path)
