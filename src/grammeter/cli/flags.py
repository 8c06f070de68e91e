"""The options of verbs: data in ``arguments/``, and what ``scripts/flags`` knows of functions."""

import argparse
import json
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from grammeter.cli.output import add_numbers, add_output, notice, remark


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
        known = dict(_known()[function][name])
        more = {"help": settings} if isinstance(settings, str) else dict(settings)
        names = more.pop("names", None) or known["names"]
        usual = _settings(known | {"help": more.pop("help", "") or known["help"]})
        group.add_argument(*names, **(usual | {"dest": name} | more))


@cache
def _known() -> dict[str, dict[str, dict[str, Any]]]:
    """Return, by function and name, what ``scripts/flags`` knows of parameters."""
    return json.loads(Path(__file__).with_name("flags.json").read_text("utf-8"))


def _settings(known: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of ``add_argument``; ``default: X`` is added to a text that has none."""
    settings = {key: value for key, value in known.items() if key != "names"}
    if "action" in settings:
        return settings
    for key in ("default", "choices"):
        if isinstance(values := settings.get(key), list):
            settings[key] = tuple(cast("list[Any]", values))
    default, text = settings["default"], settings["help"]
    several = isinstance(default, tuple)
    shown = " ".join(map(str, cast("tuple[Any, ...]", default))) if several else default
    if (shown or type(shown) in (int, float)) and "default" not in text:
        usual = f"default: {shown:g}" if isinstance(shown, float) else f"default: {shown}"
        settings["help"] = f"{text}; {usual}" if text else usual
    if "type" in settings:
        settings["type"] = READERS[settings["type"]]
    return settings


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
READERS: Mapping[str, Callable[[str], Any]] = {
    "int": int, "float": float, "path": lambda s: Path(s) if s else "", "share": share_or_count,
}  # fmt: skip


class Help(argparse.HelpFormatter):
    """Help that begins with what must be written; examples stay as they are, texts are filled."""

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """Show arguments that must be written, and ``[options]`` for all others."""
        needed = [group for group in groups if group.required]
        chosen = [action for group in needed for action in group._group_actions]
        shown = [a for a in actions if a.required or not a.option_strings or a in chosen]
        self._prog += " [options]" if len(shown) < len(actions) and usage is None else ""
        super().add_usage(usage, shown, needed, prefix)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill, parts = super()._fill_text, text.strip("\n").split("\n\n")
        return "\n\n".join(p if "\n  " in p else fill(p, width, indent) for p in parts)


LOOK: Any = {"formatter_class": Help, "allow_abbrev": False}
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
    texts = data.get("description", parser.description), data.get("examples")
    parser.description = "\n\n".join(text.strip("\n") for text in texts if text)
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
