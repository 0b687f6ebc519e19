"""Stdio transports from settings."""

import os
from collections.abc import Mapping

from tejat.config.env_expansion import env_resolver
from tejat.config.paths import SourceTier
from tejat.config.settings.types import McpServer, Setting
from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.core.sanitize import sanitize_text
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.transports.stdio import SandboxWrapper, StdioTransport
from tejat.workspace.processes.environment import NO_LISTS, VariableLists, child_environment
from tejat.workspace.processes.program import find_program, path_in_container
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

_LOADER_PREFIXES = ("LD_", "DYLD_")


def create_stdio_transport(
    setting: Setting[McpServer],
    *,
    supervisor: ProcessSupervisor,
    root: str,
    base_environment: Mapping[str, str],
    variables: Mapping[str, str] | None = None,
    variable_lists: VariableLists = NO_LISTS,
    wrap: SandboxWrapper | None = None,
    in_container: bool = False,
) -> StdioTransport:
    """Create the transport to a server with a `command`. It runs in its own directory or in `root`, an absolute path.

    The program sees the safe variables of `base_environment` and those of its setting. References in these are expanded
    from `variables`, or else `base_environment`, except secrets if the setting comes from a project; unset ones become
    empty, and so do those that `variable_lists` block. If `wrap` makes it run `in_container`, its program is looked up
    there. Raises McpFailure with CONFIGURATION or START.
    """
    server = setting.value
    if server.command is None:
        raise McpFailure(lazy("The server has no `command`."), McpProblem.CONFIGURATION)
    known = variable_lists.without_blocked(base_environment if variables is None else variables)
    # The variables of an extension's server are expanded already, and nothing is expanded twice.
    resolve = str if setting.tier is SourceTier.EXTENSION else env_resolver(known, setting.tier, unset="")
    own = variable_lists.without_blocked(server.environment)
    if wrap is not None:  # the sandbox itself starts outside, and must not load what a server names
        own = {name: given for name, given in own.items() if not name.startswith(_LOADER_PREFIXES)}
    try:
        environment = child_environment(
            base_environment,
            lists=VariableLists(allowed=variable_lists.allowed, blocked=variable_lists.blocked),
            extra={name: resolve(given) for name, given in own.items()},
        )
    except UsageError as error:
        message = lazy("The server's `env` is invalid. {why}", why=error)
        raise McpFailure(message, McpProblem.CONFIGURATION) from error
    directory = os.path.join(root, server.directory or "")
    if in_container and wrap is not None:
        program = path_in_container(server.command, directory)
    else:
        program = _find_program(server.command, directory=directory, environment=environment)
    return StdioTransport(
        supervisor, program, server.arguments, directory=directory, environment=environment, wrap=wrap
    )


def _find_program(command: str, *, directory: str, environment: Mapping[str, str]) -> str:
    try:
        program = find_program(command, directory=directory, environment=environment)
    except FileNotFoundError as error:
        raise _not_found(command, lazy("on PATH")) from error
    if not os.access(program, os.X_OK):
        raise _not_found(command, lazy("that is executable"))
    return program


def _not_found(command: str, where: str) -> McpFailure:
    """Create the failure. Only the first word of the command is shown: the others may be secret arguments."""
    name, *others = command.split(maxsplit=1) or [""]
    next_step = (
        lazy("`command` is the program only: put its arguments in `args`.")
        if others
        else lazy("Install it, or fix `command`, which may be a path.")
    )
    message = lazy(
        "The server did not start: no program {name!r} {where}. {next_step}",
        name=sanitize_text(name),
        where=where,
        next_step=next_step,
    )
    return McpFailure(message, McpProblem.START)
