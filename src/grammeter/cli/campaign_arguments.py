"""Arguments of the actions on campaigns; their names are those of the functions in Python."""

from __future__ import annotations

import argparse
from pathlib import Path

from grammeter.cli import corpus_arguments
from grammeter.cli.chance_arguments import add_seed
from grammeter.cli.output import add_output

DATABASE = "campaign.db"
BASE_URL = "http://127.0.0.1:8765"
DAYS = 30.0
SELECTORS = ("paper", "uniform", "diversity")
STRATEGIES = ("planned", "pool", "adaptive")
TASKS = ("ranking", "edits")


def add_create(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``create``."""
    parser.epilog = (
        "examples:\n"
        "  grammeter campaign create pilot -s src.txt --hyps out/* -n 200 --judges 4"
        " --overlap 0.2 --repeats 0.1\n"
        "  grammeter campaign create crowd -s src.txt --hyps out/* -n 1000 --strategy adaptive"
        " --per-judge 60 \\\n"
        "    --attention checks.jsonl --pass-code A1B2 --fail-code C3D4\n"
        "  grammeter campaign create panel -s src.txt --hyps out/* --items sampled.jsonl"
    )
    add_campaign(parser)
    corpus_arguments.add_corpus(parser)
    add_selection(parser, n_help="how many items are drawn")
    parser.add_argument(
        "--items",
        metavar="FILE",
        help="instead of -n: items from 'grammeter sample -o FILE', or judgments, whose sets of"
        " outputs are asked about anew",
    )
    add_judging(parser, STRATEGIES)
    add_pages(parser)
    _add_quiet(parser)


def add_import(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``import``."""
    parser.epilog = (
        "examples:\n"
        "  grammeter campaign import old -s src.txt --hyps out/* --judgments judgments.xml\n"
        "  grammeter campaign import old -s src.txt --hyps out/* --judgments judgments.xml"
        " -n 100 --seed 2"
    )
    add_campaign(parser)
    corpus_arguments.add_corpus(parser)
    parser.add_argument(
        "--judgments",
        nargs="+",
        required=True,
        metavar="FILE",
        help="Appraise XML, WMT CSV or JSON lines",
    )
    parser.add_argument(
        "--first-segment",
        type=int,
        choices=[0, 1],
        help="the number of the first sentence in them; default: found in the outputs",
    )
    add_selection(parser, n_help="new items, for new judges; default: none")
    add_judging(parser, STRATEGIES[1:])
    add_pages(parser)
    _add_quiet(parser)


def add_invite(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``invite``."""
    parser.epilog = (
        "examples:\n"
        "  grammeter campaign invite pilot --judges 4\n"
        "  grammeter campaign invite pilot --judge judge02     (who lost the way back)"
    )
    add_campaign(parser)
    who = parser.add_mutually_exclusive_group()
    who.add_argument(
        "--judges", type=int, default=1, metavar="N", help="how many new ones; default: %(default)s"
    )
    who.add_argument("--judge", metavar="NAME", help="let this judge in again")
    parser.add_argument(
        "--base-url",
        default=BASE_URL,
        metavar="URL",
        help="where judges reach the server, with its port if that is another;"
        " default: %(default)s",
    )
    parser.add_argument(
        "--days", type=float, default=DAYS, metavar="N", help="good for; default: %(default)s"
    )
    _add_quiet(parser)


def add_serve(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``serve``."""
    parser.epilog = (
        "examples:\n"
        "  grammeter campaign serve\n"
        "  grammeter campaign serve --database postgresql://grammeter@db/campaigns --host 0.0.0.0"
        " \\\n    --allowed-host judge.example.org --https --behind-proxy 10.0.0.2"
    )
    add_database(parser)
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="listen here; default: %(default)s"
    )
    parser.add_argument(
        "--port", type=int, default=8765, metavar="N", help="0: any; default: %(default)s"
    )
    parser.add_argument(
        "--allowed-host",
        nargs="+",
        default=[],
        metavar="NAME",
        help="names by which browsers reach it, if not only from this machine; default: --host, or"
        " the name of this machine",
    )
    parser.add_argument(
        "--https",
        action="store_true",
        help="browsers come by HTTPS, through a proxy: cookies go no other way",
    )
    parser.add_argument(
        "--behind-proxy",
        nargs="?",
        const="127.0.0.1",
        metavar="ADDRESS",
        help="believe the X-Forwarded headers of the proxy at this address, default: %(const)s",
    )
    parser.add_argument(
        "--secret-file", metavar="FILE", help="the secret key; default: beside the database"
    )
    _add_quiet(parser)


def add_status(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``status``."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="the campaign; without it, all are listed"
    )
    add_database(parser)
    add_output(parser, formats=("table", "json"))


def add_export(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``export``."""
    parser.epilog = (
        "examples:\n"
        "  grammeter campaign export pilot -o judgments.xml\n"
        "  grammeter campaign export pilot -o judgments.csv --details everything.jsonl"
    )
    add_campaign(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="Appraise XML (.xml), WMT CSV (.csv) or JSON lines (.jsonl), .gz after that if"
        " packed; default: JSON lines on standard output",
    )
    parser.add_argument(
        "--details",
        metavar="FILE",
        help="also write every version of every answer, with orders, times, comments,"
        " probabilities and judged edits, as JSON lines",
    )
    parser.add_argument(
        "--people",
        metavar="FILE",
        help="also write who judges are and what they told of themselves, as JSON lines, apart"
        " from all judgments: personal",
    )
    _add_quiet(parser)


def add_close(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``close``."""
    parser.description = (
        "Take no more judgments, also while it is served: judges who come are told so. What was"
        " handed in stays and can be exported; 'reopen' takes it back."
    )
    add_campaign(parser)
    _add_quiet(parser)


def add_reopen(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``reopen``."""
    parser.description = (
        "Take judgments again after 'close'. Judges go on where they were, in the browser in"
        " which they were; who lost the way back gets a new link with 'invite --judge'."
    )
    add_campaign(parser)
    _add_quiet(parser)


def add_organiser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``organiser``."""
    parser.add_argument("name", metavar="NAME", help="the login")
    add_database(parser)
    parser.add_argument(
        "--every-campaign",
        action="store_true",
        help="let the account see campaigns that belong to others, too",
    )
    parser.add_argument(
        "--make-password",
        action="store_true",
        help="make a password and print it once; default: ask for one, if somebody can answer",
    )
    _add_quiet(parser)


def add_forget(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``forget``."""
    parser.description = (
        "Delete a judge's personal data: the form about themselves, the organiser's note,"
        " sessions, invites, comments and reasons. The judgments stay under the anonymous name."
        " Copies made by 'backup' and exports keep what they hold."
    )
    add_campaign(parser)
    parser.add_argument("judge", metavar="JUDGE", help="the anonymous name")
    parser.add_argument(
        "--rename", metavar="NAME", help="another name, for one that tells who it is"
    )
    _add_quiet(parser)


def add_backup(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``backup``."""
    parser.description = (
        "Copy the database to a new SQLite file, which --database can name. It may be served"
        " meanwhile. A PostgreSQL database is copied to SQLite, too."
    )
    parser.add_argument("target", metavar="FILE", help="a file that does not exist yet")
    add_database(parser)
    _add_quiet(parser)


def add_upgrade(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``upgrade``."""
    parser.description = (
        "Bring a database of an older version up to date. Of an SQLite file a copy is kept"
        " first; copy a PostgreSQL database with pg_dump before."
    )
    add_database(parser)
    parser.add_argument(
        "--copy", metavar="FILE", help="where the copy is kept; default: beside it, ending in .old"
    )
    _add_quiet(parser)


def _add_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="no notices")


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
    parser.add_argument("name", metavar="NAME", help="the campaign's name")
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
    help_ = "a text that judges can always read"
    group.add_argument("--guidelines", type=Path, metavar="FILE", help=help_)
    help_ = "a text that judges must agree to before they begin"
    group.add_argument("--consent", type=Path, metavar="FILE", help=help_)
    help_ = "do not ask for first language and experience"
    group.add_argument("--no-background", dest="background", action="store_false", help=help_)
    help_ = "items that answer back, as JSON lines; see the manual"
    group.add_argument("--tutorial", metavar="FILE", help=help_)
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
    help_ = "items with a known answer, spread among the others"
    group.add_argument("--attention", metavar="FILE", help=help_)
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
