"""Arguments shared by the actions on campaigns: database, campaign, plan."""

from __future__ import annotations

import argparse
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from grammeter.cli.chance_arguments import add_seed

if TYPE_CHECKING:
    from grammeter.campaign import Campaign, Plan

DATABASE = "campaign.db"
SELECTORS = ("paper", "uniform", "diversity")
TASKS = ("ranking", "edits")


def add_database(parser: argparse.ArgumentParser) -> None:
    """Declare the database."""
    parser.add_argument(
        "--database",
        default=DATABASE,
        metavar="FILE_OR_URL",
        help="an SQLite file, or postgresql://USER@HOST/NAME with the password in PGPASSWORD or"
        " ~/.pgpass; default: %(default)s",
    )


def add_campaign(parser: argparse.ArgumentParser) -> None:
    """Declare the campaign and its database."""
    parser.add_argument("campaign", metavar="NAME", help="the campaign's name")
    add_database(parser)


def add_selection(parser: argparse.ArgumentParser, *, n_help: str) -> None:
    """Declare the sampling of items."""
    group = parser.add_argument_group("items")
    group.add_argument("-n", type=int, metavar="N", help=n_help)
    group.add_argument(
        "--per-item",
        type=int,
        default=5,
        metavar="M",
        help="distinct outputs that an item shows at most, default: %(default)s",
    )
    group.add_argument(
        "--select",
        choices=SELECTORS,
        default="paper",
        help="what makes a sentence likely, as in 'grammeter sample'; default: %(default)s",
    )
    add_seed(group.add_argument)


def add_judging(parser: argparse.ArgumentParser, strategies: tuple[str, ...]) -> None:
    """Declare the judges and their numbers of items."""
    group = parser.add_argument_group("judges")
    group.add_argument("--judges", type=int, metavar="N", help="how many are planned for")
    group.add_argument(
        "--strategy",
        choices=strategies,
        default=strategies[0],
        help="planned: each judge has a list; pool: all draw from one; adaptive: items where the"
        " ranking is least certain; default: %(default)s",
    )
    group.add_argument(
        "--overlap",
        type=share_or_count,
        default=0,
        metavar="X",
        help="items that several judges see: a share such as 0.2, or a count such as 40;"
        " default: 0",
    )
    group.add_argument(
        "--repeats",
        type=share_or_count,
        default=0,
        metavar="X",
        help="items that each judge sees twice: a share of theirs, or a count; default: 0",
    )
    group.add_argument(
        "--per-judge", type=int, metavar="N", help="items that one judge gets of a pool at most"
    )
    group.add_argument(
        "--startup",
        type=int,
        metavar="N",
        help="adaptive: judgments before the ranking is looked at; default: five a system, half"
        " of the items at most",
    )


def add_pages(parser: argparse.ArgumentParser) -> None:
    """Declare the contents of the judges' pages."""
    group = parser.add_argument_group("pages")
    group.add_argument("--task", choices=TASKS, default="ranking", help="default: %(default)s")
    group.add_argument("--guidelines", metavar="FILE", help="a text that judges can always read")
    group.add_argument(
        "--consent", metavar="FILE", help="a text that judges must agree to before they begin"
    )
    group.add_argument(
        "--no-background", action="store_true", help="do not ask for first language and experience"
    )
    group.add_argument(
        "--tutorial", metavar="FILE", help="items that answer back, as JSON lines; see the manual"
    )
    group.add_argument(
        "--idle",
        type=int,
        default=60,
        metavar="SECONDS",
        help="without input, after which time stands still; default: %(default)s",
    )
    _add_attention(parser)
    parser.add_argument(
        "--owner",
        nargs="+",
        default=[],
        metavar="NAME",
        help="organisers who may see it in the browser; default: all",
    )


def _add_attention(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("attention")
    group.add_argument(
        "--attention", metavar="FILE", help="items with a known answer, spread among the others"
    )
    group.add_argument(
        "--pass-threshold",
        type=float,
        default=0.75,
        metavar="SHARE",
        help="of them that must be right at the first try; default: %(default)s",
    )
    group.add_argument("--pass-code", default="", metavar="CODE", help="for who passes")
    group.add_argument("--fail-code", default="", metavar="CODE", help="for who does not")
    group.add_argument(
        "--redirect",
        default="",
        metavar="URL",
        help="where judges go at the end; '{code}' stands for their code",
    )


DRAWING = {"select": "paper", "per_item": 5}
"""Arguments for the sampling of items, with their defaults."""

ASKING = {
    **{"strategy": "pool", "judges": None, "overlap": 0, "repeats": 0, "per_judge": None},
    **{"startup": None, "task": "ranking", "tutorial": None, "attention": None},
}
"""Arguments for new judges, with their defaults."""


def unused(args: argparse.Namespace, names: Mapping[str, object], why: str) -> list[str]:
    """Return a note on those of these arguments (name -> default) that were set without effect."""
    changed = [name for name, value in names.items() if getattr(args, name) != value]
    options = ", ".join(f"--{name.replace('_', '-')}" for name in changed)
    return [f"{options} had no effect: {why}"] if changed else []


def share_or_count(text: str) -> float | int:
    """Read ``0.2`` or ``20%`` as a share, ``40`` as a count."""
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return float(text) if "." in text else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a share such as 0.2 nor a count such as 40"
        ) from None


@contextmanager
def only_reading(args: argparse.Namespace) -> Generator[bool]:
    """Open the database for reading; yield whether it is writable, too."""
    from grammeter.campaign import address_for_reading

    with address_for_reading(args.database) as address, at_work(args, reading=address):
        yield address is None


@contextmanager
def at_work(
    args: argparse.Namespace, *, make: bool = False, reading: str | None = None
) -> Generator[None]:
    """Open the database: create a missing one with ``make``; ``reading``: a read-only address."""
    from grammeter.campaign import conf

    conf.configure(args.database, reading=reading)
    from traceback import clear_frames

    from django.db import connections

    from grammeter.campaign import database

    try:
        (database.open_or_make if make else database.open_existing)(args.database)
        with database.explained(args.database):
            yield
    except BaseException as error:
        clear_frames(error.__traceback__)  # open cursors must be closed before their database
        raise
    finally:
        connections.close_all()


def campaign_of(args: argparse.Namespace) -> Campaign:
    """Return the campaign."""
    from grammeter.campaign import campaigns

    return campaigns.find(args.campaign)


def plan(args: argparse.Namespace, *, judges: int) -> Plan:
    """Return the settings of a new campaign."""
    from grammeter.campaign import Kind, Plan, read_checks

    checks: dict[str, Any] = {}
    for kind in (Kind.TUTORIAL, Kind.ATTENTION):
        path = getattr(args, kind.value)
        checks[kind.value] = read_checks(path, kind) if path else ()
    return Plan(
        name=args.campaign,
        task=args.task,
        strategy=args.strategy,
        judges=judges,
        overlap=args.overlap,
        repeats=args.repeats,
        per_judge=args.per_judge,
        startup=args.startup,
        seed=args.seed,
        guidelines=_text(args.guidelines),
        consent=_text(args.consent),
        asks_background=not args.no_background,
        idle_seconds=args.idle,
        pass_threshold=args.pass_threshold,
        pass_code=args.pass_code,
        fail_code=args.fail_code,
        redirect_url=args.redirect,
        owners=tuple(args.owner),
        **checks,
    )


def _text(path: str | None) -> str:
    from grammeter.formats import read_text

    return read_text(path).replace("\0", "") if path else ""
