"""All files are found, by ripgrep and without it, and those that match are picked out."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.workspace.helper_program import find_ripgrep
from tejat.workspace.paths.walk import FileListing, list_files, stream_files

RIPGREP = find_ripgrep()
EXCLUDED = frozenset((b".git", b"node_modules"))

each_way = pytest.mark.parametrize("ripgrep", [RIPGREP, None], ids=["ripgrep", "scanning"])


class Stopped(TimeoutError):
    """What a caller raises to be let go; of a kind that a walk also meets by itself."""


def never() -> None:
    """Asks nobody to stop."""


@contextmanager
def opened(path: Path | str) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def nobody_special() -> Iterator[None]:
    """Permissions count: the superuser, who may read everything, becomes somebody else for a while."""
    superuser = os.geteuid() == 0
    if superuser:
        os.seteuid(65534)
    try:
        yield
    finally:
        if superuser:
            os.seteuid(0)


def listed(
    path: Path | str,
    ripgrep: str | None,
    *,
    exclude_directories: frozenset[bytes] = EXCLUDED,
    limit: int = 1_000_000,
    stop: Callable[[], None] = never,
) -> FileListing:
    with opened(path) as descriptor:
        listing = list_files(
            descriptor, exclude_directories=exclude_directories, limit=limit, stop=stop, ripgrep=ripgrep
        )
    return FileListing(sorted(listing.paths), listing.is_complete, listing.errors)


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_ripgrep_is_there() -> None:
    assert RIPGREP is not None


@each_way
class TestListing:
    def test_hidden_ignored_and_strange_names(self, tmp_path: Path, ripgrep: str | None) -> None:
        names = [".hidden/.x", "a b", "-dash", "new\nline", "\udcff", "é", "sub/!x", "sub/[a]", "ignored.log", "a\\b"]
        write(tmp_path, *names)
        for name in (".gitignore", ".ignore", ".rgignore"):
            (tmp_path / name).write_text("*\n")
        (tmp_path / ".git" / "info").mkdir(parents=True)
        (tmp_path / ".git" / "info" / "exclude").write_text("*\n")
        expected = sorted(os.fsencode(name) for name in [*names, ".gitignore", ".ignore", ".rgignore"])
        assert listed(tmp_path, ripgrep) == FileListing(expected, is_complete=True, errors=0)

    def test_configuration_of_ripgrep_does_not_count(
        self, tmp_path: Path, ripgrep: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(tmp_path, "a.py", "b.txt")
        configuration = tmp_path / "configuration"
        configuration.write_text("--glob=*.py\n")
        monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(configuration))
        assert listed(tmp_path, ripgrep).paths == [b"a.py", b"b.txt", b"configuration"]

    def test_only_regular_files_and_no_links(self, tmp_path: Path, ripgrep: str | None) -> None:
        outside = tmp_path / "outside"
        root = tmp_path / "root"
        write(tmp_path, "outside/secret", "root/a/file")
        (root / "to_file").symlink_to("a/file")
        (root / "to_directory").symlink_to(outside)
        (root / "a" / "loop").symlink_to("..")
        (root / "dangling").symlink_to("nowhere")
        os.mkfifo(root / "fifo")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(root / "socket"))
            assert listed(root, ripgrep) == FileListing([b"a/file"], is_complete=True, errors=0)

    def test_excluded_directories_at_any_depth(self, tmp_path: Path, ripgrep: str | None) -> None:
        write(
            tmp_path,
            ".git/x",
            "a/.git/x",
            "node_modules/x",
            "a/b/node_modules/c/x",
            "a/node_modules.txt",
            "Node_modules/x",
        )
        write(tmp_path, "files/node_modules")
        assert listed(tmp_path, ripgrep).paths == [b"Node_modules/x", b"a/node_modules.txt", b"files/node_modules"]

    def test_strange_names_of_excluded_directories(self, tmp_path: Path, ripgrep: str | None) -> None:
        write(tmp_path, "a*/x", "ab/x", "[b]/x", "b/x", "\udcff/x")
        names = frozenset((b"a*", b"[b]", b"\xff"))
        assert listed(tmp_path, ripgrep, exclude_directories=names).paths == [b"ab/x", b"b/x"]

    def test_empty(self, tmp_path: Path, ripgrep: str | None) -> None:
        (tmp_path / "empty").mkdir()
        assert listed(tmp_path, ripgrep) == FileListing([], is_complete=True, errors=0)

    def test_limit(self, tmp_path: Path, ripgrep: str | None) -> None:
        names = [f"{directory}/{number}" for directory in "abc" for number in range(100)]
        write(tmp_path, *names)
        assert listed(tmp_path, ripgrep, limit=300) == FileListing(
            sorted(map(os.fsencode, names)), is_complete=True, errors=0
        )
        for limit in (299, 150, 1, 0):
            listing = listed(tmp_path, ripgrep, limit=limit)
            assert (len(listing.paths), listing.is_complete) == (limit, False)
            assert set(listing.paths) < set(map(os.fsencode, names))

    def test_stop_goes_through_at_once(self, tmp_path: Path, ripgrep: str | None) -> None:
        write(tmp_path, "a/b", "c")

        def stop() -> None:
            raise Stopped

        with pytest.raises(Stopped):
            listed(tmp_path, ripgrep, stop=stop)

    def test_it_lists_the_directory_that_was_opened(self, tmp_path: Path, ripgrep: str | None) -> None:
        write(tmp_path, "opened/right", "other/wrong")
        with opened(tmp_path / "opened") as descriptor:
            (tmp_path / "opened").rename(tmp_path / "moved")
            (tmp_path / "opened").symlink_to("other")
            listing = list_files(descriptor, exclude_directories=EXCLUDED, limit=9, stop=never, ripgrep=ripgrep)
        assert listing == FileListing([b"right"], is_complete=True, errors=0)

    def test_deep_trees(self, ripgrep: str | None) -> None:
        # Too deep for the clean-up of temporary directories in Python.
        place = tempfile.mkdtemp()
        try:
            with opened(place) as descriptor:
                for depth in range(1, 1201):
                    os.mkdir("d/" * depth, dir_fd=descriptor)
                os.close(os.open("d/" * 1200 + "file", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
            assert listed(place, ripgrep) == FileListing([b"d/" * 1200 + b"file"], is_complete=True, errors=0)
        finally:
            subprocess.run(["rm", "-r", "--", place], check=True)

    def test_unreadable_directories_are_counted(self, ripgrep: str | None) -> None:
        with tempfile.TemporaryDirectory() as place:
            root = Path(place)
            root.chmod(0o755)
            write(root, "a/x", "b/y", "c/d/z")
            closed = [root / "b", root / "c" / "d"]
            for directory in closed:
                directory.chmod(0)
            try:
                with opened(root) as descriptor, nobody_special():
                    listing = list_files(descriptor, exclude_directories=EXCLUDED, limit=9, stop=never, ripgrep=ripgrep)
            finally:
                for directory in closed:
                    directory.chmod(0o700)
        assert listing == FileListing([b"a/x"], is_complete=True, errors=2)

    def test_what_vanishes_meanwhile_is_no_error(self, tmp_path: Path, ripgrep: str | None) -> None:
        for number in range(300):
            write(tmp_path, f"{number:03}/x")
        script = "import shutil, sys\nfor n in range(299, -1, -1): shutil.rmtree(f'{sys.argv[1]}/{n:03}')"
        remover = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
        try:
            while (tmp_path / "299").exists():
                time.sleep(0.001)
            while remover.poll() is None:
                listing = listed(tmp_path, ripgrep)
                assert (listing.is_complete, listing.errors) == (True, 0)
        finally:
            remover.wait()
        assert listed(tmp_path, ripgrep) == FileListing([], is_complete=True, errors=0)


def test_a_ripgrep_that_fails_is_made_up_for(tmp_path: Path) -> None:
    write(tmp_path, "a/x")
    for name, text in (
        ("crashes", "kill -SEGV $$"),
        ("refuses", "echo 'rg: no such flag' >&2; exit 2"),
        ("odd", "exit 3"),
    ):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
        assert listed(tmp_path / "a", str(program)) == FileListing([b"x"], is_complete=True, errors=0)
    assert listed(tmp_path / "a", str(tmp_path / "absent")) == FileListing([b"x"], is_complete=True, errors=0)


def test_a_silent_ripgrep_can_be_stopped(tmp_path: Path) -> None:
    program = tmp_path / "silent"
    program.write_text("#!/bin/sh\nsleep 60\n")
    program.chmod(0o755)
    started = time.monotonic()

    def stop() -> None:
        if time.monotonic() - started > 0.2:
            raise Stopped

    with pytest.raises(Stopped):
        listed(tmp_path, str(program), stop=stop)
    assert time.monotonic() - started < 10


names = st.sampled_from(["a", "B", "b", "ab", ".git", ".x", "node_modules", "a.py", "b.PY", "x\ny", "\udcff"])
tree_paths = st.lists(st.lists(names, min_size=1, max_size=4).map("/".join), max_size=12)
pieces = st.sampled_from(
    ["a", "B", "ab", "*", "?", "[ab]", "{a,b}", "!(a)", "*.py", "*.{py,x}", "@(a|b)", ".x", "\udcff"]
)
patterns = st.lists(st.one_of(pieces, st.just("**")), min_size=1, max_size=4).map("/".join)


def plant(root: Path, paths: list[str]) -> None:
    for path in paths:
        target = root / path
        if not target.exists() and not any(above.is_file() for above in target.parents):
            write(root, path)


class TestProperties:
    @settings(max_examples=60, deadline=None)
    @given(tree_paths)
    def test_both_ways_list_the_same(self, paths: list[str]) -> None:
        with tempfile.TemporaryDirectory() as place:
            plant(Path(place), paths)
            expected = sorted(
                os.path.relpath(os.path.join(os.fsencode(parent), os.fsencode(name)), os.fsencode(place))
                for parent, _, files in os.walk(place)
                for name in files
                if EXCLUDED.isdisjoint(os.fsencode(os.path.relpath(parent, place)).split(b"/"))
            )
            assert listed(place, RIPGREP) == listed(place, None) == FileListing(expected, is_complete=True, errors=0)


@each_way
def test_files_come_in_pieces(tmp_path: Path, ripgrep: str | None) -> None:
    names = {f"part{number % 7}/file{number}".encode() for number in range(3000)} | {b"top", b".hidden", b"ne\nw"}
    for name in (*names, b"node_modules/x", b".git/x"):
        path = tmp_path / os.fsdecode(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    with opened(tmp_path) as directory:
        pieces = list(stream_files(directory, exclude_directories=EXCLUDED, stop=never, ripgrep=ripgrep))
        assert sorted(chain.from_iterable(pieces)) == sorted(names)
        with pytest.raises(Stopped):
            list(stream_files(directory, exclude_directories=EXCLUDED, stop=raise_stopped, ripgrep=ripgrep))
        assert list(
            chain.from_iterable(
                stream_files(directory, exclude_directories=EXCLUDED, stop=never, ripgrep="/nowhere/rg")
            )
        )


def raise_stopped() -> None:
    raise Stopped
