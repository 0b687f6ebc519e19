"""Options of an agent."""

from tejat.core.agent.options import AgentOptions


def test_keys_are_not_shown() -> None:
    options = AgentOptions(environment={"GEMINI_API_KEY": "hunter2"}, mcp_servers={"a": {"env": {"TOKEN": "hunter2"}}})
    assert "hunter2" not in repr(options)
