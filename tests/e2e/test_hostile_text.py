"""Hostile strings in every place the user reads: nothing is obeyed, nothing leaves its row."""

import json
import subprocess
from typing import Any

import pytest

from support.external_tools import hostile_server, initialize_fault, tools_fault
from support.model_servers.gemini import ModelServer, error_reply
from support.program import script_answer, text_script
from support.terminal.chat import (
    NARROW,
    SHELL,
    WIDE,
    TerminalEnv,
    TerminalSetting,
    call_answer,
    check_no_strange_output,
    quit_program,
    send_prompt,
    shown_text,
    terminal_env,
)
from support.terminal.screen import ScreenUser

__all__ = ["terminal_env"]

EVIL = (
    "\x1b[2J\x1b[H\x1b[31m\x1b]0;owned\x07\x1b]8;;http://evil/\x1b\\\x1b]52;c;b3duZWQ=\x07\x1bPq\x1b\\\x9b2J\x9d0;x\x9c"
    "\rover\b\b\bwritten\u202e\u2066\u200b\u200d\ufeff\U000e0041\U000e007f\x00\x7f\x85"
)
both_sizes = pytest.mark.parametrize("setting", [WIDE, TerminalSetting(40, 20, "C.UTF-8")], ids=["80", "40"])


def unharmed(user: ScreenUser) -> bool:
    screen = user.wait_idle()
    assert check_no_strange_output(screen)
    assert screen.full_clears == 0
    assert not screen.is_alternate
    for hidden in "\u202e\u2066\u200b\ufeff\U000e0041":
        assert hidden not in screen.history()
    assert "Tejat " in screen.history().split("\n")[0]
    return True


@both_sizes
def test_in_words_and_thoughts_of_a_model(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    evil = EVIL.replace("\x00", "")
    script = script_answer(
        think=f"**{evil}** {evil}", say=f"a {evil} `{evil}`\n\n# {evil}\n\n- {evil}\n\n| {evil} | b |\n|--|--|\n"
    )
    code = text_script(f"```{evil}\n{evil}\n```\n\n[{evil}](http://x/{evil})\n\n> {evil}\n\nThe end.")
    with terminal_env.open_chat(script + code, setting=setting) as user:
        send_prompt(user, "one")
        user.wait_idle()
        send_prompt(user, "two")
        user.wait_for("The end.", idle=True)
        assert unharmed(user)
        quit_program(user)


@both_sizes
def test_in_names_arguments_and_results_of_calls(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    evil = EVIL.replace("\x00", "")
    name = f"n{evil.replace('/', '')}.txt"
    (terminal_env.project / name).write_text(f"old {evil}\n", encoding="utf-8", newline="")
    script = call_answer(
        (evil[:60], {"a": evil}),
        ("list_directory", {"path": "${root}"}),
        ("read_file", {"path": evil}),
        ("write_file", {"file_path": f"${{root}}/{name}", "content": f"new {evil}\n"}),
        (SHELL, {"command": "cat *.txt; ls; ls /no/$(cat *.txt) ", "description": evil}),
    )
    with terminal_env.open_chat(script + text_script("The end."), "-y", setting=setting) as user:
        send_prompt(user, evil.replace("\x1b", "").replace("\r", "").replace("\x85", "").replace("\x7f", "") + "x")
        user.wait_for("The end.", idle=True)
        assert unharmed(user)
        user.press("c-o")
        assert unharmed(user)


@both_sizes
def test_in_questions(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    evil = EVIL.replace("\x00", "")
    (terminal_env.project / "a.txt").write_text(f"old {evil}\n", newline="")
    change = {"file_path": "${root}/a.txt", "content": f"new {evil}\n" * 3}
    script = (
        call_answer(("write_file", change))
        + text_script("One.")
        + call_answer((SHELL, {"command": f"echo {evil}", "description": evil}))
    )
    with terminal_env.open_chat(script, setting=setting) as user:
        send_prompt(user, "one")
        user.wait_for("Enter to confirm", idle=True)
        assert unharmed(user)
        user.press("escape")
        user.wait_until_gone("Enter to confirm", idle=True)
        send_prompt(user, "two")
        user.wait_idle()
        assert unharmed(user)


def test_in_branches_and_folders(terminal_env: TerminalEnv) -> None:
    name = "evil\u202e\u200bname"
    subprocess.run(
        ["git", "init", "-q", str(terminal_env.project)], check=True, env={"PATH": "/usr/bin:/bin", "HOME": "/"}
    )
    (terminal_env.project / ".git" / "HEAD").write_text(f"ref: refs/heads/{name}\x1b]0;x\x07\n")
    with terminal_env.open_chat(text_script("Hi.")) as user:
        assert unharmed(user)


@both_sizes
def test_in_servers(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    evil = EVIL.replace("\x00", "")
    tools = tools_fault(
        {"name": "t", "title": evil, "description": evil, "inputSchema": {"type": "object", "title": evil}},
        {"name": evil[:40], "description": evil},
    )
    words = initialize_fault(evil, tools={}, prompts={})
    terminal_env.write_settings(
        mcpServers={
            "helper": hostile_server(tools),
            "wordy": hostile_server(words),
            evil[:20]: hostile_server(),
            "dead": hostile_server("die=start", f"words={evil}"),
        }
    )
    script = call_answer(("mcp_helper_t", {"a": evil})) + text_script("The end.")
    with terminal_env.open_chat(script, "--trust", setting=setting) as user:
        send_prompt(user, "/mcp desc")
        user.wait_for("helper", idle=True)
        assert unharmed(user)
        send_prompt(user, "go")
        user.wait_for("Enter to confirm", idle=True)
        assert unharmed(user)


def test_in_errors_of_a_service(terminal_env: TerminalEnv) -> None:
    with ModelServer([error_reply(400, EVIL), error_reply(400, EVIL * 30)]) as server:
        environment: dict[str, Any] = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
        with terminal_env.open_chat("", "-m", "gemini-test", **environment) as user:
            send_prompt(user, "hello")
            user.wait_for("owned", idle=True)
            send_prompt(user, "again")
            assert unharmed(user)


def test_in_commands_of_others_and_titles(terminal_env: TerminalEnv) -> None:
    evil = EVIL.replace("\x00", "").replace("/", "")
    commands = terminal_env.home / ".gemini" / "commands"
    commands.mkdir(parents=True, mode=0o700)
    described = json.dumps(evil.encode("ascii", "ignore").decode())
    (commands / f"evil{evil[:30]}.toml").write_text('prompt = "x"\n')
    (commands / "evil.toml").write_text(f'prompt = "x"\ndescription = {described}\n'.replace("\\u007f", ""))
    with terminal_env.open_chat(text_script("Hi.", "Ho.")) as user:
        user.type("/evil")
        user.wait_for("/evil", idle=True)
        assert unharmed(user)
        user.press("c-c")
        user.paste(f"a title {evil}")
        user.press("enter")
        user.wait_for("\nHi.", idle=True)
        assert unharmed(user)
        quit_program(user)
    with terminal_env.open_chat(text_script("Hi.")) as user:
        send_prompt(user, "/resume")
        user.wait_for("a title", idle=True)
        assert unharmed(user)


def test_blanks_without_end(terminal_env: TerminalEnv) -> None:
    blanks = "x" + " " * 3000 + "y"
    script = call_answer((SHELL, {"command": f"echo '{blanks}'"})) + text_script("The end.")
    with terminal_env.open_chat(script, "-y", setting=NARROW) as user:
        send_prompt(user, "go")
        user.wait_for("The end.", idle=True)
        assert unharmed(user)
        assert shown_text(user).count("The end.") == 1
