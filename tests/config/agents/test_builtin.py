"""The built-in agents."""

import pytest

from tejat.app.tools.listed_tools import builtin_registry
from tejat.config.agents.builtin import DESCRIPTIONS, builtin_definition


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_definitions_are_complete(name: str) -> None:
    agent = builtin_definition(name)
    assert agent.name == name
    assert agent.qualified_name == f"builtin:{name}"
    assert len(agent.prompt) > 300
    assert agent.output.schema["type"] == "object"


def test_the_investigator_only_reads() -> None:
    agent = builtin_definition("codebase_investigator")
    assert set(agent.tools or ()) <= set(builtin_registry().names())
    assert (agent.max_turns, agent.timeout_minutes, agent.temperature) == (50, 10.0, 0.1)
    assert (agent.input_name, agent.output.name) == ("objective", "report")


def test_the_generalist_has_the_tools_of_its_parent() -> None:
    agent = builtin_definition("generalist")
    assert agent.tools is None
    assert (agent.max_turns, agent.timeout_minutes) == (20, 10.0)
    assert (agent.input_name, agent.output.name) == ("request", "result")


def test_help_reads_the_documentation() -> None:
    agent = builtin_definition("cli_help")
    assert agent.tools == ("get_internal_docs",)
    assert (agent.max_turns, agent.timeout_minutes, agent.temperature) == (10, 3.0, 0.1)
    assert (agent.input_name, agent.output.name) == ("question", "report")
