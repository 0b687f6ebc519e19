"""Asking a person who sits at a real terminal."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

# Makes the terminal that is its standard input its own, so that Ctrl-C reaches it, and becomes the program.
TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)

ASK = """
import asyncio, sys
from tejat.cli.confirm import TerminalApprover, can_ask
from tejat.cli.style import Style
from tejat.core.confirm import EditConfirmation, InfoConfirmation

assert can_ask()
questions = {
    "edit": EditConfirmation(
        title="Confirm Write: a\\x1b[2J.txt",
        file_name="a.txt",
        file_path="/w/a.txt",
        file_diff="--- a.txt\\n+++ a.txt\\n@@ -1,1 +1,1 @@\\n-old\\u202e\\n+new\\n",
        original_content="old",
        new_content="new",
    ),
    "info": InfoConfirmation("Fetch", "Fetch it\\r?"),
}
answer = asyncio.run(TerminalApprover(Style(sys.stderr)).ask(questions[sys.argv[1]]))
print(answer.outcome.value, answer.new_content, answer.feedback)
"""
QUESTION = "Go ahead? [y]es / [n]o: "


class Terminal:
    """A program at a pseudo-terminal: what it shows on standard error, and its standard output apart."""

    def __init__(self, controller: int, process: "subprocess.Popen[bytes]") -> None:
        self._controller = controller
        self.process = process
        self.shown = ""

    def wait_for(self, text: str) -> None:
        """Read until this text was shown after everything that was waited for before."""
        start = len(self.shown)
        while text not in self.shown[start:]:
            assert self._read(), f"the program ended; it showed {self.shown!r}"

    def type(self, keys: bytes) -> None:
        os.write(self._controller, keys)

    def end(self) -> tuple[int, str]:
        """The exit code and what came out on standard output."""
        while self._read():
            pass
        assert self.process.stdout is not None
        printed = self.process.stdout.read().decode()
        return self.process.wait(30), printed

    def hang_up(self) -> None:
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), self._controller)

    def _read(self) -> bool:
        deadline = time.monotonic() + 30
        while not select.select([self._controller], [], [], 0.5)[0]:
            if self.process.poll() is not None:
                return False
            assert time.monotonic() < deadline, f"nothing more came after {self.shown!r}"
        try:
            seen = os.read(self._controller, 65536)
        except OSError:  # Linux's way to say that nobody holds the other end any more
            return False
        self.shown += seen.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(seen)


@contextmanager
def at_terminal(*words: str | Path, cwd: Path | None = None, **environment: str) -> Generator[Terminal]:
    controller, line = os.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, sys.executable, *words],
            stdin=line,
            stdout=subprocess.PIPE,
            stderr=line,
            cwd=cwd,
            start_new_session=True,
            env={**os.environ, "NO_COLOR": "1", "TERM": "xterm", **environment},
        )
    finally:
        os.close(line)
    try:
        with process:
            try:
                yield Terminal(controller, process)
            finally:
                process.kill()
    finally:
        os.close(controller)


class TestAnswers:
    @pytest.mark.parametrize(
        ("typed", "outcome"),
        [
            (b"y\n", "proceed_once"),
            (b"yes\n", "proceed_once"),
            (b"  Y \n", "proceed_once"),
            (b"YES\n", "proceed_once"),
            (b"n\n", "cancel"),
            (b"No\n", "cancel"),
            (b"\x04", "cancel"),
        ],
    )
    def test_a_clear_answer_is_taken(self, typed: bytes, outcome: str) -> None:
        with at_terminal("-c", ASK, "info") as terminal:
            terminal.wait_for(QUESTION)
            terminal.type(typed)
            assert terminal.end() == (0, f"{outcome} None None\n")

    @pytest.mark.parametrize(
        "typed", [b"\n", b"maybe\n", b"yn\n", b"yes please\n", b"\xd1\x8f\n", b"\xff\xfe\n", b"1\n"]
    )
    def test_anything_else_is_asked_again(self, typed: bytes) -> None:
        # Strict decoding of standard input is what every UTF-8 locale but C has.
        with at_terminal("-c", ASK, "info", PYTHONIOENCODING="utf-8:strict") as terminal:
            terminal.wait_for(QUESTION)
            terminal.type(typed)
            terminal.wait_for("Please answer y or n.\n" + QUESTION)
            terminal.type(b"n\n")
            assert terminal.end() == (0, "cancel None None\n")

    def test_lines_typed_ahead_are_answers_in_turn(self) -> None:
        with at_terminal("-c", ASK, "info") as terminal:
            terminal.wait_for(QUESTION)
            terminal.type(b"what?\ny\n")
            assert terminal.end() == (0, "proceed_once None None\n")

    def test_a_terminal_that_goes_away_is_a_no(self) -> None:
        with at_terminal(
            "-c", "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + ASK, "info"
        ) as terminal:
            terminal.wait_for(QUESTION)
            terminal.hang_up()
            assert terminal.process.stdout is not None
            assert terminal.process.stdout.read() in (b"", b"cancel None None\n")

    def test_ctrl_c_while_waiting_ends_at_once_without_an_answer(self) -> None:
        with at_terminal("-c", ASK, "info") as terminal:
            terminal.wait_for(QUESTION)
            terminal.type(b"\x03")
            code, printed = terminal.end()
            assert (code, printed) == (-signal.SIGINT, "")


class TestWhatIsShown:
    def test_an_edit_is_shown_as_its_diff_with_nothing_hidden(self) -> None:
        with at_terminal("-c", ASK, "edit") as terminal:
            terminal.wait_for(QUESTION)
            assert terminal.shown == (
                "Confirm Write: a<U+001B>[2J.txt\n"
                "--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-old<U+202E>\n+new\n" + QUESTION
            )
            terminal.type(b"n\n")
            terminal.end()

    def test_a_question_in_words(self) -> None:
        with at_terminal("-c", ASK, "info") as terminal:
            terminal.wait_for(QUESTION)
            assert terminal.shown == f"Fetch\nFetch it<U+000D>?\n{QUESTION}"
            terminal.type(b"n\n")
            terminal.end()

    @pytest.mark.parametrize(
        ("environment", "coloured"),
        [
            ({"NO_COLOR": "", "TERM": "xterm"}, True),
            ({"NO_COLOR": "1", "TERM": "xterm"}, False),
            ({"NO_COLOR": "", "TERM": "dumb"}, False),
        ],
    )
    def test_colour_is_for_those_who_want_it(self, environment: dict[str, str], coloured: bool) -> None:
        with at_terminal("-c", ASK, "edit", **environment) as terminal:
            terminal.wait_for(QUESTION)
            assert ("\x1b[32m+new\x1b[0m" in terminal.shown) == coloured
            assert ("\x1b" in terminal.shown) == coloured
            terminal.type(b"n\n")
            terminal.end()


CAN_ASK = "from tejat.cli.confirm import can_ask; print(can_ask())"


class TestWhetherSomebodyIsThere:
    def test_at_a_terminal(self) -> None:
        with at_terminal("-c", CAN_ASK) as terminal:
            assert terminal.end() == (0, "True\n")

    @pytest.mark.parametrize("redirection", ["</dev/null", "2>/dev/null", "<&-", "2>&-", "<&- 2>&-", "</dev/null 2>&-"])
    def test_who_cannot_see_or_answer_is_not_there(self, redirection: str) -> None:
        redirected = f'exec "$0" -c "$1" {redirection}'
        command = f"import os; os.execvp('sh', {['sh', '-c', redirected, sys.executable, CAN_ASK]!r})"
        with at_terminal("-c", command) as terminal:
            assert terminal.end() == (0, "False\n")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("one\n")
    return tmp_path


class TestWholeProgram:
    """`tejat tools call write_file` as a person sees it."""

    CALL = ("-m", "tejat", "tools", "call", "write_file")

    def arguments(self, workspace: Path, content: str = "two\\n") -> str:
        return f'{{"file_path": "{workspace}/a.txt", "content": "{content}"}}'

    def test_yes(self, workspace: Path) -> None:
        with at_terminal(*self.CALL, self.arguments(workspace), cwd=workspace) as terminal:
            terminal.wait_for(QUESTION)
            assert "\n-one\n+two\n" in terminal.shown
            assert (workspace / "a.txt").read_text() == "one\n"
            terminal.type(b"y\n")
            code, printed = terminal.end()
        assert code == 0
        assert "a.txt" in printed
        assert (workspace / "a.txt").read_text() == "two\n"

    @pytest.mark.parametrize("typed", [b"n\n", b"\x04"])
    def test_no(self, workspace: Path, typed: bytes) -> None:
        with at_terminal(*self.CALL, self.arguments(workspace), cwd=workspace) as terminal:
            terminal.wait_for(QUESTION)
            terminal.type(typed)
            assert terminal.end() == (3, "")
        assert "[Operation Cancelled] Reason: User did not allow tool call." in terminal.shown
        assert (workspace / "a.txt").read_text() == "one\n"

    def test_ctrl_c(self, workspace: Path) -> None:
        with at_terminal(*self.CALL, self.arguments(workspace), cwd=workspace) as terminal:
            terminal.wait_for(QUESTION)
            terminal.type(b"\x03")
            assert terminal.end() == (130, "")
        assert "Traceback" not in terminal.shown
        assert (workspace / "a.txt").read_text() == "one\n"
        assert os.listdir(workspace) == ["a.txt"]

    def test_hidden_characters_of_the_proposal_are_shown(self, workspace: Path) -> None:
        content = "if admin:\\u202e \\u2066# safe\\u001b[2K\\n"
        with at_terminal(*self.CALL, self.arguments(workspace, content), cwd=workspace) as terminal:
            terminal.wait_for(QUESTION)
            assert "\n+if admin:<U+202E> <U+2066># safe<U+001B>[2K\n" in terminal.shown
            terminal.type(b"n\n")
            terminal.end()

    def test_a_file_that_moved_on_while_the_person_thought_is_not_overwritten(self, workspace: Path) -> None:
        with at_terminal(*self.CALL, self.arguments(workspace), "--json", cwd=workspace) as terminal:
            terminal.wait_for(QUESTION)
            (workspace / "a.txt").write_text("changed by somebody else\n")
            terminal.type(b"y\n")
            code, printed = terminal.end()
        assert code == 1
        assert '"type":"stale_file"' in printed
        assert (workspace / "a.txt").read_text() == "changed by somebody else\n"

    def test_who_agreed_beforehand_is_not_asked(self, workspace: Path) -> None:
        with at_terminal(*self.CALL, self.arguments(workspace), "--yes", cwd=workspace) as terminal:
            code, _ = terminal.end()
        assert (code, terminal.shown) == (0, "")
        assert (workspace / "a.txt").read_text() == "two\n"

    def test_what_only_reads_is_not_asked_about(self, workspace: Path) -> None:
        words = ("-m", "tejat", "tools", "call", "read_file", f"path={workspace}/a.txt")
        with at_terminal(*words, cwd=workspace) as terminal:
            assert terminal.end() == (0, "one\n")
        assert terminal.shown == ""
