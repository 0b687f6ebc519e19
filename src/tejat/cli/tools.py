"""`tejat tools`: list the tools, call one, or answer a stream of calls."""

import argparse
import asyncio
import sys

from tejat.app import ToolSession, describe_tools, open_tools
from tejat.cli.arguments import read_arguments
from tejat.cli.confirm import SayYes, TerminalApprover, can_ask
from tejat.cli.jsonl import serve
from tejat.cli.show import show_result, show_tools
from tejat.cli.style import Style
from tejat.core.confirm import Approver
from tejat.core.errors import ErrorType, UsageError
from tejat.core.json_text import dump_json
from tejat.core.tool import ToolResult
from tejat.core.types import FunctionCall

EXIT_OK = 0
EXIT_TOOL_ERROR = 1
EXIT_USAGE = 2
EXIT_NOT_CONFIRMED = 3


def run(words: list[str]) -> int:
    """Run `tejat tools` with these words and return the exit code."""
    options = _parser().parse_args(words)
    try:
        if options.action == "list":
            return _list(as_json=options.json)
        if options.jsonl:
            return _stream(options)
        return _call(options)
    except UsageError as error:
        print(f"tejat: {error}", file=sys.stderr)
        return EXIT_USAGE


def _list(*, as_json: bool) -> int:
    registry = describe_tools()
    if as_json:
        print(dump_json([declaration.to_json() for declaration in registry.declarations()], indent=2))
    else:
        show_tools(registry.entries())
    return EXIT_OK


def _call(options: argparse.Namespace) -> int:
    if options.name is None:
        raise UsageError("which tool? `tejat tools list` shows them")
    with open_tools(options.root or ["."], _approver(options)) as session:
        arguments = read_arguments(options.arguments, lambda key: _type_of(session, options.name, key))
        result = asyncio.run(session.scheduler.run(FunctionCall(options.name, arguments)))
        if options.json:
            tool = session.registry.get(options.name)
            print(dump_json({"name": tool.name if tool else options.name, **result.to_json()}))
        else:
            show_result(result)
    return _exit_code(result)


def _stream(options: argparse.Namespace) -> int:
    if options.name is not None:
        raise UsageError("--jsonl reads the calls from standard input, so no tool is named")
    with open_tools(options.root or ["."], SayYes() if options.yes else None) as session:
        serve(session.scheduler, sys.stdin.buffer, sys.stdout.buffer)
    return EXIT_OK


def _approver(options: argparse.Namespace) -> Approver | None:
    if options.yes:
        return SayYes()
    return TerminalApprover(Style(sys.stderr)) if can_ask() else None


def _type_of(session: ToolSession, name: str, key: str) -> str | None:
    tool = session.registry.get(name)
    return tool.argument_type(key) if tool else None


def _exit_code(result: ToolResult) -> int:
    if result.error is None:
        return EXIT_OK
    return EXIT_NOT_CONFIRMED if result.error.type is ErrorType.POLICY_VIOLATION else EXIT_TOOL_ERROR


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tejat tools", description="List the tools, or run one without any model.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|call")
    listing = actions.add_parser("list", help="what tools there are")
    listing.add_argument("--json", action="store_true", help="print the FunctionDeclarations that a model is given")
    calling = actions.add_parser(
        "call",
        help="run one tool, or a stream of calls",
        epilog="exit codes: 0 done, 1 the tool failed, 2 bad usage, 3 not confirmed",
    )
    calling.add_argument("name", nargs="?", help="the tool")
    calling.add_argument("arguments", nargs="*", metavar="JSON | KEY=VALUE", help="its arguments")
    calling.add_argument("--json", action="store_true", help="print the result as one JSON object")
    calling.add_argument("--jsonl", action="store_true", help="read calls from standard input, a JSON object a line")
    calling.add_argument("--root", action="append", metavar="DIR", help="a directory the tool may touch (default: .)")
    calling.add_argument("--yes", action="store_true", help="agree beforehand to what the tool would ask")
    return parser
