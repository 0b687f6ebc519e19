"""What all clients have in common."""

import asyncio
from pathlib import Path

from support.mcp.tool_server import tool_server


def test_stateless_clients_share_a_place_and_others_have_their_own(tmp_path: Path) -> None:
    async def main() -> None:
        async with tool_server(tmp_path) as server:
            own = server.new_workspace()
            with (
                server.shared_workspace.tools() as shared,
                server.shared_workspace.tools() as again,
                own.tools() as other,
            ):
                assert shared is again
                assert shared is not other
            own.close()

    asyncio.run(main())


def test_every_stateless_result_says_what_it_is_and_whose(tmp_path: Path) -> None:
    async def main() -> None:
        async with tool_server(tmp_path) as server:
            meta = {"io.modelcontextprotocol/serverInfo": {"name": "tejat", "title": "Tejat", "version": "1.2.3"}}
            assert server.complete_result({"a": 1}) == {"resultType": "complete", "a": 1, "_meta": meta}
            assert server.complete_result({"resultType": "input_required"}) == {
                "resultType": "input_required",
                "_meta": meta,
            }

    asyncio.run(main())
