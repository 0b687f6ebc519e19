"""Hooks are listed as in a conversation."""

from pathlib import Path

import pytest

from support.program import ProgramEnv, ProgramResult


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def test_none(machine: ProgramEnv) -> None:
    assert machine.run("hooks", "list") == ProgramResult(0, "No hooks are configured.\n", "")


def test_each_with_its_state_and_file(machine: ProgramEnv) -> None:
    commands = [{"type": "command", "command": "true", "name": name} for name in ("guard", "log")]
    settings = machine.write_user_settings(
        hooks={"BeforeTool": [{"matcher": "write_file", "hooks": commands}]}, hooksConfig={"disabled": ["log"]}
    )
    done = machine.run("hook")
    assert (done.code, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0] == ["NAME", "EVENT", "FOR", "STATE", "SOURCE"]
    assert [row[:4] for row in rows[1:]] == [
        ["guard", "BeforeTool", "write_file", "on"],
        ["log", "BeforeTool", "write_file", "off"],
    ]
    assert str(settings).removeprefix(str(machine.home)) in done.stdout


def test_nothing_is_migrated(machine: ProgramEnv) -> None:
    told = "tejat: Nothing to migrate: Claude Code hooks are read directly. See `tejat hooks list`.\n"
    assert machine.run("hooks", "migrate", "--from-claude") == ProgramResult(42, "", told)


def test_settings_that_cannot_be_used(machine: ProgramEnv) -> None:
    machine.write_user_settings(hooks=[])
    assert machine.run("hooks", "list").code == 52
