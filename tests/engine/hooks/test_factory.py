"""Hooks put together: what they see of the environment."""

import os
from pathlib import Path

import pytest

from support.hooks import make_hook, run
from tejat.config.hooks import HooksConfig
from tejat.core.agent.events import SessionSource
from tejat.core.errors import UsageError
from tejat.engine.hooks.factory import open_hooks
from tejat.workspace.processes.environment import VariableLists
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

ENVIRONMENT = {
    "PATH": f".:{os.environ['PATH']}",
    "HOME": "/home/you",
    "GEMINI_API_KEY": "a-key-of-a-test",
    "SERVICE_TOKEN": "a-token",
    "BASH_ENV": "evil",
    "BASH_FUNC_cat%%": "() { evil; }",
}


def seen(directory: Path, supervisor: ProcessSupervisor, *allowed: str) -> dict[str, str]:
    configured = HooksConfig((make_hook("env -0 > environment", "SessionStart"),), ("careful",))
    hooks = open_hooks(
        configured,
        None,
        supervisor,
        roots=[str(directory)],
        environment=ENVIRONMENT,
        variable_lists=VariableLists(allowed),
    )
    assert hooks.warnings == ("careful",)
    run(hooks.before_prompt("Go.", source=SessionSource.STARTUP))
    found = (directory / "environment").read_text().split("\0")
    return dict(line.split("=", 1) for line in found if line)


def test_they_get_what_commands_get_and_no_keys(tmp_path: Path, supervisor: ProcessSupervisor) -> None:
    environment = seen(tmp_path, supervisor)
    assert {"GEMINI_API_KEY", "SERVICE_TOKEN", "BASH_ENV", "BASH_FUNC_cat%%"}.isdisjoint(environment)
    assert (environment["HOME"], environment["PATH"][0]) == ("/home/you", "/")
    assert environment["GEMINI_PROJECT_DIR"] == environment["CLAUDE_PROJECT_DIR"] == str(tmp_path)
    assert len(environment["GEMINI_SESSION_ID"]) == 32


def test_the_user_may_pass_on_more(tmp_path: Path, supervisor: ProcessSupervisor) -> None:
    assert seen(tmp_path, supervisor, "SERVICE_TOKEN")["SERVICE_TOKEN"] == "a-token"
    with pytest.raises(UsageError):
        seen(tmp_path, supervisor, "BASH_ENV")
