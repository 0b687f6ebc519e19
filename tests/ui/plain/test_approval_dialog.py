"""The plain approval dialog at a real terminal: replies, hostile texts, narrow screens, editors."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from support.terminal.pty_program import run_at_terminal, write_script

ASK = """
import asyncio, sys
from tejat.ui.plain.approver import ConsoleApprover, is_interactive
from tejat.ui.plain.style import Style
from tejat.core.approval.confirmation import EditConfirmation, ExecConfirmation, InfoConfirmation, McpConfirmation
from tejat.core.approval.confirmation import ApprovalRequest, Risk, Scope

assert is_interactive()
edit = EditConfirmation(
    title="Confirm Write: a\\x1b[2J.txt",
    file_name="a.txt",
    file_path="/w/a\\x1b[2J.txt",
    file_diff="Index: a.txt\\n" + "=" * 67 + "\\n--- a.txt\\n+++ a.txt\\n@@ -1,1 +1,1 @@\\n-old\\u202e\\n+new\\n",
    original_content="old",
    new_content="new",
)
diff = "@@ -1,0 +1,250 @@\\n" + "".join(f"+{n}\\n" for n in range(1, 251))
long = EditConfirmation("Long", "a", "/w/a", diff, None, None)
large = EditConfirmation("Large", "a", "/w/a", "[The diff is too large to show]\\n", None, None)
shell = ExecConfirmation("Confirm Shell Command", "git log" + "\\n: x" * 150, "/w", ("git",))
server = McpConfirmation("Confirm", "srv", "do", "Do", {"a": 1})
questions = {
    "edit": ApprovalRequest(edit, "write_file", can_modify=True),
    "info": ApprovalRequest(InfoConfirmation("Fetch", "Fetch it\\r?"), "web_fetch"),
    "long": ApprovalRequest(long, "write_file", can_modify=True),
    "large": ApprovalRequest(large, "write_file"),
    "shell": ApprovalRequest(shell, "run_shell_command", "Why.", "allow run_shell_command: git log", tuple(Scope)),
    "session": ApprovalRequest(
        shell, "run_shell_command", "Why.", "allow run_shell_command: git log", (Scope.SESSION,)
    ),
    "never": ApprovalRequest(shell, "run_shell_command", "Why.", None, tuple(Scope)),
    "server": ApprovalRequest(
        server, "do", "Why.", "allow do of server srv", tuple(Scope), always_server="allow * of server srv"
    ),
    "risky": ApprovalRequest(shell, "run_shell_command", "Why.", risks=(Risk.DELETES, Risk.ELEVATED), can_try=True),
}
answer = asyncio.run(ConsoleApprover(Style(sys.stderr)).ask(questions[sys.argv[1]]))
print(answer.outcome.value, answer.new_content, answer.feedback, answer.scope)
"""
QUESTION = "Your answer (y/n/t/q): "
NO = "cancel None None None\n"
ONCE = "proceed_once None None None\n"
STOP = "stop None None None\n"


class TestAnswers:
    @pytest.mark.parametrize(
        ("typed", "answer"),
        [
            (b"y\n", ONCE),
            (b"yes\n", ONCE),
            (b"  Y \n", ONCE),
            (b"YES\n", ONCE),
            (b"1\n", ONCE),
            (b"n\n", NO),
            (b"No\n", NO),
            (b"2\n", NO),
            (b"\x04", STOP),
            (b"q\n", STOP),
            (b"stop\n", STOP),
            (b"4\n", STOP),
        ],
    )
    def test_a_clear_answer_is_taken(self, typed: bytes, answer: str) -> None:
        with run_at_terminal("-c", ASK, "info") as terminal:
            terminal.wait_for(QUESTION)
            terminal.type(typed)
            assert terminal.wait_for_exit() == (0, answer)

    @pytest.mark.parametrize(
        "typed", [b"\n", b"maybe\n", b"yn\n", b"yes please\n", b"\xd1\x8f\n", b"\xff\xfe\n", b"0\n", b"5\n", b"e\n"]
    )
    def test_anything_else_is_asked_again(self, typed: bytes) -> None:
        # Strict decoding of standard input is what every UTF-8 locale but C has.
        with run_at_terminal("-c", ASK, "info", PYTHONIOENCODING="utf-8:strict") as terminal:
            terminal.wait_for(QUESTION)
            terminal.type(typed)
            terminal.wait_for("Type one of the letters y/n/t/q, or a number from 1 to 4.\n" + QUESTION)
            terminal.type(b"n\n")
            assert terminal.wait_for_exit() == (0, NO)

    def test_lines_typed_ahead_are_answers_in_turn(self) -> None:
        with run_at_terminal("-c", ASK, "info") as terminal:
            terminal.wait_for(QUESTION)
            terminal.type(b"what?\ny\n")
            assert terminal.wait_for_exit() == (0, ONCE)

    @pytest.mark.parametrize(
        ("typed", "answer"),
        [
            (b" use  tea\n", "cancel None use  tea None\n"),
            (b"\n", NO),
            (b"\x04", STOP),
            (b"y\n", "cancel None y None\n"),
        ],
    )
    def test_a_no_may_come_with_a_word_to_the_model(self, typed: bytes, answer: str) -> None:
        with run_at_terminal("-c", ASK, "info") as terminal:
            terminal.wait_for(QUESTION)
            terminal.type(b"t\n")
            terminal.wait_for("What should the model do instead? ")
            terminal.type(typed)
            assert terminal.wait_for_exit() == (0, answer)

    @pytest.mark.parametrize("typed", [b"", b"t\n"])
    def test_a_terminal_that_goes_away_stops_the_turn(self, typed: bytes) -> None:
        with run_at_terminal(
            "-c", "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + ASK, "info"
        ) as terminal:
            terminal.wait_for(QUESTION)
            if typed:
                terminal.type(typed)
                terminal.wait_for("instead? ")
            terminal.hang_up()
            assert terminal.process.stdout is not None
            assert terminal.process.stdout.read() == STOP.encode()

    def test_ctrl_c_while_waiting_ends_at_once_without_an_answer(self) -> None:
        with run_at_terminal("-c", ASK, "info") as terminal:
            terminal.wait_for(QUESTION)
            terminal.type(b"\x03")
            code, printed = terminal.wait_for_exit()
            assert (code, printed) == (-signal.SIGINT, "")


class TestAlways:
    def answered(self, question: str, letters: str, typed: str) -> tuple[str, str]:
        """What was shown below the question itself, and the answer."""
        with run_at_terminal("-c", ASK, question) as terminal:
            terminal.wait_for(f"Your answer ({letters}): ")
            terminal.type(f"{typed}\n".encode())
            code, printed = terminal.wait_for_exit()
        assert code == 0
        start = terminal.shown.rindex("?\n") + 2
        return terminal.shown[start:].replace("\n| ", ""), printed

    @pytest.mark.parametrize(
        ("typed", "answer"),
        [
            ("s", "proceed_always None None session\n"),
            ("2", "proceed_always None None session\n"),
            ("project", "proceed_always_and_save None None project\n"),
            ("3", "proceed_always_and_save None None project\n"),
            ("U", "proceed_always_and_save None None user\n"),
            ("1", ONCE),
            ("5", NO),
        ],
    )
    def test_the_rule_and_where_it_would_be_saved(self, typed: str, answer: str) -> None:
        assert self.answered("shell", "y/s/p/u/n/t/q", typed) == (
            (
                "s, p, u add the rule: allow run_shell_command: git log\n"
                "  1. Allow once (y)\n"
                "  2. Allow for this session (s)\n"
                "  3. Always allow in this project (p)\n"
                "  4. Always allow everywhere (u)\n"
                "  5. No, continue (n)\n"
                "  6. No, and say what to do instead (t)\n"
                "  7. No, and stop (q)\n"
                f"Your answer (y/s/p/u/n/t/q): {typed}\n"
            ),
            answer,
        )

    def test_only_where_it_can_be_kept(self) -> None:
        shown, answer = self.answered("session", "y/s/n/t/q", "s")
        assert "(p)" not in shown
        assert answer == "proceed_always None None session\n"

    def test_not_at_all_without_a_rule(self) -> None:
        shown, answer = self.answered("never", "y/n/t/q", "y")
        assert "lways" not in shown
        assert answer == ONCE

    @pytest.mark.parametrize(
        ("typed", "answer"),
        [
            ("s", "proceed_always_tool None None session\n"),
            ("a", "proceed_always_server None None session\n"),
            ("p", "proceed_always_and_save None None project\n"),
            ("u", "proceed_always_and_save None None user\n"),
        ],
    )
    def test_a_tool_of_a_server_or_all_of_them(self, typed: str, answer: str) -> None:
        assert self.answered("server", "y/s/a/p/u/n/t/q", typed) == (
            (
                "s, p, u add the rule: allow do of server srv\n"
                "a adds the rule: allow * of server srv\n"
                "  1. Allow once (y)\n"
                "  2. Allow this tool for this session (s)\n"
                "  3. Allow all tools of this server for this session (a)\n"
                "  4. Always allow in this project (p)\n"
                "  5. Always allow everywhere (u)\n"
                "  6. No, continue (n)\n"
                "  7. No, and say what to do instead (t)\n"
                "  8. No, and stop (q)\n"
                f"Your answer (y/s/a/p/u/n/t/q): {typed}\n"
            ),
            answer,
        )


EDIT_QUESTION = "Your answer (y/e/n/t/q): "
EDIT_HEADING = "Edit /w/a<U+001B>[2J.txt +1 -1\n"


class TestRewriting:
    def test_what_was_saved_is_the_answer(self, tmp_path: Path) -> None:
        command = write_script(tmp_path / "editor", 'printf " and mine" >> "$1"', "stty raw -echo")
        with run_at_terminal("-c", ASK, "edit", VISUAL=command, TMPDIR=str(tmp_path)) as terminal:
            terminal.wait_for(EDIT_QUESTION)
            terminal.type(b"e\n")
            assert terminal.wait_for_exit() == (0, "modify_with_editor new and mine None None\n")
        assert os.listdir(tmp_path) == ["editor"]

    def test_the_editor_has_the_terminal_and_gives_it_back_as_it_was(self, tmp_path: Path) -> None:
        command = write_script(tmp_path / "editor", "echo 'Type: '", "read line", 'echo "got $line"', "stty raw -echo")
        with run_at_terminal("-c", ASK, "edit", VISUAL=command, TMPDIR=str(tmp_path)) as terminal:
            terminal.wait_for(EDIT_QUESTION)
            terminal.type(b"e\n")
            terminal.wait_for("Type: ")
            terminal.type(b"hello\n")
            terminal.wait_for("got hello\n")
            terminal.wait_for("No changes made.\n\n" + EDIT_HEADING)
            terminal.wait_for(EDIT_QUESTION)
            terminal.type(b"y\n")
            assert terminal.wait_for_exit() == (0, ONCE)

    @pytest.mark.parametrize(
        ("environment", "told"),
        [
            ({"VISUAL": "false"}, "The editor exited with code 1. Nothing was changed."),
            (
                {"VISUAL": "no-such\x1b-editor"},
                "No external editor is available: no-such<U+001B>-editor was not found.",
            ),
            (
                {"VISUAL": "", "EDITOR": ""},
                "No external editor is available. Set VISUAL or EDITOR, or preferredEditor in the settings.",
            ),
        ],
    )
    def test_an_editor_that_fails_leaves_the_question_open(self, environment: dict[str, Any], told: str) -> None:
        with run_at_terminal("-c", ASK, "edit", **environment) as terminal:
            terminal.wait_for(EDIT_QUESTION)
            terminal.type(b"e\n")
            terminal.wait_for(f"{told}\n\n{EDIT_HEADING}")
            terminal.wait_for(EDIT_QUESTION)
            terminal.type(b"n\n")
            assert terminal.wait_for_exit() == (0, NO)

    def test_what_is_too_large(self) -> None:
        with run_at_terminal("-c", ASK, "long", VISUAL="true") as terminal:
            terminal.wait_for("Your answer (y/e/n/t/q/m): ")
            terminal.type(b"edit\n")
            terminal.wait_for("This change is too large to edit.\n\nEdit /w/a +250 -0\n")
            terminal.wait_for("Your answer (y/e/n/t/q/m): ")
            terminal.type(b"n\n")
            assert terminal.wait_for_exit() == (0, NO)

    def test_ctrl_c_while_the_editor_is_open(self, tmp_path: Path) -> None:
        command = write_script(tmp_path / "editor", "echo open", "exec sleep 60")
        with run_at_terminal("-c", ASK, "edit", VISUAL=command, TMPDIR=str(tmp_path)) as terminal:
            terminal.wait_for(EDIT_QUESTION)
            terminal.type(b"e\n")
            terminal.wait_for("open\n")
            terminal.type(b"\x03")
            assert terminal.wait_for_exit() == (-signal.SIGINT, "")
        assert os.listdir(tmp_path) == ["editor"]


class TestWhatIsShown:
    def test_an_edit_is_shown_as_its_diff_with_nothing_hidden(self) -> None:
        with run_at_terminal("-c", ASK, "edit") as terminal:
            terminal.wait_for(EDIT_QUESTION)
            assert terminal.shown == EDIT_HEADING + (
                "1 - old<U+202E>\n1 + new\n"
                "\n"
                "Apply this change?\n"
                "  1. Allow once (y)\n"
                "  2. Edit in your editor (e)\n"
                "  3. No, continue (n)\n"
                "  4. No, and say what to do instead (t)\n"
                "  5. No, and stop (q)\n" + EDIT_QUESTION
            )
            terminal.type(b"n\n")
            terminal.wait_for_exit()

    def test_a_question_in_words(self) -> None:
        with run_at_terminal("-c", ASK, "info") as terminal:
            terminal.wait_for(QUESTION)
            assert terminal.shown == (
                "Fetch\n> Fetch it<U+000D>?\n\nContinue?\n"
                "  1. Allow once (y)\n  2. No, continue (n)\n  3. No, and say what to do instead (t)\n"
                "  4. No, and stop (q)\n" + QUESTION
            )
            terminal.type(b"n\n")
            terminal.wait_for_exit()

    def test_a_risky_call_is_marked_and_its_first_choice_is_no(self) -> None:
        with run_at_terminal("-c", ASK, "risky") as terminal:
            terminal.wait_for("Your answer (n/y/c/t/q): ")
            assert terminal.shown.startswith(
                "Run a command in /w\nRisk: deletes or overwrites files; runs with elevated privileges\n"
            )
            assert "\n  1. No, continue (n)\n  2. Allow once (y)\n  3. Try it in a copy first (c)\n" in terminal.shown
            terminal.type(b"1\n")
            assert terminal.wait_for_exit() == (0, NO)

    def test_a_command_is_shown_whole(self) -> None:
        with run_at_terminal("-c", ASK, "never") as terminal:
            terminal.wait_for(QUESTION)
            assert "\n$ git log\n" + "> : x\n" * 150 + "\nRun this command?\n" in terminal.shown
            terminal.type(b"n\n")
            terminal.wait_for_exit()

    def test_a_long_diff_comes_in_pages_with_the_choices_below(self) -> None:
        with run_at_terminal("-c", ASK, "long") as terminal:
            for left, lines in ((151, range(1, 100)), (51, range(100, 200)), (0, range(200, 251))):
                letters = "y/e/n/t/q/m" if left else "y/e/n/t/q"
                page = terminal.wait_for(f"Your answer ({letters}): ")
                assert "".join(f"{line:>3} + {line}\n" for line in lines) + "\nApply this change?\n" in page
                assert (f"\n  6. Show more, {left} lines left (m)\n" in page) == bool(left)
                terminal.type(b"more\n" if left else b"y\n")
            assert terminal.wait_for_exit() == (0, ONCE)

    @pytest.mark.parametrize(("typed", "answer"), [(b"y\n", ONCE), (b"yes\n", ONCE), (b"n\n", None), (b"\n", None)])
    def test_a_yes_to_lines_that_were_not_shown_has_to_be_given_twice(self, typed: bytes, answer: str | None) -> None:
        with run_at_terminal("-c", ASK, "long") as terminal:
            terminal.wait_for("Your answer (y/e/n/t/q/m): ")
            terminal.type(b"y\n")
            terminal.wait_for("151 lines were not shown.\nType y again to approve anyway, anything else to go back: ")
            terminal.type(typed)
            if answer is None:
                terminal.wait_for("Your answer (y/e/n/t/q/m): ")
                terminal.type(b"n\n")
            assert terminal.wait_for_exit() == (0, answer or NO)

    def test_a_change_that_is_too_large_to_show_is_approved_twice(self) -> None:
        with run_at_terminal("-c", ASK, "large") as terminal:
            terminal.wait_for(QUESTION)
            terminal.type(b"y\n")
            terminal.wait_for("The changed lines were not shown.\nType y again to approve anyway")
            terminal.type(b"y\n")
            assert terminal.wait_for_exit() == (0, ONCE)

    @pytest.mark.parametrize("columns", [1, 7, 20, 33])
    def test_a_narrow_terminal_shows_as_much(self, columns: int) -> None:
        with run_at_terminal("-c", ASK, "server", columns=columns) as terminal:
            terminal.wait_for("/q): ")
            whole = terminal.shown.replace("\n| ", "")
            assert "\n  2. Allow this tool for this session (s)\n" in whole
            assert "\ns, p, u add the rule: allow do of server srv\n" in whole
            assert max(map(len, terminal.shown.splitlines()[:-1])) <= max(columns, 20)
            terminal.type(b"n\n")
            terminal.wait_for_exit()

    @pytest.mark.parametrize(
        ("environment", "coloured"),
        [
            ({"NO_COLOR": "", "TERM": "xterm"}, True),
            ({"NO_COLOR": "1", "TERM": "xterm"}, False),
            ({"NO_COLOR": "", "TERM": "dumb"}, False),
        ],
    )
    def test_colour_is_for_those_who_want_it(self, environment: dict[str, Any], coloured: bool) -> None:
        with run_at_terminal("-c", ASK, "edit", **environment) as terminal:
            terminal.wait_for(EDIT_QUESTION)
            assert ("\x1b[0;32m+ new\x1b[0m" in terminal.shown) == coloured
            assert ("\x1b[1mApply this change?\x1b[0m" in terminal.shown) == coloured
            assert ("\x1b" in terminal.shown) == coloured
            terminal.type(b"n\n")
            terminal.wait_for_exit()

    def test_a_command_is_coloured_too(self) -> None:
        with run_at_terminal("-c", ASK, "never", NO_COLOR="") as terminal:
            terminal.wait_for(QUESTION)
            assert "\x1b[1m$ git log\x1b[0m\n" in terminal.shown
            terminal.type(b"n\n")
            terminal.wait_for_exit()

    @pytest.mark.parametrize("locale", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
    def test_any_locale_will_do(self, locale: dict[str, Any]) -> None:
        with run_at_terminal("-c", ASK.replace('"Fetch"', '"F\\u00e4tch \\u65e5"'), "info", **locale) as terminal:
            terminal.wait_for(QUESTION)
            assert terminal.shown.startswith("F\\xe4tch \\u65e5\n")
            terminal.type(b"y\n")
            assert terminal.wait_for_exit() == (0, ONCE)
