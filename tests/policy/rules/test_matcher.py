from typing import Any

import pytest

from tejat.core.approval.modes import ApprovalMode
from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.rules.matcher import is_active, matches_project, matches_skill, matches_tool
from tejat.policy.types import Decision, PolicyRule, Tier


def rule(decision: Decision = Decision.DENY, tier: Tier = Tier.USER, **fields: Any) -> PolicyRule:
    return PolicyRule(decision, tier, "x", **fields)


@pytest.mark.parametrize(
    ("given", "tool", "server", "named"),
    [
        (rule(), "write_file", None, True),
        (rule(), "write_file", "x", True),
        (rule(tool="write_file"), "write_file", None, True),
        (rule(tool="write_file"), "read_file", None, False),
        (rule(tool="write_file"), "write_file", "x", False),
        (rule(tool="write_file"), "Write_File", None, False),
        (rule(tool="mcp__x__write_file"), "write_file", "x", True),
        (rule(tool="mcp_x_write_file"), "write_file", "x", True),
        (rule(tool="x__write_file"), "write_file", "x", True),
        (rule(tool="x__do_it"), "do it", "x", True),
        (rule(tool="mcp_x_write_file"), "write_file", "y", False),
        (rule(tool="mcp_x_write_file"), "write_file", None, False),
        (rule(tool="mcp_a_b_c"), "c", "a_b", True),
        (rule(tool="mcp_a_b_c"), "b_c", "a", True),
        (rule(Decision.ALLOW, tool="mcp_a_b_c"), "c", "a_b", False),
        (rule(Decision.ALLOW, tool="mcp_a_b_c"), "b_c", "a", True),
        (rule(tool="mcp_x_t", server="x"), "t", "x", True),
        (rule(tool="y", server="x"), "x__y", None, True),
        (rule(tool="discovered_tool_t"), "t", None, True),
        (rule(tool="discovered_tool_write_file"), "write_file", None, False),
        (rule(tool="discovered_tool_t"), "t", "x", False),
        (rule(tool="EditTool"), "replace", None, True),
        (rule(tool="write_file", server="x"), "write_file", "x", True),
        (rule(tool="write_file", server="x"), "write_file", "y", False),
        (rule(tool="write_file", server="x"), "write_file", None, False),
        (rule(tool="write_file", server="*"), "write_file", "y", True),
        (rule(server="*"), "anything", "y", True),
        (rule(server="*"), "anything", None, False),
        (AllowlistRule(Decision.DENY, Tier.USER, "s", server="*", servers=frozenset({"x"})), "t", "x", False),
        (AllowlistRule(Decision.DENY, Tier.USER, "s", server="*", servers=frozenset({"x"})), "t", "y", True),
        (AllowlistRule(Decision.DENY, Tier.USER, "s", server="*", servers=frozenset({"x"})), "t", None, False),
    ],
)
def test_names_tool(given: PolicyRule, tool: str, server: str | None, named: bool) -> None:
    assert matches_tool(given, tool, server) == named


LOOSENING = {"user:pdf", "machine:PDF", "builtin:pdf"}


@pytest.mark.parametrize(
    ("skill", "allowed", "denied"),
    [
        ("pdf", LOOSENING, LOOSENING | {"project:pdf", "ext:pdf"}),
        ("Pdf", LOOSENING, LOOSENING | {"project:pdf", "ext:pdf"}),
        ("user:pdf", {"user:pdf"}, {"user:pdf"}),
        ("project:pdf", {"project:pdf"}, {"project:pdf"}),
        ("ext:PDF", {"ext:pdf"}, {"ext:pdf"}),
        ("Ext:pdf", set[str](), set[str]()),
        ("a:user:pdf", set[str](), set[str]()),
        ("pd", set[str](), set[str]()),
    ],
)
def test_names_skill(skill: str, allowed: set[str], denied: set[str]) -> None:
    known = LOOSENING | {"project:pdf", "ext:pdf", "user:other"}
    for decision, expected in ((Decision.ALLOW, allowed), (Decision.ASK, denied), (Decision.DENY, denied)):
        assert {name for name in known if matches_skill(rule(decision, skill=skill), name)} == expected


PLAN_AND_DEFAULT = frozenset({ApprovalMode.PLAN, ApprovalMode.DEFAULT})


@pytest.mark.parametrize(
    ("given", "modes"),
    [
        (rule(), set(ApprovalMode)),
        (rule(Decision.ASK), set(ApprovalMode)),
        (rule(Decision.ALLOW), set(ApprovalMode) - {ApprovalMode.PLAN}),
        (rule(Decision.ALLOW, Tier.ADMIN), set(ApprovalMode) - {ApprovalMode.PLAN}),
        (rule(Decision.ALLOW, Tier.DEFAULT), set(ApprovalMode)),
        (rule(Decision.ALLOW, Tier.WORKSPACE), set()),
        (rule(Decision.ALLOW, Tier.WORKSPACE, modes=PLAN_AND_DEFAULT), set()),
        (rule(Decision.ASK, Tier.WORKSPACE), set(ApprovalMode)),
        (rule(Decision.ALLOW, modes=PLAN_AND_DEFAULT), set(PLAN_AND_DEFAULT)),
        (rule(Decision.DENY, modes=PLAN_AND_DEFAULT), set(PLAN_AND_DEFAULT)),
    ],
)
def test_is_in_force(given: PolicyRule, modes: set[ApprovalMode]) -> None:
    assert {mode for mode in ApprovalMode if is_active(given, mode, is_interactive=True)} == modes


@pytest.mark.parametrize("decision", list(Decision))
def test_a_rule_may_be_for_sessions_with_or_without_a_user(decision: Decision) -> None:
    counted = {
        limit: [
            is_active(rule(decision, interactive=limit), ApprovalMode.DEFAULT, is_interactive=is_interactive)
            for is_interactive in (True, False)
        ]
        for limit in (None, True, False)
    }
    assert counted == {None: [True, True], True: [True, False], False: [False, True]}


@pytest.mark.parametrize("mode", list(ApprovalMode))
def test_a_rule_that_is_passed_over_never_counts(mode: ApprovalMode) -> None:
    assert not is_active(rule(Decision.DENY, passed_over="why"), mode, is_interactive=True)


def test_only_tools_of_servers_have_annotations() -> None:
    marked = rule(Decision.DENY, hints=(("readOnlyHint", True),))
    assert matches_tool(marked, "search", "github")
    assert not matches_tool(marked, "read_file", None)


@pytest.mark.parametrize(
    ("given", "tool", "server", "matches"),
    [
        ("read_*", "read_file", None, True),
        ("read_*", "write_file", None, False),
        ("mcp_git*_search", "search", "github", True),
        ("mcp_a_*", "search", "github", False),
        ("[r]ead_*", "read_file", None, False),
    ],
)
def test_a_wildcard_in_a_name(given: str, tool: str, server: str | None, *, matches: bool) -> None:
    assert matches_tool(rule(Decision.DENY, tool=given), tool, server) is matches


@pytest.mark.parametrize(
    ("project", "is_for"), [(None, True), ("/a", True), ("/a/", True), ("/b", True), ("/a/b", False), ("/", False)]
)
def test_is_for_project(project: str | None, is_for: bool) -> None:
    assert matches_project(rule(project=project), ("/a", "/b/")) == is_for
