"""Archives of others: unpacked into their own directory, or refused by name with nothing outside of it."""

import gzip
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from support.packages import make_tar, make_zip, tar_entry, tar_of, zip_entry
from tejat.workspace.downloads import archive
from tejat.workspace.downloads.archive import unpack_archive
from tejat.workspace.downloads.failure import DownloadFailure
from tejat.workspace.threads.stop import StopRequested, StopToken, never_stop

LINK = stat.S_IFLNK | 0o777


def unpack(tmp_path: Path, packed: bytes, name: str = "p.tar.gz") -> list[str]:
    staging = tmp_path / "staging"
    staging.mkdir(exist_ok=True)
    (staging / name).write_bytes(packed)
    target = staging / "tree"
    unpack_archive(str(staging / name), str(target), stop=never_stop)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["staging"]
    return sorted(path.relative_to(target).as_posix() for path in target.rglob("*"))


def test_tar(tmp_path: Path) -> None:
    entries = [
        tar_entry("./", kind=tarfile.DIRTYPE),
        tar_entry("a/", kind=tarfile.DIRTYPE),
        tar_entry("a/run", b"#!/bin/sh\n", mode=0o775),
        tar_entry("a/b/c.txt", b"c", mode=0o600),
        tar_entry("link", kind=tarfile.SYMTYPE, link="a/run"),
        tar_entry("same", kind=tarfile.LNKTYPE, link="a/run", mode=0o755),
    ]
    assert unpack(tmp_path, make_tar(entries)) == ["a", "a/b", "a/b/c.txt", "a/run", "link", "same"]
    tree = tmp_path / "staging/tree"
    assert (tree / "a/run").stat().st_mode & 0o7777 == 0o755
    assert (tree / "a/b/c.txt").stat().st_mode & 0o7777 == 0o644
    assert (tree / "same").read_bytes() == b"#!/bin/sh\n"
    assert (tree / "link").is_symlink()


def test_zip(tmp_path: Path) -> None:
    entries: list[tuple[zipfile.ZipInfo | str, bytes]] = [
        ("a/", b""),
        (zip_entry("a/run", stat.S_IFREG | 0o755), b"x"),
        ("plain", b"y"),
        (zip_entry("link", LINK), b"a/run"),
    ]
    assert unpack(tmp_path, make_zip(entries), "p.zip") == ["a", "a/run", "link", "plain"]
    assert (tmp_path / "staging/tree/a/run").stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize(
    ("entries", "name"),
    [
        ([tar_entry("../x", b"x")], "../x"),
        ([tar_entry("a/../../x", b"x")], "a/../../x"),
        ([tar_entry("/abs", b"x")], "/abs"),
        ([tar_entry("C:/abs", b"x")], "C:/abs"),
        ([tar_entry("l", kind=tarfile.SYMTYPE, link="/etc")], "l"),
        ([tar_entry("l", kind=tarfile.SYMTYPE, link="../..")], "l"),
        ([tar_entry("l", kind=tarfile.LNKTYPE, link="/etc/passwd")], "l"),
        ([tar_entry("l", kind=tarfile.SYMTYPE, link="a"), tar_entry("l/x", b"x")], "l"),
        ([tar_entry("l", kind=tarfile.SYMTYPE, link="a"), tar_entry("l", b"x")], "l"),
        ([tar_entry("x", b"1"), tar_entry("x", b"2")], "x"),
        ([tar_entry("x", b"1"), tar_entry("x/y", b"2")], "x"),
        ([tar_entry("dev", kind=tarfile.CHRTYPE)], "dev"),
        ([tar_entry("pipe", kind=tarfile.FIFOTYPE)], "pipe"),
        ([tar_entry("su", b"x", mode=0o4755)], "su"),
        ([tar_entry("Read", b"x"), tar_entry("read", b"x")], "read"),
        ([tar_entry("A/x", b"x"), tar_entry("a/y", b"x")], "a"),
        (
            [
                tar_entry("a/b/up", kind=tarfile.SYMTYPE, link="../.."),
                tar_entry("out", kind=tarfile.SYMTYPE, link="a/b/up/.."),
            ],
            "out",
        ),
    ],
)
def test_refused_by_name(tmp_path: Path, entries: list[tuple[tarfile.TarInfo, bytes]], name: str) -> None:
    with pytest.raises(DownloadFailure) as error:
        unpack(tmp_path, make_tar(entries))
    assert f'"{name}"' in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["staging"]


@pytest.mark.parametrize(
    ("entries", "name"),
    [
        ([("../x", b"x")], "../x"),
        ([("/abs", b"x")], "/abs"),
        ([("a\\b", b"x")], "a\\b"),
        ([("..\\x", b"x")], "..\\x"),
        ([(zip_entry("l", LINK), b"/etc")], "l"),
        ([(zip_entry("l", LINK), b"x" * 5000)], "l"),
        ([(zip_entry("pipe", stat.S_IFIFO | 0o644), b"")], "pipe"),
        ([(zip_entry("su", stat.S_IFREG | 0o6755), b"")], "su"),
        ([("Read", b"x"), ("read", b"x")], "read"),
    ],
)
def test_zip_entries_refused_by_name(
    tmp_path: Path, entries: list[tuple[zipfile.ZipInfo | str, bytes]], name: str
) -> None:
    with pytest.raises(DownloadFailure) as error:
        unpack(tmp_path, make_zip(entries), "p.zip")
    assert f'"{name}"' in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["staging"]


def test_a_claimed_size_over_the_limit(tmp_path: Path) -> None:
    info, _ = tar_entry("bomb")
    info.size = 3 * 1024**3
    with pytest.raises(DownloadFailure, match=r"p.tar.gz is larger than 1,024 MiB"):
        unpack(tmp_path, gzip.compress(info.tobuf()))


@pytest.mark.parametrize("name", ["p.tar.gz", "p.zip"])
def test_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The limit holds for what is unpacked, whatever sizes an archive claims."""
    content = bytes(8 * 1024 * 1024)
    packed = tar_of({"a": content, "b": content}) if name == "p.tar.gz" else make_zip([("a", content), ("b", content)])
    monkeypatch.setattr(archive, "MAX_BYTES", 12 * 1024 * 1024)
    monkeypatch.setattr(archive, "_TAR_OVERHEAD", 0)
    with pytest.raises(DownloadFailure, match="larger than 12 MiB"):
        unpack(tmp_path, packed, name)


def test_too_many_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_ENTRIES", 3)
    with pytest.raises(DownloadFailure, match="more than"):
        unpack(tmp_path, tar_of({f"f{number}": "" for number in range(5)}))
    (tmp_path / "staging" / "tree").rename(tmp_path / "staging" / "first")
    with pytest.raises(DownloadFailure, match="more than"):
        unpack(tmp_path, tar_of({"a/b/c/d/e": ""}))


def test_packed_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_PACKED_BYTES", 10)
    with pytest.raises(DownloadFailure, match="larger than"):
        unpack(tmp_path, tar_of({"a": "x"}))


def test_a_header_that_claims_gigabytes(tmp_path: Path) -> None:
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, 2 * 1024**3
    with pytest.raises(DownloadFailure, match="header is too long"):
        unpack(tmp_path, gzip.compress(info.tobuf() + bytes(4096)))


def test_a_long_list_of_zip_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_MAX_DIRECTORY_BYTES", 100)
    with pytest.raises(DownloadFailure, match="entries"):
        unpack(tmp_path, make_zip([(f"name{number}", b"") for number in range(5)]), "p.zip")


@pytest.mark.parametrize(
    ("packed", "name"),
    [
        (b"not an archive", "p.tar.gz"),
        (gzip.compress(b"not a tar file" * 100), "p.tar.gz"),
        (tar_of({"a": b"x" * 10_000})[:-20], "p.tar.gz"),
        (b"", "p.tar.gz"),
        (b"PK not an archive", "p.zip"),
        (b"", "p.zip"),
        (make_zip([("a", b"x" * 1000)])[10:], "p.zip"),
    ],
    ids=["text", "compressed text", "cut", "empty", "zip text", "empty zip", "cut zip"],
)
def test_damaged(tmp_path: Path, packed: bytes, name: str) -> None:
    with pytest.raises(DownloadFailure, match="damaged"):
        unpack(tmp_path, packed, name)


def test_several_gzip_streams(tmp_path: Path) -> None:
    plain = gzip.decompress(tar_of({"a": "x"}))
    assert unpack(tmp_path, gzip.compress(plain[:300]) + gzip.compress(plain[300:])) == ["a"]


def test_stop(tmp_path: Path) -> None:
    stop = StopToken()
    stop.request_stop()
    (tmp_path / "p.tar.gz").write_bytes(tar_of({"a": "x"}))
    with pytest.raises(StopRequested):
        unpack_archive(str(tmp_path / "p.tar.gz"), str(tmp_path / "tree"), stop=stop)
