"""Kills sessions with several sub-agents at random moments, resumes them, and reports what was lost.

Used by tests and benchmarks. The model's server answers each request with `next_parts`.
"""

import json
import os
import random
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.session_kills import NO_SESSION, Fact, KillOutcome, printed_facts, request_facts, run_and_kill

AGENTS = ("reader", "reader", "writer", "reader")
TURNS = 3
LINES = 60
"""About as many lines as a whole run prints."""
MAX_DELAY = 0.01
DEFINITION = "---\nname: {name}\ndescription: Reads.\ntools: [{tools}]\n---\nYou are {name}.\n"


def define_agents(home: str) -> None:
    directory = os.path.join(home, ".gemini", "agents")
    os.makedirs(directory)
    for name, tools in (("reader", "read_file"), ("writer", "read_file, write_file")):
        with open(os.path.join(directory, f"{name}.md"), "w", encoding="utf-8") as file:
            file.write(DEFINITION.format(name=name, tools=tools))


def next_parts(body: Any) -> list[object]:
    """The next answer of the model, as parts of the wire, for the session and for its agents."""
    parts = [part for content in body["contents"] for part in content["parts"]]
    calls = sum("functionCall" in part for part in parts)
    if "complete_task" in json.dumps(body["tools"]):
        return _agent_parts(body, calls)
    if calls or any(part.get("text", "").startswith("stop ") for part in parts):
        return ["That is all."]
    started = [
        {"id": f"start-{number}", "name": "invoke_agent", "args": {"agent_name": name, "prompt": f"Task {number}."}}
        for number, name in enumerate(AGENTS)
    ]
    return ["I start ", "some agents.", *({"functionCall": call} for call in started)]


def _agent_parts(body: Any, calls: int) -> list[object]:
    task = body["contents"][0]["parts"][0]["text"].removeprefix("Task ").removesuffix(".")
    if calls == TURNS:
        call = {"id": "end", "name": "complete_task", "args": {"result": f"Result {task}."}}
    elif calls == 1 and AGENTS[int(task)] == "writer":
        call = {"id": "write", "name": "write_file", "args": {"file_path": f"{task}.txt", "content": f"{task}\n"}}
    else:
        call = {"id": f"read-{calls}", "name": "read_file", "args": {"path": "small.txt", "limit": calls + 1}}
    return [f"Turn {calls}.", {"functionCall": call}]


def kill_with_agents(
    program: Sequence[str],
    directory: str,
    environment: Mapping[str, str],
    requests: Callable[[], Iterable[bytes]],
    chance: random.Random,
) -> KillOutcome:
    """Kill a run with agents in a new directory and resume it. `requests` gives all requests that the model got."""
    os.mkdir(directory)
    Path(directory, "small.txt").write_text("one\ntwo\nthree\nfour\n", encoding="utf-8")
    name = os.path.basename(directory)
    command = [*program, "--yolo", "--sandbox", "off", "--output-format", "stream-json"]
    lines, delay = chance.randrange(1, LINES), chance.uniform(0, MAX_DELAY)
    moment = f"{name}: after {lines} lines and {delay * 1000:.1f} ms"
    printed = run_and_kill([*command, "-p", f"start {name}"], directory, environment, after_lines=lines, delay=delay)
    acknowledged = tuple(printed_facts(printed))
    inner = tuple(_printed_agent_facts(printed))
    lost, problem = _missing_records(environment["HOME"], printed, inner)
    resumed = subprocess.run(
        [*command, "--resume", "latest", "-p", f"stop {name}"],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if resumed.returncode == NO_SESSION and not acknowledged:
        return KillOutcome(moment)
    if resumed.returncode != 0:
        problem = f"exit {resumed.returncode}: {resumed.stdout}{resumed.stderr}"
    seen = [json.loads(body) for body in requests() if f'"stop {name}"'.encode() in body]
    known = [fact for body in seen for fact in request_facts(body)]
    missing = tuple(fact for fact in acknowledged if fact not in known)
    return KillOutcome(moment, (*acknowledged, *inner), (*missing, *lost), problem)


def _printed_agent_facts(printed: Sequence[Mapping[str, Any]]) -> Iterator[Fact]:
    """What a run has told of its agents."""
    for event in printed:
        match event:
            case {"type": "agent_start" | "agent_end" as kind, "agent_id": agent}:
                yield "agent", agent, kind
            case {"type": "tool_use", "agent_id": agent, "tool_id": identity}:
                yield "agent", agent, "call", identity
            case {"type": "tool_result", "agent_id": agent, "tool_id": identity}:
                yield "agent", agent, "result", identity
            case _:
                pass


def _missing_records(
    home: str, printed: Sequence[Mapping[str, Any]], facts: Sequence[Fact]
) -> tuple[tuple[Fact, ...], str]:
    """The facts that the journal does not hold, and what is wrong with the journal."""
    session = next((event["session_id"] for event in printed if event["type"] == "init"), None)
    journal = next((path for path in _journals(home) if session is not None and session in _head(path)), None)
    if journal is None:
        return tuple(facts), ""
    known: set[Fact] = set()
    lines = journal.read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except ValueError:
            if number < len(lines):
                return (), f"line {number} of {journal} is damaged"
            continue  # the kill cut off the last one, which nobody was told of
        if record["kind"] == "agent":
            known.update(_recorded_facts(record["agent"], record["record"]))
    return tuple(fact for fact in facts if fact not in known), ""


def _recorded_facts(agent: str, record: Mapping[str, Any]) -> Iterator[Fact]:
    match record:
        case {"kind": "started"}:
            yield "agent", agent, "agent_start"
        case {"kind": "ended"}:
            yield "agent", agent, "agent_end"
        case {"kind": "answer", "message": {"parts": parts}}:
            yield from (
                ("agent", agent, "call", part["functionCall"]["id"]) for part in parts if "functionCall" in part
            )
        case {"kind": "response", "parts": parts}:
            responses = (part["functionResponse"] for part in parts if "functionResponse" in part)
            yield from (("agent", agent, "result", response["id"]) for response in responses)
        case _:
            pass


def _journals(home: str) -> Iterable[Path]:
    return Path(home, ".local", "state", "tejat", "sessions").rglob("*.jsonl")


def _head(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline()
