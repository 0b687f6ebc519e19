"""The sandbox of a session: what the model is told, and servers that need one."""

import asyncio
from pathlib import Path

import pytest

from support.program import ProgramEnv
from tejat.app.run_config import load_run_config
from tejat.app.tools.tool_services import ToolServices
from tejat.core.approval.modes import SandboxMode
from tejat.core.errors import UsageError
from tejat.core.ui.status import SandboxState
from tejat.workspace.context import Workspace


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def open_services(machine: ProgramEnv, workspace: Workspace, word: str) -> ToolServices:
    run_config = load_run_config([str(machine.project)], environment=machine.environment)
    return ToolServices(workspace, run_config, word)


def test_a_server_that_needs_a_sandbox_is_not_started_without_one(machine: ProgramEnv) -> None:
    with (
        Workspace([str(machine.project)]) as workspace,
        open_services(machine, workspace, "off") as services,
        pytest.raises(OSError, match=r"It requires a sandbox, and there is none: .*turned off"),
    ):
        services.sandbox.wrap(["/bin/cat"], str(machine.project))


def test_an_unknown_word_is_refused(machine: ProgramEnv) -> None:
    with Workspace([str(machine.project)]) as workspace, pytest.raises(UsageError, match="must be one of"):
        open_services(machine, workspace, "sometimes")


@pytest.mark.parametrize(
    ("word", "told", "name", "state"),
    [
        ("off", "", "", SandboxState.NONE),
        ("auto", "a sandbox if one works on this system", "auto", SandboxState.UNKNOWN),
    ],
)
def test_before_a_sandbox_is_tried(machine: ProgramEnv, word: str, told: str, name: str, state: SandboxState) -> None:
    with Workspace([str(machine.project)]) as workspace, open_services(machine, workspace, word) as services:
        sandbox = services.sandbox
        assert (sandbox.mode, sandbox.describe()) == (SandboxMode(word), told)
        assert (sandbox.name, sandbox.state) == (name, state)


def test_after_it_was_tried(machine: ProgramEnv) -> None:
    for root, told in ((str(machine.project), "a sandbox"), ("/", "")):
        warnings: list[str] = []
        with Workspace([root]) as workspace, open_services(machine, workspace, "auto") as services:
            services.on_warning = warnings.append
            asyncio.run(services.sandbox.probe())
            if root != "/" and not services.sandbox.name:
                pytest.skip("SANDBOX MISSING: no sandbox works here")
            assert services.sandbox.describe() == told
            assert [warning.partition(":")[0] for warning in warnings] == ([] if told else ["NO SANDBOX"])
