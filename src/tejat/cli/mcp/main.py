"""`tejat mcp`: finds the subcommand before its modules are loaded."""

from importlib import import_module

from tejat.cli.messages import print_bad_usage, print_error, print_usage_error
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.exit_codes import EXIT_CONFIGURATION, EXIT_OK
from tejat.core.i18n import _


def run(words: list[str]) -> int:
    """Run `tejat mcp` and return the exit code."""
    match words:
        case ["-h" | "--help", *_]:
            print(help_text(), end="")
            return EXIT_OK
        case ["serve", *rest]:
            from tejat.cli.mcp.serve import run

            return run(rest)
        case [command, *rest] if command in _COMMANDS:
            return _run(command, rest)
        case _:
            message = _("`tejat mcp` takes add, remove, list, test, enable, disable, auth or serve.")
            return print_bad_usage(message, help_text())


def help_text() -> str:
    return _("""\
usage: tejat mcp add [OPTIONS] NAME COMMAND [ARGUMENT ...]
       tejat mcp add [OPTIONS] NAME URL
       tejat mcp remove NAME [--scope user|project]
       tejat mcp list [--json]
       tejat mcp test NAME
       tejat mcp enable NAME
       tejat mcp disable NAME
       tejat mcp auth NAME [--open | --forget]
       tejat mcp serve [OPTIONS]

Add MCP servers to your settings or the project's, test them, and log in. `serve` offers Tejat's tools to other agents.
`tejat mcp COMMAND --help` shows the options of a command.

options:
  -d, --debug    write details to the log, and show where an internal error happened
  -h, --help     show this help
  -v, --version  show the version
""")


def _run(command: str, words: list[str]) -> int:
    try:
        if command in ("enable", "disable"):
            from tejat.cli.mcp.enable import run

            return run(words, on=command == "enable")
        code: int = import_module(f"tejat.cli.mcp.{command}").run(words)
        return code
    except ConfigurationError as error:
        print_error(error)
        return EXIT_CONFIGURATION
    except UsageError as error:
        return print_usage_error(error)


_COMMANDS = frozenset({"add", "remove", "list", "test", "enable", "disable", "auth"})
