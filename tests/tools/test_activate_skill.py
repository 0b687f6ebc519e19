"""The declaration of `activate_skill`, and its arguments."""

import asyncio

import pytest

from tejat.core.approval.confirmation import Confirmation, InfoConfirmation, Scope
from tejat.core.messages.declaration import Kind
from tejat.core.tools.abilities import RememberingTool
from tejat.core.tools.base import ToolContext, ToolResult, validate_and_execute
from tejat.tools.activate_skill import ActivateSkillTool


class Skills:
    """Skills that only note what they are asked for."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    async def propose(self, name: str) -> InfoConfirmation | None:
        return InfoConfirmation(f"{name}?", "text")

    async def activate(self, name: str, approved: Confirmation | None) -> ToolResult:
        self.calls.append((name, approved))
        return ToolResult(f"active: {name}")

    def agreement(self, confirmation: Confirmation) -> str | None:
        return confirmation.title

    def remember(self, confirmation: Confirmation, scope: Scope) -> None:
        self.calls.append((confirmation.title, scope))


def test_declaration() -> None:
    tool = ActivateSkillTool(["a", "b"], Skills())
    assert (tool.name, tool.display_name, tool.kind) == ("activate_skill", "Activate Skill", Kind.OTHER)
    assert not tool.may_change_files
    assert tool.schema.parameters_json_schema["required"] == ("name",)
    assert isinstance(tool, RememberingTool)


@pytest.mark.parametrize("params", [{}, {"name": ""}, {"name": 1}, [], None])
def test_a_name_is_needed(params: object) -> None:
    result = asyncio.run(validate_and_execute(ActivateSkillTool(["a"], Skills()), params))
    assert result.error is not None
    assert "'name'" in result.error.message


def test_names_go_to_the_skills_as_they_are() -> None:
    skills = Skills()
    tool = ActivateSkillTool(["a"], skills)
    question = asyncio.run(tool.should_confirm_execute({"name": "A"}))
    assert question is not None
    assert asyncio.run(tool.execute({"name": "A"}, ToolContext(approved=question))).llm_content == "active: A"
    assert tool.agreement(question) == "A?"
    tool.remember(question, Scope.USER)
    assert skills.calls == [("A", question), ("A?", Scope.USER)]
    assert tool.get_description({"name": "A"}) == "A"
