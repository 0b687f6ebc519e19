"""Notifications at a terminal that reports its focus."""

import signal
import time
from pathlib import Path

from support.program import script_answer, text_script
from support.terminal.chat import (
    TerminalEnv,
    quit_program,
    send_prompt,
    shell_answer,
    terminal_env,
    wait_for_file,
    write_program,
)
from support.terminal.emulator import TerminalEmulator
from support.terminal.screen import ScreenUser
from support.wait import wait_until

__all__ = ["terminal_env"]

GAINED, LOST = "\x1b[I", "\x1b[O"


def agree(user: ScreenUser) -> None:
    time.sleep(0.35)  # earlier keys do not count
    user.press("y")


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "T"


def notifications(screen: TerminalEmulator) -> list[str]:
    return [text for kind, text in screen.strings if kind == "9"]


def test_a_question_and_the_end_of_a_long_turn(terminal_env: TerminalEnv) -> None:
    terminal_env.write_settings(general={"enableNotifications": True})
    script = shell_answer("sleep 5.1; touch slept") + script_answer(say="Rested.") + shell_answer("touch again")
    with terminal_env.open_chat(script + text_script("Done."), TERM_PROGRAM="WezTerm") as user:
        assert 1004 in user.screen.modes
        send_prompt(user, "rest")
        user.type(LOST)
        user.wait_for("Run this command?", idle=True)
        user.wait_until(lambda screen: notifications(screen) == ["Tejat: Waiting for your answer"])
        user.type(GAINED)
        user.wait_idle()
        assert "Run this command?" in user.text  # a report is no answer
        agree(user)
        user.type(LOST)
        user.wait_for("\nRested.", idle=True)
        first, second = notifications(user.screen)
        assert second.startswith("Tejat: Finished after ")
        user.type(GAINED)
        user.type("once\x1b[200~ mo" + LOST + GAINED + "re\x1b[201~")
        user.wait_for("> once more", idle=True)
        user.press("enter")
        user.wait_for("Run this command?", idle=True)
        assert notifications(user.screen) == [first, second]
        assert user.screen.bells == 0
        agree(user)
        user.wait_for("\nDone.", idle=True)
        quit_program(user)


def test_reports_are_off_while_another_program_has_the_terminal_and_after_a_kill(terminal_env: TerminalEnv) -> None:
    terminal_env.write_settings(general={"enableNotifications": True})
    begun = terminal_env.base / "begun"
    editor = write_program(terminal_env.base / "editor", f"touch {begun}", "read line")
    with terminal_env.open_chat(text_script("Hi."), EDITOR=editor) as user:
        user.press("c-x", "c-e")
        wait_for_file(begun)
        assert 1004 not in user.screen.modes
        user.press("enter")
        user.wait_until(lambda screen: 1004 in screen.modes)
        user.press("c-z")
        wait_until(lambda: is_stopped(user.pid), 60, "the stop")
        assert 1004 not in user.screen.modes
        user.signal(signal.SIGCONT)
        user.wait_until(lambda screen: 1004 in screen.modes)
        user.signal(signal.SIGKILL)
        user.wait_for_exit()
        wait_until(user.modes_are_restored, 60, "the modes of the terminal")


def test_nobody_is_asked_for_reports_by_default(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(shell_answer("touch x") + text_script("Done.")) as user:
        send_prompt(user, "go")
        user.wait_for("Run this command?", idle=True)
        agree(user)
        user.wait_for("\nDone.", idle=True)
        assert b"\x1b[?1004h" not in user.raw
        assert (notifications(user.screen), user.screen.bells) == ([], 0)
        quit_program(user)
