"""Program that starts commands and terminates all their descendants when it ends or loses its agent.

A session has one supervisor. Its stdin is a socket to the agent, which sends a channel for each command together with
its outputs, directory and optional input. The socket closes when the agent ends, however it ends. A background job has
its own supervisor, which exits when the job is over or on SIGTERM.

On Linux, orphans become children of this program (subreaper), so having no child means that nothing is left. Orphans
are attributed by a limit that no process can raise: each command has its own maximum file size.
"""

import errno
import marshal
import os
import select
import sys
import time
from _signal import SIGCHLD, SIGTERM  # pyright: ignore[reportMissingModuleSource]
from _socket import socket

from tejat.workspace.processes.process_tree import (
    Process,
    ProcessTermination,
    boot_ticks,
    file_size_limit,
    kill_group,
    list_processes,
    own_children,
    own_descendants,
    with_descendants,
)
from tejat.workspace.processes.supervision.child_limits import ChildLimits, mark_commands
from tejat.workspace.processes.supervision.descriptors import (
    catch_signals,
    close_all,
    receive_descriptors,
    set_non_inheritable,
    write_state,
)
from tejat.workspace.processes.supervision.fork_bomb import ForkBombDetector
from tejat.workspace.processes.supervision.protocol import (
    DETACHED,
    DIRECTORY,
    ENDED,
    FAILED,
    LENGTH_BYTES,
    LIST_SURVIVORS,
    PROGRAM,
    SESSION,
    STARTED,
    STOP,
    SURVIVORS,
    TERMINATED,
)
from tejat.workspace.sandbox.libc import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_SET_CHILD_SUBREAPER = 36
_MAX_REPORTED = 1000
_MAX_SCANS = 10
_CHECK_SECONDS = 0.5


def main() -> None:
    """Serve until the agent or the job has ended, then terminate all descendants."""
    mode = sys.argv[2]
    # Descriptors that the agent inherited are not for commands.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    if mode == DETACHED and os.fork() != 0:
        os._exit(0)
    os.chdir("/")
    incoming = socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    supervisor = _Supervisor()
    if mode == SESSION:
        supervisor.serve(incoming)
    else:
        supervisor.serve_one(incoming, state=sys.argv[3])
    os._exit(0)  # the agent waits, and nothing is left to finalize


class _Command:
    """One command: requested while `pid` is 0, running until `status` is known."""

    __slots__ = ("channel", "descriptors", "inbox", "limit", "pid", "started", "status")

    def __init__(self, channel: socket | None, descriptors: list[int]) -> None:
        self.channel = channel
        self.descriptors = descriptors  # stdout, stderr, directory and optional stdin, until it is started
        self.inbox = bytearray()
        self.pid = 0
        self.limit = 0
        self.started = 0
        self.status: int | None = None

    @property
    def is_running(self) -> bool:
        return self.pid > 0 and self.status is None


class _Supervisor:
    def __init__(self) -> None:
        self._commands: list[_Command] = []
        self._unreported: list[_Command] = []
        self._terminations: dict[_Command, ProcessTermination] = {}
        self._limits = ChildLimits()
        mark_commands()
        self._fork_bomb = ForkBombDetector()
        self._is_stopping = False
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[], None]] = {}
        self._signals = catch_signals()
        self._watch(self._signals, self._read_signals)
        if sys.platform == "linux":
            try:
                call("prctl", _SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            except OSError:
                return  # an unusual kernel: orphans are found in the process table only

    def serve(self, control: socket) -> None:
        """Accept commands until the agent has gone."""
        self._watch(control.fileno(), lambda: self._accept_command(control))
        try:
            while not self._is_stopping:
                self._poll_once()
        finally:
            self._terminate_all()

    def serve_one(self, channel: socket, *, state: str) -> None:
        """Run one command without an agent, and write down how it ended."""
        _, descriptors = receive_descriptors(channel, 3)
        command = _Command(channel, set_non_inheritable(descriptors))
        self._commands.append(command)
        while command.pid == 0 and command.channel is not None:
            self._read_request(command)
        if command.pid == 0:
            return
        self._close_channel(command)
        try:
            while not self._is_stopping and self._reap():
                self._poll_once()
        finally:
            self._terminate_all()
            write_state(state, command.status)

    def _poll_once(self) -> None:
        pauses = [self._step_termination(command, ending) for command, ending in list(self._terminations.items())]
        if any(command.is_running for command in self._commands):
            pauses.append(_CHECK_SECONDS)
            self._stop_fork_bomb()
        timeout = min((pause for pause in pauses if pause is not None), default=None)
        for descriptor, _ in self._poll.poll(None if timeout is None else timeout * 1000):
            if handler := self._handlers.get(descriptor):
                handler()

    def _stop_fork_bomb(self) -> None:
        """Terminate the newest command when there are too many processes, the next one a moment later."""
        if not self._fork_bomb.is_triggered:
            return
        running = [command for command in self._commands if command.is_running and command not in self._terminations]
        if running:
            kill_group(running[-1].pid)  # atomically: one by one, they would fork faster than they die
            self._begin_termination(running[-1])

    def _step_termination(self, command: _Command, ending: ProcessTermination) -> float | None:
        pause = ending.step()
        self._report_exits()
        if pause is None:
            del self._terminations[command]
            self._answer(command, TERMINATED)
            self._prune_commands(command)
        return pause

    def _watch(self, descriptor: int, handler: "Callable[[], None]") -> None:
        self._handlers[descriptor] = handler
        self._poll.register(descriptor, select.POLLIN)

    def _read_signals(self) -> None:
        numbers = os.read(self._signals, 4096)
        if SIGTERM in numbers:
            self._is_stopping = True
        if SIGCHLD in numbers:
            self._reap()
            self._report_exits()

    def _accept_command(self, control: socket) -> None:
        """Accept a new command or the end of the agent. The one byte read is the number of descriptors."""
        data, descriptors = receive_descriptors(control, 5)
        if not data:
            self._is_stopping = True
            return
        set_non_inheritable(descriptors)
        if len(descriptors) < data[0]:  # some did not arrive: too many are open
            close_all(descriptors)
            return
        channel = socket(fileno=descriptors[0])
        channel.setblocking(False)
        command = _Command(channel, descriptors[1:])
        self._commands.append(command)
        self._watch(channel.fileno(), lambda: self._read_request(command))
        self._read_request(command)

    def _read_request(self, command: _Command) -> None:
        """Read from the agent about this command; if it hangs up, terminate what still runs."""
        channel = command.channel
        if channel is None:
            return
        try:
            data = channel.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._hang_up(command)
            return
        command.inbox += data
        if command.pid == 0:
            self._start_when_complete(command)
        if command.pid != 0:
            self._handle_orders(command)

    def _start_when_complete(self, command: _Command) -> None:
        size = int.from_bytes(command.inbox[:LENGTH_BYTES], "big")
        if len(command.inbox) < LENGTH_BYTES + size:
            return
        arguments, environment = marshal.loads(memoryview(command.inbox)[LENGTH_BYTES : LENGTH_BYTES + size])
        command.inbox = command.inbox[LENGTH_BYTES + size :]
        at_fault = DIRECTORY
        stdout, stderr, directory, *stdin = command.descriptors
        try:
            os.fchdir(directory)
            at_fault = PROGRAM
            command.limit = self._limits.apply()
            command.started = boot_ticks()
            pid = _spawn(arguments, environment, stdin=stdin, stdout=stdout, stderr=stderr)
        except (OSError, ValueError) as error:
            number = error.errno if isinstance(error, OSError) else errno.EINVAL
            self._answer(command, FAILED, number or errno.EINVAL, at_fault)
            self._close_channel(command)
            return
        finally:
            self._limits.restore()
            os.chdir("/")
            close_all(command.descriptors)
        for earlier in self._commands:
            if earlier.pid == pid:  # a pid is reused once its session is empty
                earlier.pid = -1
        command.pid = pid
        self._answer(command, STARTED, pid, command.limit, os.getpid())

    def _handle_orders(self, command: _Command) -> None:
        orders = bytes(command.inbox)
        command.inbox.clear()
        if LIST_SURVIVORS in orders:
            self._answer(command, SURVIVORS, *self._survivors(command))
        if STOP in orders:
            self._begin_termination(command)

    def _begin_termination(self, command: _Command) -> None:
        self._terminations.setdefault(command, ProcessTermination(lambda: self._members(command), groups=[command.pid]))

    def _answer(self, command: _Command, word: str, *numbers: int) -> None:
        if command.channel is None:
            return
        try:
            command.channel.send(" ".join([word, *map(str, numbers)]).encode() + b"\n")
        except OSError:
            self._hang_up(command)

    def _hang_up(self, command: _Command) -> None:
        """Handle the agent's hang-up: nobody waits for what still runs."""
        self._close_channel(command)
        if command.is_running:
            self._begin_termination(command)

    def _close_channel(self, command: _Command) -> None:
        channel, command.channel = command.channel, None
        if channel is None:
            return
        if self._handlers.pop(channel.fileno(), None):
            self._poll.unregister(channel)
        channel.close()
        close_all(command.descriptors)
        self._prune_commands(command)

    def _prune_commands(self, command: _Command) -> None:
        """Forget ended commands that the agent no longer asks about, unless an orphan may belong to them."""
        is_over = command.channel is None and not command.is_running and command not in self._terminations
        if is_over and not self._may_have_orphans():
            self._commands = [kept for kept in self._commands if kept.channel is not None or kept.is_running]

    def _reap(self) -> bool:
        """Reap ended children; return whether there are others."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            for command in self._commands:
                if command.pid == pid and command.is_running:
                    command.status = status
                    self._unreported.append(command)

    def _report_exits(self) -> None:
        while self._unreported:
            command = self._unreported.pop()
            self._answer(command, ENDED, command.status or 0, *self._survivors(command))

    def _survivors(self, command: _Command) -> list[int]:
        return sorted(self._members(command))[:_MAX_REPORTED] if self._may_have_orphans() or command.is_running else []

    def _may_have_orphans(self) -> bool:
        """Return whether there may be processes whose command has ended."""
        children = own_children()
        return children is None or not children <= {command.pid for command in self._commands if command.is_running}

    def _members(self, command: _Command) -> set[int]:
        """Return the living processes of a command. An empty set is certain."""
        living: set[int] = set()
        for _ in range(_MAX_SCANS):
            self._reap()
            table = self._descendants()
            roots = {process.pid for process in table.values() if self._belongs_to(process, command)}
            living = {pid for pid in with_descendants(roots, table) if table[pid].is_alive}
            # An orphan may arrive from a process that ended while we looked; that one is still visible as a zombie.
            if living or not roots:
                break
        return living

    def _belongs_to(self, process: Process, command: _Command) -> bool:
        """Return whether the process is the command's. An orphan of unknown origin may count for several."""
        if command.pid in (process.pid, process.session):
            return True
        if process.parent != os.getpid() or any(kept.pid == process.session for kept in self._commands):
            return False
        limit = file_size_limit(process.pid)
        if any(kept.limit == limit for kept in self._commands if kept.pid != 0):
            return limit == command.limit
        return process.started >= command.started

    def _descendants(self) -> dict[int, Process]:
        return own_descendants() if sys.platform == "linux" else list_processes()

    def _terminate_all(self) -> None:
        running = [command.pid for command in self._commands if command.is_running]
        ending = ProcessTermination(self._all_members, groups=running)
        while (pause := ending.step()) is not None:
            time.sleep(min(pause, 0.01))
        self._reap()

    def _all_members(self) -> set[int]:
        if not self._reap():
            return set()
        if sys.platform == "linux":
            return set(self._descendants())
        return {pid for command in self._commands if command.pid > 0 for pid in self._members(command)}


def _spawn(
    arguments: tuple[str, ...], environment: dict[str, str], *, stdin: list[int], stdout: int, stderr: int
) -> int:
    """Start a command. Without `stdin` it inherits ours, which is empty."""
    given = [(0, each) for each in stdin] + [(1, stdout), (2, stderr)]
    actions = [(os.POSIX_SPAWN_DUP2, each, number) for number, each in given]
    return os.posix_spawn(arguments[0], arguments, environment, file_actions=actions, setsid=True, setsigmask=[])
