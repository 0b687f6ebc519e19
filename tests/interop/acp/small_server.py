"""An MCP server that starts at once, with one tool, which asks the user where to go.

It creates the file in its argument.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"name": "travel", "description": "Travel.", "inputSchema": {"type": "object", "properties": {}}}


def main() -> None:
    if len(sys.argv) > 1:
        Path(sys.argv[1]).touch()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            send({"id": message["id"], "result": answer(message["method"], message.get("params") or {})})


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            server = {"name": "small", "version": "1"}
            version = params["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            send(
                {"id": 1, "method": "elicitation/create", "params": {"message": "Where to?", "requestedSchema": SCHEMA}}
            )
            chosen = json.loads(sys.stdin.readline())["result"]
            text = f"{os.environ.get('GREETING')} from {chosen.get('content', {}).get('city')}"
            return {"content": [{"type": "text", "text": text}]}
        case _:
            return {}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
