"""The text of a real editor in another process, compared with files on disk."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.editor import EditorProcess, write_old
from tejat.core.errors import ToolFailure
from tejat.workspace.files.editor.buffer_text import TextForm
from tejat.workspace.files.editor.buffers import (
    MAX_BUFFER_BYTES,
    UNKNOWN_BUFFER,
    Buffer,
    Buffers,
    BufferStatus,
    SavedContent,
)
from tejat.workspace.files.roots import Roots
from tejat.workspace.plan_directory import PlanDirectory
from tejat.workspace.threads.stop import StopRequested, StopToken, never_stop


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    root.mkdir()
    return root


class Env:
    """A root, an editor that has it open, and the buffers of both."""

    def __init__(self, root: Path, **options: Any) -> None:
        self.root = root
        self.editor = EditorProcess(root, **options)
        self.roots = Roots([str(root)])
        self.buffers = Buffers(self.editor.files)

    def read(self, name: str = "f") -> Buffer:
        path = self.root / name
        saved = SavedContent(path.read_bytes(), path.stat().st_mtime_ns) if path.exists() else None
        return self.buffers.read(self.roots.locate(name), str(path), saved, never_stop)

    def status(self, name: str = "f") -> BufferStatus:
        return self.read(name).status

    def close(self) -> None:
        self.editor.close()
        self.roots.close()


@pytest.fixture
def env(root: Path) -> Iterator[Env]:
    env = Env(root)
    write_old(root / "f", b"a\r\nb\r\n")
    yield env
    env.close()


class TestRead:
    def test_a_file_without_changes(self, env: Env) -> None:
        assert env.read() == Buffer(BufferStatus.SAVED, form=TextForm(hides_carriage_returns=True))

    def test_unsaved_changes(self, env: Env) -> None:
        env.editor.type(env.root / "f", "a\nbc\n")
        assert env.read() == Buffer(BufferStatus.UNSAVED, "a\nbc\n")
        env.editor.save(env.root / "f")
        assert env.status() is BufferStatus.SAVED

    def test_a_new_file(self, env: Env) -> None:
        assert env.read("new") == UNKNOWN_BUFFER
        env.editor.set(missing="empty")
        assert env.read("new") == UNKNOWN_BUFFER
        env.editor.type(env.root / "new", "text")
        assert env.read("new") == Buffer(BufferStatus.UNSAVED, "text")
        assert not (env.root / "new").exists()

    @pytest.mark.parametrize("answer", ["error", "garbage", "surrogate"])
    def test_no_usable_answer(self, env: Env, answer: str) -> None:
        env.editor.set(read=answer)
        assert env.read() == UNKNOWN_BUFFER

    def test_no_text_for_a_file_that_has_some(self, env: Env) -> None:
        env.editor.set(read="empty")
        assert env.status() is BufferStatus.OUTDATED
        write_old(env.root / "f", b"")
        assert env.status() is BufferStatus.SAVED

    def test_large_files_are_not_asked_about(self, env: Env) -> None:
        saved = SavedContent(b"x" * (MAX_BUFFER_BYTES + 1), 0)
        assert env.buffers.read(env.roots.locate("f"), "f", saved, never_stop) == UNKNOWN_BUFFER
        assert env.editor.log() == []

    def test_an_editor_that_only_writes_is_not_asked(self, root: Path) -> None:
        env = Env(root, reads=False)
        write_old(root / "f", b"x")
        assert (env.read(), env.buffers.can_write, env.editor.log()) == (UNKNOWN_BUFFER, True, [])
        env.close()

    def test_the_editor_gets_the_path_as_the_user_spells_it(self, tmp_path: Path, root: Path) -> None:
        spelled = tmp_path.resolve() / "link"
        spelled.symlink_to(root)
        write_old(root / "f", b"x")
        with EditorProcess(spelled) as editor, Roots([str(spelled)]) as roots:
            location = roots.locate("f")
            assert Buffers(editor.files).covers(roots, location)
            Buffers(editor.files).read(location, str(root / "f"), SavedContent(b"x", 0), never_stop)
            asked = {"method": "fs/read_text_file", "sessionId": "s1", "path": f"{spelled}/f"}
            assert editor.log() == [asked]


class TestOutdated:
    """An editor needs a moment to notice that a file has changed on disk."""

    def test_an_unchanged_buffer_is_older_than_the_file(self, env: Env) -> None:
        env.editor.set(reloads=False)
        assert env.status() is BufferStatus.SAVED
        write_old(env.root / "f", b"by a command\n")
        assert [env.status(), env.status()] == [BufferStatus.OUTDATED] * 2
        env.editor.set(reloads=True)
        assert env.status() is BufferStatus.SAVED

    def test_a_change_of_the_user_is_not(self, env: Env) -> None:
        """For example, the user reverts in the editor what was written through it."""
        assert env.status() is BufferStatus.SAVED
        env.buffers.write(env.roots.locate("f"), "new\n", never_stop)
        env.buffers.record_saved(f"{env.root}/f", "new\n")
        os.utime(env.root / "f", (0, 0))
        env.editor.type(env.root / "f", "a\nb\n")
        assert env.read() == Buffer(BufferStatus.UNSAVED, "a\nb\n")

    def test_a_file_that_has_just_changed(self, env: Env, monkeypatch: pytest.MonkeyPatch) -> None:
        """The buffer was never seen before: the editor gets the time to load the file again."""
        monkeypatch.setattr("tejat.workspace.files.editor.buffers._RELOAD_SECONDS", 20.0)
        env.editor.text(env.root / "f")
        env.editor.set(reloads=False)
        (env.root / "f").write_bytes(b"by a command\n")
        later = threading.Timer(0.3, env.editor.set, kwargs={"reloads": True})
        later.start()
        began = time.monotonic()
        assert env.status() is BufferStatus.SAVED
        assert time.monotonic() - began > 0.2
        later.join()

    def test_the_wait_ends(self, env: Env) -> None:
        (env.root / "f").write_bytes(b"saved\n")
        env.editor.type(env.root / "f", "unsaved\n")
        began = time.monotonic()
        assert env.status() is BufferStatus.UNSAVED
        assert time.monotonic() - began < 5

    def test_the_wait_can_be_stopped(self, env: Env) -> None:
        (env.root / "f").write_bytes(b"saved\n")
        env.editor.type(env.root / "f", "unsaved\n")
        stop = StopToken()
        stop.request_stop()
        saved = SavedContent(b"saved\n", time.time_ns())
        with pytest.raises(StopRequested):
            env.buffers.read(env.roots.locate("f"), "f", saved, stop)


class TestCovers:
    def test_only_files_that_the_editor_has_open(self, tmp_path: Path, root: Path) -> None:
        other = tmp_path.resolve() / "other"
        other.mkdir()
        with EditorProcess(root) as editor, Roots([str(root), str(other)], for_reading=[str(tmp_path)]) as roots:
            buffers = Buffers(editor.files)
            paths = (root / "a/b", other / "f", tmp_path.resolve() / "f")
            found = [buffers.covers(roots, roots.locate(str(path))) for path in paths]
            assert found == [True, False, False]

    def test_no_plans(self, root: Path) -> None:
        plans = root / "plans"
        plans.mkdir()
        with EditorProcess(root) as editor, Roots([str(root)]) as roots:
            roots.plans = PlanDirectory(str(plans), is_planning=lambda: True, is_in_workspace=True)
            assert not Buffers(editor.files).covers(roots, roots.locate(str(plans / "plan.md")))
            assert Buffers(editor.files).covers(roots, roots.locate(str(plans / "other.txt")))


def test_an_editor_that_refuses(env: Env) -> None:
    env.editor.set(write="error")
    with pytest.raises(ToolFailure, match="refused"):
        env.buffers.write(env.roots.locate("f"), "x", never_stop)


def test_what_is_remembered_is_bounded(env: Env, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tejat.workspace.files.editor.buffers._MAX_RECORDS", 2)
    env.editor.set(reloads=False)
    assert env.status() is BufferStatus.SAVED
    for name in ("g", "h"):
        env.buffers.record_saved(name, "text")
    write_old(env.root / "f", b"by a command\n")
    assert env.status() is BufferStatus.UNSAVED
