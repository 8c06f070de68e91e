"""The functions behind ``grammeter campaign``; each opens the database that it works on."""

import os
import platform
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from traceback import clear_frames
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from grammeter.campaign import conf, services, status
from grammeter.campaign.conf import DATABASE, is_file
from grammeter.campaign.guidelines import read_guidelines
from grammeter.campaign.status import CampaignExport, CampaignList, CampaignProgress, CampaignStatus
from grammeter.core import UsageError, require

if TYPE_CHECKING:
    from grammeter.formats import Judgments


class Account(NamedTuple):
    """An organiser's account; ``new`` is false if only the password changed."""

    name: str
    password: str
    new: bool


def campaign_invite(
    name: str,
    *, judges: int = 1, judge: str | None = None, base_url: str = "http://127.0.0.1:8765",
    days: float = 30.0, database: str | Path = DATABASE,
) -> dict[str, str]:  # fmt: skip
    """Create one-time links for judges; return judge -> link. The links are not stored.

    Raises :class:`UsageError` if the address or a number is invalid, or places are too few.

    Parameters
    ----------
    name, database
        The campaign; an SQLite file, or ``postgresql://USER@HOST/NAME``.
    judges, judge
        Number of links for new judges; instead: the name of a judge who needs another link.
    base_url, days
        Address of the server; validity of the links.
    """
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/"):
        fix = "Write it as https://judge.example.org: the pages stand at the root of a host."
        raise UsageError(f"the address {base_url!r}", fix=fix)
    with opened(database):
        campaign = services.campaigns.find(name)
        guest = services.judges.find(campaign, judge) if judge else None
        tokens = services.judges.invite(campaign, judges, judge=guest, days=days)
        return services.judges.links(base_url, tokens)


def campaign_status(
    name: str | None = None, *, database: str | Path = DATABASE
) -> CampaignStatus | CampaignList:
    """Return a campaign's progress, agreement and ranking so far; without a name, list all."""
    with opened_for_reading(database):
        from grammeter.campaign.models import Campaign

        if name is not None:
            return CampaignStatus.of(services.campaigns.find(name))
        return CampaignList(tuple(map(CampaignProgress.of, Campaign.objects.order_by("name"))))


def campaign_export(
    name: str,
    *, output: str | Path | None = None, details: str | Path | None = None,
    people: str | Path | None = None, database: str | Path = DATABASE,
) -> "Judgments | CampaignExport":  # fmt: skip
    """Return the judgments, each once; write them and more to files.

    Rankings, if there is no other task; else the answers to each task, whose files the other verbs
    read. Raises :class:`UsageError` if ``output`` cannot hold them.

    Parameters
    ----------
    name, database
        The campaign; an SQLite file, or ``postgresql://USER@HOST/NAME``.
    output
        Rankings: Appraise XML (.xml), WMT CSV (.csv) or JSON lines (.jsonl), .gz after that if
        packed. Other tasks: JSON lines; several tasks or post-edits: a folder, with files for each.
    details
        JSON lines of every version of every answer, with all that is known of it.
    people
        JSON lines of the judges' personal data; the campaign's log says that they were exported.
    """
    from grammeter.formats import write_judgments, write_text

    with opened_for_reading(database) as writable:
        from grammeter.campaign.models import COMMAND_LINE, AuditEntry
        from grammeter.campaign.tasks import JOBS

        campaign, results = services.campaigns.find(name), services.results
        task, *others = tasks = results.normal_tasks(campaign) or [campaign.tasks[0]]
        plain = not others and JOBS[task].ranked and not status.is_folder(output)
        judgments = results.judgments(campaign, *tasks) if plain else CampaignExport.of(campaign)
        paths = {"details": details, "people": people}
        texts = {path: results.text(campaign, name) for name, path in paths.items() if path}
        if people and writable:
            AuditEntry.log(campaign, COMMAND_LINE, "export", form="people")
        left_out = results.left_out(campaign)
    notices, notes = (), judgments.notes
    if isinstance(judgments, CampaignExport):
        judgments.save(output) if output else None
    else:
        notices, notes = tuple(write_judgments(output, judgments)) if output else (), ()
        if JOBS[task].marked and not details:
            notes = ("verdicts on edits: --details has them, and so has a folder, -o results/",)
    for path, text in texts.items():
        write_text(path, text, private=True)
    if people and not writable:
        notes += ("the database is read-only: its log does not say that --people was written",)
    return replace(judgments, notices=notices, notes=(*notes, *left_out))


def campaign_close(name: str, *, database: str | Path = DATABASE) -> bool:
    """Take no more judgments; return whether the campaign was open."""
    with opened(database):
        return services.campaigns.close(services.campaigns.find(name))


def campaign_reopen(name: str, *, database: str | Path = DATABASE) -> bool:
    """Take judgments again; return whether the campaign was closed."""
    with opened(database):
        return services.campaigns.close(services.campaigns.find(name), False)


def campaign_change(
    name: str,
    *, rename: str | None = None, guidelines: str | Path | None = None,
    redirect: str | None = None, database: str | Path = DATABASE,
) -> list[str]:  # fmt: skip
    """Change a campaign, also while it is served; return the names of the settings that changed.

    Raises :class:`UsageError` if a name is taken or an address is none, :class:`DataError` if the
    guidelines cannot be read.

    Parameters
    ----------
    name, database
        The campaign; an SQLite file, or ``postgresql://USER@HOST/NAME``.
    rename, redirect
        Another name, and where judges are sent at the end.
    guidelines
        Markdown, or a file of it, whose pictures lie beside it.
    """
    text = read_guidelines(guidelines) if isinstance(guidelines, Path) else guidelines
    values = {"name": rename, "guidelines": text, "redirect_url": redirect}
    wanted = {key: value for key, value in values.items() if value is not None}
    if not wanted:
        raise UsageError("nothing to change", fix="Say what: --guidelines, --rename, --redirect.")
    with opened(database):
        return services.campaigns.change(services.campaigns.find(name), **wanted)


def campaign_delete(name: str, *, database: str | Path = DATABASE) -> int:
    """Delete a campaign with its judges, judgments and log; return how many judgments that were.

    Copies of the database and exports keep their data.
    """
    with opened(database):
        return services.campaigns.delete(services.campaigns.find(name))


def campaign_exclude(
    name: str, judge: str, *, reason: str, database: str | Path = DATABASE
) -> bool:
    """Leave a judge out of results and exports, which say so; return whether that is new.

    Raises :class:`UsageError` if the reason is empty. Answers stay, and :func:`campaign_include`
    takes it back.

    Parameters
    ----------
    name, judge, database
        The campaign, the judge's anonymous name; an SQLite file, or ``postgresql://USER@HOST/NAME``.
    reason
        Why; results give the reason.
    """
    if not reason.strip():
        raise UsageError("no reason", fix="Say why; results give the reason.")
    return _excluded(name, judge, reason, database)


def campaign_include(name: str, judge: str, *, database: str | Path = DATABASE) -> bool:
    """Count an excluded judge again; return whether the judge was excluded.

    Parameters
    ----------
    name, judge, database
        The campaign, the judge's anonymous name; an SQLite file, or ``postgresql://USER@HOST/NAME``.
    """
    return _excluded(name, judge, "", database)


def _excluded(name: str, judge: str, reason: str, database: str | Path) -> bool:
    with opened(database):
        person = services.judges.find(services.campaigns.find(name), judge)
        return services.judges.exclude(person, reason)


def campaign_forget(
    name: str, judge: str, *, rename: str | None = None, database: str | Path = DATABASE
) -> str:
    """Delete a judge's personal data; return the judge's name.

    Copies of the database and exports keep their data.

    Parameters
    ----------
    judge, rename
        The anonymous name in the campaign ``name``, and another one.
    """
    with opened(database):
        person = services.judges.find(services.campaigns.find(name), judge)
        return services.judges.forget(person, rename=rename).name


def campaign_organiser(
    name: str,
    *, password: str | Callable[[], str] | None = None, every_campaign: bool = False,
    database: str | Path = DATABASE,
) -> Account:  # fmt: skip
    """Create an account for the organisers' pages, or change its password.

    Raises :class:`UsageError` if the name or the password is refused, with the reason.

    Parameters
    ----------
    name, database
        The login; an SQLite file, or ``postgresql://USER@HOST/NAME``.
    password, every_campaign
        Or a function that asks for it, default: a random one; whether others' campaigns are seen.
    """
    with opened(database, make=True):
        word = password() if callable(password) else password or secrets.token_urlsafe(15)
        new = services.organisers.save_account(name, word, every_campaign=every_campaign)
        return Account(name, word, new)


def campaign_backup(target: str | Path, *, database: str | Path = DATABASE) -> None:
    """Copy a database to a new SQLite file, consistently, also while it is served."""
    with opened_for_reading(database):
        services.database.backup(database, target)


def campaign_upgrade(*, copy: str | Path | None = None, database: str | Path = DATABASE) -> bool:
    """Upgrade a database of an older version; return whether that was needed.

    An SQLite file is copied to ``copy`` before; default: beside it, ending in ``.old``.
    """
    conf.configure(database)
    return services.database.upgrade(database, copy or f"{database}.old")


def campaign_serve(
    *, host: str = "127.0.0.1", port: int = 8765, allowed_host: Sequence[str] = (),
    https: bool = False, behind_proxy: str | None = None, secret_file: str | Path | None = None,
    started: Callable[[str, Sequence[str]], object] | None = None,
    database: str | Path = DATABASE,
) -> None:  # fmt: skip
    """Serve the pages of judges and organisers until interrupted.

    Raises :class:`UsageError` if the address cannot be used, or ``https`` is set without a proxy.

    Parameters
    ----------
    host, port
        Where to listen; port 0: any free one.
    allowed_host
        Host names for browsers of other machines; default: ``host``, or this machine's name.
    https, behind_proxy
        Browsers use HTTPS, through a proxy: cookies are sent over nothing else. Address of a
        trusted proxy, which sends ``X-Forwarded`` headers.
    secret_file
        The secret key; default: beside the database.
    started
        Called with the address of the pages, and notes on the network.
    """
    for module in ("waitress.server", "markdown_it"):
        require(module, extra="campaign")
    from grammeter.campaign.server import make_server

    if https and behind_proxy is None:
        fault = "--https needs a proxy in front, for this server itself speaks HTTP"
        raise UsageError(fault, fix="Add --behind-proxy ADDRESS, where that proxy runs.")
    with opened(database):
        pass  # raises errors before a key is made
    notes, shown = list[str](), f"[{host}]" if ":" in host else host  # as in a URL
    is_loopback = host in ("localhost", "::1") or host.startswith("127.")
    if not is_loopback and not https:
        notes.append("without --https, invites and passwords cross the network for all to read")
    if not (names := [*allowed_host]) and not is_loopback:
        everywhere = host in ("0.0.0.0", "::", "")  # noqa: S104 - compared, not bound here
        names = [platform.node() if everywhere else shown]
        other = "other names: --allowed-host judge.example.org"
        notes.append(f"browsers of other machines must ask for {names[0]}; {other}")
    conf.configure(database, serve=True, hosts=names, https=https, secret_file=secret_file)
    server = make_server(host, port, behind_proxy)
    try:
        if started is not None:
            started(f"http://{shown}:{server.effective_port}", notes)
        server.run()  # ends at an interrupt, after the requests of that moment
    finally:
        server.close()


@contextmanager
def opened(
    database: str | Path, *, make: bool = False, copy: Path | None = None
) -> Generator[None]:
    """Open a database, or a ``copy`` of it; create a missing one with ``make``."""
    conf.configure(copy or database)
    from django.db import connections

    databases = services.database
    try:
        (databases.open_or_make if make else databases.open_existing)(database)
        with databases.explained(database):
            yield
    except BaseException as error:
        clear_frames(error.__traceback__)  # open cursors must be closed before their database
        raise
    finally:
        connections.close_all()


@contextmanager
def opened_for_reading(database: str | Path) -> Generator[bool]:
    """Open a database for reading; yield whether it is writable, too.

    Of a file that may not be written a copy is read, because SQLite writes beside what it reads.
    """
    path = Path(database)
    writable = os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)
    if not is_file(database) or not path.is_file() or writable:
        with opened(database):
            yield True
        return
    with tempfile.TemporaryDirectory(prefix="grammeter-") as folder:
        copy, address = Path(folder, path.name), f"{path.resolve().as_uri()}?mode=ro"
        try:  # consistent, also while others write
            whole = closing(sqlite3.connect(address, uri=True))
            with whole as source, closing(sqlite3.connect(copy)) as target:
                source.backup(target)
        except sqlite3.Error:  # the latest answers may lie in FILE-wal, and FILE-shm is missing
            for end in ("", "-wal"):
                with suppress(FileNotFoundError):
                    shutil.copyfile(f"{path}{end}", f"{copy}{end}")
        with opened(database, copy=copy):
            yield False
