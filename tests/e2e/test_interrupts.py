"""Stopping: from every state the prompt is back in half a second, nothing is left running, and nothing is lost."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from support.external_tools import hostile_server
from support.model_servers.gemini import ModelServer, Reply, chunk, stream, text_reply
from support.process_marks import living_pids
from support.program import script_answer, text_script
from support.terminal.chat import (
    SHELL,
    SLOW_FACTOR,
    TerminalEnv,
    TerminalSetting,
    both_settings,
    call_answer,
    check_no_strange_output,
    quit_program,
    send_prompt,
    terminal_env,
    wait_for_file,
    wait_until_dead,
)
from support.terminal.screen import ScreenUser
from support.wait import wait_until

__all__ = ["terminal_env"]

PROMISED = 0.5


def has_prompt(user: ScreenUser) -> bool:
    """Whether somebody can type again and nothing goes on."""
    screen = user.screen
    row, *below = screen.lines()[screen.cursor[1] :]
    return screen.is_cursor_visible and row.startswith(">") and not {"●", "*"} & set("".join(below))


def stop(user: ScreenUser, key: str) -> float:
    """Press it, and say how long it took until there was a prompt."""
    began = time.monotonic()
    user.press(key)
    user.wait_until(lambda _: has_prompt(user), wanted="the prompt")
    return time.monotonic() - began


@dataclass(frozen=True)
class State:
    """Something that goes on: the script that leads there, and what to wait for."""

    script: Callable[[str], str]
    there: Callable[[ScreenUser, TerminalEnv], None]
    words: tuple[str, ...] = ()
    kept: str = ""


def _shown(words: str) -> Callable[[ScreenUser, TerminalEnv], None]:
    return lambda user, _: user.wait_for(words)


def _begun(_: ScreenUser, terminal_env: TerminalEnv) -> None:
    wait_for_file(terminal_env.project / "begun")


STATES = {
    "streaming": State(
        lambda _: text_script("one two " + "more " * 400, pause=0.05), _shown("one two"), kept="one two"
    ),
    "thinking": State(lambda _: script_answer(think="hmm", say="x", pause=60), _shown("Thinking")),
    "retrying": State(lambda _: script_answer(fail="rate_limited", retry_after=60), _shown("Retrying in")),
    "tool": State(
        lambda mark: call_answer((SHELL, {"command": f"touch begun; sleep {mark} & sleep {mark}"})), _begun, ("-y",)
    ),
    "stubborn tool": State(
        lambda mark: call_answer(
            (SHELL, {"command": f"trap '' INT TERM HUP; touch begun; sleep {mark}; sleep {mark}"})
        ),
        _begun,
        ("-y",),
    ),
    "question": State(
        lambda _: call_answer(("write_file", {"file_path": "x", "content": "y"})), _shown("Enter to confirm")
    ),
    "server": State(lambda _: call_answer(("mcp_helper_hang", {})), _shown("mcp_helper_hang"), ("--trust", "-y")),
}


@pytest.mark.parametrize("key", ["escape", "c-c"])
@pytest.mark.parametrize("name", STATES)
def test_the_prompt_is_back_at_once(terminal_env: TerminalEnv, mark: str, name: str, key: str) -> None:
    state = STATES[name]
    terminal_env.write_settings(mcpServers={"helper": hostile_server()} if name == "server" else {})
    with terminal_env.open_chat(state.script(mark) + text_script("Still here."), *state.words) as user:
        send_prompt(user, "go")
        state.there(user, terminal_env)
        took = stop(user, key)
        assert took < PROMISED * SLOW_FACTOR, f"{took:.2f} s"
        assert state.kept in user.screen.history()
        wait_until_dead(mark)
        user.wait_idle()
        send_prompt(user, "are you there?")
        user.wait_for("\nStill here.", idle=True)
        assert check_no_strange_output(user.screen)
        quit_program(user)


@pytest.mark.parametrize("key", ["escape", "c-c"])
@pytest.mark.parametrize("reply", [Reply(black_hole=True), stream(chunk("Half an"), chunk("answer"), stall_after=300)])
def test_a_service_that_does_not_answer(terminal_env: TerminalEnv, key: str, reply: Reply) -> None:
    with ModelServer([reply]) as server:
        environment: dict[str, Any] = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
        with terminal_env.open_chat("", "-m", "gemini-test", **environment) as user:
            send_prompt(user, "hello")
            user.wait_for("Working" if reply.black_hole else "Half an")
            wait_until(lambda: server.requests, 60, "the request")
            took = stop(user, key)
            assert took < PROMISED * SLOW_FACTOR, f"{took:.2f} s"
            assert reply.black_hole or "Half an" in user.screen.history()
            quit_program(user)


@both_settings
def test_compressing(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    slow = script_answer(say="word " * 400, pause=0.05, purpose="compression")
    first = "".join(f"This is sentence number {number}.\n\n" for number in range(400))
    with terminal_env.open_chat(
        text_script(f"{first}One.", "Two.", "Three.", "Later.") + slow, setting=setting
    ) as user:
        for words in ("One.", "Two.", "Three."):
            send_prompt(user, "go on")
            user.wait_for(f"\n{words}", idle=True)
        send_prompt(user, "/compress")
        user.wait_until(lambda _: not has_prompt(user), wanted="work")
        took = stop(user, "escape")
        assert took < PROMISED * SLOW_FACTOR
        send_prompt(user, "two")
        user.wait_for("\nLater.", idle=True)


@both_settings
def test_twice_leaves_from_work(terminal_env: TerminalEnv, setting: TerminalSetting, mark: str) -> None:
    script = call_answer((SHELL, {"command": f"touch begun; sleep {mark}"})) + text_script("Later.")
    with terminal_env.open_chat(script, "-y", setting=setting) as user:
        send_prompt(user, "go")
        wait_for_file(terminal_env.project / "begun")
        user.press("c-c", "c-c")
        assert user.wait_for_exit() in (0, 130)
        assert user.modes_are_restored()
        wait_until_dead(mark)


@both_settings
def test_twice_leaves_from_the_prompt(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    with terminal_env.open_chat(text_script("Hi."), setting=setting) as user:
        user.wait_idle()
        user.press("c-c")
        user.wait_for("Press Ctrl-C again to exit.")
        user.press("c-c")
        assert user.wait_for_exit() == 0
        assert user.modes_are_restored()
        assert user.screen.cursor[0] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("name", ["streaming", "tool", "question"])
def test_signals_end_in_order(terminal_env: TerminalEnv, mark: str, name: str, number: signal.Signals) -> None:
    state = STATES[name]
    with terminal_env.open_chat(text_script("First.") + state.script(mark), *state.words) as user:
        send_prompt(user, "remember the blue whale")
        user.wait_for("\nFirst.", idle=True)
        send_prompt(user, "go")
        state.there(user, terminal_env)
        user.signal(number)
        assert user.wait_for_exit() == 128 + number
        assert user.modes_are_restored()
        wait_until_dead(mark)
    resumed(terminal_env)


def resumed(terminal_env: TerminalEnv) -> None:
    """The session can be gone on with, and knows what was said."""
    with ModelServer([text_reply("Of course.")]) as server:
        environment: dict[str, Any] = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
        with terminal_env.open_chat("", "-m", "gemini-test", "-r", **environment) as user:
            send_prompt(user, "do you know?")
            user.wait_for("\nOf course.", idle=True)
        (request,) = [received for received in server.requests if "stream" in received.target]
        assert "remember the blue whale" in request.raw.decode()


@both_settings
def test_a_window_that_is_closed(terminal_env: TerminalEnv, mark: str, setting: TerminalSetting) -> None:
    script = text_script("First.") + call_answer((SHELL, {"command": f"touch begun; sleep {mark}"}))
    with terminal_env.open_chat(script, "-y", setting=setting) as user:
        send_prompt(user, "remember the blue whale")
        user.wait_for("\nFirst.", idle=True)
        send_prompt(user, "go")
        wait_for_file(terminal_env.project / "begun")
        pid = user.pid
        user.hang_up()
        wait_until(lambda: not _lives(pid), 60, "the end of the program")
        wait_until_dead(mark)
    resumed(terminal_env)


def _lives(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_sudden_death(terminal_env: TerminalEnv, mark: str) -> None:
    script = text_script("First.") + call_answer((SHELL, {"command": f"touch begun; sleep {mark}"}))
    with terminal_env.open_chat(script, "-y") as user:
        send_prompt(user, "remember the blue whale")
        user.wait_for("\nFirst.", idle=True)
        send_prompt(user, "go")
        wait_for_file(terminal_env.project / "begun")
        user.signal(signal.SIGKILL)
        assert user.wait_for_exit() == -signal.SIGKILL
        wait_until(user.modes_are_restored, 60, "the modes of the terminal")
        for pid in living_pids(mark):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    resumed(terminal_env)


@both_settings
def test_to_the_background_and_back(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    with terminal_env.open_chat(text_script("Hi."), setting=setting) as user:
        user.type("half a line")
        user.wait_for("> half a line", idle=True)
        user.press("c-z")
        wait_until(lambda: _is_stopped(user.pid), 60, "the stop")
        assert user.modes_are_restored()
        user.signal(signal.SIGCONT)
        user.wait_for("> half a line", idle=True)
        user.press("enter")
        user.wait_for("\nHi.", idle=True)
        quit_program(user)


def _is_stopped(pid: int) -> bool:
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0] == "T"


def test_the_rest_of_a_key_is_not_taken_for_escape(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("one two " + "more " * 60, pause=0.02)) as user:
        send_prompt(user, "go")
        user.wait_for("one two")
        user.type(b"\x1b[")
        time.sleep(0.02)
        user.type(b"A")
        time.sleep(0.2)
        assert "Stopp" not in user.text
