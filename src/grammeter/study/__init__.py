"""Planning a human study: which items to show, to whom, and how many."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
