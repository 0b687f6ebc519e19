"""The answer that allows the tools of a skill: only where it is offered, and no more than was shown."""

import asyncio
import json
from pathlib import Path

import pytest

from support.approver import YES, FakeApprover
from support.skills import SkillPlace, decide, write_script_skill, write_skill
from tejat.core.approval.confirmation import ApprovalReply, Outcome, Scope
from tejat.core.approval.modes import ApprovalMode
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult
from tejat.engine.calls.approvals import remembered_approvals, revoke_approval
from tejat.policy.types import Decision

WITH_TOOLS = ApprovalReply(Outcome.PROCEED_WITH_TOOLS, scope=Scope.SESSION)
WISHES = "allowed-tools: Bash(git log:*) Write Bash\n"
RULES = "allow run_shell_command: git log; allow write_file"


@pytest.fixture
def place(tmp_path: Path) -> SkillPlace:
    made = SkillPlace(tmp_path)
    write_skill(made.user_skills / "pdf", more=WISHES)
    return made


def activate(
    place: SkillPlace, approver: FakeApprover, rules: str = "", name: str = "pdf"
) -> tuple[ToolResult, list[str]]:
    """Activate a skill, and return the result and the decisions on three commands afterwards."""
    with place.tools(rules, approver) as toolset:
        call = FunctionCall("activate_skill", {"name": name})
        result = asyncio.run(toolset.scheduler.run(call))
        decisions = [decide(toolset, line)[1].decision.value for line in ("git log -3", "git push", "git log; rm x")]
        return result, decisions


def test_the_rules_are_shown_and_added(place: SkillPlace) -> None:
    approver = FakeApprover(WITH_TOOLS)
    result, decisions = activate(place, approver)
    assert result.error is None
    assert decisions == ["allow", "ask", "ask"]
    assert approver.questions[0].tool_rules == RULES


@pytest.mark.parametrize(
    "reply", [YES, ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.USER), ApprovalReply(Outcome.CANCEL)]
)
def test_other_answers_allow_no_tool(place: SkillPlace, reply: ApprovalReply) -> None:
    assert activate(place, FakeApprover(reply))[1] == ["ask", "ask", "ask"]


def test_nothing_of_it_is_saved(place: SkillPlace) -> None:
    activate(place, FakeApprover(WITH_TOOLS))
    assert not Path(place.config().paths.saved_rules).exists()
    with place.tools() as toolset:
        assert decide(toolset, "git log")[1].decision is Decision.ASK


def test_the_session_lists_and_revokes_them(place: SkillPlace) -> None:
    with place.tools(approver=FakeApprover(WITH_TOOLS)) as toolset:
        asyncio.run(toolset.scheduler.run(FunctionCall("activate_skill", {"name": "pdf"})))
        paths, permission = place.config().paths, toolset.scheduler.permission
        approvals = remembered_approvals(paths, permission)
        assert [each.text for each in approvals] == ["allow run_shell_command: git log", "allow write_file"]
        revoke_approval(paths, permission, approvals[0])
        assert decide(toolset, "git log")[1].decision is Decision.ASK


def test_denials_and_plan_mode_win(place: SkillPlace) -> None:
    denial = '[[rule]]\ncommand = "git log"\ndecision = "deny"\n'
    assert activate(place, FakeApprover(WITH_TOOLS), denial)[1][0] == "deny"
    with place.tools(approver=FakeApprover(WITH_TOOLS)) as toolset:
        asyncio.run(toolset.scheduler.run(FunctionCall("activate_skill", {"name": "pdf"})))
        permission = toolset.scheduler.permission
        permission.policy = permission.policy.with_mode(ApprovalMode.PLAN, source="test")
        assert decide(toolset, "git log")[1].decision is Decision.ASK
        tool = toolset.registry["write_file"]
        arguments = {"file_path": str(place.project / "a"), "content": "b"}
        assert permission.decide(tool, arguments)[1].decision is Decision.DENY


@pytest.mark.parametrize(
    "reply",
    [
        ApprovalReply(Outcome.PROCEED_WITH_TOOLS),
        ApprovalReply(Outcome.PROCEED_WITH_TOOLS, scope=Scope.USER),
        ApprovalReply(Outcome.PROCEED_WITH_TOOLS, scope=Scope.PROJECT),
        ApprovalReply(Outcome.PROCEED_WITH_TOOLS, scope=Scope.RUN),
    ],
)
def test_it_lasts_for_the_session_only(place: SkillPlace, reply: ApprovalReply) -> None:
    result, decisions = activate(place, FakeApprover(reply))
    assert result.error is not None
    assert "not one of the choices offered" in result.error.message
    assert decisions == ["ask", "ask", "ask"]


@pytest.mark.parametrize("wishes", ["", "allowed-tools: Read\n", "allowed-tools: Bash(python:*)\n"])
def test_not_offered_without_a_rule(place: SkillPlace, wishes: str) -> None:
    write_skill(place.user_skills / "pdf", more=wishes)
    approver = FakeApprover(WITH_TOOLS)
    result, _decisions = activate(place, approver)
    assert approver.questions[0].tool_rules is None
    assert result.error is not None


def test_not_offered_where_the_settings_turn_always_off(place: SkillPlace) -> None:
    settings = place.home / ".gemini/settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"security": {"disableAlwaysAllow": True}}))
    approver = FakeApprover(WITH_TOOLS)
    result, decisions = activate(place, approver)
    assert approver.questions[0].tool_rules is None
    assert result.error is not None
    assert decisions == ["ask", "ask", "ask"]


def test_nobody_is_asked_without_a_terminal(place: SkillPlace) -> None:
    with place.tools() as toolset:
        result = asyncio.run(toolset.scheduler.run(FunctionCall("activate_skill", {"name": "pdf"})))
        assert result.error is None
        assert decide(toolset, "git log")[1].decision is Decision.ASK


def test_a_project_needs_trust(place: SkillPlace) -> None:
    write_skill(place.project_skills / "local", more=WISHES)
    result, _decisions = activate(place, FakeApprover(WITH_TOOLS), name="local")
    assert result.error is not None
    assert "not found" in result.error.message
    place.trust()
    approver = FakeApprover(WITH_TOOLS)
    assert activate(place, approver, name="local")[1][0] == "allow"


def test_the_rule_for_a_script_of_a_project_is_not_offered_everywhere(place: SkillPlace) -> None:
    directory = write_script_skill(place.project_skills / "local")
    place.trust()
    approver = FakeApprover(ApprovalReply(Outcome.CANCEL))
    with place.tools(approver=approver) as toolset:
        call = FunctionCall("run_shell_command", {"command": f"bash {directory}/scripts/run.sh"})
        asyncio.run(toolset.scheduler.run(call))
    (question,) = approver.questions
    assert question.always == "allow run_shell_command: scripts of the skill project:local"
    assert question.scopes == (Scope.SESSION, Scope.PROJECT)


def test_a_script_that_changes_before_it_starts_does_not_run(place: SkillPlace) -> None:
    """The rules are checked again when the state for undo was saved, right before the start."""
    directory = write_script_skill(place.user_skills / "tool")
    place.agree("tool")
    script = directory / "scripts/run.sh"
    with place.tools('[[rule]]\nskill = "tool"\ndecision = "allow"\n') as toolset:
        scheduler, call = toolset.scheduler, FunctionCall("run_shell_command", {"command": str(script)})
        assert asyncio.run(scheduler.run(call)).error is None
        open_undo = scheduler.open_undo
        assert open_undo is not None

        def change_and_open() -> object:
            script.write_text(f"#!/bin/sh\ntouch {place.base}/MARK\n")
            return open_undo()

        scheduler.open_undo = change_and_open  # pyright: ignore[reportAttributeAccessIssue]
        result = asyncio.run(scheduler.run(call))
    assert result.error is not None
    assert "was not approved by you" in result.error.message
    assert not (place.base / "MARK").exists()
