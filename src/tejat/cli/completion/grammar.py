"""The words, flags and values of the command line, as completion scripts need them."""

import argparse
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from tejat.cli.args import FORMATS
from tejat.cli.command_parser import CommandParser
from tejat.cli.flags import OPTIONAL_VALUES, SANDBOX_WORDS, SWITCHES
from tejat.cli.help.parsers import action_parsers, command_names, command_parser
from tejat.cli.help.run_page import run_page
from tejat.cli.subcommands import ACTIONS, ALIASES
from tejat.core.agent.options import PLAN_APPROVALS
from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import Frozen
from tejat.core.text.str_enum import StrEnum


class ValueKind(StrEnum):
    """Values that cannot be listed in a script: `tejat __complete KIND` prints the first five kinds."""

    MODELS = "models"
    SESSIONS = "sessions"
    TOOLS = "tools"
    SERVERS = "servers"
    PAGES = "pages"
    FILES = "files"
    DIRECTORIES = "directories"
    ANYTHING = "anything"

    @property
    def is_dynamic(self) -> bool:
        return self not in (ValueKind.FILES, ValueKind.DIRECTORIES, ValueKind.ANYTHING)


Values: TypeAlias = ValueKind | tuple[str, ...]


class CompletedFlag(Frozen):
    """A flag with all its spellings. `values` is None for a switch."""

    names: tuple[str, ...]
    text: str
    values: Values | None = None
    is_optional: bool = False


class CompletedWord(Frozen):
    """A command or action with its meaning."""

    name: str
    text: str


class CompletedCommand(Frozen):
    """What may follow a command, or a command and its action: other words, values and flags."""

    path: tuple[str, ...]
    words: tuple[CompletedWord, ...]
    values: Values
    flags: tuple[CompletedFlag, ...]


class Grammar(Frozen):
    """The flags of a run, the commands, and what follows each of them."""

    flags: tuple[CompletedFlag, ...]
    words: tuple[CompletedWord, ...]
    commands: tuple[CompletedCommand, ...]


def read_grammar() -> Grammar:
    """Read the grammar from the help pages and the parsers of the commands."""
    page = run_page()
    commands, *sections = page.sections
    words = tuple(CompletedWord(row.label, row.text) for row in commands.rows)
    flags = tuple(_run_flag(row.flags, row.text) for section in sections for row in section.rows)
    return Grammar(flags, words, tuple(_commands({word.name: word for word in words})))


def fill_script(template: str, parts: Mapping[str, str]) -> str:
    """Replace each `%NAME%` in a script."""
    for name, text in parts.items():
        template = template.replace(f"%{name}%", text)
    return template


def format_values(values: Values) -> str:
    """Return values as one word list of a script. `@` marks a kind that `tejat __complete` prints."""
    if isinstance(values, ValueKind):
        return f"@{values}" if values.is_dynamic else values.value
    return " ".join(values)


def _run_flag(names: tuple[str, ...], text: str) -> CompletedFlag:
    name = next(name for name in names if name.startswith("--"))
    values = None if name in SWITCHES else _RUN_VALUES.get(name, ValueKind.ANYTHING)
    return CompletedFlag(names, text, values, name in OPTIONAL_VALUES)


def _commands(known: Mapping[str, CompletedWord]) -> Iterator[CompletedCommand]:
    yield CompletedCommand(("help",), tuple(known.values()), ValueKind.ANYTHING, ())
    for name in command_names():
        for spelled in (name, *(alias for alias, meant in ALIASES.items() if meant == name)):
            yield from _command(name, spelled)


def _command(name: str, spelled: str) -> Iterator[CompletedCommand]:
    parser = command_parser(name)
    words = tuple(CompletedWord(row.label, row.text) for row in parser.action_rows)
    yield CompletedCommand((spelled,), words, _POSITIONAL.get(name, ValueKind.FILES), tuple(_flags(parser)))
    nested = action_parsers(name)
    for action in ACTIONS.get(name, ()):
        values = _POSITIONAL.get(f"{name} {action}", ValueKind.FILES)
        yield CompletedCommand((spelled, action), (), values, tuple(_flags(nested.get(action, parser))))


def _flags(parser: CommandParser) -> Iterator[CompletedFlag]:
    for action in parser.flag_actions:
        names = tuple(action.option_strings)
        yield CompletedFlag(names, action.help or "", _flag_values(action), action.nargs == "?")


def _flag_values(action: argparse.Action) -> Values | None:
    if action.nargs == 0:
        return None
    if action.choices:
        return tuple(map(str, action.choices))
    return next(
        (_COMMAND_VALUES[name] for name in action.option_strings if name in _COMMAND_VALUES), ValueKind.ANYTHING
    )


_RUN_VALUES: Mapping[str, Values] = {
    "--model": ValueKind.MODELS,
    "--output-format": FORMATS,
    "--approval-mode": tuple(mode.value for mode in ApprovalMode),
    "--approve-plan": PLAN_APPROVALS,
    "--sandbox": SANDBOX_WORDS,
    "--resume": ValueKind.SESSIONS,
    "--delete-session": ValueKind.SESSIONS,
    "--allowed-tools": ValueKind.TOOLS,
    "--exclude-tools": ValueKind.TOOLS,
    "--allowed-mcp-server-names": ValueKind.SERVERS,
    "--extensions": ("none",),
    "--policy": ValueKind.FILES,
    "--admin-policy": ValueKind.FILES,
    "--session-file": ValueKind.FILES,
    "--record": ValueKind.FILES,
    "--replay": ValueKind.FILES,
    "--include-directories": ValueKind.DIRECTORIES,
}
_COMMAND_VALUES: Mapping[str, Values] = {
    "--model": ValueKind.MODELS,
    "--allowed-tools": ValueKind.TOOLS,
    "--exclude-tools": ValueKind.TOOLS,
    "--service": ("gemini", "vertex", "anthropic", "openai", "ollama"),
    "--policy": ValueKind.FILES,
    "--admin-policy": ValueKind.FILES,
    "--token-file": ValueKind.FILES,
    "--root": ValueKind.DIRECTORIES,
    "--cwd": ValueKind.DIRECTORIES,
    "--revoke": ValueKind.DIRECTORIES,
    "--never": ValueKind.DIRECTORIES,
}
_POSITIONAL: Mapping[str, Values] = {
    "docs": ValueKind.PAGES,
    "export": ValueKind.SESSIONS,
    "trust": ValueKind.DIRECTORIES,
    "tools call": ValueKind.TOOLS,
    "policy explain": ValueKind.TOOLS,
    "sessions show": ValueKind.SESSIONS,
    "sessions resume": ValueKind.SESSIONS,
    "sessions delete": ValueKind.SESSIONS,
    "sessions stats": ValueKind.SESSIONS,
    "mcp remove": ValueKind.SERVERS,
    "mcp test": ValueKind.SERVERS,
    "mcp enable": ValueKind.SERVERS,
    "mcp disable": ValueKind.SERVERS,
    "mcp auth": ValueKind.SERVERS,
}
