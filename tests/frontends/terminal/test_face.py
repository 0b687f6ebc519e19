"""The whole terminal, as it is ended."""

import signal
import time
from pathlib import Path

import pytest

from program_checks import said
from talks import House, house, leave, program, send, wait_for_file, wait_until

__all__ = ["house"]


@pytest.fixture
def begun(house: House) -> Path:
    """A file that is there as soon as a session with this house begins to end, which then takes a moment."""
    begun = house.base / "begun"
    hook = program(house.base / "hook", f"touch {begun}", "sleep 0.3", f"touch {house.base / 'done'}")
    house.settings(hooks={"SessionEnd": [{"hooks": [{"type": "command", "command": hook}]}]})
    return begun


def test_a_terminal_that_is_closed_may_be_told_of_twice(house: House, begun: Path) -> None:
    with house.talk(said("Hi.")) as person:
        send(person, "hello")
        person.wait_for("\nHi.", idle=True)
        person.signal(signal.SIGHUP)
        wait_for_file(begun)
        person.signal(signal.SIGHUP)
        assert person.end() == 128 + signal.SIGHUP
        assert person.modes_are_restored()
    assert (house.base / "done").exists()


def test_a_key_that_is_held_down_leaves_in_order(house: House, begun: Path) -> None:
    with house.talk(said("Hi.")) as person:
        send(person, "hello")
        person.wait_for("\nHi.", idle=True)
        person.press("c-c", "c-c", "c-c")
        wait_for_file(begun)
        person.press("c-c", "c-c")
        assert person.end() == 0
        assert person.modes_are_restored()
    assert (house.base / "done").exists()


def test_whoever_does_not_want_to_wait_need_not(house: House) -> None:
    begun = house.base / "begun"
    hook = program(house.base / "hook", f"touch {begun}", "sleep 60")
    house.settings(hooks={"SessionEnd": [{"hooks": [{"type": "command", "command": hook}]}]})
    with house.talk(said("Hi.")) as person:
        send(person, "hello")
        person.wait_for("\nHi.", idle=True)
        person.press("c-d")
        wait_for_file(begun)
        time.sleep(0.6)
        person.press("c-c")
        assert person.end() == -signal.SIGKILL
        wait_until(person.modes_are_restored, 10, "the modes of the terminal")


def test_a_session_that_is_gone_on_with_begins_where_it_was_left(house: House) -> None:
    with house.talk(said("A blue one.")) as person:
        send(person, "which whale?")
        person.wait_for("\nA blue one.", idle=True)
        leave(person)
    with house.talk(said("Yes."), "-r") as person:
        person.wait_for("\nWhere you left off\n> which whale?\n\nA blue one.\n", idle=True)


def test_a_program_that_leaves_the_terminal_in_disorder(house: House) -> None:
    editor = program(house.base / "editor", "printf '\\033[?1049h\\033[?1000h\\033[?1006h\\033[?25l'; exit 3")
    with house.talk(said("Hi."), EDITOR=editor) as person:
        person.press("c-x", "c-e")
        person.wait_until(lambda screen: b"\x1b[?1049h" in person.raw and 2004 in screen.modes, idle=True)
        assert person.screen.modes - {1049} == {7, 25, 2004}
        assert not person.screen.is_alternate


def test_our_memory_is_left_in_no_file(house: House) -> None:
    with house.talk(said("Hi.")) as person:
        limits = Path(f"/proc/{person.pid}/limits").read_text()
        assert next(line for line in limits.splitlines() if line.startswith("Max core file size")).split()[4] == "0"


def test_what_is_stopped_before_it_begins_stops_nothing_else(house: House) -> None:
    """Enter and Ctrl-C may come in one piece, before the first step of the work is made."""
    with house.talk(said("Hi.") + said("Again.")) as person:
        person.type("hello\r\x03")
        person.settle()
        send(person, "once more")
        person.wait_for("> once more", idle=True)
        assert "queued" not in person.screen.text()
        leave(person)
