"""Program that forks the processes of a batch: everything that a run imports is loaded once.

Its stdin is a socket to the driver, which sends a channel for each child together with its standard output and error.
The request and later orders come over the channel, the pid and the exit status go back; the child sends its own
messages over it too. When the socket closes, because the driver has ended however it ended, all descendants are killed.

Orphans become children of this program (subreaper), so that background processes of an agent are found as well. The
program has one thread and no event loop, because a fork would copy their locks.
"""

import ctypes
import errno
import gc
import importlib
import os
import resource
import select
import signal
import socket
import sys
import sysconfig
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from tejat.batch.runner.agent_child import run_agent
from tejat.batch.runner.check_child import run_check
from tejat.batch.runner.child_request import (
    CHILD_DESCRIPTORS,
    ENDED,
    FAILED,
    KILL,
    STARTED,
    TERMINATE,
    ChildRequest,
    ChildWork,
    decode_request,
    encode_message,
)
from tejat.batch.runner.preload import PRELOADED
from tejat.core.approval.modes import SandboxMode
from tejat.core.exit_codes import EXIT_FAILED
from tejat.core.garbage import collect_rarely
from tejat.core.log import report_unexpected
from tejat.core.messages.types import JsonObject
from tejat.core.text.digest import sha256
from tejat.workspace.files.session_directory import make_session_directory, remove_session_directory
from tejat.workspace.processes.process_tree import ProcessTermination, own_descendants
from tejat.workspace.sandbox.selection import remember_probes

_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_READ_SIZE = 1 << 18
_PAUSE_SECONDS = 0.01
_CAUGHT = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_WORK: dict[ChildWork, Callable[[ChildRequest, socket.socket], int]] = {
    ChildWork.RUN: run_agent,
    ChildWork.CHECK: run_check,
}


def main() -> None:
    """Serve until the driver has ended, then kill all descendants."""
    gc.disable()
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    # A core dump would hold the API keys in memory.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    for name in PRELOADED:
        importlib.import_module(name)
    sysconfig.get_config_vars()  # it loads another module, and so does the first hash
    sha256()
    gc.freeze()
    _Template(control).serve()


class _Child:
    """One child: requested while `pid` is 0."""

    __slots__ = ("channel", "inbox", "outputs", "pid")

    def __init__(self, channel: socket.socket, outputs: list[int]) -> None:
        # It never becomes non-blocking: the child has the same one.
        self.channel: socket.socket | None = channel
        self.outputs = outputs
        self.inbox = bytearray()
        self.pid = 0


class _Template:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._children: list[_Child] = []
        self._is_stopping = False
        self._has_probed = False
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[], None]] = {}
        self._signals = _catch_signals()
        self._watch(self._signals, self._read_signals)
        self._watch(control.fileno(), self._accept)
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def serve(self) -> None:
        """Start children until the driver has gone."""
        try:
            while not self._is_stopping:
                for descriptor, _ in self._poll.poll():
                    if handler := self._handlers.get(descriptor):
                        handler()
        finally:
            self._terminate_all()

    def _watch(self, descriptor: int, handler: Callable[[], None]) -> None:
        self._handlers[descriptor] = handler
        self._poll.register(descriptor, select.POLLIN)

    def _read_signals(self) -> None:
        numbers = os.read(self._signals, 4096)
        if signal.SIGTERM in numbers:
            self._is_stopping = True
        if signal.SIGCHLD in numbers:
            self._reap()

    def _accept(self) -> None:
        """Accept a new child, or the end of the driver."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, 1, CHILD_DESCRIPTORS)
        except OSError:
            data, descriptors = b"", list[int]()
        if not data:
            self._is_stopping = True
            return
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        if len(descriptors) < CHILD_DESCRIPTORS:  # some did not arrive: too many are open
            _close(descriptors)
            return
        child = _Child(socket.socket(fileno=descriptors[0]), descriptors[1:])
        self._children.append(child)
        self._watch(descriptors[0], lambda: self._read(child))
        self._read(child)

    def _read(self, child: _Child) -> None:
        """Read the request or orders; if the driver hangs up, kill the child."""
        if child.channel is None:
            return
        try:
            data = child.channel.recv(_READ_SIZE, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            _signal_group(child.pid, signal.SIGKILL)
            self._close_channel(child)
            return
        child.inbox += data
        if child.pid == 0 and (request := decode_request(child.inbox)) is not None:
            self._start(child, request)
        if child.pid != 0:
            orders = bytes(child.inbox)
            child.inbox.clear()
            for order, number in ((TERMINATE, signal.SIGTERM), (KILL, signal.SIGKILL)):
                if order in orders:
                    _signal_group(child.pid, number)

    def _start(self, child: _Child, request: ChildRequest) -> None:
        parent = os.getpid()
        self._probe_sandbox(request)
        try:
            pid = os.fork()
        except OSError as error:
            self._send(child, FAILED, {"error": error.errno or errno.EAGAIN})
            self._close_channel(child)
            return
        if pid == 0:
            others = [self._control, *(each.channel for each in self._children if each.channel and each is not child)]
            _run_child(child, request, parent, others)
        child.pid = pid
        _close(child.outputs)
        self._send(child, STARTED, {"pid": pid})

    def _probe_sandbox(self, request: ChildRequest) -> None:
        """Find out once which sandbox works, before the first job that wants one."""
        if self._has_probed or request.job.task.sandbox == SandboxMode.OFF:
            return
        self._has_probed = True
        with suppress(OSError):  # raised again by the job
            directory = make_session_directory()
            try:
                remember_probes(directory)
            finally:
                remove_session_directory(directory)

    def _reap(self) -> bool:
        """Reap ended children and report them. Return whether there are others."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            for child in [each for each in self._children if each.pid == pid]:
                self._send(child, ENDED, {"status": status})
                self._close_channel(child)

    def _send(self, child: _Child, kind: str, fields: JsonObject) -> None:
        if child.channel is not None:
            with suppress(OSError):
                child.channel.sendall(encode_message(kind, fields))

    def _close_channel(self, child: _Child) -> None:
        channel, child.channel = child.channel, None
        if channel is not None:
            del self._handlers[channel.fileno()]
            self._poll.unregister(channel)
            channel.close()
        _close(child.outputs)
        # A child that was killed is reaped later.
        self._children = [each for each in self._children if each is not child]

    def _terminate_all(self) -> None:
        ending = ProcessTermination(self._living, groups=[each.pid for each in self._children if each.pid])
        while (pause := ending.step()) is not None:
            time.sleep(min(pause, _PAUSE_SECONDS))
        self._reap()

    def _living(self) -> set[int]:
        return set(own_descendants()) if self._reap() else set()


def _run_child(child: _Child, request: ChildRequest, parent: int, others: list[socket.socket]) -> NoReturn:
    """Become a child. `others` are the sockets of the template."""
    code = EXIT_FAILED
    try:
        for each in others:
            each.detach()  # closed by number: the object must not close it later, when the number is in use again
        channel = _set_up_process(child, parent)
        code = _WORK[request.work](request, channel)
    except BaseException as error:  # noqa: BLE001 -- there is nothing above
        with suppress(BaseException):
            sys.stderr.write(f"tejat: {report_unexpected(error, 'a child of a batch')}\n")
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        # Everything is closed. Finalising the interpreter would take as long as several tool calls.
        os._exit(code)


def _set_up_process(child: _Child, parent: int) -> socket.socket:
    """Leave everything of the template behind, and return the channel to the driver."""
    os.dup2(child.outputs[0], 1)
    os.dup2(child.outputs[1], 2)
    os.setsid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(EXIT_FAILED)
    signal.set_wakeup_fd(-1)
    for number in _CAUGHT:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    channel = child.channel
    if channel is None:
        os._exit(EXIT_FAILED)
    kept = os.dup2(channel.detach(), 3, inheritable=False)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    gc.enable()
    collect_rarely()
    return socket.socket(fileno=kept)


def _catch_signals() -> int:
    """Catch signals and return a descriptor from which their numbers can be read."""
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    for number in _CAUGHT:
        signal.signal(number, lambda _number, _frame: None)  # the number arrives through the pipe
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    return readable


def _signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a child that was not reaped yet, and to its group."""
    if group > 0:
        with suppress(PermissionError):
            try:
                os.killpg(group, number)
            except ProcessLookupError:  # it has not made its group yet
                os.kill(group, number)


def _close(descriptors: list[int]) -> None:
    while descriptors:
        os.close(descriptors.pop())


if __name__ == "__main__":
    main()
