"""How a command is described, and how a keeper is started: the session's, or one for a job that outlives the agent."""

import errno
import marshal
import os
import signal
import socket
import sys
from collections.abc import Mapping

from tejat.core.frozen import frozen
from tejat.workspace.processes import supervisor
from tejat.workspace.processes.process_tree import process_start_time

_DETACH_SECONDS = 30.0
# Our own directory comes last: what is installed beside us cannot stand in for a module of Python.
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from tejat.workspace.processes.supervisor import main; main()"
_PACKAGES = os.path.abspath(__file__).removesuffix("/tejat/workspace/processes/spawn.py")
# Commands can read the environment of their keeper, so there is nothing in it but what some interpreters need to run.
_SUPERVISOR_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class SupervisorDied(ConnectionError):
    """The keeper was killed. What it kept has been ended, as far as it could be found."""


@frozen
class ProcessSpec:
    """What to start. The first argument is the absolute path of the program, `directory` an open descriptor."""

    arguments: tuple[str, ...]
    directory: int
    environment: Mapping[str, str]


@frozen
class ExitStatus:
    """How a command ended. `survivors` are those of its descendants that were alive then, a thousand at most."""

    code: int | None
    signal: int | None
    survivors: tuple[int, ...] = ()


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@frozen
class DetachedProcess:
    """A job that outlives the agent. SIGTERM to its supervisor ends all of it.

    `started` is the supervisor's start time as given by `process_start_time`: a different one means that the pid was
    reused by another process.
    """

    pid: int
    supervisor_pid: int
    started: int


def start_detached(spec: ProcessSpec, *, log: str, state: str) -> DetachedProcess:
    """Start a job with a keeper of its own that writes both outputs to the end of `log`.

    When the job and all that descends from it have ended, `state` is put in place: a JSON object with `exit` and
    `signal`, one of them null; both when the keeper was told to end a job that would not. Raises OSError.
    """
    request = encode_request(spec)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(output, 0o600)
        ours, theirs = socket.socketpair()
        with ours:
            ours.settimeout(_DETACH_SECONDS)
            with theirs:
                first = spawn_supervisor(theirs.fileno(), supervisor.DETACHED, os.path.abspath(state))
            os.waitpid(first, 0)  # it has made way for the keeper proper, which is nobody's child
            socket.send_fds(ours, [b"\3"], [output, output, spec.directory])
            ours.sendall(request)
            answer = ours.recv(1 << 12)
    finally:
        os.close(output)
    return _parse_detached(answer, spec.arguments[0])


def encode_request(spec: ProcessSpec) -> bytes:
    """The command in the keeper's own form. Raises OSError for text that the system has no bytes for."""
    environment = dict(spec.environment)
    try:
        # All at once: the keeper encodes each by itself, and that much quicker than it can be done here.
        os.fsencode("".join((*spec.arguments, *environment, *environment.values())))
    except UnicodeEncodeError as error:
        raise OSError(errno.EILSEQ, os.strerror(errno.EILSEQ)) from error
    body = marshal.dumps((spec.arguments, environment))
    return len(body).to_bytes(supervisor.LENGTH_BYTES, "big") + body


def spawn_supervisor(stdin: int, *arguments: str) -> int:
    """Start the program with this descriptor as its input. Returns its pid. Raises OSError."""
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
    if word == supervisor.FAILED:
        number, at_fault = map(int, numbers)
        raise OSError(number, os.strerror(number), program if at_fault == supervisor.PROGRAM else None)
    if word != supervisor.STARTED:
        raise SupervisorDied("The keeper of the job ended before the job began")
    pid, _, keeper_pid = map(int, numbers)
    return DetachedProcess(pid, keeper_pid, process_start_time(keeper_pid) or 0)
