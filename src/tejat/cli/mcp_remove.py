"""`tejat mcp remove`: a server is taken out of the settings of the person or of the project."""

import argparse
import os
import sys

from tejat.cli.mcp_shown import HOME_PROBLEM, note, on_one_line, unknown_server
from tejat.config.load import load_settings
from tejat.config.mcp_entries import Scope, ServerEntries
from tejat.config.places import Places, places_of
from tejat.config.trust_renewal import Standing
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK


def run(words: list[str]) -> int:
    """Remove a server and return the exit code. Raises UsageError, and OSError where the file cannot be written."""
    options = _parser().parse_intermixed_args(words)
    name, scope, places = options.name, Scope(options.scope), places_of(os.environ)
    entries = ServerEntries(places, os.path.abspath("."), os.environ)
    if scope is Scope.PROJECT and entries.is_home:
        print(HOME_PROBLEM, file=sys.stderr)
        return EXIT_FAILED
    if name not in entries.names(scope):
        print(f'Server "{on_one_line(name)}" not found in {scope} settings.', file=sys.stderr)
        note(_where_else(name, scope, entries, places))
        return EXIT_FAILED
    standing = entries.remove(scope, name)
    print(f'Server "{on_one_line(name)}" removed from {scope} settings.')
    if standing is Standing.CHANGED:
        note("Something else in this folder has changed since it was trusted. Look at it with `tejat trust`.")
    return EXIT_OK


def _where_else(name: str, scope: Scope, entries: ServerEntries, places: Places) -> str:
    other = Scope.USER if scope is Scope.PROJECT else Scope.PROJECT
    known = {each: entries.names(each) for each in Scope}
    if name in known[other]:
        return f"It is in the {other} settings: tejat mcp remove --scope {other} {on_one_line(name)}"
    # What is left are files of whoever runs the machine.
    settings = load_settings(places, [], trusted=False, environment=os.environ).mcp_servers
    if name in settings:
        return f"It is in {settings[name].source}, which belongs to whoever runs this machine."
    return unknown_server(name, {*known[Scope.USER], *known[Scope.PROJECT], *settings})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tejat mcp remove",
        description="Take an MCP server out of the settings. What it was allowed to do is kept until you revoke it.",
        epilog="exit codes: 0 removed, 1 it is not there, 2 bad usage, 52 the settings cannot be relied on",
        allow_abbrev=False,
    )
    parser.add_argument("name", metavar="NAME", help="the server")
    parser.add_argument(
        "-s",
        "--scope",
        choices=[scope.value for scope in Scope],
        default="project",
        help="whose settings (default: project)",
    )
    return parser
