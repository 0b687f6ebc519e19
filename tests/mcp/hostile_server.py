"""An MCP server on standard input and output with any fault that is named in its arguments.

It needs nothing but Python. Without a fault it is a plain server with the tools below, two prompts and two resources.
Arguments are `fault` or `fault=value`:

how it speaks    revision=R, stateless, no-capabilities, capabilities=JSON
silence          silent=METHOD
wrong answers    wrong-id=METHOD, twice=METHOD, late=SECONDS (tools/call), refuse=METHOD (method not found),
                 broken=METHOD (internal error), odd=METHOD (a result of the wrong shape), result=METHOD:JSON
its end          die=METHOD or die=start; die-after=METHOD (answers first); exit=CODE; words=TEXT (on stderr first)
once=PATH        all of the above happens only in the first process that gets that far
noise            banner, bad-utf8, crlf, batch, empty-lines, halves (each message in two writes), together (two messages
                 in one write), deep, huge=BYTES (a result), endless (a line), stderr=BYTES
lists            repeated-cursor, pages=N, many=N (tools), bad-items, grow (each list of tools has one more), storm=N
leaving          stubborn (ignores SIGTERM and the end of input, has a child and a grandchild)
record=PATH      what it is told, line by line; pids=PATH: its own pid and those of its descendants
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

STATELESS = "2026-07-28"
WORDS = [word.partition("=") for word in sys.argv[1:]]
FAULTS = {name: text for name, _, text in WORDS if name not in {"silent", "die", "refuse", "broken", "odd"}}
LISTS = {
    name: {text for word, _, text in WORDS if word == name} for name in ("silent", "die", "refuse", "broken", "odd")
}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "echo",
        "description": "Says it again.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    },
    {"name": "look", "annotations": {"readOnlyHint": True}},
    {"name": "set", "annotations": {"idempotentHint": True}},
    {"name": "add"},
    {"name": "fail"},
    {"name": "hang"},
    {"name": "slow"},
    {"name": "ask"},
    {"name": "change"},
]
PROMPTS = [{"name": "greet", "arguments": [{"name": "who", "required": True}]}, {"name": "part"}]
RESOURCES = [{"uri": "memo://one", "name": "one", "mimeType": "text/plain"}, {"uri": "memo://two"}]

writing = threading.Lock()
answers: dict[str, Any] = {}
answered = threading.Condition()
state = {"lists": 0, "asked": 0, "extra": 0}


def main() -> None:
    pids = [os.getpid()]
    if "stubborn" in FAULTS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        pids += descendants()
    if "pids" in FAULTS:
        append(FAULTS["pids"], " ".join(map(str, pids)))
    if "stderr" in FAULTS:
        threading.Thread(target=flood, args=(int(FAULTS["stderr"]),), daemon=True).start()
    if "words" in FAULTS:
        sys.stderr.write(FAULTS["words"] + "\n")
        sys.stderr.flush()
    if "start" in LISTS["die"] and is_first():
        leave()
    if "banner" in FAULTS:
        write(b"Welcome to this server!\n{ not json }\n[1, 2\n")
    for line in sys.stdin.buffer:
        if "record" in FAULTS:
            append(FAULTS["record"], line.decode().strip())
        take(json.loads(line))
    while "stubborn" in FAULTS:
        time.sleep(1)


def take(message: dict[str, Any]) -> None:
    method = message.get("method")
    if method is None:
        with answered:
            answers[message["id"]] = message
            answered.notify_all()
        return
    if method in LISTS["die"] and is_first():
        leave()
    if "id" not in message:
        if method == "notifications/initialized":
            storm()
        return
    if method in LISTS["silent"] and is_first():
        return
    if method == "tools/call" and (message["params"]["name"] in {"slow", "ask"} or "late" in FAULTS):
        threading.Thread(target=answer, args=(message,), daemon=True).start()
    else:
        answer(message)


def answer(message: dict[str, Any]) -> None:
    method, request_id = message["method"], message["id"]
    if method == "tools/call" and message["params"]["name"] == "hang":
        return
    if method in LISTS["refuse"]:
        send({"id": request_id, "error": {"code": -32601, "message": "Method not found"}})
        return
    if method in LISTS["broken"]:
        send({"id": request_id, "error": {"code": -32603, "message": "It \x1b[31mbroke\x1b[0m"}})
        return
    outcome = {"result": []} if method in LISTS["odd"] else outcome_of(message)
    if method == FAULTS.get("wrong-id"):
        request_id = 77_777
    if "late" in FAULTS and method == "tools/call":
        time.sleep(float(FAULTS["late"]))
    send(outcome if "method" in outcome else {"id": request_id, **outcome})
    if method == FAULTS.get("twice"):
        send({"id": request_id, "result": {"content": [{"type": "text", "text": "second"}]}})
    if method == FAULTS.get("die-after") and is_first():
        leave()


def outcome_of(message: dict[str, Any]) -> dict[str, Any]:
    method, params = message["method"], message.get("params") or {}
    given, _, result = FAULTS.get("result", "").partition(":")
    if method == given:
        return {"result": json.loads(result)}
    if "stateless" in FAULTS:
        if method == "initialize":
            return refusal(-32022, "Unsupported protocol version", {"supported": [STATELESS], "requested": "?"})
        if params.get("_meta", {}).get("io.modelcontextprotocol/protocolVersion") != STATELESS:
            return refusal(-32602, "params._meta is missing")
    elif method in {"server/discover", "subscriptions/listen"}:
        return refusal(-32601, "Method not found")
    if method in {"tools/list", "prompts/list", "resources/list"}:
        return {"result": listed(method.partition("/")[0], params.get("cursor"))}
    if method == "tools/call":
        return called(message, params)
    plain: dict[str, dict[str, Any]] = {
        "initialize": {
            "protocolVersion": FAULTS.get("revision", params.get("protocolVersion")),
            "serverInfo": {"name": "hostile", "version": "1"},
            "capabilities": capabilities(),
            "instructions": "Be careful.",
        },
        "server/discover": {
            "supportedVersions": [STATELESS],
            "capabilities": capabilities(),
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "hostile", "version": "1"}},
        },
        "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": f"Greet {params}"}}]},
        "resources/read": {"contents": [{"uri": params.get("uri"), "text": "a memo"}]},
        "ping": {},
    }
    if method == "subscriptions/listen":
        about = {"io.modelcontextprotocol/subscriptionId": message["id"]}
        state["subscription"] = message["id"]
        return {"method": "notifications/subscriptions/acknowledged", "params": {**params, "_meta": about}}
    return {"result": plain[method]} if method in plain else refusal(-32601, "Method not found")


def capabilities() -> dict[str, Any]:
    if "no-capabilities" in FAULTS:
        return {}
    if "capabilities" in FAULTS:
        return json.loads(FAULTS["capabilities"])
    return {name: {"listChanged": True} for name in ("tools", "prompts", "resources")}


def listed(kind: str, cursor: str | None) -> dict[str, Any]:
    if kind != "tools":
        return {kind: PROMPTS if kind == "prompts" else RESOURCES}
    tools: list[Any] = list(TOOLS)
    tools += [{"name": f"extra{number}"} for number in range(state["extra"])]
    if "bad-items" in FAULTS:
        tools += [None, 7, {}, {"name": ""}, {"name": 7}, {"name": "echo"}, {"name": "n" * 2_000}]
        tools += [{"name": "odd", "description": 7, "inputSchema": "none", "annotations": [1], "title": {}}]
    if "grow" in FAULTS:
        state["lists"] += 1
        tools += [{"name": f"grown{number}"} for number in range(state["lists"])]
    if "many" in FAULTS:
        tools += [{"name": f"tool{number}"} for number in range(int(FAULTS["many"]))]
    if "repeated-cursor" in FAULTS:
        return {"tools": tools if cursor is None else [], "nextCursor": "again"}
    if "pages" in FAULTS:
        page = int(cursor or "0")
        more = {"nextCursor": str(page + 1)} if page + 1 < int(FAULTS["pages"]) else {}
        return {"tools": [{"name": f"page{page}"}], **more}
    return {"tools": tools}


def called(message: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    arguments = params.get("arguments") or {}
    match params["name"]:
        case "echo" if "huge" in FAULTS:
            return text_result("x" * int(FAULTS["huge"]))
        case "echo" if "endless" in FAULTS:
            while True:
                write(b"x" * 65_536)
        case "echo" if "deep" in FAULTS:
            write(
                b'{"jsonrpc":"2.0","id":%d,"result":{"content":' % message["id"]
                + b"[" * 100_000
                + b"]" * 100_000
                + b"}}\n"
            )
            return text_result("after the deep one")
        case "fail":
            return {"result": {"content": [{"type": "text", "text": "it failed"}], "isError": True}}
        case "slow":
            return slow(params, arguments)
        case "ask":
            return asked(params, arguments)
        case "change":
            state["extra"] += 1
            notify_change()
        case _:
            pass
    return text_result(json.dumps(arguments, sort_keys=True))


def slow(params: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    token = (params.get("_meta") or {}).get("progressToken")
    for step in range(arguments["steps"]):
        time.sleep(arguments["seconds"])
        told = {
            "progressToken": token,
            "progress": step + 1,
            "total": arguments["steps"],
            "message": f"step {step + 1}",
        }
        send({"method": "notifications/progress", "params": told})
    return text_result("slow and steady")


def asked(params: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Asks what `method` says, and says what it was answered. With `cancel` it takes the question back at once."""
    question = {"method": arguments["method"], "params": arguments.get("params", {})}
    if "stateless" in FAULTS:
        responses = params.get("inputResponses")
        if responses is None or arguments.get("endless"):
            more = {"resultType": "input_required", "requestState": "kept"}
            return {"result": more if arguments.get("silent") else {**more, "inputRequests": {"one": question}}}
        return text_result(json.dumps([responses, params.get("requestState")], sort_keys=True))
    state["asked"] += 1
    question_id = f"question-{state['asked']}"
    for _ in range(arguments.get("times", 1)):
        send({"id": question_id, **question})
    if arguments.get("cancel"):
        send({"method": "notifications/cancelled", "params": {"requestId": question_id}})
        return text_result("taken back")
    with answered:
        answered.wait_for(lambda: question_id in answers)
    found = answers[question_id]
    return text_result(json.dumps(found.get("result", found.get("error")), sort_keys=True))


def storm() -> None:
    for _ in range(int(FAULTS.get("storm", "0"))):
        notify_change()


def notify_change() -> None:
    about = {"io.modelcontextprotocol/subscriptionId": state["subscription"]} if "subscription" in state else {}
    send({"method": "notifications/tools/list_changed", **({"params": {"_meta": about}} if about else {})})


def text_result(text: str) -> dict[str, Any]:
    return {"result": {"content": [{"type": "text", "text": text}]}}


def refusal(code: int, message: str, data: Any = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "data": data}}


def send(message: dict[str, Any]) -> None:
    text = json.dumps({"jsonrpc": "2.0", **message}).encode()
    ending = b"\r\n" if "crlf" in FAULTS else b"\n"
    if "batch" in FAULTS and "id" in message:
        text = b"[" + text + b"]"
    if "bad-utf8" in FAULTS:
        write(b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"\xff\xfe"}}' + ending)
    if "empty-lines" in FAULTS:
        write(ending + b"  " + ending)
    if "together" in FAULTS:
        text = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"hello"}}' + ending + text
    if "halves" in FAULTS:
        half = len(text) // 2
        write(text[:half], text[half:] + ending)
    else:
        write(text + ending)


def write(*pieces: bytes) -> None:
    with writing:
        for number, piece in enumerate(pieces):
            if number:
                time.sleep(0.02)
            try:
                sys.stdout.buffer.write(piece)
                sys.stdout.buffer.flush()
            except OSError:
                if "stubborn" not in FAULTS:
                    os._exit(1)


def descendants() -> list[int]:
    code = "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    inner = f"{code}; print('ready', flush=True); time.sleep(600)"
    outer = (
        f"{code}; child = subprocess.Popen([sys.executable, '-c', {inner!r}], stdout=subprocess.PIPE);"
        "child.stdout.readline(); print(child.pid, flush=True); time.sleep(600)"
    )
    child = subprocess.Popen([sys.executable, "-c", outer], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert child.stdout is not None
    return [child.pid, int(child.stdout.readline())]


def flood(size: int) -> None:
    line = b"noise \x1b[31m \xff noise\n" * 4_096
    while size > 0:
        sys.stderr.buffer.write(line)
        size -= len(line)
    sys.stderr.buffer.write(b"the last line\n")
    sys.stderr.buffer.flush()


def append(path: str, line: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write(line + "\n")


def is_first() -> bool:
    """Whether a fault that happens once has not happened yet."""
    if "once" not in FAULTS:
        return True
    try:
        os.close(os.open(FAULTS["once"], os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def leave() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(FAULTS.get("exit", "3")))


if __name__ == "__main__":
    main()
