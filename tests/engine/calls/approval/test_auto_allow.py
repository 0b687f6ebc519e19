"""The setting for sandboxed commands in a real session: who may switch it on, what it lets run, and how it ends."""

import asyncio
import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.approver import NO, YES, FakeApprover
from support.program import ProgramEnv
from tejat.app.tools.open_tools import open_tools
from tejat.app.tools.toolset import Toolset
from tejat.config.paths import AppPaths, app_paths
from tejat.config.trust.decision import TrustLevel, trust_folder
from tejat.core.approval.confirmation import ApprovalReply, Approver, Outcome
from tejat.core.approval.modes import ModeName, SandboxName
from tejat.core.errors import ConfigurationError, ErrorType
from tejat.core.messages.types import FunctionCall, Params
from tejat.core.tools.base import ToolResult
from tejat.engine.calls.approvals import remembered_approvals, revoke_approval
from tejat.policy.types import Enclosure

ON = {"tools": {"shell": {"autoAllowSandboxed": True}}}
SANDBOXED = ApprovalReply(Outcome.PROCEED_ALWAYS_SANDBOXED)
UNITTEST = "import unittest\n\n\nclass Test(unittest.TestCase):\n    def test(self) -> None:\n        pass\n"


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    machine = ProgramEnv(tmp_path)
    (machine.project / "test_it.py").write_text(UNITTEST)
    return machine


def paths(machine: ProgramEnv) -> AppPaths:
    return app_paths(machine.environment)


def switch_on(machine: ProgramEnv) -> None:
    machine.own_file.parent.mkdir(parents=True, exist_ok=True)
    machine.own_file.write_text(json.dumps(ON))


@contextmanager
def opened(
    machine: ProgramEnv, approver: Approver | None, *, mode: ModeName | None = None, sandbox: SandboxName | None = None
) -> Generator[Toolset]:
    with open_tools(
        [str(machine.project)], approver, mode=mode, sandbox=sandbox, environment=machine.environment
    ) as tools:
        if sandbox is None and tools.services.sandbox.enclosure() is not Enclosure.EVERYTHING:
            pytest.skip("SANDBOX MISSING: none that encloses commands works here")
        yield tools


def run(tools: Toolset, command: str, **arguments: object) -> ToolResult:
    params: Params = {"command": command, **arguments}  # pyright: ignore[reportAssignmentType]
    return asyncio.run(tools.scheduler.run(FunctionCall("run_shell_command", params)))


def is_refused(result: ToolResult) -> bool:
    return result.error is not None and result.error.type is ErrorType.POLICY_VIOLATION


def test_headless_commands_run_that_only_read_or_test(machine: ProgramEnv) -> None:
    with opened(machine, None) as tools:
        assert is_refused(run(tools, "ls"))
    switch_on(machine)
    with opened(machine, None) as tools:
        assert run(tools, "ls").error is None
        assert run(tools, "python3 -m unittest").exit_code == 0
        for command in ("touch x", "curl localhost", "cat /etc/passwd", "python3 -m unittest > out"):
            assert is_refused(run(tools, command))
        assert is_refused(run(tools, "ls", network=True))
        assert is_refused(run(tools, "ls", is_background=True))


@pytest.mark.parametrize("changes", [{"sandbox": "off"}, {"mode": "default"}])
def test_it_has_no_effect_without_a_sandbox_or_where_asking_was_promised(
    machine: ProgramEnv, changes: dict[str, Any]
) -> None:
    switch_on(machine)
    with opened(machine, None, **changes) as tools:
        assert is_refused(run(tools, "ls"))


def test_it_has_no_effect_where_commands_have_the_network(machine: ProgramEnv) -> None:
    switch_on(machine)
    machine.write_user_settings(tools={"sandboxNetworkAccess": True})
    with open_tools([str(machine.project)], None, environment=machine.environment) as tools:
        assert is_refused(run(tools, "ls"))


def test_it_has_no_effect_where_saved_answers_are_off(machine: ProgramEnv) -> None:
    switch_on(machine)
    machine.write_user_settings(security={"disableAlwaysAllow": True})
    with opened(machine, None) as tools:
        assert is_refused(run(tools, "ls"))


def test_a_project_cannot_switch_it_on(machine: ProgramEnv) -> None:
    machine.write_project_settings(**ON)
    trust_folder(paths(machine), str(machine.project))
    with opened(machine, None) as tools:
        assert is_refused(run(tools, "ls"))


def test_it_has_no_effect_in_a_folder_that_is_not_trusted(machine: ProgramEnv) -> None:
    switch_on(machine)
    trust_folder(paths(machine), str(machine.project), level=TrustLevel.NOT_TRUSTED)
    approver = FakeApprover(YES)
    with opened(machine, approver) as tools:
        run(tools, "ls")
        assert [question.can_allow_sandboxed for question in approver.questions] == [False]


def test_a_wrong_value_ends_the_run(machine: ProgramEnv) -> None:
    machine.own_file.parent.mkdir(parents=True)
    machine.own_file.write_text('{"tools": {"shell": {"autoAllowSandboxed": "yes"}}}')
    with pytest.raises(ConfigurationError, match="autoAllowSandboxed"), opened(machine, None):
        pass


class TestOffer:
    def test_it_is_saved_for_the_user_and_holds_at_once(self, machine: ProgramEnv) -> None:
        approver = FakeApprover([SANDBOXED, NO])
        with opened(machine, approver) as tools:
            assert run(tools, "ls").error is None
            assert run(tools, "python3 -m unittest").exit_code == 0
            assert len(approver.questions) == 1
            assert machine.saved_settings(own=True) == ON
            run(tools, "touch x")
        assert [question.can_allow_sandboxed for question in approver.questions] == [True, False]
        with opened(machine, None) as tools:
            assert run(tools, "ls").error is None

    def test_it_is_offered_once(self, machine: ProgramEnv) -> None:
        approver = FakeApprover(YES)
        with opened(machine, approver) as tools:
            for command in ("touch x", "ls", "ls"):
                run(tools, command)
        assert [question.can_allow_sandboxed for question in approver.questions] == [False, True, False]

    def test_it_is_not_offered_against_a_decision(self, machine: ProgramEnv) -> None:
        machine.own_file.parent.mkdir(parents=True)
        machine.own_file.write_text('{"tools": {"shell": {"autoAllowSandboxed": false}}}')
        approver = FakeApprover(YES)
        with opened(machine, approver) as tools:
            run(tools, "ls")
        assert [question.can_allow_sandboxed for question in approver.questions] == [False]

    def test_an_answer_that_was_not_offered_is_refused(self, machine: ProgramEnv) -> None:
        with opened(machine, FakeApprover(SANDBOXED), mode="default") as tools:
            assert is_refused(run(tools, "ls"))
        assert not machine.own_file.exists()

    def test_it_can_be_taken_back(self, machine: ProgramEnv) -> None:
        approver = FakeApprover([SANDBOXED, NO])
        with opened(machine, approver) as tools:
            run(tools, "ls")
            permission = tools.scheduler.permission
            (answer,) = remembered_approvals(paths(machine), permission)
            assert answer.text == "allow sandboxed commands that only read, test or build"
            revoke_approval(paths(machine), permission, answer)
            assert list(remembered_approvals(paths(machine), permission)) == []
            run(tools, "ls")
        assert len(approver.questions) == 2


def test_the_subcommand_shows_and_revokes_it(machine: ProgramEnv) -> None:
    switch_on(machine)
    explained = machine.run("policy", "explain", "run_shell_command", "command=ls", "--root", str(machine.project))
    if explained.stdout.startswith("ask"):
        pytest.skip("SANDBOX MISSING: none that encloses commands works here")
    source = f"{machine.own_file}:1 (tools.shell.autoAllowSandboxed)"
    assert f"source: {source}" in explained.stdout
    listed = machine.run("policy", "list")
    assert f"sandboxed  allow sandboxed commands that only read, test or build  {source}" in listed.stdout
    revoked = machine.run("policy", "revoke", "sandboxed")
    assert revoked.stdout == "revoked: allow sandboxed commands that only read, test or build\n"
    assert "sandboxed" not in machine.run("policy", "list").stdout
    assert machine.run("policy", "revoke", "sandboxed").code != 0
