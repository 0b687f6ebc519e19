"""Reports on the policy of a run: notes at start, and checks for `tejat doctor` and `/about`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tejat.app.run_config import RunConfig
from tejat.config.policy_files import read_policy_files
from tejat.config.settings.types import configured_servers
from tejat.core.agent.options import PolicyOptions
from tejat.core.approval.policy_report import DoctorCheck, describe_mode
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.exit_codes import EXIT_CONFIGURATION, EXIT_INPUT
from tejat.core.i18n import lazy, lazy_plural
from tejat.engine.calls.policy_loader import choose_mode, load_policy
from tejat.policy.engine import SANDBOXED_SETTING, PolicyEngine
from tejat.policy.rules.unknown_names import find_unknown_names, find_unknown_skills
from tejat.policy.tool_names import TOOL_ALIASES
from tejat.policy.types import Decision, PolicyRule, Tier
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.app.tools.toolset import Toolset

_GROUP = lazy("policy")


def load_and_report(toolset: "Toolset", run_config: RunConfig, mode: str | None) -> PolicyEngine:
    """Load the policy and note what is special about it, before the first call. Raises UsageError for a broken rule."""
    policy = toolset.start_scheduler().permission.policy
    toolset.policy_notes = tuple(policy_notes(run_config, mode, policy))
    toolset.notes += (*toolset.policy_notes, *unknown_rule_names(policy, toolset.registry, run_config))
    return policy


def policy_notes(run_config: RunConfig, mode: str | None, policy: PolicyEngine) -> Iterator[str]:
    """Yield what differs from what the user may expect of the mode and the rules. `mode` is that of the flag."""
    settings, trust = run_config.settings, run_config.trust
    choice = choose_mode(settings, mode, is_trusted=trust.is_trusted)
    if mode is None or trust.is_trusted or run_config.trust_relevant_files:
        yield from choice.notes
    if settings.conseca.value:
        yield _conseca_note(settings.conseca.source)
    if any(rule.note is not None for rule in policy.representatives):
        count = len({rule.source for rule in policy.rules if rule.note is not None})
        yield lazy_plural(
            "{count} policy rule is ignored or applies more widely than written. See `tejat policy list`.",
            "{count} policy rules are ignored or apply more widely than written. See `tejat policy list`.",
            count,
        )


def unknown_rule_names(policy: PolicyEngine, registry: ToolRegistry, run_config: RunConfig) -> list[str]:
    """Report rules for tools that do not exist; which ones a discovery command will find is not known yet."""
    settings, unknown_skills = run_config.settings, _unknown_skills(policy, run_config)
    if settings.discovery_command is not None:
        return unknown_skills
    tools, servers = {*TOOL_ALIASES, *registry.settings_names()}, configured_servers(settings)
    if servers:
        # A tool of a server is excluded by its own name, too.
        tools.update(entry.value for entry in settings.exclude)
    if not find_unknown_names(policy.representatives, tools=tools, servers=servers):
        return unknown_skills
    from tejat.app.subagents.definitions import load_subagents

    # The names of agents are names of tools in rules.
    agents = load_subagents(run_config, registry).entries
    tools.update(name for agent in agents for name in (agent.name, agent.qualified_name))
    return [*find_unknown_names(policy.rules, tools=tools, servers=servers), *unknown_skills]


def are_plain(policy: PolicyEngine) -> bool:
    """Whether the configured rules hide no tool, need no note, and name built-in tools only, whatever the settings."""
    return all(map(_is_plain, policy.representatives))


def _is_plain(rule: PolicyRule) -> bool:
    if rule.tier is Tier.DEFAULT:
        return True
    needs_no_names = rule.server is None and rule.hints is None and rule.skill is None
    is_of_known_tool = rule.tool == "*" or rule.tool in TOOL_ALIASES
    hides_tools = rule.decision is Decision.DENY and not rule.is_restricted
    return needs_no_names and is_of_known_tool and not hides_tools and rule.note is None


def _unknown_skills(policy: PolicyEngine, run_config: RunConfig) -> list[str]:
    if all(rule.skill is None for rule in policy.representatives):
        return []
    from tejat.app.skills.service import load_library

    return find_unknown_skills(policy.rules, [skill.qualified_name for skill in load_library(run_config).skills])


def _conseca_note(source: str) -> str:
    return lazy(
        "{source}: no model judges calls here. With security.enableConseca, every call that changes something "
        "needs approval.",
        source=source,
    )


def _sandboxed_note(run_config: RunConfig) -> str:
    """Say whether sandboxed commands run without asking in a run without flags."""
    from tejat.engine.calls.approval.auto_allow import sandboxed_commands

    settings = run_config.settings
    sandboxed = sandboxed_commands(settings, None, is_untrusted=run_config.is_untrusted)
    source = settings.auto_allow_sandboxed.source
    if sandboxed.refusal:
        return lazy("{source}: no effect, because {why}", source=source, why=sandboxed.refusal)
    return lazy("{source}: sandboxed commands that only read, test or build run without asking", source=source)


def policy_checks(run_config: RunConfig) -> Iterator[DoctorCheck]:
    """Check the approval mode and the rules of a run without flags."""
    # Imported late: a run does not need them.
    from tejat.app.setup.fixes import fault_fix, source_fix
    from tejat.engine.calls.policy_inspector import rule_problems

    settings, options = run_config.settings, PolicyOptions(run_config.roots)
    try:
        is_trusted = run_config.trust.is_trusted
        texts = read_policy_files(run_config.paths, run_config.roots, settings, options, is_trusted=is_trusted)
        texts += run_config.extension_effects.rules
        policy = load_policy(texts, settings, options, is_trusted=is_trusted)
    except UsageError as error:
        code = EXIT_CONFIGURATION if isinstance(error, ConfigurationError) else EXIT_INPUT
        fix = fault_fix(error) if isinstance(error, ConfigurationError) else source_fix(str(error))
        yield DoctorCheck(_GROUP, lazy("rules"), passed=False, detail=str(error), exit_code=code, fix=fix)
        return
    shown = describe_mode(policy.mode.value, policy.mode_source)
    yield DoctorCheck(_GROUP, lazy("mode at start"), passed=True, detail=shown)
    if settings.auto_allow_sandboxed.value:
        yield DoctorCheck(_GROUP, SANDBOXED_SETTING, passed=True, detail=_sandboxed_note(run_config))
    if settings.conseca.value:
        yield DoctorCheck(_GROUP, "security.enableConseca", passed=True, detail=_conseca_note(settings.conseca.source))
    for problem in rule_problems(policy.rules):
        yield DoctorCheck(_GROUP, lazy("rule"), passed=True, detail=problem)
