"""Flags that are parameters of functions, read as text: ``--help`` imports no other package."""

import argparse
import ast
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from grammeter.cli.output import add_numbers, add_output, notice, remark

HOUSE = Path(__file__).parents[1]
SHORT = {"metrics": "-m", "metric": "-m", "output": "-o"}
LONG = {"resamples": "--bootstrap", "extraction": "--pairs"}  # other names

METAVARS = tomllib.loads(Path(__file__).with_name("metavars.toml").read_text("utf-8"))
"""What a value is called in help where its type does not say it."""

VALUES = {str: "NAME", int: "N", float: "X"}
TYPES = {"str": str, "Path": str, "int": int, "float": float, "bool": bool}


class Kind(NamedTuple):
    """What an option takes: one value of a type or many, of some choices; ``bool``: none."""

    type: type
    choices: tuple[Any, ...] = ()
    many: bool = False
    path: bool = False


class Parameter(NamedTuple):
    """A parameter of a function, or a field of a class, as it is written in a module."""

    module: str
    annotation: ast.expr | None
    default: ast.expr | None


# --- options of a parser -------------------------------------------------------------------
def add_options(
    group: Any, function: str, options: Mapping[str, str | Mapping[str, Any]] | str
) -> None:
    """Declare parameters of a function as options of a parser or group.

    ``function`` is ``ROOM.NAME`` of a function, or of a dataclass, on the door of a room.
    ``options`` are names of parameters with a text of help, an empty one stands for the first
    sentence of the docstring, or with arguments of ``add_argument`` that are otherwise; or names
    alone, between spaces. ``default: X`` is added to a text that names no default.
    """
    if isinstance(options, str):
        options = dict.fromkeys(options.split(), "")
    for name, settings in options.items():
        parameter = _parameters(function)[name]
        more = {"help": settings} if isinstance(settings, str) else dict(settings)
        names = more.pop("names", None) or _spelled(name, parameter)
        usual = _settings(name, parameter, more.pop("help", "") or _text(function, name))
        group.add_argument(*names, **(usual | {"dest": name} | more))


def options(args: argparse.Namespace, function: Callable[..., Any], **more: Any) -> dict[str, Any]:
    """Return the arguments of a command that are parameters of a function; ``more`` go first."""
    from inspect import signature

    names = signature(function).parameters
    return {name: value for name, value in vars(args).items() if name in names} | more


def call(args: argparse.Namespace, function: Callable[..., Any], **more: Any) -> Any:
    """Call a function with its options, and print the notices of the result."""
    result = function(**options(args, function, **more))
    for text in getattr(result, "notices", ()):
        notice(args, text)
    return result


def share_or_count(text: str) -> float | int:
    """Read ``0.2`` or ``20%`` as a share, ``40`` as a count."""
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return float(text) if "." in text else int(text)
    except ValueError:
        fault = f"{text!r} is neither a share such as 0.2 nor a count such as 40"
        raise argparse.ArgumentTypeError(fault) from None


def _spelled(name: str, parameter: Parameter) -> list[str]:
    if len(name) == 1:
        return [f"-{name}"]
    on = isinstance(parameter.default, ast.Constant) and parameter.default.value is True
    long = ("--no-" if on else "--") + name.replace("_", "-")
    return [text for text in (SHORT.get(name), long, LONG.get(name)) if text]


def _settings(name: str, parameter: Parameter, text: str) -> dict[str, Any]:
    kinds = [*_kinds(parameter.module, parameter.annotation)]
    default = _value(parameter.module, parameter.default)
    if {kind.type for kind in kinds} == {bool}:
        return {"action": "store_false" if default else "store_true", "help": text}
    several = isinstance(default, tuple)
    shown = " ".join(map(str, cast("tuple[Any, ...]", default))) if several else default
    if (shown or type(shown) in (int, float)) and "default" not in text:
        usual = f"default: {shown:g}" if isinstance(shown, float) else f"default: {shown}"
        text = f"{text}; {usual}" if text else usual
    settings: dict[str, Any] = {"help": text, "default": default}
    settings["required"] = parameter.default is None
    tiers = next((kind.choices for kind in kinds if kind.choices), ())
    if tiers and kinds[0].type is bool:
        switch = {"nargs": "?", "const": True, "metavar": "|".join(tiers)}
        return settings | switch | {"choices": tiers}
    kind = next((kind for kind in kinds if kind.many), kinds[0])
    if kind.type is not str:
        both = {kind.type for kind in kinds} == {int, float}
        settings["type"] = share_or_count if both else kind.type
    if kind.many:
        settings["nargs"] = "+"
    if kind.choices:
        return settings | {"choices": kind.choices}
    usual = "FILE" if any(kind.path for kind in kinds) else VALUES[kind.type]
    return settings | {"metavar": METAVARS.get(name, usual)}


# --- functions as they are written ---------------------------------------------------------
@cache
def _source(module: str) -> str:
    files = (HOUSE / module / "__init__.pyi", HOUSE / f"{module}.py")
    return next((file.read_text(encoding="utf-8") for file in files if file.exists()), "")


@cache
def _defined(module: str, name: str) -> tuple[str, ast.stmt] | None:
    """Return the definition of a name and the module where it stands; ``None``: not in here."""
    text = _source(module)
    start = rf"(?:def|class) {name}\b|{name}(?:: [^\n=]+)? = "
    statements = re.findall(rf"(?ms)^(?:{start}).*?(?=^[^\s)\]}}]|\Z)", text)
    if statements:  # the last one: those before it are overloads
        return module, ast.parse(statements[-1]).body[0]
    for home, names in re.findall(r"(?m)^ *from grammeter\.(\S+) import (\([^)]*\)|.*)$", text):
        if match := re.search(rf"\b(?:(\w+) as )?{name}\b", names):
            return _defined(home.replace(".", "/"), match[1] or name)
    return None


@cache
def _written(function: str) -> tuple[str, ast.stmt]:
    room, _, name = function.rpartition(".")
    return _defined(room.replace(".", "/"), name) or ("", ast.Pass())


@cache
def _parameters(function: str) -> dict[str, Parameter]:
    match _written(function):
        case module, ast.ClassDef(body=body):
            return {
                ast.unparse(field.target): Parameter(module, field.annotation, field.value)
                for field in body
                if isinstance(field, ast.AnnAssign)
            }
        case module, ast.FunctionDef(args=args):
            usual: list[ast.expr | None] = [None] * (len(args.args) - len(args.defaults))
            values = [*usual, *args.defaults, *args.kw_defaults]
            return {
                arg.arg: Parameter(module, arg.annotation, value)
                for arg, value in zip([*args.args, *args.kwonlyargs], values, strict=True)
            }
        case _:
            return {}


def _kinds(module: str, node: ast.AST | None) -> Iterator[Kind]:
    """Yield the kinds of values that an annotation allows, as far as the shell can write them."""
    match node:
        case ast.BinOp(left=left, right=right):
            yield from (*_kinds(module, left), *_kinds(module, right))
        case ast.Subscript(value=ast.Name(id="Literal"), slice=ast.Tuple(elts=values)):
            choices = tuple(map(ast.literal_eval, values))
            yield Kind(type(choices[0]), choices)
        case ast.Subscript(value=ast.Name(id="Sequence"), slice=inside):
            items = [*_kinds(module, inside)]
            path = any(kind.path for kind in items)
            yield from (kind._replace(many=True, path=path) for kind in items[:1])
        case ast.Name(id=name) if name in TYPES:
            yield Kind(TYPES[name], path=name == "Path")
        case _:
            match _meant(module, node):
                case home, ast.Assign(value=value):
                    yield from _kinds(home, value)
                case _:
                    pass


def _meant(module: str, node: ast.AST | None) -> tuple[str, ast.stmt] | None:
    """Return the definition of a name, or of one in a room or a neighbour: ``ranking.Unit``."""
    match node:
        case ast.Name(id=name):
            return _defined(module, name)
        case ast.Attribute(value=ast.Name(id=room), attr=name):
            return _defined(room, name) or _defined(f"{module.rpartition('/')[0]}/{room}", name)
        case _:
            return None


def _value(module: str, node: ast.AST | None) -> Any:
    match node:
        case ast.Name() | ast.Attribute():
            match _meant(module, node):
                case home, ast.Assign(value=value) | ast.AnnAssign(value=value):
                    return _value(home, value)
                case _:
                    raise LookupError(ast.unparse(node))
        case ast.Call(func=ast.Name(id="get_args"), args=[alias]):
            return next(_kinds(module, alias)).choices
        case None:
            return None
        case _:
            return ast.literal_eval(ast.unparse(node))


@cache
def _entries(function: str) -> dict[str, str]:
    _, node = _written(function)
    is_documented = isinstance(node, ast.FunctionDef | ast.ClassDef)
    docstring = (is_documented and ast.get_docstring(node)) or ""
    docstring = re.sub(r"\n(Raises|Returns|Yields)\n(?s:.*)", "", docstring.replace("\\\n", ""))
    section = re.sub(r",\n(?=\w)", ", ", docstring.partition("\n---")[2])
    entries = re.findall(r"(?m)^(\w.*)\n((?:    .*\n?|\n)+)", section)
    return {
        name: " ".join(text.split()) for head, text in entries for name in re.findall(r"\w+", head)
    }


_SAME = re.compile(r"(?:As for|As in|See) :(?:func|class):`~?(?:grammeter\.)?(?:([\w.]+)\.)?(\w+)`")


def _text(function: str, name: str) -> str:
    """Return the first sentence on a parameter, which may stand where ``As for :func:`x``` says."""
    text = _entries(function).get(name, "")
    if same := _SAME.match(text):
        home = same[1] or _written(function)[0].replace("/", ".")
        if name in _entries(other := f"{home}.{same[2]}"):
            return _text(other, name)
    text = re.split(r"\.\s|\.$|[;,] see :", text)[0].replace("``", "")
    text = re.sub(r":\w+:`~?(?:\w+\.)*(\w+)`", r"\1", text).replace("%", "%%")
    return re.sub("^[A-Z](?=[a-z ])", lambda first: first[0].lower(), text)


# --- options without effect ----------------------------------------------------------------
NO_FAULTS = "there was nothing to pass over"  # why `--lenient` has no effect


def remark_idle(args: argparse.Namespace, why: str, *names: str) -> None:
    """Say, ``--quiet`` or not, which of some options were written and do nothing, and why."""
    written = getattr(args, "asked", ())  # by the parser; a verb may be called without
    idle = [option for option in names if option in written]
    if idle:
        has = "has" if len(idle) == 1 else "have"
        remark([f"{', '.join(idle)} {has} no effect: {why}"])


# --- arguments of verbs, which are data -----------------------------------------------------
FOLDER = Path(__file__).with_name("arguments")
CODED: Mapping[str, Callable[..., None]] = {"output": add_output, "numbers": add_numbers}
"""Groups whose texts depend on the verb; ``with`` has their parameters."""
ACTIONS = ("metavar", "title")  # what a file may say of all actions
READERS: Mapping[str, Callable[[str], Any]] = {"int": int, "path": lambda s: Path(s) if s else ""}
LOOK: Any = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
_OF_GROUP = frozenset(("heading", "about", "of", "use", "with", "without", "exclusive", "required"))


@cache
def arguments(verb: str) -> dict[str, Any]:
    """Return the file of a verb, or ``shared``."""
    return tomllib.loads((FOLDER / f"{verb}.toml").read_text(encoding="utf-8"))


def declare(parser: argparse.ArgumentParser, verb: str, module: Any) -> None:
    """Declare the arguments of a verb, which are data, and what of its module runs it.

    ``arguments/VERB.toml`` has a ``description``, ``examples`` and tables ``[[group]]``; of a verb
    with actions such a table for each action, which ``run_ACTION`` of the verb's module runs.

    A group has a ``heading``, or belongs to the parser. It has all groups of ``shared.toml`` that
    it uses, ``without`` some of their options, then what its other keys name: a parameter of the
    function ``of``, as for :func:`add_options`; ``"<name>"``, a positional argument; or
    ``"-o --output"``, an option that is no parameter. The value is the text of help, or a table of
    the settings of ``add_argument``, in which ``false`` is ``None``.
    """
    data = arguments(verb)
    _declare(parser, data)
    if "group" in data:
        parser.set_defaults(run=getattr(module, f"run_{verb}", None) or module.run)
        return
    actions = {name: part for name, part in data.items() if not isinstance(part, str)}
    shown: Any = {"metavar": "|".join(actions)} | {k: data[k] for k in ACTIONS if k in data}
    below = parser.add_subparsers(required=True, **shown)
    for name, action in actions.items():
        text = action["help"]
        inner = below.add_parser(name, help=text, description=text, **LOOK)
        inner.set_defaults(run=getattr(module, f"run_{name.replace('-', '_')}"))
        _declare(inner, action)


def _declare(parser: argparse.ArgumentParser, data: Mapping[str, Any]) -> None:
    parser.description = data.get("description", parser.description)
    parser.epilog = data.get("examples")
    parser.set_defaults(**data.get("defaults", {}))
    places: dict[str, Any] = {"": parser}
    for group in data.get("group", ()):
        _fill(places, {"of": data.get("of", ""), **group})


def _fill(places: dict[str, Any], group: Mapping[str, Any]) -> None:
    """Add the arguments of a group where those of its heading are."""
    heading = group.get("heading", "")
    if heading not in places:
        places[heading] = places[""].add_argument_group(heading, group.get("about"))
    place = places[heading]
    for name in group.get("use", ()):
        if name in CODED:
            CODED[name](place, **group.get("with", {}))
            continue
        shared = arguments("shared")[name]
        usual = {"heading": heading, "of": shared.get("of", group["of"])}
        for part in shared["group"]:
            left = {key: part[key] for key in part if key not in group.get("without", ())}
            _fill(places, usual | left)
    if group.get("exclusive"):
        place = place.add_mutually_exclusive_group(required=group.get("required", False))
    for name, value in group.items():
        if name not in _OF_GROUP:
            settings: dict[str, Any] = {"help": value} if isinstance(value, str) else value
            settings = {key: _setting(key, part) for key, part in settings.items()}
            if name[0] in "<-":
                place.add_argument(*name.strip("<>").split(), **settings)
            else:
                add_options(place, group["of"], {name: settings})


def _setting(key: str, value: Any) -> Any:
    if key == "metavar" and isinstance(value, list):
        return tuple(cast("list[str]", value))  # argparse takes no other sequence
    return None if value is False else READERS[value] if key == "type" else value
