"""All rules of campaigns, loaded when first used: they need Django's settings."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
