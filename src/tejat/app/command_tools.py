"""The tools that the discovery command of the settings tells of."""

from collections.abc import Callable

from tejat.app.foreign import Surroundings
from tejat.app.ground import Ground
from tejat.config.named_files import NamedCommand
from tejat.config.pinned_files import PinnedCommand, changed_in_words
from tejat.config.places import SourceTier
from tejat.config.settings import Setting
from tejat.core.errors import UsageError
from tejat.core.visible import visible
from tejat.core.words import phrase, say
from tejat.tools.command_discovery import DiscoveryFailed, discover
from tejat.tools.discovered_tool import DiscoveredTool
from tejat.tools.registry import Source, entry_of


async def discover_by_command(
    here: Surroundings, command: Setting[tuple[str, ...]], tell: Callable[[str], None]
) -> None:
    """Run the command and register what it tells of. What goes wrong is told, and ends nothing."""
    ground, settings, house = here.ground, here.ground.settings, here.house
    if not ground.trust.is_trusted:
        reason = ground.trust.reason
        tell(say("The tool discovery command is not run. {reason} See `tejat trust`.", reason=reason))
        return
    try:
        found = await discover(
            command.value, keeper=house.keeper, directory=ground.roots[0], environment=house.child_environment
        )
    except DiscoveryFailed as failure:
        tell("\n".join(failure.lines))
        return
    except UsageError as error:
        tell(str(error))
        return
    pinned = _pinned(settings.call_command, ground)
    tools = [
        DiscoveredTool(
            declared,
            discovery_command=command.value,
            call_command=() if settings.call_command is None else settings.call_command.value,
            keeper=house.keeper,
            directory=ground.roots[0],
            environment=house.child_environment,
            strict_stderr=settings.strict_stderr.value,
            objection=lambda: _objection(pinned),
        )
        for declared in found.tools
    ]
    problems = here.registry.replace_discovered(
        entry_of(tool, source=Source.DISCOVERED, spellings=(f"discovered_tool_{tool.name}",), origin=command.source)
        for tool in tools
    )
    for line in (*found.warnings, *map(visible, problems)):
        tell(line)
    if found.stderr:
        tell("\n  ".join((say("The tool discovery command printed on its error output:"), *found.stderr)))


def _pinned(command: Setting[tuple[str, ...]] | None, ground: Ground) -> PinnedCommand | None:
    """The command of a project that calls its tools: it runs only what was trusted."""
    if command is None or command.tier is not SourceTier.WORKSPACE:
        return None
    program, *arguments = command.value
    return PinnedCommand(NamedCommand(program, arguments), ground.roots[0], ground.trust.items)


def _objection(pinned: PinnedCommand | None) -> str | None:
    changed = None if pinned is None else pinned.changed()
    return None if changed is None else phrase("It was not run: {why}.", why=changed_in_words(changed))
