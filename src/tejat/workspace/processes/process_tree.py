"""Who descends from whom among the processes of the system, and how a set of them is ended for good.

Also loaded by the keeper, which starts in a blink: nothing heavy is imported here.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import suppress

if sys.platform != "linux":
    import subprocess

    def _processes_by_ps() -> "dict[int, Process]":
        listed = subprocess.run(
            ["/bin/ps", "-axo", "pid=,ppid=,pgid=,stat="], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        return parse_ps(listed.stdout)


GRACE_SECONDS = 0.2
"""How long processes that are asked to end may take before they are killed."""
TERMINATION_SECONDS = 2.0
"""After this long, what is left is let be: it is beyond our rights, or stuck in the kernel."""
PAUSE_SECONDS = 0.005

_FREEZE_SECONDS = 0.6
_TICKS: int = os.sysconf("SC_CLK_TCK")
_ZOMBIE_STATES = b"ZXx"
_READ_SIZE = 1 << 16
_FILE_SIZE_LINE = b"Max file size"


class Process:
    """One process as the system tells of it. `started` is in clock ticks since boot, 0 where that is not told."""

    __slots__ = ("is_alive", "parent", "pid", "session", "started")

    def __init__(self, *, pid: int, parent: int, session: int, started: int, is_alive: bool) -> None:
        self.pid = pid
        self.parent = parent
        self.session = session
        self.started = started
        self.is_alive = is_alive


def list_processes() -> dict[int, Process]:
    """Every process that can be seen, the ended ones that nobody has looked after yet among them."""
    if sys.platform != "linux":
        return _processes_by_ps()
    found: dict[int, Process] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal() and (process := read_process(int(name))) is not None:
            found[process.pid] = process
    return found


def read_process(pid: int) -> Process | None:
    """What the system tells of one process; None when there is none."""
    if sys.platform != "linux":
        return _processes_by_ps().get(pid)
    line = _read(f"/proc/{pid}/stat")
    # The name stands in parentheses and may itself hold blanks and parentheses.
    fields = line[line.rfind(b")") + 2 :].split()
    if len(fields) < 20:
        return None
    return Process(
        pid=pid,
        parent=int(fields[1]),
        session=int(fields[3]),
        started=int(fields[19]),
        # When only the first thread has ended, the others go on.
        is_alive=fields[0] not in _ZOMBIE_STATES or int(fields[17]) > 1,
    )


def process_start_time(pid: int) -> int | None:
    """When a process began, in clock ticks since boot: with its number this names it for ever. None when it is gone."""
    process = read_process(pid)
    return process.started if process is not None and process.is_alive else None


def exclude_named(names: Set[str], pids: Iterable[int]) -> tuple[int, ...]:
    """Those of these processes that are there and go by none of these names. Where names are not told, all of them."""
    if sys.platform != "linux" or not names:
        return tuple(pids)
    named = {pid: os.fsdecode(_read(f"/proc/{pid}/comm").removesuffix(b"\n")) for pid in pids}
    return tuple(pid for pid, name in named.items() if name and name not in names)


def boot_ticks() -> int:
    """The present, on the clock of `Process.started`."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS) if sys.platform == "linux" else 0


def file_size_limit(pid: int) -> int | None:
    """The hard limit on the size of files that a process inherited; None when unlimited or not told."""
    for line in _read(f"/proc/{pid}/limits").splitlines():
        if line.startswith(_FILE_SIZE_LINE):
            hard = line[len(_FILE_SIZE_LINE) :].split()[1]
            return int(hard) if hard.isdigit() else None
    return None


def own_children() -> set[int] | None:
    """The pids of our own children, ended ones too; None where the system cannot tell in one look.

    Only for a program of one thread. None is missed: a child leaves this list only when we wait for it.
    """
    pid = os.getpid()
    if not os.path.exists(f"/proc/{pid}/task/{pid}/children"):
        return None
    return set(_children(pid))


def own_descendants() -> dict[int, Process]:
    """All that descends from us, ended ones too. Deeper down one that is just being born or orphaned may be missed."""
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


def with_descendants(pids: Iterable[int], table: Mapping[int, Process]) -> set[int]:
    """These processes and everything that descends from them, as far as the table knows."""
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
    """The end of a set of processes, in steps between which its owner may do other things.

    They are asked first, then their process `groups` are killed at one blow, then what is left is stopped (a process
    that does not run cannot multiply) and killed, until `find` finds no more or ENDING_SECONDS are over. However long
    it takes to find them, they are killed at least once: where processes multiply without end, nothing is in time.
    """

    __slots__ = ("_asked", "_began", "_find", "_groups", "_killed", "_stopped")

    def __init__(self, find: Callable[[], set[int]], *, groups: Iterable[int] = ()) -> None:
        self._find = find
        self._groups = set(groups)
        self._began = time.monotonic()
        self._asked = False
        self._killed = False
        self._stopped: set[int] = set()

    def step(self) -> float | None:
        """Do the next thing. Returns in how many seconds to come again, at the latest; None when it is over."""
        members = self._find()
        passed = time.monotonic() - self._began
        if not members or (passed > TERMINATION_SECONDS and self._killed):
            return None
        if not self._asked:
            self._asked = True
            send_signal(signal.SIGTERM, members)
        if passed < GRACE_SECONDS:
            return GRACE_SECONDS - passed
        self._kill_groups(members)
        running = members - self._stopped
        if running and passed < GRACE_SECONDS + _FREEZE_SECONDS:
            send_signal(signal.SIGSTOP, running)
            self._stopped |= running
            return 0.0
        self._killed = True
        # The oldest first: with the first process of a sandbox all the others in it are gone.
        send_signal(signal.SIGKILL, sorted(members))
        return PAUSE_SECONDS

    def _kill_groups(self, members: Set[int]) -> None:
        """Only those that have a member: the number of a group that is over may soon be somebody else's."""
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
    """Kill all members of a process group at once, those that are just being born too."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def send_signal(number: signal.Signals, pids: Iterable[int]) -> None:
    """Signal each process that is still there and that we may signal."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def _children(pid: int) -> list[int]:
    """The children of all threads of a process."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [int(child) for thread in threads for child in _read(f"/proc/{pid}/task/{thread}/children").split()]


def _read(path: str) -> bytes:
    """What is in a file of /proc; nothing when its process has ended."""
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
    """What `ps -axo pid=,ppid=,pgid=,stat=` tells, for systems without /proc.

    The group stands for the session, which `ps` does not tell in numbers everywhere.
    """
    found: dict[int, Process] = {}
    for line in listing.splitlines():
        pid, parent, group, state = line.split()[:4]
        found[int(pid)] = Process(
            pid=int(pid), parent=int(parent), session=int(group), started=0, is_alive=not state.startswith(b"Z")
        )
    return found
