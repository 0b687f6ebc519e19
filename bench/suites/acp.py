"""The cost of serving an editor: the first answer, the way of a chunk, and many sessions."""

import os
import statistics
from collections.abc import Iterator, Mapping, Sequence

from tests.support.model_servers.gemini import text_reply

from bench.measurement import Measurement, ratio
from bench.support import agents
from bench.support.acp_client import AcpClient
from bench.support.model_server import Stopwatch
from bench.support.tool_process import TEJAT

_ROUNDS = 5
_PROMPTS = 50
_SESSIONS = 100
_MIB = 2**20
_SCRIPT = '[[topic]]\n[[topic.answer]]\nsay = "Good day to you."\n'


def measure(scratch: str) -> Iterator[Measurement]:
    root = os.path.join(scratch, "acp")
    os.makedirs(os.path.join(root, "home"))
    yield from _first_answer(root)
    yield _first_chunk(root)
    yield _many_sessions(root)


def _first_answer(root: str) -> Iterator[Measurement]:
    other = agents.find_gemini()
    if other is None:
        print("--   gemini-cli is not installed: the answer to `initialize` is not compared with it", flush=True)
        return
    environment = agents.environment(root, "http://127.0.0.1:9")
    yield ratio(
        "`initialize` answered over gemini-cli",
        0.1,
        lambda: _initialize([TEJAT, "acp"], root, environment),
        lambda: _initialize([other, "--acp"], root, environment),
        rounds=_ROUNDS,
    )


def _initialize(command: Sequence[str], root: str, environment: Mapping[str, str]) -> None:
    client = AcpClient(command, root, environment)
    try:
        assert client.initialize()["protocolVersion"] == 1
    finally:
        client.kill()  # its end is not measured


def _first_chunk(root: str) -> Measurement:
    """The time from the first byte that the model sends to the first update that the client reads."""
    with Stopwatch([text_reply(agents.ANSWER)] * _PROMPTS) as model:
        environment = agents.environment(root, model.address)
        with AcpClient([TEJAT, "acp", "-m", "gemini-2.5-flash"], root, environment) as client:
            client.initialize()
            session = client.request("session/new", {"cwd": root, "mcpServers": []})["sessionId"]
            for _ in range(_PROMPTS):
                client.prompt(session, "hi")
        assert len(model.answered) == len(client.arrivals) == _PROMPTS, (len(model.answered), len(client.arrivals))
        delays = [(after - before) * 1000 for before, after in zip(model.answered, client.arrivals, strict=True)]
    detail = f"first {delays[0]:.1f} ms, then {min(delays[1:]):.1f} to {max(delays[1:]):.1f} ms, {_PROMPTS} prompts"
    name = "first chunk of a prompt after it came from the model, median"
    return Measurement(name, statistics.median(delays), 20, "ms", detail)


def _many_sessions(root: str) -> Measurement:
    script = os.path.join(root, "script.toml")
    with open(script, "w", encoding="utf-8") as file:
        file.write(_SCRIPT)
    environment = agents.environment(root, "http://127.0.0.1:9")
    with AcpClient([TEJAT, "acp", "-m", f"scripted:{script}"], root, environment) as client:
        client.initialize()
        for _ in range(_SESSIONS):
            session = client.request("session/new", {"cwd": root, "mcpServers": []})["sessionId"]
            client.prompt(session, "hi")
        resident = client.memory() / _MIB
        proportional, processes = client.proportional_memory()
    detail = f"resident; {proportional / _MIB:.0f} MB of {processes} processes, shared pages divided; a prompt in each"
    return Measurement(f"{_SESSIONS} sessions in one process", resident, 150, "MB", detail)
