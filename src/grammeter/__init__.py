"""Measure grammatical error correction systems, and measure the measures.

::

    import grammeter as gm

    corpus = gm.read_corpus(source="src.txt", references=["gold.m2"], systems=["out/A", "out/B"])
    table = gm.score(corpus, ["m2", "gleu"])
    table["m2"]["A"].value

All names stand in the stub beside this file; each is loaded when it is first used.
"""

from grammeter.version import __version__ as __version__


def __getattr__(name: str) -> object:
    from grammeter.core import door

    return door(__name__)[0](name)


def __dir__() -> list[str]:
    from grammeter.core import door

    return door(__name__)[1]()
