"""The program to measure, as a user runs it."""

import json
import os
import subprocess
import sys
from types import TracebackType
from typing import Any, Self

SCRIPTS = os.path.dirname(sys.executable)
TEJAT = os.path.join(SCRIPTS, "tejat")
RIPGREP = os.path.join(SCRIPTS, "rg")


class ToolProcess:
    """A running `tejat tools call --jsonl` process."""

    def __init__(self, root: str) -> None:
        self._process = subprocess.Popen(
            [TEJAT, "tools", "call", "--jsonl", "--yes", "--root", root],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.call("list_directory", path=root)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def call(self, name: str, **arguments: object) -> dict[str, Any]:
        """Return the result of one call. Raises AssertionError if the tool failed."""
        return self.stream(1, name, **arguments)

    def stream(self, times: int, name: str, **arguments: object) -> dict[str, Any]:
        """Return the last result of the same call, made several times in a row."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps({"id": 1, "name": name, "args": arguments}).encode() + b"\n"
        self._process.stdin.write(line * times)
        self._process.stdin.flush()
        answer: dict[str, Any] = {}
        for _ in range(times):
            answer = json.loads(self._process.stdout.readline())
            assert answer["error"] is None, answer["error"]
        return answer

    def memory(self) -> int:
        """Bytes of memory in use now."""
        return self._status("VmRSS")

    def peak_memory(self) -> int:
        return self._status("VmHWM")

    def _status(self, key: str) -> int:
        with open(f"/proc/{self._process.pid}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith(f"{key}:"):
                    return int(line.split()[1]) * 1024
        raise AssertionError(f"the system does not tell {key}")
