"""The whole terminal, as it is ended."""

import signal
import time
from pathlib import Path

import pytest

from program_checks import said
from talks import House, house, program, send, wait_for_file, wait_until

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
