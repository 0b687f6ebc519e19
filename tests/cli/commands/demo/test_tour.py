"""The demo at a terminal: the real interface, every prompt answered, and nothing left behind."""

import os
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.terminal.chat import send_prompt, wait_for_words
from support.terminal.screen import ScreenUser, open_screen

SLOW = 30.0
QUESTION = "Enter to confirm"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A home and a place for temporary files, both empty."""
    for name in ("home", "temporary"):
        (tmp_path / name).mkdir()
    return tmp_path


@contextmanager
def open_demo(place: Path, *words: str, columns: int = 80) -> Generator[ScreenUser]:
    home, temporary = str(place / "home"), str(place / "temporary")
    with open_screen("demo", *words, columns=columns, cwd=place, HOME=home, TMPDIR=temporary) as user:
        yield user


def written_files(place: Path) -> list[str]:
    """All files, without the mark of `open_screen` that root was warned."""
    return sorted(path.name for path in place.rglob("*") if path.is_file() and path.name != "root-warning")


def wait_for_question(user: ScreenUser, about: str) -> None:
    """Wait until this is asked, and so long that keys count."""
    user.wait_until(lambda screen: QUESTION in screen.text() and about in screen.text(), SLOW, idle=True, wanted=about)
    time.sleep(0.4)


def answer(user: ScreenUser, about: str, key: str) -> None:
    wait_for_question(user, about)
    user.press(key)
    user.wait_until_gone(QUESTION, SLOW)


def fix_bug(user: ScreenUser) -> None:
    """Approve the test run, the edit, and the second test run."""
    answer(user, "$ python3 -m unittest", "y")
    answer(user, "price - price", "y")
    answer(user, "$ python3 -m unittest", "y")
    wait_for_words(user, "Your turn.", SLOW)
    wait_for_words(user, "/tour for more", SLOW, idle=True)


def test_fixes_the_bug_and_invites_to_go_on(place: Path) -> None:
    with open_demo(place) as user:
        wait_for_words(user, "no API key and no network", SLOW)
        fix_bug(user)
        [price] = (place / "temporary").glob("*/shop/shop/price.py")
        assert "price - price" in price.read_text()
        send_prompt(user, "/undo")
        wait_for_words(user, "Undo these changes?", SLOW, idle=True)
        time.sleep(0.4)
        user.press("1")
        user.wait_until(lambda _: "price - price" not in price.read_text(), SLOW)
        user.wait_idle()
        send_prompt(user, "/policy explain rm -rf build")
        wait_for_words(user, "Commands in this line", SLOW, idle=True)
        send_prompt(user, "write me a poem")
        wait_for_words(user, "I'm only a script", SLOW)
        wait_for_words(user, "/login", SLOW, idle=True)
        user.press("c-d")
        assert user.wait_for_exit() == 0
        wait_for_words(user, "To start for real:")
        assert "Resume" not in user.text
        assert user.modes_are_restored()
        assert user.screen.unknown == []
    assert written_files(place) == []


def test_in_a_narrow_terminal(place: Path) -> None:
    with open_demo(place, columns=40) as user:
        wait_for_words(user, "no API key and no network", SLOW)
        fix_bug(user)
        send_prompt(user, "/tour")
        wait_for_words(user, "Try these, in any order:", SLOW, idle=True)


def test_a_no_is_answered_by_a_friendly_word(place: Path) -> None:
    with open_demo(place) as user:
        answer(user, "$ python3", "n")
        wait_for_words(user, "Nothing was changed.", SLOW, idle=True)
        send_prompt(user, "clean up")
        answer(user, "$ rm -rf build", "y")
        wait_for_words(user, "Deleted.", SLOW, idle=True)


@pytest.mark.parametrize("name", ["c-c", "escape"])
def test_leaving_in_the_middle_leaves_nothing_behind(place: Path, name: str) -> None:
    with open_demo(place) as user:
        wait_for_question(user, "$ python3")
        user.press(name)
        user.wait_until_gone(QUESTION, SLOW, idle=True)
        user.press("c-c")
        user.press("c-c")
        user.wait_for_exit()
        wait_for_words(user, "To start for real:")
        assert user.modes_are_restored()
    assert written_files(place) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_cleans_up_when_it_is_ended(place: Path, number: signal.Signals) -> None:
    with open_demo(place) as user:
        wait_for_question(user, "$ python3")
        os.kill(user.pid, number)
        assert user.wait_for_exit() == 128 + number
        assert user.modes_are_restored()
    assert written_files(place) == []


def test_cleans_up_when_the_interface_is_killed(place: Path) -> None:
    with open_demo(place) as user:
        wait_for_question(user, "$ python3")
        children = Path(f"/proc/{user.pid}/task/{user.pid}/children")
        for child in children.read_text().split():
            os.kill(int(child), signal.SIGKILL)
        assert user.wait_for_exit() == 128 + signal.SIGKILL
    assert written_files(place) == []


def test_in_plain_lines(place: Path) -> None:
    with open_demo(place, "--screen-reader") as user:
        wait_for_words(user, "Your answer (", SLOW)
        send_prompt(user, "y")
        wait_for_words(user, "price - price * percent // 100", SLOW)
        send_prompt(user, "y")
        user.wait_until(lambda screen: screen.history().count("Your answer (") == 3, SLOW)
        send_prompt(user, "y")
        wait_for_words(user, "Your turn.", SLOW, idle=True)
        assert b"\x1b[" not in user.raw
        user.press("c-d")
        assert user.wait_for_exit() == 0
        wait_for_words(user, "To start for real:")
    assert written_files(place) == []
