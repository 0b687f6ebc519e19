"""The index is read as git wrote it, or not at all."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.workspace.paths.git_index import NO_TRACKED_FILES, parse_git_index, read_git_index

NAMES = ["a", "b/c", "b/d e", "b.txt", "ü/ö", "long/" + "n" * 200 + "/" + "m" * 200, "z"]


def git(top: Path, *arguments: str, text: str | None = None) -> bytes:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(top),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    command = ["git", "-C", str(top), *arguments]
    return subprocess.run(
        command, env=environment, input=text and text.encode(), check=True, capture_output=True
    ).stdout


def repository(top: Path, *, version: int = 2, object_format: str = "sha1") -> Path:
    top.mkdir(exist_ok=True)
    git(top, "init", "-q", f"--object-format={object_format}")
    for name in NAMES:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    git(top, "-c", f"index.version={version}", "add", "--", *NAMES)
    return top / ".git" / "index"


@pytest.mark.parametrize("version", [2, 4])
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_what_git_added_is_tracked(tmp_path: Path, version: int, object_format: str) -> None:
    index = repository(tmp_path, version=version, object_format=object_format)
    assert index.read_bytes()[:8] == b"DIRC\0\0\0" + bytes((version,))
    tracked = read_git_index(str(index))
    listed = git(tmp_path, "ls-files", "-z").split(b"\0")[:-1]
    assert sorted(os.fsencode(name) for name in NAMES) == listed
    assert all(name in tracked for name in listed)
    assert not any(name in tracked for name in (b"b", b"b/", b"a/", b"x", b"", b"b/c/d"))
    assert [
        tracked.has_files_beneath(name) for name in (b"b", b"long", "ü".encode(), b"a", b"b.txt", b"b.", b"zz")
    ] == [
        True,
        True,
        True,
        False,
        False,
        False,
        False,
    ]


def test_extended_flags_and_extensions(tmp_path: Path) -> None:
    index = repository(tmp_path)
    (tmp_path / "later").touch()
    git(tmp_path, "add", "--intent-to-add", "later")
    git(tmp_path, "write-tree")
    git(tmp_path, "update-index", "--skip-worktree", "a")
    assert index.read_bytes()[:8] == b"DIRC\0\0\0\3"
    tracked = read_git_index(str(index))
    assert all(os.fsencode(name) in tracked for name in [*NAMES, "later"])


def test_a_name_too_long_for_its_length_field(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    blob = git(tmp_path, "hash-object", "-w", "--stdin", text="x").decode().strip()
    name = "/".join(["n" * 200] * 25)
    git(tmp_path, "update-index", "--index-info", text=f"100644 {blob} 0\t{name}\n100644 {blob} 0\tzz\n")
    tracked = read_git_index(str(tmp_path / ".git" / "index"))
    assert name.encode() in tracked
    assert b"zz" in tracked


def test_unmerged_entries_count_once(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    blob = git(tmp_path, "hash-object", "-w", "--stdin", text="x").decode().strip()
    stages = "".join(f"100644 {blob} {stage}\tboth\n" for stage in (1, 2, 3))
    git(tmp_path, "update-index", "--index-info", text=stages)
    assert b"both" in read_git_index(str(tmp_path / ".git" / "index"))


def test_a_split_index_is_not_understood(tmp_path: Path) -> None:
    index = repository(tmp_path)
    git(tmp_path, "update-index", "--split-index")
    assert read_git_index(str(index)) is NO_TRACKED_FILES


@pytest.mark.parametrize("content", [b"", b"DIRC", b"DIRC\0\0\0\5\0\0\0\0" + bytes(20), b"nonsense" * 100])
def test_what_is_not_an_index(tmp_path: Path, content: bytes) -> None:
    index = tmp_path / "index"
    index.write_bytes(content)
    assert read_git_index(str(index)) is NO_TRACKED_FILES


def test_what_cannot_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name in (".", "fifo", "none"):
        assert read_git_index(str(tmp_path / name)) is NO_TRACKED_FILES


def test_an_empty_index(tmp_path: Path) -> None:
    index = repository(tmp_path)
    git(tmp_path, "rm", "-q", "-r", "--cached", ".")
    tracked = read_git_index(str(index))
    assert tracked is not NO_TRACKED_FILES
    assert b"a" not in tracked


def test_a_change_is_seen_and_no_change_is_not_read_again(tmp_path: Path) -> None:
    index = repository(tmp_path)
    first = read_git_index(str(index))
    assert read_git_index(str(index)) is first
    (tmp_path / "new").touch()
    git(tmp_path, "add", "new")
    assert b"new" not in first
    assert b"new" in read_git_index(str(index))


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    top = tmp_path_factory.mktemp("indexes")
    return [repository(top / str(version), version=version).read_bytes() for version in (2, 4)]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damage_never_raises_and_a_shortened_index_is_not_believed(contents: list[bytes], data: st.DataObject) -> None:
    content = data.draw(st.sampled_from(contents))
    cut = data.draw(st.integers(0, len(content) - 1))
    assert parse_git_index(content[:cut]) is NO_TRACKED_FILES
    damaged = bytearray(content)
    damaged[cut] ^= data.draw(st.integers(1, 255))
    parse_git_index(bytes(damaged))
