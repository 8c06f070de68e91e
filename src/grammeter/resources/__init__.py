"""Data that ship with the package, and where they lie. No code but this."""

from importlib.resources import files
from pathlib import Path


def sample_corpus() -> Path:
    """Return the folder of the built-in sample corpus.

    It holds ``source.txt``, ``gold.m2``, ``ref0.txt``, ``ref1.txt``, ``systems/*.txt`` and
    ``judgments.xml``: 64 invented learner sentences under CC0, described in its README.
    """
    return Path(str(files("grammeter.resources") / "sample"))
