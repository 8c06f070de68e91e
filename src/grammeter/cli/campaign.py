"""``grammeter campaign``: the annotation server. One module for each action."""

from __future__ import annotations

import argparse

from grammeter.cli.actions import add_actions, run_action

ACTIONS = {
    "create": "make a campaign from a corpus: items, judges, who sees what",
    "import": "make a campaign from a finished evaluation",
    "invite": "one-time links for judges, one a line",
    "serve": "answer browsers",
    "status": "progress, agreement, ranking so far",
    "export": "the judgments, for 'grammeter rank' and 'agree'",
    "close": "take no more judgments",
    "reopen": "take judgments again",
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
    add_actions(parser, "campaign", ACTIONS, listed=True)


def run(args: argparse.Namespace) -> int:
    """Do what is asked; return the exit code."""
    return run_action(args)
