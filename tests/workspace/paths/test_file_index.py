"""The names of files are there while somebody types, and stay up to date."""

import asyncio
import os
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tejat.workspace.context import Workspace
from tejat.workspace.paths import file_index
from tejat.workspace.paths.file_index import FileIndex
from tejat.workspace.paths.ignore_rules import IgnoreOptions


def make(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return root


def ask(work: Callable[[FileIndex], Awaitable[None]], *roots: Path, **settings: Any) -> None:
    async def run() -> None:
        with Workspace(roots, **settings) as workspace:
            names = FileIndex(workspace)
            try:
                await work(names)
            finally:
                await names.close()

    asyncio.run(run())


async def read(names: FileIndex) -> None:
    names.start()
    async with asyncio.timeout(60):
        while not names.is_complete:  # noqa: ASYNC110 -- nobody tells
            await asyncio.sleep(0.001)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = make(
        tmp_path / "project",
        "README.md",
        "src/main.py",
        "src/.hidden.py",
        ".github/workflows/ci.yml",
        ".env",
        "build/out.py",
        "notes/secret.txt",
        "node_modules/main.py",
    )
    (root / ".gitignore").write_text("build/\n")
    (root / ".geminiignore").write_text("secret.txt\n")
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    return root


def test_files_that_count_are_found(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_index, "_INITIAL_WAIT_SECONDS", 10.0)  # the machine may be busy

    async def look(names: FileIndex) -> None:
        assert not names.is_complete
        assert await names.find("main") == ["src/main.py"]
        await read(names)
        assert await names.find("") == ["README.md", "src/", "src/main.py"]
        assert await names.find("secret") == []
        assert await names.find("out.py") == []
        assert await names.find("./src/") == ["src/main.py"]
        assert await names.find("../") == []

    ask(look, project)


def test_hidden_ones_are_found_by_a_dot(project: Path) -> None:
    async def look(names: FileIndex) -> None:
        await read(names)
        assert (await names.find(".e"))[0] == ".env"
        assert (await names.find("."))[:4] == [".env", ".gitignore", ".geminiignore", "src/.hidden.py"]
        assert await names.find(".github/") == [".github/workflows/", ".github/workflows/ci.yml"]
        assert await names.find("src/.h") == ["src/.hidden.py"]
        assert await names.find("ci.yml") == []

    ask(look, project)


def test_the_settings_say_what_is_ignored(project: Path) -> None:
    async def look(names: FileIndex) -> None:
        await read(names)
        assert [await names.find("out.py"), await names.find("secret")] == [["build/out.py"], ["notes/secret.txt"]]

    ask(look, project, ignore=IgnoreOptions(git=False, gemini=False))


def test_other_roots_have_whole_paths(project: Path, tmp_path: Path) -> None:
    other = make(tmp_path / "other", "lib/main.py")

    async def look(names: FileIndex) -> None:
        await read(names)
        assert await names.find("main.py") == ["src/main.py", f"{other}/lib/main.py"]
        assert await names.find(f"{other}/") == [f"{other}/lib/", f"{other}/lib/main.py"]
        assert await names.find(f"{other}/ma") == [f"{other}/lib/main.py"]
        assert await names.find(f"{project}/ma") == ["src/main.py"]
        assert await names.find("/etc/") == []

    ask(look, project, other)


def test_names_that_cannot_be_shown_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "good ü.txt", "bad\n.txt", "bad\t.txt", "bad\x1b.txt", "bad\u202e.txt", "日本.txt")
    (tmp_path / os.fsdecode(b"bad\xff.txt")).write_text("")

    async def look(names: FileIndex) -> None:
        await read(names)
        assert await names.find("txt") == ["日本.txt", "good ü.txt"]

    ask(look, tmp_path)


def test_what_is_old_is_read_again_meanwhile_it_is_used(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_index, "_FRESH_SECONDS", 0.0)
    monkeypatch.setattr(file_index, "_FRESH_BUILD_FACTOR", 0)

    async def look(names: FileIndex) -> None:
        await read(names)
        make(project, "later.py")
        (project / "README.md").unlink()
        async with asyncio.timeout(60):
            while await names.find("later") != ["later.py"]:
                assert names.is_complete
        assert await names.find("README") == []

    ask(look, project)


def test_a_root_that_is_gone_has_no_files(project: Path, tmp_path: Path) -> None:
    other = make(tmp_path / "other", "lib.py")

    async def look(names: FileIndex) -> None:
        for path in (other / "lib.py", other):
            path.unlink() if path.is_file() else path.rmdir()
        await read(names)
        assert await names.find("main.py") == ["src/main.py"]
        assert await names.find("lib.py") == []

    ask(look, project, other)


def test_without_ripgrep_it_is_the_same(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_index, "find_ripgrep", lambda: None)

    async def look(names: FileIndex) -> None:
        await read(names)
        assert await names.find("") == ["README.md", "src/", "src/main.py"]

    ask(look, project)


def test_no_more_names_are_kept_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_index, "_MAX_FILES", 7)
    monkeypatch.setattr(file_index, "_BLOCK", 3)
    make(tmp_path, *(f"file{number}.txt" for number in range(20)))

    async def look(names: FileIndex) -> None:
        await read(names)
        assert len(await names.find("file")) == 7

    ask(look, tmp_path)


def test_reading_ends_when_it_is_told_to(tmp_path: Path) -> None:
    make(tmp_path, *(f"part{number % 40}/file{number}.txt" for number in range(2000)))

    async def look(names: FileIndex) -> None:
        names.start()
        await asyncio.sleep(0)
        begun = time.monotonic()
        await names.close()
        assert time.monotonic() - begun < 10

    ask(look, tmp_path)


def test_a_large_tree_answers_before_it_is_read(tmp_path: Path) -> None:
    """The time that it may take is measured in `bench/`."""
    make(tmp_path, *(f"part{number % 100}/file_{number}.txt" for number in range(10_000)))

    async def look(names: FileIndex) -> None:
        assert await names.find("file")
        await read(names)
        assert (await names.find("file_9999"))[0] == "part99/file_9999.txt"
        assert len(await names.find("e", limit=10)) == 10

    ask(look, tmp_path)


def test_a_long_search_is_continued_when_it_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_index, "find_ripgrep", lambda: None)  # directory by directory
    monkeypatch.setattr(file_index, "_SEARCH_SECONDS", 0.0)
    monkeypatch.setattr(file_index, "_BLOCK", 10)
    make(tmp_path, *(f"part{number % 100:02}/file_{number:04}.txt" for number in range(2000)))

    async def look(names: FileIndex) -> None:
        await read(names)
        for typed in ("file_1999", "file_0000", "fl1998"):
            found, searches = await names.find(typed), 1
            async with asyncio.timeout(60):
                while not names.is_complete:
                    found = await names.find(typed)
                    searches += 1
            assert found[0] == f"part{typed[-2:]}/file_{typed[-4:]}.txt"
            assert searches > 1
        assert await names.find("nothing at all") == []
        assert not names.is_complete

    ask(look, tmp_path)
