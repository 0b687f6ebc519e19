"""Stopping: from every state the prompt is back in half a second, nothing is left running, and nothing is lost."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import pytest

from foreign_checks import hostile
from model_server import ModelServer, Reply, chunk, say, stream
from process_marks import living
from program_checks import answer, said
from screens import ScreenPerson
from talks import (
    SHELL,
    SLOW,
    House,
    Setting,
    both_settings,
    calls,
    house,
    is_tidy,
    leave,
    send,
    wait_for_file,
    wait_until,
    wait_until_dead,
)

__all__ = ["house"]

PROMISED = 0.5


def has_prompt(person: ScreenPerson) -> bool:
    """Whether somebody can type again and nothing goes on."""
    screen = person.screen
    row, *below = screen.lines()[screen.cursor[1] :]
    return screen.is_cursor_visible and row.startswith(">") and not {"●", "*"} & set("".join(below))


def stop(person: ScreenPerson, key: str) -> float:
    """Press it, and say how long it took until there was a prompt."""
    began = time.monotonic()
    person.press(key)
    person.wait_until(lambda _: has_prompt(person), wanted="the prompt")
    return time.monotonic() - began


@dataclass(frozen=True)
class State:
    """Something that goes on: the script that leads there, and what to wait for."""

    script: Callable[[str], str]
    there: Callable[[ScreenPerson, House], None]
    words: tuple[str, ...] = ()
    kept: str = ""


def _shown(words: str) -> Callable[[ScreenPerson, House], None]:
    return lambda person, _: person.wait_for(words)


def _begun(_: ScreenPerson, house: House) -> None:
    wait_for_file(house.project / "begun")


STATES = {
    "streaming": State(lambda _: said("one two " + "more " * 400, pause=0.05), _shown("one two"), kept="one two"),
    "thinking": State(lambda _: answer(think="hmm " * 400, say="x", pause=0.05), _shown("Thinking")),
    "retrying": State(lambda _: answer(fail="rate_limited", retry_after=60), _shown("Next try in")),
    "tool": State(
        lambda mark: calls((SHELL, {"command": f"touch begun; sleep {mark} & sleep {mark}"})), _begun, ("-y",)
    ),
    "stubborn tool": State(
        lambda mark: calls((SHELL, {"command": f"trap '' INT TERM HUP; touch begun; sleep {mark}; sleep {mark}"})),
        _begun,
        ("-y",),
    ),
    "question": State(lambda _: calls(("write_file", {"file_path": "x", "content": "y"})), _shown("Arrows, Tab")),
    "server": State(lambda _: calls(("mcp_helper_hang", {})), _shown("mcp_helper_hang"), ("--trust", "-y")),
}


@pytest.mark.parametrize("key", ["escape", "c-c"])
@pytest.mark.parametrize("name", STATES)
def test_the_prompt_is_back_at_once(house: House, mark: str, name: str, key: str) -> None:
    state = STATES[name]
    house.settings(mcpServers={"helper": hostile()} if name == "server" else {})
    with house.talk(state.script(mark) + said("Still here."), *state.words) as person:
        send(person, "go")
        state.there(person, house)
        took = stop(person, key)
        assert took < PROMISED * SLOW, f"{took:.2f} s"
        assert state.kept in person.screen.history()
        wait_until_dead(mark)
        person.settle()
        send(person, "are you there?")
        person.wait_for("\nStill here.", idle=True)
        assert is_tidy(person.screen)
        leave(person)


@pytest.mark.parametrize("key", ["escape", "c-c"])
@pytest.mark.parametrize("reply", [Reply(black_hole=True), stream(chunk("Half an"), chunk("answer"), stall_after=300)])
def test_a_service_that_does_not_answer(house: House, key: str, reply: Reply) -> None:
    with ModelServer([reply]) as server:
        environment = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
        with house.talk("", "-m", "gemini-test", **environment) as person:
            send(person, "hello")
            person.wait_for("Working" if reply.black_hole else "Half an")
            wait_until(lambda: server.requests, 10, "the request")
            took = stop(person, key)
            assert took < PROMISED * SLOW, f"{took:.2f} s"
            assert reply.black_hole or "Half an" in person.screen.history()
            leave(person)


@both_settings
def test_compressing(house: House, setting: Setting) -> None:
    slow = answer(say="word " * 400, pause=0.05, purpose="compression")
    first = "".join(f"This is sentence number {number}.\n\n" for number in range(400))
    with house.talk(said(f"{first}One.", "Two.", "Three.", "Later.") + slow, setting=setting) as person:
        for words in ("One.", "Two.", "Three."):
            send(person, "go on")
            person.wait_for(f"\n{words}", idle=True)
        send(person, "/compress")
        person.wait_until(lambda _: not has_prompt(person), wanted="work")
        took = stop(person, "escape")
        assert took < PROMISED * SLOW
        send(person, "two")
        person.wait_for("\nLater.", idle=True)


@both_settings
def test_twice_leaves_from_work(house: House, setting: Setting, mark: str) -> None:
    script = calls((SHELL, {"command": f"touch begun; sleep {mark}"})) + said("Later.")
    with house.talk(script, "-y", setting=setting) as person:
        send(person, "go")
        wait_for_file(house.project / "begun")
        person.press("c-c", "c-c")
        assert person.end() in (0, 130)
        assert person.modes_are_restored()
        wait_until_dead(mark)


@both_settings
def test_twice_leaves_from_the_prompt(house: House, setting: Setting) -> None:
    with house.talk(said("Hi."), setting=setting) as person:
        person.settle()
        person.press("c-c")
        person.wait_for("Press Ctrl-C again to leave.")
        person.press("c-c")
        assert person.end() == 0
        assert person.modes_are_restored()
        assert person.screen.cursor[0] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("name", ["streaming", "tool", "question"])
def test_signals_end_in_order(house: House, mark: str, name: str, number: signal.Signals) -> None:
    state = STATES[name]
    with house.talk(said("First.") + state.script(mark), *state.words) as person:
        send(person, "remember the blue whale")
        person.wait_for("\nFirst.", idle=True)
        send(person, "go")
        state.there(person, house)
        person.signal(number)
        assert person.end() == 128 + number
        assert person.modes_are_restored()
        wait_until_dead(mark)
    resumed(house)


def resumed(house: House) -> None:
    """The session can be gone on with, and knows what was said."""
    with ModelServer([say("Of course.")]) as server:
        environment = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
        with house.talk("", "-m", "gemini-test", "-r", **environment) as person:
            send(person, "do you know?")
            person.wait_for("\nOf course.", idle=True)
        (request,) = [received for received in server.requests if "stream" in received.target]
        assert "remember the blue whale" in request.raw.decode()


@both_settings
def test_a_window_that_is_closed(house: House, mark: str, setting: Setting) -> None:
    script = said("First.") + calls((SHELL, {"command": f"touch begun; sleep {mark}"}))
    with house.talk(script, "-y", setting=setting) as person:
        send(person, "remember the blue whale")
        person.wait_for("\nFirst.", idle=True)
        send(person, "go")
        wait_for_file(house.project / "begun")
        pid = person.pid
        person.hang_up()
        wait_until(lambda: not _lives(pid), 10, "the end of the program")
        wait_until_dead(mark)
    resumed(house)


def _lives(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_sudden_death(house: House, mark: str) -> None:
    script = said("First.") + calls((SHELL, {"command": f"touch begun; sleep {mark}"}))
    with house.talk(script, "-y") as person:
        send(person, "remember the blue whale")
        person.wait_for("\nFirst.", idle=True)
        send(person, "go")
        wait_for_file(house.project / "begun")
        person.signal(signal.SIGKILL)
        assert person.end() == -signal.SIGKILL
        wait_until(person.modes_are_restored, 10, "the modes of the terminal")
        for pid in living(mark):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    resumed(house)


@both_settings
def test_to_the_background_and_back(house: House, setting: Setting) -> None:
    with house.talk(said("Hi."), setting=setting) as person:
        person.type("half a line")
        person.wait_for("> half a line", idle=True)
        person.press("c-z")
        wait_until(lambda: _is_stopped(person.pid), 10, "the stop")
        assert person.modes_are_restored()
        person.signal(signal.SIGCONT)
        person.wait_for("> half a line", idle=True)
        person.press("enter")
        person.wait_for("\nHi.", idle=True)
        leave(person)


def _is_stopped(pid: int) -> bool:
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0] == "T"


def test_the_rest_of_a_key_is_not_taken_for_escape(house: House) -> None:
    with house.talk(said("one two " + "more " * 60, pause=0.02)) as person:
        send(person, "go")
        person.wait_for("one two")
        person.type(b"\x1b[")
        time.sleep(0.02)
        person.type(b"A")
        time.sleep(0.2)
        assert "Stopp" not in person.text
