"""`tejat mcp add`: add a server to the user's or the project's settings."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

from tejat.cli.command_parser import CommandParser
from tejat.cli.mcp.format import add_scope_flag, folder_changed_note, home_scope_error
from tejat.cli.messages import one_line, print_errors
from tejat.config.env_expansion import is_secret
from tejat.config.mcp.entries import McpServerEntries, SettingsScope, validate_server_url
from tejat.config.paths import app_paths
from tejat.config.settings.admin import require_mcp_enabled
from tejat.config.trust.renewal import TrustAfterEdit
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.i18n import _
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.mcp.names import alias_problem


def run(words: list[str]) -> int:
    """Add a server and return the exit code. Raises UsageError, and OSError if the file cannot be written."""
    parser = make_parser()
    split = _split(words)
    options = parser.parse_args(split.options)
    if split.name is None or split.command is None:
        parser.error(_("Missing arguments: NAME, and the COMMAND or URL of the server."))
    entry, transport = _entry(split.command, split.arguments, options)
    if problem := alias_problem(split.name):
        raise UsageError(problem)
    scope = SettingsScope(options.scope)
    entries = McpServerEntries(app_paths(os.environ), os.path.abspath("."), os.environ)
    require_mcp_enabled(entries.settings())
    if scope is SettingsScope.PROJECT and entries.is_home:
        print(home_scope_error(), file=sys.stderr)
        return EXIT_FAILED
    is_there = split.name in entries.names(scope)
    trust_state = entries.put(scope, split.name, entry)
    if is_there:
        done = _('MCP server "{name}" updated in {scope} settings.', name=split.name, scope=scope)
    else:
        done = _('MCP server "{name}" added to {scope} settings.', name=split.name, scope=scope)
    print(f"{done} ({transport})")
    print(f"  {one_line(entries.path(scope))}")
    print_errors(_notes(split, options, entries, trust_state))
    return EXIT_OK


class _SplitArguments(NamedTuple):
    """Our options, and the server's command with its arguments. None: not given."""

    options: list[str]
    name: str | None
    command: str | None
    arguments: list[str]


def _split(words: Sequence[str]) -> _SplitArguments:
    """Split the words: those before COMMAND are ours, up to the first `--`, which is dropped."""
    options: list[str] = []
    positional: list[str] = []
    rest = list(words)
    while rest and len(positional) < 2:
        word = rest.pop(0)
        if word == "--":
            positional, rest = [*positional, *rest[: 2 - len(positional)]], rest[2 - len(positional) :]
            return _SplitArguments(options, *_first_two(positional), rest)
        if not word.startswith("-") or word == "-":
            positional.append(word)
            continue
        options.append(word)
        if _takes_value(word) and rest:
            options.append(rest.pop(0))
    name, command = _first_two(positional)
    if command is not None and _is_url(command):
        return _SplitArguments([*options, *rest], name, command, [])
    if "--" in rest:
        rest.remove("--")
    return _SplitArguments(options, name, command, rest)


def _takes_value(option: str) -> bool:
    if option.startswith("--"):
        return "=" not in option and option not in ("--trust", "--help", "--debug", "--version")
    return len(option) == 2 and option not in ("-h", "-d", "-v", "-V")


def _first_two(words: Sequence[str]) -> tuple[str | None, str | None]:
    name, command, *_ = (*words, None, None)
    return name, command


def _is_url(word: str) -> bool:
    return word.lower().startswith(("http://", "https://"))


def _entry(command: str, arguments: list[str], options: argparse.Namespace) -> tuple[JsonObject, str]:
    """The settings entry and its transport. Raises UsageError."""
    for word in (command, *arguments, options.cwd or "", options.description or ""):
        if not _is_plain(word):
            raise UsageError(_("An argument is not valid text and cannot be stored in the settings."))
    transport = options.transport or ("http" if _is_url(command) else "stdio")
    is_program = transport == "stdio"
    entry = _stdio_entry(command, arguments, options) if is_program else _remote_entry(command, transport, options)
    more: dict[str, JsonValue] = {
        "timeout": options.timeout,
        "trust": options.trust or None,
        "description": options.description,
        "includeTools": _names(options.include_tools),
        "excludeTools": _names(options.exclude_tools),
    }
    return {**entry, **{name: value for name, value in more.items() if value is not None}}, transport


def _stdio_entry(command: str, arguments: list[str], options: argparse.Namespace) -> JsonObject:
    if _is_url(command):
        raise UsageError(_("A URL needs -t http or -t sse, not -t stdio."))
    if not command.strip():
        raise UsageError(_("The command is empty."))
    if options.header:
        raise UsageError(_("-H works only with a URL. For a command use -e KEY=VALUE."))
    more: dict[str, JsonValue] = {"args": arguments, "env": dict(options.env or ()), "cwd": options.cwd}
    return {"command": command, **{name: value for name, value in more.items() if value}}


def _remote_entry(url: str, transport: str, options: argparse.Namespace) -> JsonObject:
    validate_server_url(url)
    if options.env or options.cwd:
        raise UsageError(_("-e and --cwd work only with a command. For a URL use -H."))
    entry: dict[str, JsonValue] = {"httpUrl": url} if transport == "http" else {"url": url, "type": "sse"}
    if options.header:
        entry["headers"] = dict(options.header)
    return entry


def _names(lists: "list[str] | None") -> "list[JsonValue] | None":
    if lists is None:
        return None
    return [name.strip() for names in lists for name in names.split(",") if name.strip()]


def _notes(
    split: _SplitArguments, options: argparse.Namespace, entries: McpServerEntries, trust_state: TrustAfterEdit
) -> list[str]:
    """Notes for the user about the new entry."""
    notes: list[str] = []
    scope = SettingsScope(options.scope)
    if trust_state is TrustAfterEdit.NOT_TRUSTED:
        notes.append(_("This folder is not trusted, so its servers are not started. Trust it with `tejat trust`."))
    elif trust_state is TrustAfterEdit.CHANGED:
        notes.append(folder_changed_note())
    if options.transport is None and _is_url(split.command or ""):
        notes.append(_("Added with the streamable HTTP transport. For the older SSE transport use -t sse."))
    if scope is SettingsScope.PROJECT and options.trust:
        notes.append(_("--trust has no effect in project settings. Use --scope user."))
    if scope is SettingsScope.PROJECT:
        named = [name for name, value in (*(options.env or ()), *(options.header or ())) if _looks_secret(name, value)]
        if named:
            text = _(
                "{names} may be secret and is now stored in a project file. Use --scope user to keep it private.",
                names=", ".join(map(one_line, named)),
            )
            notes.append(text)
    else:
        notes += _override_notes(split.name or "", entries)
    mistaken = [word for word in split.arguments if word.partition("=")[0] in _OWN_OPTIONS]
    if mistaken:
        word = one_line(mistaken[0])
        notes.append(_("{word} was passed to the command. Put options of `tejat mcp add` before it.", word=word))
    command = split.command or ""
    if " " in command and not _is_url(command) and not os.path.exists(command):
        notes.append(
            _("The command is a single word with spaces in it. Pass the program and its arguments as separate words.")
        )
    return notes


def _override_notes(name: str, entries: McpServerEntries) -> list[str]:
    try:
        is_overruled = name in entries.names(SettingsScope.PROJECT)
    except UsageError:
        return []
    if not is_overruled:
        return []
    return [_('This project also has a server "{name}", which takes precedence if the project is trusted.', name=name)]


def _looks_secret(name: str, value: str) -> bool:
    return "$" not in value and (name.lower() == "authorization" or is_secret(name.replace("-", "_"), value))


def _parse_variable(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
        raise argparse.ArgumentTypeError(_("must be KEY=VALUE, with a KEY of letters, digits and '_'"))
    if not _is_plain(value):
        raise argparse.ArgumentTypeError(_("the value of {name} is not valid text", name=name))
    return name, value


def _parse_header(word: str) -> tuple[str, str]:
    name, colon, value = word.partition(":")
    if not colon or not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) or not value.strip():
        raise argparse.ArgumentTypeError(_('must be "Name: value"'))
    if not _is_plain(value) or any(letter in value for letter in "\r\n"):
        message = _("the value of the header {name} has characters that are not allowed in headers", name=name)
        raise argparse.ArgumentTypeError(message)
    return name, value.strip()


def _is_plain(value: str) -> bool:
    return "\0" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)


def _parse_milliseconds(word: str) -> int:
    number = int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else 0
    if number == 0:
        raise argparse.ArgumentTypeError(_("must be a number of milliseconds above 0"))
    return number


def make_parser() -> CommandParser:
    """The parser of `tejat mcp add`."""
    parser = CommandParser(
        "tejat mcp add",
        _("Add an MCP server to the settings, or replace the one with that name."),
        usages=("tejat mcp add [options] NAME COMMAND [ARGUMENT ...]", "tejat mcp add [options] NAME URL"),
        notes=_("Put options before COMMAND: everything after it belongs to the command. After a URL they may follow."),
        examples=(
            ("tejat mcp add files npx -y @modelcontextprotocol/server-filesystem .", ""),
            ("tejat mcp add -s user -e LOG=debug notes python notes.py --verbose", ""),
            ('tejat mcp add -t http -H "X-Team: blue" wiki https://wiki.example.com/mcp', ""),
        ),
        exit_codes=(
            ("0", _("added")),
            ("1", _("--scope user is required in the home directory")),
            ("2", _("bad usage")),
            ("52", _("the settings have errors")),
        ),
    )
    add_scope_flag(parser)
    add = parser.add_argument
    transports = ["stdio", "sse", "http"]
    transport_help = _("stdio, sse or http (default: stdio, or http for a URL)")
    add("-t", "--transport", "--type", choices=transports, metavar="TYPE", help=transport_help)
    env_help = _("an environment variable for the command; may be repeated")
    add("-e", "--env", action="append", type=_parse_variable, metavar="KEY=VALUE", help=env_help)
    header_help = _("an HTTP header for the URL; may be repeated")
    add("-H", "--header", action="append", type=_parse_header, metavar="'NAME: VALUE'", help=header_help)
    add("--timeout", type=_parse_milliseconds, metavar="MS", help=_("time limit of a request (default: 600000)"))
    add("--trust", action="store_true", help=_("its tools need no approval; only with --scope user"))
    add("--description", metavar="TEXT", help=_("a description of the server"))
    add("--include-tools", action="append", metavar="LIST", help=_("use only these tools of the server"))
    add("--exclude-tools", action="append", metavar="LIST", help=_("do not use these tools of the server"))
    add("--cwd", metavar="DIR", help=_("working directory of the command (default: the project)"))
    return parser


_OWN_OPTIONS = {"--scope", "--transport", "--include-tools", "--exclude-tools", "--description"}
