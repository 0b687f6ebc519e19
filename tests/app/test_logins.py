"""A login at a remote server while a session is going on: the next prompt has its tools."""

import asyncio
import json
from pathlib import Path

from mcp_transport_checks import http, json_answer
from program_checks import Machine
from raw_server import Peer, raw_server
from tejat.app.ground import Ground, survey
from tejat.app.server_tools import token_store
from tejat.app.tools import open_tools
from tejat.core.types import JsonObject
from tejat.mcp.oauth_tokens import Grant
from tejat.mcp.oauth_wish import holder_of

TOKEN = "let-me-in"
INTRODUCTION: JsonObject = {
    "protocolVersion": "2025-11-25",
    "serverInfo": {"name": "wiki", "version": "1"},
    "capabilities": {"tools": {}},
}
TOOLS: JsonObject = {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}


async def answer(peer: Peer) -> None:
    """A server that speaks only to whoever has the token."""
    while True:
        line, headers, body = await peer.request()
        if headers.get("authorization") != f"Bearer {TOKEN}":
            await peer.send(http("401 Unauthorized", www_authenticate="Bearer"))
        elif not line.startswith("POST"):
            await peer.send(http("405 Method Not Allowed"))
        else:
            asked = json.loads(body)
            result = {"initialize": INTRODUCTION, "tools/list": TOOLS}.get(asked["method"])
            told = {"jsonrpc": "2.0", "id": asked.get("id"), "result": result}
            await peer.send(http("202 Accepted") if result is None else json_answer(told))


async def log_in(ground: Ground, token: str) -> None:
    """What `tejat mcp auth` leaves behind."""
    store, holder = token_store(ground.places), holder_of("wiki", ground.settings.mcp_servers["wiki"].value)
    async with store.locked(holder, seconds=30):
        store.write(holder, Grant(token))


def test_whoever_logs_in_meanwhile_has_the_tools(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    settings = machine.home / ".gemini" / "settings.json"
    settings.parent.mkdir()

    async def main() -> list[bool]:
        async with raw_server(answer) as server:
            settings.write_text(json.dumps({"mcpServers": {"wiki": {"httpUrl": f"{server.url}/mcp"}}}))
            ground = survey([str(machine.project)], environment=machine.environment)
            with open_tools([str(machine.project)], None, sandbox="off", environment=machine.environment) as session:
                try:
                    (problem,) = await session.look_for_tools()
                    assert problem.endswith(
                        "wants to know who asks (401 Unauthorized). Log in with `tejat mcp auth wiki`."
                    )
                    seen = ["wiki__look" in session.registry]
                    for token in ("another", TOKEN):
                        await log_in(ground, token)
                        await session.look_for_tools()
                        seen.append("wiki__look" in session.registry)
                    return seen
                finally:
                    await session.close()

    assert asyncio.run(main()) == [False, False, True]
