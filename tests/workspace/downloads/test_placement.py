"""Directories are exchanged as a whole, whenever the process is killed."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.packages import write_tree
from tejat.workspace.downloads import placement
from tejat.workspace.downloads.placement import exchange_directories, move_tree, put_in_place, staging_directory

EXCHANGE = """
import sys
from tejat.workspace.downloads.placement import exchange_directories
print("ready", flush=True)
while True:
    exchange_directories(sys.argv[1], sys.argv[2])
"""


def test_staging(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    stale = write_tree(tmp_path / f".tejat-{ended.pid}-0123456789abcdef.staging", {"a/b": ""})
    other = write_tree(tmp_path / ".tejat-x.staging", {"a": ""})
    with staging_directory(str(tmp_path)) as path:
        write_tree(Path(path), {"tree/x": ""})
        assert os.stat(path).st_mode & 0o777 == 0o700
        assert not stale.exists()
        with staging_directory(str(tmp_path)) as second:
            assert second != path
        assert os.path.isdir(path)
    assert [entry.name for entry in tmp_path.iterdir()] == [other.name]


def test_put_in_place(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "s/tree", {"a": "new"})
    (tmp_path / "place").mkdir()
    put_in_place(str(tree), str(tmp_path / "place"))
    assert (tmp_path / "place/a").read_text() == "new"
    write_tree(tree, {"a": "newer"})
    with pytest.raises(FileExistsError):
        put_in_place(str(tree), str(tmp_path / "place"))
    assert (tmp_path / "place/a").read_text() == "new"


@pytest.mark.parametrize("is_supported", [True, False])
def test_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_supported: bool) -> None:
    if not is_supported:
        monkeypatch.setattr(placement, "_exchange", lambda *_: errno.EINVAL)
    one, other = write_tree(tmp_path / "one", {"a": "1"}), write_tree(tmp_path / "other", {"a": "2"})
    exchange_directories(str(one), str(other))
    assert ((one / "a").read_text(), (other / "a").read_text()) == ("2", "1")
    assert len(list(tmp_path.iterdir())) == 2
    with pytest.raises(FileNotFoundError):
        exchange_directories(str(tmp_path / "gone"), str(other))
    assert (other / "a").read_text() == "1"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it takes several steps")
def test_killed_at_any_moment(tmp_path: Path) -> None:
    one, other = write_tree(tmp_path / "one", {"a": "1"}), write_tree(tmp_path / "other", {"a": "2"})
    for number in range(5):
        process = subprocess.Popen(
            [sys.executable, "-c", EXCHANGE, str(one), str(other)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.003 * number)
        process.kill()
        process.communicate()
        assert {(one / "a").read_text(), (other / "a").read_text()} == {"1", "2"}


def test_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_tree(tmp_path / "s", {"a/run*": "x"})
    (source / "link").symlink_to("a/run")
    move_tree(str(source), str(tmp_path / "t"))

    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "rename", refuse)
    move_tree(str(tmp_path / "t"), str(tmp_path / "u"))
    assert (tmp_path / "u/a/run").stat().st_mode & 0o777 == 0o755
    assert os.readlink(tmp_path / "u/link") == "a/run"
    assert not (tmp_path / "t").exists()
