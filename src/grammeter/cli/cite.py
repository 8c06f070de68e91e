"""``grammeter cite``: what to cite for a metric, and for this program."""

import argparse
import sys

import grammeter as gm
from grammeter.version import __version__

OWN = f"""@software{{grammeter,
  title = {{grammeter: measuring grammatical error correction systems}},
  author = {{{{The grammeter authors}}}},
  version = {{{__version__}}},
  year = {{2026}}
}}"""


def run(args: argparse.Namespace) -> None:
    """Print BibTeX entries, each once."""
    entries = [gm.metric(name).citation for name in args.names] or [OWN]
    sys.stdout.write("\n\n".join(dict.fromkeys(entries)) + "\n")
