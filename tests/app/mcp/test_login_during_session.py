"""A login at a remote server while a session is going on: the next prompt has its tools."""

import asyncio
import json
from pathlib import Path

from support.mcp.transports import http_response, json_response
from support.program import ProgramEnv
from support.raw_server import Peer, raw_server
from tejat.app.mcp.manager import token_store
from tejat.app.run_config import RunConfig, load_run_config
from tejat.app.tools.open_tools import open_tools
from tejat.core.messages.types import JsonObject
from tejat.mcp.oauth.settings import token_key
from tejat.mcp.oauth.token_store import OAuthGrant

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
            await peer.send(http_response("401 Unauthorized", www_authenticate="Bearer"))
        elif not line.startswith("POST"):
            await peer.send(http_response("405 Method Not Allowed"))
        else:
            asked = json.loads(body)
            result = {"initialize": INTRODUCTION, "tools/list": TOOLS}.get(asked["method"])
            told = {"jsonrpc": "2.0", "id": asked.get("id"), "result": result}
            await peer.send(http_response("202 Accepted") if result is None else json_response(told))


async def log_in(run_config: RunConfig, token: str) -> None:
    """What `tejat mcp auth` leaves behind."""
    store, holder = token_store(run_config.paths), token_key("wiki", run_config.settings.mcp_servers["wiki"].value)
    async with store.lock(holder, seconds=30):
        store.write(holder, OAuthGrant(token))


def test_whoever_logs_in_meanwhile_has_the_tools(tmp_path: Path) -> None:
    machine = ProgramEnv(tmp_path)
    machine.environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    settings = machine.home / ".gemini" / "settings.json"
    settings.parent.mkdir()

    async def main() -> list[bool]:
        async with raw_server(answer) as server:
            settings.write_text(json.dumps({"mcpServers": {"wiki": {"httpUrl": f"{server.url}/mcp"}}}))
            run_config = load_run_config([str(machine.project)], environment=machine.environment)
            with open_tools([str(machine.project)], None, sandbox="off", environment=machine.environment) as session:
                try:
                    (problem,) = await session.discover_tools()
                    assert problem.endswith(
                        "requires authentication (401 Unauthorized). Log in with `tejat mcp auth wiki`."
                    )
                    seen = ["wiki__look" in session.registry]
                    for token in ("another", TOKEN):
                        await log_in(run_config, token)
                        await session.discover_tools()
                        seen.append("wiki__look" in session.registry)
                    return seen
                finally:
                    await session.close()

    assert asyncio.run(main()) == [False, False, True]
