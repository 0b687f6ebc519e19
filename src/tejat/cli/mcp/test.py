"""`tejat mcp test`: connect to one server and show every step."""

import asyncio
import sys
import time
from collections.abc import Sequence

from tejat.app.mcp.inspection import NoSuchServer, OfferedTool, open_server_probe
from tejat.app.mcp.manager import STEP_LABELS
from tejat.cli.command_parser import CommandParser
from tejat.cli.mcp.format import print_unknown_server, server_parser
from tejat.cli.messages import one_line, print_error
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.i18n import _, ngettext, translate
from tejat.mcp.types import ConnectionStep, ServerState, ServerStatus
from tejat.ui.plain.style import Style
from tejat.ui.signals import Terminated, graceful_termination

_MAX_STDERR_LINES = 20


def run(words: list[str]) -> int:
    """Test a server and return the exit code. Raises UsageError."""
    options = make_parser().parse_args(words)
    try:
        with graceful_termination():
            return asyncio.run(_test(options.name))
    except Terminated as ended:
        return ended.exit_code
    except NoSuchServer as error:
        print_unknown_server(error.name, error.known, error.notes)
        return EXIT_FAILED


def make_parser() -> CommandParser:
    """The parser of `tejat mcp test`."""
    return server_parser(
        "test",
        _("Connect to an MCP server, and show each step with its result and duration."),
        (
            ("0", _("the server works")),
            ("1", _("it does not work")),
            ("2", _("bad usage")),
            ("52", _("the settings have errors")),
        ),
    )


async def _test(name: str) -> int:
    steps = _Steps()
    style = Style(sys.stdout)
    async with open_server_probe(["."], only=name, on_change=steps.on_status) as servers:
        status = servers.statuses()[0]
        print(style.bold(f"{one_line(name)}: {one_line(status.location)} ({translate(status.transport)})"), flush=True)
        async for settled in servers.connect_all():
            status = settled
        steps.is_over = True
        is_connected = status.state is ServerState.CONNECTED
        offer = servers.offer(status) if is_connected else None
        last_words = servers.stderr_tail(name)[-_MAX_STDERR_LINES:]
        warning = servers.warning(name)
    if offer is not None:
        _print_tools(offer.tools, style)
        _print_lines(_("problems:"), offer.problems, style)
    _print_lines(_("end of its error output:"), last_words, style)
    if warning:
        print_error(warning)
    if is_connected:
        return EXIT_OK
    print_error(status.reason)
    if status.state is ServerState.NEEDS_LOGIN:
        print_error(_("Log in with {command}.", command=f"`tejat mcp auth {name}`"))
    return EXIT_FAILED


class _Steps:
    """Prints every finished step with its duration, until it `is_over`."""

    def __init__(self) -> None:
        self.is_over = False
        self._step: ConnectionStep | None = None
        self._began = 0.0

    def on_status(self, status: ServerStatus) -> None:
        """Handle a status change."""
        if self.is_over or (status.step is self._step and status.state is ServerState.CONNECTING):
            return
        now = time.monotonic()
        if self._step is not None:
            label = translate(STEP_LABELS[self._step])
            print(f"  {label:9}  {now - self._began:6.2f} s  {_outcome(self._step, status)}", flush=True)
        self._step, self._began = status.step, now


def _outcome(step: ConnectionStep, status: ServerStatus) -> str:
    if status.state not in (ServerState.CONNECTING, ServerState.CONNECTED):
        return _("failed")
    match step:
        case ConnectionStep.HANDSHAKE if status.info is not None:
            name = f"{one_line(status.info.name)} {one_line(status.info.version)}".strip()
            name = name or _("unnamed server")
            return _("{name}, protocol {revision}", name=name, revision=status.info.revision)
        case ConnectionStep.LIST:
            offered = status.features
            counts = (
                ngettext("{count} tool", "{count} tools", len(offered.tools)),
                ngettext("{count} prompt", "{count} prompts", len(offered.prompts)),
                ngettext("{count} resource", "{count} resources", len(offered.resources)),
            )
            return ", ".join(counts)
        case _:
            return _("done")


def _print_tools(tools: Sequence[OfferedTool], style: Style) -> None:
    if not tools:
        return
    total = _("total")
    width = max(len(total), *(len(tool.name) for tool in tools))
    print()
    print(style.bold("  " + _("TOOL").ljust(width) + "  " + _("TOKENS")))
    for tool in tools:
        changed = "  " + _("changed since you approved it, so it asks again") if tool.has_changed else ""
        print(f"  {tool.name.ljust(width)}  {tool.tokens:6}{changed}")
    print(f"  {total.ljust(width)}  {sum(tool.tokens for tool in tools):6}")


def _print_lines(title: str, lines: Sequence[str], style: Style) -> None:
    if not lines:
        return
    print()
    print(style.bold(f"  {title}"))
    for line in lines:
        print(f"  {one_line(line)}")
