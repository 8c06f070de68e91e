"""Results that are asked by name: of a metric, a system, a coefficient."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, TypeVar

from grammeter.core.errors import UnknownNameError

Value = TypeVar("Value")


class Named(Mapping[str, Value]):
    """A mapping over one of its own fields; a name that it lacks is an error that lists its names.

    Parameters of a class that is made of it
    ----------------------------------------
    over
        The field: a mapping by name.
    what
        What a name stands for, in the words of the error.
    """

    _over: ClassVar[str]
    _what: ClassVar[str]

    def __init_subclass__(cls, *, over: str, what: str, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls._over, cls._what = over, what

    def __getitem__(self, name: str) -> Value:
        values = self._values()
        if name not in values:
            raise UnknownNameError(self._what, name, values)
        return values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values())

    def __len__(self) -> int:
        return len(self._values())

    def _values(self) -> Mapping[str, Value]:
        return getattr(self, self._over)
