from typing import Any

import pytest

from tejat.policy.matching import is_for_project, is_in_force, names_tool
from tejat.policy.rules import Decision, Mode, Rule, Tier
from tejat.policy.unlisted import Unlisted


def rule(decision: Decision = Decision.DENY, tier: Tier = Tier.USER, **fields: Any) -> Rule:
    return Rule(decision, tier, "x", **fields)


@pytest.mark.parametrize(
    ("given", "tool", "server", "named"),
    [
        (rule(), "write_file", None, True),
        (rule(), "write_file", "x", True),
        (rule(tool="write_file"), "write_file", None, True),
        (rule(tool="write_file"), "read_file", None, False),
        (rule(tool="write_file"), "write_file", "x", False),
        (rule(tool="write_file"), "Write_File", None, False),
        (rule(tool="mcp__x__write_file"), "write_file", "x", False),
        (rule(tool="write_file", server="x"), "write_file", "x", True),
        (rule(tool="write_file", server="x"), "write_file", "y", False),
        (rule(tool="write_file", server="x"), "write_file", None, False),
        (rule(tool="write_file", server="*"), "write_file", "y", True),
        (rule(server="*"), "anything", "y", True),
        (rule(server="*"), "anything", None, False),
        (Unlisted(Decision.DENY, Tier.USER, "s", server="*", servers=frozenset({"x"})), "t", "x", False),
        (Unlisted(Decision.DENY, Tier.USER, "s", server="*", servers=frozenset({"x"})), "t", "y", True),
        (Unlisted(Decision.DENY, Tier.USER, "s", server="*", servers=frozenset({"x"})), "t", None, False),
    ],
)
def test_names_tool(given: Rule, tool: str, server: str | None, named: bool) -> None:
    assert names_tool(given, tool, server) == named


PLAN_AND_DEFAULT = frozenset({Mode.PLAN, Mode.DEFAULT})


@pytest.mark.parametrize(
    ("given", "modes"),
    [
        (rule(), set(Mode)),
        (rule(Decision.ASK), set(Mode)),
        (rule(Decision.ALLOW), set(Mode) - {Mode.PLAN}),
        (rule(Decision.ALLOW, Tier.ADMIN), set(Mode) - {Mode.PLAN}),
        (rule(Decision.ALLOW, Tier.DEFAULT), set(Mode)),
        (rule(Decision.ALLOW, Tier.WORKSPACE), set()),
        (rule(Decision.ALLOW, Tier.WORKSPACE, modes=PLAN_AND_DEFAULT), set()),
        (rule(Decision.ASK, Tier.WORKSPACE), set(Mode)),
        (rule(Decision.ALLOW, modes=PLAN_AND_DEFAULT), set(PLAN_AND_DEFAULT)),
        (rule(Decision.DENY, modes=PLAN_AND_DEFAULT), set(PLAN_AND_DEFAULT)),
    ],
)
def test_is_in_force(given: Rule, modes: set[Mode]) -> None:
    assert {mode for mode in Mode if is_in_force(given, mode)} == modes


@pytest.mark.parametrize(
    ("project", "is_for"), [(None, True), ("/a", True), ("/a/", True), ("/b", True), ("/a/b", False), ("/", False)]
)
def test_is_for_project(project: str | None, is_for: bool) -> None:
    assert is_for_project(rule(project=project), ("/a", "/b/")) == is_for
