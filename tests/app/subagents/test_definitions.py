"""Which sub-agents a session has, and what the user is told about them."""

from pathlib import Path

import pytest

from support.program import ProgramEnv
from tejat.app.run_config import RunConfig, load_run_config
from tejat.app.subagents.definitions import load_subagents, subagent_notes
from tejat.app.tools.listed_tools import builtin_registry
from tejat.config.trust.decision import trust_folder


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def put(directory: Path, name: str, body: str = "Work.", more: str = "") -> None:
    path = directory / ".gemini" / "agents" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: Does {name}.\n{more}---\n{body}\n")


def config(machine: ProgramEnv) -> RunConfig:
    return load_run_config([str(machine.project)], environment=machine.environment)


def notes(machine: ProgramEnv) -> tuple[str, ...]:
    run_config = config(machine)
    return subagent_notes(run_config, load_subagents(run_config, builtin_registry()))


def test_an_agent_that_hides_another_is_named_once_per_content(machine: ProgramEnv) -> None:
    put(machine.home, "review")
    put(machine.project, "review", "Theirs.")
    assert notes(machine) == ()
    trust_folder(config(machine).paths, str(machine.project))
    told = ("The agent review is project:review here. Its other meaning is user:review.",)
    assert notes(machine) == told
    assert notes(machine) == ()
    put(machine.project, "review", "Changed.")
    trust_folder(config(machine).paths, str(machine.project))
    assert notes(machine) == told


def test_problems_are_told_every_time(machine: ProgramEnv) -> None:
    put(machine.home, "x", more="temperature: 5\n")
    assert notes(machine) == notes(machine)
    assert len(notes(machine)) == 1


def test_settings_of_servers_and_limits_count(machine: ProgramEnv) -> None:
    machine.write_user_settings(
        mcpServers={"files": {"command": "run"}},
        agents={"overrides": {"x": {"runConfig": {"maxTurns": 7}}}, "catalogTokens": 60},
        tools={"exclude": ["generalist"]},
    )
    put(machine.home, "x", more="tools: [mcp_files_*, read_file]\n")
    agents = load_subagents(config(machine), builtin_registry())
    found = agents.find("x")
    assert found is not None
    assert (found.tools, found.max_turns) == (("files__*", "read_file"), 7)
    assert agents.find("generalist") is None
    fitted = agents.build_catalogue(1_000_000).fitted
    assert fitted.is_cut
    assert fitted.tokens <= 60
    assert agents.problems == ()
