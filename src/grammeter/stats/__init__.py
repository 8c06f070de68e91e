"""Numbers only: resampling, tests, corrections. Knows no metric and reads no file."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
