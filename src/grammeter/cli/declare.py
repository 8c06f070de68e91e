"""The arguments of verbs are data: ``arguments/VERB.toml`` becomes a parser.

A file has a ``description``, ``examples`` and tables ``[[group]]``; of a verb with actions it has
such a table for each action, which the function ``run_ACTION`` of the verb's module runs.

A group has a ``heading``, or belongs to the parser. It has all groups of ``shared.toml`` that it
uses, ``without`` some of their options, then what its other keys name: a parameter of the function
``of``, as for :func:`grammeter.cli.flags.add_options`; ``"<name>"``, a positional argument; or
``"-o --output"``, an option that is no parameter. The value is the text of help, or a table of the
settings of ``add_argument``, in which ``false`` is ``None``.
"""

import argparse
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from grammeter.cli.flags import add_options
from grammeter.cli.output import add_numbers, add_output

FOLDER = Path(__file__).with_name("arguments")
CODED: Mapping[str, Callable[..., None]] = {"output": add_output, "numbers": add_numbers}
"""Groups whose texts depend on the verb; ``with`` has their parameters."""
ACTIONS = ("metavar", "title")  # what a file may say of all actions
TYPES: Mapping[str, Callable[[str], Any]] = {
    "int": int,
    "path": lambda text: Path(text) if text else "",
}
LOOK: dict[str, Any] = {
    "formatter_class": argparse.RawDescriptionHelpFormatter,
    "allow_abbrev": False,
}
_OF_GROUP = frozenset(("heading", "about", "of", "use", "with", "without", "exclusive", "required"))


@cache
def arguments(verb: str) -> dict[str, Any]:
    """Return the file of a verb, or ``shared``."""
    return tomllib.loads((FOLDER / f"{verb}.toml").read_text(encoding="utf-8"))


def declare(parser: argparse.ArgumentParser, verb: str, module: Any) -> None:
    """Declare the arguments of a verb, and what of its module runs it."""
    data = arguments(verb)
    _declare(parser, data)
    if "group" in data:
        parser.set_defaults(run=getattr(module, f"run_{verb}", None) or module.run)
        return
    actions: dict[str, Any] = {
        name: part for name, part in data.items() if not isinstance(part, str)
    }
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
    return None if value is False else TYPES[value] if key == "type" else value
