"""The person at the screen, who sees what a program writes, types, and finds the terminal as it was."""

import signal
import sys
import time
from pathlib import Path

import pytest

from support.pictures.svg import Screen, take_screen
from support.terminal.recorded_screens import check_screens
from support.terminal.screen import ScreenUser, open_screen

LISTEN = """
import os, signal, sys, termios, tty
def changed(*_):
    print("size", *os.get_terminal_size())
signal.signal(signal.SIGWINCH, changed)
print("ready", *os.get_terminal_size(), os.environ["LANG"], sorted(set(os.environ) - {"LC_CTYPE"}))
print(all(os.isatty(fd) for fd in (0, 1, 2)), os.getpgrp() == os.tcgetpgrp(0), flush=True)
"""
ECHO = (
    LISTEN
    + """
for line in sys.stdin:
    print("heard", repr(line.rstrip("\\n")), flush=True)
    if line == "end\\n":
        sys.exit(7)
"""
)
RAW = (
    LISTEN
    + """
before = termios.tcgetattr(0)
tty.setraw(0)
sys.stdout.write("\\x1b[?2004h")
sys.stdout.flush()
while (got := os.read(0, 100)) != b"q":
    sys.stdout.write(repr(got) + "\\r\\n")
    sys.stdout.flush()
if sys.argv[1:] == ["tidy"]:
    sys.stdout.write("\\x1b[?2004l")
    sys.stdout.flush()
    termios.tcsetattr(0, termios.TCSANOW, before)
"""
)


def python(text: str, *words: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text, *words)


def test_a_terminal_for_everything_and_nothing_of_the_environment() -> None:
    with open_screen(program=python(ECHO), columns=60, rows=9, lang="C", TEJAT_X="1") as user:
        user.wait_for("True True")
        assert user.text == "ready 60 9 C ['HOME', 'LANG', 'PATH', 'TEJAT_X', 'TERM']\nTrue True"
        files = [path for place in (user.home, user.cwd) for path in place.rglob("*") if path.is_file()]
        assert [path.name for path in files] == ["root-warning"]
        user.type("hello")
        user.press("enter")
        user.wait_for("heard 'hello'", idle=True)
        user.resize(50, 12)
        user.wait_for("size 50 12")
        user.type(b"end\n")
        assert (user.wait_for_exit(), user.modes_are_restored(), user.has_exited) == (7, True, True)


def test_keys_by_name_and_pastes() -> None:
    with open_screen(program=python(RAW)) as user:
        user.wait_for("True True")
        user.wait_until(lambda screen: 2004 in screen.modes)
        for name in ("escape", "up", "c-c", "m-b", "x", "m-enter", "s-tab"):
            user.press(name)
            user.wait_idle()
        user.paste("a\nb")
        user.wait_for("201~", idle=True)
        heard = user.text.split("\n")[2:]
        assert heard == [
            *(repr(key) for key in (b"\x1b", b"\x1b[A", b"\x03", b"\x1bb", b"x", b"\x1b\r", b"\x1b[Z")),
            repr(b"\x1b[200~a\rb\x1b[201~"),
        ]


@pytest.mark.parametrize(("word", "restored"), [("tidy", True), ("untidy", False)])
def test_a_terminal_that_is_left_in_another_state_is_noticed(word: str, *, restored: bool) -> None:
    with open_screen(program=python(RAW, word)) as user:
        user.wait_for("True True")
        user.wait_until(lambda screen: 2004 in screen.modes)
        assert not user.modes_are_restored()
        user.press("q")
        assert (user.wait_for_exit(), user.modes_are_restored()) == (0, restored)


def test_signals() -> None:
    with open_screen(program=python(ECHO)) as user:
        user.wait_for("True True")
        user.signal(signal.SIGTERM)
        assert user.wait_for_exit() == -signal.SIGTERM
    with open_screen(program=python(ECHO)) as user:
        user.wait_for("True True")
        while not user.has_exited:  # Python loses a signal that comes just before it begins to read
            user.press("c-c")
            time.sleep(0.2)
        assert user.wait_for_exit() == -signal.SIGINT
    with open_screen(program=python("import signal; print('waiting'); signal.pause()")) as user:
        user.wait_for("waiting")
        user.hang_up()
        assert user.wait_for_exit() == -signal.SIGHUP


def wrong(user: ScreenUser) -> str:
    with pytest.raises(AssertionError) as caught:
        user.wait_for("something else", 0.3)
    return str(caught.value)


def test_what_does_not_come_is_told_with_the_screen() -> None:
    with open_screen(program=python(ECHO), columns=40, rows=3) as user:
        user.wait_for("True True")
        told = wrong(user)
        assert told.startswith("'something else' did not come in 0.3 s\n")
        assert "|True True\n" in told
        user.type(b"end\n")
        user.wait_for_exit()
        assert wrong(user).startswith("the program ended (b'")


def test_recorded_screens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("support.terminal.recorded_screens.DIRECTORY", tmp_path)
    with open_screen(program=python("print('one \\x1b[1mtwo')"), columns=40, rows=3) as user:
        user.wait_for_exit()
        screen = take_screen(user.screen)
    with pytest.raises(AssertionError, match=r"TEJAT_WRITE_SNAPSHOTS=1"):
        check_screens("40x3", {"words": [screen]})
    monkeypatch.setenv("TEJAT_WRITE_SNAPSHOTS", "1")
    check_screens("40x3", {"words": [screen]})
    monkeypatch.delenv("TEJAT_WRITE_SNAPSHOTS")
    recorded = "== 40x3\none two\n~ 4. 3a\n-- cursor column 0, row 1\na: bold\n"
    assert (tmp_path / "words.txt").read_text() == recorded
    check_screens("40x3", {"words": [screen]})
    other = Screen(screen.rows[1:], screen.cursor)
    with pytest.raises(AssertionError, match="-one two"):
        check_screens("40x3", {"words": [other]})


def test_the_program_itself() -> None:
    with open_screen("--version") as user:
        assert user.wait_for_exit() == 0
        assert user.text.startswith("tejat ")
