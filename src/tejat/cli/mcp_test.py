"""`tejat mcp test`: one server, step by step."""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from typing import assert_never

from tejat.app.mcp_looking import NoSuchServer, OfferedTool, open_servers
from tejat.cli.mcp_shown import note, on_one_line, say_no_such_server
from tejat.cli.style import Style
from tejat.cli.termination import Terminated, ending_in_order
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.words import say, say_count, translated
from tejat.mcp.values import ServerState, ServerStatus, Step

_MOST_LAST_WORDS = 20


def run(words: list[str]) -> int:
    """Test a server and return the exit code. Raises UsageError."""
    options = _parser().parse_args(words)
    try:
        with ending_in_order():
            return asyncio.run(_test(options.name))
    except Terminated as ended:
        return ended.exit_code
    except NoSuchServer as error:
        say_no_such_server(error.name, error.known, error.notes)
        return EXIT_FAILED


async def _test(name: str) -> int:
    steps = _Steps()
    style = Style(sys.stdout)
    async with open_servers(["."], only=name, on_change=steps.take) as servers:
        status = servers.statuses()[0]
        print(
            style.bold(f"{on_one_line(name)}: {on_one_line(status.where)} ({translated(status.transport)})"), flush=True
        )
        async for settled in servers.settled():
            status = settled
        steps.is_over = True
        is_connected = status.state is ServerState.CONNECTED
        offer = servers.offer(status) if is_connected else None
        last_words = servers.last_words(name)[-_MOST_LAST_WORDS:]
        warning = servers.warning(name)
    if offer is not None:
        _print_tools(offer.tools, style)
        _print_lines(say("problems:"), offer.problems, style)
    _print_lines(say("last words on its error output:"), last_words, style)
    if warning:
        note(warning)
    if is_connected:
        return EXIT_OK
    note(status.reason)
    if status.state is ServerState.NEEDS_LOGIN:
        note(say("{command} logs in there.", command=f"`tejat mcp auth {name}`"))
    return EXIT_FAILED


class _Steps:
    """Tells of every step when it is done, with the time that it took, until it `is_over`."""

    def __init__(self) -> None:
        self.is_over = False
        self._step: Step | None = None
        self._began = 0.0

    def take(self, status: ServerStatus) -> None:
        """The server has got further."""
        if self.is_over or (status.step is self._step and status.state is ServerState.CONNECTING):
            return
        now = time.monotonic()
        if self._step is not None:
            print(f"  {_called(self._step):9}  {now - self._began:6.2f} s  {_outcome(self._step, status)}", flush=True)
        self._step, self._began = status.step, now


def _called(step: Step) -> str:
    match step:
        case Step.START:
            return say("start")
        case Step.HANDSHAKE:
            return say("handshake")
        case Step.LIST:
            return say("list")
        case Step.CALL:
            return say("call")
        case _:
            assert_never(step)


def _outcome(step: Step, status: ServerStatus) -> str:
    if status.state not in (ServerState.CONNECTING, ServerState.CONNECTED):
        return say("failed")
    match step:
        case Step.HANDSHAKE if status.info is not None:
            name = f"{on_one_line(status.info.name)} {on_one_line(status.info.version)}".strip()
            name = name or say("a server without a name")
            return say("{name}, revision {revision}", name=name, revision=status.info.revision)
        case Step.LIST:
            offered = status.catalogue
            counts = (
                say_count("{count} tool", "{count} tools", len(offered.tools)),
                say_count("{count} prompt", "{count} prompts", len(offered.prompts)),
                say_count("{count} resource", "{count} resources", len(offered.resources)),
            )
            return ", ".join(counts)
        case _:
            return say("done")


def _print_tools(tools: Sequence[OfferedTool], style: Style) -> None:
    if not tools:
        return
    together = say("together")
    width = max(len(together), *(len(tool.name) for tool in tools))
    print()
    print(style.bold(f"  {say('TOOL').ljust(width)}  {say('TOKENS')}"))
    for tool in tools:
        changed = f"  {say('changed since you allowed it, so it asks again')}" if tool.has_changed else ""
        print(f"  {tool.name.ljust(width)}  {tool.tokens:6}{changed}")
    print(f"  {together.ljust(width)}  {sum(tool.tokens for tool in tools):6}")


def _print_lines(title: str, lines: Sequence[str], style: Style) -> None:
    if not lines:
        return
    print()
    print(style.bold(f"  {title}"))
    for line in lines:
        print(f"  {on_one_line(line)}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tejat mcp test",
        description=say("Connect to one MCP server and tell of every step: how long it took, and what came of it."),
        epilog=say("exit codes: 0 it works, 1 it does not, 2 bad usage, 52 the settings cannot be relied on"),
        allow_abbrev=False,
    )
    parser.add_argument("name", metavar="NAME", help=say("the server"))
    return parser
