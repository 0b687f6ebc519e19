"""A Ray cluster of one node, for as long as a measurement takes."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from bench.support.tool_process import SCRIPTS

_START_SECONDS = 60.0
_STOP_SECONDS = 30.0
_PAUSE_SECONDS = 0.1


class RayNode:
    """A running head node. Its processes end with it; those of other clusters on this machine are left alone."""

    def __init__(self, folder: str, environment: Mapping[str, str], *, cpus: int) -> None:
        port = _free_port()
        self.address = f"127.0.0.1:{port}"
        os.makedirs(folder)
        command = [os.path.join(SCRIPTS, "ray"), "start", "--head", "--block", "--node-ip-address=127.0.0.1"]
        command += [f"--port={port}", f"--num-cpus={cpus}", f"--temp-dir={folder}", "--include-dashboard=false"]
        command += ["--disable-usage-stats", f"--object-store-memory={128 * 2**20}"]
        with open(os.path.join(folder, "output.txt"), "wb") as output:
            self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._output = os.path.join(folder, "output.txt")

    def __enter__(self) -> Self:
        deadline = time.monotonic() + _START_SECONDS
        while "Ray runtime started" not in self._said():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._stop()
                raise AssertionError(f"Ray did not start: {self._said()}")
            time.sleep(_PAUSE_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _said(self) -> str:
        with open(self._output, encoding="utf-8", errors="replace") as file:
            return file.read()

    def _stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
