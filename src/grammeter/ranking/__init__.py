"""Judgments to a ranking of systems, and how far to trust it."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
