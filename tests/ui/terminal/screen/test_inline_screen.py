"""The inline screen at a real terminal."""

import os
import signal
import sys
import termios
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.terminal.screen import ScreenUser, open_screen

PROGRAM = Path(__file__).with_name("inline_screen_program.py")
STATUS = "status of it all"


@contextmanager
def at_frame(
    *words: str, columns: int = 80, rows: int = 24, lang: str = "C.UTF-8", **environment: Any
) -> Generator[ScreenUser]:
    program = (sys.executable, str(PROGRAM), *words)
    with open_screen(columns=columns, rows=rows, lang=lang, program=program, **environment) as user:
        user.wait_for("> ", idle=True)
        yield user
        if not user.has_exited:
            assert user.screen.unknown == []
            assert user.screen.written_outside_of_frames == 0
            assert user.screen.titles == []


def do(user: ScreenUser, line: str) -> None:
    user.type(f"{line}\r")


def leave(user: ScreenUser) -> None:
    user.press("c-d")
    assert user.wait_for_exit() == 0, user.describe()
    assert user.modes_are_restored(), user.describe()


def caret_after(user: ScreenUser, text: str) -> bool:
    """Whether the cursor stands right after this text, which is the end of its row."""
    row = user.screen.cursor[1]
    return user.screen.lines()[row].rstrip() == text.rstrip() and user.screen.is_cursor_visible


def test_a_session_leaves_what_was_printed_and_nothing_else() -> None:
    with at_frame() as user:
        assert user.screen.lines()[:4] == ["Welcome", "", ">", (STATUS + " ") * 4 + "status of it"]
        assert user.screen.cursor == (2, 2)
        assert 2004 in user.screen.modes
        do(user, "print 2")
        user.wait_for("printed 1", idle=True)
        leave(user)
        assert user.text.rstrip("\n").split("\n") == ["Welcome", "printed 0", "printed 1", "Goodbye", "After the end"]


def test_a_key_costs_few_bytes() -> None:
    with at_frame() as user:
        before = user.screen.written
        user.type("a")
        user.wait_for("> a", idle=True)
        assert user.screen.written - before < 100
        assert user.screen.frames >= 2


def test_nothing_is_written_or_computed_while_nothing_happens() -> None:
    with at_frame() as user:
        do(user, "live 3")
        user.wait_for("live 2", idle=True)
        before, busy_before = len(user.raw), busy(user.pid)
        end = time.monotonic() + 2
        while time.monotonic() < end:
            user._read(0.1)
        assert user.raw[before:] == b""
        assert busy(user.pid) - busy_before <= 0.02


def busy(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_flood_of_lines_keeps_every_line_and_every_key() -> None:
    with at_frame() as user:
        do(user, "flood 10000")
        user.wait_for("line 00010")
        typed = "typed while it rained"
        for letter in typed:
            user.type(letter)
            user._read(0.005)
        user.wait_for("flooded", 30, idle=True)
        assert user.screen.full_clears == 0
        lines = [line for line in user.screen.history().split("\n") if line.startswith("line ")]
        assert lines == [f"line {number:05}" for number in range(10000)]
        assert caret_after(user, f"> {typed}"), user.describe()
        assert user.screen.cursor[0] == 2 + len(typed)


def test_what_streams_is_drawn_ten_times_a_second_at_most() -> None:
    with at_frame() as user:
        frames, start = user.screen.frames, time.monotonic()
        do(user, "stream 3000")
        user.wait_for("streamed 2999", idle=True)
        keys = len("stream 3000\r") + 2
        assert user.screen.frames - frames <= keys + 10 * (time.monotonic() - start) + 1


def test_a_live_block_that_changes_right_after_a_print_is_drawn() -> None:
    with at_frame() as user:
        do(user, "overtake")
        user.wait_for("second")
        leave(user)


def test_one_may_wait_until_everything_is_drawn() -> None:
    with at_frame() as user:
        do(user, "die drawn")
        assert user.wait_for_exit() == 4
        assert b"drawn before the end" in user.raw


def test_elapsed_time_goes_on_by_itself_and_only_where_things_may_move() -> None:
    with at_frame() as user:
        do(user, "tick")
        user.wait_for("elapsed 2 s")
        frames = user.screen.frames
        user.wait_for("elapsed 3 s")
        assert user.screen.frames - frames <= 2
    with at_frame(TEJAT_NO_ANIMATION="1") as user:
        do(user, "tick")
        user.wait_for("elapsed 0 s", idle=True)
        written = user.screen.written
        end = time.monotonic() + 1.3
        while time.monotonic() < end:
            user._read(0.1)
        assert user.screen.written == written


@pytest.mark.parametrize(
    ("text", "columns"),
    [("日本語", 6), ("👩‍👩‍👧‍👦", 2), ("e\u0301", 1), ("👍🏽a", 3), ("🇩🇪 한국", 7), ("ไทย", 3)],
)
def test_the_cursor_stands_where_the_text_ends(text: str, columns: int) -> None:
    with at_frame() as user:
        user.type(text)
        user.wait_for(f"> {text}", idle=True)
        assert user.screen.cursor == (2 + columns, 2)
        user.type("z")
        user.press("c-a")
        user.wait_for(f"> {text}z", idle=True)
        assert user.screen.cursor == (2, 2)
        user.press("c-e", "backspace")
        user.wait_until_gone("z", idle=True)
        assert user.screen.cursor == (2 + columns, 2)


def test_a_live_block_taller_than_the_screen_shows_its_end() -> None:
    with at_frame(rows=12) as user:
        do(user, "live 40")
        user.wait_for("live 39", idle=True)
        lines = user.screen.lines()
        assert lines[0] == "32 rows above"
        assert [line.split(" x")[0] for line in lines[1:9]] == [f"live {number}" for number in range(32, 40)]
        assert (lines[10], lines[11].startswith(STATUS)) == (">", True)
        assert user.screen.cursor == (2, 10)
        do(user, "live off")
        user.wait_until_gone("live", idle=True)
        assert user.screen.lines()[:2] == ["", ">"]


def test_queued_lines_are_named_and_counted() -> None:
    with at_frame(columns=20) as user:
        do(user, "queue 7")
        user.wait_for("2 more queued", idle=True)
        lines = user.screen.lines()
        assert lines[2:9] == [*(f"queued · line {number} and…" for number in range(5)), "2 more queued", ">"]


@pytest.mark.parametrize(("columns", "rows"), [(40, 10), (20, 5), (20, 3), (10, 2), (5, 1), (2, 1)])
def test_no_terminal_is_too_small(columns: int, rows: int) -> None:
    program = (sys.executable, str(PROGRAM))
    with open_screen(columns=columns, rows=rows, program=program) as user:
        user.wait_until(lambda screen: 2004 in screen.modes, idle=True)
        for line in ("live 30", "queue 9", "hint hurry", "print 3"):
            do(user, line)
        user.type("abc")
        seen = "> abc"[-columns + 1 :]
        user.wait_until(lambda screen: screen.lines()[screen.cursor[1]] == seen, idle=True, wanted=seen)
        assert user.screen.cursor[0] == len(seen)
        assert user.screen.is_cursor_visible
        user.press("c-u")
        do(user, "ask")
        user.wait_until(lambda screen: not screen.is_cursor_visible)
        user.type("y")
        user.wait_until(lambda screen: screen.is_cursor_visible, idle=True)
        assert user.screen.unknown == []
        leave(user)


@pytest.mark.parametrize(("columns", "rows"), [(0, 0), (1, 1), (0, 5)])
def test_a_size_that_cannot_be_drawn_in_does_no_harm(columns: int, rows: int) -> None:
    with at_frame() as user:
        do(user, "live 3")
        user.wait_idle()
        termios.tcsetwinsize(user._controller, (rows, columns))
        do(user, "print 3")
        user.wait_idle()
        termios.tcsetwinsize(user._controller, (24, 80))
        do(user, "clear")
        user.type("abc")
        user.wait_for("> abc", idle=True)
        user.press("c-u")
        leave(user)


def test_hints_go_with_the_next_key_or_in_time() -> None:
    with at_frame() as user:
        do(user, "hint look here")
        user.wait_for("look here", idle=True)
        assert user.screen.lines()[3] == "look here"
        user.type("a")
        user.wait_until_gone("look here")
        user.press("backspace", "escape")
        user.wait_for("escaped")
        user.wait_until_gone("escaped", 3)


def test_escape_is_quick_and_sequences_may_be_slow() -> None:
    with at_frame() as user:
        seconds: list[float] = []
        while not seconds or (min(seconds) >= 0.4 and len(seconds) < 10):  # the machine may be busy
            start = time.monotonic()
            user.press("escape")
            user.wait_for("escaped")
            seconds.append(time.monotonic() - start)
            user.wait_until_gone("escaped", 10)
        assert min(seconds) < 0.4
        user.type("one two")
        user.press("m-b")
        user.wait_until(lambda screen: screen.cursor == (6, 2), idle=True)


def test_escape_stays_with_people_who_use_vi() -> None:
    with at_frame() as user:
        do(user, "keys vi")
        user.wait_idle()
        user.type("some text")
        user.press("escape")
        user.wait_until(lambda screen: screen.cursor == (10, 2), idle=True)
        assert "escaped" not in user.text
        user.press("escape")
        user.wait_for("escaped")
        user.press("0", "x")
        user.wait_for("> ome text", idle=True)


def test_interrupting_and_ending() -> None:
    with at_frame() as user:
        user.type("abc")
        user.press("c-c")
        user.wait_for("interrupted", idle=True)
        assert caret_after(user, "> abc")
        user.press("c-a", "c-d")
        user.wait_for("> bc", idle=True)
        user.signal(signal.SIGINT)
        user.wait_until(lambda screen: screen.history().count("interrupted") == 2)
        user.press("c-d", "c-d")
        user.wait_idle()
        leave(user)


def test_dialogs_take_all_keys_one_after_the_other_and_the_text_stays() -> None:
    with at_frame(columns=120) as user:
        do(user, "ask first")
        user.wait_for("first?")
        assert not user.screen.is_cursor_visible
        assert ">" not in user.text
        user.press("up", "down", "left", "right", "pageup", "pagedown", "home", "end", "tab", "s-tab", "enter")
        user.press("backspace", "delete", "space", "ä", "m-x")
        user.paste("1\n2\x1b")
        keys = "up down left right pageup pagedown home end tab s-tab enter backspace delete"
        user.wait_for(f"first? {keys}   ä paste 1 newline 2 paste-end", idle=True)
        user.type("y")
        user.wait_for("first answered y", idle=True)
        assert caret_after(user, "> "), user.describe()
        assert user.screen.cursor == (2, 3)


def test_dialogs_wait_for_each_other() -> None:
    with at_frame() as user:
        do(user, "both")
        user.wait_for("left?")
        user.press("escape")
        user.wait_for("right?")
        user.type("n")
        user.wait_for("right answered n", idle=True)
        assert "left answered escape" in user.text


def test_whoever_asked_may_stop_asking() -> None:
    with at_frame() as user:
        do(user, "cancel 0.3")
        do(user, "ask two")
        user.wait_for("two?")
        user.wait_until_gone("two?", idle=True)
        assert caret_after(user, ">")
        user.type("still here")
        user.wait_for("> still here", idle=True)


def test_a_dialog_may_change_by_itself_and_have_a_caret() -> None:
    with at_frame() as user:
        do(user, "lazy")
        user.wait_for("looked at often")
        assert user.screen.cursor == (3, 2)
        assert user.screen.is_cursor_visible
        user.press("c-c")
        user.wait_for("counted c-c", idle=True)


def test_another_program_gets_the_terminal_as_it_was_found() -> None:
    with at_frame() as user:
        do(user, "live 2")
        do(user, "away stty -a | tr ';' '\\n' | grep icanon; read answer; printf 'got %s' \"$answer\"")
        user.wait_for("icanon", idle=True)
        assert "-icanon" not in user.text
        assert 2004 not in user.screen.modes
        assert user.screen.is_cursor_visible
        assert "live" not in user.text
        user.type("an answer\r")
        user.wait_for("printed meanwhile", idle=True)
        rows = user.screen.lines()
        end = rows.index("got an answer")
        assert [rows[end + 1], rows[end + 2].split()[0], rows[end + 5]] == ["printed meanwhile", "live", ">"]
        assert 2004 in user.screen.modes
        leave(user)


def test_stopping_and_going_on() -> None:
    with at_frame() as user:
        before = user._before
        user.type("half a line")
        user.wait_for("> half a line")
        user.press("c-z")
        wait_for_state(user, "T")
        assert user.modes_are_restored(), user.describe()
        assert before
        user.signal(signal.SIGCONT)
        user.wait_for("> half a line", idle=True)
        wait_for_state(user, "S")
        user.type("!")
        user.wait_for("> half a line!", idle=True)
        assert user.text.count("half a line") == 1
        user.press("c-u")
        leave(user)


def wait_for_state(user: ScreenUser, state: str) -> None:
    end = time.monotonic() + 60
    while Path(f"/proc/{user.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != state:
        user._read(0.01)
        assert time.monotonic() < end, user.describe()
    user._read(0.05)


def test_going_on_after_a_stop_that_nobody_announced() -> None:
    with at_frame() as user:
        user.signal(signal.SIGSTOP)
        wait_for_state(user, "T")
        termios.tcsetattr(user._line, termios.TCSANOW, user._before)
        user.signal(signal.SIGCONT)
        wait_for_state(user, "S")
        user.wait_until(lambda screen: screen.text().count("> ") + screen.text().count(">") >= 1, idle=True)
        user.type("abc")
        user.wait_for("> abc", idle=True)
        user.press("c-u")
        leave(user)


@pytest.mark.parametrize("wider", [False, True])
def test_a_new_size_leaves_no_pieces(wider: bool) -> None:
    with at_frame(columns=70, XTERM_VERSION="XTerm(400)") as user:
        do(user, "live 3")
        user.type("some words")
        user.wait_for("> some words", idle=True)
        for columns in (100, 30, 90) if wider else (40, 25, 70):
            user.resize(columns, 24)
            user.wait_idle()
            lines = [line for line in user.screen.history().split("\n") if line]
            assert [line.split()[0] for line in lines if not line.startswith("x")] == [
                "Welcome",
                *["live"] * 3,
                ">",
                "status",
            ], user.describe()
            assert caret_after(user, "> some words")
        user.press("c-u")
        leave(user)


def test_clearing_takes_everything_but_the_editor() -> None:
    with at_frame(rows=6) as user:
        do(user, "print 20")
        user.wait_for("printed 19", idle=True)
        do(user, "clear")
        user.wait_until(lambda screen: screen.lines()[0] == ">", idle=True)
        assert user.screen.scrollback == []


def test_a_terminal_that_goes_away_is_noticed_once(tmp_path: Path) -> None:
    note = tmp_path / "note"
    with at_frame(str(note)) as user:
        do(user, "ask it")
        user.wait_for("it?", idle=True)
        user.hang_up()
        assert user.wait_for_exit() == 0
        assert note.read_text(encoding="utf-8") == "hung up\nasked: escape\n"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_without_utf8_only_ascii_is_written(encoding: str) -> None:
    with at_frame(lang="C", ENCODING=encoding) as user:
        do(user, "queue 1")
        user.type("日本é")
        user.wait_idle()
        do(user, "")
        user.wait_idle()
        assert user.raw.isascii() == (encoding == "ascii")
        if encoding == "ascii":
            assert "queued | line 0" in user.text


@pytest.mark.parametrize("death", ["SIGKILL", "SIGABRT", "SIGTERM", "exit"])
def test_after_any_death_the_terminal_is_as_it_was_found(death: str) -> None:
    with at_frame() as user:
        do(user, "ask")
        user.wait_for("?", idle=True)
        user.type("n")
        user.wait_idle()
        time.sleep(0.1)
        do(user, f"die {death}")
        assert user.wait_for_exit() == (3 if death == "exit" else -signal.Signals[death])
        end = time.monotonic() + 60
        while not user.modes_are_restored():
            user._read(0.02)
            assert time.monotonic() < end, user.describe()
        user.wait_idle()
        column, row = user.screen.cursor
        assert column == 0
        assert "".join(user.screen.lines()[row:]) == ""
