"""Messages that the `tejat mcp` subcommands share."""

import argparse
import os
from collections.abc import Collection, Mapping, Sequence

from tejat.cli.command_parser import CommandParser, Rows
from tejat.cli.messages import one_line, print_errors
from tejat.config.mcp.entries import SettingsScope
from tejat.core.i18n import _
from tejat.core.text.edit_distance import edit_distance

_MAX_NAMES = 3


def server_parser(command: str, description: str, exit_codes: Rows, *, usage: str = "") -> CommandParser:
    """A parser for a subcommand of `tejat mcp` with the argument NAME."""
    usages = (usage,) if usage else ()
    parser = CommandParser(f"tejat mcp {command}", description, usages=usages, exit_codes=exit_codes)
    parser.add_argument("name", metavar="NAME", help=_("the server"))
    return parser


def add_scope_flag(parser: argparse.ArgumentParser) -> None:
    scopes = [scope.value for scope in SettingsScope]
    help_text = _("user or project settings (default: project)")
    parser.add_argument("-s", "--scope", choices=scopes, default="project", metavar="SCOPE", help=help_text)


def home_scope_error() -> str:
    return _("Error: Please use --scope user to edit settings in the home directory.")


def folder_changed_note() -> str:
    return _("This folder changed in another way since it was trusted. Review it with `tejat trust`.")


def print_unknown_server(name: str, known: Collection[str], notes: Sequence[str]) -> None:
    """Report an unknown server, with the notes that may explain it."""
    print_errors([*notes, unknown_server_message(name, known)])


def unknown_server_message(name: str, known: Collection[str]) -> str:
    """The message about an unknown server, with the closest known names."""
    message = _('There is no MCP server "{name}" in the settings.', name=one_line(name))
    if not known:
        return message + " " + _("Add one with `tejat mcp add`.")
    closest = sorted(known, key=lambda other: (edit_distance(name.lower()[:100], other.lower()[:100]), other))
    listed = ", ".join(map(one_line, closest[:_MAX_NAMES]))
    return message + " " + _("Known servers: {names}.", names=listed)


def supports_unicode(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the terminal likely shows more than ASCII, by its locale."""
    given = {name: environment.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG")}
    # Python sets this for its child processes if there is no other locale.
    if given["LC_CTYPE"] == "C.UTF-8":
        given["LC_CTYPE"] = ""
    locale = given["LC_ALL"] or given["LC_CTYPE"] or given["LANG"]
    return "utf8" in locale.lower().replace("-", "")
