"""`tejat mcp list`: every server of the settings, tried for real."""

import argparse
import asyncio
import sys
from typing import assert_never

from tejat.app.mcp_looking import Offer, ServersAtHand, open_servers
from tejat.cli.mcp_shown import note, on_one_line, speaks_unicode
from tejat.cli.termination import Terminated, ending_in_order
from tejat.core.exit_codes import EXIT_OK
from tejat.core.json_text import dump_json
from tejat.core.types import JsonObject
from tejat.core.words import say, say_count, translated
from tejat.mcp.values import ServerState, ServerStatus

_MOST_LAST_WORDS = 5


def run(words: list[str]) -> int:
    """List the servers and return the exit code. Raises UsageError."""
    options = _parser().parse_args(words)
    try:
        with ending_in_order():
            asyncio.run(_list(as_json=options.json))
    except Terminated as ended:
        return ended.exit_code
    return EXIT_OK


async def _list(*, as_json: bool) -> None:
    found: list[JsonObject] = []
    async with open_servers(["."]) as servers:
        for line in servers.notes:
            note(line)
        async for status in servers.settled():
            if as_json:
                found.append(_to_json(status, servers))
                continue
            if not found:
                print(f"{say('Configured MCP servers:')}\n")
            found.append({})
            _show(status, servers)
    if as_json:
        print(dump_json(found, indent=2))
    elif not found:
        print(say("No MCP servers configured."))


def _show(status: ServerStatus, servers: ServersAtHand) -> None:
    """At once: others may take their time."""
    fancy, plain, word = _shown(status.state)
    mark = fancy if speaks_unicode() else plain
    tools = ""
    if status.state is ServerState.CONNECTED:
        offer = servers.offer(status)
        tools = f" ({say_count('{count} tool', '{count} tools', len(offer.tools))})"
    where = f"{on_one_line(status.where)} ({translated(status.transport)})"
    print(f"{mark} {on_one_line(status.alias)}: {where} - {word}{tools}")
    for line in _explained(status):
        print(f"    {on_one_line(line)}")
    sys.stdout.flush()


def _shown(state: ServerState) -> tuple[str, str, str]:
    """A mark, one for terminals without it, and the word."""
    match state:
        case ServerState.CONNECTED:
            return "✓", "+", say("Connected")
        case ServerState.DISCONNECTED | ServerState.CONNECTING:
            return "✗", "x", say("Disconnected")
        case ServerState.NEEDS_LOGIN:
            return "✗", "x", say("Needs login")
        case ServerState.BLOCKED:
            return "✗", "x", say("Blocked")
        case ServerState.DISABLED:
            return "○", "o", say("Disabled")
        case _:
            assert_never(state)


def _explained(status: ServerStatus) -> list[str]:
    if status.state is ServerState.CONNECTED:
        return []
    words = [f"| {line}" for line in status.last_words[-_MOST_LAST_WORDS:]]
    return [*filter(None, translated(status.reason).split("\n")), *words, *_next_step(status)]


def _next_step(status: ServerStatus) -> list[str]:
    match status.state:
        case ServerState.NEEDS_LOGIN:
            return [say("Log in: {command}", command=f"tejat mcp auth {status.alias}")]
        case ServerState.DISCONNECTED:
            return [say("Look closer: {command}", command=f"tejat mcp test {status.alias}")]
        case _:
            return []


def _to_json(status: ServerStatus, servers: ServersAtHand) -> JsonObject:
    offer = servers.offer(status) if status.state is ServerState.CONNECTED else Offer((), ())
    info = status.info
    return {
        "name": status.alias,
        "state": status.state,
        "transport": status.transport,
        "where": status.where,
        "source": servers.source(status.alias),
        "step": status.step,
        "reason": status.reason,
        "lastWords": list(status.last_words),
        "seconds": round(status.seconds, 3),
        "server": None if info is None else {"name": info.name, "version": info.version, "revision": info.revision},
        "tools": [{"name": tool.name, "tokens": tool.tokens} for tool in offer.tools],
        "prompts": [prompt.name for prompt in status.catalogue.prompts],
        "resources": [resource.uri for resource in status.catalogue.resources],
        "problems": list(offer.problems),
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tejat mcp list",
        description=say("Connect to every MCP server of the settings that may be started, and say what became of it."),
        epilog=say("exit codes: 0 listed, 2 bad usage, 52 the settings cannot be relied on"),
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help=say("print a JSON list"))
    return parser
