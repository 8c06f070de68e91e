"""The only room that talks to a language model: prompts, their replies, a careful client."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
