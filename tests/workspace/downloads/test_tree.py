"""Trees of others are copied without following links, and refused by name."""

import os
import socket
from pathlib import Path

import pytest

from support.packages import write_tree
from tejat.workspace.downloads import tree
from tejat.workspace.downloads.failure import DownloadFailure
from tejat.workspace.downloads.tree import check_tree, content_directory, copy_tree, remove_tree
from tejat.workspace.threads.stop import never_stop


def copy(source: Path, destination: Path) -> list[str]:
    copy_tree(str(source), str(destination), stop=never_stop)
    return sorted(path.relative_to(destination).as_posix() for path in destination.rglob("*"))


def test_copy(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "s", {"a/b.txt": "b", "run*": "#!/bin/sh\n", ".git/config": "x", "a/.git/x": "y"})
    (source / "link").symlink_to("a/b.txt")
    (source / "a/b.txt").chmod(0o666)
    assert copy(source, tmp_path / "d") == ["a", "a/.git", "a/.git/x", "a/b.txt", "link", "run"]
    assert os.readlink(tmp_path / "d/link") == "a/b.txt"
    assert (tmp_path / "d/run").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "d/a/b.txt").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "a/../../outside", "."])
def test_links_that_lead_out(tmp_path: Path, target: str) -> None:
    source = write_tree(tmp_path / "s", {"a/b": "b"})
    (source / "link").symlink_to(target)
    if target == ".":  # stays inside by itself, and leads out through a second link
        (source / "a" / "up").symlink_to("..")
        (source / "second").symlink_to("a/up/..")
    with pytest.raises(DownloadFailure, match=r'"link"|"second"'):
        copy(source, tmp_path / "d")
    assert not (tmp_path / "d").exists()


def test_special_files(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "s", {"a": "b"})
    os.mkfifo(source / "pipe")
    with pytest.raises(DownloadFailure, match=r'"pipe".*device, pipe or socket'):
        check_tree(str(source), stop=never_stop)
    (source / "pipe").unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(source)  # the whole path may be too long for a socket
        listener.bind("socket")
        os.chdir(here)
    with pytest.raises(DownloadFailure, match='"socket"'):
        check_tree(str(source), stop=never_stop)


def test_set_id_bits(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "s", {"a*": "b"})
    (source / "a").chmod(0o4755)
    with pytest.raises(DownloadFailure, match=r'"a".*set-user-ID'):
        check_tree(str(source), stop=never_stop)


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_tree(tmp_path / "s", {"a": "12345", "b": "12345"})
    with pytest.raises(DownloadFailure, match="larger"):
        check_tree(str(source), stop=never_stop, max_bytes=9)
    monkeypatch.setattr(tree, "MAX_ENTRIES", 1)
    with pytest.raises(DownloadFailure, match="more than 1 entries"):
        check_tree(str(source), stop=never_stop)


def test_the_directory_with_the_content(tmp_path: Path) -> None:
    top = write_tree(tmp_path / "one", {"r-1.0/m.json": "{}"})
    assert content_directory(str(top), "m.json") == str(top / "r-1.0")
    assert content_directory(str(top / "r-1.0"), "m.json") == str(top / "r-1.0")
    write_tree(top, {"other": ""})
    assert content_directory(str(top), "m.json") == str(top)


def test_remove_what_is_read_only(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "s", {"a/b/c": "b", "d": ""})
    (source / "a/b").chmod(0o500)
    (source / "a").chmod(0o500)
    remove_tree(str(source))
    assert not source.exists()
    (tmp_path / "link").symlink_to(tmp_path)
    remove_tree(str(tmp_path / "link"))
    assert tmp_path.is_dir()
    assert not (tmp_path / "link").is_symlink()
