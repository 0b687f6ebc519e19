"""An editor in another process, and the connection to it in a thread of its own."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from tejat.core.messages.types import JsonObject
from tejat.ui.acp.client import AcpConnection, ClientCapabilities
from tejat.ui.acp.editor_files import ClientFiles
from tejat.ui.shared.stdio_pipes import PipeInput, PipeOutput

PROGRAM = Path(__file__).with_name("editor_program.py")

Result = TypeVar("Result")


class EditorProcess:
    """A running editor. `files` are its buffers, as tools get them."""

    def __init__(
        self, *directories: Path, reads: bool = True, writes: bool = True, seconds: float = 20.0, **options: Any
    ) -> None:
        self.process = subprocess.Popen([sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.warnings: list[str] = []
        self._directories = [str(directory) for directory in directories]
        self._seconds = seconds
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.connection = self._run(self._connect(ClientCapabilities(reads_files=reads, writes_files=writes)))
        self._serving = asyncio.run_coroutine_threadsafe(self._serve(), self._loop)
        self.files = self._run(self._open_files())
        self.set(**options)

    def __enter__(self) -> "EditorProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def type(self, path: Path, text: str) -> None:
        """Let the user change the text of a buffer, without saving it."""
        self.request("test/type", path=str(path), text=text)

    def save(self, path: Path) -> None:
        self.request("test/save", path=str(path))

    def discard(self, path: Path) -> None:
        """Close a buffer without saving it."""
        self.request("test/close", path=str(path))

    def text(self, path: Path) -> Any:
        return self.request("test/text", path=str(path))["text"]

    def set(self, **options: Any) -> None:
        """Change how the editor behaves: see `options` in its program."""
        self.request("test/set", **options)

    def log(self, method: str = "fs/") -> list[Any]:
        """The requests so far, in order."""
        found: Any = self.request("test/log")["requests"]
        return [request for request in found if request["method"].startswith(method)]

    def written(self) -> list[str]:
        """The texts that the editor was given to write."""
        return [request["content"] for request in self.log("fs/write_text_file")]

    def request(self, method: str, **params: Any) -> JsonObject:
        return self._run(self.connection.request(method, params))

    def close(self) -> None:
        self.process.kill()
        self.process.wait(20)
        self._serving.result(20)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(20)
        self._loop.close()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    async def _connect(self, capabilities: ClientCapabilities) -> AcpConnection:
        connection = AcpConnection(self.warnings.append)
        connection.capabilities = capabilities
        return connection

    async def _open_files(self) -> ClientFiles:
        seconds = self._seconds
        return ClientFiles(self.connection, "s1", self._directories, read_seconds=seconds, write_seconds=seconds)

    async def _serve(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        source = await PipeInput.open(self.process.stdout.fileno())
        sink = await PipeOutput.open(self.process.stdin.fileno())
        try:
            await self.connection.serve(_NoMethods(), source, sink)
        finally:
            source.close()
            sink.close()


class _NoMethods:
    async def handle_request(self, method: str, params: JsonObject) -> JsonObject:
        raise AssertionError(method, params)

    def handle_notification(self, method: str, params: JsonObject) -> None:
        raise AssertionError(method, params)


def age(path: Path) -> None:
    """Let a file be older than an editor needs to notice its change."""
    moment = time.time() - 60
    os.utime(path, (moment, moment))


def write_old(path: Path, raw: bytes) -> Path:
    """Write a file that is older than an editor needs to notice its change."""
    path.write_bytes(raw)
    age(path)
    return path
