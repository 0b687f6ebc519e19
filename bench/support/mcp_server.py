"""A small MCP server on stdin and stdout that starts quickly and misbehaves on request.

Its arguments are `silent` (never answer) and `tools=N` (the number of plain tools).
"""

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

MIB = 2**20
LARGE_RESULT = 64 * MIB
DEPTH = 100_000
MUCH_ON_STDERR = 1024 * MIB


def main() -> None:
    count = sum(int(word.removeprefix("tools=")) for word in sys.argv[1:] if word.startswith("tools="))
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message and "silent" not in sys.argv:
            for piece in _answer(message, count):
                _write(1, piece)


def _answer(message: dict[str, Any], count: int) -> Iterator[bytes]:
    """Yield the line of the answer in pieces."""
    given = message.get("params", {})
    begin = f'{{"jsonrpc":"2.0","id":{json.dumps(message["id"])},'.encode()
    match message["method"]:
        case "initialize":
            result: object = {
                "protocolVersion": given["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "small", "version": "1"},
            }
        case "tools/list":
            result = {"tools": [_plain_tool(number) for number in range(count)] or [_tool(name) for name in _RUDE]}
        case "tools/call" if given["name"] in _RUDE:
            yield from (begin, *_RUDE[given["name"]](), b"}\n")
            return
        case _:
            yield begin + b'"error":{"code":-32601,"message":"Method not found"}}\n'
            return
    yield begin + b'"result":' + json.dumps(result).encode() + b"}\n"


def _large() -> Iterator[bytes]:
    yield b'"result":{"content":[{"type":"text","text":"'
    for _ in range(LARGE_RESULT // MIB):
        yield b"x" * MIB
    yield b'"}]}'


def _deep() -> Iterator[bytes]:
    yield b'"result":{"content":[],"structuredContent":{"deep":' + b"[" * DEPTH + b"]" * DEPTH + b"}}"


def _loud() -> Iterator[bytes]:
    line = b"a line of sixty-four characters, so that four thousand are 64 \n" * (MIB // 64)
    for _ in range(MUCH_ON_STDERR // MIB):
        _write(2, line)
    yield b'"result":{"content":[{"type":"text","text":"That was loud."}]}'


_RUDE = {"large": _large, "deep": _deep, "loud": _loud}


def _tool(name: str) -> dict[str, object]:
    return {"name": name, "description": f"Be {name}.", "inputSchema": {"type": "object"}}


def _plain_tool(number: int) -> dict[str, object]:
    """Return one of very many tools, with two parameters and a description of usual length."""
    return {
        "name": f"{_VERBS[number % len(_VERBS)]}_{_NOUNS[number // len(_VERBS) % len(_NOUNS)]}_{number}",
        "description": "Look up the records of the given kind that match a query and give them back, newest first.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for, in words or as an expression."},
                "limit": {"type": "integer", "description": "How many to give back at most.", "minimum": 1},
            },
            "required": ["query"],
        },
    }


_VERBS = ("list", "get", "create", "update", "delete", "search", "export", "archive", "share", "watch")
_NOUNS = ("issues", "customers", "invoices", "meetings", "documents", "messages", "deployments", "pipelines", "users")


def _write(descriptor: int, piece: bytes) -> None:
    view = memoryview(piece)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    main()
