"""The parsers of all commands and of their actions."""

from collections.abc import Callable, Iterator
from importlib import import_module

from tejat.cli.command_parser import CommandParser
from tejat.cli.subcommands import MODULES, RESERVED


def command_names() -> list[str]:
    """The commands that have a parser."""
    return [name for name in MODULES if name not in RESERVED]


def command_parser(command: str) -> CommandParser:
    parser: CommandParser = import_module(MODULES[command]).make_parser()
    return parser


def action_parsers(command: str) -> dict[str, CommandParser]:
    """The parsers of the actions that have their own."""
    module = import_module(MODULES[command])
    make: Callable[[], dict[str, CommandParser]] | None = getattr(module, "make_action_parsers", None)
    return {} if make is None else make()


def all_parsers() -> Iterator[CommandParser]:
    """The parsers of all commands, each followed by those of its actions."""
    for name in command_names():
        yield command_parser(name)
        yield from action_parsers(name).values()
