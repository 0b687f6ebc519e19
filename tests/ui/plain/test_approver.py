"""Approvers of the plain UI, and whole calls at a terminal."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from support.terminal.pty_program import run_at_terminal, write_script
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    InfoConfirmation,
    ModelChangeConfirmation,
    Outcome,
    Risk,
)
from tejat.core.errors import ErrorType, ToolFailure
from tejat.ui.plain.approver import AutoApprover


def test_who_agreed_beforehand_says_yes() -> None:
    answer = asyncio.run(AutoApprover().ask(ApprovalRequest(InfoConfirmation("Fetch", "x"), "web_fetch")))
    assert answer == ApprovalReply(Outcome.PROCEED_ONCE)


def test_who_agreed_beforehand_did_not_agree_to_what_cannot_be_undone() -> None:
    question = ApprovalRequest(InfoConfirmation("Write", "x"), "t", reason="The disk is full.", risks=(Risk.NO_UNDO,))
    with pytest.raises(ToolFailure, match=r"does not cover this call\. The disk is full\.") as refusal:
        asyncio.run(AutoApprover().ask(question))
    assert refusal.value.error_type is ErrorType.POLICY_VIOLATION


CAN_ASK = "from tejat.ui.plain.approver import is_interactive; print(is_interactive())"


class TestWhetherSomebodyIsThere:
    def test_at_a_terminal(self) -> None:
        with run_at_terminal("-c", CAN_ASK) as terminal:
            assert terminal.wait_for_exit() == (0, "True\n")

    @pytest.mark.parametrize("redirection", ["</dev/null", "2>/dev/null", "<&-", "2>&-", "<&- 2>&-", "</dev/null 2>&-"])
    def test_who_cannot_see_or_answer_is_not_there(self, redirection: str) -> None:
        redirected = f'exec "$0" -c "$1" {redirection}'
        command = f"import os; os.execvp('sh', {['sh', '-c', redirected, sys.executable, CAN_ASK]!r})"
        with run_at_terminal("-c", command) as terminal:
            assert terminal.wait_for_exit() == (0, "False\n")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    workspace = tmp_path / "work"
    workspace.mkdir()
    (workspace / "a.txt").write_text("one\n")
    return workspace


class TestWholeProgram:
    """`tejat tools call write_file` as a person sees it."""

    CALL = ("-m", "tejat", "tools", "call", "write_file")

    def arguments(self, workspace: Path, content: str = "two\\n") -> str:
        return f'{{"file_path": "{workspace}/a.txt", "content": "{content}"}}'

    def test_yes(self, workspace: Path) -> None:
        with run_at_terminal(*self.CALL, self.arguments(workspace), cwd=workspace) as terminal:
            terminal.wait_for("Your answer (")
            assert "\n1 - one\n1 + two\n" in terminal.shown
            assert (workspace / "a.txt").read_text() == "one\n"
            terminal.type(b"y\n")
            code, printed = terminal.wait_for_exit()
        assert code == 0
        assert "a.txt" in printed
        assert (workspace / "a.txt").read_text() == "two\n"

    @pytest.mark.parametrize("typed", [b"n\n", b"\x04"])
    def test_no(self, workspace: Path, typed: bytes) -> None:
        with run_at_terminal(*self.CALL, self.arguments(workspace), cwd=workspace) as terminal:
            terminal.wait_for("Your answer (")
            terminal.type(typed)
            assert terminal.wait_for_exit() == (3, "")
        assert "[Operation Cancelled] Reason: User did not allow tool call." in terminal.shown
        assert (workspace / "a.txt").read_text() == "one\n"

    def test_ctrl_c(self, workspace: Path) -> None:
        with run_at_terminal(*self.CALL, self.arguments(workspace), cwd=workspace) as terminal:
            terminal.wait_for("Your answer (")
            terminal.type(b"\x03")
            assert terminal.wait_for_exit() == (130, "")
        assert "Traceback" not in terminal.shown
        assert (workspace / "a.txt").read_text() == "one\n"
        assert os.listdir(workspace) == ["a.txt"]

    def test_hidden_characters_of_the_proposal_are_shown(self, workspace: Path) -> None:
        content = "if admin:\\u202e \\u2066# safe\\u001b[2K\\n"
        with run_at_terminal(*self.CALL, self.arguments(workspace, content), cwd=workspace) as terminal:
            terminal.wait_for("Your answer (")
            assert "\n1 + if admin:<U+202E> <U+2066># safe<U+001B>[2K\n" in terminal.shown
            terminal.type(b"n\n")
            terminal.wait_for_exit()

    def test_a_file_that_moved_on_while_the_person_thought_is_shown_again(self, workspace: Path) -> None:
        with run_at_terminal(*self.CALL, self.arguments(workspace), cwd=workspace) as terminal:
            terminal.wait_for("Your answer (")
            (workspace / "a.txt").write_text("changed by somebody else\n")
            terminal.type(b"y\n")
            assert "\n1 - changed by somebody else\n1 + two\n" in terminal.wait_for("Apply this change?")
            terminal.wait_for("Your answer (")
            terminal.type(b"n\n")
            assert terminal.wait_for_exit() == (3, "")
        assert (workspace / "a.txt").read_text() == "changed by somebody else\n"

    def test_what_was_rewritten_is_shown_again_before_it_is_written(self, workspace: Path, tmp_path: Path) -> None:
        command = write_script(tmp_path / "editor", 'printf "mine\\n" > "$1"')
        with run_at_terminal(*self.CALL, self.arguments(workspace), cwd=workspace, VISUAL=command) as terminal:
            terminal.wait_for("Your answer (")
            terminal.type(b"e\n")
            assert "\n1 - one\n1 + mine\n" in terminal.wait_for("Apply this change?")
            terminal.wait_for("Your answer (")
            assert (workspace / "a.txt").read_text() == "one\n"
            terminal.type(b"y\n")
            code, printed = terminal.wait_for_exit()
        assert code == 0
        assert "User modified the `content` to be: mine\n" in printed
        assert (workspace / "a.txt").read_text() == "mine\n"

    def test_who_agreed_beforehand_is_not_asked(self, workspace: Path) -> None:
        with run_at_terminal(*self.CALL, self.arguments(workspace), "--yes", cwd=workspace) as terminal:
            code, _ = terminal.wait_for_exit()
        assert (code, terminal.shown) == (0, "")
        assert (workspace / "a.txt").read_text() == "two\n"

    def test_what_only_reads_is_not_asked_about(self, workspace: Path) -> None:
        words = ("-m", "tejat", "tools", "call", "read_file", f"path={workspace}/a.txt")
        with run_at_terminal(*words, cwd=workspace) as terminal:
            assert terminal.wait_for_exit() == (0, "one\n")
        assert terminal.shown == ""


def test_another_model_is_for_a_person_to_choose() -> None:
    change = ModelChangeConfirmation("Switch the model", "a", "b", "Busy.")
    assert asyncio.run(AutoApprover().ask(ApprovalRequest(change, ""))).outcome is Outcome.CANCEL
