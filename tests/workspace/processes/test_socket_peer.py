"""Tests of the check who is at the other end of a socket, with real processes at both ends."""

import os
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.wait import wait_until
from tejat.workspace.files.unix_socket import connect_to_socket, listen_on_socket
from tejat.workspace.processes.process_tree import filter_count, read_process
from tejat.workspace.processes.socket_peer import PeerRefused, check_client, check_listener

# Checks one connection for each line that it reads. A line that is not empty is a program for a child of its own.
SERVER = """
import subprocess, sys
from tejat.workspace.files.unix_socket import listen_on_socket
from tejat.workspace.processes.socket_peer import PeerRefused, check_client
listener = listen_on_socket(sys.argv[1])
listener.setblocking(True)
print("ready", flush=True)
for line in sys.stdin:
    if program := line.strip():
        subprocess.Popen([sys.executable, "-c", program.replace(";;", chr(10)), sys.argv[1]], stdout=-3)
    connection, _ = listener.accept()
    with connection:
        try:
            check_client(connection)
        except PeerRefused as refused:
            print("refused:", refused, flush=True)
        except OSError as error:
            print("refused: OSError", error, flush=True)
        else:
            print("accepted", flush=True)
"""
CONNECT = """
import socket, sys, time
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
print("connected", flush=True)
time.sleep(60)
"""
LOWER_LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 36, 1 << 36))\n"
ORPHAN = "import os\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n"
MARK = "from tejat.workspace.processes.supervision.child_limits import mark_commands; mark_commands()\n"
LIMIT_REASON = "its limit of file sizes differs, as that of an agent's command does"


class Server:
    """A process that checks those who connect."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._read() == "ready"

    def check(self, child_program: str = "") -> str:
        assert self.process.stdin is not None
        print(child_program.replace("\n", ";;"), file=self.process.stdin, flush=True)
        return self._read()

    def _read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip()


@pytest.fixture
def server(tmp_path: Path) -> Generator[Server]:
    server = Server(tmp_path / "run" / "a.sock")
    with server.process as process:
        try:
            yield server
        finally:
            process.kill()


@contextmanager
def client(server: Server, before: str = "", *words: str) -> Generator["subprocess.Popen[str]"]:
    """A process that has connected; before that it has done something."""
    with subprocess.Popen(
        [sys.executable, "-c", before + CONNECT, str(server.path), *words], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "connected\n"
            yield process
        finally:
            process.kill()


def test_another_process_of_the_user_is_accepted(server: Server) -> None:
    with connect_to_socket(str(server.path)):
        assert server.check() == "accepted"
    with client(server):
        assert server.check() == "accepted"


def test_a_child_and_a_grandchild_of_the_server_are_refused(server: Server) -> None:
    assert server.check(CONNECT) == "refused: this session started it"
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CONNECT!r}, sys.argv[1]])"
    assert server.check(nested) == "refused: this session started it"


def test_a_process_with_a_lower_limit_is_refused_even_as_an_orphan(server: Server) -> None:
    with client(server, LOWER_LIMIT):
        assert server.check() == f"refused: {LIMIT_REASON}"
    pid = server.path.with_name("pid")
    told = f"open({str(pid)!r}, 'w').write(str(os.getpid()))\n"
    assert server.check(LOWER_LIMIT + ORPHAN + told + CONNECT) == f"refused: {LIMIT_REASON}"
    os.kill(int(pid.read_text()), 9)


@pytest.mark.skipif(os.geteuid() != 0, reason="only commands of root are marked with a filter")
def test_a_filter_marks_commands_of_root_whose_limit_is_as_before(server: Server) -> None:
    with client(server, MARK) as marked:
        assert filter_count(marked.pid) == filter_count(os.getpid()) + 1
        assert server.check() == "refused: its system calls are filtered, as those of an agent's command are"
    # It cannot be removed, and what the marked process starts has it too.
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CONNECT!r}, sys.argv[1]])\n"
    with client(server, MARK + ORPHAN):
        assert server.check().startswith("refused: its system calls are filtered")
    with client(server, MARK + nested):
        assert server.check().startswith("refused: its system calls are filtered")


def test_a_descendant_of_the_supervisor_of_another_session_is_refused(server: Server) -> None:
    supervisor = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CONNECT!r}, sys.argv[1]])\n"
    with client(server, supervisor, "tejat.workspace.processes.supervisor"):
        assert server.check() == "refused: a command of an agent started it"


def test_both_may_come_from_the_same_command(tmp_path: Path) -> None:
    """As when an agent works on a program that uses sessions."""
    path = tmp_path / "run" / "a.sock"
    program = (
        f"{LOWER_LIMIT}import subprocess, sys\n"
        "from tejat.workspace.files.unix_socket import connect_to_socket\n"
        "ready = subprocess.Popen([sys.executable, '-c', sys.argv[2], sys.argv[1]],"
        " stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)\n"
        "ready.stdout.readline()\n"
        "connection = connect_to_socket(sys.argv[1])\n"
        "print(ready.communicate('\\n')[0])\n"
    )
    words = [sys.executable, "-c", program, str(path), SERVER, "tejat.workspace.processes.supervisor"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "accepted"


def test_a_process_that_has_ended_is_refused_though_its_descriptor_lives_on(server: Server) -> None:
    hand_on = CONNECT.replace("time.sleep(60)", "import os\nif os.fork(): os._exit(0)\ntime.sleep(20)")
    with client(server, hand_on + "\n") as process:
        process.wait()
        assert server.check().startswith("refused: ")


def test_a_process_that_got_the_number_of_the_one_that_connected_is_refused(server: Server) -> None:
    """The connection lives on in a child of the one that ended, and an innocent process has its number."""
    last_pid = Path("/proc/sys/kernel/ns_last_pid")
    hand_on = CONNECT.replace("time.sleep(60)", "import os\nif os.fork(): os._exit(0)\ntime.sleep(20)")
    with client(server, hand_on + "\n") as process:
        process.wait()
        innocent = None
        try:
            for _ in range(200):
                try:
                    last_pid.write_text(str(process.pid - 1))
                except OSError:
                    pytest.skip("numbers of processes cannot be chosen here")
                innocent = subprocess.Popen(["sleep", "60"])
                if innocent.pid == process.pid:
                    break
                innocent.kill()
                innocent.wait()
            assert innocent is not None
            assert innocent.pid == process.pid
            assert read_process(process.pid) is not None
            assert server.check().startswith("refused: ")
        finally:
            if innocent is not None:
                innocent.kill()
                innocent.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start processes of other users")
def test_another_user_is_refused(server: Server) -> None:
    """Who got in through a directory or a mode that somebody has changed."""
    enter = f"import os, socket, time; os.fchdir({{directory}}); os.setuid(65534)\n{CONNECT}".replace(
        "sys.argv[1]", "'a.sock'"
    )
    server.path.chmod(0o666)
    server.path.parent.chmod(0o711)
    directory = os.open(server.path.parent, os.O_RDONLY)
    with subprocess.Popen(
        [sys.executable, "-c", enter.format(directory=directory)], pass_fds=[directory], stdout=subprocess.PIPE
    ) as process:
        os.close(directory)
        assert process.stdout is not None
        assert process.stdout.readline() == b"connected\n"
        assert server.check() == "refused: it belongs to another user"
        process.kill()


def test_the_process_itself_is_refused_as_a_client(tmp_path: Path) -> None:
    path = str(tmp_path / "a.sock")
    with listen_on_socket(path) as listener, connect_to_socket(path):
        connection, _ = listener.accept()
        with connection, pytest.raises(PeerRefused, match="this session started it"):
            check_client(connection)


def test_a_client_accepts_only_the_listener_that_it_expects(server: Server) -> None:
    with connect_to_socket(str(server.path)) as connection:
        check_listener(connection, server.process.pid)
        with pytest.raises(PeerRefused, match="another process listens there"):
            check_listener(connection, os.getpid())


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (LOWER_LIMIT, LIMIT_REASON),
        pytest.param(
            MARK, "its system calls are filtered", marks=pytest.mark.skipif(os.geteuid() != 0, reason="not root")
        ),
    ],
)
def test_a_client_refuses_a_command_that_listens(tmp_path: Path, before: str, reason: str) -> None:
    path = str(tmp_path / "a.sock")
    with subprocess.Popen(
        [sys.executable, "-c", before + SERVER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        with connect_to_socket(path) as connection, pytest.raises(PeerRefused, match=reason):
            check_listener(connection, process.pid)
        process.kill()


def test_a_client_refuses_a_listener_that_has_ended(tmp_path: Path) -> None:
    """Its socket lives on in a child."""
    path = str(tmp_path / "a.sock")
    program = (
        "import os, socket, sys, time\n"
        "listener = socket.socket(socket.AF_UNIX)\nlistener.bind(sys.argv[1])\nlistener.listen()\n"
        "if os.fork(): os._exit(0)\n"
        "open(sys.argv[1] + '.pid', 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program, path])
    process.wait()
    wait_until(lambda: bool(os.path.exists(f"{path}.pid") and Path(f"{path}.pid").read_text()), 20, "the child")
    try:
        with connect_to_socket(path) as connection, pytest.raises((PeerRefused, OSError)):
            check_listener(connection, process.pid)
    finally:
        os.kill(int(Path(f"{path}.pid").read_text()), 9)


def test_a_socket_pair_has_this_process_at_both_ends() -> None:
    one, other = socket.socketpair()
    with one, other:
        check_listener(one, os.getpid())
