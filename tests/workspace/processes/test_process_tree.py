"""Who descends from whom, and the end of a set of processes."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator

import pytest

from support.wait import wait_until
from tejat.workspace.processes.process_tree import (
    GRACE_SECONDS,
    TERMINATION_SECONDS,
    Process,
    ProcessTermination,
    boot_ticks,
    exclude_named,
    file_size_limit,
    list_processes,
    own_children,
    own_descendants,
    parse_ps,
    process_start_time,
    read_process,
    send_signal,
    with_descendants,
)

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@contextlib.contextmanager
def started(*arguments: str) -> Generator[subprocess.Popen[bytes]]:
    """A process in a session of its own that is certain to be gone afterwards, with all of its session."""
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def process(pid: int, parent: int) -> Process:
    return Process(pid=pid, parent=parent, session=pid, started=0, is_alive=True)


def fields(of: Process | None) -> tuple[object, ...] | None:
    return of and (of.pid, of.parent, of.session, of.started, of.is_alive)


@linux
class TestLooking:
    def test_oneself(self) -> None:
        us = read_process(os.getpid())
        assert us is not None
        assert fields(us) == (os.getpid(), os.getppid(), os.getsid(0), us.started, True)
        assert 0 < us.started <= boot_ticks()
        assert fields(list_processes()[os.getpid()]) == fields(us)
        assert process_start_time(os.getpid()) == us.started

    def test_a_name_that_looks_like_the_end_of_the_name(self) -> None:
        code = "import ctypes; ctypes.CDLL(None).prctl(15, b') R 1 1 1 (', 0, 0, 0); print(flush=True); input()"
        with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            seen = read_process(child.pid)
            assert seen is not None
            assert (seen.parent, seen.session, seen.is_alive) == (os.getpid(), os.getsid(0), True)
            child.communicate(b"\n")

    def test_names(self) -> None:
        with started("/bin/sleep", "60") as first, started("/bin/sleep", "60") as second, started("/bin/cat") as third:
            pids = (second.pid, first.pid, os.getpid())
            # The system names a process a moment after its program has started.
            wait_until(lambda: exclude_named({"sleep"}, pids[:2]) == ())
            assert exclude_named({"sleep", "other"}, pids) == (os.getpid(),)
            assert exclude_named({"slee", "sleep 60", ""}, pids) == pids
            assert exclude_named(frozenset(), (third.pid,)) == (third.pid,)
            os.kill(first.pid, signal.SIGKILL)
            first.wait()
            assert exclude_named({"other"}, pids) == (second.pid, os.getpid())

    def test_one_that_ended_and_was_not_looked_after_is_not_alive(self) -> None:
        with started("/bin/true") as child:
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            seen = read_process(child.pid)
            assert seen is not None
            assert (seen.is_alive, process_start_time(child.pid)) == (False, None)
        assert (read_process(child.pid), process_start_time(child.pid)) == (None, None)

    def test_one_whose_first_thread_ended_is_alive(self) -> None:
        code = (
            "import ctypes, threading, time\n"
            "threading.Thread(target=time.sleep, args=(60,)).start()\n"
            "print(flush=True)\n"
            "ctypes.CDLL(None).pthread_exit(None)\n"
        )
        with started(sys.executable, "-c", code) as child:
            assert child.stdout is not None
            child.stdout.readline()
            deadline = time.monotonic() + 60
            while b") Z " not in _stat(child.pid) and time.monotonic() < deadline:
                time.sleep(0.01)
            assert b") Z " in _stat(child.pid)
            seen = read_process(child.pid)
            assert seen is not None
            assert seen.is_alive

    def test_the_limit_that_was_inherited(self) -> None:
        with started("/bin/sh", "-c", "ulimit -f 12345; echo; exec sleep 60") as child:
            assert child.stdout is not None
            child.stdout.readline()
            assert file_size_limit(child.pid) == 12345 * 512
        assert file_size_limit(child.pid) is None

    def test_our_children_and_theirs(self) -> None:
        with started("/bin/sh", "-c", "sleep 60 & echo $!; wait") as child:
            assert child.stdout is not None
            grandchild = int(child.stdout.readline())
            assert child.pid in (own_children() or set())
            assert grandchild not in (own_children() or set())
            below = own_descendants()
            assert (below[child.pid].parent, below[grandchild].parent) == (os.getpid(), child.pid)
            assert os.getpid() not in below


def _stat(pid: int) -> bytes:
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read()


def test_descendants() -> None:
    table = {pid: process(pid, parent) for pid, parent in ((1, 0), (2, 1), (3, 2), (4, 1), (5, 4), (6, 6))}
    assert with_descendants([2], table) == {2, 3}
    assert with_descendants([1], table) == {1, 2, 3, 4, 5}
    assert with_descendants([3, 4], table) == {3, 4, 5}
    assert with_descendants([6], table) == {6}
    assert with_descendants([], table) == set()


def test_where_there_is_only_ps() -> None:
    listing = b"    1     0     1 Ss  \n  501     1   501 S+\n  502   501   501 Z\n"
    assert [fields(found) for found in parse_ps(listing).values()] == [
        (1, 0, 1, 0, True),
        (501, 1, 501, 0, True),
        (502, 501, 501, 0, False),
    ]


def test_the_real_ps_can_be_read() -> None:
    listed = subprocess.run(["ps", "-axo", "pid=,ppid=,pgid=,stat="], capture_output=True, check=True)
    us = parse_ps(listed.stdout)[os.getpid()]
    assert (us.parent, us.session, us.is_alive) == (os.getppid(), os.getpgid(0), True)


def test_signals_to_the_dead_are_nothing() -> None:
    with started("/bin/true") as child:
        child.wait()
    send_signal(signal.SIGTERM, [child.pid])


class TestEnding:
    def end(self, child: "subprocess.Popen[bytes]") -> float:
        began = time.monotonic()
        ending = ProcessTermination(lambda: set[int]() if child.poll() is not None else {child.pid})
        while (pause := ending.step()) is not None:
            time.sleep(min(pause, 0.01))
        return time.monotonic() - began

    def test_nobody_is_soon_ended(self) -> None:
        assert ProcessTermination(set[int]).step() is None

    def test_who_goes_when_asked_is_not_killed(self) -> None:
        with started("sleep", "60") as child:
            assert self.end(child) < GRACE_SECONDS
            assert child.returncode == -signal.SIGTERM

    def test_who_does_not_is_killed(self) -> None:
        with started("/bin/bash", "-c", "trap '' TERM INT HUP; echo; while :; do sleep 60; done") as child:
            assert child.stdout is not None
            child.stdout.readline()
            seconds = self.end(child)
            assert GRACE_SECONDS <= seconds < TERMINATION_SECONDS
            assert child.returncode == -signal.SIGKILL

    def test_who_is_found_too_late_is_killed_nevertheless(self) -> None:
        with started("/bin/bash", "-c", "trap '' TERM INT HUP; echo; while :; do sleep 60; done") as child:
            assert child.stdout is not None
            child.stdout.readline()
            ending = ProcessTermination(lambda: {child.pid} if child.poll() is None else set[int]())
            time.sleep(ending.step() or 0)
            time.sleep(TERMINATION_SECONDS)
            while (pause := ending.step()) is not None:
                time.sleep(pause)
            assert child.wait(10) == -signal.SIGKILL

    def test_who_cannot_be_ended_is_let_be(self) -> None:
        with started("/bin/true") as child:
            child.wait()
        ending = ProcessTermination(lambda: {child.pid})  # somebody who is always found and never there
        began = time.monotonic()
        while (pause := ending.step()) is not None:
            time.sleep(pause)
        assert TERMINATION_SECONDS <= time.monotonic() - began < TERMINATION_SECONDS + 1


class YoungestFirst(set[int]):
    """Processes in the worst order, with many between that have ended."""

    def __iter__(self) -> Iterator[int]:
        pids = sorted(super().__iter__(), reverse=True)
        return iter([*pids[:1], *range(2**22 + 1, 2**22 + 50_000), *pids[1:]])


@linux
@pytest.mark.parametrize("child", ["sleep 60", "setsid sleep 60"])
def test_no_shell_goes_on_when_its_command_is_ended(child: str) -> None:
    with started("/bin/bash", "-c", f"echo begun; {child}; echo next") as shell:
        assert shell.stdout is not None
        assert shell.stdout.readline() == b"begun\n"

        def members() -> set[int]:
            table = list_processes()
            return YoungestFirst(
                pid for pid in with_descendants([shell.pid], table) if pid in table and table[pid].is_alive
            )

        while len(members()) < 2:
            time.sleep(0.01)
        ending = ProcessTermination(members, groups=[shell.pid])
        while (pause := ending.step()) is not None:
            time.sleep(min(pause, 0.01))
        assert shell.stdout.read() == b""


def test_a_group_is_killed_only_while_one_of_those_to_be_ended_is_in_it() -> None:
    bystander = subprocess.Popen(["sleep", "60"], start_new_session=True)
    victim = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        ending = ProcessTermination(
            lambda: {victim.pid} if victim.poll() is None else set(), groups=[victim.pid, bystander.pid]
        )
        while (pause := ending.step()) is not None:
            time.sleep(min(pause, 0.01))
        assert victim.wait(5) < 0
        assert bystander.poll() is None
    finally:
        for process in (bystander, victim):
            process.kill()
            process.wait()
