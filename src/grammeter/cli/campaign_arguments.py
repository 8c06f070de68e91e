"""Arguments of the actions on campaigns: parameters of the functions in ``grammeter.campaign``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from grammeter.cli import inputs
from grammeter.cli.flags import add_options, one_of
from grammeter.cli.output import add_output

SELECTORS = ("paper", "uniform", "diversity")
STRATEGIES = ("planned", "pool", "adaptive")
TASKS = ("ranking", "edits")
DATABASE = {
    "database": "an SQLite file, or postgresql://USER@HOST/NAME with the password in PGPASSWORD or"
    " ~/.pgpass"
}
NAME = {"name": "the campaign's name"}
METAVARS = {"name": "NAME", "judge": "JUDGE", "target": "FILE"}


def _arguments(
    function: str,
    names: Mapping[str, str] = NAME,
    flags: Mapping[str, str] | None = None,
    *,
    about: str | None = None,
    examples: str | None = None,
    **settings: Any,
) -> Callable[[argparse.ArgumentParser], None]:
    """Return what declares an action: positional ``names``, the function's ``flags``, database."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.description = about or parser.description
        parser.epilog = examples
        for name, text in names.items():
            parser.add_argument(name, metavar=METAVARS[name], help=text)
        add_options(parser, f"campaign.{function}", {**DATABASE, **(flags or {})}, **settings)
        _add_quiet(parser)

    return add


def _add_create(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "examples:\n"
        "  grammeter campaign create pilot -s src.txt --hyps out/* -n 200 --judges 4"
        " --overlap 0.2 --repeats 0.1\n"
        "  grammeter campaign create crowd -s src.txt --hyps out/* -n 1000 --strategy adaptive"
        " --per-judge 60 \\\n"
        "    --attention checks.jsonl --pass-code A1B2 --fail-code C3D4\n"
        "  grammeter campaign create panel -s src.txt --hyps out/* --items sampled.jsonl"
    )
    _add_making(parser, "campaign.campaign_create", "how many items are drawn", STRATEGIES)
    add_options(parser, "campaign.campaign_create", {
        "items": "instead of -n: items from 'grammeter sample -o FILE', or judgments, whose sets of"
        " outputs are asked about anew",
    })  # fmt: skip


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "examples:\n"
        "  grammeter campaign import old -s src.txt --hyps out/* --judgments judgments.xml\n"
        "  grammeter campaign import old -s src.txt --hyps out/* --judgments judgments.xml"
        " -n 100 --seed 2"
    )
    parser.add_argument(
        "--judgments",
        nargs="+",
        required=True,
        metavar="FILE",
        help="Appraise XML, WMT CSV or JSON lines",
    )
    add_options(parser, "formats.read_judgments", {
        "first_segment": "the number of the first sentence in them; default: found in the outputs",
    })  # fmt: skip
    text = "new items, for new judges; default: none"
    _add_making(parser, "campaign.campaign_import", text, STRATEGIES[1:])


def _add_making(
    parser: argparse.ArgumentParser, function: str, items: str, strategies: Sequence[str]
) -> None:
    parser.add_argument("name", metavar="NAME", help=NAME["name"])
    inputs.add_corpus(parser)
    add_options(parser, function, {
        "n": items,
        "per_item": "distinct outputs that an item shows at most",
        "select": "what makes a sentence likely, as in 'grammeter sample'",
        "seed": "where all draws start",
    }, "items", select=one_of(SELECTORS))  # fmt: skip
    add_options(parser, function, {
        "judges": "", "strategy": "",
        "overlap": "items that several judges see: a share such as 0.2, or a count such as 40;"
        " default: 0",
        "repeats": "items that each judge sees twice: a share of theirs, or a count; default: 0",
        "per_judge": "",
        "startup": "adaptive: judgments before the ranking is looked at; default: five a system,"
        " half of the items at most",
    }, "judges", strategy=one_of(strategies))  # fmt: skip
    text = {"type": _text, "metavar": "FILE"}
    add_options(parser, function, {
        "task": "",
        "guidelines": "a text that judges can always read",
        "consent": "a text that judges must agree to before they begin",
        "background": "do not ask for first language and experience",
        "tutorial": "items that answer back, as JSON lines; see the manual",
        "idle": "",
    }, "pages", task=one_of(TASKS), guidelines=text, consent=text)  # fmt: skip
    add_options(parser, function, {
        "attention": "items with a known answer, spread among the others",
        "pass_threshold": "",
        "pass_code": "for who passes",
        "fail_code": "for who does not",
        "redirect": "where judges go at the end; '{code}' stands for their code",
    }, "attention")  # fmt: skip
    add_options(parser, function, {
        **DATABASE, "owner": "",
    })  # fmt: skip
    _add_quiet(parser)


def _text(path: str) -> Path | str:
    return Path(path) if path else ""


def _add_invite(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "examples:\n"
        "  grammeter campaign invite pilot --judges 4\n"
        "  grammeter campaign invite pilot --judge judge02     (who lost the way back)"
    )
    parser.add_argument("name", metavar="NAME", help=NAME["name"])
    group = parser.add_mutually_exclusive_group()
    add_options(group, "campaign.campaign_invite", "judges judge")
    more = {"base_url": "where judges reach the server", "days": "good for so many days"}
    add_options(parser, "campaign.campaign_invite", DATABASE | more)
    _add_quiet(parser)


def _add_status(parser: argparse.ArgumentParser) -> None:
    text = "the campaign; without it, all are listed"
    parser.add_argument("name", nargs="?", metavar="NAME", help=text)
    add_options(parser, "campaign.campaign_status", DATABASE)
    add_output(parser, formats=("table", "json"))


def _add_organiser(parser: argparse.ArgumentParser) -> None:
    _organiser_arguments(parser)
    parser.add_argument(
        "--make-password",
        action="store_true",
        help="make a password and print it once; default: ask for one, if somebody can answer",
    )


def _add_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="no notices")


_organiser_arguments = _arguments("campaign_organiser", {"name": "the login"}, {
    "every_campaign": "let the account see campaigns that belong to others, too",
})  # fmt: skip


ARGUMENTS: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "create": _add_create,
    "import": _add_import,
    "invite": _add_invite,
    "serve": _arguments("campaign_serve", {}, {
        "host": "where to listen",
        "port": "where to listen; 0: any free port",
        "allowed_host": "", "https": "",
        "behind_proxy": "believe the X-Forwarded headers of the proxy at this address,"
        " default: %(const)s",
        "secret_file": "",
    }, behind_proxy={"nargs": "?", "const": "127.0.0.1", "metavar": "ADDRESS"}, examples=(
        "examples:\n"
        "  grammeter campaign serve\n"
        "  grammeter campaign serve --database postgresql://grammeter@db/campaigns"
        " --host 0.0.0.0 \\\n"
        "    --allowed-host judge.example.org --https --behind-proxy 10.0.0.2"
    )),
    "status": _add_status,
    "export": _arguments("campaign_export", NAME, {
        "output": "Appraise XML (.xml), WMT CSV (.csv) or JSON lines (.jsonl), .gz after that if"
        " packed; default: JSON lines on standard output",
        "details": "", "people": "",
    }, examples=(
        "examples:\n"
        "  grammeter campaign export pilot -o judgments.xml\n"
        "  grammeter campaign export pilot -o judgments.csv --details everything.jsonl"
    )),
    "close": _arguments("campaign_close", about=(
        "Take no more judgments, also while it is served: judges who come are told so. What was"
        " handed in stays and can be exported; 'reopen' takes it back."
    )),
    "reopen": _arguments("campaign_reopen", about=(
        "Take judgments again after 'close'. Judges go on where they were, in the browser in"
        " which they were; who lost the way back gets a new link with 'invite --judge'."
    )),
    "organiser": _add_organiser,
    "forget": _arguments("campaign_forget", NAME | {"judge": "the anonymous name"}, {
        "rename": "another name, for one that tells who it is",
    }, about=(
        "Delete a judge's personal data: the form about themselves, the organiser's note,"
        " sessions, invites, comments and reasons. The judgments stay under the anonymous name."
        " Copies made by 'backup' and exports keep what they hold."
    )),
    "backup": _arguments("campaign_backup", {"target": "a file that does not exist yet"}, about=(
        "Copy the database to a new SQLite file, which --database can name. It may be served"
        " meanwhile. A PostgreSQL database is copied to SQLite, too."
    )),
    "upgrade": _arguments("campaign_upgrade", {}, {
        "copy": "where the copy is kept; default: beside it, ending in .old",
    }, about=(
        "Bring a database of an older version up to date. Of an SQLite file a copy is kept"
        " first; copy a PostgreSQL database with pg_dump before."
    )),
}  # fmt: skip
"""Action -> what declares its arguments."""
