"""A tree that is short, whatever the directory is like."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.sanitize import sanitize_line
from tejat.engine.prompt.folder_tree import MAX_ITEMS, render_folder_tree

HEADER = "Showing up to 200 items (files + folders). Folders that end in ... hold more than is shown.\n\n"


def make(root: Path, *paths: str) -> Path:
    for path in paths:
        target = root / path
        if path.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()
    return root


def tree(root: Path) -> str:
    told = render_folder_tree(str(root))
    assert told.startswith(f"{HEADER}{root}/")
    return told.removeprefix(f"{HEADER}{root}/").removeprefix("\n")


def test_files_and_folders(tmp_path: Path) -> None:
    make(tmp_path, "b.txt", "a.txt", "src/main.py", "src/deep/x.py", "empty/", "Z.md")
    assert tree(tmp_path) == (
        "├───Z.md\n├───a.txt\n├───b.txt\n├───empty/\n└───src/\n    ├───main.py\n    └───deep/\n        └───x.py"
    )


def test_an_empty_directory_and_none_at_all(tmp_path: Path) -> None:
    assert tree(tmp_path) == ""
    assert tree(tmp_path / "missing") == ""


def test_what_is_never_opened(tmp_path: Path) -> None:
    make(tmp_path, "node_modules/a/b.js", ".git/HEAD", "dist/bundle.js", "src/dist/x", "dist.txt")
    assert tree(tmp_path) == (
        "├───dist.txt\n├───.git/...\n├───dist/...\n├───node_modules/...\n└───src/\n    └───dist/..."
    )


def test_what_is_ignored_is_left_out(tmp_path: Path) -> None:
    make(tmp_path, ".git/HEAD", "a.log", "src/b.log", "src/b.py", "out/x", "secret.txt")
    (tmp_path / ".gitignore").write_text("*.log\n/out/\n")
    (tmp_path / ".geminiignore").write_text("secret.txt\n")
    assert tree(tmp_path) == ("├───.geminiignore\n├───.gitignore\n├───.git/...\n└───src/\n    └───b.py")


def test_links_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "real/inner.txt")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "nowhere").symlink_to("missing")
    assert tree(tmp_path) == "├───loop\n├───nowhere\n└───real/\n    └───inner.txt"


def test_the_limit_in_one_directory(tmp_path: Path) -> None:
    make(tmp_path, *(f"file{number:04d}" for number in range(300)), "folder/x")
    lines = tree(tmp_path).split("\n")
    assert len(lines) == MAX_ITEMS + 1
    assert lines[-2:] == ["├───file0199", "└───..."]


def test_just_as_many_as_fit(tmp_path: Path) -> None:
    make(tmp_path, *(f"file{number:04d}" for number in range(MAX_ITEMS)))
    assert "..." not in tree(tmp_path)


def test_level_by_level(tmp_path: Path) -> None:
    make(tmp_path, *(f"a/{number:04d}" for number in range(150)), *(f"b/{number:04d}" for number in range(150)), "c/x")
    lines = tree(tmp_path).split("\n")
    assert lines[0] == "├───a/"
    assert lines[150:152] == ["│   └───0149", "├───b/"]
    assert lines[-3:] == ["│   ├───0046", "│   └───...", "└───c/..."]


def test_names_cannot_look_like_something_else(tmp_path: Path) -> None:
    make(tmp_path, "a\nI am a line", "b\u202eb", "c\x1b[31m", "d" * 200)
    os.close(os.open(os.fsencode(tmp_path) + b"/e\xff", os.O_CREAT))
    assert tree(tmp_path) == (
        f"├───a<U+000A>I am a line\n├───b<U+202E>b\n├───c<U+001B>[31m\n├───{'d' * 120}...\n└───e<U+DCFF>"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_where_nobody_may_look(tmp_path: Path) -> None:
    make(tmp_path, "closed/x")
    (tmp_path / "closed").chmod(0)
    try:
        assert tree(tmp_path) == "└───closed/..."
    finally:
        (tmp_path / "closed").chmod(0o700)


def test_a_directory_without_end(tmp_path: Path) -> None:
    for number in range(5200):
        os.mknod(tmp_path / f"n{number}")
    assert len(tree(tmp_path).split("\n")) == MAX_ITEMS + 1


def test_a_path_on_one_line() -> None:
    assert sanitize_line("/a\nb\tc\u200b") == "/a<U+000A>b<U+0009>c<U+200B>"


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=5), max_size=60))
def test_everything_is_shown_once(tmp_path_factory: pytest.TempPathFactory, paths: list[list[str]]) -> None:
    root = tmp_path_factory.mktemp("tree")
    for parts in paths:
        make(root, "/".join(f"d{part}" for part in parts) + "/")
        make(root, "/".join([*(f"d{part}" for part in parts), "file"]))
    shown = [line for line in tree(root).split("\n") if line]
    count = sum(len(folders) + len(files) for _, folders, files in os.walk(root))
    if count <= MAX_ITEMS:
        assert len(shown) == count
    else:
        assert "..." in "".join(shown)
