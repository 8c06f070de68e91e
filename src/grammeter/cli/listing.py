"""``grammeter list``: the metrics, their options and defaults."""

import argparse
import sys
from typing import Any

import grammeter as gm
from grammeter import metrics
from grammeter.cli.output import notice, print_json
from grammeter.core import GrammeterError


def run(args: argparse.Namespace) -> None:
    """List and print."""
    known: list[dict[str, Any]] = []
    for name in [args.name] if args.name else metrics.names():
        try:
            known.append(metrics.describe(name))
        except GrammeterError as error:
            if args.name:
                raise
            notice(args, f"left out: {error.message}")
    if args.format == "json":
        print_json({"kind": "metrics", "metrics": known})
        return
    rows = tuple((m["name"], m["needs"], _options(m), m["title"]) for m in known)
    table = gm.Table.of(("metric", "needs", "options (default)", "what it is"), rows)
    sys.stdout.write(table.write(args.format))


def _options(described: dict[str, Any]) -> str:
    options: dict[str, str] = described["options"]
    return ", ".join(f"{name} ({default})" for name, default in options.items())
