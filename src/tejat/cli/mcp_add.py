"""`tejat mcp add`: a server is put into the settings of the person or of the project."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

from tejat.cli.mcp_shown import HOME_PROBLEM, note, on_one_line
from tejat.config.mcp_entries import Scope, ServerEntries, check_address
from tejat.config.places import places_of
from tejat.config.references import is_secret
from tejat.config.trust_renewal import Standing
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.types import JsonObject, JsonValue
from tejat.mcp.names import alias_problem

_EPILOG = """\
Options go before COMMAND: what follows it belongs to it, whatever it looks like. Behind a URL they may follow.

  tejat mcp add files npx -y @modelcontextprotocol/server-filesystem .
  tejat mcp add -s user -e LOG=debug notes python notes.py --verbose
  tejat mcp add -t http -H "X-Team: blue" wiki https://wiki.example.com/mcp

exit codes: 0 added, 1 not in the home directory without --scope user, 2 bad usage, 52 the settings cannot be relied on
"""


def run(words: list[str]) -> int:
    """Add a server and return the exit code. Raises UsageError, and OSError where the file cannot be written."""
    parser = _parser()
    split = _split(words)
    options = parser.parse_args(split.options)
    if split.name is None or split.command is None:
        parser.error("give a NAME, and the COMMAND that starts the server or the URL it is reached at")
    entry, transport = _entry(split.command, split.arguments, options)
    problem = alias_problem(split.name)
    if problem:
        raise UsageError(problem)
    scope = Scope(options.scope)
    entries = ServerEntries(places_of(os.environ), os.path.abspath("."), os.environ)
    if scope is Scope.PROJECT and entries.is_home:
        print(HOME_PROBLEM, file=sys.stderr)
        return EXIT_FAILED
    is_there = split.name in entries.names(scope)
    standing = entries.put(scope, split.name, entry)
    done = "updated in" if is_there else "added to"
    print(f'MCP server "{split.name}" {done} {scope} settings. ({transport})')
    print(f"  {on_one_line(entries.path(scope))}")
    for line in _notes(split, options, entries, standing):
        note(line)
    return EXIT_OK


class _Split(NamedTuple):
    """Which words are whose: ours, and those of the command. None: not given."""

    options: list[str]
    name: str | None
    command: str | None
    arguments: list[str]


def _split(words: Sequence[str]) -> _Split:
    """Everything up to COMMAND is ours; the first `--` ends that too and is nobody's."""
    ours: list[str] = []
    given: list[str] = []
    rest = list(words)
    while rest and len(given) < 2:
        word = rest.pop(0)
        if word == "--":
            given, rest = [*given, *rest[: 2 - len(given)]], rest[2 - len(given) :]
            return _Split(ours, *_two(given), rest)
        if not word.startswith("-") or word == "-":
            given.append(word)
            continue
        ours.append(word)
        if _takes_another(word) and rest:
            ours.append(rest.pop(0))
    name, command = _two(given)
    if command is not None and _is_address(command):
        return _Split([*ours, *rest], name, command, [])
    if "--" in rest:
        rest.remove("--")
    return _Split(ours, name, command, rest)


def _takes_another(option: str) -> bool:
    if option.startswith("--"):
        return "=" not in option and option not in ("--trust", "--help")
    return len(option) == 2 and option != "-h"


def _two(given: Sequence[str]) -> tuple[str | None, str | None]:
    name, command, *_ = (*given, None, None)
    return name, command


def _is_address(word: str) -> bool:
    return word.lower().startswith(("http://", "https://"))


def _entry(command: str, arguments: list[str], options: argparse.Namespace) -> tuple[JsonObject, str]:
    """The entry of the settings, and the transport it means. Raises UsageError."""
    for word in (command, *arguments, options.cwd or "", options.description or ""):
        if not word.isprintable() and ("\0" in word or any("\ud800" <= letter <= "\udfff" for letter in word)):
            raise UsageError("A word of the command line is not text, so it cannot stand in the settings.")
    transport = options.transport or ("http" if _is_address(command) else "stdio")
    entry = _program(command, arguments, options) if transport == "stdio" else _remote(command, transport, options)
    more: dict[str, JsonValue] = {
        "timeout": options.timeout,
        "trust": options.trust or None,
        "description": options.description,
        "includeTools": _names(options.include_tools),
        "excludeTools": _names(options.exclude_tools),
    }
    return {**entry, **{name: value for name, value in more.items() if value is not None}}, transport


def _program(command: str, arguments: list[str], options: argparse.Namespace) -> JsonObject:
    if _is_address(command):
        raise UsageError("An address is no command: leave out -t stdio, or give -t http or -t sse.")
    if not command.strip():
        raise UsageError("The command is empty.")
    if options.header:
        raise UsageError("-H is for servers with an address: a program is given variables, with -e KEY=VALUE.")
    entry: dict[str, JsonValue] = {"command": command}
    if arguments:
        entry["args"] = arguments
    if options.env:
        entry["env"] = dict(options.env)
    if options.cwd:
        entry["cwd"] = options.cwd
    return entry


def _remote(url: str, transport: str, options: argparse.Namespace) -> JsonObject:
    check_address(url)
    if options.env or options.cwd:
        raise UsageError("-e and --cwd are for programs: a server with an address is given headers, with -H.")
    entry: dict[str, JsonValue] = {"httpUrl": url} if transport == "http" else {"url": url, "type": "sse"}
    if options.header:
        entry["headers"] = dict(options.header)
    return entry


def _names(lists: "list[str] | None") -> "list[JsonValue] | None":
    if lists is None:
        return None
    return [name.strip() for names in lists for name in names.split(",") if name.strip()]


def _notes(split: _Split, options: argparse.Namespace, entries: ServerEntries, standing: Standing) -> list[str]:
    """What else there is to say about what was written."""
    notes: list[str] = []
    scope = Scope(options.scope)
    if standing is Standing.NOT_TRUSTED:
        notes.append("This folder is not trusted, so its servers are not started. `tejat trust` lets them count.")
    elif standing is Standing.CHANGED:
        notes.append("Something else in this folder has changed since it was trusted. Look at it with `tejat trust`.")
    if options.transport is None and _is_address(split.command or ""):
        notes.append("Taken for a server that speaks streamable HTTP. For one that speaks the older SSE give -t sse.")
    if scope is Scope.PROJECT and options.trust:
        notes.append("--trust does not count in the settings of a project. With --scope user it does.")
    if scope is Scope.PROJECT:
        named = [name for name, value in (*(options.env or ()), *(options.header or ())) if _gives_away(name, value)]
        if named:
            listed = ", ".join(map(on_one_line, named))
            notes.append(
                f"{listed} may be secret and now stands in a file of the project. --scope user keeps it yours."
            )
    else:
        notes += _overruled(split.name or "", entries)
    mistaken = [word for word in split.arguments if word.partition("=")[0] in _UNMISTAKABLE]
    if mistaken:
        notes.append(f"{on_one_line(mistaken[0])} was given to the command. Options of `tejat mcp add` go before it.")
    command = split.command or ""
    if " " in command and not _is_address(command) and not os.path.exists(command):
        notes.append("The command is one word with blanks in it: write program and arguments as words of their own.")
    return notes


def _overruled(name: str, entries: ServerEntries) -> list[str]:
    try:
        is_overruled = name in entries.names(Scope.PROJECT)
    except UsageError:
        return []
    if not is_overruled:
        return []
    return [f'The project here has a server "{name}" too. Where the project is trusted, its own counts.']


def _gives_away(name: str, value: str) -> bool:
    return "$" not in value and (name.lower() == "authorization" or is_secret(name.replace("-", "_"), value))


def _variable(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
        raise argparse.ArgumentTypeError("a variable is given as KEY=VALUE, with a KEY of letters, digits and '_'")
    if not _is_plain(value):
        raise argparse.ArgumentTypeError(f"the value of {name} is not text")
    return name, value


def _header(word: str) -> tuple[str, str]:
    name, colon, value = word.partition(":")
    if not colon or not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) or not value.strip():
        raise argparse.ArgumentTypeError('a header is given as "Name: value"')
    if not _is_plain(value) or any(letter in value for letter in "\r\n"):
        raise argparse.ArgumentTypeError(f"the value of the header {name} has characters that no header has")
    return name, value.strip()


def _is_plain(value: str) -> bool:
    return "\0" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)


def _milliseconds(word: str) -> int:
    number = int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else 0
    if number == 0:
        raise argparse.ArgumentTypeError("a limit is a number of milliseconds from 1")
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tejat mcp add",
        usage="tejat mcp add [OPTIONS] NAME COMMAND [ARGUMENT ...]\n       tejat mcp add [OPTIONS] NAME URL",
        description="Put an MCP server into the settings. One of that name is replaced.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "-s",
        "--scope",
        choices=[scope.value for scope in Scope],
        default="project",
        help="whose settings (default: project)",
    )
    add(
        "-t",
        "--transport",
        "--type",
        choices=["stdio", "sse", "http"],
        help="how it is spoken to (default: stdio, for a URL http)",
    )
    add("-e", "--env", action="append", type=_variable, metavar="KEY=VALUE", help="a variable for the program")
    add("-H", "--header", action="append", type=_header, metavar="'NAME: VALUE'", help="a header for the address")
    add("--timeout", type=_milliseconds, metavar="MS", help="how long a request may take (default: 600000)")
    add("--trust", action="store_true", help="its tools need no confirmation; only with --scope user")
    add("--description", metavar="TEXT", help="what it is for, in your words")
    add("--include-tools", action="append", metavar="A,B", help="only these of its tools")
    add("--exclude-tools", action="append", metavar="A,B", help="without these of its tools")
    add("--cwd", metavar="DIR", help="where the program runs (default: where the session works)")
    return parser


_UNMISTAKABLE = {"--scope", "--transport", "--include-tools", "--exclude-tools", "--description"}
