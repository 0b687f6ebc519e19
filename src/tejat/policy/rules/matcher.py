"""Matching of rules by tool, project and mode."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from tejat.core.approval.modes import ApprovalMode
from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.tool_names import tool_names
from tejat.policy.types import CallFacts, Decision, PolicyRule, Tier

_LOOSENING_PREFIXES = frozenset({"builtin", "machine", "user"})
"""The parties of agents and skills that a bare name in an allow rule stands for."""


def is_active(rule: PolicyRule, mode: ApprovalMode, *, is_interactive: bool) -> bool:
    """Return whether a rule counts in this mode. Rules that allow need to name plan mode to count there."""
    if rule.passed_over is not None or rule.interactive not in (None, is_interactive):
        return False
    if rule.tier.only_restricts and rule.decision is Decision.ALLOW:
        return False  # workspaces and extensions are not the user: their rules can only be stricter
    if rule.modes is not None:
        return mode in rule.modes
    return mode is not ApprovalMode.PLAN or rule.decision is not Decision.ALLOW or rule.tier is Tier.DEFAULT


def matches_caller(rule: PolicyRule, facts: CallFacts) -> bool:
    """Return whether the rule applies to the tool of a call and to the agent that makes it."""
    names = ((facts.tool, facts.server), *((name, None) for name in facts.rule_names))
    return matches_subagent(rule, facts.subagent) and any(matches_tool(rule, *name) for name in names)


def matches_subagent(rule: PolicyRule, qualified_name: str) -> bool:
    """Return whether the rule applies to calls of this sub-agent; the session itself has an empty name.

    A rule that allows needs the qualified name of an agent from a project or an extension, which could take any name.
    """
    if rule.subagent is None or rule.subagent == qualified_name:
        return True
    prefix, _, name = qualified_name.partition(":")
    return bool(name) and rule.subagent == name and _counts_for_bare_name(rule, prefix)


def matches_skill(rule: PolicyRule, qualified_name: str) -> bool:
    """Return whether the rule applies to scripts of this skill, whose own name is compared without regard to case.

    Names of rules that allow are those of sub-agents.
    """
    if rule.skill is None:
        return True
    prefix, _, name = qualified_name.partition(":")
    given_prefix, separator, given_name = rule.skill.rpartition(":")
    if given_name.casefold() != name.casefold():
        return False
    return given_prefix == prefix if separator else _counts_for_bare_name(rule, prefix)


def _counts_for_bare_name(rule: PolicyRule, prefix: str) -> bool:
    return rule.decision is not Decision.ALLOW or prefix in _LOOSENING_PREFIXES


def matches_tool(rule: PolicyRule, tool: str, server: str | None) -> bool:
    """Return whether the rule applies to this tool. The same name on another server is another tool."""
    if isinstance(rule, AllowlistRule) and not rule.applies_to_server(server):
        return False
    if rule.hints is not None and server is None:
        return False  # only MCP tools have annotations
    if rule.server is not None:
        if server is None:
            return f"{rule.server}__{rule.tool}" == tool
        return rule.server in ("*", server) and (
            rule.tool in ("*", tool, *tool_names(tool, server)) or _matches_wildcard(rule, tool, server)
        )
    if rule.tool == "*" or _matches_wildcard(rule, tool, server):
        return True
    if server is not None and "_" in server and rule.decision is Decision.ALLOW and rule.tool.startswith("mcp_"):
        return False  # `mcp_a_b_c` is the tool `b_c` of `a`, and must not allow `c` of a server `a_b` as well
    return rule.tool in tool_names(tool, server)


def _matches_wildcard(rule: PolicyRule, tool: str, server: str | None) -> bool:
    """Return whether a name such as `read_*` stands for this tool. Only rules that deny or ask have such names."""
    if "*" not in rule.tool:
        return False
    return any(fnmatchcase(name, rule.tool.replace("[", "[[]")) for name in (tool, *tool_names(tool, server)))


def matches_project(rule: PolicyRule, roots: Sequence[str]) -> bool:
    return rule.project is None or rule.project.rstrip("/") in {root.rstrip("/") for root in roots}
