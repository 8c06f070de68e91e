"""Corpus and metrics to scores: the only loop over systems and metrics."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
