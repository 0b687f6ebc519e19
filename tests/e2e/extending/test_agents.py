"""Sub-agents as users meet them: in the list, in the prompt, on the screen and in questions."""

import time
from pathlib import Path

import pytest

from support.program import ProgramEnv
from support.terminal.chat import (
    NARROW,
    WIDE,
    TerminalEnv,
    TerminalSetting,
    both_settings,
    is_shown,
    printed_rows,
    quit_program,
    send_prompt,
    terminal_env,
    wait_for_words,
)
from support.terminal.screen import ScreenUser

__all__ = ["terminal_env"]

AGENT = """---
name: reviewer
description: Reviews code.
tools: ["*"]
permissionMode: bypassPermissions
mcp_servers: {own: {command: "false", trust: true}}
---
Review the code.
"""
SCRIPT = """
[[answer]]
[[answer.call]]
name = "invoke_agent"
args = { agent_name = "reviewer", prompt = "Review all files.\\nReport bugs." }

[[answer]]
purpose = "agent:reviewer"
usage = { prompt = 900, output = 40 }
[[answer.call]]
name = "read_file"
args = { path = "${root}/a.py" }

[[answer]]
purpose = "agent:reviewer"
[[answer.call]]
name = "run_shell_command"
args = { command = "touch made" }

[[answer]]
purpose = "agent:reviewer"
[[answer.call]]
name = "complete_task"
args = { result = "No bugs." }

[[answer]]
say = "All is well."
"""
LAST_HINT = "Enter to confirm"


def write_agent(env: ProgramEnv | TerminalEnv, text: str = AGENT) -> None:
    path = env.home / ".gemini" / "agents" / "reviewer.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    (env.project / "a.py").write_text("print('a')\n")


def wait_for_question(user: ScreenUser) -> None:
    user.wait_until(lambda screen: LAST_HINT in " ".join(screen.text().split()), wanted=LAST_HINT)
    time.sleep(0.35)


def without_server() -> str:
    return "\n".join(line for line in AGENT.splitlines() if not line.startswith("mcp_servers"))


@both_settings
def test_a_run_with_a_question(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    write_agent(terminal_env, without_server())
    with terminal_env.open_chat(SCRIPT, setting=setting) as user:
        send_prompt(user, "go")
        wait_for_question(user)
        assert is_shown(user, "Asked by the agent reviewer#1: Review all files.")
        long = ("Allow for this run of reviewer#1", "No, and stop reviewer#1", "No, and stop everything")
        for choice in long if setting is WIDE else ("this run", "stop agent"):
            assert is_shown(user, choice)
        user.press("y")
        wait_for_words(user, "All is well.", idle=True)
        rows = "\n".join(printed_rows(user))
        assert "ok reviewer" in rows
        assert "940 tokens" in rows
        assert "invoke_agent" not in rows
        assert (terminal_env.project / "made").exists()
        user.press("c-o")
        wait_for_words(user, "Ran touch made")
        assert is_shown(user, "Read a.py")
        quit_program(user)


def test_only_the_agent_that_asks_is_stopped(terminal_env: TerminalEnv) -> None:
    write_agent(terminal_env, without_server())
    with terminal_env.open_chat(SCRIPT) as user:
        send_prompt(user, "go")
        wait_for_question(user)
        user.press("x")
        wait_for_words(user, "All is well.", idle=True)
        assert any("ABORTED reviewer" in row for row in printed_rows(user))
        assert not (terminal_env.project / "made").exists()
        quit_program(user)


@pytest.mark.parametrize("setting", [WIDE, NARROW], ids=lambda setting: setting.name)
def test_completion_behind_files(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    write_agent(terminal_env, without_server())
    (terminal_env.project / "review_notes.txt").write_text("Notes.\n")
    with terminal_env.open_chat('[[answer]]\nwhen = "@reviewer"\nsay = "Chosen."\n', setting=setting) as user:
        user.type("@revie")
        wait_for_words(user, "@reviewer Reviews code.")
        assert is_shown(user, "review_notes.txt")
        user.press("escape")
        user.type("wer check")
        user.press("enter")
        wait_for_words(user, "Chosen.", idle=True)
        quit_program(user)


def test_a_file_gives_an_agent_no_rights(tmp_path: Path) -> None:
    env = ProgramEnv(tmp_path)
    write_agent(env, without_server())
    done = env.run("-m", env.script(SCRIPT), "-p", "go", "-o", "json", "--sandbox", "off")
    assert not (env.project / "made").exists()
    assert [denial["agent_id"] for denial in done.json["permission_denials"]] == ["reviewer#1"]
    assert done.json["stats"]["agents"]["byName"]["reviewer"]["runs"] == 1
    assert "permissionMode bypassPermissions has no effect" in done.stderr + done.stdout


def test_the_lists_need_no_model(tmp_path: Path) -> None:
    env = ProgramEnv(tmp_path)
    write_agent(env)
    done = env.run("agents", "list")
    assert done.code == 0
    assert "reviewer" in done.stdout
    assert "trust has no effect" in done.stderr
