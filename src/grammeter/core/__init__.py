"""Values: what every other room speaks in. Standard library, numpy and regex; reads no file."""

from grammeter.core.doors import door

__getattr__, __dir__ = door(__name__)
