"""The cost of MCP servers: at start-up, in a run that waits for them, and when they misbehave."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from tests.support.model_servers.gemini import LoopbackServer, ModelServer, Received, function_call, text_reply

from bench.measurement import Measurement
from bench.suites.terminal import PROMPT, at_terminal
from bench.support import agents, mcp_server
from bench.support.agents import Agent
from bench.support.launcher import Launched, launch
from bench.support.tool_process import TEJAT
from tejat.core.json_text import dump_json
from tejat.core.messages.tokens import estimate_text_tokens
from tejat.core.messages.types import JsonValue

_ONE = ("small0",)
_FIVE = tuple(f"small{number}" for number in range(5))
_TEN = tuple(f"large{number}" for number in range(10))
_ROUNDS = 7
_PROMPT_ROUNDS = 20
_LIMIT = 2.0
_MANY = 500
_MIB = 2**20


def measure(scratch: str) -> Iterator[Measurement]:
    root = os.path.join(scratch, "mcp")
    plain = _prepare(root, "plain", {})
    one = _prepare(root, "one", dict.fromkeys(_ONE, _server("tools=3")))
    five = _prepare(root, "five", dict.fromkeys(_FIVE, _server("tools=3")))
    ten = _prepare(root, "ten", dict.fromkeys(_TEN, _server("tools=20")))
    silent = _prepare(root, "silent", {"mute": {**_server("silent"), "startTimeout": _LIMIT * 1000}})
    rude = _prepare(root, "rude", {"rude": _server()})
    many = _prepare(root, "many", {"many": _server(f"tools={_MANY}")})
    yield _first_prompt(plain, five)
    yield _cost(plain, one, _ONE, limit=100)
    yield _cost(plain, ten, _TEN, limit=500)
    yield from _beside_codex(one, _ONE)
    yield from _beside_codex(five, _FIVE)
    yield _waiting_in_vain(plain, silent)
    yield from _rude(rude)
    yield _many_tools(plain, many)


def _server(*words: str) -> dict[str, object]:
    """Configure a server. -S and -E halve the start-up time of an interpreter."""
    return {"command": sys.executable, "args": ["-S", "-E", mcp_server.__file__, *words]}


def _prepare(root: str, name: str, servers: Mapping[str, Mapping[str, object]]) -> str:
    """Create a directory to work in, with a home whose settings name these servers."""
    path = os.path.join(root, name)
    os.makedirs(os.path.join(path, "home", ".gemini"))
    with open(os.path.join(path, "home", ".gemini", "settings.json"), "w", encoding="utf-8") as file:
        json.dump({"mcpServers": servers}, file)
    return path


def _first_prompt(plain: str, five: str) -> Measurement:
    """Compare the best of both, measured alternately after a warm-up round."""
    rounds = [(_until_prompt(five), _until_prompt(plain)) for _ in range(_PROMPT_ROUNDS + 1)][1:]
    with_them, without = (min(times) for times in zip(*rounds, strict=True))
    detail = f"{with_them * 1000:.0f} ms against {without * 1000:.0f} ms"
    name = f"`tejat` with {len(_FIVE)} MCP servers until its first prompt, over none"
    return Measurement(name, with_them / without, 1.1, "x", detail)


def _until_prompt(root: str) -> float:
    """Start it at a terminal and wait for its prompt; then end it with all that it started."""
    start = time.perf_counter()
    with at_terminal([TEJAT, "--trust"], root, agents.environment(root, "http://127.0.0.1:9")) as person:
        person.wait_for(PROMPT)
        seconds = time.perf_counter() - start
        person.type(b"\x04")
        assert person.exit_code() == 0, person.shown
    return seconds


def _cost(plain: str, root: str, aliases: Sequence[str], *, limit: float) -> Measurement:
    """Compare a headless turn with these servers and one without any, measured alternately after a warm-up round."""
    with LoopbackServer(agents.respond) as model:
        ours, without = agents.tejat(root, model.address, "--trust"), agents.tejat(plain, model.address, "--trust")
        rounds = [(_ask(ours, model, aliases), without.ask(), _bare_start()) for _ in range(_ROUNDS + 1)][1:]
    with_them, alone = (min(run.seconds for run in runs) * 1000 for runs in list(zip(*rounds, strict=True))[:2])
    bare = min(seconds for _, _, seconds in rounds) * 1000
    what = "1 MCP server" if len(aliases) == 1 else f"{len(aliases)} MCP servers with 200 tools"
    detail = f"{with_them:.0f} ms against {alone:.0f} ms; one server alone needs {bare:.0f} ms to list its tools"
    return Measurement(f"`tejat -p hi` with {what}, more than without", with_them - alone, limit, "ms", detail)


def _bare_start() -> float:
    """Return the seconds from the start of a server to its list of tools, for the smallest client there can be."""
    server = _server("tools=3")
    command = [str(server["command"]), *cast("list[str]", server["args"])]
    start = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for method, params in (("initialize", {"protocolVersion": "2025-06-18"}), ("tools/list", {})):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode())
            process.stdin.write(b"\n")
            process.stdin.flush()
            assert b'"result"' in process.stdout.readline()
        return time.perf_counter() - start


def _beside_codex(root: str, aliases: Sequence[str]) -> Iterator[Measurement]:
    for is_native, limit in ((False, 0.7), (True, float("inf"))):
        yield from _beside(root, aliases, is_native=is_native, limit=limit)


def _beside(root: str, aliases: Sequence[str], *, is_native: bool, limit: float) -> Iterator[Measurement]:
    with LoopbackServer(agents.respond) as model:
        ours = agents.tejat(root, model.address, "--trust")
        other = agents.codex(root, model.address, *_as_toml(aliases), is_native=is_native)
        if other is None:
            print("--   codex is not installed: a run that waits for servers is not compared with it", flush=True)
            return
        # It may ask the model before it knows the tools, so only our request has to have all of them.
        rounds = [(_ask(ours, model, aliases), other.ask()) for _ in range(_ROUNDS + 1)][1:]
        declared = sum(alias in _tools_in(model.requests[-1]) for alias in aliases)
    mine, theirs = (min(each.seconds for each in runs) * 1000 for runs in zip(*rounds, strict=True))
    detail = f"{mine:.0f} ms against {theirs:.0f} ms, which declares the tools of {declared} of {len(aliases)}"
    servers = "1 MCP server" if len(aliases) == 1 else f"{len(aliases)} MCP servers"
    yield Measurement(f"`tejat -p hi` with {servers} over {other.name}", mine / theirs, limit, "x", detail)


def _ask(agent: Agent, model: LoopbackServer, aliases: Sequence[str]) -> Launched:
    """Raises AssertionError if the model was asked before the tools of every server were known."""
    model.requests.clear()
    launched = agent.ask()
    missing = [alias for alias in aliases if alias not in _tools_in(model.requests[-1])]
    assert not missing, f"{agent.name} did not tell of the tools of {missing}"
    return launched


def _tools_in(received: Received) -> str:
    return json.dumps(received.body["tools"])


def _as_toml(aliases: Sequence[str]) -> Iterator[str]:
    for alias in aliases:
        yield f"[mcp_servers.{alias}]"
        yield from (f"{name} = {json.dumps(value)}" for name, value in _server("tools=3").items())


def _waiting_in_vain(plain: str, silent: str) -> Measurement:
    runs = [(_run(silent), _run(plain)) for _ in range(3)]
    with_it, without = (min(each.seconds for each in times) for times in zip(*runs, strict=True))
    for launched, _ in runs:
        warnings = json.loads(launched.output)["warnings"]
        assert any("mute" in warning for warning in warnings), warnings
    detail = f"{with_it:.2f} s, {without:.2f} s without it, the limit is {_LIMIT:g} s; it is named in the warnings"
    return Measurement(
        "a server that never answers, delay beyond its limit", with_it - without - _LIMIT, 1, "s", detail
    )


def _run(root: str) -> Launched:
    with ModelServer([text_reply("Done.")]) as model:
        command = [TEJAT, "--trust", "--output-format", "json", "-p", "hi"]
        return launch(command, root, agents.environment(root, model.address))


def _rude(root: str) -> Iterator[Measurement]:
    for tool, what, expected in (
        ("large", "a result of 64 MB", "error"),
        ("deep", "a result of 100,000 levels", "error"),
        ("loud", "1 GB on stderr", "output"),
    ):
        launched, response = _called(root, f"rude__{tool}")
        assert list(response) == [expected], response
        given = " ".join(str(response[expected]).split())
        detail = f"in {launched.seconds:.1f} s; the model gets: {given[:120]}"
        yield Measurement(f"an MCP server sends {what}, peak memory", launched.peak_memory / _MIB, 200, "MB", detail)


def _called(root: str, tool: str) -> tuple[Launched, Mapping[str, object]]:
    """Run a prompt that calls this tool; return the run and what the model received."""
    with ModelServer([text_reply(function_call(tool, {})), text_reply("Done.")]) as model:
        command = [TEJAT, "--trust", "--yolo", "-p", "go"]
        launched = launch(command, root, agents.environment(root, model.address))
        response = model.requests[-1].body["contents"][-1]["parts"][0]["functionResponse"]
    assert response["name"] == tool, response
    return launched, response["response"]


def _many_tools(plain: str, many: str) -> Measurement:
    with_them, without = _declared(many), _declared(plain)
    tokens = estimate_text_tokens(dump_json(with_them)) - estimate_text_tokens(dump_json(without))
    detail = f"{len(with_them)} declarations against {len(without)}"
    return Measurement(f"{_MANY} foreign tools, tokens of declarations", tokens, 3000, "", detail)


def _declared(root: str) -> list[JsonValue]:
    with ModelServer([text_reply("Done.")]) as model:
        launch([TEJAT, "--trust", "-p", "hi"], root, agents.environment(root, model.address))
        return [each for group in model.requests[-1].body["tools"] for each in group["functionDeclarations"]]
