"""The compositions: one function and one result for each verb of the command line."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
