"""Rules about scripts of skills, and the tools that skills ask for, from the outside."""

import time
from pathlib import Path

import pytest

from support.program import ProgramEnv, script_answer, text_script
from support.skills import write_script_skill, write_skill
from support.terminal.chat import TerminalEnv, call_answer, is_shown, send_prompt, terminal_env
from support.terminal.screen import ScreenUser

__all__ = ["terminal_env"]

SHELL = "run_shell_command"


@pytest.fixture
def env(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path.resolve())


def write_rule(home: Path, text: str) -> None:
    policies = home / ".config/tejat/policies"
    policies.mkdir(parents=True, exist_ok=True)
    (policies / "mine.toml").write_text(f"[[rule]]\n{text}\n")


def run_script(env: ProgramEnv, command: str) -> dict[str, str]:
    """The result of a command that the model runs after it activated the project's skill."""
    calls = [("activate_skill", {"name": "tool"}), (SHELL, {"command": command})]
    model = env.script("".join(script_answer(calls=[call]) for call in calls) + script_answer(say="done"))
    done = env.run("-m", model, "-p", "go", "-o", "stream-json")
    assert done.code == 0, done.stderr
    found = [line for line in done.lines if line["type"] == "tool_result"]
    assert len(found) == 2
    return found[1]


def test_a_pinned_script_runs_headless_and_a_changed_one_does_not(env: ProgramEnv) -> None:
    directory = write_script_skill(env.project / ".agents/skills/tool")
    command = f"{directory}/scripts/run.sh one"
    assert env.run("trust", "--yes").code == 0
    assert run_script(env, command)["status"] == "error"
    write_rule(env.home, 'skill = "project:tool"\ndecision = "allow"')
    result = run_script(env, command)
    assert result["status"] == "success"
    assert "ran one" in result["content"]
    assert run_script(env, f"{command}; touch x")["status"] == "error"
    write_rule(env.home, 'skill = "tool"\ndecision = "allow"')
    assert run_script(env, command)["status"] == "error"


def test_a_script_leaves_nothing_beside_itself(env: ProgramEnv) -> None:
    """Compiled modules would change what was agreed to."""
    directory = write_script_skill(env.project / ".agents/skills/tool")
    (directory / "scripts/more.py").write_text("import part\nprint('imported')\n")
    (directory / "scripts/part.py").write_text("")
    assert env.run("trust", "--yes").code == 0
    write_rule(env.home, 'skill = "project:tool"\ndecision = "allow"')
    for _ in range(2):
        assert "imported" in run_script(env, f"python3 {directory}/scripts/more.py")["content"]


def test_explain_and_list(env: ProgramEnv) -> None:
    directory = write_script_skill(env.project / ".agents/skills/tool")
    assert env.run("trust", "--yes").code == 0
    write_rule(env.home, 'skill = "project:tool"\ndecision = "allow"')
    explained = env.run("policy", "explain", SHELL, f"command=bash {directory}/scripts/run.sh")
    assert explained.stdout.startswith("allow: The rule `allow run_shell_command: scripts of the skill project:tool`")
    assert f"  scripts of skills in the line:\n  └─ {directory}/scripts/run.sh (project:tool)\n" in explained.stdout
    explained = env.run("policy", "explain", SHELL, f"command={directory}/scripts/run.sh /etc/x", "--json")
    assert explained.json["decision"] == "ask"
    assert "/etc/x may be outside the workspace" in explained.json["reason"]
    assert explained.json["scripts"] == [f"{directory}/scripts/run.sh (project:tool)"]
    listed = env.run("policy", "list")
    assert "allow run_shell_command: scripts of the skill project:tool" in listed.stdout
    assert "└─ only while all files of the skill are as you agreed to" in listed.stdout


def test_a_rule_for_an_unknown_skill_is_reported(env: ProgramEnv) -> None:
    write_rule(env.home, 'skill = "missing"\ndecision = "allow"')
    done = env.run("-m", env.script(text_script("hi")), "-p", "go")
    assert "mine.toml:1: unknown skill 'missing', so `allow run_shell_command: scripts of the skill missing` never" in (
        " ".join(done.stderr.split())
    )


def press(user: ScreenUser, wanted: str, key: str) -> None:
    user.wait_until(lambda screen: wanted in " ".join(screen.text().split()), wanted=wanted)
    time.sleep(0.4)
    user.press(key)


def test_tools_of_a_skill_are_allowed_with_one_answer(terminal_env: TerminalEnv) -> None:
    write_skill(terminal_env.home / ".agents/skills/notes", more="allowed-tools: Bash(wc:*) Bash(python:*)\n")
    script = (
        call_answer(("activate_skill", {"name": "notes"}))
        + call_answer((SHELL, {"command": "wc --version"}))
        + text_script("Done.")
    )
    with terminal_env.open_chat(script) as user:
        send_prompt(user, "count")
        user.wait_until(lambda screen: "Enter to confirm" in " ".join(screen.text().split()), wanted="the question")
        assert is_shown(user, "Not offered: Bash(python:*): python can run any code.")
        assert is_shown(user, "w adds the rule: allow run_shell_command: wc")
        time.sleep(0.4)
        user.press("w")
        user.wait_for("\nDone.", idle=True)
        assert is_shown(user, "Rule added for this session: allow run_shell_command: wc.")


def test_always_for_a_script_is_for_the_skill(terminal_env: TerminalEnv) -> None:
    directory = write_script_skill(terminal_env.home / ".agents/skills/tool")
    run = (SHELL, {"command": f"bash {directory}/scripts/run.sh"})
    script = (
        call_answer(("activate_skill", {"name": "tool"})) + call_answer(run) + call_answer(run) + text_script("Done.")
    )
    with terminal_env.open_chat(script) as user:
        send_prompt(user, "run it")
        press(user, "Activate the skill tool?", "y")
        press(user, "s, p, u add the rule: allow run_shell_command: scripts of the skill user:tool", "s")
        user.wait_for("\nDone.", idle=True)
