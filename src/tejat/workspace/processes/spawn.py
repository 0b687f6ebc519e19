"""Process specifications and the start of supervisors, for the session or for a detached job."""

import errno
import marshal
import os
import signal
import socket
import sys
from collections.abc import Mapping

from tejat.core.frozen import Frozen
from tejat.workspace.files.private_files import open_private_file
from tejat.workspace.processes.process_tree import process_start_time
from tejat.workspace.processes.supervision import protocol

_DETACH_SECONDS = 30.0
# Our directory comes last, so that packages beside ours cannot shadow the standard library.
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from tejat.workspace.processes.supervisor import main; main()"
_PACKAGES = os.path.abspath(__file__).removesuffix("/tejat/workspace/processes/spawn.py")
# Commands can read the supervisor's environment, so it has only what some interpreters need to run.
_SUPERVISOR_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class SupervisorDied(ConnectionError):
    """The supervisor was killed. Its processes were terminated as far as they could be found."""


class ProcessSpec(Frozen):
    """A process to start: the first argument is the program's absolute path, `directory` an open descriptor."""

    arguments: tuple[str, ...]
    directory: int
    environment: Mapping[str, str]


class ExitStatus(Frozen):
    """How a command exited. `survivors` are its descendants that were still alive, at most a thousand."""

    code: int | None
    signal: int | None
    survivors: tuple[int, ...] = ()


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class DetachedProcess(Frozen):
    """A job that outlives the agent. SIGTERM to its supervisor ends all of it.

    `started` is the supervisor's start time as given by `process_start_time`: a different one means that the pid was
    reused by another process.
    """

    pid: int
    supervisor_pid: int
    started: int


def start_detached(spec: ProcessSpec, *, log: str, state: str) -> DetachedProcess:
    """Start a job with its own supervisor that appends both outputs to `log`.

    When the job and all its descendants have ended, `state` is written: a JSON object with `exit` and `signal`, one of
    them null; both when the job could not be terminated. Raises OSError.
    """
    request = encode_request(spec)
    output = open_private_file(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        ours, theirs = socket.socketpair()
        with ours:
            ours.settimeout(_DETACH_SECONDS)
            with theirs:
                first = spawn_supervisor(theirs.fileno(), protocol.DETACHED, os.path.abspath(state))
            os.waitpid(first, 0)  # it has forked the actual supervisor, which is nobody's child
            socket.send_fds(ours, [b"\3"], [output, output, spec.directory])
            ours.sendall(request)
            answer = ours.recv(1 << 12)
    finally:
        os.close(output)
    return _parse_detached(answer, spec.arguments[0])


def encode_request(spec: ProcessSpec) -> bytes:
    """Encode the command for the supervisor. Raises OSError for text that cannot be encoded."""
    environment = dict(spec.environment)
    try:
        # One check for all: the supervisor encodes each string, faster than it can be done here.
        os.fsencode("".join((*spec.arguments, *environment, *environment.values())))
    except UnicodeEncodeError as error:
        raise OSError(errno.EILSEQ, os.strerror(errno.EILSEQ)) from error
    body = marshal.dumps((spec.arguments, environment))
    return len(body).to_bytes(protocol.LENGTH_BYTES, "big") + body


def spawn_supervisor(stdin: int, *arguments: str) -> int:
    """Start the supervisor program with this descriptor as stdin and return its pid. Raises OSError."""
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", "-c", _PROGRAM, _PACKAGES, *arguments],
        {name: os.environ[name] for name in _SUPERVISOR_VARIABLES if name in os.environ},
        file_actions=[
            (os.POSIX_SPAWN_DUP2, stdin, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ],
        setsid=True,
        setsigmask=[],
    )


def _parse_detached(answer: bytes, program: str) -> DetachedProcess:
    word, *numbers = answer.decode("ascii").split() or [""]
    if word == protocol.FAILED:
        number, at_fault = map(int, numbers)
        raise OSError(number, os.strerror(number), program if at_fault == protocol.PROGRAM else None)
    if word != protocol.STARTED:
        raise SupervisorDied("The keeper of the job ended before the job began")
    pid, _, supervisor_pid = map(int, numbers)
    return DetachedProcess(pid, supervisor_pid, process_start_time(supervisor_pid) or 0)
