"""Metrics over more rows than memory holds: streamed, by several processes or machines, resumed."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
