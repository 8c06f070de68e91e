"""Measure grammatical error correction systems, and measure the measures.

::

    import grammeter as gm

    corpus = gm.read_corpus(source="src.txt", references=["gold.m2"], systems=["out/A", "out/B"])
    table = gm.score(corpus, ["m2", "gleu"])
    table["m2"]["A"].value

All names stand in the stub beside this file; each is loaded when it is first used.
"""

import sys

from grammeter.version import __version__ as __version__


class _OldPaths:
    """Asks :mod:`grammeter.core.old_paths` for modules of ours that are not there."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> object:
        if not name.startswith("grammeter."):
            return None
        from grammeter.core import old_module

        return old_module(name)


sys.meta_path.append(_OldPaths)  # pyright: ignore[reportArgumentType]


def __getattr__(name: str) -> object:
    from grammeter.core import door

    return door(__name__)[0](name)


def __dir__() -> list[str]:
    from grammeter.core import door

    return door(__name__)[1]()
