"""`tejat mcp list`: connect to every configured server and show its state."""

import asyncio
import sys

from tejat.app.mcp.inspection import ServerOffer, ServerProbe, open_server_probe
from tejat.cli.command_parser import CommandParser
from tejat.cli.mcp.format import supports_unicode
from tejat.cli.messages import one_line, print_errors
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _, lazy, ngettext, translate
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject
from tejat.mcp.types import ServerState, ServerStatus
from tejat.ui.signals import Terminated, graceful_termination

_MAX_STDERR_LINES = 5


def run(words: list[str]) -> int:
    """List the servers and return the exit code. Raises UsageError."""
    options = make_parser().parse_args(words)
    try:
        with graceful_termination():
            asyncio.run(_list(as_json=options.json))
    except Terminated as ended:
        return ended.exit_code
    return EXIT_OK


async def _list(*, as_json: bool) -> None:
    found: list[JsonObject] = []
    async with open_server_probe(["."]) as servers:
        print_errors(servers.notes)
        async for status in servers.connect_all():
            if as_json:
                found.append(_to_json(status, servers))
                continue
            if not found:
                print(_("Configured MCP servers:") + "\n")
            found.append({})
            _print_server(status, servers)
    if as_json:
        print(dump_json(found, indent=2))
    elif not found:
        print(_("No MCP servers configured."))


def _print_server(status: ServerStatus, servers: ServerProbe) -> None:
    """Print and flush, because other servers may take their time."""
    fancy, plain, label = _STATE_LABELS[status.state]
    mark = fancy if supports_unicode() else plain
    tools = ""
    if status.state is ServerState.CONNECTED:
        offer = servers.offer(status)
        tools = " (" + ngettext("{count} tool", "{count} tools", len(offer.tools)) + ")"
    where = f"{one_line(status.location)} ({translate(status.transport)})"
    print(f"{mark} {one_line(status.alias)}: {where} - {translate(label)}{tools}")
    for line in _detail_lines(status):
        print(f"    {one_line(line)}")
    sys.stdout.flush()


_STATE_LABELS = {
    ServerState.CONNECTED: ("✓", "+", lazy("Connected")),
    ServerState.CONNECTING: ("✗", "x", lazy("Disconnected")),
    ServerState.DISCONNECTED: ("✗", "x", lazy("Disconnected")),
    ServerState.NEEDS_LOGIN: ("✗", "x", lazy("Needs login")),
    ServerState.BLOCKED: ("✗", "x", lazy("Blocked")),
    ServerState.DISABLED: ("○", "o", lazy("Disabled")),
}
"""A symbol, its ASCII form, and a label."""


def _detail_lines(status: ServerStatus) -> list[str]:
    if status.state is ServerState.CONNECTED:
        return []
    words = [f"| {line}" for line in status.recent_output[-_MAX_STDERR_LINES:]]
    lines = [*filter(None, translate(status.reason).split("\n")), *words]
    if status.state is ServerState.NEEDS_LOGIN:
        lines.append(_("Log in: {command}", command=f"tejat mcp auth {status.alias}"))
    elif status.state is ServerState.DISCONNECTED:
        lines.append(_("Details: {command}", command=f"tejat mcp test {status.alias}"))
    return lines


def _to_json(status: ServerStatus, servers: ServerProbe) -> JsonObject:
    offer = servers.offer(status) if status.state is ServerState.CONNECTED else ServerOffer((), ())
    info = status.info
    return {
        "name": status.alias,
        "state": status.state,
        "transport": status.transport,
        "where": status.location,
        "source": servers.source(status.alias),
        "step": status.step,
        "reason": status.reason,
        "lastWords": list(status.recent_output),
        "seconds": round(status.connect_seconds, 3),
        "server": None if info is None else {"name": info.name, "version": info.version, "revision": info.revision},
        "tools": [{"name": tool.name, "tokens": tool.tokens} for tool in offer.tools],
        "prompts": [prompt.name for prompt in status.features.prompts],
        "resources": [resource.uri for resource in status.features.resources],
        "problems": list(offer.problems),
    }


def make_parser() -> CommandParser:
    """The parser of `tejat mcp list`."""
    parser = CommandParser(
        "tejat mcp list",
        _("Connect to every configured MCP server that may be started, and show its state."),
        exit_codes=(("0", _("listed")), ("2", _("bad usage")), ("52", _("the settings have errors"))),
    )
    parser.add_argument("--json", action="store_true", help=_("print a JSON array"))
    return parser
