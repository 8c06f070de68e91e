"""The verbs and their parsers, with short messages about wrong usage."""

import argparse
import importlib
import os
import stat
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from os.path import exists  # false for what is no name, too
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, cast

from grammeter import core, version
from grammeter.cli.ending import say

VERBS: dict[str, str] = tomllib.loads(Path(__file__).with_name("verbs.toml").read_text("utf-8"))
"""Verb -> what it does; the module ``grammeter.cli.VERB`` is imported when it is called."""
_RESULTS = (
    "score", "compare", "explain", "rank", "agree", "sample", "report", "reproduce", "list",
    "cite", "combine", "robustness", "completion",
)  # fmt: skip
"""Verbs that share a module."""

MOST_OWNERS = 3  # an option of more commands gets no hint


class VerbParser(argparse.ArgumentParser):
    """A parser with short errors, which name the verb of a misplaced option."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.register("action", None, _Store)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help, a version or an error; unlike argparse, fail if that is impossible."""
        if file is sys.stdout:
            file.write(message)
            file.flush()
        else:
            say(message.removesuffix("\n"))

    def error(self, message: str) -> NoReturn:
        """Print the error and where to find all options; exit with 2."""
        self.exit(2, f"usage: see '{self.prog} --help'\n{self.prog}: error: {message}\n")

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse and check; ``asked`` is the set of long names of the options that were written."""
        parsed, extra = super().parse_known_args(args, namespace)
        earlier: set[str] = getattr(parsed, "asked", set[str]())  # of an action of this verb
        parsed.asked = self._written(sys.argv[1:] if args is None else args) | earlier
        if extra:
            lines = [f"unrecognized arguments: {' '.join(extra)}", *self._hints(extra)]
            self.error("\n  ".join(lines))
        check_outputs(self._actions, parsed)
        return parsed, extra

    def parsers(self) -> "Iterator[VerbParser]":
        """Yield this parser, or those of its actions where it has some."""
        choices: list[Any] = [action.choices for action in self._actions]
        actions: list[dict[str, VerbParser]] = [c for c in choices if isinstance(c, dict)]
        yield from (actions[0].values() if actions else [self])

    def _written(self, words: Sequence[str]) -> set[str]:
        known = self._option_string_actions
        actions = [known[name] for name in (w.partition("=")[0] for w in words) if name in known]
        return {max(action.option_strings, key=lambda name: name[:2] == "--") for action in actions}

    def _hints(self, extra: Sequence[str]) -> Iterator[str]:
        for option in (word.partition("=")[0] for word in extra if word.startswith("--")):
            parsers = (parser for verb in VERBS for parser in parser_of(verb).parsers())
            owners = [f"'{of.prog}'" for of in parsers if option in of._option_string_actions]
            near = core.UnknownNameError("option", option, self._option_string_actions).suggestions
            if 0 < len(owners) <= MOST_OWNERS:
                yield f"{option} belongs to {' and '.join(owners)}."
            elif near and not owners:
                yield f"Did you mean {near[0]}?"


class _Store(argparse.Action):
    """Store values; those of a repeated option with several values are joined."""

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        """Append the values to those of an earlier occurrence."""
        earlier = getattr(namespace, self.dest, None)
        again = self.nargs == "+" and isinstance(earlier, list) and earlier is not self.default
        setattr(namespace, self.dest, [*cast("list[Any]", earlier), *values] if again else values)


def parser_of(verb: str) -> VerbParser:
    """Return the parser of one verb."""
    from grammeter.cli.flags import LOOK, declare

    module = importlib.import_module(f"grammeter.cli.{'results' if verb in _RESULTS else verb}")
    parser = VerbParser(prog=f"grammeter {verb}", description=VERBS[verb], **LOOK)
    declare(parser, verb, module)
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    return parser


def top_parser() -> VerbParser:
    """Return the parser that knows the verbs' names only."""
    from grammeter.cli.flags import Help

    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {verb:{width}}  {help_}" for verb, help_ in VERBS.items())
    parser = VerbParser(
        prog="grammeter",
        description="Measure grammatical error correction systems, and measure the measures.",
        epilog=f"verbs:\n{verbs}\n\n'grammeter help VERB' tells more.",
        formatter_class=Help,
        usage="grammeter [-h] [-V] VERB ...",
    )
    parser.add_argument(
        "-V", "--version", action="version", version=f"grammeter {version.__version__}"
    )
    parser.add_argument("verb", choices=list(VERBS), metavar="VERB", help="what to do")
    return parser


def complete(line: str) -> None:
    """Answer a shell that asks how its command line may go on, and end the process."""
    from argcomplete import autocomplete

    top = VerbParser(prog="grammeter")
    below = top.add_subparsers()
    for verb, text in VERBS.items():
        below.add_parser(verb, help=text)
    for verb in (word for word in line.split()[1:2] if word in VERBS):
        below.choices[verb] = parser_of(verb)  # the others would take as long
    autocomplete(top)


# --- no output takes the place of a file that the same command reads or writes --------------
WRITTEN = frozenset({
    "output", "out", "segments", "figure", "figure_williams", "probabilities", "details", "people",
    "target", "copy",
})  # fmt: skip
"""Arguments, by their names in Python, that say where results go."""

READ = frozenset({
    "FILE", "FILE_OR_URL", "SCORES", "JUDGMENTS", "HUMAN", "DATA", "NAME=DATA", "NAME=PATH",
    "EVALUATOR=FILE", "PATH", "FILE:COLUMN", "TEXT|@FILE", "JSON|@FILE",
})  # fmt: skip
"""What usage lines call arguments that name files to read."""

STDOUT = "standard output"


class _Named(NamedTuple):
    argument: str
    path: str


def check_outputs(actions: Iterable[argparse.Action], args: argparse.Namespace) -> None:
    """Refuse, first of all, an output that is an input or another output, links followed."""
    written = [action for action in actions if action.dest in WRITTEN]
    read = [a for a in actions if a.dest not in WRITTEN and _shown(a) in READ]
    outputs = [*(one for action in written for one in _named(action, args)), *_redirected()]
    inputs = [one for action in read for one in _named(action, args)]
    for at, output in enumerate(outputs):
        for taken in (one for one in inputs if _is_part(output.path, one.path)):
            fault = f"{output.path}: {output.argument} would take the place of a file"
            fault += f" that it is made from ({taken.argument})"
            raise core.UsageError(fault, fix="Name another file.")
        for other in (one for one in outputs[at + 1 :] if _same(output.path, one.path)):
            fault = f"{output.path}: {output.argument} and {other.argument} would be one file"
            raise core.UsageError(fault, fix="Name two files.")


def _named(action: argparse.Action, args: argparse.Namespace) -> Iterator[_Named]:
    value: object = getattr(args, action.dest, None)
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    argument = action.option_strings[-1] if action.option_strings else _shown(action)
    return (_Named(argument, text) for text in values if isinstance(text, str) and text != "-")


def _is_part(path: str, spelled: str) -> bool:
    """Whether a file is named by an argument: ``FILE``, ``@FILE``, ``NAME=FILE``, ``FILE:FILE``."""
    value = spelled.partition("=")[2]
    pieces = [spelled, spelled.removeprefix("@"), value, *spelled.split(":"), *value.split(":")]
    return any(_same(path, piece) for piece in pieces if piece)


def _shown(action: argparse.Action) -> str:
    return action.metavar if isinstance(action.metavar, str) else action.dest.upper()


def _redirected() -> Iterator[_Named]:
    try:
        if stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode):
            yield _Named(STDOUT, f"/dev/fd/{sys.stdout.fileno()}")
    except (OSError, ValueError, AttributeError):
        return


def _same(one: str, other: str) -> bool:
    """Whether two names are of one file; devices such as ``/dev/null`` take any number."""
    try:
        if exists(one) and exists(other):
            mode = Path(one).stat().st_mode
            is_device = not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
            return not is_device and os.path.samefile(one, other)
        return Path(one).resolve() == Path(other).resolve()
    except (OSError, ValueError, RuntimeError):  # no possible name, a loop of links
        return False
