"""The present content of a file: on disk, or in the editor."""

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.editor_workspace import EditorWorkspace
from support.tool_results import RULE
from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.tools.base import ToolContext
from tejat.tools.files import current_file
from tejat.tools.files.change import apply_change, plan_rewrite
from tejat.tools.files.current_file import read_current
from tejat.tools.write_file import WriteFileTool
from tejat.workspace.context import Workspace
from tejat.workspace.text.encoding import UTF_8, TextEncoding


def test_a_file(workspace: Workspace, root: Path) -> None:
    (root / "f").write_bytes(b"\xef\xbb\xbfa\r\n")
    location = workspace.roots.locate("f")
    current = read_current(workspace, location)
    assert (current.location, current.real_path) == (location, f"{root}/f")
    assert current.original is not None
    assert current.original.content == b"\xef\xbb\xbfa\r\n"
    assert os.path.samestat(current.original.status, (root / "f").stat())
    assert current.text is not None
    assert (current.text.text, current.text.encoding) == ("a\r\n", TextEncoding("utf-8", b"\xef\xbb\xbf"))


def test_no_file(workspace: Workspace, root: Path) -> None:
    current = read_current(workspace, workspace.roots.locate("a/b"))
    assert (current.real_path, current.original) == (f"{root}/a/b", None)
    assert current.text is not None
    assert (current.text.raw, current.text.encoding) == (b"", UTF_8)
    assert list(root.iterdir()) == []


def test_no_text(workspace: Workspace, root: Path) -> None:
    (root / "f").write_bytes(b"\0\x01\x02" * 100)
    current = read_current(workspace, workspace.roots.locate("f"))
    assert current.original is not None
    assert current.text is None


def test_a_link(workspace: Workspace, root: Path) -> None:
    (root / "f").write_text("x")
    (root / "link").symlink_to("f")
    (root / "dangling").symlink_to("sub/none")
    assert read_current(workspace, workspace.roots.locate("link")).real_path == f"{root}/f"
    assert read_current(workspace, workspace.roots.locate("dangling")).real_path == f"{root}/sub/none"


def test_one_that_has_changed(workspace: Workspace, root: Path) -> None:
    (root / "f").write_text("x")
    workspace.read_tracker.record_read(f"{root}/f", (root / "f").stat(), b"y")
    with pytest.raises(WorkspaceError) as caught:
        read_current(workspace, workspace.roots.locate("f"))
    assert caught.value.error_type is ErrorType.STALE_FILE


def test_one_that_is_too_large(workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_file, "MAX_FILE_BYTES", 2**20)
    (root / "f").write_bytes(b"x" * 2**20)
    assert read_current(workspace, workspace.roots.locate("f")).original is not None
    (root / "f").write_bytes(b"x" * (2**20 + 2**19))
    with pytest.raises(WorkspaceError) as caught:
        read_current(workspace, workspace.roots.locate("f"))
    assert (caught.value.message, caught.value.error_type) == (
        f"File is too large to be edited: {root}/f (1.50MB, at most 1MB). write_file can overwrite it.",
        ErrorType.FILE_TOO_LARGE,
    )


def test_one_that_is_too_large_and_not_needed(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(current_file, "MAX_FILE_BYTES", 10)
    (root / "f").write_bytes(b"x" * 11)
    location = workspace.roots.locate("f")
    current = read_current(workspace, location, needs_content=False)
    assert current.text is None
    assert current.original is not None
    assert current.original.content is None
    planned = plan_rewrite(current, "new")
    (root / "f").write_bytes(b"y" * 11)
    with pytest.raises(WorkspaceError) as caught:
        apply_change(workspace, location, ToolContext(), lambda: planned, lambda: None)
    assert caught.value.error_type is ErrorType.STALE_FILE


class TestEditor:
    """Both the text of the editor and the file on disk must be as the model has seen them."""

    @pytest.fixture
    def env(self, root: Path) -> Iterator[EditorWorkspace]:
        with EditorWorkspace(root) as env:
            yield env

    def edit(self, env: EditorWorkspace, name: str = "f") -> ErrorType | None:
        """Rewrite a file, and say what went wrong."""
        error = env.write(name, "new\n").error
        return None if error is None else error.type

    def test_what_is_edited(self, env: EditorWorkspace) -> None:
        path = env.file("f", b"a\r\n")
        location = env.workspace.roots.locate("f")
        current = read_current(env.workspace, location)
        assert (current.unsaved, current.text and current.text.raw) == (None, b"a\r\n")
        env.editor.type(path, "\ufeffb\n")
        current = read_current(env.workspace, location)
        assert (current.unsaved, current.exists, current.real_path) == ("\ufeffb\n", True, str(path))
        assert current.original is not None
        assert current.original.content == b"a\r\n"
        assert current.text is not None
        assert (current.text.text, current.text.encoding) == ("b\n", TextEncoding("utf-8", b"\xef\xbb\xbf"))

    def test_binary_and_large_files_are_not_asked_about(
        self, env: EditorWorkspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(current_file, "MAX_FILE_BYTES", 100)
        env.file("binary", b"\0\1\2" * 9)
        env.file("large", b"a" * 101)
        for name in ("binary", "large"):
            read_current(env.workspace, env.workspace.roots.locate(name), needs_content=False)
        assert env.editor.log() == []

    def test_the_user_types_after_the_model_has_read(self, env: EditorWorkspace) -> None:
        path = env.file("f", b"a\r\nb\r\n")
        for before, after in (("a\nb\n", "a\nb1\n"), ("a\nb1\n", "a\nb2\n")):
            env.editor.type(path, before)
            env.read("f")
            env.editor.type(path, after)
            result = env.replace("f", "a", "c")
            assert result.error is not None
            assert result.error.type is ErrorType.STALE_FILE
            old, new = before.split("\n")[1], after.split("\n")[1]
            assert result.llm_content == (
                f"The file has changed since it was last read: {path}. Read it again with read_file first.\n"
                f"What has changed since:\nIndex: f\n{RULE}\n--- f\tLast read\n+++ f\tNow\n"
                f"@@ -1,2 +1,2 @@\n a\n-{old}\n+{new}\n"
            )
            assert (path.read_bytes(), env.editor.text(path)) == (b"a\r\nb\r\n", after)
        env.read("f")
        assert self.edit(env) is None

    def test_the_disk_changes_under_a_buffer_without_changes(self, env: EditorWorkspace) -> None:
        env.file("f", b"a\n")
        env.read("f")
        for reloads in (True, False):
            env.editor.set(reloads=reloads)
            env.file("f", f"by others {reloads}\n".encode())
            assert self.edit(env) is ErrorType.STALE_FILE
            assert env.read("f").llm_content == f"by others {reloads}\n"
        assert self.edit(env) is None
        assert ((env.root / "f").read_bytes(), env.editor.written()) == (b"new\n", [])

    def test_the_disk_changes_under_unsaved_changes(self, env: EditorWorkspace) -> None:
        path = env.file("f", b"a\n")
        env.editor.type(path, "typed\n")
        env.read("f")
        env.file("f", b"by others\n")
        result = env.write("f", "new\n")
        assert result.error is not None
        assert result.error.type is ErrorType.STALE_FILE
        assert result.error.message.endswith("It has changed on disk, and the editor has unsaved changes of it.")
        assert path.read_bytes() == b"by others\n"

    def test_the_user_saves_what_the_model_has_read(self, env: EditorWorkspace) -> None:
        path = env.file("f", b"a\r\n")
        env.editor.type(path, "typed\n")
        env.read("f")
        env.editor.save(path)
        assert path.read_bytes() == b"typed\r\n"
        assert self.edit(env) is None
        assert path.read_bytes() == b"new\r\n"

    def test_the_user_saves_something_else(self, env: EditorWorkspace) -> None:
        path = env.file("f", b"a\n")
        env.editor.type(path, "typed\n")
        env.read("f")
        env.editor.type(path, "typed more\n")
        env.editor.save(path)
        assert self.edit(env) is ErrorType.STALE_FILE

    def test_the_user_discards_the_changes(self, env: EditorWorkspace) -> None:
        path = env.file("f", b"a\n")
        env.editor.type(path, "typed\n")
        env.read("f")
        env.editor.discard(path)
        assert self.edit(env) is ErrorType.STALE_FILE

    def test_the_user_reverts_a_change_of_the_model(self, env: EditorWorkspace) -> None:
        path = env.file("f", b"a\n")
        assert self.edit(env) is None
        env.editor.type(path, "a\n")
        os.utime(path, (0, 0))
        assert self.edit(env) is ErrorType.STALE_FILE
        assert env.read("f").llm_content == "a\n"

    def test_a_file_that_is_only_in_the_editor(self, env: EditorWorkspace) -> None:
        path = env.root / "f"
        env.editor.type(path, "typed\n")
        env.read("f")
        env.editor.type(path, "typed more\n")
        assert self.edit(env) is ErrorType.STALE_FILE
        env.read("f")
        env.editor.save(path)
        assert self.edit(env) is None

    def test_an_editor_that_does_not_answer(self, root: Path) -> None:
        with EditorWorkspace(root, seconds=0.2, read="silent") as env:
            path = env.file("f", b"a\n")
            assert self.edit(env) is ErrorType.READ_CONTENT_FAILURE
            assert path.read_bytes() == b"a\n"

    def test_a_stop_while_the_editor_is_asked(self, env: EditorWorkspace) -> None:
        env.file("f", b"a\n")
        env.editor.set(read="silent")

        async def cancel() -> None:
            params = {"file_path": "f", "content": "x"}
            proposing = asyncio.create_task(WriteFileTool(env.workspace).should_confirm_execute(params))
            await asyncio.sleep(0.2)
            proposing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await proposing

        began = time.monotonic()
        asyncio.run(cancel())
        assert time.monotonic() - began < 10
