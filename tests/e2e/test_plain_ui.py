"""Without drawing: the same talks in lines, with words for signs, numbers for choices and no escape sequence at all."""

import os
import subprocess
import sys
import time
from typing import Any

import pytest

from support.program import script_answer, text_script
from support.terminal.chat import (
    SHELL,
    TerminalEnv,
    call_answer,
    send_prompt,
    shell_answer,
    terminal_env,
    wait_for_file,
    wait_until_dead,
)
from support.terminal.screen import ScreenUser

__all__ = ["terminal_env"]

WAYS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "flag": (("--screen-reader",), {}),
    "dumb": ((), {"TERM": "dumb"}),
    "setting": ((), {}),
}
READY = "Ctrl-D to exit.\n>"


def has_no_escapes(user: ScreenUser) -> bool:
    assert b"\x1b" not in user.raw
    assert b"\b" not in user.raw
    assert user.raw.replace(b"\r\n", b"\n").count(b"\r") == 0
    return True


@pytest.mark.parametrize("way", WAYS)
def test_a_talk_in_lines(terminal_env: TerminalEnv, way: str) -> None:
    words, environment = WAYS[way]
    if way == "setting":
        terminal_env.write_settings(ui={"accessibility": {"screenReader": True}})
    script = (
        text_script("# Hello\n\nSome **words**.")
        + call_answer(("list_directory", {"path": "${root}"}))
        + text_script("Bye.")
    )
    with terminal_env.open_chat(script, *words, ready=READY, **environment) as user:
        send_prompt(user, "hello")
        user.wait_for("words", idle=True)
        send_prompt(user, "and now?")
        user.wait_for("Listed .")
        user.wait_for("Bye.", idle=True)
        assert has_no_escapes(user)
        assert user.raw.isascii()
        user.press("c-d")
        assert user.wait_for_exit() == 0
        assert user.modes_are_restored()


def test_questions_are_answered_by_letters_or_numbers(terminal_env: TerminalEnv) -> None:
    write = ("write_file", {"file_path": "${root}/a.txt", "content": "x\n"})
    script = call_answer(write) + call_answer(write) + text_script("Done.")
    with terminal_env.open_chat(script, "--screen-reader", ready=READY) as user:
        send_prompt(user, "write it")
        user.wait_for("Your answer (", idle=True)
        send_prompt(user, "maybe")
        user.wait_until(lambda screen: screen.history().count("Your answer (") == 2, wanted="the question again")
        send_prompt(user, "n")
        user.wait_for("Create a.txt +1 (not run: you said no)")
        user.wait_until(lambda screen: screen.history().count("Your answer (") == 3, wanted="the question")
        send_prompt(user, "y")
        user.wait_for("Created a.txt +1")
        user.wait_for("Done.", idle=True)
        assert has_no_escapes(user)
    assert (terminal_env.project / "a.txt").read_text() == "x\n"


def test_a_risky_one_says_so_and_needs_a_word(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(
        shell_answer("rm -rf build") + text_script("Done."), "--screen-reader", ready=READY
    ) as user:
        send_prompt(user, "clean")
        user.wait_for("Your answer (", idle=True)
        assert "Risk: deletes or overwrites files" in user.screen.history()
        send_prompt(user, "")
        user.wait_idle()
        assert "Ran rm" not in user.screen.history()
        assert has_no_escapes(user)


def test_choices_are_numbered(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("Hi."), "--screen-reader", ready=READY) as user:
        send_prompt(user, "/theme")
        user.wait_for("  1 ")
        user.wait_for("Your choice, 1 to ", idle=True)
        send_prompt(user, "4")
        user.wait_idle()
        send_prompt(user, "hello")
        user.wait_for("Hi.", idle=True)
        assert has_no_escapes(user)


def test_shell_lines_and_commands(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("Hi."), "--screen-reader", ready=READY) as user:
        send_prompt(user, "!echo from the shell; printf '\\033[2J\\033]0;x\\007'")
        user.wait_for("\nfrom the shell", idle=True)
        for line, words in (("/help", "/help all"), ("/tools", "ReadFile"), ("/about", "Session"), ("/hepl", "/help?")):
            send_prompt(user, line)
            user.wait_for(words, idle=True)
        assert has_no_escapes(user)


def test_interrupts(terminal_env: TerminalEnv, mark: str) -> None:
    script = call_answer((SHELL, {"command": f"touch begun; sleep {mark}"})) + text_script("Still here.")
    with terminal_env.open_chat(script, "--screen-reader", "-y", ready=READY) as user:
        send_prompt(user, "go")
        wait_for_file(terminal_env.project / "begun")
        user.press("c-c")
        user.wait_for("Stopped", idle=True)
        wait_until_dead(mark)
        time.sleep(0.1)
        send_prompt(user, "are you there?")
        user.wait_for("Still here.", idle=True)
        assert has_no_escapes(user)


def test_what_is_typed_early_is_no_answer(terminal_env: TerminalEnv) -> None:
    write = ("write_file", {"file_path": "${root}/a.txt", "content": "x\n"})
    command = "touch begun; until test -e go; do sleep 0.02; done"
    script = shell_answer(command) + call_answer(write) + text_script("Done.") + script_answer(when="y", say="Yes?")
    with terminal_env.open_chat(script, "--screen-reader", "--allowed-tools", "run_shell_command", ready=READY) as user:
        send_prompt(user, "go")
        user.wait_for("Your answer (")
        send_prompt(user, "y")
        wait_for_file(terminal_env.project / "begun")
        send_prompt(user, "y")
        (terminal_env.project / "go").touch()
        user.wait_until(lambda screen: screen.history().count("Your answer (") == 2, wanted="the question", idle=True)
        assert not (terminal_env.project / "a.txt").exists()


def test_hostile_words_in_lines(terminal_env: TerminalEnv) -> None:
    script = text_script("x\x1b]0;owned\x07\x1b[2J\u202ey\rz\x9b2J\x08")
    with terminal_env.open_chat(script, "--screen-reader", ready=READY) as user:
        send_prompt(user, "hello")
        user.wait_for("<U+001B>[2J<U+202E>y", idle=True)
        assert has_no_escapes(user)
        assert "\u202e" not in user.screen.history()


def test_without_a_terminal_for_output(terminal_env: TerminalEnv) -> None:
    """Somebody pipes a prompt in: one answer, plain."""
    terminal_env.script(text_script("Hi **there**."))
    done = subprocess.run(
        [sys.executable, "-m", "tejat", "-m", "scripted:../talk.toml"],
        input="hello\n",
        capture_output=True,
        text=True,
        cwd=terminal_env.project,
        env={"HOME": str(terminal_env.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color"},
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "Hi **there**.\n")
    assert "\x1b" not in done.stdout + done.stderr
