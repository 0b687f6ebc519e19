"""The frame at a real terminal."""

import os
import signal
import sys
import termios
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.terminal.screen import ScreenUser, open_screen

PROGRAM = Path(__file__).with_name("inline_screen_program.py")
STATUS = "status of it all"


@contextmanager
def at_frame(
    *words: str, columns: int = 80, rows: int = 24, lang: str = "C.UTF-8", **environment: str
) -> Generator[ScreenUser]:
    program = (sys.executable, str(PROGRAM), *words)
    with open_screen(columns=columns, rows=rows, lang=lang, program=program, **environment) as person:
        person.wait_for("> ", idle=True)
        yield person
        if not person.has_exited:
            assert person.screen.unknown == []
            assert person.screen.written_outside_of_frames == 0
            assert person.screen.titles == []


def do(person: ScreenUser, line: str) -> None:
    person.type(f"{line}\r")


def leave(person: ScreenUser) -> None:
    person.press("c-d")
    assert person.wait_for_exit() == 0, person.describe()
    assert person.modes_are_restored(), person.describe()


def caret_after(person: ScreenUser, text: str) -> bool:
    """Whether the cursor stands right after this text, which is the end of its row."""
    row = person.screen.cursor[1]
    return person.screen.lines()[row].rstrip() == text.rstrip() and person.screen.is_cursor_visible


def test_a_session_leaves_what_was_printed_and_nothing_else() -> None:
    with at_frame() as person:
        assert person.screen.lines()[:4] == ["Welcome", "", ">", (STATUS + " ") * 4 + "status of it"]
        assert person.screen.cursor == (2, 2)
        assert 2004 in person.screen.modes
        do(person, "print 2")
        person.wait_for("printed 1", idle=True)
        leave(person)
        assert person.text.rstrip("\n").split("\n") == ["Welcome", "printed 0", "printed 1", "Goodbye", "After the end"]


def test_a_key_costs_few_bytes() -> None:
    with at_frame() as person:
        before = person.screen.written
        person.type("a")
        person.wait_for("> a", idle=True)
        assert person.screen.written - before < 100
        assert person.screen.frames >= 2


def test_nothing_is_written_or_computed_while_nothing_happens() -> None:
    with at_frame() as person:
        do(person, "live 3")
        person.wait_for("live 2", idle=True)
        before, busy_before = len(person.raw), busy(person.pid)
        end = time.monotonic() + 2
        while time.monotonic() < end:
            person._read(0.1)
        assert person.raw[before:] == b""
        assert busy(person.pid) - busy_before <= 0.02


def busy(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_flood_of_lines_keeps_every_line_and_every_key() -> None:
    with at_frame() as person:
        do(person, "flood 10000")
        person.wait_for("line 00010")
        typed = "typed while it rained"
        for letter in typed:
            person.type(letter)
            person._read(0.005)
        person.wait_for("flooded", 30, idle=True)
        assert person.screen.full_clears == 0
        lines = [line for line in person.screen.history().split("\n") if line.startswith("line ")]
        assert lines == [f"line {number:05}" for number in range(10000)]
        assert caret_after(person, f"> {typed}"), person.describe()
        assert person.screen.cursor[0] == 2 + len(typed)


def test_what_streams_is_drawn_ten_times_a_second_at_most() -> None:
    with at_frame() as person:
        frames, start = person.screen.frames, time.monotonic()
        do(person, "stream 3000")
        person.wait_for("streamed 2999", idle=True)
        keys = len("stream 3000\r") + 2
        assert person.screen.frames - frames <= keys + 10 * (time.monotonic() - start) + 1


def test_elapsed_time_goes_on_by_itself_and_only_where_things_may_move() -> None:
    with at_frame() as person:
        do(person, "tick")
        person.wait_for("elapsed 2 s")
        frames = person.screen.frames
        person.wait_for("elapsed 3 s")
        assert person.screen.frames - frames <= 2
    with at_frame(TEJAT_NO_ANIMATION="1") as person:
        do(person, "tick")
        person.wait_for("elapsed 0 s", idle=True)
        written = person.screen.written
        end = time.monotonic() + 1.3
        while time.monotonic() < end:
            person._read(0.1)
        assert person.screen.written == written


@pytest.mark.parametrize(
    ("text", "columns"),
    [("日本語", 6), ("👩‍👩‍👧‍👦", 2), ("e\u0301", 1), ("👍🏽a", 3), ("🇩🇪 한국", 7), ("ไทย", 3)],
)
def test_the_cursor_stands_where_the_text_ends(text: str, columns: int) -> None:
    with at_frame() as person:
        person.type(text)
        person.wait_for(f"> {text}", idle=True)
        assert person.screen.cursor == (2 + columns, 2)
        person.type("z")
        person.press("c-a")
        person.wait_for(f"> {text}z", idle=True)
        assert person.screen.cursor == (2, 2)
        person.press("c-e", "backspace")
        person.wait_until_gone("z", idle=True)
        assert person.screen.cursor == (2 + columns, 2)


def test_a_live_block_taller_than_the_screen_shows_its_end() -> None:
    with at_frame(rows=12) as person:
        do(person, "live 40")
        person.wait_for("live 39", idle=True)
        lines = person.screen.lines()
        assert lines[0] == "32 rows above"
        assert [line.split(" x")[0] for line in lines[1:9]] == [f"live {number}" for number in range(32, 40)]
        assert (lines[10], lines[11].startswith(STATUS)) == (">", True)
        assert person.screen.cursor == (2, 10)
        do(person, "live off")
        person.wait_until_gone("live", idle=True)
        assert person.screen.lines()[:2] == ["", ">"]


def test_queued_lines_are_named_and_counted() -> None:
    with at_frame(columns=20) as person:
        do(person, "queue 7")
        person.wait_for("2 more queued", idle=True)
        lines = person.screen.lines()
        assert lines[2:9] == [*(f"queued · line {number} and…" for number in range(5)), "2 more queued", ">"]


@pytest.mark.parametrize(("columns", "rows"), [(40, 10), (20, 5), (20, 3), (10, 2), (5, 1), (2, 1)])
def test_no_terminal_is_too_small(columns: int, rows: int) -> None:
    program = (sys.executable, str(PROGRAM))
    with open_screen(columns=columns, rows=rows, program=program) as person:
        person.wait_until(lambda screen: 2004 in screen.modes, idle=True)
        for line in ("live 30", "queue 9", "hint hurry", "print 3"):
            do(person, line)
        person.type("abc")
        seen = "> abc"[-columns + 1 :]
        person.wait_until(lambda screen: screen.lines()[screen.cursor[1]] == seen, idle=True, wanted=seen)
        assert person.screen.cursor[0] == len(seen)
        assert person.screen.is_cursor_visible
        person.press("c-u")
        do(person, "ask")
        person.wait_until(lambda screen: not screen.is_cursor_visible)
        person.type("y")
        person.wait_until(lambda screen: screen.is_cursor_visible, idle=True)
        assert person.screen.unknown == []
        leave(person)


@pytest.mark.parametrize(("columns", "rows"), [(0, 0), (1, 1), (0, 5)])
def test_a_size_that_cannot_be_drawn_in_does_no_harm(columns: int, rows: int) -> None:
    with at_frame() as person:
        do(person, "live 3")
        person.wait_idle()
        termios.tcsetwinsize(person._controller, (rows, columns))
        do(person, "print 3")
        person.wait_idle()
        termios.tcsetwinsize(person._controller, (24, 80))
        do(person, "clear")
        person.type("abc")
        person.wait_for("> abc", idle=True)
        person.press("c-u")
        leave(person)


def test_hints_go_with_the_next_key_or_in_time() -> None:
    with at_frame() as person:
        do(person, "hint look here")
        person.wait_for("look here", idle=True)
        assert person.screen.lines()[3] == "look here"
        person.type("a")
        person.wait_until_gone("look here")
        person.press("backspace", "escape")
        person.wait_for("escaped")
        person.wait_until_gone("escaped", 3)


def test_escape_is_quick_and_sequences_may_be_slow() -> None:
    with at_frame() as person:
        start = time.monotonic()
        person.press("escape")
        person.wait_for("escaped")
        assert time.monotonic() - start < 0.4
        person.type("one two")
        person.press("m-b")
        person.wait_until(lambda screen: screen.cursor == (6, 2), idle=True)


def test_escape_stays_with_people_who_use_vi() -> None:
    with at_frame() as person:
        do(person, "keys vi")
        person.wait_idle()
        person.type("some text")
        person.press("escape")
        person.wait_until(lambda screen: screen.cursor == (10, 2), idle=True)
        assert "escaped" not in person.text
        person.press("escape")
        person.wait_for("escaped")
        person.press("0", "x")
        person.wait_for("> ome text", idle=True)


def test_interrupting_and_ending() -> None:
    with at_frame() as person:
        person.type("abc")
        person.press("c-c")
        person.wait_for("interrupted", idle=True)
        assert caret_after(person, "> abc")
        person.press("c-a", "c-d")
        person.wait_for("> bc", idle=True)
        person.signal(signal.SIGINT)
        person.wait_until(lambda screen: screen.history().count("interrupted") == 2)
        person.press("c-d", "c-d")
        person.wait_idle()
        leave(person)


def test_dialogs_take_all_keys_one_after_the_other_and_the_text_stays() -> None:
    with at_frame(columns=120) as person:
        do(person, "ask first")
        person.wait_for("first?")
        assert not person.screen.is_cursor_visible
        assert ">" not in person.text
        person.press("up", "down", "left", "right", "pageup", "pagedown", "home", "end", "tab", "s-tab", "enter")
        person.press("backspace", "delete", "space", "ä", "m-x")
        person.paste("1\n2\x1b")
        keys = "up down left right pageup pagedown home end tab s-tab enter backspace delete"
        person.wait_for(f"first? {keys}   ä paste 1 newline 2 paste-end", idle=True)
        person.type("y")
        person.wait_for("first answered y", idle=True)
        assert caret_after(person, "> "), person.describe()
        assert person.screen.cursor == (2, 3)


def test_dialogs_wait_for_each_other() -> None:
    with at_frame() as person:
        do(person, "both")
        person.wait_for("left?")
        person.press("escape")
        person.wait_for("right?")
        person.type("n")
        person.wait_for("right answered n", idle=True)
        assert "left answered escape" in person.text


def test_whoever_asked_may_stop_asking() -> None:
    with at_frame() as person:
        do(person, "cancel 0.3")
        do(person, "ask two")
        person.wait_for("two?")
        person.wait_until_gone("two?", idle=True)
        assert caret_after(person, ">")
        person.type("still here")
        person.wait_for("> still here", idle=True)


def test_a_dialog_may_change_by_itself_and_have_a_caret() -> None:
    with at_frame() as person:
        do(person, "lazy")
        person.wait_for("looked at often")
        assert person.screen.cursor == (3, 2)
        assert person.screen.is_cursor_visible
        person.press("c-c")
        person.wait_for("counted c-c", idle=True)


def test_another_program_gets_the_terminal_as_it_was_found() -> None:
    with at_frame() as person:
        do(person, "live 2")
        do(person, "away stty -a | tr ';' '\\n' | grep icanon; read answer; printf 'got %s' \"$answer\"")
        person.wait_for("icanon", idle=True)
        assert "-icanon" not in person.text
        assert 2004 not in person.screen.modes
        assert person.screen.is_cursor_visible
        assert "live" not in person.text
        person.type("an answer\r")
        person.wait_for("printed meanwhile", idle=True)
        rows = person.screen.lines()
        end = rows.index("got an answer")
        assert [rows[end + 1], rows[end + 2].split()[0], rows[end + 5]] == ["printed meanwhile", "live", ">"]
        assert 2004 in person.screen.modes
        leave(person)


def test_stopping_and_going_on() -> None:
    with at_frame() as person:
        before = person._before
        person.type("half a line")
        person.wait_for("> half a line")
        person.press("c-z")
        wait_for_state(person, "T")
        assert person.modes_are_restored(), person.describe()
        assert before
        person.signal(signal.SIGCONT)
        person.wait_for("> half a line", idle=True)
        wait_for_state(person, "S")
        person.type("!")
        person.wait_for("> half a line!", idle=True)
        assert person.text.count("half a line") == 1
        person.press("c-u")
        leave(person)


def wait_for_state(person: ScreenUser, state: str) -> None:
    end = time.monotonic() + 5
    while Path(f"/proc/{person.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != state:
        person._read(0.01)
        assert time.monotonic() < end, person.describe()
    person._read(0.05)


def test_going_on_after_a_stop_that_nobody_announced() -> None:
    with at_frame() as person:
        person.signal(signal.SIGSTOP)
        wait_for_state(person, "T")
        termios.tcsetattr(person._line, termios.TCSANOW, person._before)
        person.signal(signal.SIGCONT)
        wait_for_state(person, "S")
        person.wait_until(lambda screen: screen.text().count("> ") + screen.text().count(">") >= 1, idle=True)
        person.type("abc")
        person.wait_for("> abc", idle=True)
        person.press("c-u")
        leave(person)


@pytest.mark.parametrize("wider", [False, True])
def test_a_new_size_leaves_no_pieces(wider: bool) -> None:
    with at_frame(columns=70, XTERM_VERSION="XTerm(400)") as person:
        do(person, "live 3")
        person.type("some words")
        person.wait_for("> some words", idle=True)
        for columns in (100, 30, 90) if wider else (40, 25, 70):
            person.resize(columns, 24)
            person.wait_idle()
            lines = [line for line in person.screen.history().split("\n") if line]
            assert [line.split()[0] for line in lines if not line.startswith("x")] == [
                "Welcome",
                *["live"] * 3,
                ">",
                "status",
            ], person.describe()
            assert caret_after(person, "> some words")
        person.press("c-u")
        leave(person)


def test_clearing_takes_everything_but_the_editor() -> None:
    with at_frame(rows=6) as person:
        do(person, "print 20")
        person.wait_for("printed 19", idle=True)
        do(person, "clear")
        person.wait_until(lambda screen: screen.lines()[0] == ">", idle=True)
        assert person.screen.scrollback == []


def test_a_terminal_that_goes_away_is_noticed_once(tmp_path: Path) -> None:
    note = tmp_path / "note"
    with at_frame(str(note)) as person:
        do(person, "ask it")
        person.wait_for("it?", idle=True)
        person.hang_up()
        assert person.wait_for_exit() == 0
        assert note.read_text(encoding="utf-8") == "hung up\nasked: escape\n"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_without_utf8_only_ascii_is_written(encoding: str) -> None:
    with at_frame(lang="C", ENCODING=encoding) as person:
        do(person, "queue 1")
        person.type("日本é")
        person.wait_idle()
        do(person, "")
        person.wait_idle()
        assert person.raw.isascii() == (encoding == "ascii")
        if encoding == "ascii":
            assert "queued | line 0" in person.text


@pytest.mark.parametrize("death", ["SIGKILL", "SIGABRT", "SIGTERM", "exit"])
def test_after_any_death_the_terminal_is_as_it_was_found(death: str) -> None:
    with at_frame() as person:
        do(person, "ask")
        person.wait_for("?", idle=True)
        person.type("n")
        person.wait_idle()
        time.sleep(0.1)
        do(person, f"die {death}")
        assert person.wait_for_exit() == (3 if death == "exit" else -signal.Signals[death])
        end = time.monotonic() + 5
        while not person.modes_are_restored():
            person._read(0.02)
            assert time.monotonic() < end, person.describe()
        person.wait_idle()
        column, row = person.screen.cursor
        assert column == 0
        assert "".join(person.screen.lines()[row:]) == ""
