"""Two sentences to counts: lattices, alignments, n-grams, chunks, partial corrections."""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)
