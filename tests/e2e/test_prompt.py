"""What somebody types: lines, pastes, what was typed before, their own editor, in all kinds of letters."""

import json
import os
import time

from wcwidth import wcswidth

from support.program import script_answer, text_script
from support.terminal.chat import (
    NARROW,
    TerminalEnv,
    TerminalSetting,
    all_settings,
    both_settings,
    printed_rows,
    prompt_row,
    quit_program,
    send_prompt,
    terminal_env,
    write_program,
)
from support.terminal.screen import ScreenUser

__all__ = ["terminal_env"]


def editor_row(user: ScreenUser) -> str:
    """The row of the caret."""
    return prompt_row(user.screen)


def wait_for_editor(user: ScreenUser, text: str) -> None:
    user.wait_until(lambda screen: prompt_row(screen) == text, wanted=f"{text!r} in the editor")


@all_settings
def test_the_prompt_is_ready(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    with terminal_env.open_chat(text_script("Hi."), setting=setting) as user:
        screen = user.wait_idle()
        assert (screen.cursor[0], prompt_row(screen)) == (2, ">")
        assert screen.is_cursor_visible
        assert screen.full_clears == 0
        status = "no sandbox · scripted:talk.toml" + (" · ~/project" if setting.columns == 80 else "")
        assert screen.lines()[screen.cursor[1] + 1] == setting.glyphs(status)
        assert screen.text().isascii() == setting.is_ascii
        send_prompt(user, "hello")
        user.wait_for("\nHi.", idle=True)
        assert printed_rows(user)[-3:] == ["> hello", "", "Hi."]
        quit_program(user)


def test_nothing_is_written_while_nobody_does_anything(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("Hi.")) as user:
        before = user.wait_idle().written
        time.sleep(1.2)
        assert user.screen.written == before


def test_who_is_quicker_than_the_start(terminal_env: TerminalEnv) -> None:
    script = script_answer(when="first", say="One.") + script_answer(when="second", say="Two.")
    with terminal_env.open_chat(script, ready=">") as user:
        send_prompt(user, "first")
        send_prompt(user, "second")
        user.wait_for("\nTwo.", idle=True)
        rows = [row for row in printed_rows(user) if row]
        assert rows[rows.index("> first") :] == ["> first", "One.", "> second", "Two."]


@both_settings
def test_several_lines(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    with terminal_env.open_chat(script_answer(when="one\ntwo\nthree\nfour", say="Four."), setting=setting) as user:
        user.type("one\n")
        user.type("two\\")
        user.press("enter")
        user.type("three")
        user.press("m-enter")
        user.type("four")
        user.wait_for("> one\n  two\n  three\n  four")
        assert user.wait_idle().cursor[0] == 6
        user.press("enter")
        user.wait_for("\nFour.", idle=True)
        quit_program(user)


@both_settings
def test_a_large_paste_is_folded_and_sent_whole(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    lines = [f"pasted line {number}" for number in range(40)]
    script = script_answer(when="See: " + "\n".join(lines) + " end", say="Got it.")
    with terminal_env.open_chat(script, setting=setting) as user:
        user.type("See: ")
        user.wait_idle()
        user.paste("\n".join(lines))
        user.wait_for("40 lines")
        assert "pasted line 7" not in user.text
        user.type(" end")
        user.press("enter")
        user.wait_for("\nGot it.", idle=True)
        quit_program(user)


def test_a_small_paste_is_seen_and_not_entered(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(script_answer(when="one\ntwo", say="Both.")) as user:
        user.wait_idle()
        user.paste("one\ntwo")
        user.wait_for("> one\n  two", idle=True)
        user.press("enter")
        user.wait_for("\nBoth.")


def test_what_was_typed_before(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("A.", "B.")) as user:
        send_prompt(user, "first words")
        user.wait_for("\nA.", idle=True)
        send_prompt(user, "second words")
        user.wait_for("\nB.", idle=True)
        user.press("up")
        wait_for_editor(user, "> second words")
        user.press("up")
        wait_for_editor(user, "> first words")
        user.press("down", "down")
        wait_for_editor(user, ">")
        quit_program(user)
    with terminal_env.open_chat(text_script("C.")) as user:
        user.press("up")
        wait_for_editor(user, "> second words")
        user.press("c-c")
        wait_for_editor(user, ">")


@both_settings
def test_search_in_what_was_typed_before(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    with terminal_env.open_chat(text_script("A.", "B.", "C."), setting=setting) as user:
        for number, prompt in enumerate(["make a cake", "count the sheep", "make a cup of tea"]):
            send_prompt(user, prompt)
            user.wait_for(f"\n{'ABC'[number]}.", idle=True)
        user.press("c-r")
        user.wait_for("Search:")
        user.type("make")
        user.wait_for(f"{setting.glyphs('❯')} make a cup of tea")
        user.wait_until_gone("  count the sheep")
        user.press("c-r")
        user.wait_for(f"{setting.glyphs('❯')} make a cake")
        user.press("enter")
        wait_for_editor(user, "> make a cake")
        user.press("c-c", "c-r")
        user.wait_for("Search:", idle=True)
        user.press("escape")
        wait_for_editor(user, ">")


@both_settings
def test_an_editor_of_their_own(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    editor = write_program(terminal_env.base / "editor", 'printf "\\nfrom outside\\n" >> "$1"')
    with terminal_env.open_chat(
        script_answer(when="begun\nfrom outside", say="Read."), setting=setting, EDITOR=editor
    ) as user:
        user.type("begun")
        user.press("c-g")
        user.wait_for("> begun\n  from outside", idle=True)
        user.press("enter")
        user.wait_for("\nRead.", idle=True)
        quit_program(user)


def test_an_editor_that_is_not_there(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("Hi."), EDITOR="/nowhere/editor") as user:
        user.type("begun")
        user.press("c-x", "c-e")
        user.wait_for("/nowhere/editor")
        assert editor_row(user) == "> begun"


def test_vi_keys(terminal_env: TerminalEnv) -> None:
    terminal_env.write_settings(general={"vimMode": True})
    with terminal_env.open_chat(script_answer(when="one 2 three", say="Three.")) as user:
        user.type("one two three")
        user.wait_for("> one two three", idle=True)
        # The cursor moves when the key counts: before, it would be Alt with the next one.
        user.press("escape")
        user.wait_until(lambda screen: screen.cursor[0] == len("> one two thre"), wanted="the cursor at the end")
        user.type("bbce2")
        wait_for_editor(user, "> one 2 three")
        user.press("escape")
        user.wait_until(lambda screen: screen.cursor[0] == len("> one "), wanted="the cursor on the number")
        user.press("enter")
        user.wait_for("\nThree.", idle=True)


WRITINGS = [("日本語", 8), ("👩‍🚀x", 5), ("한글", 6), ("e\u0301a", 4), ("🇩🇪❤️", 6), ("नि", 4), ("שלום", 6)]


def test_the_caret_is_where_the_next_letter_goes(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("Hi.")) as user:
        for text, column in WRITINGS:
            user.wait_idle()
            user.type(text)
            user.wait_until(lambda screen, at=column: screen.cursor[0] == at, wanted=f"column {column} after {text}")
            user.press("backspace", "left", "home")
            user.wait_until(lambda screen: screen.cursor[0] == 2, wanted="the caret at the beginning")
            user.press("c-k")


CLUSTERS = ["👩\u200d👩\u200d👧\u200d👦", "🇩🇪", "👍🏽", "❤\ufe0f\u200d🔥", "e\u0301", "日", "한", "ש", "1\ufe0f\u20e3"]


def test_a_cluster_is_one_character_to_every_key(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("Hi.")) as user:
        for cluster in CLUSTERS:
            width = max(wcswidth(cluster), 1)
            user.type(f"a{cluster}b")
            wait_for_editor(user, f"> a{cluster}b")
            assert user.wait_idle().cursor[0] == 2 + 2 + width
            user.press("left", "left")
            user.wait_until(lambda screen: screen.cursor[0] == 3, wanted=f"the caret before {cluster!r}")
            user.press("right")
            user.wait_until(lambda screen, at=3 + width: screen.cursor[0] == at, wanted=f"it after {cluster!r}")
            user.press("backspace")
            wait_for_editor(user, "> ab")
            user.type(cluster)
            wait_for_editor(user, f"> a{cluster}b")
            user.press("left", "delete")
            wait_for_editor(user, "> ab")
            user.press("c-e", "c-u")
            wait_for_editor(user, ">")


def test_a_sent_cluster_stays_one_character(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("Hi.")) as user:
        send_prompt(user, "".join(f"{cluster} " for cluster in CLUSTERS) + "a\u200db")
        user.wait_for("\nHi.", idle=True)
        assert "> " + " ".join(CLUSTERS) + " a<U+200D>b" in printed_rows(user)


def test_a_wide_letter_does_not_hang_over_the_edge(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("Hi."), setting=TerminalSetting(40, 20, "C.UTF-8")) as user:
        user.wait_idle()
        user.type("x" + "語" * 20)
        user.wait_until(lambda screen: screen.cursor[0] == 6, wanted="the caret in the second row")
        rows = user.screen.lines()
        assert rows[user.screen.cursor[1] - 1] == "> x" + "語" * 18
        assert editor_row(user) == "  語語"


def test_what_is_not_ascii_is_typed_blind_and_sent_right(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(script_answer(when="日本 é", say="Right."), setting=NARROW) as user:
        user.type("日本 é")
        wait_for_editor(user, "> ???? ?")
        assert user.wait_idle().cursor[0] == 8
        user.press("enter")
        user.wait_for("\nRight.")


@both_settings
def test_a_terminal_that_changes_its_size(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    with terminal_env.open_chat(text_script("Hi."), setting=setting) as user:
        user.type("some words that are typed")
        user.wait_idle()
        for columns, rows in ((30, 10), (100, 30), (20, 6), (setting.columns, setting.rows)):
            user.resize(columns, rows)
            user.wait_until(
                lambda screen: screen.lines()[screen.cursor[1]].endswith("typed"), wanted="the words", idle=True
            )
        user.press("enter")
        user.wait_for("\nHi.", idle=True)
        assert user.screen.unknown == []


def test_the_history_is_for_nobody_else(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("Hi.")) as user:
        send_prompt(user, "my words")
        user.wait_for("\nHi.", idle=True)
        quit_program(user)
    (kept,) = (terminal_env.home / ".local" / "state" / "tejat" / "prompts").iterdir()
    assert os.stat(kept).st_mode & 0o777 == 0o600
    assert "my words" in json.dumps(kept.read_text())


def test_the_modes_of_a_vi_person_are_the_same_in_narrow_terminals(terminal_env: TerminalEnv) -> None:
    terminal_env.write_settings(general={"vimMode": True})
    with terminal_env.open_chat(text_script("Hi."), setting=NARROW) as user:
        user.type("abc")
        user.wait_for("> abc", idle=True)
        user.press("escape")
        time.sleep(0.2)
        user.type("0x")
        wait_for_editor(user, "> bc")
