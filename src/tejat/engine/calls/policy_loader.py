"""Loading of the policy rules of a run from policy files, settings and options."""

from collections.abc import Sequence

from tejat.config.paths import AppPaths, SourceTier
from tejat.config.policy_files import PolicyFile
from tejat.config.settings.types import Setting, Settings, configured_servers, tool_lists
from tejat.core.approval.confirmation import Scope
from tejat.core.approval.modes import ApprovalMode
from tejat.core.approval.policy_report import PolicyOptions
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import lazy
from tejat.policy.engine import PolicyEngine
from tejat.policy.types import Decision, PolicyRule, Tier

CHOSEN_MODE_SOURCE = lazy("chosen in this session")
"""The source of a mode that the user switched to."""
_TIERS = {SourceTier.ADMIN: Tier.ADMIN, SourceTier.USER: Tier.USER, SourceTier.WORKSPACE: Tier.WORKSPACE}


def load_policy(texts: Sequence[PolicyFile], settings: Settings, flags: PolicyOptions) -> PolicyEngine:
    """Load all rules of a run.

    Raises UsageError that names the file and line of an invalid rule.
    """
    rules = [rule for text in texts for rule in _parse_rules(text)]
    if flags.allowed_tools or any(tool_lists(settings)):
        rules += _rules_from_settings(settings, flags.allowed_tools)
    rules += [
        PolicyRule(Decision.ALLOW, _TIERS[server.tier], f"{server.source} (trust)", server=alias)
        for alias, server in configured_servers(settings).items()
        if server.value.is_trusted
    ]
    return PolicyEngine(rules, resolve_mode(settings, flags.mode))


def save_rule(paths: AppPaths, root: str, rule: PolicyRule, scope: Scope) -> None:
    """Save a rule for later sessions. Raises UsageError if that is not possible."""
    from tejat.config.saved_rules import save_rules
    from tejat.policy.rules.rule_format import rule_to_toml

    save_rules(paths, rule_to_toml(replace(rule, project=root) if scope is Scope.PROJECT else rule))


def _parse_rules(text: PolicyFile) -> list[PolicyRule]:
    from tejat.policy.rules.rule_file import parse_rules

    return parse_rules(text.text, source=text.path, tier=_TIERS[text.tier])


def _rules_from_settings(settings: Settings, allowed: Sequence[str]) -> list[PolicyRule]:
    """Convert the tool lists of the settings to rules, each with its source."""
    from tejat.policy.rules.tool_lists import ToolLists, rules_from_allowed_tools, rules_from_settings

    lists: list[tuple[Setting[object], ToolLists]] = []
    if settings.core:
        lists.append((settings.core, ToolLists(core=settings.core.value)))
    if settings.allowed:
        lists.append((settings.allowed, ToolLists(allowed=settings.allowed.value)))
    if settings.mcp_allowed:
        lists.append((settings.mcp_allowed, ToolLists(mcp_allowed=settings.mcp_allowed.value)))
    lists += [(entry, ToolLists(exclude=(entry.value,))) for entry in settings.exclude]
    lists += [(entry, ToolLists(mcp_excluded=(entry.value,))) for entry in settings.mcp_excluded]
    rules = [
        rule
        for setting, named in lists
        for rule in rules_from_settings(named, tier=_TIERS[setting.tier], source=setting.source)
    ]
    return [*rules, *rules_from_allowed_tools(allowed)]


def resolve_mode(settings: Settings, name: str | None) -> ApprovalMode:
    """Return the approval mode, None means the default. Raises UsageError if it is unknown or disabled."""
    if name is not None and name not in list(ApprovalMode):
        names = ", ".join(ApprovalMode)
        raise UsageError(lazy("The mode must be one of {names}, but is {given!r}.", names=names, given=name))
    mode = ApprovalMode.DEFAULT if name is None else ApprovalMode(name)
    if mode is ApprovalMode.YOLO and settings.yolo_disabled.value:
        raise UsageError(lazy("The mode yolo is switched off by {source}.", source=settings.yolo_disabled.source))
    return mode
