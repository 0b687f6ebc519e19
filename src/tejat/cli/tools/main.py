"""`tejat tools`: arguments, and the list of the built-in tools."""

import argparse
from collections.abc import Callable

from tejat.app.tools.toolset import builtin_registry
from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import print_bad_usage, print_usage_error
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
            return _list(_list_parser().parse_args(rest))
        case ["call", *rest]:
            return _call(_call_parser().parse_intermixed_args(rest))
        case ["-h" | "--help", *_]:
            print(help_text(), end="")
            return EXIT_OK
        case _:
            return print_bad_usage(_("`tejat tools` takes list or call."), help_text())


def help_text() -> str:
    return _("""\
usage: tejat tools list [--all] [--json]
       tejat tools call NAME [JSON | KEY=VALUE ...] [--json] [--yes] [--root DIR] [OPTIONS]
       tejat tools call --jsonl [--yes] [--root DIR] [OPTIONS]

List the tools, or run one without a model. `tejat tools call --help` shows all options.

options:
  -d, --debug    write details to the log, and show where an internal error happened
  -h, --help     show this help
  -v, --version  show the version
""")


def _list(options: argparse.Namespace) -> int:
    if options.all:
        from tejat.cli.tools.list_all import list_all_tools

        return _run_guarded(lambda: list_all_tools(options))
    registry = builtin_registry()
    if options.json:
        print(dump_json([declaration.to_json() for declaration in registry.declarations()], indent=2))
    else:
        print_tools(registry.entries())
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


def _list_parser() -> argparse.ArgumentParser:
    parser = CommandParser(prog="tejat tools list", description=_("List the tools."))
    parser.add_argument("--json", action="store_true", help=_("print the FunctionDeclarations that a model is given"))
    parser.add_argument(
        "--all", action="store_true", help=_("those of Python, of the discovery command and of MCP servers too")
    )
    parser.add_argument("--root", action="append", metavar="DIR", help=_("with --all: where to look, instead of here"))
    return parser


def _call_parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="tejat tools call",
        description=_("Run one tool, or with --jsonl a stream of calls."),
        epilog=_(
            "exit codes: 0 done, 1 the tool failed, 2 bad usage, 3 not allowed, 44 no sandbox where one is required"
        ),
    )
    parser.add_argument("name", nargs="?", help=_("the tool"))
    parser.add_argument("arguments", nargs="*", metavar="JSON | KEY=VALUE", help=_("its arguments"))
    parser.add_argument("--json", action="store_true", help=_("print the result as one JSON object"))
    parser.add_argument("--jsonl", action="store_true", help=_("read calls from standard input, a JSON object a line"))
    parser.add_argument("--yes", action="store_true", help=_("agree beforehand to what the tool would ask"))
    add_policy_flags(parser)
    add_sandbox_flag(parser)
    return parser
