"""``grammeter campaign``: the annotation server. One module for each action."""

from __future__ import annotations

import argparse
import importlib

ACTIONS = {
    "create": "make a campaign from a corpus: items, judges, who sees what",
    "import": "make a campaign from a finished evaluation",
    "invite": "one-time links for judges, one a line",
    "serve": "answer browsers",
    "status": "progress, agreement, ranking so far",
    "export": "the judgments, for 'grammeter rank' and 'agree'",
    "organiser": "make an account for the organiser's pages, or give it a new password",
    "forget": "delete a judge's personal data; the judgments stay",
    "backup": "copy the database, also while it is served",
    "upgrade": "bring the database of an older version up to date",
}
"""What is done -> in a few words; the module is ``grammeter.cli.campaign_ACTION``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions; nothing heavy is imported for it."""
    parser.description = (
        "Run a human evaluation: judges rank corrections in their browsers. Campaigns live in"
        " one database, by default the file campaign.db in the current folder."
    )
    parser.epilog = (
        "example:\n"
        "  grammeter campaign create pilot -s src.txt --hyps out/* -n 200 --judges 4"
        " --overlap 0.2\n"
        "  grammeter campaign invite pilot --judges 4\n"
        "  grammeter campaign serve\n"
        "  grammeter campaign export pilot -o judgments.xml"
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION", title="actions")
    for name, help_ in ACTIONS.items():
        module = importlib.import_module(f"grammeter.cli.campaign_{name}")
        own = actions.add_parser(
            name,
            help=help_,
            description=help_,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(own)
        own.set_defaults(answer=module.run)


def run(args: argparse.Namespace) -> int:
    """Do what is asked; return the exit code."""
    return int(args.answer(args))
