"""Settings for single agents, and how far those of a project count."""

from typing import Any

import pytest

from tejat.config.agents.overrides import OverriddenAgent, apply_overrides
from tejat.config.agents.tool_list import KnownTools
from tejat.config.paths import SourceTier
from tejat.config.settings.types import Setting
from tejat.core.agent.subagents import CopyMode, SubagentDefinition
from tejat.core.messages.types import JsonObject
from tejat.core.provenance import Party, Provenance

AGENT = SubagentDefinition("x", "Does.", "Work.", Provenance(Party.USER), tools=("read_file", "glob"))
KNOWN = KnownTools({name: name for name in ("read_file", "glob", "write_file")})


def applied(*settings: tuple[SourceTier, JsonObject], agent: SubagentDefinition = AGENT) -> OverriddenAgent:
    return apply_overrides(agent, [Setting(value, "s.json:1", tier) for tier, value in settings], KNOWN)


def user(**members: Any) -> OverriddenAgent:
    return applied((SourceTier.USER, members))


def project(**members: Any) -> OverriddenAgent:
    return applied((SourceTier.WORKSPACE, members))


def test_the_user_may_set_everything() -> None:
    result = user(
        runConfig={"maxTurns": 100, "maxTimeMinutes": 60},
        modelConfig={"model": "pro", "generateContentConfig": {"temperature": 1.5}},
        tools=["Write"],
        mcpServers={"own": {"command": "run"}},
        copy="always",
        maxTokens=5000,
        maxCost=0.5,
    )
    agent = result.definition
    assert (agent.max_turns, agent.timeout_minutes, agent.model, agent.temperature) == (100, 60.0, "pro", 1.5)
    assert agent.tools == ("write_file",)
    assert agent.servers == {"own": {"command": "run"}}
    assert (agent.copy_mode, agent.max_tokens, agent.max_cost) == (CopyMode.ALWAYS, 5000, 0.5)
    assert result.is_enabled
    assert result.problems == ()


def test_a_project_may_tighten() -> None:
    result = project(enabled=False, runConfig={"maxTurns": 3, "maxTimeMinutes": 2}, tools=["glob"], maxTokens=10)
    assert not result.is_enabled
    agent = result.definition
    assert (agent.max_turns, agent.timeout_minutes, agent.tools, agent.max_tokens) == (3, 2.0, ("glob",), 10)
    assert result.problems == ()


@pytest.mark.parametrize(
    "members",
    [
        {"runConfig": {"maxTurns": 31}},
        {"runConfig": {"maxTimeMinutes": 11}},
        {"modelConfig": {"model": "pro"}},
        {"modelConfig": {"generateContentConfig": {"temperature": 0}}},
        {"mcpServers": {"own": {"command": "run"}}},
        {"copy": "always"},
    ],
)
def test_a_project_may_not_loosen(members: JsonObject) -> None:
    result = project(**members)
    assert result.definition == AGENT
    assert len(result.problems) == 1
    assert "a project can only lower limits" in result.problems[0]


def test_a_project_adds_no_tools() -> None:
    assert project(tools=["glob", "write_file"]).definition.tools == ("glob",)
    assert project(tools=["*"]).definition.tools == ("read_file", "glob")


def test_a_project_enables_nothing_that_the_user_disabled() -> None:
    off: JsonObject = {"enabled": False}
    on: JsonObject = {"enabled": True}
    assert not applied((SourceTier.WORKSPACE, on), (SourceTier.USER, off)).is_enabled
    assert not applied((SourceTier.USER, off), (SourceTier.WORKSPACE, on)).is_enabled
    assert applied((SourceTier.DEFAULT, off), (SourceTier.USER, on)).is_enabled


def test_the_lower_limit_of_user_and_project_holds() -> None:
    low: JsonObject = {"runConfig": {"maxTurns": 5}}
    high: JsonObject = {"runConfig": {"maxTurns": 50}}
    assert applied((SourceTier.WORKSPACE, low), (SourceTier.USER, high)).definition.max_turns == 5
    assert applied((SourceTier.WORKSPACE, high), (SourceTier.USER, low)).definition.max_turns == 5


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"enabled": "yes"}, "s.json:1: agents.overrides.x.enabled must be true or false."),
        ({"runConfig": {"maxTurns": 0}}, "agents.overrides.x.runConfig.maxTurns must be a number greater than 0."),
        ({"runConfig": {"maxTurns": 201}}, "must be a number from 1 to 200."),
        ({"runConfig": {"maxTimeMinutes": 500}}, "must be a number from 1 to 120."),
        ({"maxCost": True}, "agents.overrides.x.maxCost must be a number greater than 0."),
        ({"modelConfig": {"model": 5}}, "must be the name of a model."),
        ({"modelConfig": {"generateContentConfig": {"temperature": 3}}}, "must be a number from 0 to 2."),
        ({"tools": "glob"}, "must be a list of names."),
        ({"copy": "sometimes"}, "must be never, ask or always."),
        ({"mcpServers": {"own": {}}}, "has neither command nor url."),
    ],
)
def test_wrong_values_change_nothing(members: JsonObject, why: str) -> None:
    result = user(**members)
    assert result.definition == AGENT
    assert result.is_enabled
    assert len(result.problems) == 1
    assert why in result.problems[0]


def test_unknown_tools_are_named() -> None:
    result = user(tools=["glob", "nothing"])
    assert result.definition.tools == ("glob",)
    assert result.problems == ("agents.overrides.x.tools: unknown tools nothing.",)
