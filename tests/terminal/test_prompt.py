"""What somebody types: lines, pastes, what was typed before, their own editor, in all kinds of letters."""

import json
import os
import time

from program_checks import answer, said
from screens import ScreenPerson
from talks import NARROW, House, Setting, all_settings, both_settings, house, leave, printed, program, send

__all__ = ["house"]


def editor_row(person: ScreenPerson) -> str:
    """The row of the caret."""
    return person.screen.lines()[person.screen.cursor[1]]


def wait_for_editor(person: ScreenPerson, text: str) -> None:
    person.wait_until(lambda screen: screen.lines()[screen.cursor[1]] == text, wanted=f"{text!r} in the editor")


@all_settings
def test_the_prompt_is_ready(house: House, setting: Setting) -> None:
    with house.talk(said("Hi."), setting=setting) as person:
        screen = person.settle()
        assert screen.cursor == (2, screen.text().split("\n").index(">"))
        assert screen.is_cursor_visible
        assert screen.full_clears == 0
        status = "scripted:../talk.toml · ~/project" + (" · context 0 %" if setting.columns == 80 else "")
        assert screen.lines()[screen.cursor[1] + 1] == setting.signs(status)
        assert screen.text().isascii() == setting.is_ascii
        send(person, "hello")
        person.wait_for("\nHi.", idle=True)
        assert printed(person)[-3:] == ["> hello", "", "Hi."]
        leave(person)


def test_nothing_is_written_while_nobody_does_anything(house: House) -> None:
    with house.talk(said("Hi.")) as person:
        before = person.settle().written
        time.sleep(1.2)
        assert person.screen.written == before


def test_who_is_quicker_than_the_start(house: House) -> None:
    script = answer(when="first", say="One.") + answer(when="second", say="Two.")
    with house.talk(script, ready=">") as person:
        send(person, "first")
        send(person, "second")
        person.wait_for("\nTwo.", idle=True)
        assert [row for row in printed(person)[1:] if row] == ["> first", "One.", "> second", "Two."]


@both_settings
def test_several_lines(house: House, setting: Setting) -> None:
    with house.talk(answer(when="one\ntwo\nthree\nfour", say="Four."), setting=setting) as person:
        person.type("one\n")
        person.type("two\\")
        person.press("enter")
        person.type("three")
        person.press("m-enter")
        person.type("four")
        person.wait_for("> one\n  two\n  three\n  four")
        assert person.settle().cursor[0] == 6
        person.press("enter")
        person.wait_for("\nFour.", idle=True)
        leave(person)


@both_settings
def test_a_large_paste_is_folded_and_sent_whole(house: House, setting: Setting) -> None:
    lines = [f"pasted line {number}" for number in range(40)]
    script = answer(when="See: " + "\n".join(lines) + " end", say="Got it.")
    with house.talk(script, setting=setting) as person:
        person.type("See: ")
        person.settle()
        person.paste("\n".join(lines))
        person.wait_for("40 lines")
        assert "pasted line 7" not in person.text
        person.type(" end")
        person.press("enter")
        person.wait_for("\nGot it.", idle=True)
        leave(person)


def test_a_small_paste_is_seen_and_not_entered(house: House) -> None:
    with house.talk(answer(when="one\ntwo", say="Both.")) as person:
        person.settle()
        person.paste("one\ntwo")
        person.wait_for("> one\n  two", idle=True)
        person.press("enter")
        person.wait_for("\nBoth.")


def test_what_was_typed_before(house: House) -> None:
    with house.talk(said("A.", "B.")) as person:
        send(person, "first words")
        person.wait_for("\nA.", idle=True)
        send(person, "second words")
        person.wait_for("\nB.", idle=True)
        person.press("up")
        wait_for_editor(person, "> second words")
        person.press("up")
        wait_for_editor(person, "> first words")
        person.press("down", "down")
        wait_for_editor(person, ">")
        leave(person)
    with house.talk(said("C.")) as person:
        person.press("up")
        wait_for_editor(person, "> second words")
        person.press("c-c")
        wait_for_editor(person, ">")


@both_settings
def test_search_in_what_was_typed_before(house: House, setting: Setting) -> None:
    with house.talk(said("A.", "B.", "C."), setting=setting) as person:
        for number, prompt in enumerate(["make a cake", "count the sheep", "make a cup of tea"]):
            send(person, prompt)
            person.wait_for(f"\n{'ABC'[number]}.", idle=True)
        person.press("c-r")
        person.wait_for("Search:")
        person.type("make")
        person.wait_for(f"{setting.signs('❯')} make a cup of tea")
        person.wait_until_gone("  count the sheep")
        person.press("c-r")
        person.wait_for(f"{setting.signs('❯')} make a cake")
        person.press("enter")
        wait_for_editor(person, "> make a cake")
        person.press("c-c", "c-r")
        person.wait_for("Search:", idle=True)
        person.press("escape")
        wait_for_editor(person, ">")


@both_settings
def test_an_editor_of_their_own(house: House, setting: Setting) -> None:
    editor = program(house.base / "editor", 'printf "\\nfrom outside\\n" >> "$1"')
    with house.talk(answer(when="begun\nfrom outside", say="Read."), setting=setting, EDITOR=editor) as person:
        person.type("begun")
        person.press("c-g")
        person.wait_for("> begun\n  from outside", idle=True)
        person.press("enter")
        person.wait_for("\nRead.", idle=True)
        leave(person)


def test_an_editor_that_is_not_there(house: House) -> None:
    with house.talk(said("Hi."), EDITOR="/nowhere/editor") as person:
        person.type("begun")
        person.press("c-x", "c-e")
        person.wait_for("/nowhere/editor")
        assert editor_row(person) == "> begun"


def test_vi_keys(house: House) -> None:
    house.settings(general={"vimMode": True})
    with house.talk(answer(when="one 2 three", say="Three.")) as person:
        person.type("one two three")
        person.wait_for("> one two three", idle=True)
        person.press("escape")
        time.sleep(0.2)
        person.type("bbce2")
        person.press("escape")
        wait_for_editor(person, "> one 2 three")
        time.sleep(0.2)  # else it is Alt with Enter
        person.press("enter")
        person.wait_for("\nThree.", idle=True)


WRITINGS = [("日本語", 8), ("👩‍🚀x", 5), ("한글", 6), ("e\u0301a", 4), ("🇩🇪❤️", 6), ("नि", 4), ("שלום", 6)]


def test_the_caret_is_where_the_next_letter_goes(house: House) -> None:
    with house.talk(said("Hi.")) as person:
        for text, column in WRITINGS:
            person.settle()
            person.type(text)
            person.wait_until(lambda screen, at=column: screen.cursor[0] == at, wanted=f"column {column} after {text}")
            person.press("backspace", "left", "home")
            person.wait_until(lambda screen: screen.cursor[0] == 2, wanted="the caret at the beginning")
            person.press("c-k")


def test_a_wide_letter_does_not_hang_over_the_edge(house: House) -> None:
    with house.talk(said("Hi."), setting=Setting(40, 20, "C.UTF-8")) as person:
        person.settle()
        person.type("x" + "語" * 20)
        person.wait_until(lambda screen: screen.cursor[0] == 6, wanted="the caret in the second row")
        rows = person.screen.lines()
        assert rows[person.screen.cursor[1] - 1] == "> x" + "語" * 18
        assert editor_row(person) == "  語語"


def test_what_is_not_ascii_is_typed_blind_and_sent_right(house: House) -> None:
    with house.talk(answer(when="日本 é", say="Right."), setting=NARROW) as person:
        person.type("日本 é")
        wait_for_editor(person, "> ???? ?")
        assert person.settle().cursor[0] == 8
        person.press("enter")
        person.wait_for("\nRight.")


@both_settings
def test_a_terminal_that_changes_its_size(house: House, setting: Setting) -> None:
    with house.talk(said("Hi."), setting=setting) as person:
        person.type("some words that are typed")
        person.settle()
        for columns, rows in ((30, 10), (100, 30), (20, 6), (setting.columns, setting.rows)):
            person.resize(columns, rows)
            person.wait_until(
                lambda screen: screen.lines()[screen.cursor[1]].endswith("typed"), wanted="the words", idle=True
            )
        person.press("enter")
        person.wait_for("\nHi.", idle=True)
        assert person.screen.unknown == []


def test_the_history_is_for_nobody_else(house: House) -> None:
    with house.talk(said("Hi.")) as person:
        send(person, "my words")
        person.wait_for("\nHi.", idle=True)
        leave(person)
    (kept,) = (house.home / ".local" / "state" / "tejat" / "prompts").iterdir()
    assert os.stat(kept).st_mode & 0o777 == 0o600
    assert "my words" in json.dumps(kept.read_text())


def test_the_modes_of_a_vi_person_are_the_same_in_narrow_terminals(house: House) -> None:
    house.settings(general={"vimMode": True})
    with house.talk(said("Hi."), setting=NARROW) as person:
        person.type("abc")
        person.wait_for("> abc", idle=True)
        person.press("escape")
        time.sleep(0.2)
        person.type("0x")
        wait_for_editor(person, "> bc")
