"""`tejat mcp`: finds the subcommand before its modules are loaded."""

from importlib import import_module

from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import print_error, print_usage_error
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.exit_codes import EXIT_CONFIGURATION
from tejat.core.i18n import _


def run(words: list[str]) -> int:
    """Run `tejat mcp` and return the exit code."""
    match words:
        case ["serve", *rest]:
            from tejat.cli.mcp.serve import run

            return run(rest)
        case [command, *rest] if command in _COMMANDS:
            return _run(command, rest)
        case _:
            parser = make_parser()
            return parser.reject_words(parser.parse_args(words).words)


def make_parser() -> CommandParser:
    """The parser of `tejat mcp`."""
    parser = CommandParser(
        "tejat mcp",
        _(
            "Manage the MCP servers in your settings or the project's. `tejat mcp COMMAND --help` shows the options of "
            "a command."
        ),
        usages=("tejat mcp COMMAND ...",),
        actions=(
            ("add", _("add a server, or replace the one with that name")),
            ("remove", _("remove a server from the settings")),
            ("list", _("connect to every server and show its state")),
            ("test", _("connect to one server and show every step")),
            ("enable", _("start a server in later sessions")),
            ("disable", _("do not start a server in later sessions")),
            ("auth", _("log in to a remote server with a browser")),
            ("serve", _("offer Tejat's tools to other agents")),
        ),
        examples=(
            ("tejat mcp add -s user files npx -y @modelcontextprotocol/server-filesystem .", ""),
            ("tejat mcp add wiki https://wiki.example.com/mcp", ""),
            ("tejat mcp list", ""),
        ),
    )
    parser.add_argument("words", nargs="*")
    return parser


def make_action_parsers() -> dict[str, CommandParser]:
    """The parsers of the commands of `tejat mcp`."""
    from tejat.cli.mcp import enable

    modules = {name: import_module(f"tejat.cli.mcp.{name}") for name in sorted(_COMMANDS - {"enable", "disable"})}
    serve = import_module("tejat.cli.mcp.serve")
    switches = {"enable": enable.make_parser(on=True), "disable": enable.make_parser(on=False)}
    return {name: module.make_parser() for name, module in modules.items()} | switches | {"serve": serve.make_parser()}


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
