from typing import Any

import pytest

from tejat.ui.acp.mcp_servers import parse_mcp_servers
from tejat.ui.jsonrpc.peer import RequestError


def test_the_three_kinds_of_servers() -> None:
    env, headers = [{"name": "KEY", "value": "v"}], [{"name": "X", "value": "y"}]
    assert parse_mcp_servers(
        [
            {"name": "a", "command": "/bin/a", "args": ["--x", ""], "env": env},
            {"type": "stdio", "name": "b", "command": "b"},
            {"type": "http", "name": "c", "url": "http://c", "headers": headers},
            {"type": "sse", "name": "d", "url": "http://d", "headers": []},
        ]
    ) == {
        "a": {"command": "/bin/a", "args": ["--x", ""], "env": {"KEY": "v"}},
        "b": {"command": "b", "args": [], "env": {}},
        "c": {"httpUrl": "http://c", "headers": {"X": "y"}},
        "d": {"url": "http://d", "type": "sse", "headers": {}},
    }
    assert parse_mcp_servers(None) == parse_mcp_servers([]) == {}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "must be a list"),
        (["x"], "must be an object"),
        ([{"command": "x"}], "needs a name"),
        ([{"name": " ", "command": "x"}], "needs a name"),
        ([{"name": "a"}], "needs a command"),
        ([{"name": "a", "command": ""}], "needs a command"),
        ([{"name": "a", "type": "http"}], "no url"),
        ([{"name": "a", "type": "quic", "url": "x"}], "unknown type 'quic'"),
        ([{"name": "a", "command": "x", "args": [1]}], "args of the MCP server 'a'"),
        ([{"name": "a", "command": "x", "env": {"K": "v"}}], "env of the MCP server 'a'"),
        ([{"name": "a", "command": "x", "env": [{"name": "K"}]}], "objects with name and value"),
        ([{"name": "a", "command": "x"}, {"name": "a", "command": "y"}], "two MCP servers"),
    ],
)
def test_wrong_entries_are_named(wrong: Any, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        parse_mcp_servers(wrong)
