"""Answers: Markdown that is printed once as it comes, in whole frames, and everything that could go wrong with it."""

import time
from typing import Any

import pytest

from support.model_servers.gemini import ModelServer, error_reply, text_reply
from support.program import script_answer, text_script
from support.terminal.chat import (
    MARKDOWN,
    NARROW,
    WIDE,
    TerminalEnv,
    TerminalSetting,
    all_settings,
    both_settings,
    check_no_strange_output,
    printed_rows,
    quit_program,
    send_prompt,
    terminal_env,
)

__all__ = ["terminal_env"]

SHOWN_WIDE = """\
First heading

Some bold, slanted and coded words in a paragraph that is longer than a row of
any terminal that we try here.

Second heading

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

def twice(x: int) -> int:
    return x * 2  # 二倍

The end."""


@all_settings
def test_markdown_is_printed_once(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    with terminal_env.open_chat(text_script(MARKDOWN, pause=0.004), setting=setting) as user:
        send_prompt(user, "write")
        user.wait_for("\nThe end.", idle=True)
        rows = printed_rows(user)
        shown = "\n".join(rows[rows.index("> write") + 2 :])
        if setting == WIDE:
            assert shown == SHOWN_WIDE
        for words in ("First heading", "below two", "def twice", "plain", "two lines", "The end."):
            assert shown.count(words) == 1
        screen = user.screen
        assert check_no_strange_output(screen)
        assert screen.full_clears == 0
        assert screen.written_outside_of_frames == user.raw.index(b"\x1b[?2026h")
        if setting.is_ascii:
            assert user.raw.isascii()
            assert "??????" in shown
        quit_program(user)


def test_long_answers_go_into_the_scrollback_once(terminal_env: TerminalEnv) -> None:
    lines = [f"Paragraph number {number} of many.\n\n" for number in range(120)]
    with terminal_env.open_chat(text_script("".join(lines) + "The end.")) as user:
        send_prompt(user, "write")
        user.wait_for("\nThe end.", idle=True)
        history = user.screen.history()
        assert [history.count(line.strip()) for line in lines] == [1] * len(lines)
        assert user.screen.full_clears == 0
        assert "Answering" not in history
        quit_program(user)


@both_settings
def test_a_real_stream(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    pieces = [MARKDOWN[at : at + 7] for at in range(0, len(MARKDOWN), 7)]
    with ModelServer([text_reply(*pieces, pause=0.002)]) as server:
        environment = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
        with terminal_env.open_chat("", "-m", "gemini-test", setting=setting, **environment) as user:
            send_prompt(user, "write")
            user.wait_for("\nThe end.", idle=True)
            rows = printed_rows(user)
            shown = "\n".join(rows[rows.index("> write") + 2 :])
            assert setting != WIDE or shown == SHOWN_WIDE
            assert check_no_strange_output(user.screen)


@both_settings
def test_attempts_that_fail_are_counted_down(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    script = script_answer(fail="rate_limited", retry_after=2) + text_script("Hi.")
    with terminal_env.open_chat(script, setting=setting) as user:
        send_prompt(user, "hello")
        user.wait_for("Retrying in")
        user.wait_for("\nHi.", idle=True)
        assert "Retrying" not in user.screen.history()
        quit_program(user)


@both_settings
def test_a_service_that_is_down_is_told_with_what_to_do(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    with ModelServer([error_reply(400, "API key not valid. \x1b[2J Please pass a valid API key.")]) as server:
        environment = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
        with terminal_env.open_chat("", "-m", "gemini-test", setting=setting, **environment) as user:
            send_prompt(user, "hello")
            user.wait_for("valid API key.", idle=True)
            assert "<U+001B>[2J" in "".join(user.text.split("\n")).replace("  ", " ") or setting == NARROW
            assert check_no_strange_output(user.screen)
            quit_program(user)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"say": "Half", "finish": "max_tokens"}, "Response truncated due to token limits."),
        ({"fail": "blocked", "detail": "no such talk"}, "no such talk"),
        ({"say": "Well", "finish": "other", "detail": "tired"}, "The model stopped early: tired."),
    ],
)
def test_ends_that_are_no_ends_are_told(terminal_env: TerminalEnv, fields: dict[str, Any], words: str) -> None:
    with terminal_env.open_chat(script_answer(**fields) + text_script("Later.")) as user:
        send_prompt(user, "hello")
        user.wait_until(lambda screen: words in screen.text() and "● scripted" not in screen.text(), idle=True)
        assert any(row.startswith(("✗ ", "■ ")) for row in printed_rows(user)), user.describe()
        send_prompt(user, "and now?")
        user.wait_for("\nLater.", idle=True)


def test_thoughts_are_seen_while_they_are_thought_and_not_kept(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(script_answer(think="**Looking around** a bit more", say="Hi.", pause=3)) as user:
        send_prompt(user, "hello")
        user.wait_for("Thinking: Looking around")
        user.wait_for("\nHi.", idle=True)
        assert "Looking around" not in user.screen.history()


def test_nothing_is_drawn_more_often_than_can_be_seen(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("word " * 400, pause=0.005)) as user:
        send_prompt(user, "write")
        user.wait_for("> write")
        began, frames = time.monotonic(), user.screen.frames
        user.wait_until(lambda screen: "Answering" not in screen.text(), 30, idle=True)
        assert user.screen.frames - frames <= (time.monotonic() - began) * 45 + 10
