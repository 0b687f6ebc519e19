"""Terminals of a client that was made with the official Python package: processes with pipes, as acpx has them."""

import asyncio
import os
import signal
from contextlib import suppress
from typing import Any

from acp import schema
from acp.exceptions import RequestError


class SdkTerminals:
    """The methods of `acp.Client` for terminals. `commands` are those that were started."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.released: list[str] = []
        self._terminals: dict[str, _Terminal] = {}

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: list[str] | None = None,
        env: list[schema.EnvVariable] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
        **_: Any,
    ) -> schema.CreateTerminalResponse:
        self.commands.append([command, *(args or [])])
        process = await asyncio.create_subprocess_exec(
            command,
            *(args or []),
            cwd=cwd,
            env={**os.environ, **{each.name: each.value for each in env or []}},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        name = f"terminal-{len(self.commands)}"
        self._terminals[name] = _Terminal(process)
        return schema.CreateTerminalResponse(terminal_id=name)

    async def terminal_output(self, session_id: str, terminal_id: str, **_: Any) -> schema.TerminalOutputResponse:
        terminal = self._find(terminal_id)
        text = terminal.output.decode("utf-8", "replace")
        return schema.TerminalOutputResponse(output=text, truncated=False, exit_status=terminal.exit_status)

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **_: Any
    ) -> schema.WaitForTerminalExitResponse:
        terminal = self._find(terminal_id)
        await terminal.reading
        await terminal.process.wait()
        assert terminal.exit_status is not None
        return schema.WaitForTerminalExitResponse(
            exit_code=terminal.exit_status.exit_code, signal=terminal.exit_status.signal
        )

    async def kill_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        self._find(terminal_id).kill()

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        self._find(terminal_id).kill()
        self.released.append(terminal_id)

    def outputs(self) -> dict[str, str]:
        """What the terminals show, also those that were released."""
        return {name: terminal.output.decode("utf-8", "replace") for name, terminal in self._terminals.items()}

    def _find(self, terminal_id: str) -> "_Terminal":
        if terminal_id not in self._terminals or terminal_id in self.released:
            raise RequestError(-32002, "Terminal not found")
        return self._terminals[terminal_id]


class _Terminal:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.output = b""
        self.reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while data := await self.process.stdout.read(1 << 16):
            self.output += data

    @property
    def exit_status(self) -> schema.TerminalExitStatus | None:
        code = self.process.returncode
        if code is None:
            return None
        if code < 0:
            return schema.TerminalExitStatus(signal=signal.Signals(-code).name)
        return schema.TerminalExitStatus(exit_code=code)

    def kill(self) -> None:
        with suppress(ProcessLookupError):  # it has ended, and nobody has noticed yet
            if self.process.returncode is None:
                os.killpg(self.process.pid, signal.SIGKILL)
