"""Signatures: everything a number depends on, in one line of text."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from grammeter.version import __version__

_SPECIAL = re.compile("[%|:\\\\\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What separates, what begins an escape, and what could end a line."""

_VERSION = "version"


@dataclass(frozen=True)
class Signature:
    """Ordered ``key:value`` pairs after a name; the package's version stands last.

    ``str`` gives ``m2|beta:0.5|refs:2|version:0.1.0``; :meth:`parse` reads it back. ``|``,
    ``%``, backslashes and control characters are percent-encoded, ``:`` in the name and keys, too;
    letters of all scripts stay readable.
    """

    name: str
    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, name: str, settings: Mapping[str, object]) -> "Signature":
        """Build a signature from settings, in order; the package's version is added if absent."""
        words = {True: "true", False: "false", None: "none"}
        special = (bool, type(None))
        pairs = [(k, words[v] if isinstance(v, special) else str(v)) for k, v in settings.items()]
        return cls(name, (*pairs, (_VERSION, __version__)))

    @classmethod
    def parse(cls, text: str) -> "Signature":
        """Read what ``str`` wrote; a part without a colon is a ValueError."""
        name, *parts = text.split("|")
        pairs: list[tuple[str, str]] = []
        for part in parts:
            key, colon, value = part.partition(":")
            if not colon:
                raise ValueError(f"not a signature: {part!r} has no colon")
            pairs.append((unquote(key), unquote(value)))
        return cls(unquote(name), tuple(pairs))

    def __str__(self) -> str:
        return "|".join([_escape(self.name), *(f"{_escape(k)}:{_escape(v, ':')}" for k, v in self)])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.pairs)

    def __getitem__(self, key: str) -> str:
        return dict(self.pairs)[key]

    def extended(self, settings: Mapping[str, object]) -> "Signature":
        """Return a signature with more settings before the version.

        Where another version of this package made the first part, it is kept as ``scored-by``.
        """
        versioned = bool(self.pairs) and self.pairs[-1][0] == _VERSION
        own: dict[str, object] = dict(self.pairs[:-1] if versioned else self.pairs)
        if versioned and self.pairs[-1][1] != __version__:
            own["scored-by"] = self.pairs[-1][1]
        return Signature.of(self.name, own | dict(settings))


def _escape(text: str, safe: str = "") -> str:
    return _SPECIAL.sub(lambda found: quote(found[0], safe=safe), text)
