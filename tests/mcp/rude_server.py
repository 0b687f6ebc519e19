"""An MCP server that asks what its first argument names before anybody has asked it anything.

The file that its second argument names gets what it was answered. It needs nothing but Python.
"""

import json
import sys
from typing import Any

WANTED = {
    "message": "Who are you?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
    "messages": [{"role": "user", "content": {"type": "text", "text": "Who am I?"}}],
    "maxTokens": 5,
}
RESULTS: dict[str, dict[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "serverInfo": {"name": "rude", "version": "1"},
        "capabilities": {"tools": {}},
    },
    "tools/list": {"tools": [{"name": "nothing"}]},
}


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main() -> None:
    asked, path = sys.argv[1:]
    for line in sys.stdin:
        match json.loads(line):
            case {"id": "question"}:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(line)
            case {"id": number, "method": method} if method in RESULTS:
                send(id=number, result=RESULTS[method])
            case {"id": number}:
                send(id=number, error={"code": -32601, "message": "Method not found"})
            case {"method": "notifications/initialized"}:
                send(id="question", method=asked, params=WANTED)
            case _:
                pass


if __name__ == "__main__":
    main()
