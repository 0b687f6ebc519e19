"""A Ray cluster of several nodes on this machine. Each node is a session of processes, which is killed as a whole."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Self

from support.wait import wait_until

_STARTED = b"Ray runtime started"


class RayNodes:
    """A head and two more nodes with one CPU each; a context manager.

    The last node does not see the directory `hidden` where bubblewrap can take it away.
    """

    def __init__(self, hidden: Path, bubblewrap: str | None) -> None:
        # Ray's sockets are in it, and their names must be short.
        self.folder = Path(tempfile.mkdtemp(prefix="tr-", dir="/tmp"))
        self.address = f"127.0.0.1:{_free_port()}"
        self._hidden = hidden
        self._bubblewrap = bubblewrap
        self._nodes: list[subprocess.Popen[bytes]] = []
        self.temporary = self.folder / "t"
        """The directory for temporary files on the nodes."""
        home = self.folder / "home"
        for folder in (home, self.temporary):
            folder.mkdir()
        self.environment = {
            **os.environ,
            "HOME": str(home),
            "TMPDIR": str(self.temporary),
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            # So that a cluster that is gone is noticed soon.
            "RAY_gcs_rpc_server_reconnect_timeout_s": "5",
        }

    def __enter__(self) -> Self:
        try:
            head = ("--head", "--port", self.address.partition(":")[2], "--include-dashboard", "false")
            self._start(*head, "--temp-dir", str(self.folder / "r"), "--node-ip-address", "127.0.0.1")
            for number in (2, 3):
                hidden = self._wrapper() if number == 3 else ()
                self._start("--address", self.address, "--node-ip-address", f"127.0.0.{number}", wrapper=hidden)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for number in reversed(range(len(self._nodes))):
            self.kill(number)
        shutil.rmtree(self.folder, ignore_errors=True)

    def kill(self, number: int) -> None:
        """Kill all processes of a node at once; the head is 0."""
        node = self._nodes[number]
        for pid in _session(node.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        node.wait(timeout=60)

    def _wrapper(self) -> tuple[str, ...]:
        if self._bubblewrap is None:
            return ()
        return (self._bubblewrap, "--dev-bind", "/", "/", "--tmpfs", str(self._hidden))

    def _start(self, *words: str, wrapper: tuple[str, ...] = ()) -> None:
        program = str(Path(sys.executable).with_name("ray"))
        limits = ("--num-cpus", "1", "--object-store-memory", "80000000", "--min-worker-port", "0")
        log = self.folder / f"node-{len(self._nodes)}.log"
        with log.open("wb") as output:
            node = subprocess.Popen(
                [
                    *wrapper,
                    program,
                    "start",
                    *words,
                    *limits,
                    "--max-worker-port",
                    "0",
                    "--disable-usage-stats",
                    "--block",
                ],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._nodes.append(node)
        # One after the other: they would take the same names.
        wait_until(lambda: _STARTED in log.read_bytes() or node.poll() is not None, 120, "the node")
        assert node.poll() is None, log.read_text(encoding="utf-8", errors="replace")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _session(leader: int) -> list[int]:
    """The processes of a session, its leader first."""
    found: list[int] = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(ProcessLookupError, PermissionError):
            if os.getsid(int(name)) == leader:
                found.append(int(name))
    return sorted(found, key=lambda pid: pid != leader)
