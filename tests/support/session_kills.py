"""Kills runs at random moments, resumes each session, and reports what the model did not see again.

Used by tests and benchmarks. The model's server answers each request that `is_complete_request` with
`next_model_parts`.
"""

import json
import os
import random
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TURNS = 4
MAX_DELAY = 0.01
SMALL = "one\ntwo\nthree\n"

Fact = tuple[str, ...]
"""A prompt, the text of an answer, a call or its result, as both sides report it."""


@dataclass(frozen=True)
class KillOutcome:
    """The result for one session: the facts that the killed run had printed, and those of them lost."""

    moment: str
    acknowledged: tuple[Fact, ...] = ()
    missing: tuple[Fact, ...] = ()
    problem: str = ""


def is_complete_request(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether the client lived long enough to send the whole request."""
    return len(body) == int(headers["content-length"])


def next_model_parts(body: Any) -> list[object]:
    """The next answer of the model, as parts of the wire: two calls a turn, until it is asked to stop or has enough."""
    parts = [part for content in body["contents"] for part in content["parts"]]
    turn = sum("functionCall" in part for part in parts) // 2
    if turn == TURNS or any(part.get("text", "").startswith("stop ") for part in parts):
        return ["That is all."]
    read = {"id": f"read-{turn}", "name": "read_file", "args": {"path": "small.txt", "limit": turn + 1}}
    write = {"id": f"write-{turn}", "name": "write_file", "args": {"file_path": f"{turn}.txt", "content": f"{turn}\n"}}
    return ["This is ", f"turn {turn}.", {"functionCall": read}, {"functionCall": write}]


def kill_and_resume(
    program: Sequence[str],
    directory: str,
    environment: Mapping[str, str],
    requests: Callable[[], Iterable[bytes]],
    chance: random.Random,
) -> KillOutcome:
    """Kill a run in a new directory and resume it. `requests` gives the bodies of all requests that the model got."""
    os.mkdir(directory)
    with open(os.path.join(directory, "small.txt"), "w", encoding="utf-8") as file:
        file.write(SMALL)
    name = os.path.basename(directory)
    command = [*program, "--yolo", "--sandbox", "off", "--output-format", "stream-json"]
    lines = chance.randrange(1, 3 + 6 * TURNS)
    delay = chance.uniform(0, MAX_DELAY)
    moment = f"{name}: after {lines} lines and {delay * 1000:.1f} ms"
    printed = run_and_kill([*command, "-p", f"start {name}"], directory, environment, after_lines=lines, delay=delay)
    acknowledged = tuple(printed_facts(printed))
    resumed = subprocess.run(
        [*command, "--resume", "latest", "-p", f"stop {name}"],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if resumed.returncode == NO_SESSION and not acknowledged:
        return KillOutcome(moment)
    if resumed.returncode != 0:
        return KillOutcome(moment, acknowledged, problem=f"exit {resumed.returncode}: {resumed.stdout}{resumed.stderr}")
    seen = [body for body in requests() if f'"stop {name}"'.encode() in body]
    if len(seen) != 1:
        return KillOutcome(moment, acknowledged, problem=f"{len(seen)} requests with the prompt of the resumed run")
    known = list(request_facts(json.loads(seen[0])))
    twice = {fact for fact in known if known.count(fact) > 1}
    return KillOutcome(
        moment,
        acknowledged,
        tuple(fact for fact in acknowledged if fact not in known),
        f"Told twice: {sorted(twice)}" if twice else "",
    )


NO_SESSION = 42


def run_and_kill(
    command: Sequence[str], directory: str, environment: Mapping[str, str], *, after_lines: int, delay: float
) -> list[dict[str, Any]]:
    """The whole lines that a run printed before it was killed."""
    with subprocess.Popen(
        command,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(after_lines)]
        time.sleep(delay)
        process.kill()
        lines += process.stdout.readlines()
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def printed_facts(printed: Sequence[Mapping[str, Any]]) -> Iterator[Fact]:
    """What a run acknowledged. The text of an answer counts when the next thing is told: until then it is in flight.

    What sub-agents did is left out.
    """
    text = ""
    for event in printed:
        kind = event["type"]
        if "agent_id" in event:
            continue
        if kind == "message" and event["role"] == "assistant":
            text += event["content"]
            continue
        if text:
            yield "text", text
            text = ""
        if kind == "message":
            yield "prompt", event["content"]
        elif kind == "tool_use":
            yield "call", event["tool_id"], event["tool_name"], json.dumps(event["parameters"], sort_keys=True)
        elif kind == "tool_result":
            assert event["status"] == "success", event
            yield "result", event["tool_id"], event["content"]


def request_facts(request: Mapping[str, Any]) -> Iterator[Fact]:
    """The same from the request of the resumed run."""
    for content in request["contents"]:
        texts = [part["text"] for part in content["parts"] if "text" in part]
        if content["role"] == "model":
            yield "text", "".join(texts)
        else:
            yield from (("prompt", text) for text in texts)
        for part in content["parts"]:
            match part:
                case {"functionCall": {"id": identity, "name": name, "args": args}}:
                    yield "call", identity, name, json.dumps(args, sort_keys=True)
                case {"functionResponse": {"id": identity, "response": response}}:
                    yield "result", identity, "\n".join(map(str, response.values()))
                case _:
                    pass
