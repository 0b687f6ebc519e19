"""Names of sub-agents and of their lanes."""

import pytest

from tejat.core.agent.subagents import SubagentDefinition, agent_lane
from tejat.core.provenance import Party, Provenance


@pytest.mark.parametrize(
    ("provenance", "expected"),
    [
        (Provenance(Party.BUILT_IN), "builtin:x"),
        (Provenance(Party.USER, "/home/u/.gemini/agents/x.md"), "user:x"),
        (Provenance(Party.PROJECT, "/p/.gemini/agents/x.md"), "project:x"),
        (Provenance(Party.EXTENSION, "/e/agents/x.md", "gcp"), "gcp:x"),
    ],
)
def test_a_qualified_name_begins_with_the_party(provenance: Provenance, expected: str) -> None:
    assert SubagentDefinition("x", "Does x.", "Do x.", provenance).qualified_name == expected


def test_each_run_has_a_lane() -> None:
    assert agent_lane("x#2") == "agent:x#2"
