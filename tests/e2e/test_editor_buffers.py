"""Whole sessions in an editor that has unsaved changes: prompts, approvals, edits and undo."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.approver import NO, YES, FakeApprover
from support.editor import EditorProcess, write_old
from support.interactive import InteractiveEnv, InteractiveRunner
from support.program import script_answer, text_script
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, EditConfirmation
from tejat.core.errors import ErrorType
from tejat.core.tools.call_events import CallFinished


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    return InteractiveEnv(tmp_path.resolve())


@pytest.fixture
def editor(env: InteractiveEnv) -> Iterator[EditorProcess]:
    with EditorProcess(env.project) as editor:
        yield editor


def edit_script(old: str, new: str, *, reads: bool = True) -> str:
    """A turn in which the model reads a file and changes it."""
    read = script_answer(calls=[("read_file", {"path": "${root}/f"})])
    params = {"file_path": "${root}/f", "old_string": old, "new_string": new}
    return (read if reads else "") + script_answer(calls=[("replace", params)]) + text_script("Done.")


def errors(runner: InteractiveRunner) -> list[ErrorType | None]:
    results = [event.result for event in runner.events_of(CallFinished)]
    return [None if result.error is None else result.error.type for result in results]


def test_an_edit_of_unsaved_text_and_its_undo(env: InteractiveEnv, editor: EditorProcess) -> None:
    path = write_old(env.project / "f", b"a\r\nb\r\n")
    editor.type(path, "unsaved\nb\n")
    approver = FakeApprover()

    async def work(runner: InteractiveRunner) -> None:
        await runner.prompt("Change b.")
        assert errors(runner) == [None, None]
        assert path.read_bytes() == b"unsaved\r\nc\r\n"
        assert editor.text(path) == "unsaved\nc\n"
        await runner.run_command("/undo", choices=[0])
        assert path.read_bytes() == b"unsaved\r\nb\r\n"

    env.run_with(work, script=edit_script("b", "c"), approver=approver, buffers=editor.files)
    (shown,) = approver.confirmations
    assert isinstance(shown, EditConfirmation)
    assert (shown.original_content, shown.new_content) == ("unsaved\nb\n", "unsaved\nc\n")


def test_an_edit_that_leaves_what_was_on_disk(env: InteractiveEnv, editor: EditorProcess) -> None:
    """The model reverts what the user typed; undo brings it back."""
    path = write_old(env.project / "f", b"a\n")
    editor.type(path, "typed\n")

    async def work(runner: InteractiveRunner) -> None:
        await runner.prompt("Revert.")
        assert path.read_bytes() == b"a\n"
        await runner.run_command("/undo", choices=[0])
        assert path.read_bytes() == b"typed\n"

    env.run_with(work, script=edit_script("typed", "a"), buffers=editor.files)


def test_undo_of_a_file_that_was_only_in_the_editor(env: InteractiveEnv, editor: EditorProcess) -> None:
    path = env.project / "f"
    editor.type(path, "typed\n")

    async def work(runner: InteractiveRunner) -> None:
        await runner.prompt("Change it.")
        assert path.read_bytes() == b"changed\n"
        await runner.run_command("/undo", choices=[0])
        assert path.read_bytes() == b"typed\n"

    env.run_with(work, script=edit_script("typed", "changed"), buffers=editor.files)


def test_undo_of_a_new_file(env: InteractiveEnv, editor: EditorProcess) -> None:
    call = ("write_file", {"file_path": "${root}/new/f", "content": "a\n"})

    async def work(runner: InteractiveRunner) -> None:
        await runner.prompt("Write it.")
        assert errors(runner) == [None]
        assert (env.project / "new/f").read_bytes() == b"a\n"
        await runner.run_command("/undo", choices=[0])
        assert not (env.project / "new").exists()

    env.run_with(work, script=script_answer(calls=[call]) + text_script("Done."), buffers=editor.files)
    assert editor.written() == ["a\n"]


def test_the_user_types_while_the_question_is_open(env: InteractiveEnv, editor: EditorProcess) -> None:
    """The model has read the file: it has to read it again."""
    path = write_old(env.project / "f", b"a\n")

    def answer(_: ApprovalRequest) -> ApprovalReply:
        editor.type(path, "a typed\n")
        return YES

    async def work(runner: InteractiveRunner) -> None:
        await runner.prompt("Change a.")
        assert errors(runner) == [None, ErrorType.STALE_FILE]

    env.run_with(work, script=edit_script("a", "b"), approver=FakeApprover(answer), buffers=editor.files)
    assert (path.read_bytes(), editor.text(path), editor.written()) == (b"a\n", "a typed\n", [])


def test_a_change_that_was_not_based_on_reading_is_shown_again(env: InteractiveEnv, editor: EditorProcess) -> None:
    path = write_old(env.project / "f", b"a\n")
    asked: list[str | None] = []

    def answer(request: ApprovalRequest) -> ApprovalReply:
        assert isinstance(request.confirmation, EditConfirmation)
        asked.append(request.confirmation.new_content)
        if len(asked) == 1:
            editor.type(path, "a typed\n")
        return YES

    env.run_with(
        lambda runner: runner.prompt("Change a."),
        script=edit_script("a", "b", reads=False),
        approver=FakeApprover(answer),
        buffers=editor.files,
    )
    assert (asked, path.read_bytes()) == (["b\n", "b typed\n"], b"b typed\n")


def test_a_refusal_leaves_everything_unsaved(env: InteractiveEnv, editor: EditorProcess) -> None:
    path = write_old(env.project / "f", b"a\n")
    editor.type(path, "typed\n")
    env.run_with(
        lambda runner: runner.prompt("Change it."),
        script=edit_script("typed", "b"),
        approver=FakeApprover(NO),
        buffers=editor.files,
    )
    assert (path.read_bytes(), editor.text(path), editor.written()) == (b"a\n", "typed\n", [])


def test_mentions_are_read_from_the_editor(env: InteractiveEnv, editor: EditorProcess) -> None:
    path = write_old(env.project / "f.txt", b"on disk\n")
    editor.type(path, "in the editor\n")

    async def work(runner: InteractiveRunner) -> str:
        await runner.prompt("What is in @f.txt?")
        return "\n".join(runner.texts)

    sent = env.run_with(work, buffers=editor.files)
    assert "in the editor" in sent
    assert "on disk" not in sent
