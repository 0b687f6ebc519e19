"""The cost of a call: policy, scheduler, shell start-up and output."""

import asyncio
import os
import statistics
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator

from bench.measurement import Measurement
from bench.support.tool_process import ToolProcess
from tejat import FunctionCall, ToolContext, Toolset, open_tools

_CALLS = 1000
_GROUP = 50
_ROUNDS = 60
_FLOOD = "yes | head -c 2147483648"


def measure(scratch: str) -> Iterator[Measurement]:
    root = os.path.join(scratch, "flow")
    os.mkdir(root)
    with open(os.path.join(root, "small.txt"), "w", encoding="utf-8") as file:
        file.write("one\ntwo\nthree\n")
    environment = {**os.environ, "HOME": os.path.join(scratch, "home")}
    os.makedirs(environment["HOME"], exist_ok=True)
    with open_tools([root], None, mode="yolo", sandbox="off", environment=environment) as session:
        yield asyncio.run(_scheduling(session))
        yield asyncio.run(_shell(session))
    with open_tools([root], None, mode="yolo", sandbox="required", environment=environment) as fenced:
        yield asyncio.run(_sandboxed(fenced))
    yield _flood(root)


async def _scheduling(session: Toolset) -> Measurement:
    """Measure the same call through the scheduler and directly, alternately, and take the best groups of both."""
    arguments = {"path": "small.txt"}
    tool = session.registry["read_file"]
    call = FunctionCall("read_file", arguments)
    scheduled, direct = await _in_turns(
        lambda: session.scheduler.run(call), lambda: tool.execute(arguments, ToolContext()), rounds=_CALLS
    )
    ours, bare = (_best_median(times) * 1e6 for times in (scheduled, direct))
    detail = f"{ours:.0f} us against {bare:.0f} us"
    return Measurement(f"{_CALLS} scheduled reads, overhead of each", ours - bare, 100, "us", detail)


def _best_median(times: list[float]) -> float:
    """Return the least median of groups of calls, which leaves out disturbances of the machine."""
    return min(statistics.median(times[start : start + _GROUP]) for start in range(0, len(times), _GROUP))


async def _shell(session: Toolset) -> Measurement:
    """Measure the tool alone; policy and scheduler are measured separately."""
    tool = session.registry["run_shell_command"]
    ours, bare = await _in_turns(lambda: tool.execute({"command": "true"}, ToolContext()), _bare, rounds=_ROUNDS)
    judged, _ = await _in_turns(lambda: _true(session), _bare, rounds=_ROUNDS)
    times = [statistics.median(each) * 1e3 for each in (ours, bare, judged)]
    detail = f"{times[0]:.2f} ms against {times[1]:.2f} ms; {times[2]:.2f} ms when it is judged and scheduled too"
    return Measurement("`run_shell_command true` over `bash -c true`", times[0] / times[1], 1.5, "x", detail)


async def _sandboxed(session: Toolset) -> Measurement:
    ours, bare = await _in_turns(lambda: _true(session), _bare, rounds=_ROUNDS)
    more = (statistics.median(ours) - statistics.median(bare)) * 1e3
    detail = f"{statistics.median(ours) * 1e3:.1f} ms against {statistics.median(bare) * 1e3:.1f} ms"
    return Measurement("the same in the sandbox, more", more, 20, "ms", detail)


async def _true(session: Toolset) -> None:
    result = await session.scheduler.run(FunctionCall("run_shell_command", {"command": "true"}))
    assert result.error is None, result.error


async def _bare() -> None:
    command = ["bash", "-c", "true"]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)  # noqa: ASYNC221 -- nobody else waits


async def _in_turns(
    ours: Callable[[], Awaitable[object]], baseline: Callable[[], Awaitable[object]], *, rounds: int
) -> tuple[list[float], list[float]]:
    """Return the times of both, measured alternately after a warm-up round."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        for work, kept in zip((ours, baseline), times, strict=True):
            start = time.perf_counter()
            await work()
            if number:
                kept.append(time.perf_counter() - start)
    return times


def _flood(root: str) -> Measurement:
    with ToolProcess(root) as server:
        server.call("run_shell_command", command="true")
        idle = server.memory()
        start = time.perf_counter()
        server.call("run_shell_command", command=_FLOOD)
        seconds = time.perf_counter() - start
        grown = (server.peak_memory() - idle) / 2**20
    return Measurement(f"`{_FLOOD}`, memory over idle", grown, 40, "MB", f"in {seconds:.1f} s")
