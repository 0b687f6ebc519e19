"""What a conversation begins with: a prompt without a flag, or a chat of Gemini CLI."""

import json

import pytest

from support.program import text_script
from support.terminal.chat import TerminalEnv, list_sessions, quit_program, send_prompt, terminal_env

__all__ = ["terminal_env"]


def test_words_begin_a_conversation(terminal_env: TerminalEnv) -> None:
    script = text_script("First answer.", "Second answer.")
    with terminal_env.open_chat(script, "what", "is", "this?", ready="First answer.") as user:
        assert "what is this?" in user.text
        user.wait_idle()
        send_prompt(user, "and that?")
        user.wait_for("Second answer.", idle=True)
        quit_program(user)


@pytest.mark.parametrize("words", [("-p", "what is this?"), ("what", "is", "this?", "-o", "text")])
def test_a_flag_for_prompt_or_format_answers_and_exits(terminal_env: TerminalEnv, words: tuple[str, ...]) -> None:
    with terminal_env.open_chat(text_script("First answer."), *words, ready="First answer.") as user:
        assert user.wait_for_exit() == 0


def test_a_flag_switches_the_screen_reader_of_the_settings_off(terminal_env: TerminalEnv) -> None:
    terminal_env.write_settings(ui={"accessibility": {"screenReader": True}})
    with terminal_env.open_chat(text_script("Hello."), "--screen-reader=false") as user:
        assert b"\x1b" in user.raw
        quit_program(user)


def test_a_chat_of_gemini_cli_is_continued(terminal_env: TerminalEnv) -> None:
    records = [
        {"sessionId": "s", "projectHash": "h"},
        {"id": "1", "type": "user", "content": "What is in a.txt?"},
        {"id": "2", "type": "gemini", "content": "Apples."},
    ]
    chat = terminal_env.home / "chat.jsonl"
    chat.write_text("\n".join(map(json.dumps, records)))
    with terminal_env.open_chat(text_script("Pears."), "--session-file", "../chat.jsonl") as user:
        user.wait_for("Apples.")
        send_prompt(user, "and in b.txt?")
        user.wait_for("Pears.", idle=True)
        quit_program(user)
    (session,) = list_sessions(terminal_env)
    assert session["title"] == "What is in a.txt?"
