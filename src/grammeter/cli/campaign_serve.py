"""``grammeter campaign serve``: answer browsers until somebody stops it."""

from __future__ import annotations

import argparse
import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING

from grammeter.cli import campaign_arguments
from grammeter.cli.output import notice

if TYPE_CHECKING:
    from grammeter.campaign import Address


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  grammeter campaign serve\n"
        "  grammeter campaign serve --database postgresql://grammeter@db/campaigns --host 0.0.0.0"
        " \\\n    --allowed-host judge.example.org --https --behind-proxy 10.0.0.2"
    )
    campaign_arguments.add_database(parser)
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
    parser.add_argument("--quiet", action="store_true", help="no notices")


def run(args: argparse.Namespace) -> int:
    """Serve; return the exit code."""
    from grammeter.campaign import Address, conf

    address = Address(host=args.host, port=args.port, proxy=args.behind_proxy)
    _check(args, address)
    with campaign_arguments.at_work(args):
        pass  # whether it can be served at all, before a key is made
    names = args.allowed_host or _own_names(args, address)
    server = conf.Server(hosts=names, https=args.https, secret_file=args.secret_file)
    conf.configure(args.database, server)
    _serve(args, address)
    return 0


def _check(args: argparse.Namespace, address: Address) -> None:
    from grammeter.core import UsageError

    if args.https and args.behind_proxy is None:
        raise UsageError(
            "--https needs a proxy in front, for this server itself speaks HTTP",
            fix="Add --behind-proxy ADDRESS, where that proxy runs.",
        )
    if not address.is_loopback and not args.https:
        notice(args, "without --https, invites and passwords cross the network for all to read")


def _own_names(args: argparse.Namespace, address: Address) -> list[str]:
    """Return by which names other machines may ask, if nobody said so."""
    import platform

    if address.is_loopback:
        return []
    everywhere = args.host in ("0.0.0.0", "::", "")  # noqa: S104 - asked for, not bound here
    host = f"[{args.host}]" if ":" in args.host else args.host
    names = [platform.node()] if everywhere else [host]
    notice(
        args,
        f"browsers of other machines must ask for {names[0]}; other names:"
        " --allowed-host judge.example.org",
    )
    return names


def _serve(args: argparse.Namespace, address: Address) -> None:
    from grammeter.campaign import make_server

    server = make_server(address)
    signal.signal(signal.SIGTERM, _stop)
    host = f"[{args.host}]" if ":" in args.host else args.host
    if not args.quiet:
        address_shown = f"http://{host}:{server.effective_port}"
        print(f"{address_shown}  (Ctrl-C ends it)", file=sys.stderr, flush=True)
    try:
        server.run()  # returns when it is told to stop, and finishes what it is doing
    finally:
        server.close()


def _stop(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
