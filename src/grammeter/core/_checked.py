"""What public functions take: any list, any path; else an error that names the argument."""

import inspect
import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, wraps
from numbers import Integral, Real
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, ParamSpec, TypeVar, Union, cast

from grammeter.core.errors import UsageError

P = ParamSpec("P")
R = TypeVar("R")


class _MisfitError(Exception):
    """A value is not of a type: what belongs there, the value, and where it stands inside."""

    def __init__(self, what: str, value: object, place: str = "") -> None:
        super().__init__(what)
        self.what, self.value, self.place = what, value, place


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Hold the arguments of a function against its annotations when it is called.

    An argument of another type is a UsageError of the function, before its first line. Columns,
    arrays, sets and generators become lists where a sequence belongs. What a text says is left to
    the function: an unknown name has a better error there.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        signature, hints = _declared(function)
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            if name in hints:
                bound.arguments[name] = fitted(name, value, hints[name])
        return function(*bound.args, **bound.kwargs)

    return call


def check_home(at_home: bool, home: str, **options: object) -> None:
    """Raise UsageError if one of ``options`` is set where it changes nothing: not ``at_home``."""
    for name, wanted in () if at_home else options.items():
        if wanted:
            flag = "--" + name.replace("_", "-")
            fault = f"{flag} belongs to {home}, and would change nothing here"
            raise UsageError(fault, fix=f"Leave out {flag} (in Python: {name}=).")


def fitted(name: str, value: Any, hint: Any) -> Any:
    """Return an argument as its annotation wants it, or raise :class:`UsageError`."""
    try:
        return _fit(value, hint)
    except _MisfitError as error:
        listed = isinstance(error.value, str) and error.what.startswith("a list")
        where = f"{name}{error.place}"
        fault = f"{where} is {_described(error.value)}, where {error.what} belongs"
        fix = f"Write {where}=[{error.value!r:.60}]." if listed else f"Mend {where}."
        raise UsageError(fault, fix=fix) from None


@cache
def _declared(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Any]]:
    names = vars(inspect.getmodule(function))
    hints: dict[str, Any] = {}
    for name, text in inspect.get_annotations(function).items():
        with suppress(NameError):  # of a class that is imported for type checkers alone
            one = SimpleNamespace(__annotations__={name: text})
            hints |= typing.get_type_hints(one, globalns=names)
    return inspect.signature(function), hints


@cache
def _parts(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    return typing.get_origin(hint), typing.get_args(hint)


def _fit(value: Any, hint: Any) -> Any:  # noqa: PLR0911 - one for each kind of type
    if type(value) is hint:
        return value
    origin, inside = _parts(hint)
    if origin in (Union, types.UnionType):
        return _fit_one(value, inside)
    if origin is Literal:
        return _expect(value, any(isinstance(value, type(each)) for each in inside), "a text")
    if isinstance(origin, type) and issubclass(origin, Sequence | tuple):
        return _fit_list(value, inside[0] if inside else Any)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _fit_mapping(value, inside[1])
    if hint in _KINDS:
        kind, what = _KINDS[hint]
        return _expect(value, isinstance(value, kind) and not isinstance(value, bool), what)
    if hint is types.NoneType:
        return _expect(value, value is None, _NOTHING)
    if hint is Any or not isinstance(hint, type):
        return value
    return _expect(value, _is_a(value, hint), f"a {hint.__name__}")


_KINDS: dict[Any, tuple[type, str]] = {
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    str: (str, "a text"),
    Path: (os.PathLike, "a path"),
}
_NOTHING = "None"


def _is_a(value: object, kind: Any) -> bool:
    if not getattr(kind, "_is_protocol", False):
        return isinstance(value, kind)
    members = cast("Mapping[str, object]", vars(kind))
    return all(hasattr(value, name) for name in members if not name.startswith("_"))


def _fit_one(value: Any, hints: Iterable[Any]) -> Any:
    """Fit one of several types, what needs no conversion first."""
    faults: list[_MisfitError] = []
    fits: list[Any] = []
    for hint in hints:
        try:
            fits.append(_fit(value, hint))
        except _MisfitError as error:
            faults.append(error)
    if fits:
        return next((each for each in fits if each is value), fits[0])
    inner = next((fault for fault in faults if fault.place), None)
    if inner:
        raise inner
    what = dict.fromkeys(fault.what for fault in faults if fault.what != _NOTHING)
    raise _MisfitError(" or ".join(what), value)


def _fit_list(value: Any, hint: Any) -> Any:
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
        raise _MisfitError("a list", cast("object", value))
    items = cast("Sequence[Any]", value if isinstance(value, Sequence) else list(value))
    if {*map(type, items)} <= {hint}:
        return items
    made = [_fit_item(item, hint, place) for place, item in enumerate(items)]
    return items if all(one is other for one, other in zip(made, items, strict=True)) else made


def _fit_mapping(value: Any, hint: Any) -> Any:
    if not isinstance(value, Mapping):
        raise _MisfitError("a dictionary", value)
    given = cast("Mapping[Any, Any]", value)
    made = {key: _fit_item(item, hint, key) for key, item in given.items()}
    return given if all(item is given[key] for key, item in made.items()) else made


def _fit_item(item: Any, hint: Any, place: object) -> Any:
    try:
        return _fit(item, hint)
    except _MisfitError as error:
        raise _MisfitError(error.what, error.value, f"[{place!r}]{error.place}") from None


def _expect(value: Any, fits: bool, what: str) -> Any:
    if not fits:
        raise _MisfitError(what, value)
    return value


def _described(value: Any) -> str:
    if isinstance(value, str):
        return f"one text, {value!r:.60}"
    if value is None or isinstance(value, Real | bytes):
        return repr(value)[:60]
    return f"a {type(value).__name__}"
