"""`tejat tools`: arguments, and the list of the built-in tools."""

import argparse
from collections.abc import Callable

from tejat.app.tools.listed_tools import builtin_registry
from tejat.cli.command_parser import CommandParser, directory_argument
from tejat.cli.messages import print_usage_error
from tejat.cli.policy_flags import add_policy_flags, add_sandbox_flag
from tejat.cli.tools.view import print_tools
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _
from tejat.core.json_text import dump_json


def run(words: list[str]) -> int:
    """Run `tejat tools` and return the exit code."""
    match words:
        case ["list", *rest]:
            return _list(make_list_parser().parse_args(rest))
        case ["call", *rest]:
            return _call(make_call_parser().parse_intermixed_args(rest))
        case _:
            parser = make_parser()
            return parser.reject_words(parser.parse_args(words).words)


def make_parser() -> CommandParser:
    """The parser of `tejat tools`."""
    parser = CommandParser(
        "tejat tools",
        _("List the tools, or call one without a model. `tejat tools COMMAND --help` shows the options of a command."),
        usages=(
            "tejat tools list [--all] [--json]",
            "tejat tools call NAME [JSON | KEY=VALUE ...] [options]",
            "tejat tools call --jsonl [options]",
        ),
        actions=(("list", _("list the tools")), ("call", _("call a tool, or answer a stream of calls"))),
        examples=(("tejat tools call read_file path=README.md limit=10", _("read ten lines of a file")),),
    )
    parser.add_argument("words", nargs="*")
    return parser


def make_action_parsers() -> dict[str, CommandParser]:
    """The parsers of the commands of `tejat tools`."""
    return {"list": make_list_parser(), "call": make_call_parser()}


def _list(options: argparse.Namespace) -> int:
    if options.all:
        from tejat.cli.tools.list_all import list_all_tools

        return _run_guarded(lambda: list_all_tools(options))
    registry = builtin_registry()
    if options.json:
        print(dump_json([declaration.to_json() for declaration in registry.declarations()], indent=2))
    else:
        print_tools([entry for entry in registry.entries() if entry.is_declared()])
    return EXIT_OK


def _call(options: argparse.Namespace) -> int:
    from tejat.cli.tools.call import call_one, call_stream

    return _run_guarded(lambda: call_stream(options) if options.jsonl else call_one(options))


def _run_guarded(work: Callable[[], int]) -> int:
    """Return the exit code of the work, or of the error or signal that ended it."""
    from tejat.ui.signals import Terminated, graceful_termination

    try:
        with graceful_termination():
            return work()
    except Terminated as ended:
        return ended.exit_code
    except UsageError as error:
        return print_usage_error(error)


def make_list_parser() -> CommandParser:
    """The parser of `tejat tools list`."""
    parser = CommandParser("tejat tools list", _("List the tools and the tokens that their declarations take."))
    parser.add_argument("--json", action="store_true", help=_("print the FunctionDeclarations that models receive"))
    parser.add_argument(
        "--all", action="store_true", help=_("include tools of MCP servers, the discovery command and Python")
    )
    parser.add_argument(
        "--root",
        action="append",
        type=directory_argument,
        metavar="DIR",
        help=_("with --all: the project directory (default: .)"),
    )
    return parser


def make_call_parser() -> CommandParser:
    """The parser of `tejat tools call`."""
    parser = CommandParser(
        "tejat tools call",
        _("Call one tool without a model, or with --jsonl a stream of calls."),
        usages=("tejat tools call NAME [JSON | KEY=VALUE ...] [options]", "tejat tools call --jsonl [options]"),
        examples=(
            ("tejat tools call glob pattern='**/*.py'", _("arguments as words")),
            ("""tejat tools call read_file '{"path": "a.txt"}' --json""", _("arguments and result as JSON")),
        ),
        exit_codes=(
            ("0", _("done")),
            ("1", _("the tool failed")),
            ("2", _("bad usage")),
            ("3", _("not allowed")),
            ("44", _("a sandbox is required and does not work")),
        ),
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help=_("the tool"))
    parser.add_argument("arguments", nargs="*", metavar="JSON | KEY=VALUE", help=_("its arguments"))
    parser.add_argument("--json", action="store_true", help=_("print the result as one JSON object"))
    parser.add_argument(
        "--jsonl", action="store_true", help=_("read calls from standard input, one JSON object per line")
    )
    parser.add_argument("--yes", action="store_true", help=_("approve the call without asking"))
    add_policy_flags(parser)
    add_sandbox_flag(parser)
    return parser
