"""Reading one file for a model: what is remembered of it, what a check may refuse, whose ignore rules count."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from support.editor_workspace import EditorWorkspace
from support.media_files import png
from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.messages.types import InlineData
from tejat.core.tools.base import ToolResult
from tejat.tools.files import editor_text
from tejat.tools.files.content import FileContent, LocatedFile, find_ignore_verdict, read_content
from tejat.workspace.context import Workspace
from tejat.workspace.files.media.file_type import FileKind
from tejat.workspace.paths.ignore_rules import IgnoreStatus

PICTURE = png()


def go_on() -> None:
    """Nobody cancels."""


def accept(_: LocatedFile, __: FileKind) -> None:
    """Everything is welcome."""


def read(workspace: Workspace, path: str, *, offset: int = 0, limit: int = 2000) -> FileContent:
    location = workspace.roots.locate(path)
    return read_content(workspace, location, offset=offset, limit=limit, stop=go_on, check=accept)


def is_stale(workspace: Workspace, path: Path) -> bool:
    try:
        workspace.read_tracker.check_unchanged(str(path), path.stat(), path.read_bytes())
    except WorkspaceError as error:
        return error.error_type is ErrorType.STALE_FILE
    return False


@pytest.mark.parametrize(
    ("text", "offset", "limit", "expected"),
    [
        ("a\nb", 0, 2, FileContent("a\nb", "", FileKind.TEXT)),
        ("", 0, 2, FileContent("", "", FileKind.TEXT)),
        ("a\nb", 1, 2, FileContent("b", "", FileKind.TEXT, is_complete=False)),
        ("a", 1, 1, FileContent("", "(nothing to show: the file has 1 lines)", FileKind.TEXT, is_complete=False)),
    ],
)
def test_text(workspace: Workspace, root: Path, text: str, offset: int, limit: int, expected: FileContent) -> None:
    (root / "f").write_text(text)
    assert read(workspace, "f", offset=offset, limit=limit) == expected


def test_a_slice_and_a_cut_line_are_not_the_whole_file(workspace: Workspace, root: Path) -> None:
    (root / "f").write_text("a\nb")
    (root / "g").write_text("x" * 2001)
    assert not read(workspace, "f", limit=1).is_complete
    assert not read(workspace, "g").is_complete


def test_media_and_binaries(workspace: Workspace, root: Path) -> None:
    (root / "a.png").write_bytes(PICTURE)
    (root / "a.zip").write_bytes(b"PK")
    assert read(workspace, "a.png") == FileContent(
        InlineData("image/png", PICTURE), "Read image file: a.png", FileKind.IMAGE
    )
    assert read(workspace, "a.zip") == FileContent(
        "Cannot display content of binary file: a.zip", "Skipped binary file: a.zip", FileKind.BINARY
    )


def test_what_was_read_is_remembered_by_its_content(workspace: Workspace, root: Path) -> None:
    (root / "f").write_text("seen")
    read(workspace, "f")
    status = (root / "f").stat()
    (root / "f").write_text("neen")
    os.utime(root / "f", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert is_stale(workspace, root / "f")
    (root / "f").write_text("seen")
    assert not is_stale(workspace, root / "f")


def test_a_slice_makes_the_whole_file_seen(workspace: Workspace, root: Path) -> None:
    (root / "f").write_text("x\n" * 100_000)
    read(workspace, "f", limit=1)
    (root / "f").write_text("x\n" * 99_999 + "y\n")
    assert is_stale(workspace, root / "f")


def test_a_file_too_large_to_hash_is_remembered_by_its_identity(workspace: Workspace, root: Path) -> None:
    (root / "f").write_bytes(b"text\n" * (8 * 2**20))
    read(workspace, "f", limit=1)
    assert not is_stale(workspace, root / "f")
    os.utime(root / "f")
    assert is_stale(workspace, root / "f")


def test_a_file_is_remembered_under_its_real_name(workspace: Workspace, root: Path) -> None:
    (root / "f").write_text("seen")
    (root / "link").symlink_to("f")
    read(workspace, "link")
    (root / "f").write_text("other")
    assert is_stale(workspace, root / "f")


def test_what_was_not_shown_was_not_seen(workspace: Workspace, root: Path) -> None:
    (root / "a.png").write_bytes(PICTURE)
    (root / "f").write_text("x")

    def refuse(file: LocatedFile, kind: FileKind) -> None:
        raise ToolFailure(f"{file.location.relative} is {kind}", ErrorType.POLICY_VIOLATION)

    with pytest.raises(ToolFailure, match=r"^f is text$"):
        read_content(workspace, workspace.roots.locate("f"), stop=go_on, check=refuse)
    read(workspace, "a.png")
    (root / "a.png").write_bytes(b"other")
    (root / "f").write_bytes(b"other")
    assert not is_stale(workspace, root / "a.png")
    assert not is_stale(workspace, root / "f")


class TestIgnoredBy:
    def verdict(self, workspace: Workspace, path: str, *, git: bool = True) -> IgnoreStatus:
        with workspace.roots.open_file(workspace.roots.locate(path)) as file:
            return find_ignore_verdict(workspace.roots, file, partial(workspace.ignore_rules, git=git))

    def test_the_name_and_the_target_both_count(self, workspace: Workspace, root: Path) -> None:
        (root / ".git").mkdir()
        (root / ".gitignore").write_text("*.log\n")
        (root / ".geminiignore").write_text("*.key\n")
        for name in ("a.log", "a.key", "open"):
            (root / name).touch()
        (root / "to-log").symlink_to("a.log")
        (root / "to-key").symlink_to("a.key")
        (root / "b.key").symlink_to("open")
        assert self.verdict(workspace, "open") is IgnoreStatus.NOT_IGNORED
        assert self.verdict(workspace, "a.log") is IgnoreStatus.GIT
        assert self.verdict(workspace, "to-log") is IgnoreStatus.GIT
        assert self.verdict(workspace, "a.log", git=False) is IgnoreStatus.NOT_IGNORED
        assert self.verdict(workspace, "to-key") is IgnoreStatus.GEMINI
        assert self.verdict(workspace, "b.key") is IgnoreStatus.GEMINI

    def test_the_rules_of_the_root_that_a_link_leads_into(self, root: Path, tmp_path: Path) -> None:
        other = tmp_path.resolve() / "other"
        other.mkdir()
        (other / ".geminiignore").write_text("secret\n")
        (other / "secret").touch()
        (root / "link").symlink_to(other / "secret")
        with Workspace([root, other]) as workspace:
            assert self.verdict(workspace, "link") is IgnoreStatus.GEMINI

    def test_a_root_that_was_moved(self, workspace: Workspace, root: Path) -> None:
        (root / "f").touch()
        root.rename(root.parent / "moved")
        assert self.verdict(workspace, "f") is IgnoreStatus.NOT_IGNORED


def test_a_hard_link_to_the_file_of_another_is_told(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "f").write_text("text")
    (root / "alone").write_text("text")
    os.link(root / "f", root.parent / "elsewhere")
    assert read(workspace, "f") == FileContent("text", "", FileKind.TEXT)
    # Giving a file away takes root; being somebody else does not.
    monkeypatch.setattr(os, "geteuid", lambda: (root / "f").stat().st_uid + 1)
    assert read(workspace, "f") == FileContent("text", "(a hard link to a file of another user)", FileKind.TEXT)
    assert read(workspace, "alone") == FileContent("text", "", FileKind.TEXT)


class TestEditor:
    @pytest.fixture
    def env(self, root: Path) -> Iterator[EditorWorkspace]:
        with EditorWorkspace(root) as env:
            yield env

    def test_unsaved_text(self, env: EditorWorkspace) -> None:
        path = env.file("f", b"a\r\nb\r\n")
        assert env.read("f") == ToolResult("a\nb\n", "")
        env.editor.type(path, "\ufeffa\nbc\nd")
        assert env.read("f") == ToolResult("a\nbc\nd", "(with unsaved changes of the editor)")
        part = env.read("f", offset=1, limit=1)
        assert isinstance(part.llm_content, str)
        assert part.llm_content.startswith("[File content truncated: showing lines 2-2 of 3 total lines.")
        assert part.llm_content.endswith("]\nbc")
        assert part.return_display == "(truncated) (with unsaved changes of the editor)"

    def test_a_file_that_is_only_in_the_editor(self, env: EditorWorkspace) -> None:
        env.editor.type(env.root / "sub/new", "text")
        assert env.read("sub/new").llm_content == "text"
        for name in ("none", "picture.png", "f/g"):
            env.editor.type(env.root / "picture.png", "text")
            error = env.read(name).error
            assert error is not None
            assert error.type is ErrorType.FILE_NOT_FOUND
        asked = [os.path.basename(request["path"]) for request in env.editor.log()]
        assert asked == ["new", "none", "g"]

    def test_the_rules_come_before_the_editor(self, env: EditorWorkspace, tmp_path: Path) -> None:
        """Ignored files, and links that lead out of the workspace, also those of files that do not exist."""
        (env.root / ".geminiignore").write_text("ignored*\n")
        env.file("ignored", b"a")
        (env.root / "link").symlink_to("ignored")
        (env.root / "out").symlink_to(tmp_path / "outside")
        (env.root / "dangling").symlink_to(tmp_path / "none")
        (tmp_path / "outside").write_text("a")
        for name in ("ignored", "link", "ignored-new", "out", "dangling", str(tmp_path / "outside")):
            assert env.read(name).error is not None
        assert env.editor.log() == []

    def test_binary_and_large_files_are_not_asked_about(
        self, env: EditorWorkspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(editor_text, "MAX_BUFFER_BYTES", 99)
        env.file("binary", b"\0\1\2" * 9)
        env.file("large", b"a" * 100)
        for name in ("binary", "large"):
            assert env.read(name).error is None
        assert env.editor.log() == []

    def test_an_editor_that_does_not_answer(self, root: Path) -> None:
        with EditorWorkspace(root, seconds=0.2, read="silent") as env:
            path = env.file("f", b"a")
            result = env.read("f")
            assert result.error is not None
            assert result.error.message == f"The editor did not answer, so this file could not be read: {path}"

    def test_the_files_of_other_directories_come_from_the_disk(self, env: EditorWorkspace, tmp_path: Path) -> None:
        (tmp_path / "outputs").mkdir()
        (tmp_path / "outputs" / "f").write_text("output")
        with Workspace([env.root], for_reading=[tmp_path / "outputs"], editor=env.editor.files) as workspace:
            location = workspace.roots.locate(str(tmp_path / "outputs" / "f"))
            assert read_content(workspace, location, stop=lambda: None, check=accept).content == "output"
        assert env.editor.log() == []
