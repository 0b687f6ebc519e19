"""Sub-agents are listed and checked without starting anything."""

import json
from pathlib import Path

import pytest

from support.program import ProgramEnv, script_answer


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def put(directory: Path, name: str, more: str = "") -> Path:
    path = directory / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: Does {name}.\n{more}---\nWork.\n")
    return path


def test_the_built_in_agents_without_a_model(machine: ProgramEnv) -> None:
    done = machine.run("agents", "list")
    assert (done.code, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0] == ["NAME", "FROM", "STATE", "MODEL", "TOOLS", "LIMITS", "SOURCE"]
    assert [row[0] for row in rows[1:]] == ["codebase_investigator", "generalist", "cli_help"]
    assert "4 (0 change things)" in done.stdout
    assert machine.run("agent").stdout == done.stdout


def test_states_and_reasons(machine: ProgramEnv) -> None:
    own = machine.home / ".gemini" / "agents"
    put(own, "good", "tools: [read_file, write_file]\nmodel: flash\nmax_turns: 1\n")
    broken = put(own, "broken", "hooks: {}\n")
    put(own, "generalist")
    (own / "far.md").write_text("---\nkind: remote\nname: far\nagent_card_url: https://a.example/card\n---\n")
    put(machine.project / ".gemini" / "agents", "secret")
    machine.write_user_settings(agents={"overrides": {"cli_help": {"enabled": False}}})
    done = machine.run("agents", "list", "-o", "json")
    assert done.code == 0
    assert done.stderr == (
        f"tejat: Skipped the agent in {broken}: it has hooks, which agents cannot have here. "
        "Move them to the settings.\n"
    )
    listed = {each["qualifiedName"]: each for each in done.json}
    assert {name: each["state"] for name, each in listed.items()} == {
        "builtin:codebase_investigator": "available",
        "builtin:generalist": "available",
        "builtin:cli_help": "disabled",
        "user:broken": "broken",
        "user:far": "not supported",
        "user:generalist": "hidden",
        "user:good": "available",
    }
    good = listed["user:good"]
    assert (good["model"], good["maxTurns"], good["tools"]) == ("flash", 1, ["read_file", "write_file"])
    assert good["changingTools"] == 1
    assert good["catalogueTokens"] > 0
    assert listed["user:far"]["reason"] == "remote agents are not supported (https://a.example/card)"
    assert "user:generalist" in machine.run("agents", "list").stdout


def test_project_agents_count_with_trust(machine: ProgramEnv) -> None:
    put(machine.project / ".gemini" / "agents", "theirs")
    assert "theirs" not in machine.run("agents", "list").stdout
    assert machine.run("trust", "--yes").code == 0
    assert "theirs" in machine.run("agents", "list").stdout


def test_tokens(machine: ProgramEnv) -> None:
    done = machine.run("agents", "list", "--tokens")
    assert done.stdout.splitlines()[0].split()[:3] == ["NAME", "CATALOGUE", "PROMPT"]
    assert "tokens in every request." in done.stdout


def test_turned_off(machine: ProgramEnv) -> None:
    machine.write_user_settings(experimental={"enableAgents": False})
    done = machine.run("agents", "list")
    assert done.stdout == "Sub-agents are turned off in the settings (experimental.enableAgents).\n"
    assert json.loads(machine.run("agents", "list", "-o", "json").stdout) == []


def test_validate(machine: ProgramEnv) -> None:
    good = put(machine.project, "good", "color: red\n")
    done = machine.run("agents", "validate", "good.md")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout == f"{good}: agent good is valid.\n{good}: unknown key color, which has no effect.\n"
    bad = put(machine.project, "bad", "max_turns: 0\n")
    done = machine.run("agents", "validate", ".")
    assert done.code == 1
    assert f"{bad}: max_turns must be an integer from 1 to 200.\n" in done.stdout
    assert "agent good is valid" in done.stdout


def test_examples(machine: ProgramEnv) -> None:
    put(machine.project, "good")
    done = machine.run("agents", "validate", "good.md", "--run")
    assert done.code == 1
    assert f"No examples: there is no .toml file in {machine.project}/tests.\n" in done.stdout
    (machine.project / "tests").mkdir()
    task = {"agent_name": "good", "prompt": "Do it."}
    inside = script_answer(calls=[("complete_task", {"result": "x"})], purpose="agent:good")
    (machine.project / "tests/good.toml").write_text(
        script_answer(calls=[("invoke_agent", task)]) + inside + script_answer(say="done")
    )
    done = machine.run("agents", "validate", ".", "--run")
    assert (done.code, done.stderr) == (0, "")
    assert "  allow   good#1: complete_task" in done.stdout
    assert done.stdout.endswith("1 of 1 examples passed\n")
    (machine.project / "tests/good.two.toml").write_text(script_answer(calls=[("glob", {})]))
    done = machine.run("agents", "validate", "good.md", "--run")
    assert done.code == 1
    assert "1 of 2 examples passed" in done.stdout


def test_validate_what_is_not_there(machine: ProgramEnv) -> None:
    done = machine.run("agents", "validate", "missing.md")
    assert done.code != 0
    assert "missing.md does not exist." in done.stderr
    (machine.project / "empty").mkdir()
    assert machine.run("agents", "validate", "empty").stdout == "No agent files found in empty.\n"


def test_other_words_are_no_prompt(machine: ProgramEnv) -> None:
    done = machine.run("agents", "lsit")
    assert done.code == 2
    assert "Unknown command `tejat agents lsit`. Did you mean list?" in done.stderr
