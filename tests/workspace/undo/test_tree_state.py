"""A tree is seen by its metadata: everything that counts, nothing that does not, no link followed."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from tejat.workspace.files.roots import Roots
from tejat.workspace.paths.ignore_rules import IgnoreRules
from tejat.workspace.undo.tree_state import (
    FILE_KEY_SIZE,
    TooManyEntries,
    TreeScan,
    TreeState,
    file_key_size,
    pack_file_key,
    unpack_file_key,
)


def never() -> None:
    return


def scan(root: Path, before: TreeState | None = None, *, limit: int = 1000, hidden: Path | None = None) -> TreeState:
    with Roots([str(root)]) as roots:
        marks = {(hidden.stat().st_dev, hidden.stat().st_ino)} if hidden else set[tuple[int, int]]()
        rules = IgnoreRules(roots.first.real_path, git=True, gemini=True)
        looking = TreeScan(roots, roots.first, rules, marks)
        return looking.run(limit=limit, stop=never, unwatched=None if before is None else before.unwatched)


def test_every_kind(tmp_path: Path) -> None:
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "e").chmod(0o711)
    (tmp_path / "d" / "f\udcff").write_text("four")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "to d").symlink_to("d")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as endpoint:
        endpoint.bind(str(tmp_path / "socket"))
    state = scan(tmp_path)
    mine = (os.geteuid(), (tmp_path / "d").stat().st_gid)
    assert state == TreeState(
        files={"d/f\udcff": pack_file_key((tmp_path / "d" / "f\udcff").lstat())},
        links={"link": "/etc/passwd", "to d": "d"},
        directories={"d": ((tmp_path / "d").stat().st_mode & 0o7777, *mine), "d/e": (0o711, *mine)},
        special_files={name: (tmp_path / name).lstat().st_mode for name in ("pipe", "socket")},
    )
    assert len(state) == 7
    assert scan(tmp_path) == state


def test_what_a_key_tells(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("four")
    status = (tmp_path / "f").lstat()
    key = pack_file_key(status)
    assert len(key) == FILE_KEY_SIZE
    assert file_key_size(key) == 4
    assert unpack_file_key(key) == (
        status.st_mode,
        status.st_dev,
        status.st_ino,
        4,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_uid,
        status.st_gid,
    )
    assert scan(tmp_path).files == {"f": key}


def test_what_is_left_out(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("build/\n*.env\n")
    for name in ("build", "node_modules", ".hg", "src", "src/build", "journal", ".jj", "module"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "inside").touch()
    (tmp_path / "module" / ".git").write_text("gitdir: elsewhere\n")
    (tmp_path / "key.env").touch()
    state = scan(tmp_path, hidden=tmp_path / "journal")
    assert set(state.files) == {".gitignore", "key.env", "src/inside", "module/inside"}
    assert set(state.directories) == {"src", "module"}
    assert set(state.unwatched) == {".git", "build", "node_modules", ".hg", ".jj", "src/build"}


def test_what_was_not_watched_stays_so_under_another_name(tmp_path: Path) -> None:
    (tmp_path / "node_modules" / "in").mkdir(parents=True)
    before = scan(tmp_path)
    (tmp_path / "node_modules").rename(tmp_path / "vendor")
    assert scan(tmp_path, before) == TreeState(unwatched={"vendor": before.unwatched["node_modules"]})
    assert set(scan(tmp_path).directories) == {"vendor", "vendor/in"}


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_what_cannot_be_read_is_not_watched(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "f").touch()
    (tmp_path / "closed").chmod(0)
    before = scan(tmp_path)
    (tmp_path / "closed").chmod(0o755)
    assert list(before.unwatched) == ["closed"]
    assert list(before.directories) == ["closed"]
    after = scan(tmp_path, before)
    assert (list(after.unwatched), after.files) == (["closed"], {})


def test_a_limit(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / str(number)).touch()
    assert len(scan(tmp_path, limit=10)) == 10
    with pytest.raises(TooManyEntries):
        scan(tmp_path, limit=9)


def test_stopping(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def stop() -> None:
        raise Enough

    with Roots([str(tmp_path)]) as roots, pytest.raises(Enough):
        TreeScan(roots, roots.first, IgnoreRules(str(tmp_path), git=False, gemini=False)).run(limit=9, stop=stop)
