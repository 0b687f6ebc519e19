"""Process table, descendants of processes, and termination of process trees.

Also loaded by the supervisor, which has to start fast: nothing heavy is imported here.
"""

import os
import sys
import time
from _signal import SIGKILL, SIGSTOP, SIGTERM  # pyright: ignore[reportMissingModuleSource]

if sys.platform != "linux":
    import subprocess

    def _processes_by_ps() -> "dict[int, Process]":
        listed = subprocess.run(
            ["/bin/ps", "-axo", "pid=,ppid=,pgid=,stat="], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        return parse_ps(listed.stdout)


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Set

GRACE_SECONDS = 0.2
"""Time between SIGTERM and SIGKILL."""
TERMINATION_SECONDS = 2.0
"""After this time the rest is left alone: we lack the rights, or it is stuck in the kernel."""
PAUSE_SECONDS = 0.005

_FREEZE_SECONDS = 0.6
_TICKS: int = os.sysconf("SC_CLK_TCK")
_ZOMBIE_STATES = b"ZXx"
_READ_SIZE = 1 << 16
_FILE_SIZE_LINE = b"Max file size"
_FILTERS_LINE = b"Seccomp_filters:"
_SUPERVISOR = b"tejat.workspace.processes.supervisor"


class Process:
    """One entry of the process table. `started` is in clock ticks since boot, 0 if unknown."""

    __slots__ = ("is_alive", "parent", "pid", "session", "started")

    def __init__(self, *, pid: int, parent: int, session: int, started: int, is_alive: bool) -> None:
        self.pid = pid
        self.parent = parent
        self.session = session
        self.started = started
        self.is_alive = is_alive


def list_processes() -> dict[int, Process]:
    """Return all visible processes, including zombies."""
    if sys.platform != "linux":
        return _processes_by_ps()
    found: dict[int, Process] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal() and (process := read_process(int(name))) is not None:
            found[process.pid] = process
    return found


def read_process(pid: int) -> Process | None:
    """Return the entry of one process, None if there is none."""
    if sys.platform != "linux":
        return _processes_by_ps().get(pid)
    line = _read(f"/proc/{pid}/stat")
    # The name in parentheses may itself contain blanks and parentheses.
    fields = line[line.rfind(b")") + 2 :].split()
    if len(fields) < 20:
        return None
    return Process(
        pid=pid,
        parent=int(fields[1]),
        session=int(fields[3]),
        started=int(fields[19]),
        # Other threads continue after the first one has ended.
        is_alive=fields[0] not in _ZOMBIE_STATES or int(fields[17]) > 1,
    )


def process_start_time(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot, None if it is gone. With the pid this is unique."""
    process = read_process(pid)
    return process.started if process is not None and process.is_alive else None


def exclude_named(names: "Set[str]", pids: "Iterable[int]") -> tuple[int, ...]:
    """Return the existing processes with none of these names; all of them where names are unknown."""
    if sys.platform != "linux" or not names:
        return tuple(pids)
    named = {pid: os.fsdecode(_read(f"/proc/{pid}/comm").removesuffix(b"\n")) for pid in pids}
    return tuple(pid for pid, name in named.items() if name and name not in names)


def boot_ticks() -> int:
    """Return the current time on the clock of `Process.started`."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS) if sys.platform == "linux" else 0


def file_size_limit(pid: int) -> int | None:
    """Return the hard RLIMIT_FSIZE of a process, None if unlimited or unknown."""
    hard = read_file_size_limit(pid)
    return int(hard) if hard.isdigit() else None


def read_file_size_limit(pid: int) -> bytes:
    """Return the hard RLIMIT_FSIZE of a process as the system prints it, empty if unknown."""
    for line in _read(f"/proc/{pid}/limits").splitlines():
        if line.startswith(_FILE_SIZE_LINE):
            return line[len(_FILE_SIZE_LINE) :].split()[1]
    return b""


def filter_count(pid: int) -> int:
    """Return how many filters the system calls of a process pass, 0 if unknown."""
    for line in _read(f"/proc/{pid}/status").splitlines():
        if line.startswith(_FILTERS_LINE):
            return int(line[len(_FILTERS_LINE) :])
    return 0


def is_supervisor(pid: int) -> bool:
    """Return whether a process is the supervisor of a session or of a background job."""
    return _SUPERVISOR in _read(f"/proc/{pid}/cmdline")


def own_children() -> set[int] | None:
    """Return the pids of our children, including zombies; None if the system cannot list them atomically.

    Only for single-threaded programs. Complete: a child leaves this list only when it is waited for.
    """
    pid = os.getpid()
    if not os.path.exists(f"/proc/{pid}/task/{pid}/children"):
        return None
    return set(_children(pid))


def own_descendants() -> dict[int, Process]:
    """Return all our descendants, including zombies. May miss a grandchild that is just being forked or orphaned."""
    first = own_children()
    if first is None:
        table = list_processes()
        return {pid: table[pid] for pid in with_descendants([os.getpid()], table) - {os.getpid()}}
    found: dict[int, Process] = {}
    waiting = list(first)
    while waiting:
        pid = waiting.pop()
        if pid not in found and (process := read_process(pid)) is not None:
            found[pid] = process
            waiting.extend(_children(pid))
    return found


def with_descendants(pids: "Iterable[int]", table: "Mapping[int, Process]") -> set[int]:
    """Return these processes and their descendants according to the table."""
    children: dict[int, list[int]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    waiting = list(pids)
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting.extend(children.get(pid, ()))
    return found


class ProcessTermination:
    """Termination of a set of processes, in steps between which the caller may do other work.

    SIGTERM comes first, then SIGKILL to the process `groups`, then SIGSTOP (a stopped process cannot fork) and SIGKILL
    to the rest, until `find` returns nothing or TERMINATION_SECONDS have passed. They are killed at least once, however
    long it takes to find them: with a fork bomb, nothing is in time.
    """

    __slots__ = ("_began", "_find_processes", "_groups", "_killed", "_sent_sigterm", "_stopped")

    def __init__(self, find: "Callable[[], set[int]]", *, groups: "Iterable[int]" = ()) -> None:
        self._find_processes = find
        self._groups = set(groups)
        self._began = time.monotonic()
        self._sent_sigterm = False
        self._killed = False
        self._stopped: set[int] = set()

    def step(self) -> float | None:
        """Do the next step. Return the seconds until the next one is due, None when done."""
        members = self._find_processes()
        passed = time.monotonic() - self._began
        if not members or (passed > TERMINATION_SECONDS and self._killed):
            return None
        if not self._sent_sigterm:
            self._sent_sigterm = True
            self._send_sigterm(members)
        if passed < GRACE_SECONDS:
            return GRACE_SECONDS - passed
        self._kill_groups(members)
        running = members - self._stopped
        if running and passed < GRACE_SECONDS + _FREEZE_SECONDS:
            send_signal(SIGSTOP, running)
            self._stopped |= running
            return 0.0
        self._killed = True
        # Oldest first: the first process of a sandbox takes all others with it.
        send_signal(SIGKILL, sorted(members))
        return PAUSE_SECONDS

    def _send_sigterm(self, members: "Set[int]") -> None:
        """Send SIGTERM so that no shell goes on with its next command because the current one has ended."""
        groups = {pid: _process_group(pid) for pid in members}
        for group in self._groups & set(groups.values()):
            _signal_group(group, SIGTERM)
        # Oldest first: a parent comes before its children.
        send_signal(SIGTERM, sorted(pid for pid, group in groups.items() if group not in self._groups))

    def _kill_groups(self, members: "Set[int]") -> None:
        """Kill groups that still have a member: the id of an empty group may be reused."""
        if self._groups:
            for group in self._groups & {_process_group(pid) for pid in members}:
                kill_group(group)
            self._groups.clear()


def _process_group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def kill_group(group: int) -> None:
    """Kill all members of a process group atomically, including those being forked."""
    _signal_group(group, SIGKILL)


def _signal_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return


def send_signal(number: int, pids: "Iterable[int]") -> None:
    """Signal each process that still exists and that we may signal."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def _children(pid: int) -> list[int]:
    """Return the children of all threads of a process."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [int(child) for thread in threads for child in _read(f"/proc/{pid}/task/{thread}/children").split()]


def _read(path: str) -> bytes:
    """Return the contents of a /proc file, empty if the process has ended."""
    parts: list[bytes] = []
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        while part := os.read(descriptor, _READ_SIZE):
            parts.append(part)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return b"".join(parts)


def parse_ps(listing: bytes) -> dict[int, Process]:
    """Parse the output of `ps -axo pid=,ppid=,pgid=,stat=`, for systems without /proc.

    The process group stands for the session, which `ps` does not print as a number everywhere.
    """
    found: dict[int, Process] = {}
    for line in listing.splitlines():
        pid, parent, group, state = line.split()[:4]
        found[int(pid)] = Process(
            pid=int(pid), parent=int(parent), session=int(group), started=0, is_alive=not state.startswith(b"Z")
        )
    return found
