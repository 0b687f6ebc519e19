"""The cost of a conversation beside the model: a run, a turn, a call; and resuming after a kill."""

import os
import random
import statistics
from collections.abc import Iterator, Sequence

from tests.support.model_servers.gemini import (
    LoopbackServer,
    Received,
    Reply,
    error_reply,
    find_problem,
    function_call,
    text_reply,
)
from tests.support.session_kills import is_complete_request, kill_and_resume, next_model_parts

from bench.measurement import Measurement
from bench.support import agents
from bench.support.agents import Agent
from bench.support.launcher import launch
from bench.support.model_server import Stopwatch, send_plainly
from bench.support.tool_process import TEJAT

_ROUNDS = 5
_SEQUENTIAL = 100
_LONG = 300
_LONG_ROUNDS = 3
_BARE_ROUNDS = 3
_PARALLEL = 20
_PAIRS = 40
_KILLS = 200
_LINE = "a line of sixty-four characters, so that four thousand are 64 \n"


def measure(scratch: str) -> Iterator[Measurement]:
    root = os.path.join(scratch, "agent")
    os.makedirs(os.path.join(root, "home"))
    _write_files(root)
    yield from _whole_runs(root)
    yield _turns(root)
    yield from _growth(root)
    yield _further_calls(root)
    yield _kills(root)


def _write_files(root: str) -> None:
    """Write enough files that no two calls are alike."""
    for number in range(max(_SEQUENTIAL, _LONG, _PAIRS * (_PARALLEL + 1))):
        for kind, text in (("small", "one\ntwo\nthree\n"), ("page", _LINE * 64)):
            with open(os.path.join(root, f"{kind}-{number}.txt"), "w", encoding="utf-8") as file:
                file.write(text)


def _whole_runs(root: str) -> Iterator[Measurement]:
    with LoopbackServer(agents.respond) as server:
        ours = agents.tejat(root, server.address)
        yield _peak_memory(ours)
        for name, other, limit in (
            ("gemini-cli", agents.gemini(root, server.address), 0.1),
            ("codex", agents.codex(root, server.address, is_native=False), 0.35),
            # Without a limit, for information: it is what the script of codex starts.
            ("the native program of codex", agents.codex(root, server.address), float("inf")),
        ):
            if other is None:
                print(f"--   {name} is not installed: `tejat -p hi` is not compared with it", flush=True)
            else:
                yield from _compared(ours, other, limit)


def _compared(ours: Agent, other: Agent, limit: float) -> Iterator[Measurement]:
    """Compare the best of both, measured alternately after a warm-up round."""
    rounds = [(ours.ask(), other.ask()) for _ in range(_ROUNDS + 1)][1:]
    mine, theirs = (min(each.seconds for each in runs) * 1000 for runs in zip(*rounds, strict=True))
    yield Measurement(
        f"`tejat -p hi` over {other.name}", mine / theirs, limit, "x", f"{mine:.0f} ms against {theirs:.0f} ms"
    )
    mine, theirs = (min(each.peak_memory for each in runs) / 2**20 for runs in zip(*rounds, strict=True))
    detail = f"{mine:.1f} MB against {theirs:.1f} MB"
    yield Measurement(f"peak memory of it over {other.name}", mine / theirs, 0.25, "x", detail)


def _peak_memory(ours: Agent) -> Measurement:
    used = sorted(ours.ask().peak_memory / 2**20 for _ in range(_ROUNDS))
    return Measurement("peak memory of `tejat -p hi`", used[0], 30, "MB", f"from {used[0]:.1f} to {used[-1]:.1f} MB")


def _turns(root: str) -> Measurement:
    """Take the best of a few runs by its median."""
    answers = [text_reply(_read("small", number)) for number in range(_SEQUENTIAL)]
    waits = min((_waits(root, answers) for _ in range(_ROUNDS)), key=statistics.median)
    median = statistics.median(waits) * 1000
    detail = f"from {min(waits) * 1000:.2f} to {max(waits) * 1000:.2f} ms, measured at the server"
    return Measurement(f"{_SEQUENTIAL} calls one after the other, median of a turn", median, 2, "ms", detail)


def _growth(root: str) -> Iterator[Measurement]:
    """Compare the best of a few runs at both ends, which leaves out disturbances of the machine.

    The request of a late turn is larger. What a bare client needs more to send it is measured with the same sizes.
    """
    early = late = bare_early = bare_late = float("inf")
    for _ in range(_LONG_ROUNDS):
        waits, sizes = _waits_and_sizes(root, [text_reply(_read("page", number)) for number in range(_LONG)])
        early, late = min(early, _early(waits)), min(late, _late(waits))
        for _ in range(_BARE_ROUNDS):
            bare = send_plainly(sizes)
            bare_early, bare_late = min(bare_early, _early(bare)), min(bare_late, _late(bare))
    name = f"{_LONG} calls of 4 KB, the last turns over the first"
    detail = f"{late * 1000:.2f} ms against {early * 1000:.2f} ms"
    yield Measurement(name, late / early, 1.1, "x", detail)
    detail = f"without what a bare client needs, {bare_late * 1000:.2f} ms and {bare_early * 1000:.2f} ms"
    yield Measurement(f"{name}, but for sending", (late - bare_late) / (early - bare_early), 1.1, "x", detail)


def _early(waits: Sequence[float]) -> float:
    return statistics.median(waits[9:20])


def _late(waits: Sequence[float]) -> float:
    return statistics.median(waits[-11:])


def _further_calls(root: str) -> Measurement:
    """Alternate turns with one call and with many, and take the best of a few runs."""
    answers: list[Reply] = []
    for pair in range(_PAIRS):
        first = pair * (_PARALLEL + 1)
        answers.append(text_reply(_read("small", first)))
        answers.append(text_reply(*(_read("small", first + 1 + number) for number in range(_PARALLEL))))
    runs = [_waits(root, answers) for _ in range(_LONG_ROUNDS)]
    one = min(statistics.median(waits[::2]) for waits in runs) * 1000
    many = min(statistics.median(waits[1::2]) for waits in runs) * 1000
    detail = f"{many:.2f} ms against {one:.2f} ms for one"
    further = (many - one) / (_PARALLEL - 1)
    return Measurement(f"{_PARALLEL} calls at once, each further one", further, 0.3, "ms", detail)


def _read(kind: str, number: int) -> object:
    return function_call("read_file", {"path": f"{kind}-{number}.txt"})


def _waits(root: str, answers: Sequence[Reply]) -> list[float]:
    """Return the seconds from each of these answers to the complete next request."""
    return _waits_and_sizes(root, answers)[0]


def _waits_and_sizes(root: str, answers: Sequence[Reply]) -> tuple[list[float], list[int]]:
    """Return the same, and the bytes of each request."""
    with Stopwatch([*answers, text_reply("Done.")]) as model:
        done = launch([TEJAT, "--yolo", "-p", "go"], root, agents.environment(root, model.address))
    assert done.output == "Done.\n", done.output
    return model.waits, model.sizes


def _kills(root: str) -> Measurement:
    chance = random.Random()

    def respond(received: Received) -> Reply:
        if not is_complete_request(received.headers, received.raw):
            return Reply()
        wrong = find_problem(received)
        return error_reply(400, wrong) if wrong else text_reply(*next_model_parts(received.body))

    with LoopbackServer(respond) as server:
        outcomes = [
            kill_and_resume(
                [TEJAT],
                os.path.join(root, f"run-{number:03}"),
                agents.environment(root, server.address),
                lambda: [received.raw for received in server.requests],
                chance,
            )
            for number in range(_KILLS)
        ]
    harmed = [outcome for outcome in outcomes if outcome.missing or outcome.problem]
    told = sum(len(outcome.acknowledged) for outcome in outcomes)
    detail = f"{told} facts acknowledged before" + "".join(f"\n     {outcome}" for outcome in harmed)
    return Measurement(f"{_KILLS} kills, sessions that lost anything", len(harmed), 0, "", detail)
