"""Scores and judgments to an answer to the question how good a metric is."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
