"""``grammeter data``: the named data sets, where they are and how they get here."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import grammeter as gm
from grammeter import formats
from grammeter.cli.output import emit_data, notice, style
from grammeter.core import listed


def run_list(args: argparse.Namespace) -> int:
    """Print all data sets, and whether they are here."""
    listings = formats.list_datasets(verify=args.verify)
    sets = [_listing_json(listing) for listing in listings]
    for listing, entry in zip(listings, sets, strict=True) if args.verify else ():
        entry["damaged"] = [file.path for file in listing.damaged]
    data = {"kind": "data-sets", "folder": str(formats.data_folder()), "datasets": sets}
    table = gm.Table.of(("name", "languages", "state", "get", "what"), map(_row, listings))
    emit_data(args, data, lambda: f"folder: {formats.data_folder()}\n{table.write(style(args))}")
    broken = [listing for listing in listings if listing.damaged]
    for listing in broken:
        print(f"{listing.dataset.name}: wrong checksum: {_paths(listing.damaged)}", file=sys.stderr)
    return 3 if broken else 0


def run_get(args: argparse.Namespace) -> None:
    """Download a data set, or import its files."""
    notice(args, f"licence of {args.name}: {formats.dataset(args.name).licence}")
    listing = formats.get_dataset(args.name, source=args.source)
    notice(args, f"files copied: {len(listing.copied)}")
    if listing.missing:
        notice(args, f"still missing: {_paths(listing.missing)}")
        for page in dict.fromkeys(file.origin for file in listing.missing):
            notice(args, f"see {page}")
    copied = [file.path for file in listing.copied]
    data = {"kind": "data-set"} | _listing_json(listing) | {"copied": copied}
    emit_data(args, data, lambda: f"{listing.folder}\n")


def run_path(args: argparse.Namespace) -> None:
    """Print where a data set, or one of its files, stands."""
    path = str(gm.dataset_path(args.name, args.file))
    answer = {"kind": "data-path", "name": args.name, "file": args.file, "path": path}
    emit_data(args, answer, lambda: f"{path}\n")


def _listing_json(listing: formats.Listing) -> dict[str, Any]:
    entry = listing.dataset
    shape = {"name": entry.name, "state": listing.state, "path": str(listing.folder)}
    shape |= {"missing": [file.path for file in listing.missing]}
    shape |= {key: getattr(entry, key) for key in ("title", "page", "licence", "citation")}
    shape |= {"languages": [*entry.languages], "form": entry.form, "scored": entry.scored}
    recipes = [name for name, one in formats.RECIPES.items() if one.dataset == entry.name]
    download = listing.state != "described" and all(file.url for file in entry.files)
    return shape | {"benchmarks": recipes, "download": download}


def _row(listing: formats.Listing) -> tuple[str, ...]:
    entry = listing.dataset
    how = "download" if all(file.url for file in entry.files) else "by hand"
    how = {"present": "", "described": "at its page"}.get(listing.state, how)
    return (entry.name, listed(entry.languages, 3), listing.state, how, entry.title)


def _paths(files: Sequence[formats.DataFile]) -> str:
    return listed([file.path for file in files])
