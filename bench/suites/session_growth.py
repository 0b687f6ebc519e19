"""How the cost of a turn grows with the turns before it and with the tools that are declared."""

import json
import os
import statistics
import sys
from collections.abc import Iterator, Sequence

from tests.support.model_servers.gemini import LoopbackServer, Reply, function_call, text_reply

from bench.measurement import Measurement, growth
from bench.support import agents, mcp_server
from bench.support.launcher import launch
from bench.support.model_server import Stopwatch
from bench.support.tool_process import TEJAT

_TURNS = (100, 300, 1000)
_TOOLS = (50, 500)
_AROUND = 20
_ROUNDS = 3
_TOOL_ROUNDS = 25


def measure(scratch: str) -> Iterator[Measurement]:
    yield _turns(os.path.join(scratch, "turns"))
    yield _tools(os.path.join(scratch, "tools"))


def _turns(root: str) -> Measurement:
    """One conversation; the seconds are those between an answer and the next request, around the given turn."""
    os.makedirs(os.path.join(root, "home"))
    for number in range(_TURNS[-1]):
        with open(os.path.join(root, f"small-{number}.txt"), "w", encoding="utf-8") as file:
            file.write(f"This is file {number}.\n")
    reads = [text_reply(function_call("read_file", {"path": f"small-{number}.txt"})) for number in range(_TURNS[-1])]
    times: dict[int, float] = dict.fromkeys(_TURNS, float("inf"))
    for _ in range(_ROUNDS):
        waits = _waits(root, reads)
        for turn in _TURNS:
            times[turn] = min(times[turn], statistics.median(waits[turn - _AROUND : turn]))
    return growth("cost of a turn after so many turns", times)


def _waits(root: str, answers: Sequence[Reply]) -> list[float]:
    with Stopwatch([*answers, text_reply("Done.")]) as model:
        command = [TEJAT, "--yolo", "--max-turns", str(2 * _TURNS[-1]), "-p", "go"]
        done = launch(command, root, agents.environment(root, model.address))
    assert done.output == "Done.\n", done.output
    return model.waits


def _tools(root: str) -> Measurement:
    """A headless turn with one MCP server that has so many tools, over the same turn with one tool."""
    with LoopbackServer(agents.respond) as model:
        runs = {count: agents.tejat(_prepare(root, count), model.address, "--trust") for count in (1, *_TOOLS)}
        rounds = [{count: agent.ask().seconds for count, agent in runs.items()} for _ in range(_TOOL_ROUNDS)]
    # A few milliseconds are a difference of two whole runs: the median varies less than the best.
    median = {count: statistics.median(times[count] for times in rounds) for count in runs}
    least = 0.001  # so that noise does not become an exponent
    return growth("tools of an MCP server", {count: max(least, median[count] - median[1]) for count in _TOOLS})


def _prepare(root: str, tools: int) -> str:
    path = os.path.join(root, str(tools))
    os.makedirs(os.path.join(path, "home", ".gemini"))
    server = {"command": sys.executable, "args": ["-S", "-E", mcp_server.__file__, f"tools={tools}"]}
    with open(os.path.join(path, "home", ".gemini", "settings.json"), "w", encoding="utf-8") as file:
        json.dump({"mcpServers": {"many": server}}, file)
    return path
