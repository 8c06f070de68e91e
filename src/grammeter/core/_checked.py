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


class _MisfitError(UsageError):
    """A value is not of the type that belongs in a place, such as ``metrics[0]``."""

    def __init__(self, place: str, value: object, what: str) -> None:
        described = f"a {type(value).__name__}"
        if isinstance(value, str):
            described = f"one text, {value!r:.60}"
        elif value is None or isinstance(value, Real | bytes):
            described = repr(value)[:60]
        listed = isinstance(value, str) and what.startswith("a list")
        fix = f"Write {place}=[{value!r:.60}]." if listed else f"Mend {place}."
        super().__init__(f"{place} is {described}, where {what} belongs", fix=fix)
        self.place, self.what = place, what


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


def fitted(place: str, value: Any, hint: Any) -> Any:
    """Return what stands in a place as its annotation wants it, or raise :class:`UsageError`."""
    if type(value) is hint:
        return value
    origin, inside = _parts(hint)
    if origin in (Union, types.UnionType):
        return _fit_one(place, value, inside)
    if isinstance(origin, type) and issubclass(origin, Sequence | tuple):
        return _fit_list(place, value, inside[0] if inside else Any)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _fit_mapping(place, value, inside[1])
    what = f"a {getattr(hint, '__name__', hint)}"
    if origin is Literal:
        fits, what = any(isinstance(value, type(each)) for each in inside), "a text"
    elif hint in _KINDS:
        kind, what = _KINDS[hint]
        fits = isinstance(value, kind) and not isinstance(value, bool)
    else:
        fits = hint is Any or not isinstance(hint, type) or _is_a(value, hint)
    if not fits:
        raise _MisfitError(place, value, what)
    return value


_NOTHING = "None"
_KINDS: dict[Any, tuple[type, str]] = {
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    str: (str, "a text"),
    Path: (os.PathLike, "a path"),
    types.NoneType: (types.NoneType, _NOTHING),
}


def _is_a(value: object, kind: Any) -> bool:
    if not getattr(kind, "_is_protocol", False):
        return isinstance(value, kind)
    members = cast("Mapping[str, object]", vars(kind))
    return all(hasattr(value, name) for name in members if not name.startswith("_"))


def _fit_one(place: str, value: Any, hints: Iterable[Any]) -> Any:
    """Fit one of several types, what needs no conversion first."""
    faults: list[_MisfitError] = []
    fits: list[Any] = []
    for hint in hints:
        try:
            fits.append(fitted(place, value, hint))
        except _MisfitError as error:
            faults.append(error)
    if fits:
        return next((each for each in fits if each is value), fits[0])
    for fault in faults:
        if fault.place != place:
            raise fault
    what = dict.fromkeys(fault.what for fault in faults if fault.what != _NOTHING)
    raise _MisfitError(place, value, " or ".join(what))


def _fit_list(place: str, value: Any, hint: Any) -> Any:
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
        raise _MisfitError(place, cast("object", value), "a list")
    items = cast("Sequence[Any]", value if isinstance(value, Sequence) else list(value))
    if {*map(type, items)} <= {hint}:
        return items
    made = [fitted(f"{place}[{at}]", item, hint) for at, item in enumerate(items)]
    return items if all(one is other for one, other in zip(made, items, strict=True)) else made


def _fit_mapping(place: str, value: Any, hint: Any) -> Any:
    if not isinstance(value, Mapping):
        raise _MisfitError(place, value, "a dictionary")
    given = cast("Mapping[Any, Any]", value)
    made = {key: fitted(f"{place}[{key!r}]", item, hint) for key, item in given.items()}
    return given if all(item is given[key] for key, item in made.items()) else made
