"""Two sentences to typed edits, as ERRANT makes them: parse, align, merge, classify."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
