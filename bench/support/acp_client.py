"""A client of the Agent Client Protocol that adds as little delay as possible."""

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self


class AcpClient:
    """An agent and the connection to it. `arrivals` are the times at which the first chunk of each answer came."""

    def __init__(self, command: Sequence[str], directory: str, environment: Mapping[str, str]) -> None:
        self.arrivals: list[float] = []
        self._next_id = 0
        self._process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def kill(self) -> None:
        """End the agent at once."""
        self._process.kill()
        self._process.communicate()

    def initialize(self) -> dict[str, Any]:
        files = {"readTextFile": False, "writeTextFile": False}
        return self.request("initialize", {"protocolVersion": 1, "clientCapabilities": {"fs": files}})

    def prompt(self, session: str, text: str) -> dict[str, Any]:
        return self.request("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": text}]})

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a request. Raises AssertionError if the agent answers with an error."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._next_id += 1
        message = {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        is_first = True
        while line := self._process.stdout.readline():
            if is_first and b'"agent_message_chunk"' in line:
                self.arrivals.append(time.perf_counter())
                is_first = False
            answer = json.loads(line)
            if answer.get("id") == self._next_id and "method" not in answer:
                assert "error" not in answer, answer
                return answer["result"]
        raise AssertionError(f"the agent ended before it answered {method}")

    def memory(self) -> int:
        """The resident memory of the agent in bytes."""
        with open(f"/proc/{self._process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS:"))

    def proportional_memory(self) -> tuple[int, int]:
        """The memory of the agent and all that it started, shared pages divided, and how many processes they are."""
        pids = _descendants(self._process.pid)
        return sum(map(_proportional, pids)), len(pids)


def _descendants(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        for thread in os.listdir(f"/proc/{parent}/task"):
            with open(f"/proc/{parent}/task/{thread}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    return found


def _proportional(pid: int) -> int:
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
