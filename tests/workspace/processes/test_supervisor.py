"""The supervisor's program, spoken to directly: it survives whatever is said to it, and ends when it is left."""

import array
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.source_tree import SOURCE
from tejat.workspace.processes.spawn import ProcessSpec, encode_request, spawn_supervisor
from tejat.workspace.processes.supervision import protocol

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


@dataclass(frozen=True)
class Program:
    pid: int
    control: socket.socket


@pytest.fixture
def program() -> Generator[Program]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        pid = spawn_supervisor(theirs.fileno(), protocol.SESSION)
        theirs.close()
        ours.settimeout(10)
        yield Program(pid, ours)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def channel(program: Program, *, missing: int = 0, stdin: int | None = None) -> socket.socket:
    """A channel for one command whose output goes nowhere."""
    ours, theirs = socket.socketpair()
    ours.settimeout(10)
    null, root = os.open(os.devnull, os.O_RDWR), os.open("/", os.O_RDONLY)
    whole = [theirs.fileno(), null, null, root] + ([] if stdin is None else [stdin])
    given = whole[: len(whole) - missing]
    program.control.sendmsg([bytes([len(whole)])], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", given))])
    os.close(null)
    os.close(root)
    theirs.close()
    return ours


def ask_for(command: str) -> bytes:
    return encode_request(ProcessSpec(("/bin/bash", "-c", command), 0, {"PATH": "/usr/bin:/bin"}))


def answers(sock: socket.socket, count: int) -> list[list[str]]:
    heard = b""
    while heard.count(b"\n") < count:
        part = sock.recv(4096)
        assert part, heard
        heard += part
    return [line.split() for line in heard.decode().splitlines()]


def is_well(program: Program) -> bool:
    with channel(program) as sock:
        sock.sendall(ask_for("exit 9"))
        (began, ended) = answers(sock, 2)
    return (began[0], began[3], ended) == ("started", str(program.pid), ["ended", str(9 << 8)])


def test_a_request_in_small_pieces(program: Program) -> None:
    with channel(program) as sock:
        for byte in ask_for("exit 3"):
            sock.sendall(bytes([byte]))
        assert answers(sock, 2)[1] == ["ended", str(3 << 8)]


def test_orders_that_come_with_the_request(program: Program) -> None:
    with channel(program) as sock:
        sock.sendall(ask_for("sleep 777") + protocol.LIST_SURVIVORS + protocol.STOP)
        began, left, ended, gone = answers(sock, 4)
    assert (began[0], left, ended, gone) == ("started", ["left", began[1]], ["ended", str(signal.SIGTERM)], ["gone"])


def test_a_channel_left_before_anything_was_asked(program: Program) -> None:
    for sent in (b"", b"\0", ask_for("true")[:10]):
        with channel(program) as sock:
            sock.sendall(sent)
    assert is_well(program)


def test_descriptors_that_did_not_all_arrive(program: Program) -> None:
    for missing in (1, 2, 3):
        with channel(program, missing=missing) as sock:
            assert sock.recv(10) == b""
    assert is_well(program)


def test_an_input_that_did_not_arrive(program: Program) -> None:
    """The command is not started as one that has nothing to read."""
    readable, writable = os.pipe()
    with channel(program, missing=1, stdin=readable) as sock:
        assert sock.recv(10) == b""
    os.close(readable)
    os.close(writable)
    assert is_well(program)


def test_an_input_is_let_go_of(program: Program) -> None:
    """Nobody but the command holds it: when the command is over, writing to it is an error."""
    readable, writable = os.pipe()
    with channel(program, stdin=readable) as sock:
        os.close(readable)
        sock.sendall(ask_for("read line && exit $line"))
        os.write(writable, b"7\n")
        assert [answer[0] for answer in answers(sock, 2)] == ["started", "ended"]
        with pytest.raises(BrokenPipeError):
            os.write(writable, b"8\n")
    os.close(writable)
    assert is_well(program)


def test_an_answer_that_nobody_hears_ends_the_command(program: Program) -> None:
    with channel(program) as sock:
        sock.sendall(ask_for("exec sleep 777"))
        pid = int(answers(sock, 1)[0][1])
        assert Path(f"/proc/{pid}/cmdline").exists()
    deadline = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert is_well(program)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD, signal.SIGXFSZ])
def test_signals_that_do_not_concern_it(program: Program, number: signal.Signals) -> None:
    assert is_well(program)
    os.kill(program.pid, number)
    assert is_well(program)


@pytest.mark.parametrize("leave", ["hang up", "ask"])
def test_left_it_ends_with_all_it_kept(program: Program, leave: str) -> None:
    with channel(program) as sock:
        sock.sendall(ask_for("trap '' TERM; setsid sleep 777 & echo; sleep 777; true"))
        pid = int(answers(sock, 1)[0][1])
        time.sleep(0.1)
        if leave == "ask":
            os.kill(program.pid, signal.SIGTERM)
        else:
            program.control.shutdown(socket.SHUT_WR)
        assert program.control.recv(1) == b""
        assert os.waitpid(program.pid, 0) == (program.pid, 0)
        assert not Path(f"/proc/{pid}").exists()


def test_it_starts_quickly_and_loads_little(program: Program) -> None:
    assert is_well(program)
    loaded = Path(f"/proc/{program.pid}/maps").read_text()
    assert "_ssl" not in loaded
    assert "_json" not in loaded
    resident = int(Path(f"/proc/{program.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    assert resident < 20_000_000


def test_next_to_nothing_is_loaded() -> None:
    """The first command of a session waits for the program to start."""
    text = "import sys; sys.path.append(sys.argv[1]); import tejat.workspace.processes.supervisor; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", text, str(SOURCE.parent)], capture_output=True, text=True, check=True
    )
    slow = {"typing", "enum", "re", "collections", "contextlib", "ctypes", "functools", "signal", "socket", "selectors"}
    assert set(done.stdout.split()) & slow == set()
