"""What `tejat doctor` says about sub-agents."""

from pathlib import Path

import pytest

from support.program import ProgramEnv
from tejat.app.run_config import load_run_config
from tejat.app.setup.subagent_checks import subagent_checks


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def details(machine: ProgramEnv) -> list[tuple[bool, str]]:
    run_config = load_run_config([str(machine.project)], environment=machine.environment)
    return [(check.passed, check.detail) for check in subagent_checks(run_config)]


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_nothing_to_say(machine: ProgramEnv) -> None:
    assert details(machine) == []


def test_files_that_cannot_be_used(machine: ProgramEnv) -> None:
    path = machine.home / ".gemini/agents/x.md"
    put(path, "Hello.")
    why = "no front matter: the first line must be ---"
    assert details(machine) == [(False, f"Skipped the agent in {path}: {why}.")]
    machine.write_user_settings(experimental={"enableAgents": False})
    assert details(machine) == []


def test_agents_of_claude_code(machine: ProgramEnv) -> None:
    for name in ("a.md", "b.md", "_c.md", "d.txt"):
        put(machine.home / ".claude/agents" / name, "---\nname: a\ndescription: A.\n---\nWork.\n")
    assert details(machine) == [
        (True, f"2 agents in {machine.home}/.claude/agents are not used. Set agents.claude to true to use them")
    ]
    machine.write_user_settings(agents={"claude": True})
    assert [passed for passed, _ in details(machine)] == [False]
