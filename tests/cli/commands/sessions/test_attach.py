"""Tests of two terminals at one session: the one that it was started in, and `tejat attach`."""

import os
import time
from collections.abc import Generator
from contextlib import contextmanager

from support.program import script_answer, text_script
from support.terminal.chat import (
    SHELL,
    TerminalEnv,
    list_sessions,
    quit_program,
    send_prompt,
    terminal_env,
    wait_for_words,
)
from support.terminal.screen import ScreenUser
from support.wait import wait_until
from tejat.ui.terminal.dialogs.key_guard import GRACE_SECONDS

__all__ = ["terminal_env"]

COUNT = " ".join(f"word{number}" for number in range(60))
ASKING = script_answer(calls=[(SHELL, {"command": "touch made"})]) + text_script("It is made.")


@contextmanager
def two_terminals(env: TerminalEnv, script: str) -> Generator[tuple[ScreenUser, ScreenUser]]:
    """The terminal of the session, and one that is attached to it."""
    with env.open_chat(script) as owner:
        wait_until(lambda: any(each["state"] == "idle" for each in list_sessions(env)), 60, "the session")
        with env.open_program("attach") as other:
            other.wait_for("Ask anything.")
            yield owner, other


def leave(user: ScreenUser) -> None:
    user.wait_idle()
    user.press("c-d")
    assert user.wait_for_exit() == 0


def test_both_show_a_run_and_the_attached_one_answers(terminal_env: TerminalEnv) -> None:
    with two_terminals(terminal_env, ASKING) as (owner, other):
        send_prompt(owner, "make it")
        other.wait_for("make it")
        owner.wait_for("touch made")
        other.wait_for("touch made")
        time.sleep(GRACE_SECONDS + 0.3)
        other.press("y")
        owner.wait_for("Answered elsewhere.")
        for user in (owner, other):
            user.wait_for("It is made.", idle=True)
        assert (terminal_env.project / "made").exists()
        leave(other)
        assert "tejat attach" in other.screen.history()
        quit_program(owner)


def test_the_owner_answers_and_the_attached_one_says_so(terminal_env: TerminalEnv) -> None:
    with two_terminals(terminal_env, ASKING) as (owner, other):
        send_prompt(other, "make it")
        owner.wait_for("touch made")
        other.wait_for("touch made")
        time.sleep(GRACE_SECONDS + 0.3)
        owner.press("y")
        other.wait_for("Answered elsewhere.")
        for user in (owner, other):
            user.wait_for("It is made.", idle=True)
        leave(other)
        quit_program(owner)


def test_escape_in_the_attached_one_stops_the_run_of_the_owner(terminal_env: TerminalEnv) -> None:
    with two_terminals(terminal_env, text_script(COUNT, pause=0.1)) as (owner, other):
        send_prompt(owner, "count")
        other.wait_for("word3")
        other.press("escape")
        for user in (owner, other):
            user.wait_for("Stopped.", idle=True)
        leave(other)
        quit_program(owner)


def test_a_prompt_during_the_run_of_the_owner_is_queued(terminal_env: TerminalEnv) -> None:
    script = text_script(COUNT, pause=0.03) + text_script("The second answer.")
    with two_terminals(terminal_env, script) as (owner, other):
        send_prompt(owner, "count")
        other.wait_for("word3")
        send_prompt(other, "and then")
        for user in (owner, other):
            wait_for_words(user, "The second answer.", 30, idle=True)
            assert user.screen.history().count("The second answer.") == 1
        assert "word59" in owner.screen.history()
        leave(other)
        quit_program(owner)


def test_leaving_while_a_run_works_leaves_it_running(terminal_env: TerminalEnv) -> None:
    with two_terminals(terminal_env, text_script(COUNT, pause=0.03)) as (owner, other):
        send_prompt(other, "count")
        other.wait_for("word3")
        other.press("c-d")
        assert other.wait_for_exit() == 0
        wait_for_words(owner, "word59", 30, idle=True)
        quit_program(owner)


def test_the_end_of_the_session_ends_the_attached_one(terminal_env: TerminalEnv) -> None:
    with two_terminals(terminal_env, text_script("Hello.")) as (owner, other):
        send_prompt(owner, "hi")
        other.wait_for("Hello.", idle=True)
        quit_program(owner)
        assert other.wait_for_exit() == 0
        assert other.modes_are_restored()
        assert "The session has ended. Resume it with: tejat -r " in " ".join(other.screen.history().split())


def test_commands_and_shell_lines_of_the_attached_one(terminal_env: TerminalEnv) -> None:
    (terminal_env.project / "special-name.txt").write_text("x")
    with two_terminals(terminal_env, text_script("Hello.")) as (owner, other):
        send_prompt(other, "!echo out-$((40+2)); pwd")
        other.wait_for("out-42", idle=True)
        send_prompt(other, "/theme")
        other.wait_for("Esc")
        other.press("down")
        other.wait_idle()
        other.press("escape")
        other.wait_for("Ask anything.", idle=True)
        send_prompt(other, "/about")
        wait_for_words(other, "scripted", idle=True)
        other.type("see @special")
        other.wait_for("special-name.txt")
        other.press("escape")
        other.press("c-u")
        leave(other)
        quit_program(owner)


def test_which_session_is_meant(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_program("attach") as user:
        assert user.wait_for_exit() == 42
        assert "No session is running." in user.screen.history()
    with two_terminals(terminal_env, text_script("Hello.")) as (owner, other):
        with terminal_env.open_program("attach", "ffff-nothing") as user:
            assert user.wait_for_exit() == 42
            assert "No running session ffff-nothing" in user.screen.history()
        leave(other)
        quit_program(owner)


def test_a_very_long_runtime_directory(terminal_env: TerminalEnv) -> None:
    state = terminal_env.home / ("s" * 200)
    state.mkdir(mode=0o700)
    terminal_env.environment["XDG_STATE_HOME"] = str(state)
    with terminal_env.open_chat(text_script("Hello.")) as owner:
        wait_until(lambda: bool(list((state / "tejat" / "run").glob("*.sock"))), 60, "the socket")
        with terminal_env.open_program("attach") as other:
            other.wait_for("Ask anything.")
            send_prompt(other, "hi")
            owner.wait_for("Hello.", idle=True)
            leave(other)
        quit_program(owner)
    assert os.listdir(state / "tejat" / "run") == []
