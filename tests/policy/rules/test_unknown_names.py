from typing import Any

import pytest

from tejat.policy.rules.defaults import default_rules
from tejat.policy.rules.unknown_names import find_unknown_names, find_unknown_skills
from tejat.policy.types import Decision, PolicyRule, Tier


def problems(**fields: Any) -> list[str]:
    rule = PolicyRule(Decision.DENY, Tier.USER, "p.toml:3", **fields)
    return find_unknown_names([rule], tools={"read_file", "x__y"}, servers={"a"})


@pytest.mark.parametrize(
    "fields",
    [
        {"tool": "read_file"},
        {"tool": "*"},
        {"tool": "t", "server": "a"},
        {"tool": "*", "server": "*"},
        {"tool": "mcp_a_t"},
        {"tool": "y", "server": "x"},
        {"tool": "read_*"},
        {"tool": "write_todos", "passed_over": "it does not count anyway"},
    ],
)
def test_names_that_exist(fields: dict[str, str]) -> None:
    assert problems(**fields) == []


def test_names_that_do_not() -> None:
    assert problems(tool="read_flie") == ["p.toml:3: unknown tool 'read_flie', so `deny read_flie` never applies."]
    assert problems(tool="t", server="b") == [
        "p.toml:3: unknown MCP server 'b', so `deny t of server b` never applies."
    ]
    assert problems(tool="mcp_b_t")
    assert problems(tool="discovered_tool_x")
    assert problems(tool="write_*")


def test_built_in_rules_are_not_reported() -> None:
    assert find_unknown_names(default_rules(), tools=(), servers=()) == []


@pytest.mark.parametrize(
    ("skill", "decision", "is_reported"),
    [
        ("pdf", Decision.ALLOW, False),
        ("user:PDF", Decision.ALLOW, False),
        ("other", Decision.ALLOW, True),
        ("ext:pdf", Decision.ALLOW, True),
        ("local", Decision.ALLOW, True),
        ("project:other", Decision.ALLOW, False),
        ("other", Decision.DENY, False),
    ],
)
def test_unknown_skills(skill: str, decision: Decision, is_reported: bool) -> None:
    rule = PolicyRule(decision, Tier.USER, "p.toml:3", "run_shell_command", skill=skill)
    found = find_unknown_skills([rule], ["user:pdf", "project:local"])
    assert bool(found) is is_reported
    if found:
        assert found[0].startswith(f"p.toml:3: unknown skill {skill!r}, so `allow run_shell_command")
