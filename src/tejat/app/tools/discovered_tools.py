"""Tools from the discovery command of the settings."""

from collections.abc import Callable

from tejat.app.run_config import RunConfig
from tejat.app.tools.external_tools import ExternalToolContext
from tejat.config.paths import SourceTier
from tejat.config.settings.types import Setting
from tejat.config.trust.command_files import CommandSpec
from tejat.config.trust.pinned_commands import PinnedCommand, describe_changed_file
from tejat.core.errors import UsageError
from tejat.core.i18n import _, lazy
from tejat.core.provenance import ToolSource
from tejat.core.sanitize import sanitize_text
from tejat.tools.discovered.discovered_tool import DiscoveredTool
from tejat.tools.discovered.discovery import DiscoveryFailed, discover_tools
from tejat.tools.registry import entry_for


async def register_discovered_tools(
    context: ExternalToolContext, command: Setting[tuple[str, ...]], notify: Callable[[str], None]
) -> None:
    """Run the discovery command and register its tools. Failures are reported to `notify`."""
    run_config, settings, services = context.run_config, context.run_config.settings, context.services
    if not run_config.trust.is_trusted:
        reason = run_config.trust.reason
        notify(_("The tool discovery command was not run. {reason} See `tejat trust`.", reason=reason))
        return
    try:
        found = await discover_tools(
            command.value,
            supervisor=services.supervisor,
            directory=run_config.roots[0],
            environment=services.child_environment,
            wrap=services.sandbox.container_wrapper,
        )
    except DiscoveryFailed as failure:
        notify("\n".join(failure.lines))
        return
    except UsageError as error:
        notify(str(error))
        return
    pinned = _pinned_command(settings.call_command, run_config)
    tools = [
        DiscoveredTool(
            declared,
            discovery_command=command.value,
            call_command=() if settings.call_command is None else settings.call_command.value,
            supervisor=services.supervisor,
            directory=run_config.roots[0],
            environment=services.child_environment,
            strict_stderr=settings.strict_stderr.value,
            blocked_reason=lambda: _change_objection(pinned),
            wrap=services.sandbox.container_wrapper,
        )
        for declared in found.tools
    ]
    problems = context.registry.replace_discovered_tools(
        entry_for(
            tool, source=ToolSource.DISCOVERED, alternate_names=(f"discovered_tool_{tool.name}",), origin=command.source
        )
        for tool in tools
    )
    for line in (*found.warnings, *map(sanitize_text, problems)):
        notify(line)
    if found.stderr:
        notify("\n  ".join((_("The tool discovery command printed errors:"), *found.stderr)))


def _pinned_command(command: Setting[tuple[str, ...]] | None, run_config: RunConfig) -> PinnedCommand | None:
    """The pinned call command of a project: it runs only what was trusted."""
    if command is None or command.tier is not SourceTier.WORKSPACE:
        return None
    program, *arguments = command.value
    return PinnedCommand(CommandSpec(program, arguments), run_config.roots[0], run_config.trust.items)


def _change_objection(pinned: PinnedCommand | None) -> str | None:
    changed = None if pinned is None else pinned.find_changed_file()
    return None if changed is None else lazy("It was not run: {why}.", why=describe_changed_file(changed))
