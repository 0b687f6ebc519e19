"""`tejat mcp remove`: a server is taken out of the settings of the person or of the project."""

import argparse
import os
import sys

from tejat.cli.mcp_shown import has_changed, home_problem, note, on_one_line, unknown_server
from tejat.config.load import load_settings
from tejat.config.mcp_entries import Scope, ServerEntries
from tejat.config.places import Places, places_of
from tejat.config.trust_renewal import Standing
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.words import say


def run(words: list[str]) -> int:
    """Remove a server and return the exit code. Raises UsageError, and OSError where the file cannot be written."""
    options = _parser().parse_intermixed_args(words)
    name, scope, places = options.name, Scope(options.scope), places_of(os.environ)
    entries = ServerEntries(places, os.path.abspath("."), os.environ)
    if scope is Scope.PROJECT and entries.is_home:
        print(home_problem(), file=sys.stderr)
        return EXIT_FAILED
    if name not in entries.names(scope):
        told = say('Server "{name}" not found in {scope} settings.', name=on_one_line(name), scope=scope)
        print(told, file=sys.stderr)
        note(_where_else(name, scope, entries, places))
        return EXIT_FAILED
    standing = entries.remove(scope, name)
    print(say('Server "{name}" removed from {scope} settings.', name=on_one_line(name), scope=scope))
    if standing is Standing.CHANGED:
        note(has_changed())
    return EXIT_OK


def _where_else(name: str, scope: Scope, entries: ServerEntries, places: Places) -> str:
    other = Scope.USER if scope is Scope.PROJECT else Scope.PROJECT
    known = {each: entries.names(each) for each in Scope}
    if name in known[other]:
        command = f"tejat mcp remove --scope {other} {on_one_line(name)}"
        return say("It is in the {scope} settings: {command}", scope=other, command=command)
    # What is left are files of whoever runs the machine.
    settings = load_settings(places, [], trusted=False, environment=os.environ).mcp_servers
    if name in settings:
        source = settings[name].source
        return say("It is in {source}, which belongs to whoever runs this machine.", source=source)
    return unknown_server(name, {*known[Scope.USER], *known[Scope.PROJECT], *settings})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tejat mcp remove",
        description=say(
            "Take an MCP server out of the settings. What it was allowed to do is kept until you revoke it."
        ),
        epilog=say("exit codes: 0 removed, 1 it is not there, 2 bad usage, 52 the settings cannot be relied on"),
        allow_abbrev=False,
    )
    parser.add_argument("name", metavar="NAME", help=say("the server"))
    parser.add_argument(
        "-s",
        "--scope",
        choices=[scope.value for scope in Scope],
        default="project",
        help=say("whose settings (default: project)"),
    )
    return parser
