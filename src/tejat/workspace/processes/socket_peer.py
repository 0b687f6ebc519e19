"""Which process is at the other end of a Unix socket, and whether a command of an agent started it.

A command must never answer the question whether it may run, nor pose as a session. It is known by its ancestors, as
long as it has them, and by what all its descendants inherit: a lower limit of file sizes, which only root can raise,
and for root a filter of system calls, which nobody can remove.
"""

import errno
import os
import socket
import struct
from collections.abc import Generator
from contextlib import contextmanager, suppress

from tejat.core.i18n import lazy
from tejat.workspace.processes.process_tree import (
    Process,
    filter_count,
    is_supervisor,
    read_file_size_limit,
    read_process,
)

_SO_PEERPIDFD = 77
"""Linux 6.5. Python has no name for it yet."""
_CREDENTIALS = struct.Struct("iII")
_MAX_ANCESTORS = 1000


class PeerRefused(Exception):
    """A process that may not be talked to. The message says why."""


def check_client(connection: socket.socket) -> None:
    """Raise PeerRefused unless the process that connected may use what belongs to this process.

    It has to be of the same user and visible here, and it must come neither from this process nor from a command of an
    agent. OSError means the same: in doubt nobody gets in.
    """
    with _peer_process(connection) as pid:
        _check_marks(pid)
        if os.getpid() in _ancestors(pid):
            raise PeerRefused(lazy("this session started it"))


def check_listener(connection: socket.socket, expected: int) -> None:
    """Raise PeerRefused unless the process `expected` listens, of the same user and no command of an agent.

    OSError means the same.
    """
    with _peer_process(connection) as pid:
        if pid != expected:
            raise PeerRefused(lazy("another process listens there"))
        _check_marks(pid)


@contextmanager
def _peer_process(connection: socket.socket) -> Generator[int]:
    """The process at the other end, which runs until the end of the body. Raises PeerRefused."""
    pid, uid = _peer_credentials(connection)
    if uid != os.geteuid():
        raise PeerRefused(lazy("it belongs to another user"))
    pidfd = _open_peer(connection)
    try:
        process = _read_living(pid)
        yield pid
        # Another process may have its number by now.
        if _read_living(pid).started != process.started or not _is_running(pidfd):
            raise PeerRefused(lazy("it has ended"))
    finally:
        if pidfd is not None:
            os.close(pidfd)


def _peer_credentials(connection: socket.socket) -> tuple[int, int]:
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _gid = _CREDENTIALS.unpack(raw)
    if pid <= 0:
        raise PeerRefused(lazy("its process is not visible here"))
    return pid, uid


def _open_peer(connection: socket.socket) -> int | None:
    """A descriptor of the very process that connected, None where the kernel has none. Raises OSError if it is gone."""
    try:
        return connection.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD)
    except OSError as error:
        if error.errno != errno.ENOPROTOOPT:
            raise
        return None


def _read_living(pid: int) -> Process:
    process = read_process(pid)
    if process is None or not process.is_alive:
        raise PeerRefused(lazy("it has ended"))
    return process


def _is_running(pidfd: int | None) -> bool:
    """Whether the process of a descriptor still runs. Without one, its start time has to do."""
    if pidfd is None:
        return True
    with suppress(OSError), open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as file:
        return all(line.split() != ["Pid:", "-1"] for line in file)
    return False


def _check_marks(pid: int) -> None:
    """Refuse a process of an agent's command. This process may come from a command itself, and so may both."""
    own = os.getpid()
    if (limit := read_file_size_limit(pid)) != read_file_size_limit(own) or not limit:
        raise PeerRefused(lazy("its limit of file sizes differs, as that of an agent's command does"))
    if os.geteuid() == 0 and filter_count(pid) > filter_count(own):
        raise PeerRefused(lazy("its system calls are filtered, as those of an agent's command are"))
    if any(map(is_supervisor, _ancestors(pid) - _ancestors(own))):
        raise PeerRefused(lazy("a command of an agent started it"))


def _ancestors(pid: int) -> set[int]:
    """The process with all its ancestors. Raises PeerRefused if they are not all visible."""
    found: set[int] = set()
    while pid > 0 and len(found) < _MAX_ANCESTORS:
        found.add(pid)
        process = read_process(pid)
        if process is None:
            raise PeerRefused(lazy("its ancestors are not visible"))
        pid = process.parent
    if pid > 0:
        raise PeerRefused(lazy("it has too many ancestors"))
    return found
