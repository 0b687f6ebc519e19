"""`tejat mcp enable` and `tejat mcp disable`."""

import argparse
import os
from contextlib import suppress

from tejat.app.run_config import RunConfig, load_run_config
from tejat.cli.command_parser import CommandParser
from tejat.cli.mcp.format import server_parser, unknown_server_message
from tejat.cli.messages import one_line, print_error
from tejat.config.mcp.enablement import disabled_servers, is_disabled, set_server_enabled
from tejat.config.mcp.entries import McpServerEntries, SettingsScope
from tejat.config.settings.admin import require_mcp_enabled
from tejat.config.settings.types import configured_servers
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.i18n import _


def run(words: list[str], *, on: bool) -> int:
    """Enable or disable a server and return the exit code. Raises UsageError, and OSError if that cannot be saved."""
    options = make_parser(on=on).parse_args(words)
    if options.session:
        raise UsageError(
            _(
                "--session is not supported: this setting is permanent. To limit the servers of one run, use "
                "--allowed-mcp-server-names LIST."
            )
        )
    run_config = load_run_config(["."])
    if on:
        require_mcp_enabled(run_config.settings)
    known = _known_servers(run_config)
    if options.name not in known and not is_disabled(options.name, disabled_servers(run_config.paths)):
        print_error(unknown_server_message(options.name, known))
        return EXIT_FAILED
    has_changed = set_server_enabled(run_config.paths, options.name, enabled=on)
    print(_outcome(one_line(options.name), on=on, has_changed=has_changed))
    if has_changed:
        print(f"  {one_line(run_config.paths.mcp_enablement)}")
    return EXIT_OK


def _outcome(name: str, *, on: bool, has_changed: bool) -> str:
    match on, has_changed:
        case True, True:
            return _('MCP server "{name}" is enabled.', name=name)
        case True, False:
            return _('MCP server "{name}" is already enabled.', name=name)
        case False, True:
            return _('MCP server "{name}" is disabled.', name=name)
        case _:
            return _('MCP server "{name}" is already disabled.', name=name)


def _known_servers(run_config: RunConfig) -> set[str]:
    """Configured servers, including those of a project that is not trusted yet."""
    known = set(configured_servers(run_config.settings))
    with suppress(ConfigurationError):
        known |= set(McpServerEntries(run_config.paths, run_config.roots[0], os.environ).names(SettingsScope.PROJECT))
    return known


def make_parser(*, on: bool) -> CommandParser:
    """The parser of `tejat mcp enable` or `tejat mcp disable`."""
    parser = server_parser(
        "enable" if on else "disable",
        _("Start the MCP servers with this name in later sessions, in every project.")
        if on
        else _("Do not start MCP servers with this name in later sessions, in any project."),
        (("0", _("done")), ("1", _("no such server")), ("2", _("bad usage")), ("52", _("a file has errors"))),
    )
    parser.add_argument("--session", action="store_true", help=argparse.SUPPRESS)
    return parser
