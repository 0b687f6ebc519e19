"""`tejat mcp remove`: remove a server from the user's or the project's settings."""

import os
import sys

from tejat.cli.command_parser import CommandParser
from tejat.cli.mcp.format import (
    add_scope_flag,
    folder_changed_note,
    home_scope_error,
    server_parser,
    unknown_server_message,
)
from tejat.cli.messages import one_line, print_error
from tejat.config.mcp.entries import McpServerEntries, SettingsScope
from tejat.config.paths import AppPaths, app_paths
from tejat.config.settings.loader import load_settings
from tejat.config.trust.renewal import TrustAfterEdit
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.i18n import _


def run(words: list[str]) -> int:
    """Remove a server and return the exit code. Raises UsageError, and OSError if the file cannot be written."""
    options = make_parser().parse_intermixed_args(words)
    name, scope, paths = options.name, SettingsScope(options.scope), app_paths(os.environ)
    entries = McpServerEntries(paths, os.path.abspath("."), os.environ)
    if scope is SettingsScope.PROJECT and entries.is_home:
        print(home_scope_error(), file=sys.stderr)
        return EXIT_FAILED
    if name not in entries.names(scope):
        message = _('Server "{name}" not found in {scope} settings.', name=one_line(name), scope=scope)
        print(message, file=sys.stderr)
        print_error(_elsewhere_hint(name, scope, entries, paths))
        return EXIT_FAILED
    changed = entries.paths_with(scope, name)
    trust_state = entries.remove(scope, name)
    print(_('Server "{name}" removed from {scope} settings.', name=one_line(name), scope=scope))
    for path in changed:
        print(f"  {one_line(path)}")
    if trust_state is TrustAfterEdit.CHANGED:
        print_error(folder_changed_note())
    return EXIT_OK


def _elsewhere_hint(name: str, scope: SettingsScope, entries: McpServerEntries, paths: AppPaths) -> str:
    other = SettingsScope.USER if scope is SettingsScope.PROJECT else SettingsScope.PROJECT
    known = {each: entries.names(each) for each in SettingsScope}
    if name in known[other]:
        command = f"tejat mcp remove --scope {other} {one_line(name)}"
        return _("It is in the {scope} settings: {command}", scope=other, command=command)
    # The administrator's files are left.
    settings = load_settings(paths, [], trusted=False, environment=os.environ).mcp_servers
    if name in settings:
        source = settings[name].source
        return _("It is in {source}, which only an administrator can change.", source=source)
    return unknown_server_message(name, {*known[SettingsScope.USER], *known[SettingsScope.PROJECT], *settings})


def make_parser() -> CommandParser:
    """The parser of `tejat mcp remove`."""
    parser = server_parser(
        "remove",
        _("Remove an MCP server from the settings. Saved approvals of its tools stay until you revoke them."),
        (
            ("0", _("removed")),
            ("1", _("no such server")),
            ("2", _("bad usage")),
            ("52", _("the settings have errors")),
        ),
        usage="tejat mcp remove NAME [--scope user|project]",
    )
    add_scope_flag(parser)
    return parser
