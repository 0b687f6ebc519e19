import os
from pathlib import Path

import pytest

from tejat.config.files.real_paths import RealPaths


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "inner" / "deep").mkdir(parents=True)
    (tmp_path / "inner" / "deep" / "file").touch()
    (tmp_path / "to_inner").symlink_to("inner")
    (tmp_path / "inner" / "to_file").symlink_to("deep/file")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path


@pytest.mark.parametrize(
    "relative",
    [
        *("inner/deep/file", "to_inner/deep/file", "to_inner/to_file", "to_inner", "dangling", "loop", "missing/file"),
        *(
            "inner/deep/file/below",
            "to_inner/..",
            "to_inner/../inner",
            "inner/./deep",
            "inner//deep",
            "inner/deep/",
            "",
        ),
    ],
)
def test_path_is_that_of_realpath(tree: Path, relative: str) -> None:
    path = os.path.join(tree, relative)
    assert RealPaths().find(path) == os.path.realpath(path)


def test_known_directories_do_not_change_the_result(tree: Path) -> None:
    real_paths = RealPaths()
    for relative in ("to_inner/deep/file", "to_inner/to_file", "to_inner/deep/file", "inner/to_file"):
        path = os.path.join(tree, relative)
        assert real_paths.find(path) == os.path.realpath(path)


def test_relative_path_is_completed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    assert RealPaths().find("to_inner/to_file") == os.path.join(os.path.realpath(tree), "inner/deep/file")


def test_root_is_itself() -> None:
    assert RealPaths().find("/") == "/"
