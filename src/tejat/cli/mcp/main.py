"""`tejat mcp`: finds the subcommand before its modules are loaded."""

import sys

from tejat.cli.messages import print_error
from tejat.core.errors import ConfigurationError, SandboxUnavailable, UsageError
from tejat.core.exit_codes import EXIT_CONFIGURATION, EXIT_NO_SANDBOX, EXIT_OK, EXIT_USAGE
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
            print(f"tejat: {message}\n{help_text()}", end="", file=sys.stderr)
            return EXIT_USAGE


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

MCP servers bring more tools: put them into your settings or the project's, see whether they can be reached, log in.
`serve` is the other way round: these tools for other agents. `tejat mcp add --help` tells more.
""")


def _run(command: str, words: list[str]) -> int:
    try:
        return _COMMANDS[command](words)
    except SandboxUnavailable as error:
        code, problem = EXIT_NO_SANDBOX, error
    except ConfigurationError as error:
        code, problem = EXIT_CONFIGURATION, error
    except UsageError as error:
        code, problem = EXIT_USAGE, error
    print_error(problem)
    return code


def _add(words: list[str]) -> int:
    from tejat.cli.mcp.add import run

    return run(words)


def _remove(words: list[str]) -> int:
    from tejat.cli.mcp.remove import run

    return run(words)


def _list(words: list[str]) -> int:
    from tejat.cli.mcp.list import run

    return run(words)


def _test(words: list[str]) -> int:
    from tejat.cli.mcp.test import run

    return run(words)


def _enable(words: list[str]) -> int:
    from tejat.cli.mcp.enable import run

    return run(words, on=True)


def _disable(words: list[str]) -> int:
    from tejat.cli.mcp.enable import run

    return run(words, on=False)


def _auth(words: list[str]) -> int:
    from tejat.cli.mcp.auth import run

    return run(words)


_COMMANDS = {
    "add": _add,
    "remove": _remove,
    "list": _list,
    "test": _test,
    "enable": _enable,
    "disable": _disable,
    "auth": _auth,
}
