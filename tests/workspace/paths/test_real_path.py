"""Paths are resolved while others change them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.workspace.paths.real_path import real_path


@pytest.fixture
def on_readlink(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Make another process win a race: its change comes right before a link is read."""
    readlink = os.readlink

    def install(change: Callable[[], object]) -> None:
        def raced(path: str) -> str:
            change()
            return readlink(path)

        monkeypatch.setattr(os, "readlink", raced)

    return install


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "link").symlink_to("directory")
    assert real_path(f"{tmp_path}/link/missing") == f"{os.path.realpath(tmp_path)}/directory/missing"


def test_it_is_what_the_standard_library_finds(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/f").touch()
    (tmp_path / "a/gone (deleted)").touch()
    (tmp_path / "to-directory").symlink_to("a/b")
    (tmp_path / "to-file").symlink_to(tmp_path / "to-directory/f")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("a/missing")
    os.mkfifo(tmp_path / "fifo")
    names = ["", "a/", "a/..", "a/b/f", "a/b/f/", "a/b/f/below", "to-directory", "to-directory/f", "to-directory/../b"]
    names += ["to-file", "to-file/", "loop", "loop/x", "dangling", "fifo", "missing", "a/gone (deleted)", "//a"]
    for name in names:
        path = f"{tmp_path}/{name}"
        assert real_path(path) == os.path.realpath(path), name
    assert real_path("/") == "/"
    with pytest.raises(ValueError, match="null"):
        real_path("a\0b")


@pytest.mark.parametrize("replace", [os.mkdir, lambda path: Path(path).touch(), lambda _: None])
def test_a_link_that_is_none_any_more_is_resolved_again(
    tmp_path: Path, on_readlink: Callable[[Callable[[], object]], None], replace: Callable[[str], object]
) -> None:
    link = tmp_path / "link"
    link.symlink_to("/elsewhere")

    def change() -> None:
        if link.is_symlink():
            link.unlink()
            replace(str(link))

    on_readlink(change)
    assert real_path(str(link)) == f"{os.path.realpath(tmp_path)}/link"


def test_a_path_that_never_holds_still_is_not_in_the_workspace(
    tmp_path: Path, on_readlink: Callable[[Callable[[], object]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "path"
    lstat = os.lstat

    def link_again(name: str) -> os.stat_result:
        if name == str(path):
            if path.is_dir():
                path.rmdir()
            path.symlink_to("/elsewhere")
        return lstat(name)

    monkeypatch.setattr(os, "lstat", link_again)
    on_readlink(lambda: (path.unlink(), path.mkdir()))
    with pytest.raises(WorkspaceError) as caught:
        real_path(str(path))
    assert (caught.value.error_type, caught.value.path) == (ErrorType.PATH_NOT_IN_WORKSPACE, str(path))
