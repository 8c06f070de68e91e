"""What the papers printed, and the recipe that makes each of their tables again."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
