"""Loading of the policy of a run from policy files, settings and options: its rules and its approval mode."""

import os
from collections.abc import Iterable, Iterator, Sequence

from tejat.config.paths import AppPaths, SourceTier
from tejat.config.policy_files import PolicyFile
from tejat.config.settings.types import Setting, Settings, configured_servers, tool_lists
from tejat.core.agent.options import PolicyOptions, option_name
from tejat.core.approval.confirmation import Scope
from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.text.paths import is_beneath_any
from tejat.policy.engine import PolicyEngine
from tejat.policy.rules.lazy_rules import LazyRules
from tejat.policy.rules.rule_list import RuleList
from tejat.policy.types import NOT_SANDBOXED, Decision, PolicyRule, SandboxedCommands, Tier

CHOSEN_MODE_SOURCE = lazy("chosen in this session")
"""The source of a mode that the user switched to."""
_TIERS = {
    SourceTier.ADMIN: Tier.ADMIN,
    SourceTier.USER: Tier.USER,
    SourceTier.WORKSPACE: Tier.WORKSPACE,
    SourceTier.EXTENSION: Tier.EXTENSION,
}
_SAVED_PRIORITY = 950
"""The priority by which Gemini CLI knows the rules of saved answers."""
_ACTS_UNASKED = (ApprovalMode.AUTO_EDIT, ApprovalMode.YOLO)


class ModeChoice(Frozen):
    """The approval mode of a run, who chose it, and notes for the user."""

    mode: ApprovalMode
    source: str
    notes: tuple[str, ...] = ()


def load_policy(
    texts: Sequence[PolicyFile],
    settings: Settings,
    flags: PolicyOptions,
    *,
    is_trusted: bool = True,
    is_interactive: bool = True,
    sandboxed: SandboxedCommands = NOT_SANDBOXED,
) -> PolicyEngine:
    """Load all rules of a run, and its mode. `is_trusted` is whether its folder is.

    Raises UsageError that names the file and line of an invalid rule, or what switched off the mode.
    """
    from_files = [_load_rules(text, settings) for text in texts]
    rules: list[PolicyRule] = []
    rules += _protect_policy_paths(texts, flags.roots)
    if flags.allowed_tools or any(tool_lists(settings)):
        rules += _rules_from_settings(settings, flags)
    rules += [
        PolicyRule(Decision.ALLOW, _trust_tier(server.tier), f"{server.source} (trust)", server=alias)
        for alias, server in configured_servers(settings).items()
        if server.value.is_trusted
    ]
    if settings.conseca.value:
        source = f"{settings.conseca.source} (security.enableConseca)"
        rules.append(PolicyRule(Decision.ASK, _TIERS[settings.conseca.tier], source, spares_reading=True))
    choice = choose_mode(settings, flags.mode, is_trusted=is_trusted, names_arguments=flags.names_arguments)
    return PolicyEngine(
        RuleList((*from_files, rules)),
        choice.mode,
        mode_source=choice.source,
        is_interactive=is_interactive,
        sandboxed=sandboxed,
    )


def save_answer(paths: AppPaths, root: str, rules: Sequence[PolicyRule], scope: Scope) -> None:
    """Save the rules of an "always" for later sessions. Raises UsageError if that is not possible."""
    from tejat.config.saved_rules import save_rules
    from tejat.policy.rules.rule_format import rule_to_toml

    project = root if scope is Scope.PROJECT else None
    save_rules(paths, "\n".join(rule_to_toml(replace(rule, project=project or rule.project)) for rule in rules))


def _load_rules(text: PolicyFile, settings: Settings) -> Sequence[PolicyRule]:
    from tejat.policy.rules.rule_file import parse_rules_once

    rules = parse_rules_once(text.text, text.path, _TIERS[text.tier])
    has_limits = text.allows_nothing is not None or settings.always_disabled.value
    if isinstance(rules, LazyRules) and not has_limits and all(rule.hints is None for rule in rules.representatives):
        return rules  # as it is, not turned into rules yet
    return tuple(_limit_rules(rules, text, settings))


def _limit_rules(rules: Iterable[PolicyRule], text: PolicyFile, settings: Settings) -> Iterator[PolicyRule]:
    for rule in rules:
        if rule.decision is not Decision.ALLOW or rule.passed_over is not None:
            yield rule
        elif text.allows_nothing is not None:
            note = text.allows_nothing if text.tier is SourceTier.ADMIN else None
            yield replace(rule, passed_over=text.allows_nothing, note=note)
        elif settings.always_disabled.value and (text.is_saved or rule.priority == _SAVED_PRIORITY):
            reason = lazy("saved approvals are disabled by {source}", source=settings.always_disabled.source)
            yield replace(rule, passed_over=reason)
        elif rule.hints is not None:
            yield from _limit_to_trusted_servers(rule, settings)
        else:
            yield rule


def _limit_to_trusted_servers(rule: PolicyRule, settings: Settings) -> Iterator[PolicyRule]:
    """Let a rule that allows by annotations count for trusted servers alone: annotations are a server's own word."""
    trusted = [name for name, server in configured_servers(settings).items() if server.value.is_trusted]
    named = [name for name in trusted if rule.server in (None, "*", name)]
    yield from (replace(rule, server=name) for name in named)
    if not named:
        reason = lazy("annotations are the server's own claims, so they allow nothing unless the server is trusted")
        yield replace(rule, passed_over=reason, note=reason)


def _trust_tier(tier: SourceTier) -> Tier:
    """The tier of a server's trust. That of an extension's server is the user's, who laid an entry over it."""
    return Tier.USER if tier is SourceTier.EXTENSION else _TIERS[tier]


def _protect_policy_paths(texts: Sequence[PolicyFile], roots: Sequence[str]) -> Iterator[PolicyRule]:
    """Ask before policy files in the workspace are changed: they decide what may run next time."""
    entries = {text.entry.value: text.entry for text in texts if text.entry is not None}
    real_roots = tuple(map(os.path.realpath, roots)) if entries else ()
    for path, entry in entries.items():
        real = os.path.realpath(path)
        if is_beneath_any(real, real_roots):
            from tejat.policy.rules.patterns import escape_path

            glob = escape_path(real) + ("/**" if os.path.isdir(real) else "")
            is_extension = entry.tier is SourceTier.EXTENSION
            source = entry.source if is_extension else lazy("{source} (policy files)", source=entry.source)
            yield PolicyRule(Decision.ASK, Tier.USER, source, path=glob, spares_reading=True)


def _rules_from_settings(settings: Settings, flags: PolicyOptions) -> list[PolicyRule]:
    """Convert the tool lists of the settings and the allowed tools to rules, each with its source."""
    from tejat.policy.rules.tool_lists import ToolLists, rules_from_allowed_tools, rules_from_settings

    lists: list[tuple[Setting[object], ToolLists]] = []
    if settings.core:
        lists.append((settings.core, ToolLists(core=settings.core.value)))
    if settings.allowed:
        lists.append((settings.allowed, ToolLists(allowed=settings.allowed.value)))
    if settings.mcp_allowed:
        lists.append((settings.mcp_allowed, ToolLists(mcp_allowed=settings.mcp_allowed.value)))
    lists += [(entry, ToolLists(exclude=(entry.value,))) for entry in settings.exclude]
    lists += [(entry, ToolLists(confirmed=(entry.value,))) for entry in settings.confirmation_required]
    lists += [(entry, ToolLists(mcp_excluded=(entry.value,))) for entry in settings.mcp_excluded]
    rules = [
        rule
        for setting, named in lists
        for rule in rules_from_settings(named, tier=_TIERS[setting.tier], source=setting.source)
    ]
    source = option_name("allowed_tools", names_arguments=flags.names_arguments)
    return [*rules, *rules_from_allowed_tools(flags.allowed_tools, source=source)]


def choose_mode(settings: Settings, name: str | None, *, is_trusted: bool, names_arguments: bool = False) -> ModeChoice:
    """Choose the approval mode: that of the flag or the argument, else that of the settings.

    A flag counts in an untrusted folder too, because the user typed it; `auto_edit` from the settings does not. Raises
    UsageError if the mode is unknown, ConfigurationError if it is switched off.
    """
    if name is None:
        choice = _configured_mode(settings.approval_mode, is_trusted=is_trusted)
    else:
        choice = ModeChoice(parse_mode(name), option_name("mode", names_arguments=names_arguments))
        if choice.mode in _ACTS_UNASKED and not is_trusted:
            note = lazy("This folder is not trusted. Using mode {mode}, as requested.", mode=name)
            choice = replace(choice, notes=(note,))
    check_mode(settings, choice.mode)
    if choice.mode is ApprovalMode.PLAN and not settings.plan_enabled.value:
        note = lazy(
            "Using plan mode although {source} sets general.plan.enabled to false.",
            source=settings.plan_enabled.source,
        )
        choice = replace(choice, notes=(*choice.notes, note))
    return choice


def parse_mode(name: str) -> ApprovalMode:
    """The mode with this name. Raises UsageError for an unknown one."""
    if name not in list(ApprovalMode):
        names = ", ".join(ApprovalMode)
        raise UsageError(lazy("The mode must be one of {names}, not {given!r}.", names=names, given=name))
    return ApprovalMode(name)


def check_mode(settings: Settings, mode: ApprovalMode) -> None:
    """Raise ConfigurationError if the settings switch the mode off."""
    if mode is ApprovalMode.YOLO and settings.yolo_disabled.value:
        source = settings.yolo_disabled.source
        raise ConfigurationError(lazy("YOLO mode is disabled by {source}.", source=source))
    if mode in _ACTS_UNASKED and settings.conseca.value:
        raise ConfigurationError(
            lazy(
                "The mode {mode} is disabled by {source}: with security.enableConseca every change needs approval.",
                mode=mode.value,
                source=settings.conseca.source,
            )
        )


def _configured_mode(setting: Setting[ApprovalMode], *, is_trusted: bool) -> ModeChoice:
    if setting.value is not ApprovalMode.AUTO_EDIT or is_trusted:
        return ModeChoice(setting.value, setting.source)
    note = lazy(
        "Using the default mode: {source} sets auto_edit, but this folder is not trusted. "
        "Run `tejat trust` to trust it.",
        source=setting.source,
    )
    return ModeChoice(ApprovalMode.DEFAULT, lazy("default in an untrusted folder"), (note,))
