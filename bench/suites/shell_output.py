"""The cost of 100 MB of shell output, in a headless turn beside codex."""

import json
import os
import shutil
import time
from collections.abc import Iterator

from tests.support.model_servers.gemini import LoopbackServer, Received, Reply, function_call, text_reply

from bench.measurement import Measurement
from bench.support import agents
from bench.support.agents import Agent

_COMMANDS = {
    "`head | tr | fold`": "head -c 100000000 /dev/zero | tr '\\0' x | fold",
    "`yes | head`": "yes xxxxxxxx | head -c 100000000",
}
_ROUNDS = 5
_PRINTED = b"xxxxxxxx"
_LEAST_PRINTED = 100


def measure(scratch: str) -> Iterator[Measurement]:
    root = os.path.join(scratch, "output")
    os.makedirs(os.path.join(root, "home"))
    for name, command in _COMMANDS.items():
        yield from _flood(root, name, command)


def _flood(root: str, name: str, command: str) -> Iterator[Measurement]:
    desk = _Desk(command, outputs=os.path.join(root, "home", ".local", "state", "tejat", "outputs"))
    with LoopbackServer(desk.respond) as model:
        ours = agents.tejat(root, model.address, "--trust", "--yolo", "--sandbox", "off")
        flag = "--dangerously-bypass-approvals-and-sandbox"
        other = agents.codex(root, model.address, flags=[flag])
        if other is None:
            print("--   codex is not installed: shell output is not compared with it", flush=True)
            return
        rounds = [(desk.time(ours), desk.time(other)) for _ in range(_ROUNDS + 1)][1:]
    mine, theirs = (min(times) * 1000 for times in zip(*rounds, strict=True))
    detail = f"{mine:.0f} ms against {theirs:.0f} ms, from the call to the next request"
    yield Measurement(f"100 MB of {name} over codex", mine / theirs, 0.9, "x", detail)


class _Desk:
    """Answers the first request of a run with the command, the second one with text.

    What we saved of the output is removed after a run: a virtual machine that gets its memory from the host page by
    page would take longer for each further 100 MB in its cache.
    """

    def __init__(self, command: str, *, outputs: str) -> None:
        self._command = command
        self._outputs = outputs
        self._asked: list[float] = []
        self._last: Received | None = None

    def time(self, agent: Agent) -> float:
        """Return the seconds between the two requests. Raises AssertionError unless the command was run."""
        self._asked.clear()
        agent.ask()
        shutil.rmtree(self._outputs, ignore_errors=True)
        assert self._last is not None
        assert self._last.raw.count(_PRINTED) > _LEAST_PRINTED, f"{agent.name} does not tell what was printed"
        first, second = self._asked
        return second - first

    def respond(self, received: Received) -> Reply:
        is_codex = received.target.endswith("/responses")
        if not is_codex and ":streamGenerateContent" not in received.target:
            return agents.respond(received)
        self._asked.append(time.perf_counter())
        self._last = received
        if len(self._asked) > 1:
            return agents.respond(received)
        if not is_codex:
            return text_reply(function_call("run_shell_command", {"command": self._command}))
        arguments = {"cmd": self._command, "login": False, "yield_time_ms": 30000}
        call = {"type": "function_call", "call_id": "3", "name": "exec_command", "arguments": json.dumps(arguments)}
        return agents.response_with(call)
