"""Program: the client's side of `terminal/*` with real pseudo-terminals, over standard input and output.

The first argument is how it behaves (see `Behaviour`). Requests of tests: `test/terminals` returns all terminals ever
opened and `test/messages` all messages received; `test/kill` kills the program in a terminal.

With a file as the second argument, it goes on when its input ends, as an editor does: it waits for the terminals to end
by themselves and writes their states there.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import shlex
import signal
import struct
import sys
import termios
from enum import StrEnum
from pathlib import Path
from typing import Any


class Behaviour(StrEnum):
    GOOD = "good"
    SHELL = "shell"  # gives the command line to an interactive shell, as Zed does
    PIPES = "pipes"  # no pseudo-terminal, only the direct child is killed, as in acpx
    REFUSE = "refuse"
    SILENT = "silent"  # never answers terminal/create
    LATE = "late"  # answers it after two seconds
    ABSENT = "absent"  # cannot find the program: another machine
    IDLE = "idle"  # answers, starts nothing
    NONSENSE = "nonsense"
    LIAR = "liar"  # reports the end at once, and starts the program later
    DEAF = "deaf"  # never answers terminal/wait_for_exit
    FAILING = "failing"  # answers everything after terminal/create with an error
    UNREAD = "unread"  # nobody reads what the terminal gets
    CRASH = "crash"  # ends at terminal/create


class Terminal:
    def __init__(self, params: dict[str, Any]) -> None:
        self.params = params
        self.output = bytearray()
        self.process: asyncio.subprocess.Process | None = None
        self.ended: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.is_released = False

    async def start(self, behaviour: Behaviour) -> None:
        words: list[str] = [self.params["command"], *self.params["args"]]
        if behaviour is Behaviour.ABSENT:
            words = ["/bin/sh", "-c", "exec /nonexistent/python"]
        if behaviour is Behaviour.SHELL:
            words = ["/bin/bash", "-i", "-c", "exec </dev/null\n" + shlex.join(words)]
        cwd = self.params["cwd"]
        if behaviour is Behaviour.PIPES:
            self.process = await asyncio.create_subprocess_exec(
                *words, cwd=cwd, stdin=asyncio.subprocess.DEVNULL, stdout=-1, stderr=asyncio.subprocess.STDOUT
            )
            asyncio.create_task(self._read_pipe())  # noqa: RUF006 -- ends with the program
        else:
            master, slave = os.openpty()
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            self.process = await asyncio.create_subprocess_exec(
                *words,
                cwd=cwd,
                stdin=slave,
                stdout=slave,
                stderr=slave,
                start_new_session=True,
                preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            )
            os.close(slave)
            if behaviour is not Behaviour.UNREAD:
                asyncio.get_running_loop().add_reader(master, self._read, master)
        asyncio.create_task(self._wait())  # noqa: RUF006 -- ends with the program

    async def _read_pipe(self) -> None:
        assert self.process is not None
        assert self.process.stdout is not None
        while data := await self.process.stdout.read(1 << 16):
            self.output += data

    def _read(self, master: int) -> None:
        try:
            self.output += os.read(master, 1 << 16)
        except OSError:
            asyncio.get_running_loop().remove_reader(master)
            os.close(master)

    async def _wait(self) -> None:
        assert self.process is not None
        code = await self.process.wait()
        name = signal.Signals(-code).name if code < 0 else None
        self.ended.set_result({"exitCode": code if code >= 0 else None, "signal": name})

    def kill(self) -> None:
        if self.process is not None and self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()

    @property
    def state(self) -> dict[str, Any]:
        return {
            "params": self.params,
            "output": self.output.decode("utf-8", "replace"),
            "exit": self.ended.result() if self.ended.done() else None,
            "released": self.is_released,
        }


class Client:
    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.terminals: dict[str, Terminal] = {}
        self.messages: list[object] = []

    async def serve(self) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=1 << 26)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        tasks: set[asyncio.Task[None]] = set()
        while line := await reader.readline():
            message = json.loads(line)
            if not message.get("method", "").startswith("test/"):
                self.messages.append(message)
            if "id" in message:
                tasks.add(asyncio.create_task(self.answer(message)))
        if len(sys.argv) > 2:
            await asyncio.wait([terminal.ended for terminal in self.terminals.values()], timeout=20)
            self.write_states(Path(sys.argv[2]))
        for terminal in self.terminals.values():
            terminal.kill()

    def write_states(self, path: Path) -> None:
        """Write what has become of the terminals, all at once for whoever waits for the file."""
        part = path.with_suffix(".part")
        part.write_text(json.dumps([terminal.state for terminal in self.terminals.values()]), encoding="utf-8")
        part.replace(path)

    async def answer(self, message: dict[str, Any]) -> None:
        answer: dict[str, Any]
        try:
            answer = {"result": await self.handle(message["method"], message["params"])}
        except RuntimeError as error:
            answer = {"error": {"code": -32603, "message": str(error)}}
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}) + "\n")
            sys.stdout.flush()

    async def handle(self, method: str, params: dict[str, Any]) -> object:
        match method:
            case "terminal/create":
                return await self.create(params)
            case "test/terminals":
                return {"terminals": [terminal.state for terminal in self.terminals.values()]}
            case "test/messages":
                return {"messages": self.messages}
        terminal = self.terminals.get(params["terminalId"])
        if terminal is None or terminal.is_released:
            raise RuntimeError("Terminal not found")
        if self.behaviour is Behaviour.FAILING and method != "terminal/release":
            raise RuntimeError("Internal error")
        match method:
            case "terminal/wait_for_exit":
                if self.behaviour is Behaviour.DEAF:
                    await asyncio.Event().wait()
                if self.behaviour is Behaviour.LIAR:
                    return {"exitCode": 0, "signal": None}
                return await terminal.ended
            case "terminal/release":
                terminal.is_released = True
                terminal.kill()
                return None
            case "test/kill":
                terminal.kill()
                return {}
        raise RuntimeError(f"unexpected {method}")

    async def create(self, params: dict[str, Any]) -> object:
        match self.behaviour:
            case Behaviour.REFUSE:
                raise RuntimeError("Permission denied for terminal/create")
            case Behaviour.SILENT:
                await asyncio.Event().wait()
            case Behaviour.CRASH:
                os._exit(3)
            case Behaviour.NONSENSE:
                return {"terminalId": 7}
            case Behaviour.LATE:
                await asyncio.sleep(2)
            case _:
                pass
        name = f"term_{len(self.terminals) + 1}"
        terminal = self.terminals[name] = Terminal(params)
        if self.behaviour is Behaviour.LIAR:
            asyncio.get_running_loop().call_later(0.3, lambda: asyncio.ensure_future(terminal.start(self.behaviour)))
        elif self.behaviour is not Behaviour.IDLE:
            await terminal.start(self.behaviour)
        return {"terminalId": name}


if __name__ == "__main__":
    asyncio.run(Client(Behaviour(sys.argv[1])).serve())
