"""Descriptors, signals and the state file of the supervisor.

Only quick imports: the first command and every MCP server wait for that program. `signal` and `socket` would import
`enum`, `functools` and more, which takes as long as the bare interpreter.
"""

import os
from _signal import (  # pyright: ignore[reportMissingModuleSource]
    SIG_DFL,
    SIG_IGN,
    SIG_SETMASK,
    SIGCHLD,
    SIGHUP,
    SIGINT,
    SIGPIPE,
    SIGTERM,
    SIGXFSZ,
    getsignal,
    pthread_sigmask,
    set_wakeup_fd,
    signal,
    valid_signals,
)
from _socket import CMSG_SPACE, SCM_RIGHTS, SOL_SOCKET, socket

_DESCRIPTOR_BYTES = 4

# Commands would inherit that Python ignores some of these, but not a handler.
_CAUGHT = (SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXFSZ)


def catch_signals() -> int:
    """Catch signals and return a descriptor from which their numbers can be read."""
    for number in valid_signals():
        if getsignal(number) == SIG_IGN:
            signal(number, SIG_DFL)
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    set_wakeup_fd(writable, warn_on_full_buffer=False)
    for number in _CAUGHT:
        signal(number, lambda _number, _frame: None)  # the number arrives through the pipe
    pthread_sigmask(SIG_SETMASK, [])
    return readable


def receive_descriptors(channel: socket, limit: int) -> tuple[bytes, list[int]]:
    """Receive one byte and up to this many descriptors."""
    data, ancillary, _, _ = channel.recvmsg(1, CMSG_SPACE(limit * _DESCRIPTOR_BYTES))
    received: list[int] = []
    for level, kind, sent in ancillary:
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS):
            received += memoryview(sent[: len(sent) - len(sent) % _DESCRIPTOR_BYTES]).cast("i")
    return data, received


def set_non_inheritable(descriptors: list[int]) -> list[int]:
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return descriptors


def close_all(descriptors: list[int]) -> None:
    while descriptors:
        os.close(descriptors.pop())


def write_state(path: str, status: int | None) -> None:
    """Write atomically how the job ended, as JSON."""
    code = None if status is None else os.waitstatus_to_exitcode(status)
    exit_code = "null" if code is None or code < 0 else code
    number = -code if code is not None and code < 0 else "null"
    draft = f"{path}.{os.getpid()}"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
        os.write(descriptor, f'{{"exit": {exit_code}, "signal": {number}}}\n'.encode())
    finally:
        os.close(descriptor)
    os.replace(draft, path)
