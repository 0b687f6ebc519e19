"""The person at the screen, who sees what a program writes, types, and finds the terminal as it was."""

import signal
import sys
from pathlib import Path

import pytest

from screens import ScreenPerson, at_screen

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
    with at_screen(program=python(ECHO), columns=60, rows=9, lang="C", TEJAT_X="1") as person:
        person.wait_for("True True")
        assert person.text == "ready 60 9 C ['HOME', 'LANG', 'PATH', 'TEJAT_X', 'TERM']\nTrue True"
        assert (list(person.home.iterdir()), list(person.cwd.iterdir())) == ([], [])
        person.type("hello")
        person.press("enter")
        person.wait_for("heard 'hello'", idle=True)
        person.resize(50, 12)
        person.wait_for("size 50 12")
        person.type(b"end\n")
        assert (person.end(), person.modes_are_restored(), person.has_ended) == (7, True, True)


def test_keys_by_name_and_pastes() -> None:
    with at_screen(program=python(RAW)) as person:
        person.wait_for("True True")
        person.wait_until(lambda screen: 2004 in screen.modes)
        for name in ("escape", "up", "c-c", "m-b", "x", "m-enter", "s-tab"):
            person.press(name)
            person.settle()
        person.paste("a\nb")
        person.wait_for("201~", idle=True)
        heard = person.text.split("\n")[2:]
        assert heard == [
            *(repr(key) for key in (b"\x1b", b"\x1b[A", b"\x03", b"\x1bb", b"x", b"\x1b\r", b"\x1b[Z")),
            repr(b"\x1b[200~a\rb\x1b[201~"),
        ]


@pytest.mark.parametrize(("word", "restored"), [("tidy", True), ("untidy", False)])
def test_a_terminal_that_is_left_in_another_state_is_noticed(word: str, *, restored: bool) -> None:
    with at_screen(program=python(RAW, word)) as person:
        person.wait_for("True True")
        person.wait_until(lambda screen: 2004 in screen.modes)
        assert not person.modes_are_restored()
        person.press("q")
        assert (person.end(), person.modes_are_restored()) == (0, restored)


def test_signals() -> None:
    with at_screen(program=python(ECHO)) as person:
        person.wait_for("True True")
        person.signal(signal.SIGTERM)
        assert person.end() == -signal.SIGTERM
    with at_screen(program=python(ECHO)) as person:
        person.wait_for("True True")
        person.press("c-c")
        assert person.end() == -signal.SIGINT
    with at_screen(program=python("import signal; print('waiting'); signal.pause()")) as person:
        person.wait_for("waiting")
        person.hang_up()
        assert person.end() == -signal.SIGHUP


def wrong(person: ScreenPerson) -> str:
    with pytest.raises(AssertionError) as caught:
        person.wait_for("something else", 0.3)
    return str(caught.value)


def test_what_does_not_come_is_told_with_the_screen() -> None:
    with at_screen(program=python(ECHO), columns=40, rows=3) as person:
        person.wait_for("True True")
        told = wrong(person)
        assert told.startswith("'something else' did not come in 0.3 s\n")
        assert "|True True\n" in told
        person.type(b"end\n")
        person.end()
        assert wrong(person).startswith("the program ended (b'")


def test_snapshots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("screens.SNAPSHOTS", tmp_path)
    with at_screen(program=python("print('one 12:34')")) as person:
        person.end()
        with pytest.raises(AssertionError, match=r"one\.txt is not there"):
            person.snapshot("one")
        monkeypatch.setenv("TEJAT_WRITE_SNAPSHOTS", "1")
        person.snapshot("one", {"12:34": "TIME"})
        monkeypatch.delenv("TEJAT_WRITE_SNAPSHOTS")
        assert (tmp_path / "one.txt").read_text() == "one TIME\n"
        person.snapshot("one", {"12:34": "TIME"})
        with pytest.raises(AssertionError, match="one looks different"):
            person.snapshot("one")


def test_the_program_itself() -> None:
    with at_screen("--version") as person:
        assert person.end() == 0
        assert person.text.startswith("tejat ")
