"""A large index is read in pages, and every lookup answers as the whole index would."""

import os
import subprocess
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.workspace.paths.test_git_index import git

from tejat.workspace.paths import git_index, git_index_pages
from tejat.workspace.paths.git_index import NO_TRACKED_FILES, read_git_index
from tejat.workspace.paths.git_index_pages import IndexPages, UnreadableIndex

NAME_SIZES = {"sha1": 20, "sha256": 32}


def make_index(top: Path, names: Sequence[str], *, object_format: str = "sha1") -> Path:
    top.mkdir(exist_ok=True)
    git(top, "init", "-q", f"--object-format={object_format}")
    blob = git(top, "hash-object", "-w", "--stdin", text="x").decode().strip()
    git(top, "update-index", "--index-info", text="".join(f"100644 {blob} 0\t{name}\n" for name in names))
    return top / ".git" / "index"


def open_pages(index: Path, object_format: str = "sha1") -> IndexPages:
    with open(index, "rb") as file:
        return IndexPages(file.fileno(), os.fstat(file.fileno()).st_size, NAME_SIZES[object_format])


def many_names(count: int, seed: int = 1) -> list[str]:
    rng = Random(seed)
    words = ["a", "build", "src", "x" * 90, "ü", "b.c", "b-c", "n" * 200]
    return sorted({"/".join(rng.choices(words, k=rng.randint(1, 9))) + str(rng.random()) for _ in range(count)})


def expected(names: Sequence[bytes], path: bytes) -> bytes | None:
    position = bisect_left(names, path)
    return names[position] if position < len(names) else None


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_every_lookup_answers_as_the_whole_index(tmp_path: Path, object_format: str) -> None:
    index = make_index(tmp_path, many_names(3000), object_format=object_format)
    git(tmp_path, "write-tree")  # which adds an extension
    pages = open_pages(index, object_format)
    names = git(tmp_path, "ls-files", "-z").split(b"\0")[:-1]
    assert len(names) == 3000
    for name in names:
        for path in (name, name + b"!", name[:-1], name[: len(name) // 2]):
            assert pages.first_from(path) == expected(names, path)
    assert [pages.first_from(b""), pages.first_from(b"\xff")] == [names[0], None]


@settings(max_examples=25, deadline=None)
@given(page=st.sampled_from([4096, 16384]), count=st.integers(100, 700), seed=st.integers(0, 1000))
def test_whatever_the_pages_are(tmp_path_factory: pytest.TempPathFactory, page: int, count: int, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(git_index_pages, "_PAGE", page)
        patch.setattr(git_index_pages, "_PROBE_BYTES", 1024)
        top = tmp_path_factory.mktemp("index")
        pages = open_pages(make_index(top, many_names(count, seed)))
        names = git(top, "ls-files", "-z").split(b"\0")[:-1]
        assert [pages.first_from(name) for name in names] == names
        assert [pages.first_from(name + b"\0") for name in names] == [*names[1:], None]


def test_flags_and_modes_that_git_writes(tmp_path: Path) -> None:
    names = many_names(2000)
    index = make_index(tmp_path, names)
    blob = git(tmp_path, "hash-object", "-w", "--stdin", text="y").decode().strip()
    stages = "".join(f"100755 {blob} {stage}\tboth\n" for stage in (1, 2, 3))
    others = f"120000 {blob} 0\tlink\n160000 {blob} 0\tmodule\n"
    git(tmp_path, "update-index", "--index-info", text=stages + others)
    git(tmp_path, "update-index", "--skip-worktree", names[5])
    assert index.read_bytes()[:8] == b"DIRC\0\0\0\3"
    pages = open_pages(index)
    for name in (*names, "both", "link", "module"):
        assert pages.first_from(name.encode()) == name.encode()


def test_a_split_index_is_not_believed(tmp_path: Path) -> None:
    index = make_index(tmp_path, many_names(2000))
    git(tmp_path, "update-index", "--split-index")
    blob = git(tmp_path, "hash-object", "-w", "--stdin", text="x").decode().strip()
    more = "".join(f"100644 {blob} 0\tmore/{name}\n" for name in many_names(2000))
    git(tmp_path, "-c", "splitIndex.maxPercentChange=100", "update-index", "--index-info", text=more)
    assert index.stat().st_size > git_index._MAX_PARSED_BYTES
    with pytest.raises(UnreadableIndex):
        open_pages(index)


def test_a_large_index_is_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("the whole index was parsed")

    names = many_names(3000)
    index = make_index(tmp_path, names)
    monkeypatch.setattr(git_index, "parse_git_index", fail)
    tracked = read_git_index(str(index))
    assert names[7].encode() in tracked
    assert b"absent" not in tracked
    assert not tracked.has_files_beneath(b"absent")
    assert tracked.has_files_beneath(b"src")


def test_a_page_that_is_not_as_expected_makes_it_parse_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = many_names(3000)
    index = make_index(tmp_path, names)

    def fail(*_: object) -> None:
        raise UnreadableIndex

    tracked = read_git_index(str(index))
    monkeypatch.setattr(IndexPages, "first_from", fail)
    assert names[7].encode() in tracked
    assert b"absent" not in tracked


def test_a_shortened_index_is_not_believed(tmp_path: Path) -> None:
    index = make_index(tmp_path, many_names(3000))
    content = index.read_bytes()
    for size in (len(content) - 1, len(content) // 2, git_index._MAX_PARSED_BYTES + 1):
        index.write_bytes(content[:size])
        assert read_git_index(str(index)) is NO_TRACKED_FILES


def test_git_itself_agrees(tmp_path: Path) -> None:
    index = make_index(tmp_path, many_names(3000))
    tracked = read_git_index(str(index))
    listed = subprocess.run(["git", "-C", str(tmp_path), "ls-files", "-z"], check=True, capture_output=True).stdout
    assert all(name in tracked for name in listed.split(b"\0")[:-1])
