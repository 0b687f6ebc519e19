"""Sheets and diffs at a terminal: what does not fit is in the pager, and a session offers to review what changed."""

import time
from pathlib import Path

import pytest

from support.extension_trees import write_demo
from support.extensions import write_extension
from support.program import text_script
from support.terminal.chat import (
    NARROW,
    WIDE,
    TerminalEnv,
    TerminalSetting,
    is_shown,
    quit_program,
    terminal_env,
    wait_for_words,
)
from support.terminal.screen import ScreenUser

__all__ = ["terminal_env"]

HI = text_script("Hi.")


def extensions(terminal_env: TerminalEnv) -> Path:
    return terminal_env.home / ".gemini" / "extensions"


def answer(user: ScreenUser, question: str, key: str) -> None:
    """Wait for a question of a session, until keys count; then press one."""
    wait_for_words(user, question, idle=True)
    time.sleep(0.35)
    user.press(key)


class TestPager:
    """`tejat extensions install`, with the pager `less`."""

    @pytest.mark.parametrize("setting", [WIDE, NARROW], ids=["80x24", "40x20"])
    def test_a_long_sheet_is_read_before_the_question(
        self, terminal_env: TerminalEnv, setting: TerminalSetting
    ) -> None:
        write_demo(terminal_env.project / "demo")
        with terminal_env.open_program("extensions", "install", "./demo", setting=setting) as user:
            user.wait_for("Space for more")
            assert user.text.startswith("Extension demo 1.0.0\n")
            assert "Use this extension?" not in user.text
            user.press("G")
            user.wait_for("End, q to continue")
            assert is_shown(user, "nothing by itself")
            user.press("q")
            user.wait_for("Your choice")
            assert "Space for more" not in user.text
            user.type("4\n")
            user.wait_for("Space for more")
            user.press("q")
            user.wait_for("Your choice", idle=True)
            user.type("\n")
            assert user.wait_for_exit() == 3
            assert user.modes_are_restored()
        assert not (extensions(terminal_env) / "demo").exists()

    def test_a_sheet_that_fits_stays_on_the_screen(self, terminal_env: TerminalEnv) -> None:
        write_demo(terminal_env.project / "demo")
        tall = TerminalSetting(100, 70, "C.UTF-8")
        with terminal_env.open_program("extensions", "install", "./demo", setting=tall) as user:
            user.wait_for("Your choice")
            assert "Extension demo 1.0.0" in user.text
            assert "Show it again" not in user.text

    def test_ctrl_c_in_the_pager_is_for_the_pager(self, terminal_env: TerminalEnv) -> None:
        write_demo(terminal_env.project / "demo")
        with terminal_env.open_program("extensions", "install", "./demo") as user:
            user.wait_for("Space for more")
            user.press("c-c")
            time.sleep(0.5)
            user.press("G", "G")  # less drops the first key after an early Ctrl-C
            user.wait_for("End, q to continue")
            user.press("q")
            user.wait_for("Your choice")
            user.press("c-c")
            assert user.wait_for_exit() == 130
            assert user.modes_are_restored()
        assert list(extensions(terminal_env).iterdir()) == []

    def test_the_diffs_of_a_review(self, terminal_env: TerminalEnv) -> None:
        directory = write_extension(extensions(terminal_env) / "demo", files={"GEMINI.md": "one\n"}, is_new=True)
        with terminal_env.open_program("extensions", "review", "demo", "--yes") as user:
            assert user.wait_for_exit() == 0
            assert "Space for more" not in user.text
        (directory / "GEMINI.md").write_text("".join(f"line {number}\n" for number in range(50)))
        with terminal_env.open_program("extensions", "review", "demo") as user:
            user.wait_for("Space for more")
            assert "changed GEMINI.md" in user.text
            assert is_shown(user, "line 10")
            user.press("q")
            user.wait_for("Your choice")
            user.type("2\n")
            user.wait_for('Extension "demo" is used as it is now.')


class TestStart:
    """The offer at the start of a session."""

    @pytest.mark.parametrize("setting", [WIDE, NARROW], ids=["80x24", "40x20"])
    def test_reviewed_and_used(self, terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
        files = {"commands/greet.toml": 'description = "Greets"\nprompt = "Greet"\n', "GEMINI.md": "word " * 400}
        write_extension(extensions(terminal_env) / "demo", files=files, is_new=True)
        with terminal_env.open_chat(HI, setting=setting, ready=None) as user:
            answer(user, "Review the extension demo?", "2")
            user.wait_for("Use this extension?" if setting is WIDE else "q to continue")
            if setting is NARROW:
                user.press("q")
            answer(user, "Use this extension?", "2")
            user.wait_for("Ask anything.", idle=True)
            assert is_shown(user, 'Extension "demo" is used as it is now.')
            user.type("/gre")
            user.wait_for("Greets")
        with terminal_env.open_chat(HI, setting=setting) as user:
            assert not is_shown(user, "Review the extension")
            quit_program(user)

    @pytest.mark.parametrize("key", ["enter", "escape", "c-c", "1"])
    def test_nothing_changes_by_a_habit(self, terminal_env: TerminalEnv, key: str) -> None:
        write_extension(extensions(terminal_env) / "demo", files={"GEMINI.md": "one\n"}, is_new=True)
        with terminal_env.open_chat(HI, ready=None) as user:
            answer(user, "Review the extension demo?", key)
            user.wait_for("Ask anything.", idle=True)
            assert is_shown(user, "The extension demo is new and not used yet")
            quit_program(user)
        assert not (terminal_env.home / ".config" / "tejat" / "extensions.json").exists()
        with terminal_env.open_chat(HI, ready=None) as user:
            wait_for_words(user, "Review the extension demo?")

    def test_left_off(self, terminal_env: TerminalEnv) -> None:
        write_extension(extensions(terminal_env) / "demo", files={"GEMINI.md": "one\n"}, is_new=True)
        with terminal_env.open_chat(HI, ready=None) as user:
            answer(user, "Review the extension demo?", "3")
            user.wait_for("Ask anything.", idle=True)
            quit_program(user)
        with terminal_env.open_chat(HI) as user:
            assert not is_shown(user, "Review the extension")

    def test_in_plain_lines(self, terminal_env: TerminalEnv) -> None:
        directory = write_extension(extensions(terminal_env) / "demo", files={"GEMINI.md": "one\n"}, is_new=True)
        with terminal_env.open_program("extensions", "review", "demo", "--yes") as user:
            assert user.wait_for_exit() == 0
        (directory / "GEMINI.md").write_text("two\n")
        with terminal_env.open_chat(HI, "--screen-reader", ready=None) as user:
            user.wait_for("Your choice, 1 to 3, or 0 to cancel:")
            assert is_shown(user, "changed since it was agreed to: GEMINI.md")
            user.type("nonsense\n")
            user.wait_for("Type a number from 0 to 3.")
            user.type("2\n")
            user.wait_for("Your choice, 1 to 4, or 0 to cancel:")
            user.type("2\n")
            user.wait_for("Ask anything.")
            assert is_shown(user, 'Extension "demo" is used as it is now.')
        (directory / "GEMINI.md").write_text("three\n")
        for keys, code in (("\n", 0), ("\x03", 130)):
            with terminal_env.open_chat(HI, "--screen-reader", ready=None) as user:
                user.wait_for("Your choice, 1 to 3, or 0 to cancel:")
                user.type(keys)
                if code == 0:
                    user.wait_for("Ask anything.", idle=True)
                    user.press("c-d")
                assert user.wait_for_exit() == code

    def test_headless_runs_ask_nothing(self, terminal_env: TerminalEnv) -> None:
        write_extension(extensions(terminal_env) / "demo", files={"GEMINI.md": "one\n"}, is_new=True)
        with terminal_env.open_chat(HI, "-p", "hello", ready=None) as user:
            assert user.wait_for_exit() == 0
            assert not is_shown(user, "Review the extension demo?")
            assert is_shown(user, "The extension demo is new")
