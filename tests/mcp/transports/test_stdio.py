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
from support.wait import wait_until_async
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


def run(main: Coroutine[object, object, Value]) -> Value:
    """To the end of the scene, with everything that asyncio has to complain about, and with no descriptor left open."""
    complaints: list[dict[str, object]] = []

    async def watched() -> Value:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        return await main

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


class TransportRecorder:
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

    async def wait_for_failure(self, count: int = 1) -> list[tuple[str, McpProblem, RequestId | None]]:
        await until(lambda: len(self.lost) >= count)
        return self.lost


class ServerEnv:
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
    ) -> AsyncGenerator[tuple[StdioTransport, TransportRecorder]]:
        """A server that runs; in the end it is closed, and none of its processes is left."""
        supervisor, recorder = ProcessSupervisor(), TransportRecorder()
        transport = self.transport(supervisor, body, wrap=wrap, sending_seconds=sending_seconds)
        try:
            await transport.open(recorder.receive, recorder.lose)
            yield transport, recorder
        finally:
            try:
                await transport.close()
                # A connection that was lost ends its process on its own, at the same time.
                await wait_until_async(lambda: living_pids(self.mark) == [])
            finally:
                supervisor.close()


@pytest.fixture
def env(tmp_path: Path, mark: str) -> ServerEnv:
    return ServerEnv(tmp_path, mark)


def spoken(env: ServerEnv, body: str, *, count: int) -> list[JsonRpcMessage]:
    """What is heard from a server that gets no request."""

    async def main() -> list[JsonRpcMessage]:
        async with env.opened(body + "\nhear()") as (_, recorder):
            heard = await recorder.hear(count)
            assert recorder.lost == []
            return heard

    return run(main())


class TestSpeaking:
    def test_it_is_a_transport(self) -> None:
        transport: Transport = StdioTransport(ProcessSupervisor(), "/bin/true", directory="/", environment={})
        transport.set_revision("2025-11-25")
        transport.forget_request(1)
        assert transport.stderr_tail == ()

    def test_requests_and_answers(self, env: ServerEnv) -> None:
        async def main() -> list[JsonRpcMessage]:
            async with env.opened(ECHO) as (transport, recorder):
                await transport.send(JsonRpcRequest(1, "ping"))
                await recorder.hear(1)
                await asyncio.gather(*(transport.send(JsonRpcRequest(f"r{number}", "é\n")) for number in range(50)))
                return await recorder.hear(51)

        assert run(main()) == [
            JsonRpcResponse(1, {"method": "ping"}),
            *(JsonRpcResponse(f"r{number}", {"method": "é\n"}) for number in range(50)),
        ]

    def test_arguments_directory_and_environment_are_those_given(self, env: ServerEnv) -> None:
        (told,) = spoken(
            env,
            "answer({'id': 1}, argv=sys.argv[1:], cwd=os.getcwd(), env=sorted(set(os.environ) - {'LC_CTYPE'}))",
            count=1,
        )
        assert told == JsonRpcResponse(1, {"argv": [env.mark], "cwd": os.path.realpath(env.directory), "env": ["PATH"]})

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
    def test_however_it_is_written(self, env: ServerEnv, body: str, heard: list[str]) -> None:
        assert spoken(env, body, count=len(heard)) == [JsonRpcNotification(method) for method in heard]

    def test_a_large_request_does_not_block(self, env: ServerEnv) -> None:
        body = "request = hear()\ntime.sleep(0.2)\nfor _ in range(3): answer(hear(), size=len(request['params']['x']))"

        async def main() -> list[JsonRpcMessage]:
            async with env.opened(body) as (transport, recorder):
                large = asyncio.create_task(transport.send(JsonRpcRequest(0, "large", {"x": "x" * 9_000_000})))
                await asyncio.gather(*(transport.send(JsonRpcRequest(number, "small")) for number in (1, 2, 3)), large)
                return await recorder.hear(3)

        assert run(main()) == [JsonRpcResponse(number, {"size": 9_000_000}) for number in (1, 2, 3)]


class TestWhatIsNoMessage:
    def test_is_skipped_and_told_once(self, env: ServerEnv) -> None:
        async def main() -> tuple[list[JsonRpcMessage], tuple[str, ...]]:
            body = r"say(b'\x1b[31mWelcome\x1b[0m \xff\n' + b'more\n' * 70_000)" + "\n" + ECHO
            async with env.opened(body) as (transport, recorder):
                await transport.send(JsonRpcRequest(1, "ping"))
                heard = await recorder.hear(1)
                assert recorder.lost == []
                return heard, transport.stderr_tail

        assert run(main()) == (
            [JsonRpcResponse(1, {"method": "ping"})],
            ("(70,001 lines on its standard output are not messages, first: Welcome \ufffd)",),
        )

    def test_a_single_one(self, env: ServerEnv) -> None:
        async def main() -> tuple[str, ...]:
            async with env.opened("print('Hello', flush=True)\n" + ECHO) as (transport, recorder):
                await transport.send(JsonRpcRequest(1, "ping"))
                await recorder.hear(1)
                return transport.stderr_tail

        assert run(main()) == ("(A line on its standard output is not a message: Hello)",)

    @pytest.mark.parametrize(
        ("result", "reason", "problem"),
        [
            (r"b'\"\xff\"'", "not UTF-8: invalid byte 35", McpProblem.MALFORMED),
            ("b'[' * 100_000", "not JSON: nested too deeply", McpProblem.MALFORMED),
            ("b'5'", "not a request, notification or response", McpProblem.MALFORMED),
            ("b'\"' + b'x' * 40_000_000 + b'\"'", "longer than 16,777,216 bytes", McpProblem.TOO_LARGE),
        ],
        ids=["utf-8", "deep", "wrong", "long"],
    )
    def test_an_answer_that_cannot_be_read(self, env: ServerEnv, result: str, reason: str, problem: McpProblem) -> None:
        """Only the request that it was for is lost, and at once."""
        body = f'hear()\nsay(b\'{{"jsonrpc":"2.0","id":7,"result":\' + {result} + b\'}}\\n\')\n' + ECHO

        async def main() -> tuple[
            list[tuple[str, McpProblem, RequestId | None]], list[JsonRpcMessage], tuple[str, ...]
        ]:
            async with env.opened(body) as (transport, recorder):
                await transport.send(JsonRpcRequest(7, "large"))
                await recorder.wait_for_failure()
                await transport.send(JsonRpcRequest(8, "ping"))
                return recorder.lost, await recorder.hear(1), transport.stderr_tail

        lost = (f"The server's response is invalid: {reason}.", problem, 7)
        assert run(main()) == ([lost], [JsonRpcResponse(8, {"method": "ping"})], ())

    def test_a_line_without_end_ends_the_server(self, env: ServerEnv, mark: str) -> None:
        async def main() -> list[tuple[str, McpProblem, RequestId | None]]:
            async with env.opened("while True: say(b'x' * 1_000_000)") as (transport, recorder):
                lost = await recorder.wait_for_failure()
                await until(lambda: not living_pids(mark))
                with pytest.raises(McpFailure, match="an endless line"):
                    await transport.send(JsonRpcRequest(1, "ping"))
                return lost

        assert run(main()) == [("The server sent an endless line.", McpProblem.TOO_LARGE, None)]


class TestTheEndOfTheServer:
    @pytest.mark.parametrize(
        ("how", "told"),
        [
            ("sys.exit(3)", "The server exited with code 3."),
            ("sys.exit()", "The server exited with code 0."),
            ("os.kill(os.getpid(), signal.SIGKILL)", "The server was killed by signal SIGKILL."),
            ("os.kill(os.getpid(), 40)", "The server was killed by signal 40."),
            ("os.close(1); time.sleep(100)", "The server closed the connection."),
        ],
    )
    def test_is_told_at_once_after_all_that_it_said(self, env: ServerEnv, how: str, told: str) -> None:
        body = f"answer(hear(), is_last=True)\nprint('Oh no', file=sys.stderr, flush=True)\n{how}"

        async def main() -> tuple[
            list[JsonRpcMessage], list[tuple[str, McpProblem, RequestId | None]], tuple[str, ...]
        ]:
            async with env.opened(body) as (transport, recorder):
                await transport.send(JsonRpcRequest(1, "ping"))
                await recorder.wait_for_failure()
                with pytest.raises(McpFailure) as caught:
                    await transport.send(JsonRpcRequest(2, "ping"))
                assert (caught.value.message, caught.value.problem) == (told, McpProblem.CLOSED)
                return recorder.heard, recorder.lost, transport.stderr_tail

        assert run(main()) == ([JsonRpcResponse(1, {"is_last": True})], [(told, McpProblem.CLOSED, None)], ("Oh no",))

    def test_before_it_said_anything(self, env: ServerEnv) -> None:
        async def main() -> tuple[list[JsonRpcMessage], list[tuple[str, McpProblem, RequestId | None]]]:
            async with env.opened("sys.exit(1)") as (_, recorder):
                return recorder.heard, await recorder.wait_for_failure()

        assert run(main()) == ([], [("The server exited with code 1.", McpProblem.CLOSED, None)])

    def test_a_last_message_needs_no_end_of_line(self, env: ServerEnv) -> None:
        async def main() -> list[JsonRpcMessage]:
            async with env.opened("""say(b'{"method":"bye"}')""") as (_, recorder):
                await recorder.wait_for_failure()
                return recorder.heard

        assert run(main()) == [JsonRpcNotification("bye")]

    def test_what_it_left_behind_is_not_heard_and_is_ended(self, env: ServerEnv, mark: str) -> None:
        body = f"""
subprocess.Popen(["sh", "-c", "while :; do echo noise; echo noise >&2; done", {mark!r}], start_new_session=True)
hear()
os._exit(4)
"""

        async def main() -> list[tuple[str, McpProblem, RequestId | None]]:
            async with env.opened(body) as (transport, recorder):
                await transport.send(JsonRpcRequest(1, "go"))
                lost = await recorder.wait_for_failure()
                await until(lambda: not living_pids(mark))
                return lost

        assert run(main()) == [("The server exited with code 4.", McpProblem.CLOSED, None)]

    def test_it_closes_its_input(self, env: ServerEnv) -> None:
        async def main() -> list[tuple[str, McpProblem, RequestId | None]]:
            async with env.opened("os.close(0); answer({'id': 0}); time.sleep(100)") as (transport, recorder):
                await recorder.hear(1)
                with pytest.raises(McpFailure, match="The server closed the connection"):
                    await transport.send(JsonRpcRequest(1, "ping"))
                return recorder.lost

        assert run(main()) == [("The server closed the connection.", McpProblem.CLOSED, None)]

    def test_its_keeper_is_killed(self, env: ServerEnv, mark: str) -> None:
        async def main() -> list[tuple[str, McpProblem, RequestId | None]]:
            async with env.opened(ECHO) as (_, recorder):
                await until(lambda: len(living_pids(mark)) == 1)
                (server,) = living_pids(mark)
                os.kill(parent_of(server), signal.SIGKILL)
                lost = await recorder.wait_for_failure()
                await until(lambda: not living_pids(mark))
                return lost

        ((message, problem, request_id),) = run(main())
        assert (problem, request_id) == (McpProblem.CLOSED, None)
        assert message in {
            "The server and its supervisor process were killed.",
            "The server closed the connection.",
        }


class TestAServerThatDoesNotRead:
    BODY = 'say(b\'{"method":"up"}\\n\'); time.sleep(100)'

    def test_sending_fails_after_a_while_and_half_a_line_ends_the_connection(self, env: ServerEnv) -> None:
        async def main() -> list[tuple[str, McpProblem, RequestId | None]]:
            async with env.opened(self.BODY, sending_seconds=0.2) as (transport, recorder):
                with pytest.raises(McpFailure, match="does not read its input") as caught:
                    await transport.send(JsonRpcRequest(1, "large", {"x": "x" * 200_000}))
                assert caught.value.problem is McpProblem.TIMED_OUT
                return await recorder.wait_for_failure()

        assert run(main()) == [("The server does not read its input.", McpProblem.TIMED_OUT, None)]

    def test_a_line_that_was_not_begun_is_taken_back(self, env: ServerEnv) -> None:
        """The pipe is full of whole lines: nothing is broken when no other one finds room."""
        body = "hear(); time.sleep(1.5)\n" + ECHO

        async def main() -> tuple[int, list[JsonRpcMessage]]:
            async with env.opened(body, sending_seconds=0.3) as (transport, recorder):
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
                await recorder.hear(sent - 1)
                await transport.send(JsonRpcRequest(3000, "x" * 3900))
                heard = await recorder.hear(sent)
                assert recorder.lost == []
                return sent, heard

        sent, heard = run(main())
        assert heard == [JsonRpcResponse(number, {"method": "x" * 3900}) for number in (*range(1, sent), 3000)]
        assert 10 <= sent < 1000

    def test_a_line_that_was_begun_is_written_to_its_end_even_if_the_sender_is_cancelled(self, env: ServerEnv) -> None:
        async def main() -> list[JsonRpcMessage]:
            async with env.opened("time.sleep(0.3)\n" + ECHO) as (transport, recorder):
                task = asyncio.create_task(transport.send(JsonRpcRequest(1, "m", {"x": "x" * 1_000_000})))
                await asyncio.sleep(0.05)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await transport.send(JsonRpcRequest(2, "ping"))
                return await recorder.hear(2)

        assert run(main()) == [JsonRpcResponse(1, {"method": "m"}), JsonRpcResponse(2, {"method": "ping"})]

    def test_closing_while_something_is_being_sent(self, env: ServerEnv) -> None:
        async def main() -> float:
            async with env.opened(self.BODY) as (transport, _):
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

        assert run(main()) < 1

    def test_what_cannot_be_sent(self, env: ServerEnv) -> None:
        async def main() -> list[JsonRpcMessage]:
            async with env.opened(ECHO) as (transport, recorder):
                for message, problem in (
                    (JsonRpcRequest(1, "x" * (17 << 20)), McpProblem.TOO_LARGE),
                    (JsonRpcRequest(1, "m", {"x": float("nan")}), McpProblem.MALFORMED),
                ):
                    with pytest.raises(McpFailure, match="Cannot send this to the server: ") as caught:
                        await transport.send(message)
                    assert caught.value.problem is problem
                await transport.send(JsonRpcRequest(2, "ping"))
                return await recorder.hear(1)

        assert run(main()) == [JsonRpcResponse(2, {"method": "ping"})]


class TestStandardError:
    def test_the_last_lines_are_kept_fit_to_be_shown(self, env: ServerEnv) -> None:
        body = r"""
os.write(2, b"old\n" * 50 + b"".join(b"line %d\n" % number for number in range(17)))
os.write(2, b"\n\x1b[31mred\x1b[0m\r\n" + "\u202ebidi\u200b\n".encode() + b"x" * 5000 + b"\nhalf \xff")
hear()
"""

        async def main() -> tuple[str, ...]:
            async with env.opened(body) as (transport, _):
                await until(lambda: "half \ufffd" in transport.stderr_tail)
                return transport.stderr_tail

        assert run(main()) == (
            *(f"line {number}" for number in range(1, 17)),
            "red",
            "<U+202E>bidi<U+200B>",
            "x" * 300 + "...",
            "half \ufffd",
        )

    def test_a_flood_does_not_block_the_server(self, env: ServerEnv) -> None:
        body = "for _ in range(64): os.write(2, b'y' * 60 + b'\\n' * 2 + b'x' * 1_000_000)\n" + ECHO

        async def main() -> list[JsonRpcMessage]:
            async with env.opened(body) as (transport, recorder):
                await transport.send(JsonRpcRequest(1, "ping"))
                return await recorder.hear(1)

        assert run(main()) == [JsonRpcResponse(1, {"method": "ping"})]

    def test_it_may_be_closed(self, env: ServerEnv) -> None:
        async def main() -> list[JsonRpcMessage]:
            async with env.opened("os.close(2)\n" + ECHO) as (transport, recorder):
                await transport.send(JsonRpcRequest(1, "ping"))
                return await recorder.hear(1)

        assert run(main()) == [JsonRpcResponse(1, {"method": "ping"})]


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
        async def main() -> tuple[str, McpProblem]:
            recorder = TransportRecorder()
            with pytest.raises(McpFailure) as caught:
                await transport.open(recorder.receive, recorder.lose)
            assert (recorder.heard, recorder.lost, transport.stderr_tail) == ([], [], ())
            await transport.close()
            supervisor.close()
            return caught.value.message, caught.value.problem

        return run(main())

    @pytest.mark.parametrize(
        ("program", "directory", "told"),
        [
            (
                "/nowhere/server",
                "/",
                "cannot start its program (No such file or directory). Check its `command`.",
            ),
            ("/etc/passwd", "/", "cannot start its program (Permission denied). Check its `command`."),
            (
                "/bin/true",
                "/nowhere",
                "cannot open its directory (No such file or directory). Fix its `cwd`.",
            ),
            ("/bin/true", "/etc/passwd", "cannot open its directory (Not a directory). Fix its `cwd`."),
            ("/bin/true", "/\0", "cannot open its directory (it contains a NUL character). Fix its `cwd`."),
            ("/bin/\udfff\ud800", "/", "cannot start its program ("),
        ],
    )
    def test_what_cannot_be_started(self, program: str, directory: str, told: str) -> None:
        supervisor = ProcessSupervisor()
        message, problem = self.failing(
            StdioTransport(supervisor, program, directory=directory, environment={}), supervisor
        )
        assert message.startswith(f"The server did not start: {told}")
        assert problem is McpProblem.START

    def test_a_sandbox_is_around_it_and_cleaned_up_once_it_has_gone(self, env: ServerEnv, mark: str) -> None:
        cleaned: list[tuple[str, list[int]]] = []

        def wrap(arguments: Sequence[str], directory: str) -> SandboxedCommand:
            return SandboxedCommand(
                ("/usr/bin/env", "FENCED=yes", *arguments),
                clean_up=lambda: cleaned.append((directory, living_pids(mark))),
            )

        async def main() -> list[JsonRpcMessage]:
            async with env.opened("answer({'id': 1}, it=os.environ['FENCED'])\nhear()", wrap=wrap) as (_, recorder):
                heard = await recorder.hear(1)
                assert cleaned == []
                return heard

        assert run(main()) == [JsonRpcResponse(1, {"it": "yes"})]
        assert cleaned == [(os.path.realpath(env.directory), [])]

    def test_a_sandbox_that_cannot_be_prepared(self) -> None:
        def wrap(_arguments: object, _directory: str) -> SandboxedCommand:
            raise OSError(28, "No space left on device")

        supervisor = ProcessSupervisor()
        transport = StdioTransport(supervisor, "/bin/true", directory="/", environment={}, wrap=wrap)
        assert self.failing(transport, supervisor) == (
            "The server did not start: cannot prepare its sandbox (No space left on device).",
            McpProblem.START,
        )

    def test_only_once(self, env: ServerEnv) -> None:
        async def main() -> None:
            async with env.opened(ECHO) as (transport, recorder):
                with pytest.raises(McpFailure, match="was closed"):
                    await transport.open(recorder.receive, recorder.lose)
                await transport.send(JsonRpcRequest(1, "ping"))
                await recorder.hear(1)

        run(main())


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
    def test_who_does_not_want_to_go_is_gone_with_all_that_descends_from_it(self, env: ServerEnv, mark: str) -> None:
        async def main() -> tuple[int, float, list[int]]:
            supervisor, recorder = ProcessSupervisor(), TransportRecorder()
            transport = env.transport(supervisor, f"MARK = {mark!r}\n" + STUBBORN)
            await transport.open(recorder.receive, recorder.lose)
            await recorder.hear(1)
            there = len(living_pids(mark))
            began = time.monotonic()
            await transport.close()
            took, left = time.monotonic() - began, living_pids(mark)
            supervisor.close()
            assert recorder.lost == []
            return there, took, left

        there, took, left = run(main())
        assert there >= 3
        assert left == []
        assert took < 4

    def test_who_leaves_by_itself_is_let(self, env: ServerEnv) -> None:
        body = """
signal.signal(signal.SIGTERM, lambda *_: os._exit(9))
answer({"id": 0})
sys.stdin.read()
open("left", "w").close()
"""

        async def main() -> None:
            async with env.opened(body) as (_, recorder):
                await recorder.hear(1)

        run(main())
        assert (env.directory / "left").exists()

    def test_nobody_is_told_anything_any_more(self, env: ServerEnv) -> None:
        body = 'while True: say(b\'{"method":"tick"}\\n\')'

        async def main() -> int:
            async with env.opened(body) as (transport, recorder):
                await recorder.hear(10)
                closing = asyncio.create_task(transport.close())
                await asyncio.sleep(0)
                count = len(recorder.heard)
                await closing
                assert recorder.lost == []
                with pytest.raises(McpFailure, match="was closed"):
                    await transport.send(JsonRpcRequest(1, "ping"))
                return len(recorder.heard) - count

        assert run(main()) == 0

    def test_twice_at_once_and_again(self, env: ServerEnv) -> None:
        async def main() -> None:
            async with env.opened(ECHO) as (transport, _):
                await asyncio.gather(transport.close(), transport.close(), asyncio.create_task(transport.close()))
                await transport.close()

        run(main())

    def test_before_it_was_opened(self) -> None:
        async def main() -> None:
            supervisor, recorder = ProcessSupervisor(), TransportRecorder()
            transport = StdioTransport(supervisor, "/bin/true", directory="/", environment={})
            await transport.close()
            with pytest.raises(McpFailure, match="was closed"):
                await transport.open(recorder.receive, recorder.lose)
            with pytest.raises(McpFailure, match="was closed"):
                await transport.send(JsonRpcRequest(1, "ping"))

        run(main())

    def test_while_it_is_being_opened(self, env: ServerEnv, mark: str) -> None:
        async def main(delay: float) -> None:
            supervisor, recorder = ProcessSupervisor(), TransportRecorder()
            transport = env.transport(supervisor, ECHO)
            opening = asyncio.create_task(transport.open(recorder.receive, recorder.lose))
            await asyncio.sleep(delay)
            was_open = opening.done()
            await transport.close()
            assert living_pids(mark) == []
            if not was_open:
                with pytest.raises(McpFailure, match="was closed"):
                    await opening
            assert (recorder.heard, recorder.lost) == ([], [])
            supervisor.close()

        for delay in (0, 0.001, 0.01, 0.05):
            run(main(delay))

    def test_under_cancellation_all_is_done_before_that_is_heeded(self, env: ServerEnv, mark: str) -> None:
        async def main() -> list[int]:
            supervisor, recorder = ProcessSupervisor(), TransportRecorder()
            transport = env.transport(supervisor, f"MARK = {mark!r}\n" + STUBBORN)
            await transport.open(recorder.receive, recorder.lose)
            await recorder.hear(1)
            closing = asyncio.create_task(transport.close())
            while not closing.done():
                await asyncio.sleep(0.01)
                closing.cancel()
            left = living_pids(mark)
            with pytest.raises(asyncio.CancelledError):
                await closing
            supervisor.close()
            return left

        assert run(main()) == []

    def test_nobody_closes_it_before_the_loop_ends(self, env: ServerEnv, mark: str) -> None:
        supervisor, recorder = ProcessSupervisor(), TransportRecorder()

        async def main() -> None:
            await env.transport(supervisor, ECHO).open(recorder.receive, recorder.lose)

        before = sorted(os.listdir("/proc/self/fd"))
        asyncio.run(main(), debug=True)
        assert living_pids(mark) == []
        supervisor.close()
        gc.collect()
        assert sorted(os.listdir("/proc/self/fd")) == before
        assert recorder.lost == []

    def test_the_keeper_is_closed_first(self, env: ServerEnv, mark: str) -> None:
        async def main() -> None:
            supervisor, recorder = ProcessSupervisor(), TransportRecorder()
            transport = env.transport(supervisor, ECHO)
            await transport.open(recorder.receive, recorder.lose)
            supervisor.close()
            assert living_pids(mark) == []
            await transport.close()

        run(main())


class TestCancellingAnywhere:
    def test_open_and_send(self, env: ServerEnv, mark: str) -> None:
        chance = random.Random(5)

        async def use(transport: StdioTransport, recorder: TransportRecorder) -> None:
            await transport.open(recorder.receive, recorder.lose)
            for number in range(100):
                await transport.send(JsonRpcRequest(number, "m", {"x": "x" * 100_000}))

        async def main() -> None:
            supervisor = ProcessSupervisor()
            for _ in range(25):
                transport = env.transport(supervisor, ECHO)
                task = asyncio.create_task(use(transport, TransportRecorder()))
                await asyncio.sleep(chance.random() * 0.08)
                task.cancel()
                await asyncio.wait((task,))
                assert task.cancelled() or task.exception() is None
                await transport.close()
                assert living_pids(mark) == []
            supervisor.close()

        run(main())
