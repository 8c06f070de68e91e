"""Files to values and back: one module a format, reader and writer side by side."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
