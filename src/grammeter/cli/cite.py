"""``grammeter cite``: what to cite for a metric, and for this program."""

from __future__ import annotations

import argparse
import sys

from grammeter.version import __version__

OWN = f"""@software{{grammeter,
  title = {{grammeter: measuring grammatical error correction systems}},
  author = {{{{The grammeter authors}}}},
  version = {{{__version__}}},
  year = {{2026}}
}}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; nothing heavy is imported for it."""
    parser.epilog = "example:\n  grammeter cite m2 gleu >> references.bib"
    parser.add_argument(
        "names", nargs="*", metavar="METRIC", help="metrics; default: grammeter itself"
    )


def run(args: argparse.Namespace) -> None:
    """Print BibTeX entries, each once."""
    from grammeter.metrics import metric

    entries = [metric(name).citation for name in args.names] or [OWN]
    sys.stdout.write("\n\n".join(dict.fromkeys(entries)) + "\n")
