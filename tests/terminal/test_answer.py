"""Answers: Markdown that is printed once as it comes, in whole frames, and everything that could go wrong with it."""

import time

import pytest

from model_server import ModelServer, refuse, say
from program_checks import answer, said
from talks import (
    MARKDOWN,
    NARROW,
    WIDE,
    House,
    Setting,
    all_settings,
    both_settings,
    house,
    is_tidy,
    leave,
    printed,
    send,
)

__all__ = ["house"]

SHOWN_WIDE = """\
# First heading

Some bold, slanted and `coded` words in a paragraph that is longer than a row of
any terminal that we try here.

## Second heading

• one
• two
  • below two
• three

1. first
2. second

名前   │ value
───────┼──────
日本語 │     1
plain  │    22

│ A quote of
│ two lines

── python
def twice(x: int) -> int:
    return x * 2  # 二倍
──

The end."""


@all_settings
def test_markdown_is_printed_once(house: House, setting: Setting) -> None:
    with house.talk(said(MARKDOWN, pause=0.004), setting=setting) as person:
        send(person, "write")
        person.wait_for("\nThe end.", idle=True)
        rows = printed(person)
        shown = "\n".join(rows[rows.index("> write") + 2 :])
        if setting == WIDE:
            assert shown == SHOWN_WIDE
        for words in ("First heading", "below two", "def twice", "plain", "two lines", "The end."):
            assert shown.count(words) == 1
        screen = person.screen
        assert is_tidy(screen)
        assert screen.full_clears == 0
        assert screen.written_outside_of_frames == person.raw.index(b"\x1b[?2026h")
        if setting.is_ascii:
            assert person.raw.isascii()
            assert "??????" in shown
        leave(person)


def test_long_answers_go_into_the_scrollback_once(house: House) -> None:
    lines = [f"Paragraph number {number} of many.\n\n" for number in range(120)]
    with house.talk(said("".join(lines) + "The end.")) as person:
        send(person, "write")
        person.wait_for("\nThe end.", idle=True)
        history = person.screen.history()
        assert [history.count(line.strip()) for line in lines] == [1] * len(lines)
        assert person.screen.full_clears == 0
        assert "Answering" not in history
        leave(person)


@both_settings
def test_a_real_stream(house: House, setting: Setting) -> None:
    pieces = [MARKDOWN[at : at + 7] for at in range(0, len(MARKDOWN), 7)]
    with ModelServer([say(*pieces, pause=0.002)]) as server:
        environment = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
        with house.talk("", "-m", "gemini-test", setting=setting, **environment) as person:
            send(person, "write")
            person.wait_for("\nThe end.", idle=True)
            rows = printed(person)
            shown = "\n".join(rows[rows.index("> write") + 2 :])
            assert setting != WIDE or shown == SHOWN_WIDE
            assert is_tidy(person.screen)


@both_settings
def test_attempts_that_fail_are_counted_down(house: House, setting: Setting) -> None:
    script = answer(fail="rate_limited", retry_after=2) + said("Hi.")
    with house.talk(script, setting=setting) as person:
        send(person, "hello")
        person.wait_for("Attempt 1 of")
        person.wait_for("Next try in 2 s")
        person.wait_for("Next try in 1 s")
        person.wait_for("\nHi.", idle=True)
        assert "Attempt" not in person.screen.history()
        leave(person)


@both_settings
def test_a_service_that_is_down_is_told_with_what_to_do(house: House, setting: Setting) -> None:
    with ModelServer([refuse(400, "API key not valid. \x1b[2J Please pass a valid API key.")]) as server:
        environment = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
        with house.talk("", "-m", "gemini-test", setting=setting, **environment) as person:
            send(person, "hello")
            person.wait_for("API key not valid.", idle=True)
            assert "<U+001B>[2J" in "".join(person.text.split("\n")).replace("  ", " ") or setting == NARROW
            assert is_tidy(person.screen)
            leave(person)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"say": "Half", "finish": "max_tokens"}, "Response truncated due to token limits."),
        ({"fail": "blocked", "detail": "no such talk"}, "no such talk"),
        ({"fail": "context_full"}, ""),
        ({"say": "Well", "finish": "other", "detail": "tired"}, "The model stopped early: tired."),
    ],
)
def test_ends_that_are_no_ends_are_told(house: House, fields: dict[str, object], words: str) -> None:
    with house.talk(answer(**fields) + said("Later.")) as person:
        send(person, "hello")
        person.wait_until(lambda screen: words in screen.text() and "● scripted" not in screen.text(), idle=True)
        assert any(row.startswith(("✗ ", "■ ")) for row in printed(person)), person.picture()
        send(person, "and now?")
        person.wait_for("\nLater.", idle=True)


def test_thoughts_are_seen_while_they_are_thought_and_not_kept(house: House) -> None:
    with house.talk(answer(think="**Looking around** a bit more", say="Hi.", pause=0.15)) as person:
        send(person, "hello")
        person.wait_for("Thinking: Looking around")
        person.wait_for("\nHi.", idle=True)
        assert "Looking around" not in person.screen.history()


def test_nothing_is_drawn_more_often_than_can_be_seen(house: House) -> None:
    with house.talk(said("word " * 400, pause=0.005)) as person:
        send(person, "write")
        person.wait_for("> write")
        began, frames = time.monotonic(), person.screen.frames
        person.wait_until(lambda screen: "Answering" not in screen.text(), 30, idle=True)
        assert person.screen.frames - frames <= (time.monotonic() - began) * 45 + 10
