"""`tejat mcp enable` and `disable`: whether a server is started in later sessions."""

import argparse
import os
from contextlib import suppress

from tejat.app.ground import Ground, survey
from tejat.cli.mcp_shown import note, on_one_line, unknown_server
from tejat.config.mcp_enablement import disabled_servers, is_disabled, switch_server
from tejat.config.mcp_entries import Scope, ServerEntries
from tejat.config.settings import servers_of
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.words import say


def run(words: list[str], *, on: bool) -> int:
    """Switch a server on or off and return the exit code. Raises UsageError, and OSError where that cannot be kept."""
    options = _parser(on=on).parse_args(words)
    if options.session:
        raise UsageError(
            say(
                "A switch always lasts. "
                "To choose the servers of one run, give that run --allowed-mcp-server-names LIST."
            )
        )
    ground = survey(["."])
    known = _known(ground)
    if options.name not in known and not is_disabled(options.name, disabled_servers(ground.places)):
        note(unknown_server(options.name, known))
        return EXIT_FAILED
    has_changed = switch_server(ground.places, options.name, on=on)
    print(_outcome(on_one_line(options.name), on=on, has_changed=has_changed))
    return EXIT_OK


def _outcome(name: str, *, on: bool, has_changed: bool) -> str:
    match on, has_changed:
        case True, True:
            return say('MCP server "{name}" is enabled.', name=name)
        case True, False:
            return say('MCP server "{name}" is already enabled.', name=name)
        case False, True:
            return say('MCP server "{name}" is disabled.', name=name)
        case _:
            return say('MCP server "{name}" is already disabled.', name=name)


def _known(ground: Ground) -> set[str]:
    """Every server that counts here, and those of a project that nobody trusts yet."""
    known = set(servers_of(ground.settings))
    with suppress(ConfigurationError):
        known |= set(ServerEntries(ground.places, ground.roots[0], os.environ).names(Scope.PROJECT))
    return known


def _parser(*, on: bool) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"tejat mcp {'enable' if on else 'disable'}",
        description=say("Start an MCP server in later sessions, wherever one is called so.")
        if on
        else say("Do not start an MCP server in later sessions, wherever one is called so."),
        epilog=say("exit codes: 0 done, 1 there is no such server, 2 bad usage, 52 a file cannot be relied on"),
        allow_abbrev=False,
    )
    parser.add_argument("name", metavar="NAME", help=say("the server"))
    parser.add_argument("--session", action="store_true", help=argparse.SUPPRESS)
    return parser
