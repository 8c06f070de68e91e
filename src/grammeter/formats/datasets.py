"""Named data sets: where they are, where they come from, whether their files are sound.

The package ships none of them: most have no open licence. They are in one local folder, named
by ``GRAMMETER_DATA``, with a folder for each set; files are identified by their checksums.
"""

import hashlib
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import IO, Any, Literal

from grammeter import core
from grammeter.formats import tables
from grammeter.formats.text import unpacked, write_bytes

VARIABLE = "GRAMMETER_DATA"
State = Literal["present", "incomplete", "absent", "described"]
Opener = Callable[[str], AbstractContextManager[IO[bytes]]]
"""Opens an address for reading; tests pass their own."""

_TIMEOUT_S = 60
_DAMAGED = zlib.error, tarfile.TarError, zipfile.BadZipFile
_FAULTS = OSError, EOFError, RuntimeError, *_DAMAGED  # RuntimeError: encrypted
_FIX = "Fetch it again from its official page, or unpack it yourself and give the folder."


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a data set; ``sha256`` and ``size`` of its content, unpacked if it is gzip."""

    path: str  # relative to the folder of the set
    sha256: str
    size: int
    what: str  # what it holds
    origin: str  # the page where it was published
    url: str | None  # a direct address, if its licence lets programs fetch it
    optional: bool  # whether the set is complete without it

    def holds(self, content: bytes) -> bool:
        """Whether these are the bytes of the file, unpacked."""
        return len(content) == self.size and hashlib.sha256(content).hexdigest() == self.sha256


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named data set; ``page`` is its official address, ``licence`` our summary.

    One that is only described has no ``files``. ``languages`` are codes (ISO 639, ``mul``: many);
    ``form`` says how it is written, ``scored`` how its paper scores; ``unknown`` where we are not
    sure.
    """

    name: str
    title: str
    page: str
    licence: str
    citation: str
    files: tuple[DataFile, ...]
    languages: tuple[str, ...] = ()
    form: str = "unknown"
    scored: str = "unknown"

    def file(self, path: str) -> DataFile:
        """Return one file; raise :class:`UnknownNameError` if the set has none of this path."""
        files = {file.path: file for file in self.files}
        core.UnknownNameError.check(f"file of {self.name}", path, files)
        return files[path]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Data and metrics by which the paper of a data set scores; the figures ``checked``."""

    name: str
    dataset: str
    metrics: Sequence[str]
    how: str
    checked: str = "unknown"
    source: str | None = None
    references: Sequence[str] = ()
    para: str | None = None  # sources and references in one file
    lenient: bool = False

    def files(self, folder: str | Path | None) -> tuple[Path | None, Path | None, list[Path]]:
        """Return source, para and references, in the ``folder`` of the set or of all sets."""

        def path(file: str) -> Path:
            if folder is None:
                return dataset_path(self.dataset, file)
            inside = Path(folder) / self.dataset / file
            return inside if inside.is_file() else Path(folder) / file

        source, para = (path(name) if name else None for name in (self.source, self.para))
        return source, para, [path(name) for name in self.references]


RECIPES: Mapping[str, Recipe] = {of["name"]: Recipe(**of) for of in tables.shipped("recipes.json")}


def recipe(name: str) -> Recipe:
    """Return a recipe by its name; raise :class:`UnknownNameError` if there is none."""
    core.UnknownNameError.check("benchmark", name, RECIPES)
    return RECIPES[name]


@dataclass(frozen=True, slots=True)
class Listing:
    """A data set on this machine; ``missing`` leaves out optional files, ``copied`` came now."""

    dataset: Dataset
    folder: Path
    state: State
    missing: tuple[DataFile, ...]
    damaged: tuple[DataFile, ...] = ()
    copied: tuple[DataFile, ...] = ()


def data_folder() -> Path:
    """Return the folder of all sets: ``GRAMMETER_DATA``, or the user's data folder."""
    if named := os.environ.get(VARIABLE):
        return core.expanded(named)
    if base := os.environ.get("XDG_DATA_HOME"):
        return Path(base) / "grammeter"
    if (folder := core.home()) is None:
        fault = "there is no place for data sets: this user has no folder"
        raise core.MissingResourceError(fault, fix=f"Let the variable {VARIABLE} name a folder.")
    return folder / ".local/share/grammeter"


def dataset(name: str) -> Dataset:
    """Return a data set by name; raise :class:`UnknownNameError` if there is none."""
    core.UnknownNameError.check("data set", name, _catalogue())
    return _catalogue()[name]


def list_datasets(*, verify: bool = False) -> list[Listing]:
    """Return all data sets and whether their files are here; ``verify`` computes all checksums."""
    return [_listing(entry, verify=verify) for entry in _catalogue().values()]


def dataset_path(name: str, file: str | None = None) -> Path:
    """Return the path of a data set, or of one of its files.

    Raises :class:`UnknownNameError`, :class:`MissingResourceError` if there is no such set or file;
    if it is absent, and how to get it.
    """
    entry = dataset(name)
    if file is None:
        listing = _listing(entry)
        if listing.state != "present":
            raise _missing(listing)
        return listing.folder
    path = data_folder() / name / entry.file(file).path
    if not path.is_file():
        raise _missing(_listing(entry), entry.file(file))
    return path


def get_dataset(
    name: str, *, source: str | Path | None = None, opener: Opener | None = None
) -> Listing:
    """Add the missing files of a data set, each atomically: all are known by their checksums.

    Raises :class:`MissingResourceError`, :class:`RemoteError` if a file has no direct address; if
    one does not answer, or serves another file; :class:`DataError` if ``source`` has no file of it.

    Parameters
    ----------
    name
        The data set.
    source
        A file, folder, zip or tar that the user downloaded; file names do not count. By default
        the files are downloaded, if the licence allows it.
    opener
        Opens addresses.
    """
    entry = dataset(name)
    listing = _listing(entry)
    if not entry.files or (source is None and any(file.url is None for file in listing.missing)):
        raise _missing(listing)
    if source is None:
        new = [file for file in entry.files if not _is_sound(listing.folder / file.path, file)]
        urls = {file: file.url for file in new if file.url is not None}
        contents = {file: _download(url, file, opener or _open_https) for file, url in urls.items()}
    else:
        contents = _taken(entry, source)
    copied = _store(entry, contents)
    return replace(_listing(entry), copied=copied)


def _taken(entry: Dataset, source: str | Path) -> dict[DataFile, bytes]:
    limit = max(file.size for file in entry.files)
    contents: dict[DataFile, bytes] = {}
    # gzip may be a little longer than what it packs
    for member, data in members(Path(source), limit=2 * limit + 1024):
        content = unpacked(data, f"{source}: {member}", limit=limit)
        contents |= {f: content for f in entry.files if content is not None and f.holds(content)}
    if not contents:
        fault = f"nothing in it is a file of the data set {entry.name!r} as it was published"
        fix = f"Get it from {entry.page}; line ends must be as published (git: autocrlf=false)."
        raise core.DataError(fault, where=str(source), fix=fix)
    return contents


@cache
def _catalogue() -> Mapping[str, Dataset]:
    return {data["name"]: _entry(data) for data in tables.shipped("datasets.json")}


def _entry(data: dict[str, Any]) -> Dataset:
    """Make a data set of its entry, in which files of one kind and origin form a part."""
    files: list[DataFile] = []
    for part in data["parts"]:
        page = f"https://github.com/{part['repository']}/tree/{part['commit']}"
        for path, origin, size, sha256 in part["files"]:
            url = part["download"] + origin if "download" in part else None
            more = part["what"], page, url, part.get("optional", False)
            files.append(DataFile(path, sha256, size, *more))
    words = {key: data[key] for key in data.keys() - {"parts", "languages"}}
    return Dataset(**words, files=tuple(files), languages=tuple(data["languages"]))


def _listing(entry: Dataset, *, verify: bool = False) -> Listing:
    folder = data_folder() / entry.name
    if not entry.files:
        return Listing(entry, folder, "described", ())
    needed = [file for file in entry.files if not file.optional]
    missing = tuple(file for file in needed if not (folder / file.path).is_file())
    state: State = "incomplete" if missing else "present"
    state = "absent" if len(missing) == len(needed) else state
    here = {file: path for file in entry.files if (path := folder / file.path).is_file()}
    damaged = (file for file, path in here.items() if verify and not _is_sound(path, file))
    return Listing(entry, folder, state, missing, tuple(damaged))


def _is_sound(path: Path, file: DataFile) -> bool:
    try:
        content = unpacked(path.read_bytes(), str(path), limit=file.size)
    except (core.DataError, OSError):
        return False
    return content is not None and file.holds(content)


def _store(entry: Dataset, contents: Mapping[DataFile, bytes]) -> tuple[DataFile, ...]:
    folder = data_folder() / entry.name
    new = [file for file in contents if not _is_sound(folder / file.path, file)]
    fix = f"Let the environment variable {VARIABLE} name a folder that you may write."
    for file in new:
        with core.disk_faults(folder, fix):
            (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
        write_bytes(folder / file.path, contents[file])
    return tuple(new)


def _missing(listing: Listing, file: DataFile | None = None) -> core.MissingResourceError:
    entry = listing.dataset
    if listing.state == "described":
        fix = f"Get it at {entry.page} and name its files (-s, -r). Licence: {entry.licence}"
        return core.MissingResourceError(f"no file of {entry.name!r} is known by name", fix=fix)
    lacks = [file] if file else listing.missing
    some = listing.state == "incomplete" or file
    lacking = f": {core.listed([one.path for one in lacks], 3)} missing" if some else ""
    fix = f"Run: grammeter data get {entry.name}"
    if not all(one.url for one in entry.files):
        pages = dict.fromkeys([entry.page, *(one.origin for one in lacks)])
        manual = f"{fix} --from FILE_OR_FOLDER   with what you find at"
        fix = "\n  ".join([manual, *pages])
    fix += f"\n  Licence: {entry.licence}"
    message = f"the data set {entry.name!r} is not here{lacking}"
    return core.MissingResourceError(message, where=str(listing.folder), fix=fix)


def _download(url: str, file: DataFile, opener: Opener) -> bytes:
    from http.client import HTTPException

    fix = "Try again later, or fetch it in a browser and give it with --from."
    if not url.startswith("https://"):
        raise core.RemoteError("only https addresses are fetched", where=url, fix=fix)
    try:
        with opener(url) as answer:
            content = answer.read(file.size + 1)
    except (OSError, HTTPException, ValueError) as error:
        raise core.RemoteError(f"could not be fetched: {error}", where=url, fix=fix) from error
    if not file.holds(content):
        fault = f"is not the file that is known as {file.path}: its checksum differs"
        raise core.RemoteError(fault, where=url, fix=fix)
    return content


def _open_https(url: str) -> AbstractContextManager[IO[bytes]]:
    from urllib import request

    opener = request.OpenerDirector()
    # no handler for http, so that nothing sends us on to an address without https
    plain = request.ProxyHandler, request.UnknownHandler, request.HTTPDefaultErrorHandler
    more = request.HTTPRedirectHandler, request.HTTPErrorProcessor, request.HTTPSHandler
    for handler in (*plain, *more):
        opener.add_handler(handler())
    return opener.open(url, timeout=_TIMEOUT_S)


# --- what was downloaded -------------------------------------------------------------------
def members(path: Path, *, limit: int) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of the files in a file, folder, zip or tar, but those over ``limit``.

    Archives are not trusted: names in them are no paths here, and links are not followed.
    """
    try:
        if not path.is_file() and not path.is_dir():
            raise core.DataError("no such file or folder", where=str(path), fix="Check the path.")
        if path.is_file() and zipfile.is_zipfile(path):
            yield from _zip(path, limit)
        elif path.is_file() and tarfile.is_tarfile(path):
            yield from _tar(path, limit)
        else:
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if file.is_file() and file.stat().st_size <= limit:
                    yield file.name, file.read_bytes()
    except _FAULTS as error:
        raise core.DataError(f"cannot be read: {error}", where=str(path), fix=_FIX) from error


def _zip(path: Path, limit: int) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.file_size <= limit:
                with archive.open(info) as member:
                    yield info.filename, member.read(info.file_size)


def _tar(path: Path, limit: int) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        for info in archive:
            wanted = info.isreg() and info.size <= limit
            if member := archive.extractfile(info) if wanted else None:
                yield info.name, member.read()
