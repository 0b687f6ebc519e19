"""How a server that is a program is started, as the settings have it."""

import os
from collections.abc import Mapping

from tejat.config.references import resolver
from tejat.config.settings import McpServer, Setting
from tejat.core.errors import UsageError
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.stdio import StdioTransport, Wrap
from tejat.workspace.processes.environment import child_environment
from tejat.workspace.processes.keeping import Keeper
from tejat.workspace.processes.program import find_program


def stdio_transport(
    setting: Setting[McpServer],
    *,
    keeper: Keeper,
    root: str,
    base: Mapping[str, str],
    wrap: Wrap | None = None,
) -> StdioTransport:
    """The way to a server with a `command`. It runs in its own directory or in `root`, an absolute path.

    It sees what programs need of the environment `base`, and what its setting gives it: references in there stand for
    variables of `base`, but for none that looks like a secret where a project asks for it; one without a value becomes
    nothing. Raises McpFailure with CONFIGURATION or START.
    """
    server = setting.value
    if server.command is None:
        raise McpFailure(phrase("The server has no `command`."), McpProblem.CONFIGURATION)
    resolve = resolver(base, setting.tier, unset="")
    try:
        environment = child_environment(
            base, extra={name: resolve(given) for name, given in server.environment.items()}
        )
    except UsageError as error:
        raise McpFailure(
            phrase("The server's `env` cannot be used. {why}", why=error), McpProblem.CONFIGURATION
        ) from error
    directory = os.path.join(root, server.directory or "")
    program = _found(server.command, directory=directory, environment=environment)
    return StdioTransport(keeper, program, server.arguments, directory=directory, environment=environment, wrap=wrap)


def _found(command: str, *, directory: str, environment: Mapping[str, str]) -> str:
    try:
        program = find_program(command, directory=directory, environment=environment)
    except FileNotFoundError as error:
        raise _not_found(command, phrase("on PATH")) from error
    if not os.access(program, os.X_OK):
        raise _not_found(command, phrase("that can be run"))
    return program


def _not_found(command: str, where: str) -> McpFailure:
    """Words after the first may be arguments, and arguments may be secret."""
    name, *others = command.split(maxsplit=1) or [""]
    next_step = (
        phrase("`command` is the program alone: put its arguments into `args`.")
        if others
        else phrase("Install it, or correct `command`, which may be a path.")
    )
    return McpFailure(
        phrase(
            "The server was not started: there is no program {name!r} {where}. {next_step}",
            name=visible(name),
            where=where,
            next_step=next_step,
        ),
        McpProblem.START,
    )
