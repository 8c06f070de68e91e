"""``grammeter campaign``: the annotation server."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from grammeter.cli import inputs
from grammeter.cli.campaign_arguments import ARGUMENTS
from grammeter.cli.flags import add_actions, options
from grammeter.cli.output import emit, notice, remark

if TYPE_CHECKING:
    from grammeter.campaign import CampaignProgress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions, without heavy imports."""
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
    actions = {name: (text, ARGUMENTS[name], run) for name, (text, run) in _ACTIONS.items()}
    add_actions(parser, actions, metavar="ACTION", title="actions")


def _create(args: argparse.Namespace) -> None:
    from grammeter.campaign import campaign_create

    corpus = inputs.corpus(args, references=False)
    made = campaign_create(**options(args, campaign_create, corpus=corpus))
    _report(args, made, _summary(made))


def _summary(made: CampaignProgress) -> str:
    progress = made.progress
    several = f", {progress.shared} of them for several judges" if progress.shared else ""
    items = f"{progress.items} items of {progress.sentences} sentences"
    head = f"campaign {made.campaign}: {items}{several}"
    if not progress.judges:
        return f"{head}; {progress.wanted} judgments wanted, {made.strategy}"
    planned = progress.planned or 0
    again = f", {planned - progress.wanted} of them repeats" if planned > progress.wanted else ""
    judges = "1 judge" if len(progress.judges) == 1 else f"{len(progress.judges)} judges"
    return f"{head}; {planned} judgments planned for {judges}{again}"


def _import(args: argparse.Namespace) -> None:
    from grammeter.campaign import campaign_import
    from grammeter.formats import read_judgments

    corpus = inputs.corpus(args, references=False)
    judgments = read_judgments(
        args.judgments, first_segment=args.first_segment, systems=corpus.systems
    )
    made = campaign_import(**options(args, campaign_import, corpus=corpus, judgments=judgments))
    progress = made.progress
    text = (
        f"campaign {made.campaign}: {progress.done + progress.skipped} judgments by"
        f" {len(progress.judges)} judges, {progress.items} items"
    )
    _report(args, made, text)


def _report(args: argparse.Namespace, made: CampaignProgress, summary: str) -> None:
    for text in (*made.notices, summary):
        notice(args, text)
    remark(made.notes)


def _invite(args: argparse.Namespace) -> None:
    from grammeter.campaign import campaign_invite

    links: dict[str, str] = campaign_invite(**options(args, campaign_invite))
    sys.stdout.write("".join(f"{link}\n" for link in links.values()))
    notice(args, f"for {', '.join(links)}; each link works once, and is not kept anywhere")


def _serve(args: argparse.Namespace) -> None:
    from grammeter.campaign import campaign_serve

    def started(address: str, notes: Sequence[str]) -> None:
        for text in notes:
            notice(args, text)
        signal.signal(signal.SIGTERM, _stop)
        if not args.quiet:
            print(f"{address}  (Ctrl-C ends it)", file=sys.stderr, flush=True)

    campaign_serve(**options(args, campaign_serve, started=started))


def _stop(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _status(args: argparse.Namespace) -> None:
    from grammeter.campaign import campaign_status

    status: Any = campaign_status(**options(args, campaign_status))
    emit(args, status)


def _export(args: argparse.Namespace) -> None:
    from grammeter.campaign import campaign_export
    from grammeter.formats import format_judgments

    judgments = campaign_export(**options(args, campaign_export))
    if not args.output:
        sys.stdout.write(format_judgments(judgments, "jsonl"))
    remark(judgments.notes)
    skipped = sum(ranking.skipped for ranking in judgments)
    for text in (*judgments.notices, f"{len(judgments)} judgments, {skipped} of them skipped"):
        notice(args, text)


def _close(args: argparse.Namespace) -> None:
    from grammeter.campaign import campaign_close

    state = "closed" if campaign_close(**options(args, campaign_close)) else "it was closed before"
    notice(args, f"campaign {args.name}: {state}")


def _reopen(args: argparse.Namespace) -> None:
    from grammeter.campaign import campaign_reopen

    state = "open again" if campaign_reopen(**options(args, campaign_reopen)) else "it is open"
    notice(args, f"campaign {args.name}: {state}")


def _organiser(args: argparse.Namespace) -> None:
    from grammeter.campaign import campaign_organiser

    typed = None if args.make_password or not sys.stdin.isatty() else _typed
    account = campaign_organiser(**options(args, campaign_organiser, password=typed))
    if typed is None:
        sys.stdout.write(account.password + "\n")
    notice(args, f"account {args.name}: {'made' if account.new else 'new password'}")


def _typed() -> str:
    from getpass import getpass

    from grammeter.core import UsageError

    password = getpass("password: ")
    if password != getpass("again: "):
        raise UsageError("the two are not the same", fix="Try again.")
    return password


def _forget(args: argparse.Namespace) -> None:
    from grammeter.campaign import campaign_forget

    judge = campaign_forget(**options(args, campaign_forget))
    notice(args, f"{judge}: personal data are deleted, the judgments stay")


def _backup(args: argparse.Namespace) -> None:
    from grammeter.campaign import campaign_backup

    campaign_backup(**options(args, campaign_backup))
    notice(args, f"copied to {args.target}")


def _upgrade(args: argparse.Namespace) -> None:
    from grammeter.campaign import campaign_upgrade, is_file

    changed = campaign_upgrade(**options(args, campaign_upgrade))
    copy = args.copy or f"{args.database}.old"
    old = f"; {copy} is as it was before" if is_file(args.database) else ""
    notice(args, f"brought up to date{old}" if changed else "it is up to date")


_ACTIONS: dict[str, tuple[str, Callable[[argparse.Namespace], None]]] = {
    "create": ("make a campaign from a corpus: items, judges, who sees what", _create),
    "import": ("make a campaign from a finished evaluation", _import),
    "invite": ("one-time links for judges, one a line", _invite),
    "serve": ("answer browsers", _serve),
    "status": ("progress, agreement, ranking so far", _status),
    "export": ("the judgments, for 'grammeter rank' and 'agree'", _export),
    "close": ("take no more judgments", _close),
    "reopen": ("take judgments again", _reopen),
    "organiser": (
        "make an account for the organiser's pages, or give it a new password",
        _organiser,
    ),
    "forget": ("delete a judge's personal data; the judgments stay", _forget),
    "backup": ("copy the database, also while it is served", _backup),
    "upgrade": ("bring the database of an older version up to date", _upgrade),
}
"""Action -> what it does, and what runs it."""
