"""Sub-agents: many at once against one, and resuming after a kill."""

import json
import os
import random
import time
from collections.abc import Callable, Iterator

from tests.support.agent_kills import define_agents, kill_with_agents, next_parts
from tests.support.model_servers.gemini import (
    LoopbackServer,
    Received,
    Reply,
    error_reply,
    find_problem,
    function_call,
    text_reply,
)
from tests.support.session_kills import is_complete_request

from bench.measurement import Measurement, ratio
from bench.support import agents
from bench.support.launcher import launch
from bench.support.tool_process import TEJAT

_AGENTS = 8
_TURNS = 4
_ROUNDS = 3
_THINKING_SECONDS = 0.25
"""How long the model takes for each answer."""
_KILLS = 200


def measure(scratch: str) -> Iterator[Measurement]:
    root = os.path.join(scratch, "subagents")
    home = os.path.join(root, "home")
    define_agents(home)
    with open(os.path.join(home, ".gemini", "settings.json"), "w", encoding="utf-8") as file:
        json.dump({"agents": {"maxParallel": _AGENTS}}, file)
    for number in range(_TURNS):
        with open(os.path.join(root, f"{number}.txt"), "w", encoding="utf-8") as file:
            file.write(f"{number}\n")
    yield _side_by_side(root)
    yield _kills(root)


def _side_by_side(root: str) -> Measurement:
    name = f"{_AGENTS} sub-agents that read, over one"
    return ratio(name, 1.3, lambda: _run(root, _AGENTS), lambda: _run(root, 1), rounds=_ROUNDS)


def _run(root: str, count: int) -> None:
    """Run a prompt whose model starts so many agents, each with a few requests."""
    with LoopbackServer(_thinking(count)) as server:
        done = launch([TEJAT, "--sandbox", "off", "-p", "go"], root, agents.environment(root, server.address))
    assert done.output == "Done.\n", done.output
    assert len(server.requests) == 2 + count * (_TURNS + 1), len(server.requests)


def _thinking(count: int) -> Callable[[Received], Reply]:
    def respond(received: Received) -> Reply:
        time.sleep(_THINKING_SECONDS)
        parts = [part for content in received.body["contents"] for part in content["parts"]]
        calls = sum("functionCall" in part for part in parts)
        if "complete_task" in json.dumps(received.body["tools"]):
            if calls == _TURNS:
                return text_reply(function_call("complete_task", {"result": "Read."}))
            return text_reply(function_call("read_file", {"path": f"{calls}.txt"}))
        if calls:
            return text_reply("Done.")
        started = [{"agent_name": "reader", "prompt": f"Task {number}."} for number in range(count)]
        return text_reply(*(function_call("invoke_agent", arguments) for arguments in started))

    return respond


def _kills(root: str) -> Measurement:
    chance = random.Random()

    def respond(received: Received) -> Reply:
        if not is_complete_request(received.headers, received.raw):
            return Reply()
        wrong = find_problem(received)
        return error_reply(400, wrong) if wrong else text_reply(*next_parts(received.body))

    with LoopbackServer(respond) as server:
        outcomes = [
            kill_with_agents(
                [TEJAT],
                os.path.join(root, f"run-{number:03}"),
                agents.environment(root, server.address),
                lambda: [received.raw for received in server.requests],
                chance,
            )
            for number in range(_KILLS)
        ]
    harmed = [outcome for outcome in outcomes if outcome.missing or outcome.problem]
    reported = sum(len(outcome.acknowledged) for outcome in outcomes)
    detail = f"{reported} facts acknowledged before" + "".join(f"\n     {outcome}" for outcome in harmed)
    return Measurement(f"{_KILLS} kills with sub-agents, sessions that lost anything", len(harmed), 0, "", detail)
