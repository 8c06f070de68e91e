"""The only room that names torch or transformers: models found, loaded, asked in batches."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
