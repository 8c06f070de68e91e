"""``grammeter campaign``: the annotation server."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from types import FrameType

import grammeter as gm
from grammeter import campaign, formats
from grammeter.cli import flags, inputs
from grammeter.cli.output import emit, notice, remark


def run_create(args: argparse.Namespace) -> None:
    """Make a campaign from a corpus."""
    made = flags.call(args, gm.campaign_create, corpus=inputs.corpus(args, references=False))
    notice(args, _summary(made))
    remark(made.notes)


def _summary(made: campaign.CampaignProgress) -> str:
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


def run_import(args: argparse.Namespace) -> None:
    """Make a campaign from a finished evaluation."""
    corpus = inputs.corpus(args, references=False)
    first, systems = args.first_segment, corpus.systems
    judgments = formats.read_rankings(args.judgments, first_segment=first, systems=systems)
    options = flags.options(args, gm.campaign_create, corpus=corpus)
    made = gm.campaign_import(judgments=judgments, **options)
    for text in made.notices:
        notice(args, text)
    progress = made.progress
    judges = f"{progress.done + progress.skipped} judgments by {len(progress.judges)} judges"
    notice(args, f"campaign {made.campaign}: {judges}, {progress.items} items")
    remark(made.notes)


def run_invite(args: argparse.Namespace) -> None:
    """Print one-time links for judges."""
    links: dict[str, str] = flags.call(args, gm.campaign_invite)
    sys.stdout.write("".join(f"{link}\n" for link in links.values()))
    notice(args, f"for {', '.join(links)}; each link works once, and is not kept anywhere")


def run_serve(args: argparse.Namespace) -> None:
    """Answer browsers."""

    def started(address: str, notes: Sequence[str]) -> None:
        for text in notes:
            notice(args, text)
        signal.signal(signal.SIGTERM, _stop)
        if not args.quiet:
            print(f"{address}  (Ctrl-C ends it)", file=sys.stderr, flush=True)

    flags.call(args, gm.campaign_serve, started=started)


def _stop(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def run_status(args: argparse.Namespace) -> None:
    """Print how far campaigns are."""
    emit(args, flags.call(args, gm.campaign_status))


def run_export(args: argparse.Namespace) -> None:
    """Write the judgments."""
    made = flags.call(args, gm.campaign_export)
    by_task = isinstance(made, campaign.CampaignExport)
    if not args.output:
        sys.stdout.write(made.text if by_task else formats.format_judgments(made, "jsonl"))
    remark(made.notes)
    if by_task:
        counts = [(f"{one.task}: ", one.answers + one.skipped, one.skipped) for one in made.exports]
    else:
        counts = [("", len(made), sum(one.skipped for one in made))]
    for task, total, skipped in counts:
        notice(args, f"{task}{total} judgments, {skipped} of them skipped")


def run_close(args: argparse.Namespace) -> None:
    """Take no more judgments."""
    state = "closed" if flags.call(args, gm.campaign_close) else "it was closed before"
    notice(args, f"campaign {args.name}: {state}")


def run_reopen(args: argparse.Namespace) -> None:
    """Take judgments again."""
    state = "open again" if flags.call(args, gm.campaign_reopen) else "it is open"
    notice(args, f"campaign {args.name}: {state}")


def run_change(args: argparse.Namespace) -> None:
    """Change settings."""
    changed = flags.call(args, gm.campaign_change)
    what = ", ".join(changed) or "nothing, all was so before"
    notice(args, f"campaign {args.name}: changed {what}")


def run_exclude(args: argparse.Namespace) -> None:
    """Leave a judge out."""
    new = flags.call(args, gm.campaign_exclude)
    notice(args, f"{args.judge}: {'left out of results' if new else 'was left out so before'}")


def run_include(args: argparse.Namespace) -> None:
    """Count a judge again."""
    was = flags.call(args, gm.campaign_include)
    notice(args, f"{args.judge}: {'counts again' if was else 'was not left out'}")


def run_delete(args: argparse.Namespace) -> None:
    """Delete all of a campaign."""
    if not args.yes:
        fix = "Add --yes to delete its judges, judgments and log; 'backup' copies the database."
        raise gm.UsageError(f"campaign {args.name} would be deleted", fix=fix)
    judgments = flags.call(args, gm.campaign_delete)
    notice(args, f"campaign {args.name}: deleted, with {judgments} judgments")


def run_organiser(args: argparse.Namespace) -> None:
    """Make an account, or give it a new password."""
    typed = None if args.make_password or not sys.stdin.isatty() else _typed
    account = flags.call(args, gm.campaign_organiser, password=typed)
    if typed is None:
        sys.stdout.write(account.password + "\n")
    notice(args, f"account {args.name}: {'made' if account.new else 'new password'}")


def _typed() -> str:
    from getpass import getpass

    password = getpass("password: ")
    if password != getpass("again: "):
        raise gm.UsageError("the two are not the same", fix="Try again.")
    return password


def run_forget(args: argparse.Namespace) -> None:
    """Delete a judge's personal data."""
    judge = flags.call(args, gm.campaign_forget)
    notice(args, f"{judge}: personal data are deleted, the judgments stay")


def run_backup(args: argparse.Namespace) -> None:
    """Copy the database."""
    flags.call(args, gm.campaign_backup)
    notice(args, f"copied to {args.target}")


def run_upgrade(args: argparse.Namespace) -> None:
    """Bring the database up to date."""
    changed = flags.call(args, gm.campaign_upgrade)
    copy = args.copy or f"{args.database}.old"
    old = f"; {copy} is as it was before" if campaign.is_file(args.database) else ""
    notice(args, f"brought up to date{old}" if changed else "it is up to date")
