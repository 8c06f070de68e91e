"""What verbs return: results that know how they look, and how they travel as JSON."""

from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from types import UnionType
from typing import Any, ClassVar, TypeVar, cast, get_args, get_origin, get_type_hints

from grammeter.core import errors, score, signature, texts
from grammeter.core.tables import Form, Style, Table, write_tables
from grammeter.version import __version__

Value = TypeVar("Value")


@dataclass(frozen=True)
class Figure:
    """A figure of a result: a ``chart`` of :mod:`grammeter.rendering`, its parameters by name."""

    chart: str
    data: Mapping[str, Any]


class Result:
    """Base of results: ``print``, notebooks, the command line and reports show the same tables.

    A subclass has ``tables``, and a ``kind`` or its own ``to_dict``; also ``notes``, what a reader
    must know before believing its numbers, a sentence each.
    """

    _kind: ClassVar[str] = ""

    def __init_subclass__(cls, *, kind: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        cls._kind = kind or cls._kind

    @abstractmethod
    def tables(self, *, long: bool = False) -> Sequence[Table]:
        """Return the result as tables, the main one first.

        With ``long``, for programs, a row has one figure, or one thing and its figures, and nothing
        is left out.
        """

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form: ``{"kind": ..., ..., "notes": [...]}``."""
        return public_shape(self._kind, self)

    def table(self, *, long: bool = False) -> Table:
        """Return the main table; see :meth:`tables`."""
        return self.tables(long=long)[0]

    def figures(self) -> Mapping[str, Figure]:
        """Return the figures that show this result, by name."""
        return {}

    def to_pandas(self) -> Any:
        """Return the main table for programs as a ``pandas.DataFrame``; pandas is optional."""
        return self.table(long=True).to_pandas()

    def write(self, style: Style | Form = "table", **options: Any) -> str:
        """Write all tables by the options of :meth:`tables`, without ``notes``."""
        form = style if isinstance(style, str) else style.form
        return write_tables(self.tables(long=form == "tsv", **options), style)

    def __str__(self) -> str:
        width = texts.terminal_width()
        notes = (texts.wrapped(texts.terminal(note), width, "  ") for note in self._notes())
        text = self.write(Style(width=width))
        return "".join([text, *(f"{line}\n" for note in notes for line in note)]).rstrip("\n")

    def __repr__(self) -> str:
        table = self.table()
        heads = ", ".join(column.head for column in table.columns)
        return f"<{type(self).__name__}: {len(table.rows)} rows, {heads}>"

    def _repr_html_(self) -> str:
        below = "".join(f"<br><small>{texts.escaped(note)}</small>" for note in self._notes())
        return write_tables(self.tables(), "html") + below

    def _notes(self) -> Sequence[str]:
        return getattr(self, "notes", ())


class Named(Mapping[str, Value]):
    """A mapping over its field ``over``; an unknown ``what`` is an error that lists the names."""

    _over: ClassVar[str]
    _what: ClassVar[str]

    def __init_subclass__(cls, *, over: str, what: str, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls._over, cls._what = over, what

    def __getitem__(self, name: str) -> Value:
        values = self._values()
        errors.UnknownNameError.check(self._what, name, values)
        return values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values())

    def __len__(self) -> int:
        return len(self._values())

    def _values(self) -> Mapping[str, Value]:
        return getattr(self, self._over)


@contextmanager
def reading(
    data: Mapping[str, Any], kind: str, *, verb: str, where: str | None
) -> Generator[None, None, None]:
    """Turn whatever goes wrong while reading stored values into an error with a place.

    DataError if the JSON object ``data`` is not of this ``kind``, or the block fails on a missing
    or wrong value; it names ``verb``, which writes such files, and the file ``where``, if known.
    """
    if data.get("kind") != kind:
        fault = f'these are no {kind}: "kind" is {data.get("kind")!r}'
        fix = f"Give a file that 'grammeter {verb} -o FILE' wrote."
        raise errors.DataError(fault, where=where, fix=fix)
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        fault = f"damaged {kind}: {type(error).__name__}: {error}"
        fix = f"Write the file again with 'grammeter {verb} -o FILE'."
        raise errors.DataError(fault, where=where, fix=fix) from error


class Plain:
    """A dataclass of figures, and a text that says why one is NaN."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that have a value; a NaN is ``None``."""
        return plain_fields(self)


def public_shape(kind: str, result: Any, /, *names: str, **parts: Any) -> dict[str, Any]:
    """Return the public shape of a result: kind, version, signature, ``parts``, fields, notes.

    The fields are those called ``names``; without names, all that count when results are compared.
    A part stands in place of the field of its name. NaN becomes ``None``; what is ``None`` is left
    out.
    """
    shown = names or [field.name for field in fields(result) if field.compare]
    beside = {name: part for name, part in parts.items() if name not in shown}
    values = beside | {name: parts.get(name, getattr(result, name)) for name in shown}
    values = {"signature": values.get("signature")} | values | {"notes": None}
    shape = {name: plain(value) for name, value in values.items() if value is not None}
    notes = {"notes": [*getattr(result, "notes", ())]}
    return {"kind": kind, "grammeter": __version__} | shape | notes


def stamped(shape: Mapping[str, Any]) -> dict[str, Any]:
    """Add to a shape that has its kind the version, and an empty list of notes if it has none."""
    head = {"kind": shape["kind"], "grammeter": __version__}
    return {**head, **shape, "notes": shape.get("notes", [])}


def plain(value: Any) -> Any:
    """Return a value as JSON holds it; keys of several parts are joined by ``|``."""
    if value is None or isinstance(value, float | int | str):
        return score.json_number(value) if isinstance(value, float) else value
    if isinstance(value, signature.Signature):
        return str(value)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return plain_fields(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {_key(key): plain(item) for key, item in items}
    if hasattr(value, "tolist"):  # an array of numpy
        value = value.tolist()
    is_list = isinstance(value, list | tuple)
    return [plain(item) for item in cast("list[Any]", value)] if is_list else value


def _key(key: Any) -> str:
    return "|".join(cast("tuple[str, ...]", key)) if isinstance(key, tuple) else str(key)


def plain_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that have a value, as JSON holds them: :func:`plain`."""
    values = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: plain(of) for name, of in values.items() if of is not None}


def read_fields(cls: type[Value], data: Mapping[str, Any]) -> Value:
    """Make a dataclass of what :func:`plain_fields` returned, by the types of its fields."""
    kinds = get_type_hints(cls)
    names = [each.name for each in fields(cast("Any", cls)) if each.name in data]
    return cls(**{name: _read(kinds[name], data[name]) for name in names})


def _read(kind: Any, data: Any) -> Any:
    """Return a value of JSON as a type has it; ``None`` is NaN for a number."""
    if get_origin(kind) is UnionType:  # with None, which is not written
        kind = get_args(kind)[0]
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Mapping:
        pairs = get_origin(parts[0]) is tuple
        return {tuple(key.split("|", 1)) if pairs else key: _read(parts[1], of)
                for key, of in data.items()}  # fmt: skip
    if origin is tuple:
        return tuple(_read(parts[0], item) for item in data)
    known = {float: score.read_number, signature.Signature: signature.Signature.parse}
    if read := known.get(kind, getattr(kind, "from_dict", None)):
        return read(data)
    return read_fields(cast("type[Any]", kind), data) if is_dataclass(kind) else data
