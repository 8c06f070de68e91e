"""``grammeter``: finds the verb, turns errors into exit codes; ready for signals first."""

import sys

from grammeter.cli.signals import Watch

TYPE_CHECKING = False  # as of `typing`, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Sequence

    from grammeter.core import GrammeterError


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
    from grammeter.cli.ending import drop, explained, open_streams, plugin_fault
    from grammeter.core import GrammeterError

    debug = "--debug" in arguments
    try:
        open_streams()
        return _run(arguments)
    except GrammeterError as error:
        return _show_error(error, debug=debug)
    except BrokenPipeError:  # the reader of our output has gone
        drop(sys.stdout)
        return 0
    except (OSError, MemoryError) as error:
        return _show_error(explained(error), debug=debug)
    except Exception as error:
        if watch.came:  # other code turned the signal into another error
            return watch.code()
        fault = plugin_fault(error)
        if fault is None:
            raise
        return _show_error(fault, debug=debug)


def _run(arguments: list[str]) -> int:
    import gc
    import os
    import warnings
    from functools import partial

    from grammeter.cli.parser import VERBS, complete, parser_of, top_parser
    from grammeter.core import UnknownNameError

    if "_ARGCOMPLETE" in os.environ:
        complete(os.environ.get("COMP_LINE", ""))
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    if not arguments:
        top_parser().print_help()
        return 0
    word = arguments[0]
    if not word.startswith("-") and word not in VERBS:
        top_parser().error(str(UnknownNameError("verb", word, VERBS)))
    verb = top_parser().parse_args([word]).verb
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
    return int(code or 0)


def _show_warning(message: Warning | str, *_: object, quiet: bool, **__: object) -> None:
    if not quiet:
        print(f"note: {message}", file=sys.stderr)


def _show_error(error: "GrammeterError", *, debug: bool) -> int:
    from grammeter.cli.ending import say

    if debug:
        import traceback

        say("".join(traceback.format_exception(error)))
        return error.exit_code
    from grammeter.core import terminal

    for number, line in enumerate(str(error).split("\n")):
        say(("grammeter: " if not number else "  ") + terminal(line).strip())
    return error.exit_code
