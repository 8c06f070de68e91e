"""Metrics, one file each; they meet only through :mod:`~grammeter.metrics.base`."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
