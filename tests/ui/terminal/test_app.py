"""How the terminal application starts, hands over the terminal and exits."""

import signal
import time
from pathlib import Path

import pytest

from support.program import text_script
from support.terminal.chat import TerminalEnv, quit_program, send_prompt, terminal_env, wait_for_file, write_program
from support.wait import wait_until

__all__ = ["terminal_env"]


@pytest.fixture
def begun(terminal_env: TerminalEnv) -> Path:
    """A file that appears as soon as the session begins to end, which then takes a moment."""
    begun = terminal_env.base / "begun"
    hook = write_program(
        terminal_env.base / "hook", f"touch {begun}", "sleep 0.3", f"touch {terminal_env.base / 'done'}"
    )
    terminal_env.write_settings(hooks={"SessionEnd": [{"hooks": [{"type": "command", "command": hook}]}]})
    return begun


def test_a_terminal_that_is_closed_may_be_told_of_twice(terminal_env: TerminalEnv, begun: Path) -> None:
    with terminal_env.open_chat(text_script("Hi.")) as user:
        send_prompt(user, "hello")
        user.wait_for("\nHi.", idle=True)
        user.signal(signal.SIGHUP)
        wait_for_file(begun)
        user.signal(signal.SIGHUP)
        assert user.wait_for_exit() == 128 + signal.SIGHUP
        assert user.modes_are_restored()
    assert (terminal_env.base / "done").exists()


def test_a_key_that_is_held_down_leaves_in_order(terminal_env: TerminalEnv, begun: Path) -> None:
    with terminal_env.open_chat(text_script("Hi.")) as user:
        send_prompt(user, "hello")
        user.wait_for("\nHi.", idle=True)
        user.press("c-c", "c-c", "c-c")
        wait_for_file(begun)
        user.press("c-c", "c-c")
        assert user.wait_for_exit() == 0
        assert user.modes_are_restored()
    assert (terminal_env.base / "done").exists()


def test_whoever_does_not_want_to_wait_need_not(terminal_env: TerminalEnv) -> None:
    begun = terminal_env.base / "begun"
    hook = write_program(terminal_env.base / "hook", f"touch {begun}", "sleep 60")
    terminal_env.write_settings(hooks={"SessionEnd": [{"hooks": [{"type": "command", "command": hook}]}]})
    with terminal_env.open_chat(text_script("Hi.")) as user:
        send_prompt(user, "hello")
        user.wait_for("\nHi.", idle=True)
        user.press("c-d")
        wait_for_file(begun)
        time.sleep(0.6)
        user.press("c-c")
        assert user.wait_for_exit() == -signal.SIGKILL
        wait_until(user.modes_are_restored, 60, "the modes of the terminal")


def test_a_session_that_is_gone_on_with_begins_where_it_was_left(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("A blue one.")) as user:
        send_prompt(user, "which whale?")
        user.wait_for("\nA blue one.", idle=True)
        quit_program(user)
    with terminal_env.open_chat(text_script("Yes."), "-r") as user:
        user.wait_for("\nWhere you left off\n> which whale?\n\nA blue one.\n", idle=True)


def test_a_program_that_leaves_the_terminal_in_disorder(terminal_env: TerminalEnv) -> None:
    editor = write_program(
        terminal_env.base / "editor", "printf '\\033[?1049h\\033[?1000h\\033[?1006h\\033[?25l'; exit 3"
    )
    with terminal_env.open_chat(text_script("Hi."), EDITOR=editor) as user:
        user.press("c-x", "c-e")
        user.wait_until(lambda screen: b"\x1b[?1049h" in user.raw and 2004 in screen.modes, idle=True)
        assert user.screen.modes - {1049} == {7, 25, 2004}
        assert not user.screen.is_alternate


def test_our_memory_is_left_in_no_file(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("Hi.")) as user:
        limits = Path(f"/proc/{user.pid}/limits").read_text()
        assert next(line for line in limits.splitlines() if line.startswith("Max core file size")).split()[4] == "0"


def test_what_is_stopped_before_it_begins_stops_nothing_else(terminal_env: TerminalEnv) -> None:
    """Enter and Ctrl-C may come in one piece, before the first step of the work is made."""
    with terminal_env.open_chat(text_script("Hi.") + text_script("Again.")) as user:
        user.type("hello\r\x03")
        user.wait_idle()
        send_prompt(user, "once more")
        user.wait_for("> once more", idle=True)
        assert "queued" not in user.screen.text()
        quit_program(user)
