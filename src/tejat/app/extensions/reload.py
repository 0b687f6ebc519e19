"""Extensions read again in a running session: what came and what went."""

from typing import TYPE_CHECKING

from tejat.app.run_config import RunConfig, load_agent_config
from tejat.app.session.prompt.context import load_context_files
from tejat.app.subagents.definitions import subagent_sources
from tejat.app.tools.skill_tools import offer_skills
from tejat.config.extensions.loader import ExtensionState, find_extensions
from tejat.core.agent.options import PolicyOptions
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.ui.report import Paragraph, Report, ReportBlock, Tone
from tejat.engine.calls.policy_loader import load_policy
from tejat.policy.types import Tier

if TYPE_CHECKING:
    from tejat.app.commands.base import CommandContext


async def reload_extensions(context: "CommandContext") -> Report:
    """Read the extensions again and use them from the next prompt on; return what came and what went.

    Servers are stopped and started. Commands, skills, agents, context and rules are read again. Hooks and themes count
    from the next session on. Raises UsageError.
    """
    manager = context.manager
    old = manager.run_config
    new = _load(context)
    manager.run_config = new
    manager.prompt_expander.use_configuration(new)
    context.reload_custom_commands()
    _reload_agents(context, new)
    _reload_skills(context, new)
    _reload_rules(context, new)
    # Last: the system prompt that it renews also names the agents and skills.
    context.conversation.set_context(load_context_files(new))
    external = manager.toolset.external
    if external is not None:
        await external.restart(new)
    return _report(old, new)


def _load(context: "CommandContext") -> RunConfig:
    """The configuration as it is now, without the extensions that are off in this session. Raises UsageError."""
    options, off = context.manager.options, context.manager.session_disabled_extensions
    if off:
        config = context.run_config
        found = find_extensions(config.paths, config.roots[0], config.settings, selection=options.extensions)
        enabled = [each.name for each in found.extensions if each.state is not ExtensionState.DISABLED]
        names = tuple(name for name in enabled if name.lower() not in off)
        options = replace(options, extensions=names)
    return load_agent_config(options)


def _reload_agents(context: "CommandContext", new: RunConfig) -> None:
    manager = context.manager
    sources = subagent_sources(new, manager.toolset.registry, max_turns=manager.options.max_turns)
    manager.subagents.reload(sources)
    manager.offer_subagents()


def _reload_skills(context: "CommandContext", new: RunConfig) -> None:
    services = context.toolset.services
    if not new.settings.skills_enabled.value or not new.settings.skills_switch.value:
        return
    services.skills.use_configuration(new)
    offer_skills(services, context.registry)


def _reload_rules(context: "CommandContext", new: RunConfig) -> None:
    """Replace the rules of extensions; all others, and the mode, stay as they are. Raises UsageError."""
    permission = context.load_permission()
    added = load_policy(new.extension_effects.rules, new.settings, PolicyOptions(), is_trusted=True).rules
    kept = permission.policy.without_rules(lambda rule: rule.tier is Tier.EXTENSION)
    permission.policy = kept.with_rules(*(rule for rule in added if rule.tier is Tier.EXTENSION))


def _report(old: RunConfig, new: RunConfig) -> Report:
    before = {each.name: each for each in old.extensions}
    after = {each.name: each for each in new.extensions}
    lines = [f"+ {name} {after[name].version}" for name in after if name not in before]
    lines += [f"- {name} {before[name].version}" for name in before if name not in after]
    lines += [
        f"~ {name} {before[name].version} → {after[name].version}"
        for name in after
        if name in before and before[name].version != after[name].version
    ]
    old_servers, new_servers = set(old.settings.mcp_servers), set(new.settings.mcp_servers)
    lines += [_("+ MCP server {name}", name=name) for name in sorted(new_servers - old_servers)]
    lines += [_("- MCP server {name}", name=name) for name in sorted(old_servers - new_servers)]
    blocks: list[ReportBlock] = [Paragraph("\n".join(lines) or _("No extension came or went."))]
    if old.extension_effects.hooks != new.extension_effects.hooks:
        blocks.append(Paragraph(_("Changed hooks count from the next session on."), Tone.WARNING))
    blocks += [Paragraph(warning, Tone.WARNING) for warning in new.extension_effects.warnings]
    return Report(_("Extensions reloaded"), tuple(blocks))
