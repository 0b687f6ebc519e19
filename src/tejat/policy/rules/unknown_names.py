"""Rules for tools, servers and skills that do not exist."""

from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase

from tejat.core.i18n import lazy
from tejat.policy.rules.matcher import matches_skill
from tejat.policy.rules.rule_format import format_quoted_rule
from tejat.policy.types import Decision, PolicyRule, Tier


def find_unknown_names(rules: Iterable[PolicyRule], *, tools: Collection[str], servers: Collection[str]) -> list[str]:
    """Return a sentence for each configured rule that counts and names no tool of `tools`, no server of `servers`."""
    problems: dict[str, None] = {}
    for rule in rules:
        if rule.tier is Tier.DEFAULT or rule.passed_over is not None or rule.tool in tools:
            continue
        if rule.server is None:
            named = (fnmatchcase(tool, rule.tool) for tool in tools) if "*" in rule.tool else ()
            is_known = (
                rule.tool == "*" or any(named) or any(rule.tool.startswith(f"mcp_{server}_") for server in servers)
            )
            unknown = lazy("unknown tool {name!r}", name=rule.tool)
        else:
            is_known = rule.server == "*" or rule.server in servers or f"{rule.server}__{rule.tool}" in tools
            unknown = lazy("unknown MCP server {name!r}", name=rule.server)
        if not is_known:
            shown = format_quoted_rule(rule)
            problems[
                lazy("{source}: {unknown}, so {rule} never applies.", source=rule.source, unknown=unknown, rule=shown)
            ] = None
    return list(problems)


def find_unknown_skills(rules: Iterable[PolicyRule], qualified_names: Collection[str]) -> list[str]:
    """Return a sentence for each rule that counts and allows scripts of a skill that does not exist.

    Skills of projects are left out: another project may have one.
    """
    return [
        lazy(
            "{source}: unknown skill {name!r}, so {rule} never applies.",
            source=rule.source,
            name=rule.skill,
            rule=format_quoted_rule(rule),
        )
        for rule in rules
        if rule.skill is not None and rule.decision is Decision.ALLOW and rule.passed_over is None
        if not rule.skill.startswith("project:") and not any(matches_skill(rule, name) for name in qualified_names)
    ]
