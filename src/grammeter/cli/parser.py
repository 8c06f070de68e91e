"""What the command line says of wrong usage: a line or two, not all the options of a verb."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, cast

from grammeter.cli.ending import say
from grammeter.cli.files import check_outputs
from grammeter.core import UnknownNameError

MOST_OWNERS = 3
"""An option that more commands share says nothing of where it belongs."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors fit on a screen, and which knows where a strange option belongs."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.register("action", None, _Store)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help, a version or an error; what cannot be printed is a fault, unlike there."""
        if file is sys.stdout:
            file.write(message)
            file.flush()
        else:
            say(message.removesuffix("\n"))

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where all options stand; leave with 2."""
        self.exit(2, f"usage: see '{self.prog} --help'\n{self.prog}: error: {message}\n")

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse; what is left over is an error here, where the options of an action are known.

        So are outputs that are inputs, too. ``asked`` are the options that were written, by
        their long names, with whatever value.
        """
        found, extra = super().parse_known_args(args, namespace)
        earlier: set[str] = getattr(found, "asked", set[str]())  # of an action of this verb
        found.asked = self._asked(sys.argv[1:] if args is None else args) | earlier
        if extra:
            self.error(
                "\n  ".join([f"unrecognized arguments: {' '.join(extra)}", *self._hints(extra)])
            )
        check_outputs(self._actions, found)
        return found, extra

    def parsers(self) -> Iterator[Parser]:
        """Yield this parser, or those of its actions where it has some."""
        given: list[Any] = [action.choices for action in self._actions]
        actions: list[Parser] = [
            p for found in given if isinstance(found, dict) for p in _all(found)
        ]
        yield from actions or [self]

    def takes(self, option: str) -> bool:
        """Whether an option is one of this parser's."""
        return option in self._option_string_actions

    def _asked(self, words: Sequence[str]) -> set[str]:
        """Return the long names of all options among the words of a command."""
        known = self._option_string_actions
        actions = [known[name] for name in (w.partition("=")[0] for w in words) if name in known]
        return {max(action.option_strings, key=lambda name: name[:2] == "--") for action in actions}

    def _hints(self, extra: Sequence[str]) -> Iterator[str]:
        """Say of each strange option what may be meant, or whose it is."""
        for option in (word.partition("=")[0] for word in extra if word.startswith("--")):
            owners = _owners(option)
            near = UnknownNameError("option", option, self._option_string_actions).suggestions
            if 0 < len(owners) <= MOST_OWNERS:
                yield f"{option} belongs to {' and '.join(owners)}."
            elif near and not owners:
                yield f"Did you mean {near[0]}?"


class _Store(argparse.Action):
    """Store what is given; an option of several values that is given twice has them all."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Put the values into the namespace, behind those of an earlier occurrence."""
        earlier = getattr(namespace, self.dest, None)
        again = self.nargs == "+" and isinstance(earlier, list) and earlier is not self.default
        setattr(namespace, self.dest, [*cast("list[Any]", earlier), *values] if again else values)


def _all(actions: Any) -> list[Parser]:
    return list(cast("dict[str, Parser]", actions).values())


def _owners(option: str) -> list[str]:
    """Return the commands that take an option."""
    from grammeter.cli.main import VERBS, parser_of

    return [
        f"'{parser.prog}'"
        for verb in VERBS
        for parser in parser_of(verb).parsers()
        if parser.takes(option)
    ]
