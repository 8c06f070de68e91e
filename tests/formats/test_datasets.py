"""Named data sets: listing, importing, downloading; and archives that are not to be trusted."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import IO, Literal

import pytest

from grammeter.core import (
    DataError,
    MissingResourceError,
    RemoteError,
    UnknownNameError,
)
from grammeter.formats import datasets
from grammeter.formats.datasets import (
    DataFile,
    Dataset,
    data_folder,
    dataset_path,
    get_dataset,
    list_datasets,
)

Mode = Literal["w", "w:gz", "w:bz2"]

SOURCE = b"This are a test .\n"
GOLD = b"S This are a test .\nA 1 2|||SVA|||is|||REQUIRED|||-NONE-|||0\n\n"
SCORES = b"a b c\n" * 5
README = b"Read me .\n"
CONTENT = {"source.txt": SOURCE, "gold/a.m2": GOLD, "b.txt.gz": SCORES, "README": README}


def damaged_files(name: str) -> list[DataFile]:
    """The files that are here with a wrong checksum."""
    return [*next(one for one in list_datasets(verify=True) if one.dataset.name == name).damaged]


def entry(name: str, *, base: str | None = None) -> Dataset:
    files = tuple(
        DataFile(
            path=path,
            sha256=hashlib.sha256(content).hexdigest(),
            size=len(content),
            what="a file",
            origin="https://example.org/tree/1",
            url=base and f"{base}{path}",
            optional=path == "README",
        )
        for path, content in CONTENT.items()
    )
    return Dataset(name, "A set", f"https://example.org/{name}", "free", "Doe 2020.", files)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small catalogue: one set to be had by hand, one by download."""
    sets = {"byhand": entry("byhand"), "direct": entry("direct", base="https://example.org/")}
    monkeypatch.setattr(datasets, "_catalogue", lambda: sets)
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    """What a user fetched: other names, other folders, one file unpacked, one strange."""
    folder = tmp_path / "downloads"
    (folder / "repo-main").mkdir(parents=True)
    (folder / "repo-main" / "input").write_bytes(SOURCE)
    (folder / "b.txt").write_bytes(SCORES)
    (folder / "x.gz").write_bytes(gzip.compress(GOLD))
    (folder / "strange.txt").write_bytes(b"something else\n")
    return folder


def states() -> dict[str, str]:
    return {listing.dataset.name: listing.state for listing in list_datasets()}


# --- where it is ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"GRAMMETER_DATA": "/d"}, "/d"),
        ({"GRAMMETER_DATA": "", "XDG_DATA_HOME": "/x"}, "/x/grammeter"),
        ({"HOME": "/h"}, "/h/.local/share/grammeter"),
        ({"HOME": "/h", "GRAMMETER_DATA": "~/d"}, "/h/d"),
    ],
)
def test_the_folder(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str
) -> None:
    for name in ("GRAMMETER_DATA", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert data_folder() == Path(expected)


def test_states(root: Path) -> None:
    assert states() == {"byhand": "absent", "direct": "absent"}
    (root / "byhand" / "gold").mkdir(parents=True)
    assert states()["byhand"] == "absent"
    (root / "byhand" / "gold" / "a.m2").write_bytes(GOLD)
    assert states()["byhand"] == "incomplete"
    (root / "byhand" / "source.txt").write_bytes(SOURCE)
    (root / "byhand" / "b.txt.gz").write_bytes(gzip.compress(SCORES))
    assert states() == {"byhand": "present", "direct": "absent"}


def test_paths_and_what_to_do_where_there_is_none(root: Path) -> None:
    with pytest.raises(MissingResourceError, match="data set 'byhand' is not here") as caught:
        dataset_path("byhand")
    assert caught.value.exit_code == 4
    for part in ("grammeter data get byhand --from", "https://example.org/byhand", "free"):
        assert part in (caught.value.fix or "")
    (root / "byhand").mkdir(parents=True)
    (root / "byhand" / "source.txt").write_bytes(SOURCE)
    assert dataset_path("byhand", "source.txt") == root / "byhand" / "source.txt"
    with pytest.raises(MissingResourceError, match=r"not here: gold/a\.m2 missing"):
        dataset_path("byhand", "gold/a.m2")
    with pytest.raises(MissingResourceError, match=r"not here: gold/a\.m2, b\.txt\.gz missing"):
        dataset_path("byhand")
    with pytest.raises(UnknownNameError, match=r"Did you mean 'source\.txt'"):
        dataset_path("byhand", "sorce.txt")
    with pytest.raises(UnknownNameError, match="Did you mean 'byhand'"):
        dataset_path("by_hand")


def test_a_set_that_can_be_downloaded_says_so() -> None:
    with pytest.raises(MissingResourceError) as caught:
        dataset_path("direct")
    assert (caught.value.fix or "").startswith("Run: grammeter data get direct\n")
    assert "--from" not in (caught.value.fix or "")


def test_damaged_files(root: Path, downloads: Path) -> None:
    get_dataset("byhand", source=downloads)
    assert damaged_files("byhand") == []
    (root / "byhand" / "source.txt").write_bytes(SOURCE.replace(b"\n", b"\r\n"))
    (root / "byhand" / "b.txt.gz").write_bytes(b"\x1f\x8bno gzip")
    assert [file.path for file in damaged_files("byhand")] == ["source.txt", "b.txt.gz"]
    assert {file.path for file in get_dataset("byhand", source=downloads).copied} == {
        "source.txt",
        "b.txt.gz",
    }
    assert damaged_files("byhand") == []


# --- importing -----------------------------------------------------------------------------


def packed_zip(folder: Path, target: Path) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as zipped:
        for path in sorted(folder.rglob("*")):
            zipped.write(path, path.relative_to(folder))
    return target


def unpacked_folder(folder: Path, _: Path) -> Path:
    return folder


def packed_tar(mode: Mode) -> Callable[[Path, Path], Path]:
    def pack(folder: Path, target: Path) -> Path:
        with tarfile.open(target, mode) as tarred:
            tarred.add(folder, "inside")
        return target

    return pack


@pytest.mark.parametrize(
    "pack",
    [unpacked_folder, packed_zip, packed_tar("w"), packed_tar("w:gz"), packed_tar("w:bz2")],
    ids=["folder", "zip", "tar", "tar.gz", "tar.bz2"],
)
def test_files_are_found_by_what_they_hold(
    root: Path, tmp_path: Path, downloads: Path, pack: Callable[[Path, Path], Path]
) -> None:
    done = get_dataset("byhand", source=pack(downloads, tmp_path / "packed"))
    assert {file.path for file in done.copied} == {"source.txt", "gold/a.m2", "b.txt.gz"}
    assert done.state == "present"
    assert (root / "byhand" / "gold" / "a.m2").read_bytes() == GOLD
    assert gzip.decompress((root / "byhand" / "b.txt.gz").read_bytes()) == SCORES
    assert damaged_files("byhand") == []
    assert [path.name for path in root.iterdir()] == ["byhand"]  # nothing temporary stays


def test_one_file_and_then_the_rest(root: Path, downloads: Path) -> None:
    first = get_dataset("byhand", source=downloads / "x.gz")
    assert [file.path for file in first.copied] == ["gold/a.m2"]
    assert [file.path for file in first.missing] == ["source.txt", "b.txt.gz"]
    second = get_dataset("byhand", source=downloads)
    assert {file.path for file in second.copied} == {"source.txt", "b.txt.gz"}
    assert get_dataset("byhand", source=downloads).copied == ()


def test_other_versions_are_not_taken(tmp_path: Path, downloads: Path) -> None:
    only = tmp_path / "only"
    only.mkdir()
    (only / "source.txt").write_bytes(b"a newer version\n")
    with pytest.raises(DataError, match="nothing in it is a file of the data set 'byhand'"):
        get_dataset("byhand", source=only)


@pytest.mark.parametrize("name", ["none", "strange.txt"])
def test_nothing_to_import(root: Path, downloads: Path, name: str) -> None:
    with pytest.raises(DataError) as caught:
        get_dataset("byhand", source=downloads / name)
    assert caught.value.where == str(downloads / name)
    assert not root.exists()


def test_a_folder_that_cannot_be_written(root: Path, downloads: Path) -> None:
    root.write_bytes(b"a file where the folder should be")
    with pytest.raises(DataError, match="cannot be written") as caught:
        get_dataset("byhand", source=downloads)
    assert "GRAMMETER_DATA" in (caught.value.fix or "")


# --- archives that are not to be trusted ---------------------------------------------------


def tar_of(path: Path, *members: tarfile.TarInfo, mode: Mode = "w:gz") -> Path:
    with tarfile.open(path, mode) as tarred:
        for member in members:
            tarred.addfile(member, io.BytesIO(SOURCE[: member.size].ljust(member.size, b"\0")))
    return path


def member(name: str, *, size: int = len(SOURCE), kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = size, kind, "/etc/passwd"
    return info


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", "C:\\x", "C:/x"])
def test_names_of_members_are_no_paths(tmp_path: Path, root: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zipped:
        zipped.writestr(name, SOURCE)
    for path in (tmp_path / "a.zip", tar_of(tmp_path / "a.tgz", member(name))):
        get_dataset("byhand", source=path)
        assert [file.name for file in root.rglob("*") if file.is_file()] == ["source.txt"]


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
)
def test_links_and_devices_are_not_followed(tmp_path: Path, kind: bytes) -> None:
    path = tar_of(tmp_path / "a.tar", member("source.txt", size=0, kind=kind), mode="w")
    assert list(datasets.members(path, limit=10**6)) == []


def test_bombs_are_passed_over(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("a", bytes(2**24))
    tar_of(tmp_path / "a.tgz", member("a", size=2**24))
    for name in ("a.zip", "a.tgz"):
        assert list(datasets.members(tmp_path / name, limit=2**20)) == []


def test_bombs_of_gzip_in_a_folder_are_passed_over(tmp_path: Path) -> None:
    assert datasets.unpacked(gzip.compress(bytes(10_000)), "a", limit=9_999) is None
    assert datasets.unpacked(gzip.compress(bytes(9_999)), "a", limit=9_999) == bytes(9_999)
    (tmp_path / "big").write_bytes(bytes(10_000))
    assert list(datasets.members(tmp_path / "big", limit=9_999)) == []


@pytest.mark.parametrize("suffix", ["zip", "tgz"])
def test_damaged_archives(tmp_path: Path, downloads: Path, suffix: str) -> None:
    pack = packed_zip if suffix == "zip" else packed_tar("w:gz")
    path = pack(downloads, tmp_path / f"a.{suffix}")
    data = bytearray(path.read_bytes())
    if suffix == "zip":
        data[40] ^= 0xFF
    else:
        del data[len(data) // 2 :]
    path.write_bytes(data)
    with pytest.raises(DataError):
        get_dataset("byhand", source=path)


# --- downloading ---------------------------------------------------------------------------


class Web:
    """Answers addresses without a network, as the opener of a download."""

    def __init__(self, pages: dict[str, bytes | Exception]) -> None:
        self.pages = pages
        self.asked: list[str] = []

    def __call__(self, url: str) -> AbstractContextManager[IO[bytes]]:
        self.asked.append(url)
        page = self.pages[url.removeprefix("https://example.org/")]
        if isinstance(page, Exception):
            raise page
        return io.BytesIO(page)


def test_a_download(root: Path) -> None:
    web = Web(dict(CONTENT))
    done = get_dataset("direct", opener=web)
    assert {file.path for file in done.copied} == set(CONTENT)
    assert done.state == "present"
    assert damaged_files("direct") == []
    assert gzip.decompress((root / "direct" / "b.txt.gz").read_bytes()) == SCORES
    assert len(web.asked) == 4
    (root / "direct" / "source.txt").write_bytes(b"damaged")
    again = get_dataset("direct", opener=web)
    assert [file.path for file in again.copied] == ["source.txt"]
    assert len(web.asked) == 5


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (OSError("no route"), "could not be fetched: no route"),
        (ValueError("unknown url type"), "could not be fetched"),
        (GOLD[:-1], "its checksum differs"),
        (GOLD + b"\n", "its checksum differs"),
        (GOLD.replace(b"is", b"be"), "its checksum differs"),
    ],
)
def test_a_failed_download_leaves_nothing(
    root: Path, answer: bytes | Exception, message: str
) -> None:
    with pytest.raises(RemoteError, match=message) as caught:
        get_dataset("direct", opener=Web(CONTENT | {"gold/a.m2": answer}))
    assert caught.value.exit_code == 5
    assert caught.value.where == "https://example.org/gold/a.m2"
    assert not root.exists()


def test_only_https(monkeypatch: pytest.MonkeyPatch) -> None:
    unsafe = {"direct": entry("direct", base="http://example.org/")}
    monkeypatch.setattr(datasets, "_catalogue", lambda: unsafe)
    with pytest.raises(RemoteError, match="only https"):
        get_dataset("direct", opener=Web({}))


def test_the_real_opener_knows_https_only() -> None:
    with pytest.raises(OSError, match="unknown url type: http"):
        datasets._open_https("http://127.0.0.1:1/")  # pyright: ignore[reportPrivateUsage]


def test_what_has_no_direct_address_is_not_downloaded() -> None:
    with pytest.raises(MissingResourceError, match="'byhand' is not here"):
        get_dataset("byhand", opener=Web({}))


def test_nothing_to_download_where_all_is_here(downloads: Path) -> None:
    get_dataset("byhand", source=downloads)
    assert get_dataset("byhand", opener=Web({})).copied == ()


# --- the real catalogue --------------------------------------------------------------------


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()


@pytest.mark.usefixtures("real")
def test_the_catalogue_is_sound() -> None:
    entries = [listing.dataset for listing in list_datasets()]
    assert len({entry.name for entry in entries}) == len(entries)
    assert {"conll14_test", "jfleg", "human_gjg15", "seeda"} <= {entry.name for entry in entries}
    for entry in entries:
        assert entry.page.startswith("https://" if entry.files else ("http", "unknown"))
        assert entry.title
        assert entry.form
        assert entry.scored
        assert entry.languages
        assert all(re.fullmatch("[a-z]{2,3}", code) for code in entry.languages)
        assert entry.licence
        assert entry.citation
        paths = [file.path for file in entry.files]
        assert len(set(paths)) == len(paths)
        for file in entry.files:
            parts = PurePosixPath(file.path).parts
            assert not PurePosixPath(file.path).is_absolute()
            assert ".." not in parts
            assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
            assert file.size > 0
            assert file.what
            assert file.origin.startswith("https://")
            assert file.url is None or re.match(r"https://[^/]+/.*/[0-9a-f]{40}/", file.url)
        assert len({file.url is None for file in entry.files}) == bool(entry.files)


@pytest.mark.usefixtures("real")
def test_sets_without_an_open_licence_are_not_downloaded() -> None:
    entries = [listing.dataset for listing in list_datasets()]
    direct = {entry_.name for entry_ in entries if any(file.url for file in entry_.files)}
    assert direct == {"jfleg", "cweb", "lang_de_falko_merlin", "lang_et_estgec"}


@pytest.mark.usefixtures("real")
def test_the_folder_of_this_project_is_laid_out_so(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAMMETER_DATA", str(shared / "data"))
    listings = list_datasets()
    for listing in listings:
        assert listing.state == ("present" if listing.dataset.files else "described")
    assert [damaged_files(listing.dataset.name) for listing in listings] == [[]] * len(listings)
    assert dataset_path("conll14_test", "noalt/official-2014.combined.m2").is_file()


@pytest.mark.usefixtures("real")
def test_a_set_that_is_only_described_says_where_it_is() -> None:
    for work in (get_dataset, dataset_path):
        with pytest.raises(MissingResourceError, match="no file of 'bea19' is known") as caught:
            work("bea19")
        assert "https://www.cl.cam.ac.uk" in str(caught.value.fix)
        assert caught.value.exit_code == 4


@pytest.mark.usefixtures("real")
def test_an_official_folder_can_be_imported(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAMMETER_DATA", str(tmp_path / "data"))
    done = get_dataset("seeda", source=shared / "data" / "seeda")
    assert done.state == "present"
    assert len(done.copied) == len(done.dataset.files)
    assert damaged_files("seeda") == []
