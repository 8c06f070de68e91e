"""Plain text: lines, encodings, gzip, names."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammeter.core import DataError, UsageError
from grammeter.formats import find_shards, read_judgments, read_records, write_judgments
from grammeter.formats.text import (
    checked_line,
    decode,
    encoding_notices,
    read_bytes,
    read_lines,
    read_text,
    space_notices,
    split_lines,
    system_name,
    write_text,
)
from grammeter.resources import sample_corpus

LINES = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])) | st.text(
    "a \t\u00a0\u0085\u2028\u2029\u200f\u200b\x0b\x0c😀e\u0301"
)


@given(st.lists(LINES, min_size=1), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
def test_lines_are_read_back(lines: list[str], end: str, last: bool, mark: bool) -> None:
    """With or without CR, BOM and last line end; no other separator ends a line."""
    if not last and lines[-1] == "":
        last = True  # an empty last line without its end is no line
    data = (end.join(lines) + (end if last else "")).encode("utf-8")
    text = decode((b"\xef\xbb\xbf" if mark else b"") + data, "f")
    lines[0] = lines[0].removeprefix("\ufeff") if not mark else lines[0]
    assert split_lines(text) == lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("text")


@given(lines=st.lists(LINES, min_size=1), name=st.sampled_from(["a.txt", "a.txt.gz"]))
def test_write_then_read(lines: list[str], name: str, folder: Path) -> None:
    path = folder / name
    lines[0] = lines[0].removeprefix("\ufeff")
    write_text(path, "".join(f"{line}\n" for line in lines))
    assert read_lines(path) == lines


def test_packed_files_are_known_by_their_bytes_and_equal_byte_for_byte(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write_text(tmp_path / name, "x\n")
    packed = (tmp_path / "a.gz").read_bytes()
    assert packed == (tmp_path / "b.gz").read_bytes()
    (tmp_path / "c.txt").write_bytes(packed)
    assert read_lines(tmp_path / "c.txt") == ["x"]


@pytest.mark.parametrize("size", range(2, 30))
def test_damaged_gzip(tmp_path: Path, size: int) -> None:
    packed = gzip.compress(b"a sentence\n" * 9, mtime=0)
    assert size < len(packed)
    (tmp_path / "a.gz").write_bytes(packed[:size])
    with pytest.raises(DataError, match=r"a\.gz: damaged gzip data") as caught:
        read_lines(tmp_path / "a.gz")
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("data", "line", "byte"),
    [
        (b"caf\xe9\n", 1, "e9"),
        (b"a\nb\r\n\xff", 3, "ff"),
        (b"\xef\xbb\xbfa\n\xff", 2, "ff"),
        (b"\xef\xbb\xbf\n\n\xc3", 3, "c3"),
        (b"\xff\xfea\x00", 1, "ff"),
        (b"a\n\xed\xa0\x80", 2, "ed"),  # a surrogate, encoded
    ],
)
def test_not_utf_8_names_the_line(data: bytes, line: int, byte: str) -> None:
    with pytest.raises(DataError, match=f"^f:{line}: not UTF-8: byte 0x{byte}"):
        decode(data, "f")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(DataError, match="nowhere: there is no such file"):
        read_lines(tmp_path / "nowhere")
    with pytest.raises(DataError, match="this is a folder"):
        read_lines(tmp_path)
    with pytest.raises(DataError, match="empty: the file is empty"):
        read_lines(tmp_path / "empty")
    with pytest.raises(DataError, match="cannot be read: Not a directory"):
        read_lines(tmp_path / "empty" / "inner")


def test_a_file_of_one_empty_line_is_one_empty_sentence(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("\n", encoding="utf-8")
    assert read_lines(tmp_path / "a") == [""]


@pytest.mark.parametrize("data", [b"a\n", gzip.compress(b"a\n", mtime=0)])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert read_bytes("-") == b"a\n"


def test_lone_surrogates_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.txt:2: U\+D800 is half a surrogate pair"):
        write_text(tmp_path / "a.txt", "fine\n\ud800\n")
    assert not (tmp_path / "a.txt").exists()


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written: No such file or directory"):
        write_text(tmp_path / "nowhere" / "a.txt", "a")
    with pytest.raises(UsageError, match="'-' is standard input"):
        write_text("-", "a")


def test_a_name_that_is_none(tmp_path: Path) -> None:
    for name in ("a\0b", "\ud800"):
        with pytest.raises(DataError, match="cannot be read"):
            read_bytes(name)
        with pytest.raises(DataError, match="cannot be written"):
            write_text(tmp_path / name, "a")


# --- whole or absent -----------------------------------------------------------------------


def test_what_is_written_over_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    write_text(path, "new")
    assert path.read_text("utf-8") == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_text(tmp_path / "a.txt", "new")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    write_text(tmp_path / ("a" * 255), "whole")
    assert (tmp_path / ("a" * 255)).read_text("utf-8") == "whole"


def test_links_stay_links(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "other").hardlink_to(tmp_path / "real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "other").read_text("utf-8") == "new"
    write_text(tmp_path / "other", "newer")
    assert (tmp_path / "real").read_text("utf-8") == "newer"


def test_devices_and_pipes_are_written_to(tmp_path: Path) -> None:
    write_text("/dev/null", "gone")
    assert not Path("/dev/null").is_file()
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_text(tmp_path / "pipe", "through")
    assert os.read(reader, 99) == b"through"
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


def test_standard_output_by_its_name(tmp_path: Path) -> None:
    code = "from grammeter.formats.text import write_text; write_text('/dev/stdout', 'whole')"
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_bytes() == b"whole"
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("old", [None, "old"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_half_a_file_is_never_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str | None, error: BaseException
) -> None:
    path = tmp_path / "a.txt"
    if old:
        path.write_text(old, encoding="utf-8")
    _fail_half_way(monkeypatch, error)
    with pytest.raises((DataError, KeyboardInterrupt)) as caught:
        write_text(path, "new and longer")
    if isinstance(error, OSError):
        assert f"{path}: cannot be written: No space left" in str(caught.value)
    monkeypatch.undo()
    assert [file.read_text("utf-8") for file in tmp_path.iterdir()] == ([old] if old else [])


def test_a_full_disk(tmp_path: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "grammeter", str(tmp_path)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        path = tmp_path / "a.txt"
        write_text(path, "old")
        with pytest.raises(DataError, match="cannot be written: No space left on device"):
            write_text(path, "new" * 2**16)
        assert [file.read_text("utf-8") for file in tmp_path.iterdir()] == ["old"]
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


class _Half(io.BytesIO):
    """A file that takes half of what is written to it, then fails."""

    def __init__(self, file: Any, error: BaseException) -> None:
        super().__init__()
        self.file, self.error = file, error

    def write(self, data: Any) -> int:
        with self.file:
            self.file.write(data[: len(data) // 2])
        raise self.error


def _fail_half_way(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def half_open(descriptor: int, mode: str) -> Any:
        return _Half(open(descriptor, mode), error)

    monkeypatch.setattr("grammeter.formats.text.open", half_open, raising=False)


@pytest.mark.parametrize("line", ["a\nb", "a\n", "a\r"])
def test_a_line_holds_no_line_end(line: str) -> None:
    with pytest.raises(DataError, match="a sentence holds a line end"):
        checked_line(line)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("out/AMU.txt", "AMU"),
        ("out/AMU", "AMU"),
        ("AMU.txt.gz", "AMU"),
        ("AMU.tok.out", "AMU"),
        ("a.m2.gz", "a"),
        ("GPT-3.5", "GPT-3.5"),
        ("GPT-3.5.cor", "GPT-3.5"),
        ("v1.txt.v2", "v1.txt.v2"),
        (Path("x/y.hyp"), "y"),
        (".txt", ".txt"),
        ("-", "-"),
    ],
)
def test_system_names(path: str | Path, name: str) -> None:
    assert system_name(path) == name


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a\n", []),
        (b"\xef\xbb\xbfa\n", ["byte order mark"]),
        (b"a\r\nb\n", ["CR LF"]),
        (b"\xef\xbb\xbfa\r\n", ["byte order mark", "CR LF"]),
    ],
)
def test_encoding_notices(data: bytes, words: list[str]) -> None:
    notices = encoding_notices(data, "f")
    assert len(notices) == len(words)
    assert all(
        word in text and text.startswith("f: ") for word, text in zip(words, notices, strict=True)
    )


@pytest.mark.parametrize(
    "line", ["a  b", " a", "a ", "a\tb", "a\u00a0b", "a\u2028b", "a\u0085b", "a\rb", " "]
)
def test_unusual_white_space_is_mentioned(line: str) -> None:
    (notices,) = space_notices(f"fine line\n{line}\n\n", "f")
    assert notices.startswith("f: 1 of 3 lines")


@pytest.mark.parametrize("text", ["", "a b\n\nc\n", "a\u200bb \u200fc e\u0301 😀"])
def test_usual_white_space_is_not(text: str) -> None:
    assert space_notices(text, "f") == []


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.txt.bz2", "a.txt.xz"])
def test_what_is_written_packed_is_read_by_any_name(tmp_path: Path, name: str) -> None:
    write_text(tmp_path / name, "eins\nzwei\n")
    assert (tmp_path / name).read_bytes().startswith(b"eins") == (name == "a.txt")
    (tmp_path / name).rename(tmp_path / "b.out")
    assert read_lines(tmp_path / "b.out") == ["eins", "zwei"]
    assert system_name(name) == "a"


@pytest.mark.parametrize("packed", [bz2.compress(b"a\n" * 999), lzma.compress(b"a\n" * 999)])
def test_damaged_archives_are_named(tmp_path: Path, packed: bytes) -> None:
    (tmp_path / "a").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match=r"a: damaged (bz2|lzma) data"):
        read_text(tmp_path / "a")


@pytest.mark.parametrize("packed", [bz2.compress(bytes(2**28)), lzma.compress(bytes(2**28))])
def test_bombs_of_other_packers_are_refused(tmp_path: Path, packed: bytes) -> None:
    (tmp_path / "a").write_bytes(packed)
    with pytest.raises(DataError, match="times their size"):
        read_text(tmp_path / "a")


def test_zstd_is_refused_with_the_way(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\x28\xb5\x2f\xfd and more")
    with pytest.raises(DataError, match="packed by zstd") as caught:
        read_text(tmp_path / "a")
    assert "zstd -d" in str(caught.value)


@pytest.mark.parametrize("form", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_with_its_mark_is_read(tmp_path: Path, form: str) -> None:
    mark = "" if form == "utf-16" else "\ufeff"
    (tmp_path / "a").write_text(f"{mark}žluť 😀\nb\n", encoding=form)
    assert read_lines(tmp_path / "a") == ["žluť 😀", "b"]


def test_bytes_that_only_begin_like_utf_16_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\xfe\x00\xd8a")
    with pytest.raises(DataError, match="a:1: not UTF-8"):
        read_text(tmp_path / "a")


@pytest.mark.parametrize("end", [".gz", ".bz2", ".xz"])
def test_a_packed_table_and_judgments_are_known_by_their_names(tmp_path: Path, end: str) -> None:
    frame = {"source": "a b", "references": ["a c"], "systems": {"X": "a c"}}
    write_text(tmp_path / f"t.jsonl{end}", json.dumps(frame) + "\n")
    assert list(read_records(tmp_path / f"t.jsonl{end}").systems) == ["X"]
    judgments = read_judgments(sample_corpus() / "judgments.xml")
    write_judgments(tmp_path / f"j.jsonl{end}", judgments)
    assert len(read_judgments(tmp_path / f"j.jsonl{end}")) == len(judgments)


@pytest.mark.parametrize("end", [".bz2", ".xz"])
def test_batch_refuses_what_it_cannot_unpack_as_it_goes(tmp_path: Path, end: str) -> None:
    write_text(tmp_path / f"t.jsonl{end}", "{}\n")
    with pytest.raises(UsageError, match="gzip alone"):
        find_shards([str(tmp_path / f"t.jsonl{end}")])
