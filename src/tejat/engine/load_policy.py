"""The rules of a run, gathered from everywhere they may stand."""

from collections.abc import Sequence

from tejat.config.places import Places, SourceTier
from tejat.config.policy_files import PolicyText
from tejat.config.settings import Setting, Settings, lists_of_tools, servers_of
from tejat.core.confirm import Scope
from tejat.core.errors import UsageError
from tejat.core.explain import PolicyFlags
from tejat.core.value import replace
from tejat.core.words import phrase
from tejat.policy.engine import Policy
from tejat.policy.rules import Decision, Mode, Rule, Tier

_TIERS = {SourceTier.ADMIN: Tier.ADMIN, SourceTier.USER: Tier.USER, SourceTier.WORKSPACE: Tier.WORKSPACE}


def load_policy(texts: Sequence[PolicyText], settings: Settings, flags: PolicyFlags) -> Policy:
    """Every rule that holds for this run, those of the policy files among them.

    Raises UsageError that names the file and line of one that cannot be used.
    """
    rules = [rule for text in texts for rule in _rules_in(text)]
    if flags.allowed_tools or any(lists_of_tools(settings)):
        rules += _rules_of_lists(settings, flags.allowed_tools)
    rules += [
        Rule(Decision.ALLOW, _TIERS[server.tier], f"{server.source} (trust)", server=alias)
        for alias, server in servers_of(settings).items()
        if server.value.is_trusted
    ]
    return Policy(rules, mode_of(settings, flags.mode))


def save_rule(places: Places, root: str, rule: Rule, scope: Scope) -> None:
    """Keep an answer for later sessions. Raises UsageError when that is not possible."""
    from tejat.config.saved_rules import save
    from tejat.policy.rule_text import rule_toml

    save(places, rule_toml(replace(rule, project=root) if scope is Scope.PROJECT else rule))


def _rules_in(text: PolicyText) -> list[Rule]:
    from tejat.policy.rule_file import rules_in

    return rules_in(text.text, source=text.path, tier=_TIERS[text.tier])


def _rules_of_lists(settings: Settings, allowed: Sequence[str]) -> list[Rule]:
    """The lists of the settings as rules, each with the place that it was read from."""
    from tejat.policy.settings_rules import ToolLists, rules_of_allowed, rules_of_settings

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
        for rule in rules_of_settings(named, tier=_TIERS[setting.tier], source=setting.source)
    ]
    return [*rules, *rules_of_allowed(allowed)]


def mode_of(settings: Settings, given: str | None) -> Mode:
    """The mode that is meant, None for the usual one. Raises UsageError for one that is unknown or switched off."""
    if given is not None and given not in list(Mode):
        raise UsageError(
            phrase("The mode must be one of {names}, but is {given!r}.", names=", ".join(Mode), given=given)
        )
    mode = Mode.DEFAULT if given is None else Mode(given)
    if mode is Mode.YOLO and settings.yolo_disabled.value:
        raise UsageError(phrase("The mode yolo is switched off by {source}.", source=settings.yolo_disabled.source))
    return mode
