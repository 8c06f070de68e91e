"""Values to text and pictures: tables, explanations, figures."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
