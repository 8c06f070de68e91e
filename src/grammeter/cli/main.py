"""``grammeter``: finds the verb, turns errors into exit codes.

All imports stand inside functions: the first thing that is done is to be ready for signals.
"""

import sys

from grammeter.cli.signals import Watch

TYPE_CHECKING = False  # as of `typing`, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Sequence

    from grammeter.cli.parser import Parser
    from grammeter.core import GrammeterError

VERBS = {
    "demo": "the whole loop on the built-in sample corpus, offline",
    "score": "score system outputs with any metrics",
    "compare": "paired significance between systems",
    "explain": "why one output got its scores",
    "judge": "let a language model rank outputs as people do",
    "rank": "rank systems from human judgments",
    "agree": "agreement within and between judges",
    "sample": "which sentences and outputs to show judges",
    "campaign": "run a human evaluation: the annotation server",
    "meta": "how good is a metric? correlation with human judgments",
    "report": "scores, judgments and sentences as one page to browse",
    "reproduce": "the tables of the papers again, published figures beside ours",
    "edits": "extract, convert and compare edits: errant's commands",
    "train": "fit learned metrics to a domain: IMPARA, SOME",
    "batch": "score, filter and annotate tables of any length",
    "data": "list, get and find data sets",
    "list": "the metrics, their options and defaults",
    "cite": "what to cite for a metric",
    "doctor": "what is installed, what is missing, how to get it",
}
"""Verb -> what it does; the module ``grammeter.cli.VERB`` is imported when it is called."""

_MODULES = {"list": "listing"}  # a module called `list` would hide the built-in in its imports


def main(argv: "Sequence[str] | None" = None) -> int:
    """Run the command line and return its exit code."""
    watch = Watch(main.__code__, alone=argv is None)
    try:
        watch.take_over()
        if argv is None:
            from grammeter.core import stand_alone

            stand_alone()
        code = _guarded(list(sys.argv[1:] if argv is None else argv), watch)
        watch.catch_up()
        return code
    except KeyboardInterrupt:
        return watch.code()
    finally:
        watch.end()


def _guarded(arguments: list[str], watch: Watch) -> int:
    """Run, and turn what goes wrong into an exit code."""
    from grammeter.cli.ending import drop, explained, open_streams
    from grammeter.cli.plugin_fault import plugin_fault
    from grammeter.core import GrammeterError

    debug = "--debug" in arguments
    try:
        open_streams()
        return _run(arguments)
    except GrammeterError as error:
        return _show_error(error, debug=debug)
    except BrokenPipeError:  # whoever read our output has gone
        drop(sys.stdout)
        return 0
    except (OSError, MemoryError) as error:
        return _show_error(explained(error), debug=debug)
    except Exception as error:
        if watch.came:  # somebody else's code made another error of it
            return watch.code()
        fault = plugin_fault(error)
        if fault is None:
            raise
        return _show_error(fault, debug=debug)


def parser_of(verb: str) -> "Parser":
    """Return the parser of one verb."""
    import argparse
    import importlib

    from grammeter.cli.parser import Parser

    module = importlib.import_module(f"grammeter.cli.{_MODULES.get(verb, verb)}")
    parser = Parser(
        prog=f"grammeter {verb}",
        description=VERBS[verb],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=module.run)
    module.add_arguments(parser)
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    return parser


def top_parser() -> "Parser":
    """Return the parser that knows the verbs' names only."""
    import argparse

    from grammeter.cli.parser import Parser
    from grammeter.version import __version__

    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {verb:{width}}  {help_}" for verb, help_ in VERBS.items())
    parser = Parser(
        prog="grammeter",
        description="Measure grammatical error correction systems, and measure the measures.",
        epilog=f"verbs:\n{verbs}\n\n'grammeter VERB --help' tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="grammeter [-h] [--version] VERB ...",
    )
    parser.add_argument("--version", action="version", version=f"grammeter {__version__}")
    parser.add_argument("verb", choices=list(VERBS), metavar="VERB", help="what to do")
    return parser


def _run(arguments: list[str]) -> int:
    import gc
    import warnings
    from functools import partial

    if not arguments:
        top_parser().print_help()
        return 0
    verb = _verb(arguments[0])
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure:  # a replaced standard output may be any file
        reconfigure(encoding="utf-8", errors="backslashreplace")
    # --debug is taken out here, so that it may stand after the name of an action, too
    args = parser_of(verb).parse_args([word for word in arguments[1:] if word != "--debug"])
    gc.set_threshold(100_000)  # millions of small values and no cycles: look less often
    with warnings.catch_warnings():
        warnings.showwarning = partial(_show_warning, quiet=getattr(args, "quiet", False))
        code = args.run(args)
    sys.stdout.flush()
    return int(code)


def _verb(word: str) -> str:
    from grammeter.core import UnknownNameError

    parser = top_parser()
    if word.startswith("-") or word in VERBS:
        return parser.parse_args([word]).verb
    parser.error(str(UnknownNameError("verb", word, VERBS)))


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: str | None = None,
    *,
    quiet: bool,
) -> None:
    """Show a warning of the library as the notes of the shell are shown."""
    if not quiet:
        print(f"note: {message}", file=sys.stderr)


def _show_error(error: "GrammeterError", *, debug: bool) -> int:
    """Tell of an error; return its exit code."""
    from grammeter.cli.ending import say

    if debug:
        import traceback

        say("".join(traceback.format_exception(error)))
        return error.exit_code
    from grammeter.rendering import terminal

    for number, line in enumerate(str(error).split("\n")):
        say(("grammeter: " if not number else "  ") + terminal(line).strip())
    return error.exit_code
