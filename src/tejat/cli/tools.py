"""`tejat tools`: what may be said there, and the list of the tools."""

import argparse
import sys
from collections.abc import Callable

from tejat.app.tools import describe_tools
from tejat.cli.policy_flags import add_policy_flags, add_sandbox_flag
from tejat.cli.show import show_tools
from tejat.core.errors import SandboxUnavailable, UsageError
from tejat.core.exit_codes import EXIT_NO_SANDBOX, EXIT_OK, EXIT_USAGE
from tejat.core.json_text import dump_json
from tejat.core.visible import visible
from tejat.core.words import say, translated


def run(words: list[str]) -> int:
    """Run `tejat tools` with these words and return the exit code."""
    match words:
        case ["list", *rest]:
            return _list(_list_parser().parse_args(rest))
        case ["call", *rest]:
            return _call(_call_parser().parse_intermixed_args(rest))
        case ["-h" | "--help", *_]:
            print(help_text(), end="")
            return EXIT_OK
        case _:
            print(f"tejat: {say('`tejat tools` takes list or call.')}\n{help_text()}", end="", file=sys.stderr)
            return EXIT_USAGE


def help_text() -> str:
    return say("""\
usage: tejat tools list [--all] [--json]
       tejat tools call NAME [JSON | KEY=VALUE ...] [--json] [--yes] [--root DIR] [OPTIONS]
       tejat tools call --jsonl [--yes] [--root DIR] [OPTIONS]

List the tools, or run one without any model. `tejat tools call --help` tells more.
""")


def _list(options: argparse.Namespace) -> int:
    if options.all:
        from tejat.cli.all_tools import list_all

        return _in_order(lambda: list_all(options))
    registry = describe_tools()
    if options.json:
        print(dump_json([declaration.to_json() for declaration in registry.declarations()], indent=2))
    else:
        show_tools(registry.entries())
    return EXIT_OK


def _call(options: argparse.Namespace) -> int:
    from tejat.cli.call import call_one, call_stream

    return _in_order(lambda: call_stream(options) if options.jsonl else call_one(options))


def _in_order(work: Callable[[], int]) -> int:
    """The exit code of the work, or of what ended it."""
    from tejat.cli.termination import Terminated, ending_in_order

    try:
        with ending_in_order():
            return work()
    except Terminated as ended:
        return ended.exit_code
    except SandboxUnavailable as error:
        print(f"tejat: {visible(translated(error))}", file=sys.stderr)
        return EXIT_NO_SANDBOX
    except UsageError as error:
        print(f"tejat: {visible(translated(error))}", file=sys.stderr)
        return EXIT_USAGE


def _list_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tejat tools list", description=say("Show what tools there are."))
    parser.add_argument("--json", action="store_true", help=say("print the FunctionDeclarations that a model is given"))
    parser.add_argument(
        "--all", action="store_true", help=say("those of Python, of the discovery command and of MCP servers too")
    )
    parser.add_argument(
        "--root", action="append", metavar="DIR", help=say("with --all: where to look, instead of here")
    )
    return parser


def _call_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tejat tools call",
        description=say("Run one tool, or with --jsonl a stream of calls."),
        epilog=say(
            "exit codes: 0 done, 1 the tool failed, 2 bad usage, 3 not allowed, 44 no sandbox where one is required"
        ),
    )
    parser.add_argument("name", nargs="?", help=say("the tool"))
    parser.add_argument("arguments", nargs="*", metavar="JSON | KEY=VALUE", help=say("its arguments"))
    parser.add_argument("--json", action="store_true", help=say("print the result as one JSON object"))
    parser.add_argument(
        "--jsonl", action="store_true", help=say("read calls from standard input, a JSON object a line")
    )
    parser.add_argument("--yes", action="store_true", help=say("agree beforehand to what the tool would ask"))
    add_policy_flags(parser)
    add_sandbox_flag(parser)
    return parser
