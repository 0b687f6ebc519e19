"""A server that is a program: what it says arrives, however badly it behaves, and nothing of it is left in the end."""

import asyncio
import contextlib
import gc
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from support.process_marks import living_pids
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.protocol import JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, RequestId
from tejat.mcp.transports.base import Transport
from tejat.mcp.transports.stdio import SandboxWrapper, StdioTransport
from tejat.workspace.processes.supervisor_client import ProcessSupervisor
from tejat.workspace.sandbox.types import SandboxedCommand

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

Value = TypeVar("Value")

PREAMBLE = """
import json, os, signal, subprocess, sys, time

def say(data):
    while data:
        data = data[os.write(1, data):]

def answer(request, **result):
    say(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode() + b"\\n")

def hear():
    line = sys.stdin.buffer.readline()
    return json.loads(line) if line else sys.exit()

"""
ECHO = "while True:\n    request = hear()\n    answer(request, method=request['method'])\n"


def run(scene: Coroutine[object, object, Value]) -> Value:
    """To the end of the scene, with everything that asyncio has to complain about, and with no descriptor left open."""
    complaints: list[dict[str, object]] = []

    async def watched() -> Value:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        return await scene

    gc.collect()
    before = sorted(os.listdir("/proc/self/fd"))
    result = asyncio.run(watched(), debug=True)
    gc.collect()
    assert complaints == []
    assert sorted(os.listdir("/proc/self/fd")) == before
    return result


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/status").read_text(encoding="utf-8").partition("PPid:")[2].split()[0])


async def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


class Ear:
    """What a transport told."""

    def __init__(self) -> None:
        self.heard: list[JsonRpcMessage] = []
        self.lost: list[tuple[str, McpProblem, RequestId | None]] = []

    def receive(self, message: JsonRpcMessage) -> None:
        self.heard.append(message)

    def lose(self, failure: McpFailure, request_id: RequestId | None) -> None:
        self.lost.append((failure.message, failure.problem, request_id))

    async def hear(self, count: int) -> list[JsonRpcMessage]:
        await until(lambda: len(self.heard) >= count)
        return self.heard

    async def lose_something(self, count: int = 1) -> list[tuple[str, McpProblem, RequestId | None]]:
        await until(lambda: len(self.lost) >= count)
        return self.lost


class Ground:
    """Where servers are written and started."""

    def __init__(self, directory: Path, mark: str) -> None:
        self.directory = directory
        self.mark = mark

    def transport(
        self,
        supervisor: ProcessSupervisor,
        body: str,
        *,
        wrap: SandboxWrapper | None = None,
        sending_seconds: float = 30.0,
    ) -> StdioTransport:
        script = self.directory / "server.py"
        script.write_text(PREAMBLE + body, encoding="utf-8")
        return StdioTransport(
            supervisor,
            sys.executable,
            ("-I", "-S", str(script), self.mark),
            directory=str(self.directory),
            environment={"PATH": os.environ.get("PATH", os.defpath)},
            wrap=wrap,
            send_seconds=sending_seconds,
        )

    @contextlib.asynccontextmanager
    async def opened(
        self, body: str, *, wrap: SandboxWrapper | None = None, sending_seconds: float = 30.0
    ) -> AsyncGenerator[tuple[StdioTransport, Ear]]:
        """A server that runs; in the end it is closed, and none of its processes is left."""
        supervisor, ear = ProcessSupervisor(), Ear()
        transport = self.transport(supervisor, body, wrap=wrap, sending_seconds=sending_seconds)
        try:
            await transport.open(ear.receive, ear.lose)
            yield transport, ear
        finally:
            await transport.close()
            assert living_pids(self.mark) == []
            supervisor.close()


@pytest.fixture
def ground(tmp_path: Path, mark: str) -> Ground:
    return Ground(tmp_path, mark)


def spoken(ground: Ground, body: str, *, count: int) -> list[JsonRpcMessage]:
    """What is heard from a server that gets no request."""

    async def scene() -> list[JsonRpcMessage]:
        async with ground.opened(body + "\nhear()") as (_, ear):
            heard = await ear.hear(count)
            assert ear.lost == []
            return heard

    return run(scene())


class TestSpeaking:
    def test_it_is_a_transport(self) -> None:
        transport: Transport = StdioTransport(ProcessSupervisor(), "/bin/true", directory="/", environment={})
        transport.set_revision("2025-11-25")
        transport.forget_request(1)
        assert transport.stderr_tail == ()

    def test_requests_and_answers(self, ground: Ground) -> None:
        async def scene() -> list[JsonRpcMessage]:
            async with ground.opened(ECHO) as (transport, ear):
                await transport.send(JsonRpcRequest(1, "ping"))
                await ear.hear(1)
                await asyncio.gather(*(transport.send(JsonRpcRequest(f"r{number}", "é\n")) for number in range(50)))
                return await ear.hear(51)

        assert run(scene()) == [
            JsonRpcResponse(1, {"method": "ping"}),
            *(JsonRpcResponse(f"r{number}", {"method": "é\n"}) for number in range(50)),
        ]

    def test_arguments_directory_and_environment_are_those_given(self, ground: Ground) -> None:
        (told,) = spoken(
            ground,
            "answer({'id': 1}, argv=sys.argv[1:], cwd=os.getcwd(), env=sorted(set(os.environ) - {'LC_CTYPE'}))",
            count=1,
        )
        assert told == JsonRpcResponse(
            1, {"argv": [ground.mark], "cwd": os.path.realpath(ground.directory), "env": ["PATH"]}
        )

    @pytest.mark.parametrize(
        ("body", "heard"),
        [
            (r"""say(b'{"method":"a"}\n{"method":"b"}\n')""", ["a", "b"]),
            (r"""say(b'\r\n\n{"method":"a"}\r\n  \n{"method":"b"}\n')""", ["a", "b"]),
            (r"""say(b'{"met'); time.sleep(0.05); say(b'hod":"a"}'); time.sleep(0.05); say(b'\n')""", ["a"]),
            (r"""say(b'[{"method":"a"},{"method":"b"}]\n')""", ["a", "b"]),
            (r"""say(b'{"method":"' + b'x' * 3_000_000 + b'"}\n')""", ["x" * 3_000_000]),
            (r"""say(b'{"method":"a"}\n' * 20_000)""", ["a"] * 20_000),
        ],
        ids=["two at once", "crlf and blank", "in pieces", "batch", "long", "many"],
    )
    def test_however_it_is_written(self, ground: Ground, body: str, heard: list[str]) -> None:
        assert spoken(ground, body, count=len(heard)) == [JsonRpcNotification(method) for method in heard]

    def test_a_large_request_does_not_block(self, ground: Ground) -> None:
        body = "request = hear()\ntime.sleep(0.2)\nfor _ in range(3): answer(hear(), size=len(request['params']['x']))"

        async def scene() -> list[JsonRpcMessage]:
            async with ground.opened(body) as (transport, ear):
                large = asyncio.create_task(transport.send(JsonRpcRequest(0, "large", {"x": "x" * 9_000_000})))
                await asyncio.gather(*(transport.send(JsonRpcRequest(number, "small")) for number in (1, 2, 3)), large)
                return await ear.hear(3)

        assert run(scene()) == [JsonRpcResponse(number, {"size": 9_000_000}) for number in (1, 2, 3)]


class TestWhatIsNoMessage:
    def test_is_skipped_and_told_once(self, ground: Ground) -> None:
        async def scene() -> tuple[list[JsonRpcMessage], tuple[str, ...]]:
            body = r"say(b'\x1b[31mWelcome\x1b[0m \xff\n' + b'more\n' * 70_000)" + "\n" + ECHO
            async with ground.opened(body) as (transport, ear):
                await transport.send(JsonRpcRequest(1, "ping"))
                heard = await ear.hear(1)
                assert ear.lost == []
                return heard, transport.stderr_tail

        assert run(scene()) == (
            [JsonRpcResponse(1, {"method": "ping"})],
            ("(70,001 lines on its standard output are no messages, first: Welcome \ufffd)",),
        )

    def test_a_single_one(self, ground: Ground) -> None:
        async def scene() -> tuple[str, ...]:
            async with ground.opened("print('Hello', flush=True)\n" + ECHO) as (transport, ear):
                await transport.send(JsonRpcRequest(1, "ping"))
                await ear.hear(1)
                return transport.stderr_tail

        assert run(scene()) == ("(A line on its standard output is no message: Hello)",)

    @pytest.mark.parametrize(
        ("result", "reason", "problem"),
        [
            (r"b'\"\xff\"'", "it is not UTF-8: byte 35 is wrong", McpProblem.MALFORMED),
            ("b'[' * 100_000", "it is not JSON: it is nested too deeply", McpProblem.MALFORMED),
            ("b'5'", "it is neither a request, nor a notification, nor an answer", McpProblem.MALFORMED),
            ("b'\"' + b'x' * 40_000_000 + b'\"'", "it is longer than 16,777,216 bytes", McpProblem.TOO_LARGE),
        ],
        ids=["utf-8", "deep", "wrong", "long"],
    )
    def test_an_answer_that_cannot_be_read(self, ground: Ground, result: str, reason: str, problem: McpProblem) -> None:
        """Only the request that it was for is lost, and at once."""
        body = f'hear()\nsay(b\'{{"jsonrpc":"2.0","id":7,"result":\' + {result} + b\'}}\\n\')\n' + ECHO

        async def scene() -> tuple[
            list[tuple[str, McpProblem, RequestId | None]], list[JsonRpcMessage], tuple[str, ...]
        ]:
            async with ground.opened(body) as (transport, ear):
                await transport.send(JsonRpcRequest(7, "large"))
                await ear.lose_something()
                await transport.send(JsonRpcRequest(8, "ping"))
                return ear.lost, await ear.hear(1), transport.stderr_tail

        lost = (f"The server's answer cannot be read: {reason}.", problem, 7)
        assert run(scene()) == ([lost], [JsonRpcResponse(8, {"method": "ping"})], ())

    def test_a_line_without_end_ends_the_server(self, ground: Ground, mark: str) -> None:
        async def scene() -> list[tuple[str, McpProblem, RequestId | None]]:
            async with ground.opened("while True: say(b'x' * 1_000_000)") as (transport, ear):
                lost = await ear.lose_something()
                await until(lambda: not living_pids(mark))
                with pytest.raises(McpFailure, match="a line without end"):
                    await transport.send(JsonRpcRequest(1, "ping"))
                return lost

        assert run(scene()) == [("The server sent a line without end.", McpProblem.TOO_LARGE, None)]


class TestTheEndOfTheServer:
    @pytest.mark.parametrize(
        ("how", "told"),
        [
            ("sys.exit(3)", "The server ended with exit code 3."),
            ("sys.exit()", "The server ended with exit code 0."),
            ("os.kill(os.getpid(), signal.SIGKILL)", "The server was ended by signal SIGKILL."),
            ("os.kill(os.getpid(), 40)", "The server was ended by signal 40."),
            ("os.close(1); time.sleep(100)", "The server hung up."),
        ],
    )
    def test_is_told_at_once_after_all_that_it_said(self, ground: Ground, how: str, told: str) -> None:
        body = f"answer(hear(), is_last=True)\nprint('Oh no', file=sys.stderr, flush=True)\n{how}"

        async def scene() -> tuple[
            list[JsonRpcMessage], list[tuple[str, McpProblem, RequestId | None]], tuple[str, ...]
        ]:
            async with ground.opened(body) as (transport, ear):
                await transport.send(JsonRpcRequest(1, "ping"))
                await ear.lose_something()
                with pytest.raises(McpFailure) as caught:
                    await transport.send(JsonRpcRequest(2, "ping"))
                assert (caught.value.message, caught.value.problem) == (told, McpProblem.CLOSED)
                return ear.heard, ear.lost, transport.stderr_tail

        assert run(scene()) == ([JsonRpcResponse(1, {"is_last": True})], [(told, McpProblem.CLOSED, None)], ("Oh no",))

    def test_before_it_said_anything(self, ground: Ground) -> None:
        async def scene() -> tuple[list[JsonRpcMessage], list[tuple[str, McpProblem, RequestId | None]]]:
            async with ground.opened("sys.exit(1)") as (_, ear):
                return ear.heard, await ear.lose_something()

        assert run(scene()) == ([], [("The server ended with exit code 1.", McpProblem.CLOSED, None)])

    def test_a_last_message_needs_no_end_of_line(self, ground: Ground) -> None:
        async def scene() -> list[JsonRpcMessage]:
            async with ground.opened("""say(b'{"method":"bye"}')""") as (_, ear):
                await ear.lose_something()
                return ear.heard

        assert run(scene()) == [JsonRpcNotification("bye")]

    def test_what_it_left_behind_is_not_heard_and_is_ended(self, ground: Ground, mark: str) -> None:
        body = f"""
subprocess.Popen(["sh", "-c", "while :; do echo noise; echo noise >&2; done", {mark!r}], start_new_session=True)
hear()
os._exit(4)
"""

        async def scene() -> list[tuple[str, McpProblem, RequestId | None]]:
            async with ground.opened(body) as (transport, ear):
                await transport.send(JsonRpcRequest(1, "go"))
                lost = await ear.lose_something()
                await until(lambda: not living_pids(mark))
                return lost

        assert run(scene()) == [("The server ended with exit code 4.", McpProblem.CLOSED, None)]

    def test_it_closes_its_input(self, ground: Ground) -> None:
        async def scene() -> list[tuple[str, McpProblem, RequestId | None]]:
            async with ground.opened("os.close(0); answer({'id': 0}); time.sleep(100)") as (transport, ear):
                await ear.hear(1)
                with pytest.raises(McpFailure, match="The server hung up"):
                    await transport.send(JsonRpcRequest(1, "ping"))
                return ear.lost

        assert run(scene()) == [("The server hung up.", McpProblem.CLOSED, None)]

    def test_its_keeper_is_killed(self, ground: Ground, mark: str) -> None:
        async def scene() -> list[tuple[str, McpProblem, RequestId | None]]:
            async with ground.opened(ECHO) as (_, ear):
                await until(lambda: len(living_pids(mark)) == 1)
                (server,) = living_pids(mark)
                os.kill(parent_of(server), signal.SIGKILL)
                lost = await ear.lose_something()
                await until(lambda: not living_pids(mark))
                return lost

        ((message, problem, request_id),) = run(scene())
        assert (problem, request_id) == (McpProblem.CLOSED, None)
        assert message in {
            "The server and the process that watched over it were killed.",
            "The server hung up.",
        }


class TestAServerThatDoesNotRead:
    BODY = 'say(b\'{"method":"up"}\\n\'); time.sleep(100)'

    def test_sending_fails_after_a_while_and_half_a_line_ends_the_connection(self, ground: Ground) -> None:
        async def scene() -> list[tuple[str, McpProblem, RequestId | None]]:
            async with ground.opened(self.BODY, sending_seconds=0.2) as (transport, ear):
                with pytest.raises(McpFailure, match="does not take what is sent") as caught:
                    await transport.send(JsonRpcRequest(1, "large", {"x": "x" * 200_000}))
                assert caught.value.problem is McpProblem.TIMED_OUT
                return await ear.lose_something()

        assert run(scene()) == [("The server does not take what is sent to it.", McpProblem.TIMED_OUT, None)]

    def test_a_line_that_was_not_begun_is_taken_back(self, ground: Ground) -> None:
        """The pipe is full of whole lines: nothing is broken when no other one finds room."""
        body = "hear(); time.sleep(1.5)\n" + ECHO

        async def scene() -> tuple[int, list[JsonRpcMessage]]:
            async with ground.opened(body, sending_seconds=0.3) as (transport, ear):
                sent = 0
                with contextlib.suppress(McpFailure):
                    while sent < 1000:
                        await transport.send(JsonRpcRequest(sent, "x" * 3900))
                        sent += 1
                cancelled = asyncio.create_task(transport.send(JsonRpcRequest(2000, "x" * 3900)))
                await asyncio.sleep(0.01)
                cancelled.cancel()
                await asyncio.wait((cancelled,))
                assert cancelled.cancelled()
                await ear.hear(sent - 1)
                await transport.send(JsonRpcRequest(3000, "x" * 3900))
                heard = await ear.hear(sent)
                assert ear.lost == []
                return sent, heard

        sent, heard = run(scene())
        assert heard == [JsonRpcResponse(number, {"method": "x" * 3900}) for number in (*range(1, sent), 3000)]
        assert 10 <= sent < 1000

    def test_a_line_that_was_begun_is_written_to_its_end_even_if_the_sender_is_cancelled(self, ground: Ground) -> None:
        async def scene() -> list[JsonRpcMessage]:
            async with ground.opened("time.sleep(0.3)\n" + ECHO) as (transport, ear):
                task = asyncio.create_task(transport.send(JsonRpcRequest(1, "m", {"x": "x" * 1_000_000})))
                await asyncio.sleep(0.05)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await transport.send(JsonRpcRequest(2, "ping"))
                return await ear.hear(2)

        assert run(scene()) == [JsonRpcResponse(1, {"method": "m"}), JsonRpcResponse(2, {"method": "ping"})]

    def test_closing_while_something_is_being_sent(self, ground: Ground) -> None:
        async def scene() -> float:
            async with ground.opened(self.BODY) as (transport, _):
                sends = [
                    asyncio.create_task(transport.send(JsonRpcRequest(number, "m", {"x": "x" * 300_000})))
                    for number in (1, 2)
                ]
                await asyncio.sleep(0.05)
                await transport.close()
                began = time.monotonic()
                for send in sends:
                    with pytest.raises(McpFailure, match="was closed"):
                        await send
                return time.monotonic() - began

        assert run(scene()) < 1

    def test_what_cannot_be_sent(self, ground: Ground) -> None:
        async def scene() -> list[JsonRpcMessage]:
            async with ground.opened(ECHO) as (transport, ear):
                for message, problem in (
                    (JsonRpcRequest(1, "x" * (17 << 20)), McpProblem.TOO_LARGE),
                    (JsonRpcRequest(1, "m", {"x": float("nan")}), McpProblem.MALFORMED),
                ):
                    with pytest.raises(McpFailure, match="This cannot be sent to the server: it ") as caught:
                        await transport.send(message)
                    assert caught.value.problem is problem
                await transport.send(JsonRpcRequest(2, "ping"))
                return await ear.hear(1)

        assert run(scene()) == [JsonRpcResponse(2, {"method": "ping"})]


class TestStandardError:
    def test_the_last_lines_are_kept_fit_to_be_shown(self, ground: Ground) -> None:
        body = r"""
os.write(2, b"old\n" * 50 + b"".join(b"line %d\n" % number for number in range(17)))
os.write(2, b"\n\x1b[31mred\x1b[0m\r\n" + "\u202ebidi\u200b\n".encode() + b"x" * 5000 + b"\nhalf \xff")
hear()
"""

        async def scene() -> tuple[str, ...]:
            async with ground.opened(body) as (transport, _):
                await until(lambda: "half \ufffd" in transport.stderr_tail)
                return transport.stderr_tail

        assert run(scene()) == (
            *(f"line {number}" for number in range(1, 17)),
            "red",
            "<U+202E>bidi<U+200B>",
            "x" * 300 + "...",
            "half \ufffd",
        )

    def test_a_flood_does_not_block_the_server(self, ground: Ground) -> None:
        body = "for _ in range(64): os.write(2, b'y' * 60 + b'\\n' * 2 + b'x' * 1_000_000)\n" + ECHO

        async def scene() -> list[JsonRpcMessage]:
            async with ground.opened(body) as (transport, ear):
                await transport.send(JsonRpcRequest(1, "ping"))
                return await ear.hear(1)

        assert run(scene()) == [JsonRpcResponse(1, {"method": "ping"})]

    def test_it_may_be_closed(self, ground: Ground) -> None:
        async def scene() -> list[JsonRpcMessage]:
            async with ground.opened("os.close(2)\n" + ECHO) as (transport, ear):
                await transport.send(JsonRpcRequest(1, "ping"))
                return await ear.hear(1)

        assert run(scene()) == [JsonRpcResponse(1, {"method": "ping"})]


class TestMemory:
    PROGRAM = """
import asyncio, resource, sys
from tejat.mcp.protocol import JsonRpcRequest
from tejat.mcp.transports.stdio import StdioTransport
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

async def main():
    supervisor, told = ProcessSupervisor(), asyncio.Event()
    lost, heard = [], []
    transport = StdioTransport(supervisor, sys.executable, ("-I", "-S", sys.argv[1]), directory="/", environment={})
    await transport.open(lambda message: (heard.append(message.id), told.set()), lambda *what: lost.append(what))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    await transport.send(JsonRpcRequest(7, "flood"))
    await asyncio.wait_for(told.wait(), 60)
    print(heard, [(failure.problem.value, whose) for failure, whose in lost], len(transport.stderr_tail[-1]))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    await transport.close()
    supervisor.close()

asyncio.run(main())
"""

    def test_is_bounded(self, tmp_path: Path) -> None:
        server = tmp_path / "server.py"
        server.write_text(
            PREAMBLE
            + """
request = hear()
for _ in range(200): os.write(2, (b"x" * 99 + b"\\n") * 10_000)
say(b'{"jsonrpc":"2.0","id":7,"result":{"text":"')
for _ in range(64): say(b"x" * 1_000_000)
say(b'"}}\\n')
answer({"id": 8})
hear()
""",
            encoding="utf-8",
        )
        done = subprocess.run(
            [sys.executable, "-c", self.PROGRAM, str(server)], capture_output=True, text=True, timeout=120, check=True
        )
        told, more_kilobytes = done.stdout.splitlines()
        assert (told, done.stderr) == ("[8] [('too_large', 7)] 99", "")
        assert int(more_kilobytes) < 48 * 1024


class TestStarting:
    def failing(self, transport: StdioTransport, supervisor: ProcessSupervisor) -> tuple[str, McpProblem]:
        async def scene() -> tuple[str, McpProblem]:
            ear = Ear()
            with pytest.raises(McpFailure) as caught:
                await transport.open(ear.receive, ear.lose)
            assert (ear.heard, ear.lost, transport.stderr_tail) == ([], [], ())
            await transport.close()
            supervisor.close()
            return caught.value.message, caught.value.problem

        return run(scene())

    @pytest.mark.parametrize(
        ("program", "directory", "told"),
        [
            (
                "/nowhere/server",
                "/",
                "its program cannot be started (No such file or directory). Check its `command`.",
            ),
            ("/etc/passwd", "/", "its program cannot be started (Permission denied). Check its `command`."),
            (
                "/bin/true",
                "/nowhere",
                "its directory cannot be opened (No such file or directory). Correct its `cwd`.",
            ),
            ("/bin/true", "/etc/passwd", "its directory cannot be opened (Not a directory). Correct its `cwd`."),
            ("/bin/true", "/\0", "its directory cannot be opened (there is a NUL character in it). Correct its `cwd`."),
            ("/bin/\udfff\ud800", "/", "its program cannot be started ("),
        ],
    )
    def test_what_cannot_be_started(self, program: str, directory: str, told: str) -> None:
        supervisor = ProcessSupervisor()
        message, problem = self.failing(
            StdioTransport(supervisor, program, directory=directory, environment={}), supervisor
        )
        assert message.startswith(f"The server was not started: {told}")
        assert problem is McpProblem.START

    def test_a_sandbox_is_around_it_and_cleaned_up_once_it_has_gone(self, ground: Ground, mark: str) -> None:
        cleaned: list[tuple[str, list[int]]] = []

        def wrap(arguments: Sequence[str], directory: str) -> SandboxedCommand:
            return SandboxedCommand(
                ("/usr/bin/env", "FENCED=yes", *arguments),
                clean_up=lambda: cleaned.append((directory, living_pids(mark))),
            )

        async def scene() -> list[JsonRpcMessage]:
            async with ground.opened("answer({'id': 1}, it=os.environ['FENCED'])\nhear()", wrap=wrap) as (_, ear):
                heard = await ear.hear(1)
                assert cleaned == []
                return heard

        assert run(scene()) == [JsonRpcResponse(1, {"it": "yes"})]
        assert cleaned == [(os.path.realpath(ground.directory), [])]

    def test_a_sandbox_that_cannot_be_prepared(self) -> None:
        def wrap(_arguments: object, _directory: str) -> SandboxedCommand:
            raise OSError(28, "No space left on device")

        supervisor = ProcessSupervisor()
        transport = StdioTransport(supervisor, "/bin/true", directory="/", environment={}, wrap=wrap)
        assert self.failing(transport, supervisor) == (
            "The server was not started: the sandbox for it cannot be prepared (No space left on device).",
            McpProblem.START,
        )

    def test_only_once(self, ground: Ground) -> None:
        async def scene() -> None:
            async with ground.opened(ECHO) as (transport, ear):
                with pytest.raises(McpFailure, match="was closed"):
                    await transport.open(ear.receive, ear.lose)
                await transport.send(JsonRpcRequest(1, "ping"))
                await ear.hear(1)

        run(scene())


STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
ignoring = "trap '' TERM HUP INT; while :; do sleep 1; done"
subprocess.Popen(["sh", "-c", ignoring, MARK])
subprocess.Popen(["sh", "-c", ignoring, MARK], start_new_session=True)
answer({"id": 0})
while True:
    time.sleep(1)
"""


class TestClosing:
    def test_who_does_not_want_to_go_is_gone_with_all_that_descends_from_it(self, ground: Ground, mark: str) -> None:
        async def scene() -> tuple[int, float, list[int]]:
            supervisor, ear = ProcessSupervisor(), Ear()
            transport = ground.transport(supervisor, f"MARK = {mark!r}\n" + STUBBORN)
            await transport.open(ear.receive, ear.lose)
            await ear.hear(1)
            there = len(living_pids(mark))
            began = time.monotonic()
            await transport.close()
            took, left = time.monotonic() - began, living_pids(mark)
            supervisor.close()
            assert ear.lost == []
            return there, took, left

        there, took, left = run(scene())
        assert there >= 3
        assert left == []
        assert took < 4

    def test_who_leaves_by_itself_is_let(self, ground: Ground) -> None:
        body = """
signal.signal(signal.SIGTERM, lambda *_: os._exit(9))
answer({"id": 0})
sys.stdin.read()
open("left", "w").close()
"""

        async def scene() -> None:
            async with ground.opened(body) as (_, ear):
                await ear.hear(1)

        run(scene())
        assert (ground.directory / "left").exists()

    def test_nobody_is_told_anything_any_more(self, ground: Ground) -> None:
        body = 'while True: say(b\'{"method":"tick"}\\n\')'

        async def scene() -> int:
            async with ground.opened(body) as (transport, ear):
                await ear.hear(10)
                closing = asyncio.create_task(transport.close())
                await asyncio.sleep(0)
                count = len(ear.heard)
                await closing
                assert ear.lost == []
                with pytest.raises(McpFailure, match="was closed"):
                    await transport.send(JsonRpcRequest(1, "ping"))
                return len(ear.heard) - count

        assert run(scene()) == 0

    def test_twice_at_once_and_again(self, ground: Ground) -> None:
        async def scene() -> None:
            async with ground.opened(ECHO) as (transport, _):
                await asyncio.gather(transport.close(), transport.close(), asyncio.create_task(transport.close()))
                await transport.close()

        run(scene())

    def test_before_it_was_opened(self) -> None:
        async def scene() -> None:
            supervisor, ear = ProcessSupervisor(), Ear()
            transport = StdioTransport(supervisor, "/bin/true", directory="/", environment={})
            await transport.close()
            with pytest.raises(McpFailure, match="was closed"):
                await transport.open(ear.receive, ear.lose)
            with pytest.raises(McpFailure, match="was closed"):
                await transport.send(JsonRpcRequest(1, "ping"))

        run(scene())

    def test_while_it_is_being_opened(self, ground: Ground, mark: str) -> None:
        async def scene(delay: float) -> None:
            supervisor, ear = ProcessSupervisor(), Ear()
            transport = ground.transport(supervisor, ECHO)
            opening = asyncio.create_task(transport.open(ear.receive, ear.lose))
            await asyncio.sleep(delay)
            was_open = opening.done()
            await transport.close()
            assert living_pids(mark) == []
            if not was_open:
                with pytest.raises(McpFailure, match="was closed"):
                    await opening
            assert (ear.heard, ear.lost) == ([], [])
            supervisor.close()

        for delay in (0, 0.001, 0.01, 0.05):
            run(scene(delay))

    def test_under_cancellation_all_is_done_before_that_is_heeded(self, ground: Ground, mark: str) -> None:
        async def scene() -> list[int]:
            supervisor, ear = ProcessSupervisor(), Ear()
            transport = ground.transport(supervisor, f"MARK = {mark!r}\n" + STUBBORN)
            await transport.open(ear.receive, ear.lose)
            await ear.hear(1)
            closing = asyncio.create_task(transport.close())
            while not closing.done():
                await asyncio.sleep(0.01)
                closing.cancel()
            left = living_pids(mark)
            with pytest.raises(asyncio.CancelledError):
                await closing
            supervisor.close()
            return left

        assert run(scene()) == []

    def test_nobody_closes_it_before_the_loop_ends(self, ground: Ground, mark: str) -> None:
        supervisor, ear = ProcessSupervisor(), Ear()

        async def scene() -> None:
            await ground.transport(supervisor, ECHO).open(ear.receive, ear.lose)

        before = sorted(os.listdir("/proc/self/fd"))
        asyncio.run(scene(), debug=True)
        assert living_pids(mark) == []
        supervisor.close()
        gc.collect()
        assert sorted(os.listdir("/proc/self/fd")) == before
        assert ear.lost == []

    def test_the_keeper_is_closed_first(self, ground: Ground, mark: str) -> None:
        async def scene() -> None:
            supervisor, ear = ProcessSupervisor(), Ear()
            transport = ground.transport(supervisor, ECHO)
            await transport.open(ear.receive, ear.lose)
            supervisor.close()
            assert living_pids(mark) == []
            await transport.close()

        run(scene())


class TestCancellingAnywhere:
    def test_open_and_send(self, ground: Ground, mark: str) -> None:
        chance = random.Random(5)

        async def use(transport: StdioTransport, ear: Ear) -> None:
            await transport.open(ear.receive, ear.lose)
            for number in range(100):
                await transport.send(JsonRpcRequest(number, "m", {"x": "x" * 100_000}))

        async def scene() -> None:
            supervisor = ProcessSupervisor()
            for _ in range(25):
                transport = ground.transport(supervisor, ECHO)
                task = asyncio.create_task(use(transport, Ear()))
                await asyncio.sleep(chance.random() * 0.08)
                task.cancel()
                await asyncio.wait((task,))
                assert task.cancelled() or task.exception() is None
                await transport.close()
                assert living_pids(mark) == []
            supervisor.close()

        run(scene())
